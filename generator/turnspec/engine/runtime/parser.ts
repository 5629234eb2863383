/** The parser: what it is given, and what it gives. */

import { FORMAT, Input, readTurn, rulesFor, Turn } from "./format.js";
import {
  checkOptions,
  type ParserOptions,
  type Piece,
  type Pieces,
  type TextStream,
} from "./options.js";
import { repr, ValueError } from "./python.js";
import { Message, type ParserEvent, type Problem } from "./results.js";

/**
 * Reads what the model writes after the prompt, in pieces of any size.
 *
 * A piece may end within a character: the first half of a pair of surrogates waits for the other.
 * Events and problems count code points; what reads counts JavaScript's characters.
 */
export class Parser {
  private readonly turn: Turn;
  private readonly reading: Generator<undefined, void>;
  /** Where characters begin that are two of JavaScript's; of these, how many the prompt holds. */
  private readonly pairs: number[] = [];
  private pairsBefore = 0;
  /** How much text has come. */
  private length: number;
  /** The first half of a character. */
  private half = "";
  private isFinished = false;
  /** Whether a call has not come back. */
  private isReading = false;

  constructor(options: ParserOptions = {}) {
    checkOptions(options);
    const { tools = null, enableThinking = null, reasoning = "extract", echo = false } = options;
    const { stop = [], idPrefix = "call_", specialTokens = null } = options;
    const { header, prompt } = FORMAT;
    const other = enableThinking ? FORMAT.prompt_with_thinking : FORMAT.prompt_without_thinking;
    const whole = options.prefill ?? (enableThinking === null ? prompt : (other ?? prompt));
    // Before the last header stands the conversation.
    const isTurn = whole.startsWith(header);
    const begun = isTurn ? header : header.trim() || header;
    const last = isTurn ? 0 : whole.lastIndexOf(begun);
    const prefill = last < 0 ? whole : whole.slice(last + begun.length);
    const ends = typeof stop === "string" ? [stop] : stop;
    const rules = rulesFor(ends, specialTokens);
    let [text, isAgain] = [prefill, false];
    do {
      this.length = text ? -text.length : 0; // never -0
      this.pairs.length = 0;
      try {
        const input = new Input(this.length, rules);
        this.turn = new Turn(input, { tools, reasoning, echo, id_prefix: idPrefix });
      } catch (error) {
        throw error instanceof ValueError ? new TypeError(error.message) : error; // what tools are
      }
      this.reading = readTurn(this.turn);
      this.note(text);
      this.pairsBefore = this.pairs.length;
      this.turn.endPrefill(this.read(text, true), echo);
      const isOver = "isOver" in this.turn && this.turn.isOver === true; // with calls alone
      isAgain = !isAgain && !echo && isOver;
      // Behind the results of its calls the next turn has no header.
      text = openingAfter(prefill);
    } while (isAgain);
  }

  /**
   * Take the next piece of the model's text; return the events that are certain.
   *
   * `special` says that the piece is a special token of the tokenizer, which is never cut; this
   * counts where `specialTokens` are given. Behind `finish` it throws an error.
   */
  feed(piece: string, special = false): ParserEvent[] {
    if (typeof piece !== "string") throw new TypeError(`text: ${repr(piece)} is not a string`);
    const { flow } = this.turn;
    // Text that passes through needs no more than this.
    if (flow && piece && !special && !hasSurrogates(piece) && !this.half) {
      const events = flow(piece);
      if (events) this.length += piece.length;
      if (events) return this.pairs.length === 0 ? events : this.told(events);
    }
    if (this.isFinished) throw new Error("feed() after finish(): the text is over");
    if (!this.half && !endsInHalf(piece)) return this.take(piece, special);
    const events: ParserEvent[] = [];
    const isJoined = !special && /^[\udc00-\udfff]/.test(piece);
    const text = isJoined || !piece ? this.half + piece : piece;
    if (text === piece && this.half) events.push(...this.take(this.half, false));
    const end = !special && endsInHalf(text) ? text.length - 1 : text.length;
    this.half = text.slice(end);
    events.push(...this.take(text.slice(0, end), special));
    return events;
  }

  /** Return what was held back: the model has written all. */
  finish(): ParserEvent[] {
    const events = this.half ? this.take(this.half, false) : [];
    const { input } = this.turn;
    this.half = "";
    this.isFinished = true;
    do {
      input.final = true;
      events.push(...this.told(this.guarded("", false)));
    } while (!input.final); // as a part is read once more
    return events;
  }

  /** The message as far as it is known. */
  get message(): Message {
    const { message } = this.turn;
    if (this.pairs.length === 0) return message;
    const problems = message.problems.map((problem: Problem) => {
      return { ...problem, offset: this.codePoints(problem.offset) };
    });
    return new Message(message.content, message.reasoningContent, message.toolCalls, problems);
  }

  private take(text: string, special: boolean): ParserEvent[] {
    this.note(text);
    return this.told(this.guarded(text, special));
  }

  private guarded(text: string, special: boolean): ParserEvent[] {
    if (this.isReading) throw new Error("an exception ended a call; `message` has what was read");
    this.isReading = true;
    const events = this.read(text, special);
    this.isReading = false;
    return events;
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
    if (hasSurrogates(text)) {
      for (const pair of text.matchAll(/[\ud800-\udbff][\udc00-\udfff]/g)) {
        this.pairs.push(this.length + pair.index);
      }
    }
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
function hasSurrogates(text: string): boolean {
  if (text.length > 16) return /[\ud800-\udfff]/.test(text);
  for (let at = 0; at < text.length; at++)
    if ((text.charCodeAt(at) & 0xf800) === 0xd800) return true;
  return false;
}

/** Say whether a text ends in the first half of a pair of surrogates. */
function endsInHalf(text: string): boolean {
  return text !== "" && (text.charCodeAt(text.length - 1) & 0xfc00) === 0xd800;
}

/**
 * Return the message in a text, what the model wrote; the options are those of `Parser`.
 *
 * Of a stream it gives the events, and then returns the message.
 */
export function parse(text: Pieces, options?: ParserOptions): Message;
export function parse(
  stream: TextStream,
  options?: ParserOptions,
): AsyncGenerator<ParserEvent, Message, undefined>;
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

async function* eventsOf(
  stream: TextStream,
  parser: Parser,
): AsyncGenerator<ParserEvent, Message, undefined> {
  for await (const piece of stream) yield* feedPiece(parser, piece);
  yield* parser.finish();
  return parser.message;
}

/**
 * Return the text from one offset to another, as events have them.
 *
 * Events count code points, and JavaScript's strings UTF-16 code units.
 */
export function sliceOf(text: string, { start, end }: { start: number; end: number }): string {
  if (!/[\ud800-\udbff][\udc00-\udfff]/.test(text))
    return text.slice(Math.max(start, 0), Math.max(end, 0));
  return Array.from(text).slice(Math.max(start, 0), Math.max(end, 0)).join("");
}

/** Return what of the next turn stands behind one that is over. */
function openingAfter(prefill: string): string {
  const { header, prompt, prompt_with_thinking, prompt_without_thinking } = FORMAT;
  const prompts = [prompt, prompt_with_thinking ?? "", prompt_without_thinking ?? ""];
  const openings = prompts.map((it) => (it.startsWith(header) ? it.slice(header.length) : it));
  const fitting = openings.filter((opening) => prefill.endsWith(opening));
  return fitting.reduce((one, other) => (other.length > one.length ? other : one), "");
}
