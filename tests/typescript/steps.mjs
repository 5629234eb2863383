// Counts the work of any script in steps: how often its blocks run, as V8 tells, and the characters
// and elements that functions of JavaScript's own look at, which are replaced meanwhile. Those that
// aren't named here cost all that they are given and all that they return. What members an object
// display takes from another one is not seen, nor an index into a text that was put together.

import { Session } from "node:inspector";
import { setFlagsFromString } from "node:v8";
import { runInThisContext } from "node:vm";

setFlagsFromString("--no-opt"); // V8 loses counts in code that it has optimized
const session = new Session();
session.connect();
session.post("Profiler.enable");
// What was compiled before is not counted: scripts are loaded anew, with `COUNTED` in their address.
session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
export const COUNTED = "?counted";

/** V8 writes shorter texts anew when they are put together. */
const SHORTEST_JOINED = 13;
const SPACE = "[ \\t\\n\\r]*";
const ATOMS = /\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]/g;
const REPEATED = /[*+]|\{\d+,\}/;
const ONE_REPEATED = /^(?:\((?:\?:)?)?x\+\)?$/; // which fails at its first character

let count = 0;
let isCounting = false; // what counts calls some of what is replaced
const seen = new Map(); // the texts that were looked at last, by their length

/** Return what it costs to look into a text: its length at first, as it may be in parts. */
function copied(text) {
  if (typeof text !== "string" || text.length < SHORTEST_JOINED) return 0;
  const [last, other] = seen.get(text.length) ?? [];
  if (last === text || other === text) return 0;
  seen.set(text.length, [text, last]);
  return text.length;
}

/** A text's beginning is how an expression is given an end: it refers to the text, as V8 has it. */
function sliced(_, result, [start = 0]) {
  if (start !== 0) return 1 + result.length;
  copied(result);
  return 1;
}

function length(value) {
  if (typeof value === "string" || Array.isArray(value)) return value.length;
  return value instanceof Map || value instanceof Set ? value.size : 0;
}

/** Return how many characters an expression looked at, or may have where it found nothing. */
function lookedAt({ source, global, sticky }, match, [given], lastIndex) {
  const text = String(given);
  const from = global || sticky ? lastIndex : 0;
  const rest = Math.max(0, text.length - from);
  if (match) return 1 + match.index + match[0].length - from;
  const isSpaced = source.startsWith(SPACE);
  const behind = isSpaced ? source.slice(SPACE.length) : source;
  const branches = behind.replace(ATOMS, "x").split("|");
  const isLong = branches.some((one) => REPEATED.test(one) && !ONE_REPEATED.test(one));
  if (!sticky || isLong) return 1 + rest;
  return 1 + (isSpaced ? rest - text.slice(from).trimStart().length : 0);
}

const summed = (values, measure) => values.reduce((sum, value) => sum + measure(value), 1);
const whole = (self, result, given) => summed([self, result, ...given], length);
const members = (_, result, given) =>
  summed([result, ...given], (value) => length(value) || Object.keys(Object(value)).length);
const once = () => 1;
const taken = (_, result) => 1 + length(result);
const given = (_, __, parts) => summed(parts, length);
const searched = (self, at, [, from = 0]) => 1 + (at < 0 ? self.length : at + 1) - from;
const searchedBack = (self, at) => 1 + self.length - Math.max(0, at);
const moved = (self, result, [at = 0]) => 1 + length(result) + Math.max(0, self.length - at);

const costs = (cost, names) => names.split(" ").map((name) => [name, cost]);
const functionsOf = (owner) =>
  Reflect.ownKeys(owner).filter(
    (name) =>
      name !== "constructor" &&
      Object.getOwnPropertyDescriptor(owner, name).value instanceof Function,
  );
const iterators = [[], new Map(), new Set(), "", "".matchAll(/x/g)].map((it) =>
  Object.getPrototypeOf(it[Symbol.iterator]()),
);

const all = (owner, cost) => functionsOf(owner).map((name) => [name, cost]);
const ofTexts = [
  ...all(String.prototype, whole),
  ...costs(once, "at charAt charCodeAt codePointAt toString valueOf"),
  [Symbol.iterator, once],
  ...costs(given, "startsWith endsWith"),
  ...costs(sliced, "slice substring substr"),
  ...costs(searched, "indexOf"),
];
const ofArrays = [
  ...all(Array.prototype, whole),
  ...costs(once, "at pop entries keys values find findIndex findLast findLastIndex some every"),
  [Symbol.iterator, once],
  ...costs(given, "push"),
  ...costs(taken, "slice join"),
  ...costs(searched, "indexOf"),
  ...costs(searchedBack, "lastIndexOf"),
  ...costs(moved, "splice"),
];
/** What is replaced: whose it is, and a cost for each name, of which the last counts. */
const REPLACED = [
  [String.prototype, ofTexts],
  [Array.prototype, ofArrays],
  [RegExp.prototype, costs(lookedAt, "exec")],
  [Map.prototype, costs(whole, "forEach")],
  [Set.prototype, costs(whole, "forEach")],
  [JSON, costs(whole, "parse stringify")],
  [Object, all(Object, members)],
  [Array, costs(taken, "from")],
  [globalThis, costs(whole, "Number String BigInt parseInt parseFloat structuredClone")],
  ...iterators.map((iterator) => [iterator, costs(once, "next")]),
];

function counting(method, cost) {
  return new Proxy(method, {
    apply(_, self, given) {
      const lastIndex = self?.lastIndex;
      const result = Reflect.apply(method, self, given);
      if (isCounting) return result;
      isCounting = true;
      count += cost(self, result, given, lastIndex) + copied(self) + copied(given[0]);
      isCounting = false;
      return result;
    },
  });
}

/** Return how often blocks of scripts that are counted ran since it was asked the last time. */
function blocks() {
  let ran = 0;
  session.post("Profiler.takePreciseCoverage", (_, { result }) => {
    for (const { url, functions } of result) {
      if (!url.endsWith(COUNTED)) continue;
      for (const { ranges } of functions) for (const range of ranges) ran += range.count;
    }
  });
  return ran;
}

/** Run something, and return the steps since the count began. */
function within(run, timeout) {
  globalThis.toBeCounted = run;
  runInThisContext("toBeCounted()", { timeout });
  count += blocks();
  return count;
}

/** Return the steps up to each of some things that are done; null if one takes more milliseconds. */
export function steps(things, most) {
  const kept = REPLACED.flatMap(([owner, named]) =>
    [...new Map(named)].map(([name, cost]) => ({ owner, name, cost, method: owner[name] })),
  );
  for (const { owner, name, cost, method } of kept) owner[name] = counting(method, cost);
  const counts = [];
  try {
    seen.clear();
    blocks();
    count = 0;
    for (let at = 0; at < things.length; at += 1) counts[at] = within(things[at], most);
    return counts;
  } catch (error) {
    if (error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return null;
    throw error;
  } finally {
    for (const { owner, name, method } of kept) owner[name] = method;
  }
}
