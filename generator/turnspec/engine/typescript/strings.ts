/** Texts by code points, quoted, and without white space. */

/** The characters that don't stand in a JSON string as they are, for a class of an expression. */
export const ESCAPED = '"\\\\\\x00-\\x1f';
// What Unicode has for white space, of which no marker and no text of JSON is made up.
const ANY_SPACE = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/g;
const PAIR = /[\ud800-\udbff][\udc00-\udfff]/;
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;
// What nobody sees, but for the blank.
const NOT_PRINTABLE = /\p{C}|(?! )\p{Z}|\\/gu;
const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  '"': '\\"',
  "\\": "\\\\",
};

/** So many pieces of a growing text are kept apart. */
const MOST_APART = 256;

/**
 * A text that grows piece by piece.
 *
 * The latest pieces are kept apart, as joining each of them would take long; but not all of them, as
 * many small strings that stay are what a collector of garbage takes long for.
 */
export class GrowingText {
  private joined = "";
  /** The first ones, as many as are counted; others are left from before. */
  private readonly apart: string[] = [];
  private count = 0;

  add(piece: string): void {
    this.apart[this.count] = piece;
    this.count += 1;
    if (this.count === MOST_APART) this.join();
  }

  private join(): void {
    this.joined += this.apart.slice(0, this.count).join("");
    this.count = 0;
  }

  get isEmpty(): boolean {
    return this.count === 0 && !this.joined;
  }

  /** All of it so far. */
  get text(): string {
    this.join();
    return this.joined;
  }

  /** The last of JavaScript's characters. */
  get last(): string {
    const piece = this.apart[this.count - 1] ?? this.joined;
    return piece.charAt(piece.length - 1);
  }
}

/** Say whether a text has characters that are two of JavaScript's. */
export function hasPairs(text: string): boolean {
  return PAIR.test(text);
}

/** Return how many code points a text has. */
export function codePoints(text: string): number {
  if (!PAIR.test(text)) return text.length;
  let count = 0;
  for (let at = 0; at < text.length; at += widthAt(text, at)) count++;
  return count;
}

/** Return how many of JavaScript's characters the code point at a position takes. */
export function widthAt(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}

/** Return the position behind some code points of a text, from a position on. */
export function positionBehind(text: string, count: number, from = 0): number {
  let position = from;
  for (let left = count; left > 0 && position < text.length; left--) {
    position += widthAt(text, position);
  }
  return position;
}

/**
 * Return the text from one offset to another, as events have them.
 *
 * Events count code points, and JavaScript's strings UTF-16 code units.
 */
export function sliceOf(text: string, { start, end }: { start: number; end: number }): string {
  const from = positionBehind(text, Math.max(start, 0));
  return text.slice(from, positionBehind(text, Math.max(end, 0) - Math.max(start, 0), from));
}

/** Return how many characters of white space a text begins with, from a position on. */
export function spaceBefore(text: string, from = 0): number {
  let at = from;
  while (at < text.length && isSpace(text.charCodeAt(at))) at++;
  return at - from;
}

/** Say whether a character is one of those that count as white space, as in JSON. */
function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/** Return a text without the white space at its end. */
export function trimmedEnd(text: string): string {
  let end = text.length;
  while (end > 0 && isSpace(text.charCodeAt(end - 1))) end--;
  return end === text.length ? text : text.slice(0, end);
}

/** Return a text without the white space around it. */
export function trimmed(text: string): string {
  return trimmedEnd(text.slice(spaceBefore(text)));
}

/** Say whether a text is nothing but white space, of any kind that Unicode has. */
export function isBlank(text: string): boolean {
  return withoutSpace(text) === "";
}

/** Return a text without its white space, of any kind that Unicode has. */
export function withoutSpace(text: string): string {
  return text.replace(ANY_SPACE, "");
}

/** Say whether a text has a letter or a digit. */
export function hasLetter(text: string): boolean {
  return LETTER_OR_DIGIT.test(text);
}

/** Return a text without what it begins with, if it does. */
export function withoutPrefix(text: string, prefix: string): string {
  return text.startsWith(prefix) ? text.slice(prefix.length) : text;
}

/** Return a text as it stands in a string of JSON, which holds all other characters as they are. */
export function jsonEscaped(text: string): string {
  let written = "";
  let done = 0;
  for (let at = 0; at < text.length; at++) {
    if (!isEscapedInJson(text.charCodeAt(at))) continue;
    const sign = text.charAt(at);
    written += text.slice(done, at) + (SHORT_ESCAPES[sign] ?? `\\u${hexadecimal(sign, 4)}`);
    done = at + 1;
  }
  return done === 0 ? text : written + text.slice(done);
}

/** Say whether a character is a quote, a backslash or a control. */
function isEscapedInJson(code: number): boolean {
  return code < 0x20 || code === 0x22 || code === 0x5c;
}

/** Return JSON text whose halves of characters (surrogates) are escapes again, but for pairs. */
export function withoutHalves(text: string): string {
  return text.replace(/\p{Cs}/gu, (half) => `\\u${hexadecimal(half, 4)}`);
}

/** Return a text as a string of JSON. */
export function jsonString(text: string): string {
  return `"${jsonEscaped(text)}"`;
}

/** Return a text in quotes, with escapes for what nobody sees: as Python's `repr` writes it. */
export function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const visible = text.replace(NOT_PRINTABLE, visibleEscape);
  return quote + (quote === "'" ? visible.replaceAll("'", "\\'") : visible) + quote;
}

function visibleEscape(character: string): string {
  if ("\n\r\t\\".includes(character)) return SHORT_ESCAPES[character] ?? "";
  const code = character.codePointAt(0) ?? 0;
  if (code > 0xffff) return `\\U${hexadecimal(character, 8)}`;
  return code > 0xff ? `\\u${hexadecimal(character, 4)}` : `\\x${hexadecimal(character, 2)}`;
}

function hexadecimal(character: string, digits: number): string {
  return (character.codePointAt(0) ?? 0).toString(16).padStart(digits, "0");
}
