/** Calls that are code: all text up to the turn's end is one argument of a tool. */
import { argumentsOf, callsOf } from "./format.js";
import { literalLength } from "./markers.js";
import { LiteralReader } from "./python_literal.js";
import { jsonEscaped, jsonString, quoted } from "./strings.js";
import { withRole } from "./text_markers.js";
/** Reads code, or what may stand in its place: an object of arguments, or `NAME.method(…)`. */
export class Code {
  calls;
  reader;
  turn;
  table;
  start;
  end;
  /** Of a method's call. */
  keywords = [];
  constructor(calls, reader = null) {
    const { compiled } = calls;
    this.calls = calls;
    this.reader = reader;
    this.turn = calls.turn;
    this.table = codeOf(compiled.table);
    this.start = compiled.markers(codeStartRoles);
    this.end = compiled.markers(codeEndRoles);
  }
  /** Read the beginning of a call. */
  readCodeStart = () => {
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
  readCode = () => {
    const { text, isOver } = this.take();
    this.calls.argue(jsonEscaped(text));
    if (isOver) {
      this.calls.argue('"}');
      this.calls.end();
    }
    return isOver;
  };
  /** Read a method's keyword arguments, up to the turn's end. */
  readKeywords = () => {
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
  take() {
    const { turn } = this;
    const found = this.end.search(turn);
    const text = turn.text.slice(turn.position, found ? found.start : turn.text.length);
    turn.position += text.length;
    return { text, isOver: turn.final || !!found?.role };
  }
}
/** Return a table's part on code; of a format that has some. */
function codeOf(table) {
  if (!table.code) throw new TypeError("a format without code");
  return table.code;
}
/** Return what may stand in the place of code. */
export function codeStartRoles(table) {
  const { method } = codeOf(table);
  const isObject = callsOf(table).form === "heads" && argumentsOf(table).form === "json";
  const object = [" ", ["{{"]];
  return [
    ...withRole("method", method ? [` {name}.${method} (`] : []),
    ...withRole("object", isObject ? [object] : []),
  ];
}
/** Return what ends code. */
export function codeEndRoles(table) {
  return withRole(
    "end",
    table.turn_end.filter((end) => literalLength(end)).map((end) => `\n${end}`),
  );
}
