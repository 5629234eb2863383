/** The format table: all that is particular to one format, as plain data. */

import { Markers, type Roles, WORD_SIGN } from "./markers.js";
import { codePoints, isBlank } from "./strings.js";

type Texts = readonly string[];

/** How reasoning is marked. */
export interface ReasoningFormat {
  readonly start?: Texts;
  readonly end?: Texts;
  /** A turn begins in reasoning, without a marker. */
  readonly starts_open?: boolean;
  /** Only content is preceded by what closes it. */
  readonly may_stay_open?: boolean;
  /** Nothing has to close it where the turn ends. */
  readonly may_end_turn?: boolean;
}

/** How content is marked, if it is. */
export interface ContentFormat {
  /** A message's header says who it is for: one for the user calls nothing. */
  readonly addressed?: boolean;
  /** Words that stand before all content, and are text anywhere else. */
  readonly lead?: Texts;
  readonly start?: Texts;
  readonly end?: Texts;
}

/** What stands around calls, and how a call is told from text. */
export interface CallsFormat {
  /** A JSON object; or a head, with arguments behind it. */
  readonly form: "objects" | "heads";
  /** What opens calls, one inside of the other. */
  readonly opening?: Texts;
  /** A call's head. */
  readonly start?: string;
  /** Heads of other ways to write a call. */
  readonly other_starts?: Texts;
  /** Heads that lack markers, where what follows leaves no doubt. */
  readonly short_starts?: Texts;
  readonly other_openings?: Texts;
  /** What closes one call, in its order. */
  readonly closing?: Texts;
  /** Closes a call wherever it stands. */
  readonly end?: Texts;
  /** Closes what was opened around calls, wherever it stands. */
  readonly section_end?: Texts;
  /** Closes it where it is expected. */
  readonly section_closing?: Texts;
  /** An opening marker that, where no call follows, is text. */
  readonly mentions?: Texts;
  /** Without it a call lacks a marker. */
  readonly needs_opening?: boolean;
  /** An id stands in the name's place, and a tool's name in that. */
  readonly named_by_id?: boolean;
  /** A head is none outside. */
  readonly only_in_section?: boolean;
  /** What stands behind a call's arguments, with slots. */
  readonly tail?: string;
  // Of objects:
  /** Nothing but the object itself marks a call. */
  readonly bare?: boolean;
  /** The objects stand in an array. */
  readonly in_array?: boolean;
  /** What stands between two, where it is more than a comma. */
  readonly separators?: Texts;
  /** The keys of name, arguments and id; none: the one key is the name. */
  readonly members?: Readonly<Record<string, string>>;
  /** Keys that mean nothing here. */
  readonly other_members?: Texts;
  /** What these hold, as JSON; "function" and numbers do anyway. */
  readonly other_values?: Texts;
}

/** How arrays and objects are written as elements. */
export interface ElementsFormat {
  readonly member_start: string;
  readonly member_end: string;
  /** Of an array; none: it looks like a member. */
  readonly element_start?: string;
  readonly element_end?: string;
  /** Then, with this key. */
  readonly element_key?: string;
  readonly separator?: string;
  /** An argument begins as a member does, but for this before it. */
  readonly lead?: string;
  /** An opening tag can't be text, whatever type a value has. */
  readonly distinct?: boolean;
}

/** How structured values differ from JSON. */
export interface ValuesFormat {
  readonly escapes?: "json" | "python";
  /** Around strings without escapes. */
  readonly raw_quote?: string;
  /** Such strings also stand inside of arrays and objects. */
  readonly raw_inside?: boolean;
}

/** How arguments are written. */
export interface ArgumentsFormat {
  /** One JSON object; values that end by themselves; text. */
  readonly form: "json" | "values" | "text";
  /** Before an argument's value. */
  readonly start?: string;
  /** Behind it. */
  readonly end?: string;
  readonly separator?: string;
  /** Stands where there are none. */
  readonly empty?: string;
  /** JSON types by the words for them. */
  readonly types?: Readonly<Record<string, Texts>>;
  /** How text gives other values than strings. */
  readonly literals?: "json" | "python";
  /** What may surround a string. */
  readonly guard?: Texts;
  /** Characters by what stands for them in a key. */
  readonly key_escapes?: Readonly<Record<string, string>>;
  readonly value_escapes?: Readonly<Record<string, string>>;
  readonly values?: ValuesFormat;
  readonly elements?: ElementsFormat;
}

/** A call that is code, up to the turn's end. */
export interface CodeFormat {
  readonly start: string;
  readonly tool: string;
  readonly argument: string;
  /** `NAME.method(…)` is a call of NAME. */
  readonly method?: string;
}

/** A format. Markers are written as `markers` says. */
export interface Format {
  readonly name: string;
  /** An assistant's turn begins with it. */
  readonly header: string;
  /** What the prompt holds of the turn. */
  readonly prompt: string;
  readonly prompt_with_thinking?: string;
  readonly prompt_without_thinking?: string;
  /** Of reasoning, content and calls. */
  readonly order: Texts;
  readonly turn_start?: Texts;
  readonly turn_end: Texts;
  /** Stands between parts. */
  readonly between?: Texts;
  /** Markers that the template never writes: text, where they stand in the middle of it. */
  readonly unwritten?: Texts;
  /** Beginnings of markers that are no content at the text's end. */
  readonly openings?: Texts;
  readonly reasoning?: ReasoningFormat;
  readonly content?: ContentFormat;
  readonly calls?: CallsFormat;
  readonly arguments?: ArgumentsFormat;
  readonly code?: CodeFormat;
}

/** What takes some markers from a format's table. */
export type RolesOf = (table: Format) => Roles;

/** Of one format that are kept. */
const MOST_VARIANTS = 9;
const WORDS = new RegExp(`(?:${WORD_SIGN}|-)+`, "gu");

/** A format table, with its sets of markers as they are asked for. */
export class CompiledFormat {
  readonly table: Format;
  /** The words in the format's own markers, if it has such that may hold any word. */
  readonly words: ReadonlySet<string>;
  private readonly sets = new Map<RolesOf, Markers>();
  private readonly variants = new Map<string, CompiledFormat>();

  /** What ends a turn by the format itself. */
  readonly ownEnds: Texts;

  constructor(table: Format, ownEnds: Texts = table.turn_end) {
    this.table = table;
    this.ownEnds = ownEnds;
    this.words = wordsOf(table);
  }

  /** The table's part on calls; of a format that has some. */
  get calls(): CallsFormat {
    return callsOf(this.table);
  }

  /** The table's part on arguments; of a format that has calls. */
  get arguments(): ArgumentsFormat {
    return argumentsOf(this.table);
  }

  /** Return the markers that a function takes from the table. */
  markers(rolesOf: RolesOf): Markers {
    let markers = this.sets.get(rolesOf);
    if (!markers) {
      markers = this.made(rolesOf(this.table));
      this.sets.set(rolesOf, markers);
    }
    return markers;
  }

  protected made(roles: Roles): Markers {
    return new Markers(roles);
  }

  /** Return a variant of the format; the last ones are kept, as they take long to make. */
  variant(key: string, make: (own: CompiledFormat) => CompiledFormat): CompiledFormat {
    let variant = this.variants.get(key);
    if (!variant) {
      variant = make(this);
      if (this.variants.size >= MOST_VARIANTS) this.variants.clear();
      this.variants.set(key, variant);
    }
    return variant;
  }

  /**
   * Return the format with further texts that end a turn.
   *
   * @throws RangeError if one of them is white space alone, or too long, or they are too many.
   */
  withEnds(ends: readonly string[]): CompiledFormat {
    if (ends.length === 0) return this;
    if (ends.length > 64 || ends.some((end) => codePoints(end) > 1000)) {
      throw new RangeError("stop: at most 64 texts of at most 1,000 characters each");
    }
    if (ends.some(isBlank)) throw new RangeError("a stop string needs more than white space");
    const notations = ends.map((end) => end.replaceAll("{", "{{").replaceAll("}", "}}"));
    const { turn_end } = this.table;
    return new CompiledFormat({ ...this.table, turn_end: [...turn_end, ...notations] }, turn_end);
  }
}

function wordsOf({ reasoning, content, calls }: Format): Set<string> {
  const texts = textsOf([reasoning, content, calls]).join("\n");
  const outsideSlots = texts.replace(/\{(?!\?)[^{}]*\}/g, " ");
  return new Set(texts.includes("{word") ? outsideSlots.match(WORDS) : []);
}

/** Return all texts in a table, or in a part of one. */
export function textsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value ? Object.values(value).flatMap(textsOf) : [];
}

/** Return a table's part on calls; of a format that has some. */
export function callsOf(table: Format): CallsFormat {
  if (!table.calls) throw new TypeError("a format without calls");
  return table.calls;
}

/** Return a table's part on arguments; of a format that has calls. */
export function argumentsOf(table: Format): ArgumentsFormat {
  if (!table.arguments) throw new TypeError("a format without arguments");
  return table.arguments;
}
