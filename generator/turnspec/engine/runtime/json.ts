/** JSON texts: what they hold, and what is wrong with them. */

import type { ProblemKind } from "./format.js";
import { type Any, attempted, isList, keptIn, repr, ValueError } from "./python.js";

/** A number as JSON writes it: JavaScript's don't tell 1 from 1.0, nor hold all digits. */
export class JsonNumber {
  readonly jsonText: string;

  constructor(text: string) {
    this.jsonText = text;
    if (this.isInteger && text.replace("-", "").length > MOST_DIGITS) {
      throw new ValueError("too many digits");
    }
  }

  get isInteger(): boolean {
    return !/[.eE]/.test(this.jsonText);
  }
}

/** What JSON stands for. Members keep their order, and any names. */
export type JsonData = null | boolean | string | JsonNumber | JsonData[] | JsonObject;
export type JsonObject = Map<string, JsonData>;

const DEEPEST = 500; // arrays and objects in each other
export const MOST_DIGITS = 4300; // of an integer
const JSON_TOKEN = /[ \t\n\r,:]*(["[\]{}]|[-+.\w]+)/y;

/** Given for a hook, it has objects keep all members where a key is repeated. */
export const apart = true;

/** Return the value of JSON text; ValueError if it is none, as NaN is. */
export function loadJson(text: string, isApart = false): Any {
  try {
    JSON.parse(text);
  } catch {
    throw new ValueError("not JSON");
  }
  let at = 0;
  const next = (): string => {
    JSON_TOKEN.lastIndex = at;
    const token = JSON_TOKEN.exec(text)?.[1] ?? "";
    at = JSON_TOKEN.lastIndex;
    if (token !== '"') return token;
    const start = at - 1;
    while (text.charAt(at) !== '"') at += text.charAt(at) === "\\" ? 2 : 1;
    return text.slice(start, ++at);
  };
  const value = (token: string, depth: number): JsonData => {
    if (/^["tfn]/.test(token)) return JSON.parse(token) as JsonData;
    if (token !== "[" && token !== "{") return new JsonNumber(token);
    if (depth === DEEPEST) throw new ValueError("nested too deeply");
    const elements: JsonData[] = [];
    const members: JsonObject = new Map();
    for (let first = next(); first !== "]" && first !== "}"; first = next()) {
      if (token === "[") elements.push(value(first, depth + 1));
      else {
        const key = JSON.parse(first) as string;
        const again = isApart && members.has(key) ? (new String(key) as string) : key;
        members.set(again, value(next(), depth + 1));
      }
    }
    return token === "[" ? elements : members;
  };
  return value(next(), 0);
}

/** Return the value of JSON text that keeps all members; undefined if it is none. */
const loadedJson = (text: string): JsonData | undefined => attempted(() => loadJson(text, apart));

/** Return JSON text in which the values of a key that is repeated are the array of them. */
export function withRepeatedJoined(text: string): string {
  const value = loadedJson(text);
  return value === undefined ? text : joinHalves(dumpJson(membersJoined(value))); // too deep
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
  if (!(value instanceof Map)) return ["not_an_object", `the arguments are ${text}`];
  const again = [...value.keys()].find((key) => typeof key !== "string");
  if (again === undefined) return null;
  return ["repeated_argument", `another value for ${repr(String(again))}`];
}

/** Return a text as a string of JSON, which holds all other characters as they are. */
export function quote(text: string): string {
  if (!/[\ud800-\udfff]/.test(text)) return JSON.stringify(text);
  return `"${text.replace(/[^ -\uffff]|["\\]/g, (sign) => JSON.stringify(sign).slice(1, -1))}"`;
}

/** Escape halves of characters (surrogates) in JSON, but for pairs. */
export function joinHalves(text: string): string {
  return text.replace(/\p{Cs}/gu, (half) => `\\u${half.charCodeAt(0).toString(16)}`);
}

/** Return a value as JSON on one line, with a blank after commas and colons. */
export function dumpJson(value: Any): string {
  if (typeof value === "string") return quote(value);
  if (value instanceof JsonNumber) {
    if (!value.isInteger) return floatText(Number(value.jsonText));
    return value.jsonText === "-0" ? "0" : value.jsonText;
  }
  if (isList(value)) return `[${value.map(dumpJson).join(", ")}]`;
  if (!(value instanceof Map)) return String(value);
  const members = Array.from(value, ([key, it]) => `${quote(String(key))}: ${dumpJson(it)}`);
  return `{${members.join(", ")}}`;
}

/** Return a fraction as Python writes it: 1.0, 1e+16, 1e-05. */
export function floatText(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const [digits = "", power = "0"] = value.toExponential().split("e");
  const exponent = Number(power);
  if (exponent >= 16 || exponent < -4) {
    return `${digits}e${power.charAt(0)}${power.slice(1).padStart(2, "0")}`;
  }
  const plain = Object.is(value, -0) ? "-0" : String(value);
  return plain.includes(".") ? plain : `${plain}.0`;
}

/** Return the types that a value is of: of JSON, or of a schema. */
export function typesOf(value: Any): Set<string> {
  if (value instanceof JsonNumber || typeof value === "number") {
    const text = value instanceof JsonNumber ? value.jsonText : String(value);
    const isWhole = !/[.eE]/.test(text) || Number.isInteger(Number(text));
    return new Set(isWhole ? ["integer", "number"] : ["number"]);
  }
  return new Set([value === null ? "null" : isList(value) ? "array" : typeof value]);
}
