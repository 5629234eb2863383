/** What a parser is told. */

import { repr } from "./python.js";

/** A tool: as chat-completions APIs define it, or its function alone. */
export type Tool = ToolFunction | { type?: string | undefined; function: ToolFunction };

export type ToolFunction = {
  name: string;
  description?: string | undefined;
  parameters?: object | null | undefined;
};

/** The options of `Parser` and `parse`. */
export interface ParserOptions {
  /** They tell which names are known, and the types of arguments. What is none is a TypeError. */
  readonly tools?: readonly Tool[] | null | undefined;
  /** What the prompt says of thinking; by default, and with null, what the template says itself. */
  readonly enableThinking?: boolean | null | undefined;
  /**
   * The part of the turn that the prompt holds, from the assistant's header on (what stands before
   * the last one is left out); by default what the template adds.
   */
  readonly prefill?: string | null | undefined;
  /** "inline" leaves the reasoning in the content, with its markers. */
  readonly reasoning?: "extract" | "inline" | undefined;
  /** Whether the prefill's text is part of the result. */
  readonly echo?: boolean | undefined;
  /** Further texts that end the turn, or one such text. */
  readonly stop?: string | readonly string[] | null | undefined;
  /** Begins the ids of calls that have none; "call_" if it isn't given. */
  readonly idPrefix?: string | undefined;
  /** The tokenizer's: a marker that holds one counts only where that came as a special piece. */
  readonly specialTokens?: readonly string[] | null | undefined;
}

/** What each option may be, in words. */
const TAKES: Readonly<Record<keyof ParserOptions, string>> = {
  tools: "", // each of them is looked at
  enableThinking: "true, false or null",
  prefill: "a string or null",
  reasoning: "'extract' or 'inline'",
  echo: "true or false",
  stop: "a string, a list of strings or null",
  idPrefix: "a string",
  specialTokens: "a list of strings or null",
};

/** Throw a TypeError that says what is right where there is no such option, or none of its values. */
export function checkOptions(options: ParserOptions): void {
  if (Object(options) !== options) throw new TypeError("options: not an object");
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(TAKES, name)) {
      throw new TypeError(`there is no option ${name}; there are ${Object.keys(TAKES).join(", ")}`);
    }
    const takes = TAKES[name as keyof ParserOptions];
    if (!takes || value === undefined) continue;
    const areTexts = Array.isArray(value) && value.every((text) => typeof text === "string");
    const kind = typeof value === "string" ? "a string" : areTexts ? "a list of strings" : "?";
    const told = Array.isArray(value) ? `[${value.map(repr).join(", ")}]` : repr(value);
    if (!takes.split(/, | or /).some((taken) => taken === kind || taken === told)) {
      throw new TypeError(`${name}: ${told.slice(0, 99)} is not ${takes}`);
    }
  }
}

/** A text, or one with a flag: whether it is a special token. */
export type Piece = string | readonly [piece: string, special: boolean];

/** A text, or its pieces. */
export type Pieces = string | Iterable<Piece>;

/** A text that arrives in pieces. */
export type TextStream = AsyncIterable<Piece>;

/** A format's name, its header, and its prompts. */
export interface FormatTexts {
  readonly name: string;
  readonly header: string;
  readonly prompt: string;
  readonly prompt_with_thinking?: string;
  readonly prompt_without_thinking?: string;
}
