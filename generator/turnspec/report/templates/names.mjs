/**
 * Which formats a typed word finds: those that `turnspec list WORD` finds.
 *
 * The rules, and why they are so, are those of `turnspec.catalog.names`, which has the patterns too.
 */

const Closeness = { SAME: 0, WITHIN: 1, BEGUN: 2, EARLIER: 3 };
const limits = { leading: 2, own: 3, several: 3, usual: 25 };

/** Return a name in its words, and what tells a size. */
function readName(name, { separators, size, stored, version, word }) {
  const words = [];
  const sizes = [];
  const joined = name.toLowerCase().replace(all(stored), "").replace(all(version), ".");
  for (const token of joined.split(all(separators))) {
    const bare = token.replace(/^\.+|\.+$/g, "");
    if (new RegExp(`^(?:${size})$`).test(bare)) sizes.push(bare);
    else words.push(...(token.match(all(word)) ?? []));
  }
  return { words: words.filter((found, index) => found !== words[index - 1]), sizes };
}

function all(pattern) {
  return new RegExp(pattern, "g");
}

const isAlpha = (word) => /^[a-z]+$/.test(word);
const isOwn = (word) => isAlpha(word) && word.length >= limits.own;

/** Return the words with and without what may be the owner's name before them. */
function withoutOwner({ words }, common) {
  const found = [words];
  for (let count = 1; count <= limits.leading; count += 1) {
    const own = words.slice(count);
    if (!own.length || !words.slice(0, count).every(isAlpha)) continue;
    if (isOwn(own[0]) && !common.has(own[0])) found.push(own);
  }
  return found;
}

/** Return the words that some names end with, at least so many. */
function lastWords(models, least) {
  const counts = new Map();
  for (const { words } of models) {
    if (words.length) counts.set(words.at(-1), (counts.get(words.at(-1)) ?? 0) + 1);
  }
  const often = [...counts].filter(([word, count]) => count >= least && isAlpha(word));
  return new Set(often.map(([word]) => word));
}

/** Return where each word ends in the text of all. */
function wordEnds(words) {
  return words.map((_, index) => words.slice(0, index + 1).join("").length);
}

function closenessOf(wanted, known) {
  const [asked, text] = [wanted.join(""), known.join("")];
  if (asked === text) return Closeness.SAME;
  if (asked.startsWith(text) && wordEnds(wanted).includes(text.length)) return Closeness.WITHIN;
  if (!text.startsWith(asked)) return undefined;
  if (wordEnds(known).includes(asked.length)) return Closeness.BEGUN;
  return text[asked.length] === "." ? Closeness.EARLIER : undefined;
}

/** Return how near a name is to what was asked for, and the words that it doesn't have. */
function matchOf(wanted, { name, model }, common) {
  const found = [];
  for (const words of withoutOwner(model, common)) {
    const closeness = closenessOf(wanted.words, words);
    if (closeness === undefined) continue;
    const before = [0, ...wordEnds(wanted.words)];
    const rest = wanted.words.filter((_, index) => before[index] >= words.join("").length);
    const sizes = new Set(wanted.sizes.filter((size) => model.sizes.includes(size))).size;
    found.push({ name, closeness, rest, sizes });
  }
  return found.sort((one, other) => one.closeness - other.closeness)[0];
}

/** Return those whose rank is the lowest. */
function lowest(matches, rank) {
  const least = Math.min(...matches.map(rank));
  return matches.filter((match) => rank(match) === least);
}

/** Return the names of the formats that are meant; each is {name, file, aliases, packager}. */
function matched(asked, formats, patterns) {
  const at = asked.lastIndexOf("/");
  const [owner, own] = [asked.slice(0, Math.max(at, 0)), asked.slice(at + 1)];
  const wanted = [own, ...(owner ? [`${owner} ${own}`] : [])].map((way) => readName(way, patterns));
  const known = formats
    .filter(({ packager }) => !packager || wanted[0].words.includes(packager))
    .flatMap(({ name, file, aliases }) => [file, ...aliases].map((shown) => ({ name, shown })))
    .map(({ name, shown }) => ({ name, model: readName(shown, patterns) }));
  const models = known.map(({ model }) => model);
  const common = lastWords(models, limits.several);
  const usual = lastWords(models, Math.max(limits.several, known.length / limits.usual));
  const found = wanted
    .filter(({ words }) => words.length)
    .flatMap((way) => known.map((format) => matchOf(way, format, common)))
    .filter((match) => match?.rest.every((word) => usual.has(word)));
  const nearest = lowest(found, (match) => match.closeness);
  if (!nearest.length || nearest[0].closeness >= Closeness.BEGUN)
    return found.map(({ name }) => name);
  const shortest = lowest(nearest, ({ rest }) => rest.join("").length);
  return lowest(shortest, ({ sizes }) => -sizes).map(({ name }) => name);
}

/** Return a name in small letters and hyphens, as formats are called. */
function plainName(text) {
  const last = text.split("/").filter(Boolean).at(-1) ?? "";
  return last
    .replace(/\.jinja$/, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
}

/** Return the names of the formats whose names hold a word, or that it means. */
export function named(word, formats, patterns) {
  const plain = plainName(word);
  const held = formats.filter(
    ({ name, aliases }) =>
      plain && [name, ...aliases.map(plainName)].some((known) => known.includes(plain)),
  );
  return new Set([...held.map(({ name }) => name), ...matched(word, formats, patterns)]);
}
