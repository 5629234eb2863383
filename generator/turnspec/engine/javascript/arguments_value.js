/** Values that are a call's arguments as a whole, and what is made of those that are no object. */
import { findFlaw, loadJson } from "./json_text.js";
import { isBlank, withoutHalves } from "./strings.js";
import { Turn } from "./turn.js";
import { Value } from "./value.js";
/** A value that is a call's arguments: an object is passed on as it comes, others collected. */
export class ArgumentsValue {
  /** Whether the value was closed when it ended. */
  complete = true;
  calls;
  value;
  pieces = null;
  constructor(calls, value) {
    this.calls = calls;
    this.value = value;
  }
  /** Expect a value; it may have to be collected in any case. */
  begin({ collect = false } = {}) {
    this.value.begin();
    this.pieces = collect ? [] : null;
  }
  /** The value, if it isn't passed on. */
  get collected() {
    return this.pieces?.join("") ?? null;
  }
  /** What of the value waits for what follows it. */
  get waiting() {
    return this.value.waiting;
  }
  /** Take what has come, and return whether the value has ended. */
  read() {
    const { value } = this;
    this.take(value.read());
    if (!value.over && (!value.broken || this.calls.turn.final)) {
      if (!this.pieces && value.stringStops) this.calls.letFlow(value.stringStops);
      return false;
    }
    this.close();
    return true;
  }
  /** End the value. */
  close() {
    const { value } = this;
    this.complete = value.over || !(value.isOpen || this.calls.turn.final);
    this.take(value.close());
  }
  take(text) {
    if (!text) return;
    if (!this.pieces && (this.calls.hasArguments || text.startsWith("{"))) {
      this.calls.argue(text);
      return;
    }
    this.pieces ??= []; // these arguments are no object
    this.pieces.push(text);
  }
}
/** Return the JSON value in a text, closed where it breaks off. */
export function closed(text) {
  const turn = new Turn(0);
  const value = new Value(turn);
  turn.begin(text, 0, 0);
  turn.final = true;
  return value.read() + value.close();
}
/** Return arguments that are written as a string, or as null, as the object that they mean. */
export function asObject(text) {
  const value = loadJson(text);
  if (value === undefined) return text;
  const isText = typeof value === "string";
  const written = isText ? withoutHalves(findFlaw(value) ? closed(value) : value) : text;
  return value === null || isBlank(written) ? "{}" : written;
}
/** Return the problem with arguments that are no object: its kind, and a sentence. */
export function deviation(text) {
  const kinds = { '"': "string_arguments", n: "no_arguments" };
  return [kinds[text.charAt(0)] ?? "not_an_object", `the arguments are ${text}`];
}
