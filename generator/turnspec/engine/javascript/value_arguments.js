/** Arguments whose values say themselves where they end, each with its key before it. */
import { argumentsOf, callsOf } from "./format.js";
import { spaced } from "./markers.js";
import { asSchema, saysSomething } from "./schemas.js";
import { jsonString, quoted } from "./strings.js";
import { withRole } from "./text_markers.js";
/** Reads arguments one by one: a key, and a value in JSON or a relative of it. */
export class ValueArguments {
  calls;
  turn;
  value;
  /** What stands in the arguments before the value. */
  before = "";
  markers;
  /** Whether each value was closed. */
  isWhole = true;
  hasEnd;
  constructor(calls, makeReader) {
    const { compiled, turn } = calls;
    this.calls = calls;
    this.turn = turn;
    this.value = makeReader(turn, compiled);
    this.markers = compiled.markers(argumentValueRoles);
    this.hasEnd = !!compiled.calls.closing?.length;
  }
  /** Begin behind a head. */
  begin(found) {
    this.calls.startAt(found);
    this.goOn();
  }
  /** Read the arguments of a call that is started already. */
  goOn() {
    this.isWhole = true;
    this.turn.read = this.readArguments;
  }
  /** Read the beginning of an argument, or the end of them all. */
  readArguments = () => {
    const { turn } = this;
    const found = this.markers.match(turn, { final: turn.final && !this.hasEnd });
    if (found && !found.role) return false;
    if (!found) {
      turn.problem("malformed", "the arguments are not closed");
      this.endArguments();
      return true;
    }
    turn.position = found.end;
    if (found.role === "argument") this.beginArgument(found);
    else if (found.role === "done") this.endArguments();
    return true;
  };
  beginArgument(found) {
    const key = found.slot("key");
    const { parameters } = this.calls;
    const properties = Object.keys(asSchema(parameters.properties) ?? {});
    const isOpen = saysSomething(parameters.additionalProperties);
    if (properties.length > 0 && !properties.includes(key) && !isOpen) {
      this.turn.problem("unknown_argument", `the tool has no ${quoted(key)}`);
    }
    this.before = `${this.calls.hasArguments ? ", " : "{"}${jsonString(key)}: `;
    this.value.begin();
    this.turn.read = this.readValue;
  }
  /** Read a value, which becomes JSON as it arrives. */
  readValue = () => {
    const { value } = this;
    this.take(value.read());
    if (!value.over && (!value.broken || this.turn.final)) return false;
    this.endValue();
    return true;
  };
  take(text) {
    if (!text) return;
    this.calls.argue(this.before + text);
    this.before = "";
  }
  endValue() {
    this.isWhole &&= !this.value.isOpen;
    this.take(this.value.close());
    if (this.before) {
      if (!this.turn.final) {
        this.turn.problem("malformed", `no value after ${quoted(this.before)}`);
      }
      this.take("null");
    }
    this.turn.read = this.readArguments;
  }
  endArguments(complete = true) {
    this.calls.argue(this.calls.hasArguments ? "}" : "{}");
    this.calls.end(complete && this.isWhole);
  }
  /** End a call that the text's end cuts off. */
  finish() {
    const { turn } = this;
    if (!this.calls.isOpen) return;
    const inValue = turn.read === this.readValue;
    const waiting = inValue ? this.before + this.value.waiting : "";
    const rest = waiting + turn.text.slice(turn.position);
    turn.problem("cut_off", `a call that ends in ${quoted(rest)}`);
    if (inValue) this.endValue();
    this.endArguments(false);
  }
}
/**
 * Return what may stand before a value, and behind the last one.
 *
 * What ends the arguments may look like another one's beginning, so it comes first; where nothing
 * ends them, they end at whatever else comes.
 */
export function argumentValueRoles(table) {
  const { start = "", empty, end } = argumentsOf(table);
  const closing = callsOf(table).closing ?? [];
  const argument = withRole("argument", [spaced(start, "{comma}")]);
  const [first] = closing;
  const ends = [...(empty ? [first === undefined ? empty : `${empty} ${first}`] : []), first ?? ""];
  const done = withRole(
    "done",
    ends.map((text) => `{comma}${text}`),
  );
  return [
    ...(first === undefined ? [...argument, ...done] : [...done, ...argument]),
    ...withRole("end", end ? [spaced(end)] : []),
  ];
}
