/**
 * What a box makes of a text, without the page: pieces, what a parser tells of them, parts in
 * colour, and the link to a case.
 */

import { load } from "./turnspec-engine.mjs";

/** How a part is coloured that an event is of. */
const KINDS = {
  reasoning: "reasoning",
  content: "content",
  tool_call_start: "call-mark",
  tool_call_delta: "arguments",
  tool_call_end: "call-mark",
};
/** Longer texts are for the command line. */
export const LONGEST_TEXT = 200_000;
/** Programs cut longer links. */
const LONGEST_LINK = 16_000;

/** Return the data of the page, which is JSON, compressed, in base64. */
export async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

/** Return what parses the texts of a format, by its facts. */
export const formatOf = load;

/** Cut a text, given as its characters, into pieces of so many; 0 leaves it whole. */
export function cut(characters, size) {
  if (size === 0) return characters.length > 0 ? [characters.join("")] : [];
  const pieces = [];
  for (let at = 0; at < characters.length; at += size) {
    pieces.push(characters.slice(at, at + size).join(""));
  }
  return pieces;
}

/**
 * Feed the first `count` pieces to a parser. The text is over behind the last one.
 *
 * A step is a piece with the events that it brought, or the end, which has no piece.
 */
export function readPieces(format, options, pieces, count) {
  const parser = new format.Parser(options);
  const steps = pieces.slice(0, count).map((piece) => ({ piece, events: parser.feed(piece) }));
  const isOver = count >= pieces.length;
  if (isOver) steps.push({ piece: null, events: parser.finish() });
  const { message } = parser;
  return { steps, isOver, message: message.toObject(), problems: message.problems };
}

/**
 * Return a text in parts, each of one kind and at an offset: what was told as reasoning or content,
 * what became calls, marks, what was read but isn't told yet, and what hasn't come.
 *
 * A part begins anew at each problem's offset.
 */
export function partsOf(characters, { steps, isOver, problems }) {
  const kinds = kindsOf(characters, steps);
  const fed = steps.reduce((sum, { piece }) => sum + Array.from(piece ?? "").length, 0);
  const told = kinds.findLastIndex((kind) => kind !== undefined) + 1;
  const places = new Set(problems.map(({ offset }) => offset));
  const parts = [];
  for (let at = 0; at < characters.length; at += 1) {
    const kind = kinds[at] ?? unnamed(at, told, fed, isOver);
    const last = parts.at(-1);
    if (last?.kind === kind && !places.has(at)) last.characters.push(characters[at]);
    else parts.push({ kind, at, characters: [characters[at]] });
  }
  return parts.map(({ kind, at, characters }) => ({ kind, at, text: characters.join("") }));
}

function unnamed(at, told, fed, isOver) {
  if (at >= fed && !isOver) return "unread";
  return at < told || isOver ? "mark" : "waiting";
}

/** Return the kind of each character of which an event tells. */
function kindsOf(characters, steps) {
  const kinds = new Array(characters.length);
  for (const event of steps.flatMap(({ events }) => events)) {
    kinds.fill(KINDS[event.type], Math.max(event.start, 0), Math.max(event.end, 0));
    if (event.type === "tool_call_start") markName(kinds, characters, event);
  }
  return kinds;
}

/** The name of a call has a colour of its own, where it stands in the call's head. */
function markName(kinds, characters, { name, start, end }) {
  const head = characters.slice(Math.max(start, 0), Math.max(end, 0));
  const length = Array.from(name).length;
  for (let at = head.length - length; at >= 0; at -= 1) {
    if (length > 0 && head.slice(at, at + length).join("") === name) {
      kinds.fill("name", Math.max(start, 0) + at, Math.max(start, 0) + at + length);
      return;
    }
  }
}

/** What doesn't print, or turns the order of signs around; as turnspec/spec/visible.py has it. */
const HIDDEN = /(?![\n\t ])[\p{C}\p{Z}]/gu;

/** Return a text, or JSON of the same value, with escapes for what a reader can't see. */
export function shown(text) {
  const coded = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return text.replace(HIDDEN, (sign) => sign.split("").map(coded).join(""));
}

/** Return an event in a line. */
export function eventLine(event) {
  switch (event.type) {
    case "tool_call_start":
      return `call ${event.index} starts: ${event.name}${event.id ? ` (${event.id})` : ""}`;
    case "tool_call_delta":
      return `arguments of call ${event.index}: ${JSON.stringify(event.arguments)}`;
    case "tool_call_end":
      return `call ${event.index} ${event.complete ? "ends" : "is cut off"}`;
    default:
      return `${event.type}: ${JSON.stringify(event.text)}`;
  }
}

/** Return the hash of a page's address that leads to a format, and to a case if there is one. */
export function written(name, state) {
  const anchor = `#t-${name}`;
  if (!state) return anchor;
  // JSON has an escape for half a character, which an address can't hold.
  const link = `${anchor}?${encodeURIComponent(JSON.stringify(state))}`;
  return link.length > LONGEST_LINK ? null : link;
}

/** Return where a hash leads: the id of an element, and the case, null if there is none. */
export function readHash(hash) {
  const [anchor, ...rest] = hash.replace(/^#/, "").split("?");
  try {
    return { id: decodeURIComponent(anchor), state: stateIn(rest.join("?")) };
  } catch {
    return { id: "", state: null };
  }
}

/** A link may say anything: only what is of the right type is taken. */
function stateIn(text) {
  if (!text) return null;
  const found = JSON.parse(decodeURIComponent(text));
  const types = {
    text: "string",
    tools: "string",
    prefill: "string",
    thinking: "boolean",
    piece: "number",
    upTo: "number",
  };
  const sound = Object.entries(Object(found)).filter(([key, value]) => typeof value === types[key]);
  return Object.fromEntries(sound);
}
