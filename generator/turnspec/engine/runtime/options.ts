/** What a parser is told. */

/** A JSON Schema, as far as it is looked at. */
export interface Schema {
  readonly function?: unknown;
  readonly name?: unknown;
  readonly parameters?: unknown;
  readonly properties?: unknown;
  readonly $ref?: unknown;
  readonly [word: string]: unknown;
}

/** A tool: as chat-completions APIs define it, or its function alone. */
export interface Tool {
  readonly type?: string;
  readonly function?: ToolFunction;
  readonly name?: string;
  readonly parameters?: object | null;
}

export interface ToolFunction {
  readonly name: string;
  readonly description?: string;
  readonly parameters?: object | null;
}

/** The options of `Parser` and `parse`. */
export interface ParserOptions {
  /**
   * Tool definitions: they tell which names are known, and the types of arguments. What is none is
   * a TypeError.
   */
  readonly tools?: readonly Tool[] | null;
  /** What the prompt says of thinking; by default, and with null, what the template says itself. */
  readonly enableThinking?: boolean | null;
  /**
   * The part of the turn that the prompt holds, from the assistant's header on (what stands before
   * the last one is left out); by default what the template adds.
   */
  readonly prefill?: string | null;
  /** "inline" leaves the reasoning in the content, with its markers. */
  readonly reasoning?: "extract" | "inline";
  /** Whether the prefill's text is part of the result. */
  readonly echo?: boolean;
  /** Further texts that end the turn, or one such text. */
  readonly stop?: string | readonly string[];
  /** Begins the ids of calls that have none; "call_" if it isn't given. */
  readonly idPrefix?: string;
  /**
   * Those of the tokenizer, of which `feed` is to be told: a marker that holds one is text unless
   * that came as a special piece.
   */
  readonly specialTokens?: readonly string[] | null;
}

/** The names of the options, which the compiler holds to be all. */
const OPTION_NAMES: readonly string[] = Object.keys({
  tools: 0,
  enableThinking: 0,
  prefill: 0,
  reasoning: 0,
  echo: 0,
  stop: 0,
  idPrefix: 0,
  specialTokens: 0,
} satisfies Record<keyof ParserOptions, 0>);

/** Throw a TypeError that says what is right where there is no such option, or none of its values. */
export function checkOptions(options: ParserOptions): void {
  const { reasoning = "extract", enableThinking = null } = options;
  if (reasoning !== "extract" && reasoning !== "inline") {
    throw new TypeError(`reasoning is "extract" or "inline", not ${JSON.stringify(reasoning)}`);
  }
  if (enableThinking !== null && typeof enableThinking !== "boolean") {
    throw new TypeError(
      `enableThinking is true, false or null, not ${JSON.stringify(enableThinking)}`,
    );
  }
  const wrong = Object.keys(options).find((name) => !OPTION_NAMES.includes(name));
  if (wrong === undefined) return;
  const letters = wrong.replace(/_/g, "").toLowerCase();
  const meant = OPTION_NAMES.find((name) => name.toLowerCase() === letters);
  const right = meant ? `it is called ${meant}` : `there are ${OPTION_NAMES.join(", ")}`;
  throw new TypeError(`there is no option ${wrong}; ${right}`);
}

/** A text; or its pieces, each with a flag: whether it is a special token. */
export type Pieces = string | Iterable<readonly [piece: string, special: boolean]>;

/** A text that arrives in pieces, each with a flag or not: whether it is a special token. */
export type TextStream = AsyncIterable<string | readonly [piece: string, special: boolean]>;

/** A format's name, its header, and its prompts. */
export interface FormatTexts {
  readonly name: string;
  readonly header: string;
  readonly prompt: string;
  readonly prompt_with_thinking?: string;
  readonly prompt_without_thinking?: string;
}
