/** Arguments whose values are text, each between marks that hold its key. */

import type { ArgumentReader, Calls } from "./calls.js";
import { type ArgumentsFormat, argumentsOf, callsOf, type Format } from "./format.js";
import type { HeadCalls } from "./heads.js";
import { loadJson } from "./json_text.js";
import {
  escaped,
  type Found,
  firstText,
  leadingText,
  literalLength,
  type Markers,
  type Notation,
  type Roles,
  spaced,
} from "./markers.js";
import { asJson, jsonTypes } from "./schemas.js";
import {
  ESCAPED,
  hasLetter,
  jsonEscaped,
  jsonString,
  quoted,
  spaceBefore,
  trimmed,
  widthAt,
  withoutPrefix,
} from "./strings.js";
import { withRole } from "./text_markers.js";
import { asSchema, saysSomething } from "./tools.js";
import type { Read, Turn } from "./turn.js";

/** How often a value in brackets or quotes may turn out not to be whole yet. */
const MOST_ASKED = 32;

/** A value that is text: a string is passed on as it comes, any other value as a whole. */
export class TypedText {
  /** Of which it may be; none says that it is a string. */
  types: ReadonlySet<string> = new Set();
  /** What stands before it in the arguments. */
  before = "";
  private readonly calls: Calls;
  private readonly python: boolean;
  /** Whether an object has all arguments of the call. */
  private mayBeAll = false;
  private pieces: string[] = [];
  /** How often it was asked whether it is whole. */
  private asked = 0;

  constructor(calls: Calls, python: boolean) {
    this.calls = calls;
    this.python = python;
  }

  /** Whether it is a string. */
  get isString(): boolean {
    return this.types.size === 0 || (this.types.size === 1 && this.mayBeString);
  }

  /** Whether it may be said to be a string. */
  get mayBeString(): boolean {
    return this.types.has("string");
  }

  /** Expect a value of some types, behind a text of the arguments. */
  expect(types: ReadonlySet<string>, before: string, mayBeAll = false): void {
    this.types = types;
    this.before = before;
    this.mayBeAll = mayBeAll;
  }

  /** Begin the value. */
  begin(): void {
    if (this.isString) this.calls.argue(`${this.before}"`);
  }

  /**
   * Say whether the value is whole with the turn's text up to a position.
   *
   * One that is open within brackets or quotes isn't, if it can be anything but a string.
   */
  mayEnd(end: number): boolean {
    const { turn } = this.calls;
    if (this.asked > MOST_ASKED) return false; // as each time all of it is read
    const text = this.pieces.join("") + turn.text.slice(turn.position, end);
    const sign = text.charAt(spaceBefore(text));
    if (this.isString || !sign || !`[{"'`.includes(sign)) return true;
    this.asked += 1;
    const types = new Set([...this.types].filter((type) => type !== "string"));
    return asJson(text, types, this.python) !== null;
  }

  /** Take the turn's text up to a position. */
  take(end: number): void {
    const { turn } = this.calls;
    const text = turn.text.slice(turn.position, end);
    turn.position = end;
    this.add(text);
  }

  /** Add a text to the value. */
  add(text: string): void {
    if (this.isString) this.calls.argue(jsonEscaped(text));
    else this.pieces.push(text);
  }

  /** Pass a string on as it comes, up to what may begin one of these markers. */
  letFlow(markers: Markers): void {
    if (this.isString) this.calls.letFlow(markers.firstOr(ESCAPED));
  }

  /** End the value. */
  end(): void {
    if (this.isString) {
      this.calls.argue('"');
      return;
    }
    const text = this.pieces.join("");
    this.pieces = [];
    this.asked = 0;
    const value = asJson(text, this.types, this.python);
    if (value === null && !(this.mayBeString || this.mayBeAll)) {
      this.calls.turn.problem("wrong_type", `${quoted(text)} is kept as a string`);
    }
    // An object may have all arguments of the call; others may follow.
    const isAll = this.mayBeAll && trimmed(value?.slice(1, -1) ?? "") !== "";
    this.calls.argue(
      isAll ? (value ?? "").slice(0, -1) : this.before + (value || jsonString(text)),
    );
  }
}

/** The part that reads arrays and objects that are written as elements. */
export interface NestedReader {
  /** Read the beginning of a value that may be such a one. */
  readonly readOpening: Read;
  /** Close what the end of the text leaves open. */
  finish(): void;
}

/** Reads arguments one by one, each with its key and its value. */
export class TextArguments implements ArgumentReader {
  readonly calls: HeadCalls;
  readonly turn: Turn;
  readonly table: ArgumentsFormat;
  readonly value: TypedText;
  /** Those that the tool has. */
  private properties: ReadonlyMap<string, unknown> = new Map();
  /** Keys that would begin another argument. */
  otherKeys: ReadonlySet<string> = new Set();
  /** Text where none belongs. */
  unexpected: string[] = [];
  /** Of the value. */
  schema: unknown = undefined;
  /** As it is written. */
  key = "";
  /** Whether no element of a value can look like an argument's beginning. */
  private readonly showsItself: boolean;
  private readonly escapes: ReadonlyMap<string, string>;
  private readonly escape: RegExp;
  /** Whether text was left out that may be an argument. */
  private doubtful = false;
  /** The keys of the call's arguments so far. */
  private given = new Set<string>();
  private readonly markers: Markers;
  private readonly first: Markers;
  private readonly guard: Markers;
  private readonly plainEnd: Markers;
  private readonly guardedEnd: Markers;
  private valueEnd: Markers;
  private readonly nested: NestedReader | null;

  constructor(calls: HeadCalls, makeNested?: (reader: TextArguments) => NestedReader) {
    const { compiled } = calls;
    this.calls = calls;
    this.turn = calls.turn;
    this.table = compiled.arguments;
    this.value = new TypedText(calls, this.table.literals === "python");
    const { start = "", key_escapes, value_escapes } = this.table;
    this.showsItself = isKeyed(this.table) || hasLetter(leadingText(start));
    this.escapes = new Map(Object.entries({ ...key_escapes, ...value_escapes }));
    this.escape = new RegExp([...this.escapes.keys()].map(escaped).join("|"), "g");
    this.markers = compiled.markers(argumentRoles);
    this.first = compiled.markers(keyedRoles);
    this.guard = compiled.markers(guardRoles);
    this.plainEnd = compiled.markers(plainValueRoles);
    this.guardedEnd = compiled.markers(guardedValueRoles);
    this.valueEnd = this.plainEnd;
    this.nested = makeNested?.(this) ?? null;
  }

  /** Begin behind a head. */
  begin(found: Found): void {
    this.calls.startAt(found);
    this.goOn();
  }

  /** Read the arguments of a call that is started already. */
  goOn(): void {
    this.given.clear();
    this.turn.read = this.readArguments;
  }

  /** Read up to an argument's beginning, or to the end of them all. */
  readonly readArguments: Read = () => {
    const { turn } = this;
    const isFirst = this.unexpected.every((text) => !text);
    const first = isFirst ? this.first.match(turn, { final: false }) : null;
    if (first && !first.role) return false;
    const found = first ?? this.markers.search(turn, { final: false });
    const end = found ? found.start : turn.text.length;
    this.unexpected.push(turn.text.slice(turn.position, end));
    turn.position = end;
    if (!found?.role) return false;
    if (found.role !== "argument" && this.given.size === 0) this.takeObject();
    this.tellUnexpected("between arguments");
    if (found.role === "argument") {
      turn.position = found.end;
      this.beginArgument(found);
      return true;
    }
    if (found.role === "broken") turn.problem("malformed", "the arguments are not closed");
    else turn.position = found.end;
    this.endArguments(true, found.slot("id"));
    return true;
  };

  /** Take a JSON object in place of the arguments, if there is one. */
  private takeObject(): void {
    const text = trimmed(this.unexpected.join(""));
    if (!(loadJson(text) instanceof Map)) return;
    this.turn.problem("other_syntax", "the arguments are a JSON object");
    this.calls.argue(text);
    this.unexpected = [];
  }

  /** Begin an argument. Its tool's schema tells its type, or a word in its beginning. */
  beginArgument(found: Found): void {
    for (const text of found.missing) {
      this.turn.problem("missing_marker", `${quoted(text)} is missing`);
    }
    const key = this.keyOf(found);
    const { parameters } = this.calls;
    const properties = new Map(Object.entries(asSchema(parameters.properties) ?? {}));
    const others = parameters.additionalProperties;
    const isUnknown = properties.size > 0 && !properties.has(key) && !saysSomething(others);
    if (isUnknown) {
      this.turn.problem("unknown_argument", `the tool has no ${quoted(key)}`);
    }
    this.key = found.slot("key");
    this.given.add(key);
    this.properties = properties;
    this.otherKeys = new Set([...properties.keys()].filter((other) => !this.given.has(other)));
    this.schema = properties.has(key) ? properties.get(key) : others;
    const separator = this.calls.hasArguments ? ", " : "{";
    const mayBeAll = isUnknown && key === "arguments" && !this.calls.hasArguments;
    const types = this.typesOf(found);
    const before = `${separator}${jsonString(key)}: `;
    this.value.expect(mayBeAll ? new Set(["object"]) : types, before, mayBeAll);
    this.turn.read = this.nested ? this.nested.readOpening : this.readGuard;
  }

  private typesOf(found: Found): Set<string> {
    const words = this.table.types;
    if (!words) return jsonTypes(this.schema, this.calls.parameters);
    const word = found.slot("type");
    if (Object.hasOwn(words, word)) return new Set(words[word]);
    this.turn.problem("wrong_type", `${quoted(word)} is no type`);
    return new Set();
  }

  /** Read what may surround a value: one that has it is a string, if it can be one. */
  private readonly readGuard: Read = () => {
    const { turn, value } = this;
    const found = this.guard.match(turn, { final: false });
    if (found && !found.role && !turn.final) return false;
    this.valueEnd = found ? this.guardedEnd : this.plainEnd;
    if (found) {
      turn.position = found.end;
      if (value.mayBeString) value.types = new Set(["string"]);
    }
    this.beginValue();
    return true;
  };

  /** Begin a value that is text. */
  beginValue(): void {
    this.value.begin();
    this.turn.read = this.readValue;
  }

  /** Read a value up to what closes it. */
  readonly readValue: Read = () => {
    const { turn, value } = this;
    let found = this.valueEnd.search(turn, { final: false });
    value.take(found ? found.start : turn.text.length);
    if (turn.final && found && !found.role) {
      const isKey = isKeyed(this.table);
      const range = { final: true };
      found = isKey ? this.valueEnd.search(turn, range) : this.valueEnd.match(turn, range);
      value.take(found ? found.start : turn.position);
      // The rest of the text is a part of a marker.
      if (found && found.role !== "rest") return false;
    }
    if (!found?.role) {
      value.letFlow(this.valueEnd);
      return false;
    }
    const key = found.slot("key");
    const isOther = found.role === "close" && key !== "" && key !== this.key;
    if (found.role === "inner" || isOther) {
      if (!isOther) turn.problem("inner_marker", `${quoted(found.text)} inside a value`);
      value.take(found.end);
    } else if (found.role === "escape") {
      turn.position = found.end;
      value.add(this.escapes.get(found.text) ?? found.text);
    } else if (found.role === "next" && !this.beginsNext(found)) {
      value.take(found.start + widthAt(turn.text, found.start));
    } else {
      this.endValue(found);
    }
    return true;
  };

  private beginsNext(found: Found): boolean {
    return this.isOther(this.keyOf(found)) && this.value.mayEnd(found.start);
  }

  /** Return the key in a marker, without its escapes. */
  private keyOf(found: Found): string {
    const key = found.slot("key");
    if (this.escapes.size === 0) return key;
    return key.replace(this.escape, (sign) => this.escapes.get(sign) ?? sign);
  }

  /**
   * Say whether another argument may have a key.
   *
   * Where none is known, or no string belongs, it is any new one, if no element looks like it.
   */
  private isOther(key: string): boolean {
    const hasEnd = Boolean(this.table.end) && !isKeyed(this.table);
    const isKnown = this.calls.tools && (hasEnd || this.properties.size > 0);
    const isText = this.value.isString || this.value.mayBeString;
    if (this.showsItself && !(isKnown && isText)) return !this.given.has(key);
    return this.otherKeys.has(key);
  }

  private endValue(found: Found): void {
    if (found.role === "close") this.turn.position = found.end;
    else if (this.table.end) this.turn.problem("missing_marker", "a value is not closed");
    this.value.end();
    this.turn.read = this.readArguments;
  }

  /** Tell of text that belongs nowhere; it may be an argument. */
  tellUnexpected(where: string, expected = ""): void {
    const text = trimmed(this.unexpected.join("").replace(expected, () => ""));
    this.unexpected = [];
    if (text) {
      this.turn.problem("unexpected_text", `${where}: ${text}`);
      this.doubtful = true;
    }
  }

  private endArguments(complete = true, lateId = ""): void {
    if (this.given.size > 0 || !this.calls.hasArguments) {
      this.calls.argue(this.calls.hasArguments ? "}" : "{}");
    }
    this.calls.end(complete && !this.doubtful, lateId);
    this.doubtful = false;
  }

  /** End a call that the text's end cuts off. */
  finish(): void {
    const { turn } = this;
    if (!this.calls.isOpen) return;
    const rest = this.unexpected.join("") + turn.text.slice(turn.position);
    turn.cutOff(rest);
    this.unexpected = [];
    this.nested?.finish();
    if (turn.read === this.readValue) this.value.end();
    this.endArguments(false);
  }
}

/** Say whether an argument begins with its key, which no search would find. */
export function isKeyed({ start }: ArgumentsFormat): boolean {
  return !!start?.startsWith("{key");
}

/** Return the beginning of an argument that begins with its key, where one is due. */
export function keyedRoles(table: Format): Roles {
  const { start = "", ...others } = argumentsOf(table);
  const isDue = isKeyed({ start, ...others });
  return withRole("argument", isDue ? [spaced(start, "{comma}")] : []);
}

/** Return the beginning of an argument behind another one. */
function nextArgument(table: ArgumentsFormat): string {
  const { start = "", separator } = table;
  return isKeyed(table) ? `${separator || "\n"} ${start}` : `\n${start}`;
}

/** Return what may stand between arguments. */
export function argumentRoles(table: Format): Roles {
  const format = argumentsOf(table);
  const { start = "", empty } = format;
  const [done] = callsOf(table).closing ?? [];
  return [
    ...withRole("done", done !== undefined && empty ? [`${empty} ${done}`] : []),
    ...withRole("done", done === undefined ? [] : [done]),
    ["argument", isKeyed(format) ? nextArgument(format) : start],
    ...withRole("broken", behindCall(table)),
  ];
}

/**
 * Return what may end a value: its mark if the format can go on behind it, or the rest of it.
 *
 * Without its mark a value ends where only the rest of the call follows, or another argument.
 */
export function valueRoles(table: Format, guardEnd = ""): Roles {
  const format = argumentsOf(table);
  const { end = "" } = format;
  const mark = withoutPrefix(end, "\n");
  const before = guardEnd + (mark === end ? "" : "\n");
  const found: (readonly [string, Notation])[] = [];
  if (before + mark) found.push(["close", [before + mark, behindValue(table)]]);
  // A single sign is text wherever the format doesn't go on behind it.
  if (!mark.includes("{key}") && literalLength(guardEnd + mark) > 1) {
    found.push(["inner", guardEnd + mark]);
  }
  if (callsOf(table).closing?.length) {
    found.push(["rest", [before, restsOfCall(table)]]);
    if (!guardEnd) found.push(["next", nextArgument(format)]);
  }
  const escapes = guardEnd ? [] : Object.keys(format.value_escapes ?? {});
  return [...found, ...withRole("escape", escapes), ...turnEndRoles(table)];
}

function plainValueRoles(table: Format): Roles {
  return valueRoles(table);
}

/** Return what may surround a value, at its beginning. */
export function guardRoles(table: Format): Roles {
  const guard = argumentsOf(table).guard?.slice(0, 1) ?? [];
  return withRole(
    "guard",
    guard.map((text) => spaced(text)),
  );
}

/** Return what may end a value that is surrounded. */
export function guardedValueRoles(table: Format): Roles {
  const { guard } = argumentsOf(table);
  return guard?.length ? valueRoles(table, guard[1]) : [];
}

/** Return what may stand behind the mark that closes a value. */
export function behindValue(table: Format): Notation[] {
  const format = argumentsOf(table);
  const following = [
    isKeyed(format) ? nextArgument(format) : firstText(format.start ?? ""),
    ...(callsOf(table).closing?.slice(0, 1) ?? []),
    ...behindCall(table),
  ];
  return following.filter((text) => text).map((text) => spaced(text));
}

/** Return what may stand behind a value without a mark: the rest of the call, and more. */
export function restsOfCall(table: Format): string[] {
  const closing = callsOf(table).closing ?? [];
  const rests = closing.map((_, at) => closing.slice(at).join(" "));
  const behind = [...behindCall(table), "{end of text}"];
  return rests.flatMap((rest) => behind.map((more) => `${rest} ${more}`));
}

/** Return what may stand behind the first of a call's closing tags. */
export function behindCall(table: Format): string[] {
  const calls = callsOf(table);
  const ends = [...table.turn_end, "{end of text}"];
  const found = [
    ...(calls.closing?.slice(1) ?? []),
    ...(calls.section_end ?? []),
    ...(calls.section_closing ?? []).flatMap((end) => ends.map((behind) => `${end} ${behind}`)),
    ...(calls.opening?.length ? calls.opening : [leadingText(calls.start ?? "")]),
    ...table.turn_end,
    ...(table.order[table.order.length - 1] === "content" ? (table.content?.start ?? []) : []),
  ];
  if (calls.only_in_section && calls.start?.startsWith("{name")) {
    found.push(`{comma}${calls.start}`);
  }
  const opening = firstText(argumentsOf(table).start ?? "");
  return [...new Set(found)].filter((text) => text !== opening && literalLength(text) > 0);
}

/** Return markers that end a value nowhere but at the end of the text. */
export function turnEndRoles(table: Format): Roles {
  return withRole(
    "ending",
    table.turn_end.filter((end) => literalLength(end)).map((end) => `${end} {never}`),
  );
}
