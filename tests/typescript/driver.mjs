// Parses texts with the TypeScript engine: requests and answers are lines of JSON.
//
// {"name": …, "facts": …} loads a format, {"name": …, "path": …} a parser's file; {"name": …,
// "options": …, "text": …, "sizes": […]} parses a text in pieces of each size (0: whole), or
// {…, "pieces": […]} in these pieces, special ones as [piece, true], and null for a finish() between
// them. An answer holds, for each way to cut the text, the events of each piece and of the end, and
// the message; of a request with "work", how many elements of arrays were gone through or copied
// instead ("elements"), how often expressions were looked for ("matches"), or all that methods of
// JavaScript's go through: elements, members, and characters ("steps").

import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const { load } = await import(pathToFileURL(process.argv[2]).href);
const formats = new Map();

function cut(text, size) {
  if (size === 0) return [text];
  const characters = Array.from(text);
  const pieces = [];
  for (let at = 0; at < characters.length; at += size) {
    pieces.push(characters.slice(at, at + size).join(""));
  }
  return pieces;
}

function fed(parser, piece) {
  if (piece === null) return parser.finish();
  return typeof piece === "string" ? parser.feed(piece) : parser.feed(piece[0], piece[1]);
}

function parsed(format, pieces, options) {
  const parser = new format.Parser(options);
  const events = pieces.map((piece) => fed(parser, piece));
  events.push(parser.finish());
  const { content, reasoningContent, toolCalls, problems } = parser.message;
  return {
    events,
    finish_reason: parser.message.finishReason,
    message: { content, reasoning_content: reasoningContent, tool_calls: toolCalls, problems },
  };
}

/** Parse pieces, and count what some methods do meanwhile. */
function counted(format, pieces, options, methods) {
  const kept = methods.flatMap(([type, names, cost]) =>
    names.map((name) => ({ type, name, method: type[name], cost })),
  );
  let count = 0;
  let isCounting = false; // what counts calls some of them itself
  for (const { type, name, method, cost } of kept) {
    type[name] = function (...given) {
      const { lastIndex } = this;
      const each = given[0];
      if (typeof each === "function") {
        given[0] = (...all) => {
          count += 1;
          return Reflect.apply(each, undefined, all);
        };
      }
      const result = Reflect.apply(method, this, given);
      if (isCounting) return result;
      isCounting = true;
      count += cost(this, result, given, lastIndex);
      isCounting = false;
      return result;
    };
  }
  try {
    const parser = new format.Parser(options);
    for (let at = 0; at < pieces.length; at += 1) fed(parser, pieces[at]);
    parser.finish();
  } finally {
    for (const { type, name, method } of kept) type[name] = method;
  }
  return count;
}

const SPACE = "[ \\t\\n\\r]*";

/** Return how many characters an expression looked at, as far as what it found tells. */
function lookedAt(expression, match, [text], lastIndex) {
  const from = expression.global || expression.sticky ? lastIndex : 0;
  const rest = text.length - from;
  if (match) return 1 + match.index + match[0].length - from;
  if (!expression.sticky || expression.source.includes("[\\s\\S]*")) return 1 + rest;
  return 1 + (expression.source.startsWith(SPACE) ? rest - text.slice(from).trimStart().length : 0);
}

const length = (value) => value.length;
const size = (value) => value.size;
const searched = ({ length }, at, [, from = 0]) => (at < 0 ? length : at + 1) - from;
const elements = [Array.prototype, [Symbol.iterator, "concat", "slice"], length];
const matches = [RegExp.prototype, ["exec"], () => 1];
const LOOPS = ["map", "flatMap", "filter", "find", "some", "every", "forEach"]; // each call counts
const ITERATORS = [Symbol.iterator, "entries", "keys", "values", "forEach"];
const nothing = () => 0;
const work = {
  elements: [elements],
  matches: [matches],
  steps: [
    elements,
    [Array.prototype, LOOPS, nothing],
    [Array.prototype, ["flat", "entries", "includes"], length],
    [Array.prototype, ["indexOf"], searched],
    [Array.prototype, ["splice"], (left, cut, [at]) => cut.length + Math.max(left.length - at, 0)],
    [Array.prototype, ["join"], (_, text) => text.length],
    [Map.prototype, ITERATORS, size],
    [Set.prototype, ITERATORS, size],
    [RegExp.prototype, ["exec"], lookedAt],
    [String.prototype, ["charCodeAt", "codePointAt", "charAt"], () => 1],
    [String.prototype, ["startsWith", "endsWith"], (_, __, [part]) => part.length],
    [String.prototype, ["indexOf"], searched],
    [String.prototype, ["lastIndexOf", "includes", "split", "replaceAll"], length],
    [String.prototype, [Symbol.iterator], length],
    [JSON, ["parse"], (_, __, [text]) => text.length],
  ],
};

async function answer({ name, facts, path, options, text, sizes, pieces, work: kind }) {
  if (facts || path) {
    formats.set(name, facts ? load(facts) : await import(pathToFileURL(path).href));
    return null;
  }
  if (kind) return counted(formats.get(name), pieces, options, work[kind]);
  const cuts = pieces ? [pieces] : sizes.map((size) => cut(text, size));
  return cuts.map((found) => parsed(formats.get(name), found, options));
}

for await (const line of createInterface({ input: process.stdin })) {
  let told;
  try {
    told = { done: await answer(JSON.parse(line)) };
  } catch (error) {
    told = { failed: String(error?.stack ?? error) };
  }
  process.stdout.write(`${JSON.stringify(told)}\n`);
}
