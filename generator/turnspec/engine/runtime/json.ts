/** JSON texts: what they hold, and what is wrong with them. */

import type { ProblemKind } from "./format.js";
import { type Any, attempted, isList, keptIn, repr, ValueError } from "./python.js";

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
export const CONSTANTS_OF_JSON: Readonly<Record<string, boolean>> = { true: true, false: false };
const NO_JSON = "not JSON";

/** Reads a text of JSON, token by token. */
class JsonReader {
  private readonly text: string;
  /** Whether a key that is repeated is a key of its own, an object; else the last one counts. */
  private readonly isApart: boolean;
  private position = 0;
  private depth = 0;

  constructor(text: string, isApart: boolean) {
    this.text = text;
    this.isApart = isApart;
  }

  /** Return the value of the whole text; ValueError if it is none. */
  read(): JsonData {
    const value = this.value(this.next());
    if (!/^[ \t\n\r]*$/.test(this.text.slice(this.position))) throw new ValueError(NO_JSON);
    return value;
  }

  private next(): RegExpExecArray {
    const token = this.matched(JSON_TOKEN);
    if (!token) throw new ValueError(NO_JSON);
    if (token[2]) {
      const start = this.position - 1;
      let part = this.matched(STRING_TEXT);
      while (part?.[0] && !part[1]) part = this.matched(STRING_TEXT);
      if (!part?.[1]) throw new ValueError(NO_JSON);
      token[2] = this.text.slice(start, this.position);
    }
    return token;
  }

  private matched(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.position;
    const found = pattern.exec(this.text);
    this.position += found ? found[0].length : 0;
    return found;
  }

  private value([, sign, string, number, constant]: RegExpExecArray): JsonData {
    if (string !== undefined) return JSON.parse(string) as string;
    if (number !== undefined) return numberOf(number);
    if (constant !== undefined) return CONSTANTS_OF_JSON[constant] ?? null;
    if ((sign !== "[" && sign !== "{") || this.depth === DEEPEST) throw new ValueError(NO_JSON);
    this.depth++;
    const elements: JsonData[] = [];
    const members: JsonObject = new Map();
    if (sign === "[") this.listed("]", (token) => elements.push(this.value(token)));
    else this.listed("}", (token) => this.member(token, members));
    this.depth--;
    return sign === "[" ? elements : members;
  }

  /** Read what commas part, up to a bracket. */
  private listed(end: string, read: (token: RegExpExecArray) => unknown): void {
    let token = this.next();
    let behind = token[1];
    while (behind !== end) {
      read(token);
      behind = this.next()[1];
      if (behind === ",") token = this.next();
      else if (behind !== end) throw new ValueError(NO_JSON);
    }
  }

  private member([, , key]: RegExpExecArray, members: JsonObject): void {
    if (key === undefined || this.next()[1] !== ":") throw new ValueError(NO_JSON);
    const value = this.value(this.next());
    addMember(members, JSON.parse(key) as string, value, this.isApart);
  }
}

/** Add a member; one of a key that is repeated as another one if it is to be apart. */
export function addMember(members: JsonObject, key: string, value: JsonData, isApart = true): void {
  members.set(isApart && members.has(key) ? (new String(key) as string) : key, value);
}

function numberOf(text: string): JsonNumber {
  const number = new JsonNumber(text);
  const digits = text.startsWith("-") ? text.length - 1 : text.length;
  if (number.isInteger && digits > MOST_DIGITS) throw new ValueError(NO_JSON);
  return number;
}

/** Given for a hook, it has objects keep all members where a key is repeated. */
export const apart = true;

/** Return the value of JSON text; ValueError if it is none, as NaN is. */
export function loadJson(text: string, hook = false): Any {
  return new JsonReader(text, hook).read();
}

/** Return the value of JSON text that keeps all members; undefined if it is none. */
function loadedJson(text: string): JsonData | undefined {
  return attempted(() => loadJson(text, apart));
}

/** Return JSON text in which the values of a key that is repeated are the array of them. */
export function withRepeatedJoined(text: string): string {
  const value = loadedJson(text);
  // It may be nested too deeply.
  return value === undefined ? text : joinHalves(dumpJson(membersJoined(value)));
}

function membersJoined(value: JsonData): JsonData {
  if (Array.isArray(value)) return value.map(membersJoined);
  if (!(value instanceof Map)) return value;
  const found = new Map<string, JsonData[]>();
  for (const [key, member] of value) keptIn(found, String(key), []).push(membersJoined(member));
  return new Map(
    Array.from(found, ([key, all]) => [key, all.length > 1 ? all : (all[0] as JsonData)]),
  );
}

/** Return what is wrong with arguments: the kind of problem, and a sentence. */
export function findFlaw(text: string): readonly [ProblemKind, string] | null {
  const value = loadedJson(text);
  if (value === undefined) return ["not_json", "the arguments are not JSON"];
  const keys = value instanceof Map ? [...value.keys()] : [];
  const again = keys.find((key) => typeof key !== "string");
  if (again === undefined) return null;
  return ["repeated_argument", `another value for ${repr(String(again))}`];
}

/** Return a text as a string of JSON, which holds all other characters as they are. */
export function quote(text: string): string {
  if (!/[\ud800-\udfff]/.test(text)) return JSON.stringify(text);
  return `"${text.replace(/["\\\x00-\x1f]/g, (sign) => JSON.stringify(sign).slice(1, -1))}"`;
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
