/** The parser: what it is given, and what it gives. */

import { FORMAT, Input, type ParserEvent, readTurn, rulesFor, Turn } from "./format.js";
import {
  checkOptions,
  type ParserOptions,
  type Piece,
  type Pieces,
  type TextStream,
} from "./options.js";
import { repr } from "./python.js";
import { Message } from "./results.js";

/**
 * Reads what the model writes after the prompt, in pieces of any size.
 *
 * A piece may end within a character: the first half of a pair of surrogates waits for the other.
 * Events and problems count code points; what reads counts JavaScript's characters.
 */
export class Parser {
  private readonly turn: Turn;
  private readonly reading: Generator<undefined, void>;
  private readonly pairs: number[] = []; // where characters begin that are two of JavaScript's
  private pairsBefore = 0; // of these, those in the prompt
  private length: number; // of the text that has come
  private half = ""; // of a character
  private isReading = false; // whether `feed` or `finish` has not come back

  constructor(options: ParserOptions = {}) {
    checkOptions(options);
    const { tools = null, enableThinking = null, reasoning = "extract", echo = false } = options;
    const { stop, idPrefix = "call_", specialTokens = null } = options;
    const { header, prompt } = FORMAT;
    const other = enableThinking ? FORMAT.prompt_with_thinking : FORMAT.prompt_without_thinking;
    const whole = options.prefill ?? (enableThinking === null ? prompt : (other ?? prompt));
    const begun = (text = "") => text.slice(text.startsWith(header) ? header.length : 0);
    // Before the last header stands the conversation.
    const sign = header.trim() || header;
    const last = sign ? (whole.split(sign).at(-1) ?? "") : whole;
    // A prompt may end without the header: after some messages the turn goes on.
    const prompts = [prompt, FORMAT.prompt_with_thinking, FORMAT.prompt_without_thinking];
    const fitting = prompts.map((it) => begun(it)).filter((it) => whole.endsWith(it));
    const opening = fitting.sort((one, other) => other.length - one.length)[0] ?? "";
    const isTurn = whole.startsWith(header);
    const texts = [isTurn ? begun(whole) : last, last, ...(echo && isTurn ? [] : [opening])];
    const rules = rulesFor(typeof stop === "string" ? [stop] : (stop ?? []), specialTokens);
    do {
      const text = texts.shift() ?? "";
      this.length = 0 - text.length; // never -0
      this.pairs.length = 0;
      const input = new Input(this.length, rules);
      this.turn = new Turn(input, { tools, reasoning, echo, id_prefix: idPrefix });
      this.reading = readTurn(this.turn);
      this.note(text);
      this.pairsBefore = this.pairs.length;
      this.turn.endPrefill(this.read(text, true), echo);
      const { afterEnd } = this.turn;
      if (!(echo ? afterEnd.join("").trim() : afterEnd.length)) break;
    } while (texts.length > 0);
  }

  /**
   * Take the next piece of the model's text; return the events that are certain.
   *
   * `special` says that the piece is a special token of the tokenizer, which is never cut; this
   * counts where `specialTokens` are given. After `finish` it throws an error.
   */
  feed(piece: string, special = false): ParserEvent[] {
    if (typeof piece !== "string") throw new TypeError(`text: ${repr(piece)} is not a string`);
    const { flow } = this.turn;
    // Text that passes through needs no more than this.
    if (flow && piece && !special && !hasSurrogates(piece) && !this.half) {
      const events = flow(piece);
      if (events) this.length += piece.length;
      if (events) return this.told(events);
    }
    if (this.turn.input.final) throw new Error("feed() after finish(): the text is over");
    const isApart = piece && (special || !/^[\udc00-\udfff]/.test(piece));
    const [before, text] = isApart ? [this.half, piece] : ["", this.half + piece];
    const isCut = !special && (text.charCodeAt(text.length - 1) & 0xfc00) === 0xd800;
    const end = isCut ? text.length - 1 : text.length;
    this.half = text.slice(end);
    const events = before ? this.take(before, false) : [];
    return [...events, ...this.take(text.slice(0, end), special)];
  }

  /** Return what was held back: the model has written all. */
  finish(): ParserEvent[] {
    const events = this.half ? this.take(this.half, false) : [];
    events.push(...this.take("", false)); // pieces that were not looked at yet
    const { input } = this.turn;
    this.half = "";
    do {
      input.final = true;
      events.push(...this.take("", false));
    } while (!input.final); // as a part is read once more
    return events;
  }

  /** The message as far as it is known. */
  get message(): Message {
    const { content, reasoningContent, toolCalls, problems } = this.turn.message;
    const told = problems.map((it) => ({ ...it, offset: this.codePoints(it.offset) }));
    return new Message(content, reasoningContent, toolCalls, told);
  }

  private take(text: string, special: boolean): ParserEvent[] {
    if (this.isReading) throw new Error("an exception ended a call; `message` has what was read");
    this.isReading = true;
    this.note(text);
    const events = this.read(text, special);
    this.isReading = false;
    return this.told(events);
  }

  private read(text: string, special: boolean): ParserEvent[] {
    const { turn } = this;
    turn.flow = null;
    if (!turn.input.add(text, special)) return [];
    this.reading.next();
    return turn.takeEvents();
  }

  /** Note where characters are that are two of JavaScript's. */
  private note(text: string): void {
    const pairs = hasSurrogates(text) ? text.matchAll(/[\ud800-\udbff][\udc00-\udfff]/g) : [];
    for (const pair of pairs) this.pairs.push(this.length + pair.index);
    this.length += text.length;
  }

  /** Return events whose offsets count code points. */
  private told(events: ParserEvent[]): ParserEvent[] {
    if (this.pairs.length === 0) return events;
    return events.map((event) => {
      return { ...event, start: this.codePoints(event.start), end: this.codePoints(event.end) };
    });
  }

  private codePoints(offset: number): number {
    let [low, high] = [0, this.pairs.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.pairs[middle] as number) < offset) low = middle + 1;
      else high = middle;
    }
    return offset - low + this.pairsBefore;
  }
}

/** Say whether a text has characters, or halves of such, that JavaScript's numbers don't count. */
const hasSurrogates = (text: string): boolean => /[\ud800-\udfff]/.test(text);

/** The events of a stream, and then the message. */
export type EventStream = AsyncGenerator<ParserEvent, Message, undefined>;

/**
 * Return the message in a text, what the model wrote; the options are those of `Parser`.
 *
 * Of a stream it gives the events, and then returns the message.
 */
export function parse(text: Pieces, options?: ParserOptions): Message;
export function parse(stream: TextStream, options?: ParserOptions): EventStream;
export function parse(text: Pieces | TextStream, options: ParserOptions = {}) {
  const parser = new Parser(options);
  if (Symbol.asyncIterator in Object(text)) return eventsOf(text as TextStream, parser);
  const isOne = typeof text === "string" || !(Symbol.iterator in Object(text));
  for (const piece of (isOne ? [text] : text) as Iterable<Piece>) feedPiece(parser, piece);
  parser.finish();
  return parser.message;
}

function feedPiece(parser: Parser, piece: Piece): ParserEvent[] {
  const [text, special] = (Array.isArray(piece) ? piece : [piece]) as [string, boolean?];
  return parser.feed(text, special);
}

async function* eventsOf(stream: TextStream, parser: Parser): EventStream {
  for await (const piece of stream) yield* feedPiece(parser, piece);
  yield* parser.finish();
  return parser.message;
}

/** Return a text from one offset to another, as events have them: they count code points. */
export function sliceOf(text: string, { start, end }: { start: number; end: number }): string {
  const [from, to] = [Math.max(start, 0), Math.max(end, 0)];
  if (!/[\ud800-\udbff][\udc00-\udfff]/.test(text)) return text.slice(from, to);
  return Array.from(text).slice(from, to).join("");
}
