/** The parser: what it is given, and what it gives. */

import type { CallOptions } from "./calls.js";
import type { CompiledFormat } from "./format.js";
import { checkNames, type ParserOptions, type Pieces } from "./options.js";
import type { Message, ParserEvent } from "./results.js";
import { SpecialFormat, type SpecialTokens } from "./special.js";
import { codePoints, positionBehind, withoutPrefix } from "./strings.js";
import { type CallReader, Text } from "./text.js";
import { parametersByName } from "./tools.js";
import { Turn } from "./turn.js";

/** What a parser is made of: a format, and what reads its calls. */
export interface Machine {
  readonly compiled: CompiledFormat;
  readonly makeCalls: ((text: Text, options: CallOptions) => CallReader) | null;
}

/**
 * Reads what the model writes after the prompt, in pieces of any size.
 *
 * A piece may end within a character: the first half of a pair of surrogates waits for the other.
 */
export class TurnParser {
  private readonly machine: Machine;
  private readonly options: ParserOptions & CallOptions;
  private readonly tokens: SpecialTokens | null;
  private readonly turn: Turn;
  private readonly text: Text;
  private readonly calls: CallReader | null;
  /** The first half of a character. */
  private half = "";
  /** What has come, and isn't looked at yet. */
  private coming = "";
  /** Whether all text has come. */
  private isFinished = false;
  /** What reads aside what may be a draft. */
  private draft: TurnParser | null = null;
  /** What has come since it began. */
  private drafted: string[] = [];
  private draftEvents: ParserEvent[] = [];

  constructor(machine: Machine, options: ParserOptions = {}) {
    checkNames(options);
    const { table } = machine.compiled;
    const { enableThinking = null, reasoning = "extract", echo = false } = options;
    const { tools = null, idPrefix = "call_" } = options;
    const other = enableThinking ? table.prompt_with_thinking : table.prompt_without_thinking;
    const prompt = enableThinking === null ? table.prompt : (other ?? table.prompt);
    const whole = options.prefill ?? prompt;
    // Before the last header stands the conversation.
    const last = whole.startsWith(table.header) ? 0 : Math.max(whole.lastIndexOf(table.header), 0);
    const prefill = withoutPrefix(whole.slice(last), table.header);
    const start = prefill ? -codePoints(prefill) : 0; // never -0
    const compiled = variantOf(machine.compiled, options);
    this.machine = machine;
    this.options = { ...options, tools, idPrefix, prefill: "", echo: false };
    this.tokens = compiled instanceof SpecialFormat ? compiled.tokens : null;
    this.turn = new Turn(start);
    this.text = new Text(this.turn, compiled, {
      inline: reasoning === "inline",
      shown: echo ? start : 0,
    });
    this.calls = machine.makeCalls?.(this.text, this.options) ?? null;
    // Wrong tools are told where there are no calls as well.
    if (!this.calls && tools !== null) parametersByName(tools);
    this.turn.read = this.calls ? this.calls.first : this.text.readText;
    if (prefill) this.readPrefill(prefill, echo);
  }

  private readPrefill(prefill: string, echo: boolean): void {
    const { turn } = this;
    const events = this.feed(prefill, true);
    turn.events = [...events, ...turn.events];
    // What is told of the prefill comes before what passes through.
    turn.flow = null;
    if (this.draft) this.draft.turn.flow = null;
    if (turn.held) turn.held.events = events.length;
    if (!echo) this.forget();
  }

  /** Leave out what the prompt holds, but for a call that the model continues. */
  private forget(): void {
    this.turn.problems = [];
    this.calls?.forget();
    if (this.draft) {
      this.draft.forget();
      this.draftEvents = [];
    }
  }

  /**
   * Take the next piece of the model's text, and return what it tells.
   *
   * `special` says that the piece is a special token of the tokenizer's, which is never cut; this
   * counts where `specialTokens` are given. Behind `finish` it throws an error.
   */
  feed(piece: string, special = false): ParserEvent[] {
    if (this.isFinished) throw new Error("feed() after finish(): the text is over");
    if (special && this.tokens) return this.takeSpecial(piece, this.tokens);
    if (!this.half && !endsInHalf(piece)) return this.take(piece);
    const events: ParserEvent[] = [];
    let text = piece;
    if (this.half && /^[\udc00-\udfff]/.test(piece)) text = this.half + piece;
    else if (this.half && piece) events.push(...this.take(this.half));
    else text = this.half + piece;
    const end = endsInHalf(text) ? text.length - 1 : text.length;
    this.half = text.slice(end);
    return [...events, ...this.take(text.slice(0, end))];
  }

  private takeSpecial(piece: string, tokens: SpecialTokens): ParserEvent[] {
    const { half } = this;
    this.half = "";
    const events = half ? this.take(half) : [];
    const turn = this.turnToRead;
    const place = turn.place + turn.text.length + this.coming.length;
    turn.tokens.push(...tokens.find(piece, place));
    turn.flow = null; // text that passes through is no token
    return [...events, ...this.take(piece)];
  }

  private take(piece: string): ParserEvent[] {
    this.coming += piece;
    const held = this.turnToRead.text.length;
    // What is held is looked at from its beginning. So where it is long, more has to come.
    if (piece && this.coming.length < held / 8 - 64) return [];
    const { coming } = this;
    this.coming = "";
    if (!this.draft) {
      const events = this.turn.feed(coming);
      return this.text.draftStart === null ? events : this.decide(events);
    }
    this.drafted.push(coming);
    return this.takeEarlier().concat(this.decide(this.draft.feed(coming)));
  }

  /** The turn that text goes to: it may be that of a draft. */
  private get turnToRead(): Turn {
    return this.draft ? this.draft.turn : this.turn;
  }

  /** Return the events before what is read aside: those of the prefill, with the first piece. */
  private takeEarlier(): ParserEvent[] {
    const { events } = this.turn;
    this.turn.events = [];
    return events;
  }

  /** Read a call in open reasoning aside, until what follows it says what it is. */
  private decide(found: ParserEvent[]): ParserEvent[] {
    const { text } = this;
    const told: ParserEvent[][] = [];
    let events = found;
    for (;;) {
      let { draft } = this;
      if (!draft) {
        told.push(events);
        if (text.draftStart === null) return told.flat();
        draft = this.draft = this.beginDraft();
        events = draft.feed("");
      }
      for (const event of events) this.draftEvents.push(event);
      const end = draft.text.draftEnd;
      if (end === null) {
        const isOver = draft.turn.read === draft.text.readRest;
        return told.flat().concat(isOver ? this.adopt(draft) : []);
      }
      events = this.goBack(end);
    }
  }

  private beginDraft(): TurnParser {
    const draft = new TurnParser(this.machine, this.options);
    draft.turn.beginAs(this.turn);
    draft.text.isDraft = true;
    draft.text.thinking = false;
    this.text.draftStart = null;
    this.drafted = [];
    this.draftEvents = [];
    return draft;
  }

  /** What was read aside is reasoning, up to where something else follows. */
  private goBack(end: number): ParserEvent[] {
    const { turn, text, draft } = this;
    if (draft) text.readTo = Math.max(text.readTo, draft.turn.offsetAt(draft.turn.position));
    this.draft = null;
    turn.add(this.drafted.join(""));
    turn.final = false; // a text is read as one that may go on, until it doesn't
    turn.problem("draft", "a call in the reasoning, which goes on behind it");
    this.text.write(positionBehind(turn.text, Math.max(end - turn.offset, 1)));
    return turn.feed("");
  }

  /** What was read aside are calls. */
  private adopt(draft: TurnParser): ParserEvent[] {
    const { turn, text } = this;
    turn.problem("unclosed", "a call inside the reasoning");
    turn.problems = turn.problems.concat(draft.turn.problems);
    turn.calls = draft.turn.calls;
    turn.begin(draft.turn.text, draft.turn.offset, draft.turn.place);
    text.follow(draft.text);
    this.draft = null;
    return this.draftEvents;
  }

  /** Decide what is read aside, as all text has come. */
  private endDraft(): ParserEvent[] {
    const told = [this.draft ? this.takeEarlier() : []];
    while (this.draft) {
      const { draft } = this;
      for (const event of draft.finish()) this.draftEvents.push(event);
      const end = draft.text.draftEnd;
      told.push(end === null ? this.adopt(draft) : this.decide(this.goBack(end)));
    }
    return told.flat();
  }

  /** Return what was held back: the model has written all. */
  finish(): ParserEvent[] {
    const { turn, text, calls } = this;
    const { half } = this;
    this.isFinished = true;
    this.half = "";
    let events = half || this.coming ? this.take(half).concat(this.take("")) : [];
    do {
      if (text.draftStart !== null) events = events.concat(this.decide([]));
      events = events.concat(this.endDraft());
      calls?.endOfText();
      turn.final = true;
      events = events.concat(turn.feed(""));
      if (text.draftEnd !== null) return []; // of what turns out to be reasoning
    } while (text.draftStart !== null);
    calls?.finish();
    text.finish();
    turn.position = turn.text.length;
    turn.read = text.readRest;
    return events.concat(turn.feed(""));
  }

  /** The message as far as it is known. */
  get message(): Message {
    return this.turn.message;
  }
}

/** Return a format with further ends and special tokens; it is kept for other parsers. */
function variantOf(own: CompiledFormat, options: ParserOptions): CompiledFormat {
  const { stop: ends = [], specialTokens = null } = options;
  const stop = typeof ends === "string" ? [ends] : ends;
  return own.variant(JSON.stringify([stop, specialTokens]), () => {
    const ended = own.withEnds(stop);
    return specialTokens ? new SpecialFormat(ended, specialTokens) : ended;
  });
}

/** Return the message in a text that is read by a parser. */
export function parseWith(parser: TurnParser, text: Pieces): Message {
  const pieces = typeof text === "string" ? [[text, false] as const] : text;
  for (const [piece, special] of pieces) parser.feed(piece, special);
  parser.finish();
  return parser.message;
}

/** Say whether a text ends in the first half of a pair of surrogates. */
function endsInHalf(text: string): boolean {
  return text !== "" && (text.charCodeAt(text.length - 1) & 0xfc00) === 0xd800;
}
