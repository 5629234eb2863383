/** JSON texts: what they hold, and what is wrong with them. */

import type { ProblemKind } from "./format.js";
import { type Any, isList, repr, ValueError } from "./python.js";

/** A number as JSON writes it: JavaScript's don't tell 1 from 1.0, nor hold all digits. */
export class JsonNumber {
  readonly jsonText: string;

  constructor(text: string) {
    this.jsonText = text;
  }

  get isInteger(): boolean {
    return !/[.eE]/.test(this.jsonText);
  }
}

/** What JSON stands for. Members keep their order, and any names. */
export type JsonData = null | boolean | string | JsonNumber | JsonData[] | JsonObject;
export type JsonObject = Map<string, JsonData>;

/** How deeply arrays and objects may be nested. */
const DEEPEST = 500;
const MOST_DIGITS = 4300; // of an integer
/** A string's text behind its quote: only so many escapes, as engines put each on their stack. */
const STRING_TEXT =
  /[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*){0,999}(")?/y;
const JSON_NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/.source;
const JSON_TOKEN = new RegExp(
  `[ \\t\\n\\r]*(?:([{}[\\],:])|(")|(${JSON_NUMBER})|(true|false|null))`,
  "y",
);
const CONSTANTS_OF_JSON: Readonly<Record<string, null | boolean>> = {
  true: true,
  false: false,
  null: null,
};

/** What has come of a string, up to where it ends. */
interface StringMatch {
  readonly text: string;
  /** Whether its quote is there. */
  readonly isClosed: boolean;
  /** Behind what is matched. */
  readonly end: number;
}

/** Match a string's text from a position on; up to another one that is done already. */
function matchedString(pattern: RegExp, text: string, at: number, done = at): StringMatch {
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
  private readonly text: string;
  /** Whether a key that is repeated is a key of its own, an object; else the last one counts. */
  private readonly isApart: boolean;
  private position = 0;
  private depth = 0;

  constructor(text: string, isApart = false) {
    this.text = text;
    this.isApart = isApart;
  }

  /** Return the value of the whole text; undefined if it is none. */
  read(): JsonData | undefined {
    const value = this.value(this.next());
    return /^[ \t\n\r]*$/.test(this.text.slice(this.position)) ? value : undefined;
  }

  private next(): RegExpExecArray | null {
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

  private value(token: RegExpExecArray | null): JsonData | undefined {
    if (!token) return undefined;
    const [, sign, string, number, constant] = token;
    if (string !== undefined) return JSON.parse(string) as string;
    if (number !== undefined) return numberOf(number);
    if (constant !== undefined) return CONSTANTS_OF_JSON[constant];
    if (sign !== "[" && sign !== "{") return undefined;
    if (this.depth === DEEPEST) return undefined;
    this.depth++;
    const value = sign === "[" ? this.array() : this.object();
    this.depth--;
    return value;
  }

  private array(): JsonData[] | undefined {
    const elements: JsonData[] = [];
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

  private object(): JsonObject | undefined {
    const members: JsonObject = new Map();
    let token = this.next();
    if (token?.[1] === "}") return members;
    for (;;) {
      if (token?.[2] === undefined || this.next()?.[1] !== ":") return undefined;
      const key = JSON.parse(token[2]) as string;
      const value = this.value(this.next());
      if (value === undefined) return undefined;
      const isAgain = this.isApart && members.has(key);
      members.set(isAgain ? (new String(key) as string) : key, value);
      const behind = this.next()?.[1];
      if (behind === "}") return members;
      if (behind !== ",") return undefined;
      token = this.next();
    }
  }
}

function numberOf(text: string): JsonNumber | undefined {
  const number = new JsonNumber(text);
  const digits = text.startsWith("-") ? text.length - 1 : text.length;
  return number.isInteger && digits > MOST_DIGITS ? undefined : number;
}

/** Given for a hook, it has objects keep all members where a key is repeated. */
export const apart = true;

/** Return the value of JSON text; ValueError if it is none, as NaN is. */
export function loadJson(text: string, hook = false): Any {
  const value = new JsonReader(text, hook).read();
  if (value === undefined) throw new ValueError("not JSON");
  return value;
}

/** Return JSON text in which the values of a key that is repeated are the array of them. */
export function withRepeatedJoined(text: string): string {
  const value = new JsonReader(text, true).read();
  // It may be nested too deeply.
  return value === undefined ? text : joinHalves(dumpJson(membersJoined(value)));
}

function membersJoined(value: JsonData): JsonData {
  if (Array.isArray(value)) return value.map(membersJoined);
  if (!(value instanceof Map)) return value;
  const found = new Map<string, JsonData[]>();
  for (const [key, member] of value) {
    const values = found.get(String(key)) ?? [];
    found.set(String(key), values);
    values.push(membersJoined(member));
  }
  return new Map(
    Array.from(found, ([key, all]) => [key, all.length > 1 ? all : (all[0] as JsonData)]),
  );
}

/** Return what is wrong with arguments: the kind of problem, and a sentence. */
export function findFlaw(text: string): readonly [ProblemKind, string] | null {
  const value = new JsonReader(text, true).read();
  if (value === undefined) return ["not_json", "the arguments are not JSON"];
  const keys = value instanceof Map ? [...value.keys()] : [];
  const again = keys.find((key) => typeof key !== "string");
  if (again === undefined) return null;
  return ["repeated_argument", `another value for ${repr(String(again))}`];
}

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  '"': '\\"',
  "\\": "\\\\",
};

/** Return a text as a string of JSON, which holds all other characters as they are. */
export function quote(text: string): string {
  let written = '"';
  let done = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code >= 0x20 && code !== 0x22 && code !== 0x5c) continue;
    const sign = text.charAt(at);
    written += text.slice(done, at) + (SHORT_ESCAPES[sign] ?? escapeOf(sign));
    done = at + 1;
  }
  return `${written}${text.slice(done)}"`;
}

function escapeOf(sign: string): string {
  return `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Escape halves of characters (surrogates) in JSON, but for pairs. */
export function joinHalves(text: string): string {
  return text.replace(/\p{Cs}/gu, escapeOf);
}

/** Return a value as JSON on one line, with a blank after commas and colons. */
export function dumpJson(value: Any): string {
  if (typeof value === "string") return quote(value);
  if (value instanceof JsonNumber) return numberText(value);
  if (isList(value)) return `[${value.map(dumpJson).join(", ")}]`;
  if (!(value instanceof Map)) return String(value);
  const members = Array.from(
    value,
    ([key, member]) => `${quote(String(key))}: ${dumpJson(member)}`,
  );
  return `{${members.join(", ")}}`;
}

function numberText(number: JsonNumber): string {
  if (number.isInteger) return number.jsonText === "-0" ? "0" : number.jsonText;
  return floatText(Number(number.jsonText));
}

/** Return a fraction as Python writes it: 1.0, 1e+16, 1e-05. */
export function floatText(value: number): string {
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
