/** The turn that is being read: its text as it arrives, and the message as far as it is known. */

import { Message, type ParserEvent, type Problem, type ToolCall } from "./results.js";
import { codePoints, GrowingText, hasPairs, quoted } from "./strings.js";

/** Characters that stand for special tokens where markers are looked for that hold such. */
export const PRIVATE_USE = "\ue000-\uf8ff";
const PRIVATE_CHARACTERS = /[\ue000-\uf8ff]/g;
/** Stands there for those that the model wrote itself. */
const NO_CHARACTER = "\ufdd0";

/** A special token that came: its place among all code units, and what stands for it. */
export interface SpecialToken {
  readonly at: number;
  readonly signs: string;
}

/** Where reading may have to begin once more: how much had been told, and the text since. */
interface Hold {
  readonly offset: number;
  events: number;
  problems: number;
  readonly calls: number;
  /** In what the turn still has of the text. */
  start: number;
  /** What it no longer has, and whether astral characters may be in that. */
  readonly pieces: string[];
  hasPairs: boolean;
}

/** The places between which something was looked for, and isn't. */
interface Stretch {
  start: number;
  end: number;
}

/** Text that passes through: nothing begins or ends in it but with one of some characters. */
export interface Flow {
  /** Those characters, and halves of pairs, of which two are one character. */
  readonly stops: RegExp;
  /** Take text without such characters, which stands from an offset on; return what it tells. */
  readonly pass: (text: string, start: number) => ParserEvent | null;
}

/** What takes some of a turn's text, from its position on, and returns whether to go on. */
export type Read = () => boolean;

/**
 * A turn that is being read, shared by the parts of its parser: one of them reads on.
 *
 * Positions count UTF-16 code units of `text`, as JavaScript does; offsets count code points of
 * all that the model writes.
 */
export class Turn {
  text = "";
  /** What stands before it is dealt with. */
  position = 0;
  /** Whether all text has come. */
  final = false;
  /** What reads on. It can't where more text has to come first. */
  read: Read = () => false;
  held: Hold | null = null;
  /** What the next piece may belong to, with nothing before it. */
  flow: Flow | null = null;
  /** Up to which offset events tell of the text. */
  told = 0;
  readonly content = new GrowingText();
  readonly reasoning = new GrowingText();
  calls: ToolCall[] = [];
  /** Of the last call, while it is read. */
  arguments: GrowingText | null = null;
  problems: Problem[] = [];
  events: ParserEvent[] = [];
  /** The special tokens that came. */
  tokens: SpecialToken[] = [];
  /** Where no call ends, which is known of a text that is read once more. */
  endless: Stretch = { start: 0, end: 0 };
  /** The place of the text's first code unit among all. */
  place = 0;
  private markedText = "";
  private markedPlace = 0;
  private hasPairs = false;
  // The last position whose offset was asked for: counting goes on from there.
  private countedPosition = 0;
  private countedOffset: number;
  /** The farthest place whose offset was asked for; text that is read once more has it as well. */
  private farthest: { place: number; offset: number };
  private start: number;

  constructor(offset: number) {
    this.start = offset;
    this.countedOffset = offset;
    this.farthest = { place: 0, offset };
  }

  /** The offset of the text's first character. */
  get offset(): number {
    return this.start;
  }

  /** Return the offset of a position. */
  offsetAt(position: number): number {
    if (!this.hasPairs) return this.start + position;
    const { farthest } = this;
    const far = farthest.place - this.place;
    const isNearer = Math.abs(position - far) < Math.abs(position - this.countedPosition);
    if (isNearer && far >= 0 && far <= this.text.length) {
      this.countedPosition = far;
      this.countedOffset = farthest.offset;
    }
    if (position > this.countedPosition) {
      this.countedOffset += codePoints(this.text.slice(this.countedPosition, position));
    } else {
      this.countedOffset -= codePoints(this.text.slice(position, this.countedPosition));
    }
    this.countedPosition = position;
    if (position > far) {
      farthest.place = this.place + position;
      farthest.offset = this.countedOffset;
    }
    return this.countedOffset;
  }

  /** Have another text, whose first character has an offset. */
  begin(text: string, offset: number, place: number, mayHavePairs = true): void {
    this.text = text;
    this.place = place;
    this.start = offset;
    this.hasPairs = mayHavePairs && hasPairs(text);
    this.countedPosition = 0;
    this.countedOffset = offset;
  }

  /** Have the text of another turn, and what is known of it. */
  beginAs(turn: Turn): void {
    this.begin(turn.text, turn.offset, turn.place, turn.hasPairs);
    this.tokens = turn.tokens;
    this.endless = turn.endless;
    this.farthest = turn.farthest;
    this.markedText = turn.markedText;
    this.markedPlace = turn.markedPlace;
    this.calls = [...turn.calls];
  }

  /** Return a turn that has the text between two positions alone. */
  part(start: number, end: number): Turn {
    const part = new Turn(0);
    part.begin(this.text.slice(start, end), this.offsetAt(start), this.place + start);
    if (this.tokens.length > 0) {
      part.markedText = this.marked.slice(start, end);
      part.markedPlace = part.place;
    }
    return part;
  }

  /** Have more text. */
  add(text: string): void {
    this.text += text;
    this.hasPairs ||= hasPairs(text);
  }

  /** Read on with some more text, and return the events as far as they are settled. */
  feed(text: string): ParserEvent[] {
    const { flow } = this;
    if (flow && text && !flow.stops.test(text)) return this.pass(text, flow);
    this.flow = null;
    this.add(text);
    while (this.read());
    if (this.held) {
      this.held.pieces.push(this.text.slice(this.held.start, this.position));
      this.held.start = 0;
      this.held.hasPairs ||= this.hasPairs;
    }
    const { position } = this;
    const rest = this.text.slice(position);
    this.begin(rest, this.offsetAt(position), this.place + position, this.hasPairs);
    this.position = 0;
    if (this.text || this.held) this.flow = null;
    const events = this.events;
    this.events = [];
    if (this.held) {
      this.events = events.splice(this.held.events);
      this.held.events = 0;
    }
    return events;
  }

  /** Let a piece without astral characters pass through, and return the events of it. */
  private pass(text: string, flow: Flow): ParserEvent[] {
    const { start } = this;
    this.start = this.countedOffset = start + text.length;
    this.place += text.length;
    const event = flow.pass(text, start);
    return event ? [event] : [];
  }

  /** The text, of the same length, with private characters where special tokens came. */
  get marked(): string {
    const done = this.place - this.markedPlace;
    if (done < 0 || this.markedText.length - done !== this.text.length) {
      this.markedText = this.markedPieces().join("");
    } else if (done > 0) {
      this.markedText = this.markedText.slice(done);
    }
    this.markedPlace = this.place;
    return this.markedText;
  }

  private markedPieces(): string[] {
    const text = this.text.replace(PRIVATE_CHARACTERS, NO_CHARACTER);
    const pieces: string[] = [];
    let at = 0;
    for (let number = this.firstToken(); number < this.tokens.length; number++) {
      const token = this.tokens[number] as SpecialToken;
      const start = token.at - this.place;
      const end = start + token.signs.length;
      if (end <= at) continue; // the text may begin inside of it
      pieces.push(text.slice(at, Math.max(start, at)), token.signs.slice(Math.max(at - start, 0)));
      at = end;
    }
    return [...pieces, text.slice(at)];
  }

  /** Say whether a special token came between two places. */
  holdsToken(start: number, end: number): boolean {
    return this.tokens.length > 0 && this.marked.slice(start, end).search(PRIVATE_CHARACTERS) >= 0;
  }

  /** Return the number of the last token that begins before the text, or of the first one. */
  private firstToken(): number {
    let first = 0;
    let end = this.tokens.length;
    while (first < end) {
      const middle = (first + end) >> 1;
      if ((this.tokens[middle]?.at ?? 0) < this.place) first = middle + 1;
      else end = middle;
    }
    return Math.max(first - 1, 0);
  }

  /** The message as far as it is settled. */
  get message(): Message {
    const calls = this.calls.slice(0, this.held?.calls);
    const problems = this.problems.slice(0, this.held?.problems);
    const last = calls.length - 1;
    if (this.arguments && last === this.calls.length - 1) {
      calls[last] = { ...(calls[last] as ToolCall), arguments: this.arguments.text };
    }
    return new Message(this.content.text, this.reasoning.text, calls, problems);
  }

  /** Tell of a deviation at the position. */
  problem(kind: string, message: string): void {
    this.problemAt(this.offsetAt(this.position), kind, message);
  }

  /** Tell of a call that breaks off, with what of it is read as nothing. */
  cutOff(rest: string): void {
    this.problem("cut_off", rest ? `a call that ends in ${quoted(rest)}` : "an unfinished call");
  }

  /** Tell of a deviation at an offset. */
  problemAt(offset: number, kind: string, message: string): void {
    this.problems.push({ offset, kind, message });
  }

  /** Tell of special tokens before a position, which turned out to be text. */
  tellTokens(end: number): void {
    for (let number = this.firstToken(); number < this.tokens.length; number++) {
      const { at, signs } = this.tokens[number] as SpecialToken;
      const start = at - this.place;
      if (start >= end) return;
      if (start < this.position) continue;
      const text = this.text.slice(start, start + signs.length);
      this.problemAt(this.offsetAt(start), "stray_marker", `${quoted(text)} is text here`);
    }
  }

  /** Let nothing be settled from here on: it may turn out to be something else. */
  hold(): void {
    this.held = {
      offset: this.offsetAt(this.position),
      events: this.events.length,
      problems: this.problems.length,
      calls: this.calls.length,
      start: this.position,
      pieces: [],
      hasPairs: false,
    };
  }

  /** Settle what was held. */
  release(): void {
    this.held = null;
  }

  /**
   * Return to where the hold began, as if nothing had been read since.
   *
   * Returns the position up to which it was.
   */
  goBack(held: Hold): number {
    this.held = null;
    this.events.splice(held.events);
    this.problems.splice(held.problems);
    this.calls.splice(held.calls);
    const before = held.pieces.join("");
    const end = before.length + this.position;
    const offset = held.pieces.length > 0 ? held.offset : this.start;
    const mayHavePairs = this.hasPairs || held.hasPairs;
    this.begin(before + this.text, offset, this.place - before.length, mayHavePairs);
    this.position = held.start;
    return end;
  }
}
