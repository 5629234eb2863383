/**
 * Special tokens: markers that hold such count only where the tokenizer's own tokens stand.
 *
 * A text that quotes the format can't call a tool then. Each special token is a private character
 * in the expressions of such markers, followed by others up to its length, and so it is in the text
 * that they are looked for in (`Turn.marked`), where it came as a special piece. The same characters
 * in an ordinary piece are none of these. All other markers are read by text.
 */
import { CompiledFormat, textsOf } from "./format.js";
import { escaped, Markers } from "./markers.js";
import { isBlank } from "./strings.js";
const FILLER = 0xe000;
const FIRST_SIGN = 0xe001;
const LAST_SIGN = 0xf8ff;
/** What of a notation is no text of its own. */
const NOTATION_SLOT = "\\{\\{|\\}\\}|\\{(?:\\?|no |before )|\\{[^{}]*\\}";
const OPTIONAL_TEXT = /\{\?[^{}]*\}/g;
/** Special tokens, and what stands for them: a sign of its own for each in a format's markers. */
export class SpecialTokens {
  signs;
  written;
  others;
  token;
  inNotation;
  constructor(tokens, table) {
    const texts = textsOf(table).join("\n");
    const used = new Set(tokens.filter((token) => !isBlank(token)));
    const found = [...used].filter((token) => texts.includes(asNotation(token)));
    const longestFirst = found.sort((one, other) => other.length - one.length);
    if (found.length > LAST_SIGN - FIRST_SIGN) {
      throw new RangeError(`more than ${LAST_SIGN - FIRST_SIGN} special tokens in one format`);
    }
    this.signs = new Map(
      longestFirst.map((token, number) => {
        const filler = String.fromCharCode(FILLER).repeat(token.length - 1);
        return [token, String.fromCharCode(FIRST_SIGN + number) + filler];
      }),
    );
    this.written = new Map(Array.from(this.signs, ([token, signs]) => [asNotation(token), signs]));
    this.others = new Set([...used].filter((token) => !this.signs.has(token)));
    this.token = anyOfTexts(this.signs.keys(), "");
    this.inNotation = anyOfTexts(this.written.keys(), `|${NOTATION_SLOT}`);
  }
  /** Return the tokens in a special piece that begins at a place, and what stands for them. */
  find(piece, at) {
    if (this.others.has(piece)) {
      return [{ at, signs: String.fromCharCode(FILLER).repeat(piece.length) }];
    }
    return Array.from(piece.matchAll(this.token), (found) => ({
      at: at + found.index,
      signs: this.signs.get(found[0]) ?? "",
    }));
  }
  /** Return a marker with what stands for the special tokens in it. */
  putInto(notation) {
    if (typeof notation === "string") return this.put(notation);
    const [text, follows] = notation;
    return [this.put(text), follows.map((other) => this.putInto(other))];
  }
  /** Say whether a marker holds a special token. */
  mayBeIn(notation) {
    if (typeof notation === "string") return this.put(notation) !== notation;
    const [text, follows] = notation;
    return this.mayBeIn(text) || follows.some((other) => this.mayBeIn(other));
  }
  /** Say whether a marker always holds a special token. */
  areIn(notation) {
    return this.mayBeIn(notation.replace(OPTIONAL_TEXT, ""));
  }
  put(notation) {
    return notation.replace(this.inNotation, (found) => this.written.get(found) ?? found);
  }
}
/** A format whose special tokens are known. */
export class SpecialFormat extends CompiledFormat {
  tokens;
  constructor({ table, ownEnds }, texts) {
    const tokens = new SpecialTokens(texts, table);
    super(guardedFormat(table, tokens), ownEnds);
    this.tokens = tokens;
  }
  made(roles) {
    const isSpecial = roles.some(([, notation]) => this.tokens.mayBeIn(notation));
    return new Markers(roles, isSpecial ? this.tokens : null);
  }
}
/**
 * Return a table in which no call is begun, or ended, by text alone if a token belongs to it.
 *
 * What closes a call counts up to the token; a head without one only behind an opening that has
 * it, and no head that lacks what the format's own has.
 */
function guardedFormat(table, tokens) {
  const { calls } = table;
  if (!calls) return table;
  const { closing = [], end = [], other_starts = [], short_starts = [] } = calls;
  const areIn = (text) => tokens.areIn(text);
  let guarded = calls;
  const at = closing.findIndex(areIn);
  if (at > 0) {
    const whole = closing.slice(0, at + 1).join(" ");
    guarded = { ...guarded, closing: [whole, ...closing.slice(at + 1)], end: end.filter(areIn) };
  }
  if (areIn(calls.start ?? "")) {
    const heads = { other_starts: other_starts.filter(areIn) };
    guarded = { ...guarded, ...heads, short_starts: short_starts.filter(areIn) };
  } else if (calls.form === "heads" && calls.opening?.some(areIn)) {
    guarded = { ...guarded, only_in_section: true };
  }
  return { ...table, calls: guarded };
}
function asNotation(text) {
  return text.replaceAll("{", "{{").replaceAll("}", "}}");
}
function anyOfTexts(texts, others) {
  return new RegExp((Array.from(texts, escaped).join("|") || "(?!)") + others, "g");
}
