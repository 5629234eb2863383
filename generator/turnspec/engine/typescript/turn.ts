/** The turn that is being read: its text as it arrives, and the message as far as it is known. */

import { Message, type ParserEvent, type Problem, type ToolCall } from "./results.js";
import { codePoints, hasPairs } from "./strings.js";

/** Where reading may have to begin once more: how much had been told, and the text since. */
interface Hold {
  readonly offset: number;
  events: number;
  problems: number;
  readonly calls: number;
  /** In what the turn still has of the text. */
  start: number;
  /** What it no longer has. */
  readonly pieces: string[];
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
  readonly content: string[] = [];
  readonly reasoning: string[] = [];
  calls: ToolCall[] = [];
  /** Of the last call, while it is read. */
  arguments: string[] | null = null;
  problems: Problem[] = [];
  events: ParserEvent[] = [];
  private hasPairs = false;
  // The last position whose offset was asked for: counting goes on from there.
  private countedPosition = 0;
  private countedOffset: number;
  private start: number;

  constructor(offset: number) {
    this.start = offset;
    this.countedOffset = offset;
  }

  /** The offset of the text's first character. */
  get offset(): number {
    return this.start;
  }

  /** Return the offset of a position. */
  offsetAt(position: number): number {
    if (!this.hasPairs) return this.start + position;
    if (position > this.countedPosition) {
      this.countedOffset += codePoints(this.text.slice(this.countedPosition, position));
    } else {
      this.countedOffset -= codePoints(this.text.slice(position, this.countedPosition));
    }
    this.countedPosition = position;
    return this.countedOffset;
  }

  /** Have another text, whose first character has an offset. */
  begin(text: string, offset: number): void {
    this.text = text;
    this.start = offset;
    this.hasPairs = hasPairs(text);
    this.countedPosition = 0;
    this.countedOffset = offset;
  }

  /** Read on with some more text, and return the events as far as they are settled. */
  feed(text: string): ParserEvent[] {
    this.text += text;
    this.hasPairs ||= hasPairs(text);
    while (this.read());
    if (this.held) {
      this.held.pieces.push(this.text.slice(this.held.start, this.position));
      this.held.start = 0;
    }
    this.begin(this.text.slice(this.position), this.offsetAt(this.position));
    this.position = 0;
    const events = this.events;
    this.events = [];
    if (this.held) {
      this.events = events.splice(this.held.events);
      this.held.events = 0;
    }
    return events;
  }

  /** The message as far as it is settled. */
  get message(): Message {
    const calls = this.calls.slice(0, this.held?.calls);
    const problems = this.problems.slice(0, this.held?.problems);
    const last = calls.length - 1;
    if (this.arguments && last === this.calls.length - 1) {
      calls[last] = { ...(calls[last] as ToolCall), arguments: this.arguments.join("") };
    }
    return new Message(this.content.join(""), this.reasoning.join(""), calls, problems);
  }

  /** Tell of a deviation at the position. */
  problem(kind: string, message: string): void {
    this.problemAt(this.offsetAt(this.position), kind, message);
  }

  /** Tell of a deviation at an offset. */
  problemAt(offset: number, kind: string, message: string): void {
    this.problems.push({ offset, kind, message });
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
    this.begin(before + this.text, this.start - codePoints(before));
    this.position = held.start;
    return end;
  }
}
