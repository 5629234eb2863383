/** Calls that are code: all text up to the turn's end is one argument of a tool. */

import type { ArgumentReader, Calls, CodeReader } from "./calls.js";
import { argumentsOf, type CodeFormat, callsOf, type Format } from "./format.js";
import { literalLength, type Markers, type Notation, type Roles } from "./markers.js";
import { LiteralReader } from "./python_literal.js";
import { jsonEscaped, jsonString, quoted } from "./strings.js";
import { withRole } from "./text_markers.js";
import type { Read, Turn } from "./turn.js";

/** Reads code, or what may stand in its place: an object of arguments, or `NAME.method(…)`. */
export class Code implements CodeReader {
  private readonly calls: Calls;
  private readonly reader: ArgumentReader | null;
  private readonly turn: Turn;
  private readonly table: CodeFormat;
  private readonly start: Markers;
  private readonly end: Markers;
  /** Of a method's call. */
  private keywords: string[] = [];

  constructor(calls: Calls, reader: ArgumentReader | null = null) {
    const { compiled } = calls;
    this.calls = calls;
    this.reader = reader;
    this.turn = calls.turn;
    this.table = codeOf(compiled.table);
    this.start = compiled.markers(codeStartRoles);
    this.end = compiled.markers(codeEndRoles);
  }

  /** Read the beginning of a call. */
  readonly readCodeStart: Read = () => {
    const { turn, calls } = this;
    const found = this.start.match(turn);
    if (found && !found.role) return false;
    const at = turn.offsetAt(turn.position);
    if (found?.role === "method") {
      turn.position = found.end;
      calls.start(found.slot("name"), at, turn.offsetAt(found.end));
      turn.read = this.readKeywords;
      return true;
    }
    calls.start(this.table.tool, at, at);
    if (found && this.reader) {
      this.reader.goOn();
      return true;
    }
    calls.argue(`{${jsonString(this.table.argument)}: "`);
    turn.read = this.readCode;
    return true;
  };

  /** Read code, up to the turn's end. */
  private readonly readCode: Read = () => {
    const { text, isOver } = this.take();
    this.calls.argue(jsonEscaped(text));
    if (isOver) {
      this.calls.argue('"}');
      this.calls.end();
    }
    return isOver;
  };

  /** Read a method's keyword arguments, up to the turn's end. */
  private readonly readKeywords: Read = () => {
    const taken = this.take();
    this.keywords.push(taken.text);
    if (!taken.isOver) return false;
    const text = this.keywords.join("");
    this.keywords = [];
    const written = LiteralReader.readKeywords(text);
    if (written === null) {
      const kind = this.turn.final ? "cut_off" : "malformed";
      this.turn.problem(kind, `not Python's keyword arguments: ${quoted(text)}`);
    }
    this.calls.argue(written ?? "{}");
    this.calls.end(written !== null);
    return true;
  };

  /** Return the code that has come, and whether it is over. */
  private take(): { readonly text: string; readonly isOver: boolean } {
    const { turn } = this;
    const found = this.end.search(turn);
    const text = turn.text.slice(turn.position, found ? found.start : turn.text.length);
    turn.position += text.length;
    return { text, isOver: turn.final || !!found?.role };
  }
}

/** Return a table's part on code; of a format that has some. */
function codeOf(table: Format): CodeFormat {
  if (!table.code) throw new TypeError("a format without code");
  return table.code;
}

/** Return what may stand in the place of code. */
export function codeStartRoles(table: Format): Roles {
  const { method } = codeOf(table);
  const isObject = callsOf(table).form === "heads" && argumentsOf(table).form === "json";
  const object: Notation = [" ", ["{{"]];
  return [
    ...withRole("method", method ? [` {name}.${method} (`] : []),
    ...withRole("object", isObject ? [object] : []),
  ];
}

/** Return what ends code. */
export function codeEndRoles(table: Format): Roles {
  return withRole(
    "end",
    table.turn_end.filter((end) => literalLength(end)).map((end) => `\n${end}`),
  );
}
