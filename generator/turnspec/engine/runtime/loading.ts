/** What the engine that parsers share is given, and what it gives. */

import { type Notation, type ParserEvent, type Role, Rule } from "./format.js";
import type { FormatTexts, ParserOptions, Pieces, TextStream } from "./options.js";
import type { EventStream } from "./parser.js";
import type { Any } from "./python.js";
import type { Message } from "./results.js";

/** What a format says: its texts, and tables, of which the first rule that fits counts. */
export interface Facts {
  readonly FORMAT: FormatTexts;
  readonly [name: string]: Any;
}

/** Reads turns, in pieces of any size. */
export interface TurnParser {
  /**
   * Take the next piece of the model's text; return the events that are certain.
   *
   * `special` says that the piece is a special token of the tokenizer, which is never cut; this
   * counts where `specialTokens` are given. After `finish` it throws an error.
   */
  feed(piece: string, special?: boolean): ParserEvent[];
  /** Return what was held back: the model has written all. */
  finish(): ParserEvent[];
  /** The message as far as it is known. */
  readonly message: Message;
}

/** What reads the turns of one format. */
export interface FormatModule {
  readonly FORMAT: FormatTexts;
  readonly Parser: new (options?: ParserOptions) => TurnParser;
  /** Return the message in a text, what the model wrote; the options are those of `Parser`. */
  parse(text: Pieces, options?: ParserOptions): Message;
  /** Return the events of a stream, and then the message. */
  parse(stream: TextStream, options?: ParserOptions): EventStream;
}

export function ruleOf([role, marker, ifBefore = []]: RuleRow): Rule {
  return new Rule(role as Role, marker, ifBefore as readonly Notation[]);
}

/** What a marker does, itself, and what has to follow it. */
type RuleRow = readonly [string, string, (readonly unknown[])?];
