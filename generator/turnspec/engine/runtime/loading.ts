/** What the engine that parsers share is given, and what it gives. */

import {
  GuardedRule,
  type Notation,
  type ParserEvent,
  type Role,
  Rule,
  type When,
} from "./format.js";
import type { FormatTexts, ParserOptions, Pieces, TextStream } from "./options.js";
import type { Message } from "./results.js";

/** A marker of a text, or a pair of one and of others, of which one has to follow it. */
export type MarkerText = string | readonly [string, readonly MarkerText[]];
/** What a marker does, itself, what has to follow it, and in which case it counts. */
export type RuleRow = readonly [
  role: string,
  marker: string,
  ifBefore?: readonly MarkerText[],
  when?: string,
];

/** Reads turns, in pieces of any size. */
export interface TurnParser {
  /**
   * Take the next piece of the model's text; return the events that are certain.
   *
   * `special` says that the piece is a special token of the tokenizer, which is never cut; this
   * counts where `specialTokens` are given. Behind `finish` it throws an error.
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
  parse(
    stream: TextStream,
    options?: ParserOptions,
  ): AsyncGenerator<ParserEvent, Message, undefined>;
}

export function ruleOf([role, marker, ifBefore = [], when]: RuleRow): Rule {
  const notations: readonly Notation[] = ifBefore;
  if (when === undefined) return new Rule(role as Role, marker, notations);
  return new GuardedRule(role as Role, marker, notations, when as When);
}
