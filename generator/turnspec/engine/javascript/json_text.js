/** JSON texts: what they hold, and what is wrong with them. */
import { jsonString, quoted, withoutHalves } from "./strings.js";
/** A number as JSON writes it: JavaScript's don't tell 1 from 1.0, nor hold all digits. */
export class JsonNumber {
  text;
  constructor(text) {
    this.text = text;
  }
  get isInteger() {
    return !/[.eE]/.test(this.text);
  }
}
/** How deeply arrays and objects may be nested. */
const DEEPEST = 500;
const MOST_DIGITS = 4300; // of an integer
/** A string's text behind its quote: only so many escapes, as engines put each on their stack. */
export const STRING_TEXT =
  /[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*){0,999}(")?/y;
/** The same in single quotes, which end one only where JSON goes on; else it is an apostrophe. */
export const SINGLE_QUOTED_TEXT =
  /[^'"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^'"\\\x00-\x1f]*){0,999}('(?=[ \t\n\r]{0,99}[,:}\]]))?/y;
const JSON_NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/.source;
const JSON_TOKEN = new RegExp(
  `[ \\t\\n\\r]*(?:([{}[\\],:])|(")|(${JSON_NUMBER})|(true|false|null))`,
  "y",
);
const JSON_CONSTANTS = {
  true: true,
  false: false,
  null: null,
};
/** Match a string's text from a position on; up to another one that is done already. */
export function matchedString(pattern, text, at, done = at) {
  let end = done;
  for (;;) {
    pattern.lastIndex = end;
    const [part, quote = ""] = pattern.exec(text) ?? [""];
    end += part.length;
    if (quote || !part) return { text: text.slice(at, end - quote.length), isClosed: !!quote, end };
  }
}
/** Reads a text of JSON, token by token. */
class JsonReader {
  text;
  /** Whether a key that is repeated is a key of its own, an object; else the last one counts. */
  isApart;
  position = 0;
  depth = 0;
  constructor(text, isApart = false) {
    this.text = text;
    this.isApart = isApart;
  }
  /** Return the value of the whole text; undefined if it is none. */
  read() {
    const value = this.value(this.next());
    return /^[ \t\n\r]*$/.test(this.text.slice(this.position)) ? value : undefined;
  }
  next() {
    JSON_TOKEN.lastIndex = this.position;
    const token = JSON_TOKEN.exec(this.text);
    if (token) this.position = JSON_TOKEN.lastIndex;
    if (!token?.[2]) return token;
    const start = this.position;
    const { end, isClosed } = matchedString(STRING_TEXT, this.text, start);
    this.position = end;
    token[2] = this.text.slice(start - 1, end);
    return isClosed ? token : null;
  }
  value(token) {
    if (!token) return undefined;
    const [, sign, string, number, constant] = token;
    if (string !== undefined) return JSON.parse(string);
    if (number !== undefined) return numberOf(number);
    if (constant !== undefined) return JSON_CONSTANTS[constant];
    if (sign !== "[" && sign !== "{") return undefined;
    if (this.depth === DEEPEST) return undefined;
    this.depth++;
    const value = sign === "[" ? this.array() : this.object();
    this.depth--;
    return value;
  }
  array() {
    const elements = [];
    let token = this.next();
    if (token?.[1] === "]") return elements;
    for (;;) {
      const value = this.value(token);
      if (value === undefined) return undefined;
      elements.push(value);
      const behind = this.next()?.[1];
      if (behind === "]") return elements;
      if (behind !== ",") return undefined;
      token = this.next();
    }
  }
  object() {
    const members = new Map();
    let token = this.next();
    if (token?.[1] === "}") return members;
    for (;;) {
      if (token?.[2] === undefined || this.next()?.[1] !== ":") return undefined;
      const key = JSON.parse(token[2]);
      const value = this.value(this.next());
      if (value === undefined) return undefined;
      const isAgain = this.isApart && members.has(key);
      members.set(isAgain ? new String(key) : key, value);
      const behind = this.next()?.[1];
      if (behind === "}") return members;
      if (behind !== ",") return undefined;
      token = this.next();
    }
  }
}
function numberOf(text) {
  const number = new JsonNumber(text);
  const digits = text.startsWith("-") ? text.length - 1 : text.length;
  return number.isInteger && digits > MOST_DIGITS ? undefined : number;
}
/** Return the value of JSON text; undefined if it is none, as NaN and Infinity aren't. */
export function loadJson(text) {
  return new JsonReader(text).read();
}
/** Return the value of JSON text, whose objects keep all members where a key is repeated. */
export function loadApart(text) {
  return new JsonReader(text, true).read();
}
/** Return JSON text in which the values of a key that is repeated are the array of them. */
export function withRepeatedJoined(text) {
  const value = loadApart(text);
  return value === undefined ? text : dumpJson(joined(value)); // it may be nested too deeply
}
function joined(value) {
  if (Array.isArray(value)) return value.map(joined);
  if (!(value instanceof Map)) return value;
  const found = new Map();
  for (const [key, member] of value) {
    const values = found.get(String(key)) ?? [];
    found.set(String(key), values);
    values.push(joined(member));
  }
  const members = Array.from(found, ([key, all]) => [key, all.length > 1 ? all : all[0]]);
  return new Map(members);
}
/** Return what is wrong with arguments: the kind of problem, and a sentence. */
export function findFlaw(text) {
  const value = loadApart(text);
  if (value === undefined) return ["not_json", "the arguments are not JSON"];
  const keys = value instanceof Map ? [...value.keys()] : [];
  const again = keys.find((key) => typeof key !== "string");
  if (again === undefined) return null;
  return ["repeated_argument", `another value for ${quoted(String(again))}`];
}
/** Return the string that JSON text stands for; the text itself if that is another value. */
export function asString(text) {
  const value = loadJson(text);
  if (value === undefined) return "";
  return typeof value === "string" ? value : text;
}
/** Return a value as JSON on one line, with a blank behind commas and colons. */
export function dumpJson(value) {
  if (typeof value === "string") return withoutHalves(jsonString(value));
  if (value instanceof JsonNumber) return numberText(value);
  if (Array.isArray(value)) return `[${value.map(dumpJson).join(", ")}]`;
  if (value instanceof Map) {
    const members = Array.from(
      value,
      ([key, member]) => `${dumpJson(String(key))}: ${dumpJson(member)}`,
    );
    return `{${members.join(", ")}}`;
  }
  return String(value);
}
function numberText(number) {
  if (number.isInteger) return number.text === "-0" ? "0" : number.text;
  return floatText(Number(number.text));
}
/** Return a fraction as Python writes it: 1.0, 1e+16, 1e-05. */
export function floatText(value) {
  if (!Number.isFinite(value)) return String(value);
  const [digits = "", power = "0"] = value.toExponential().split("e");
  const exponent = Number(power);
  if (exponent >= 16 || exponent < -4) {
    const sign = exponent < 0 ? "-" : "+";
    return `${digits}e${sign}${String(Math.abs(exponent)).padStart(2, "0")}`;
  }
  const plain = String(value);
  return /[.]/.test(plain) ? plain : `${Object.is(value, -0) ? "-0" : plain}.0`;
}
