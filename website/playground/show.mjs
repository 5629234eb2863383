/** Elements for what the worker tells. All text goes into them as text, never as markup. */

/** So much of a text is shown at once; copies and downloads are whole. */
const LONGEST = 400_000;
/** What doesn't print, or turns the order of signs around; as turnspec/spec/visible.py has it. */
const HIDDEN = /(?![\n\t ])[\p{C}\p{Z}]/gu;

/** Return a text with escapes for what a reader can't see. */
export function shown(text) {
  return escaped(text, HIDDEN);
}

function escaped(text, signs) {
  const coded = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  const cut =
    text.length > LONGEST ? `${text.slice(0, LONGEST)}\n… ${text.length} characters` : text;
  return cut.replace(signs, (sign) => sign.split("").map(coded).join(""));
}

/** What deceives the reader of a file; all else of it stays as it is, as files are copied by hand, too. */
const DECEIVING = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Return a file's text, with escapes for what would deceive its reader. */
export function shownFile(text) {
  return escaped(text, DECEIVING);
}

/** Return a new element with some text, or with other elements in it. */
export function element(name, content = [], kind = "") {
  const made = document.createElement(name);
  made.append(...[content].flat().map((part) => (typeof part === "string" ? shown(part) : part)));
  if (kind) made.className = kind;
  return made;
}

/** Return a class's name for a kind, which is a word or two. */
const classOf = (kind) => kind.replaceAll(" ", "-");

/** Return a sample turn with its parts coloured. */
export function sampleOf({ title, segments }) {
  const parts = segments.map(({ text, kind }) => {
    const part = element("span", withLineEnds(text), `k-${classOf(kind)}`);
    part.title = kind;
    return part;
  });
  const turn = element("pre", parts, "turn");
  turn.tabIndex = 0;
  turn.setAttribute("aria-label", title);
  return element("figure", [element("figcaption", title), turn]);
}

function withLineEnds(text) {
  return text
    .split("\n")
    .flatMap((line, at) => (at > 0 ? [element("i", [], "newline"), "\n", line] : [line]));
}

/** Return what the colours of some samples mean. */
export function legendOf(samples) {
  const kinds = new Set(samples.flatMap(({ segments }) => segments.map(({ kind }) => kind)));
  return [...kinds].flatMap((kind) => [element("span", kind, `k-${classOf(kind)}`), " "]);
}

/** Return a row of the proof's table. */
export function rungRow({ name, about, passed, failed, note, is_passed: isPassed, example }) {
  const total = passed + failed;
  const said = isPassed ? "✓ passed" : total === 0 ? "✗ nothing to check" : `✗ ${failed} failed`;
  const told = [element("span", said, isPassed ? "yes" : "no")];
  if (note) told.push(element("div", note, "quiet"));
  for (const [what, text] of example) {
    told.push(element("div", [element("b", `${what}: `), element("code", text)]));
  }
  const head = element("th", name);
  head.scope = "row";
  return element("tr", [
    head,
    element("td", about),
    element("td", String(total)),
    element("td", told),
  ]);
}

/** Return lines whose stretches have a kind each, as `explain` and `diff` print them. */
export function linesOf(lines) {
  return lines.flatMap((line) => [
    ...line.map(([text, kind]) =>
      kind ? element("span", text, `l-${classOf(kind)} k-${classOf(kind)}`) : shown(text),
    ),
    "\n",
  ]);
}

/** Return the lines of one text that another doesn't have, and the other way round, in order. */
export function differences(old, now) {
  const [before, after] = [old.split("\n"), now.split("\n")];
  let start = 0;
  while (start < before.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (
    end < Math.min(before.length, after.length) - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  )
    end += 1;
  const [gone, come] = [before, after].map((lines) => lines.slice(start, lines.length - end));
  return [
    ...gone.map((line) => [[`- ${line}`, "old"]]),
    ...come.map((line) => [[`+ ${line}`, "new"]]),
  ];
}
