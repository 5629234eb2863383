// Parses texts with the TypeScript engine: requests and answers are lines of JSON.
//
// {"name": …, "facts": …} loads a format, {"name": …, "path": …} a parser's file; {"name": …, "options": …, "text": …, "sizes": […]}
// parses a text in pieces of each size (0: whole), or {…, "pieces": […]} in these pieces, special
// ones as [piece, true], and null for a finish() between them. An answer
// holds, for each way to cut the text, the events of each piece and of the end, and the message; of a
// request with "half", how many steps its first piece takes, so many pieces, and all, or null if that
// takes more milliseconds than "most".

import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const formats = new Map();
const sources = new Map(); // what they are loaded from

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

/** Return what a script gives, or the engine that scripts share, by a format's facts. */
async function opened({ facts, path }, mark = "") {
  const script = await import(pathToFileURL(path ?? process.argv[2]).href + mark);
  return facts ? script.load(facts) : script;
}

/** Return the steps of a text's first piece, up to so many, and up to its end; null for no end. */
async function counted({ name, pieces, half, most, options }) {
  const { COUNTED, steps } = await import("./steps.mjs");
  const key = name + COUNTED;
  if (!formats.has(key)) formats.set(key, await opened(sources.get(name), COUNTED));
  const parser = new (formats.get(key).Parser)(options);
  let at = 0;
  const feed = (end) => {
    for (; at < end; at += 1) fed(parser, pieces[at]);
  };
  const rest = () => {
    feed(pieces.length);
    parser.finish();
  };
  return steps([() => feed(1), () => feed(half), rest], most);
}

async function answer({ name, facts, path, ...request }) {
  if (facts || path) {
    sources.set(name, { facts, path });
    formats.set(name, await opened({ facts, path }));
    return null;
  }
  const { options, text, sizes, pieces, half } = request;
  if (half !== undefined) return counted({ name, ...request });
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
