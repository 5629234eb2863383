/** Texts by code points, quoted, and without white space. */
/** The characters that don't stand in a JSON string as they are, for a class of an expression. */
export const ESCAPED = '"\\\\\\x00-\\x1f';
// What Unicode has for white space, of which no marker and no text of JSON is made up.
const ANY_SPACE = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/g;
const PAIR = /[\ud800-\udbff][\udc00-\udfff]/;
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;
// What nobody sees, but for the blank.
const NOT_PRINTABLE = /\p{C}|(?! )\p{Z}|\\/gu;
const SHORT_ESCAPES = {
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
  joined = "";
  /** The first ones, as many as are counted; others are left from before. */
  apart = [];
  count = 0;
  add(piece) {
    this.apart[this.count] = piece;
    this.count += 1;
    if (this.count === MOST_APART) this.join();
  }
  join() {
    this.joined += this.apart.slice(0, this.count).join("");
    this.count = 0;
  }
  get isEmpty() {
    return this.count === 0 && !this.joined;
  }
  /** All of it so far. */
  get text() {
    this.join();
    return this.joined;
  }
  /** The last of JavaScript's characters. */
  get last() {
    const piece = this.apart[this.count - 1] ?? this.joined;
    return piece.charAt(piece.length - 1);
  }
}
/** Say whether a text has characters that are two of JavaScript's. */
export function hasPairs(text) {
  return PAIR.test(text);
}
/** Return how many code points a text has. */
export function codePoints(text) {
  if (!PAIR.test(text)) return text.length;
  let count = 0;
  for (let at = 0; at < text.length; at += widthAt(text, at)) count++;
  return count;
}
/** Return how many of JavaScript's characters the code point at a position takes. */
export function widthAt(text, at) {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}
/** Return the position behind some code points of a text, from a position on. */
export function positionBehind(text, count, from = 0) {
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
export function sliceOf(text, { start, end }) {
  const from = positionBehind(text, Math.max(start, 0));
  return text.slice(from, positionBehind(text, Math.max(end, 0) - Math.max(start, 0), from));
}
/** Return how many characters of white space a text begins with, from a position on. */
export function spaceBefore(text, from = 0) {
  let at = from;
  while (at < text.length && isSpace(text.charCodeAt(at))) at++;
  return at - from;
}
/** Say whether a character is one of those that count as white space, as in JSON. */
function isSpace(code) {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}
/** Return a text without the white space at its end. */
export function trimmedEnd(text) {
  let end = text.length;
  while (end > 0 && isSpace(text.charCodeAt(end - 1))) end--;
  return end === text.length ? text : text.slice(0, end);
}
/** Return a text without the white space around it. */
export function trimmed(text) {
  return trimmedEnd(text.slice(spaceBefore(text)));
}
/** Say whether a text is nothing but white space, of any kind that Unicode has. */
export function isBlank(text) {
  return withoutSpace(text) === "";
}
/** Return a text without its white space, of any kind that Unicode has. */
export function withoutSpace(text) {
  return text.replace(ANY_SPACE, "");
}
/** Say whether a text has a letter or a digit. */
export function hasLetter(text) {
  return LETTER_OR_DIGIT.test(text);
}
/** Return a text without what it begins with, if it does. */
export function withoutPrefix(text, prefix) {
  return text.startsWith(prefix) ? text.slice(prefix.length) : text;
}
/** Return a text as it stands in a string of JSON, which holds all other characters as they are. */
export function jsonEscaped(text) {
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
function isEscapedInJson(code) {
  return code < 0x20 || code === 0x22 || code === 0x5c;
}
/** Return JSON text whose halves of characters (surrogates) are escapes again, but for pairs. */
export function withoutHalves(text) {
  return text.replace(/\p{Cs}/gu, (half) => `\\u${hexadecimal(half, 4)}`);
}
/** Return a text as a string of JSON. */
export function jsonString(text) {
  return `"${jsonEscaped(text)}"`;
}
/** Return a text in quotes, with escapes for what nobody sees: as Python's `repr` writes it. */
export function quoted(text) {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const visible = text.replace(NOT_PRINTABLE, visibleEscape);
  return quote + (quote === "'" ? visible.replaceAll("'", "\\'") : visible) + quote;
}
function visibleEscape(character) {
  if ("\n\r\t\\".includes(character)) return SHORT_ESCAPES[character] ?? "";
  const code = character.codePointAt(0) ?? 0;
  if (code > 0xffff) return `\\U${hexadecimal(character, 8)}`;
  return code > 0xff ? `\\u${hexadecimal(character, 4)}` : `\\x${hexadecimal(character, 2)}`;
}
function hexadecimal(character, digits) {
  return (character.codePointAt(0) ?? 0).toString(16).padStart(digits, "0");
}
