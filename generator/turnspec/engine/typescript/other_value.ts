/** Relatives of JSON: Python's literals, bare keys, strings in quotes of the format's own. */

import { argumentsOf, type CompiledFormat, callsOf, type Format } from "./format.js";
import { escaped, type Markers, type Roles, spaced, WORD_SIGN } from "./markers.js";
import { ESCAPED, jsonEscaped, trimmed, withoutHalves } from "./strings.js";
import { withRole } from "./text_markers.js";
import type { Turn } from "./turn.js";
import { callEndRoles } from "./unclosed.js";
import { Value } from "./value.js";

const OTHER_STRINGS: Readonly<Record<string, RegExp>> = {
  "'": otherString("'"),
  '"': otherString('"'),
};
const OTHER_ESCAPE = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|[\s\S])/uy;
/** Of all escapes of JSON the one that Python hasn't, and others. */
const ESCAPED_SLASH = /(\\[^/])|\\\//gu;
const OTHER_ESCAPES: ReadonlyMap<string, string> = new Map([
  ["\\n", "\n"],
  ["\\t", "\t"],
  ["\\b", "\b"],
  ["\\f", "\f"],
  ["\\r", "\r"],
  ["\\a", "\x07"],
  ["\\v", "\v"],
  ["\\\\", "\\"],
  ["\\'", "'"],
  ['\\"', '"'],
]);
const PYTHON_WORDS: ReadonlyMap<string, string> = new Map([
  ["true", "true"],
  ["false", "false"],
  ["null", "null"],
  ["True", "true"],
  ["False", "false"],
  ["None", "null"],
]);

function otherString(quote: string): RegExp {
  const plain = `[^${quote}\\\\]*`;
  const sequence =
    "(?:[^xuU]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[xuU](?![0-9a-fA-F]{0,7}$))";
  return new RegExp(`${plain}(?:\\\\${sequence}${plain}){0,999}(${quote})?`, "y");
}

/** Reads a value in a relative of JSON. */
export class OtherValue extends Value {
  private readonly rawQuote: string;
  private readonly rawInside: boolean;
  private readonly escapes: "json" | "python";
  private readonly rawStart: Markers;
  private readonly rawEnd: Markers;
  private readonly afterString: RegExp;
  private readonly afterInside: RegExp;

  constructor(turn: Turn, compiled: CompiledFormat) {
    const style = compiled.arguments.values ?? {};
    const quotes = style.raw_quote ? [style.raw_quote, '"', "'"] : ['"', "'"];
    super(turn, compiled, {
      quotes: [...new Set(quotes)],
      words: PYTHON_WORDS,
      hasBareKeys: true,
      stops: compiled.markers(stringStopRoles).firstOr(`${ESCAPED}'`),
    });
    this.rawQuote = style.raw_quote ?? "";
    this.rawInside = style.raw_inside ?? false;
    this.escapes = style.escapes ?? "json";
    this.hasSingleQuotes = this.escapes === "python" || this.rawQuote === "'";
    this.rawStart = compiled.markers(rawStartRoles);
    this.rawEnd = compiled.markers(rawEndRoles);
    const signs = signsBehindString(compiled.table);
    this.afterInside = behindString(signs);
    this.afterString = behindString(signs.replaceAll(":", ""));
  }

  protected override takeQuote(text: string): boolean {
    // It is a special token, and here only looks like it.
    if (text === this.rawQuote && !this.rawStart.match(this.turn)) return false;
    return super.takeQuote(text);
  }

  protected override readString(): boolean {
    const isInside = this.closers.length > 0 && !this.rawInside;
    if (this.quote === this.rawQuote && !isInside) return this.readRawString();
    if (this.escapes === "json" && this.quote === '"') return super.readString();
    const { turn } = this;
    const match = this.matchString(OTHER_STRINGS[this.quote] as RegExp);
    let { text } = match;
    turn.position += text.length;
    const after = match.isClosed ? this.matchBehind(match.end) : null;
    if (match.isClosed && !after) {
      // It is none that ends the string.
      turn.problem("malformed", `a ${this.quote} inside a string`);
      text += this.quote;
      turn.position = match.end;
    }
    if (this.closers.length > 0 && this.quote === '"') {
      // Arrays and objects may be JSON, beside Python's literals.
      text = text.replace(ESCAPED_SLASH, (_, other?: string) => other ?? "/");
    }
    this.passOn(jsonOfString(text));
    if (!after) return match.isClosed;
    if (!after.goesOn && !turn.final) return false;
    turn.position = match.end;
    return this.endIf(true);
  }

  /** Return whether something goes on behind a string; null where it isn't what may follow one. */
  private matchBehind(at: number): { readonly goesOn: boolean } | null {
    const behind = this.closers.length > 0 ? this.afterInside : this.afterString;
    behind.lastIndex = at;
    const match = behind.exec(this.turn.text);
    // A word at the end of all text has nothing behind it.
    return !match || (match[1] && this.turn.final) ? null : { goesOn: !!match[2] };
  }

  private readRawString(): boolean {
    const { turn } = this;
    const start = Math.max(turn.position, this.matchedTo - turn.place);
    let found = this.rawEnd.search(turn, { final: false, start });
    let end = found ? found.start : turn.text.length;
    this.matchedTo = turn.place + end;
    if (this.unclosed?.mayEnd(turn.position, end)) {
      const [reach, broken] = this.unclosed.find(end);
      this.broken = broken;
      if (reach !== end) found = null;
      end = reach;
    }
    this.passOn(jsonEscaped(turn.text.slice(turn.position, end)));
    turn.position = found?.role ? found.end : end;
    return this.endIf(!!found?.role);
  }

  private endIf(isEnd: boolean): boolean {
    if (isEnd) {
      this.passOn('"');
      this.endString();
    }
    return isEnd;
  }
}

/** Return an expression for what stands behind a string: no bracket before another quote. */
function behindString(signs: string): RegExp {
  // Of an argument before which a separator is missing.
  const key = `${WORD_SIGN}{1,64} ?`;
  const next = `[${escaped(signs)}](?<![)\\]}])|[)\\]}](?!["'])|${key}[=:]`;
  return new RegExp(`[ \\t\\n\\r]*(?:[)\\]}]?$|(${key}$)|(${next}))`, "uy");
}

/** Return the signs with which goes on what stands behind a string. */
function signsBehindString(table: Format): string {
  const calls = callsOf(table);
  const { separator = "", end = "" } = argumentsOf(table);
  const texts = [
    ...[separator, end],
    ...[...(calls.closing ?? []), ...(calls.end ?? []), ...table.turn_end],
  ];
  return `,)]}:<${texts.map((text) => [...trimmed(text)][0] ?? "").join("")}`;
}

/** Return what stands in JSON for a Python string's text between its quotes. */
function jsonOfString(text: string): string {
  let written = "";
  let done = 0;
  for (let at = text.indexOf("\\"); at >= 0; at = text.indexOf("\\", done)) {
    OTHER_ESCAPE.lastIndex = at;
    const [all, two, four, eight] = OTHER_ESCAPE.exec(text) ?? ["\\"];
    const code = Number.parseInt(two ?? four ?? eight ?? "", 16);
    const sign = code <= 0x10ffff ? String.fromCodePoint(code) : (OTHER_ESCAPES.get(all) ?? all);
    // Half a character stays an escape, as its other half may not have come yet.
    written += jsonEscaped(text.slice(done, at)) + withoutHalves(jsonEscaped(sign));
    done = at + all.length;
  }
  return written + jsonEscaped(text.slice(done));
}

/** Return what begins a string without escapes: its quote. */
export function rawStartRoles(table: Format): Roles {
  const quote = argumentsOf(table).values?.raw_quote;
  return withRole("start", quote ? [quote] : []);
}

/** Return what may end a string, closed or not. */
function stringStopRoles(table: Format): Roles {
  return [...rawEndRoles(table), ...callEndRoles(table)];
}

/** Return what ends a string without escapes: its quote, if the call can go on behind it. */
export function rawEndRoles(table: Format): Roles {
  const { values, separator = "", end } = argumentsOf(table);
  const quote = values?.raw_quote;
  if (!quote) return [];
  if (values.raw_inside) return [["end", quote]];
  const ends = end ? [end] : [separator, ...(callsOf(table).closing?.slice(0, 1) ?? [])];
  return withRole("end", [[quote, ends.filter((text) => text).map((text) => spaced(text))]]);
}

/** Make a reader of a relative of JSON. */
export function makeOtherValue(turn: Turn, compiled: CompiledFormat): Value {
  return new OtherValue(turn, compiled);
}
