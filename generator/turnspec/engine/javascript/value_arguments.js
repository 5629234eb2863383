/** Arguments whose values say themselves where they end, each with its key before it. */
import { argumentsOf, callsOf } from "./format.js";
import { firstText, literalLength, spaced } from "./markers.js";
import { jsonEscaped, jsonString, quoted, trimmed, widthAt } from "./strings.js";
import { isKeyed } from "./text_arguments.js";
import { withRole } from "./text_markers.js";
import { asSchema, saysSomething } from "./tools.js";
import { callEndRoles, FEWEST_SIGNS } from "./unclosed.js";
/** A number, a constant or a word without quotes; nothing where a value begins with a sign. */
const BARE_WORD = /[ \t\n\r]*([^\x00-\x20{}[\](),:;"'`<>|]*)/y;
/** Reads arguments one by one: a key, and a value in JSON or a relative of it. */
export class ValueArguments {
  calls;
  turn;
  value;
  /** What stands in the arguments before the value. */
  before = "";
  markers;
  textEnd;
  cutEnd;
  /** Whether each value was closed, and nothing else was there. */
  isWhole = true;
  /** Text where none belongs. */
  unexpected = [];
  hasEnd;
  constructor(calls, makeReader) {
    const { compiled, turn } = calls;
    this.calls = calls;
    this.turn = turn;
    this.value = makeReader(turn, compiled);
    this.markers = compiled.markers(argumentValueRoles);
    this.textEnd = compiled.markers(textEndRoles);
    this.cutEnd = compiled.markers(callClosingRoles);
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
    if (!found && this.hasEnd) {
      this.unexpected.push(turn.text.slice(turn.position, turn.position + 1));
      turn.position += 1;
      turn.read = this.readUnexpected;
      return true;
    }
    if (!found || found.role === "broken") {
      turn.problem("malformed", "the arguments are not closed");
      this.endArguments();
      return true;
    }
    if (found.role === "next_call") {
      this.goOnToNext(found);
      return true;
    }
    turn.position = found.end;
    if (found.role === "quoted") {
      turn.problem("malformed", `${quoted(found.slot("key"))} in quotes`);
    }
    if (found.role === "argument" || found.role === "quoted") this.beginArgument(found);
    else if (found.role === "done") this.endArguments(true, found.slot("id"));
    return true;
  };
  /** Read text that is no argument, up to where the call can go on. */
  readUnexpected = () => {
    const { turn } = this;
    const found = this.textEnd.search(turn);
    const end = found ? found.start : turn.text.length;
    this.unexpected.push(turn.text.slice(turn.position, end));
    turn.position = end;
    if (!found?.role) return false;
    turn.problem("unexpected_text", `between arguments: ${this.unexpected.join("")}`);
    this.unexpected = [];
    this.isWhole = false;
    turn.read = this.readArguments;
    return true;
  };
  /** End a call at its bracket, and begin the next one, whose head lacks its tag. */
  goOnToNext(found) {
    const { calls, turn } = this;
    turn.position = turn.text.indexOf("}", found.start) + 1;
    this.endArguments(true);
    turn.problem("missing_marker", "the next call is not opened");
    const start = turn.offsetAt(turn.position);
    calls.start(found.slot("name"), start, turn.offsetAt(found.end));
    turn.position = found.end;
    this.goOn();
  }
  beginArgument(found) {
    const key = found.slot("key");
    if (!this.mayHave(key)) {
      this.turn.problem("unknown_argument", `the tool has no ${quoted(key)}`);
    }
    this.before = `${this.calls.hasArguments ? ", " : "{"}${jsonString(key)}: `;
    this.value.begin();
    this.turn.read = this.readStart;
  }
  /** Say whether the tool has such an argument, as far as its schema tells. */
  mayHave(key) {
    const { properties, additionalProperties } = this.calls.parameters;
    const keys = Object.keys(asSchema(properties) ?? {});
    return keys.length === 0 || keys.includes(key) || saysSomething(additionalProperties);
  }
  /** Read up to a value; what is more than a word, and has no quotes, is a text. */
  readStart = () => {
    const { turn } = this;
    BARE_WORD.lastIndex = turn.position;
    const [whole, word = ""] = BARE_WORD.exec(turn.text) ?? [""];
    const end = turn.position + whole.length;
    const isAll = end === turn.text.length;
    if (isAll && !turn.final) return false;
    const isLiteral = this.value.mayBeQuote(end - word.length) || this.value.isLiteral(word);
    const isWord = word !== "" && !isLiteral;
    const found = isWord ? this.textEnd.match(turn, { start: end }) : null;
    if (found && !found.role) return false;
    const isCutOff = turn.final && this.cutEnd.match(turn, { start: end, final: false }) !== null;
    const isText = isWord && !found && !isCutOff && !isAll;
    turn.read = isText ? this.readBareText : this.readValue;
    if (isText) {
      if (turn.text.startsWith(" ", turn.position)) turn.position += 1;
      turn.problem("malformed", "a text without quotes");
      this.take('"');
    }
    return true;
  };
  /** Read a text without quotes, up to where the call can go on. */
  readBareText = () => {
    const { turn } = this;
    let found = this.textEnd.search(turn);
    if (!found && turn.final) found = this.cutEnd.search(turn, { final: false });
    const isText = found?.role === "next" && !this.mayHave(found.slot("key"));
    const start = found ? found.start : turn.text.length;
    const end = isText ? start + widthAt(turn.text, start) : start;
    const text = turn.text.slice(turn.position, end);
    turn.position = end; // so that what is told of the text ends where it does
    this.take(jsonEscaped(text));
    if (!found?.role) return false;
    if (!isText) {
      this.take('"');
      turn.read = this.readArguments;
    }
    return true;
  };
  /** Read a value, which becomes JSON as it arrives. */
  readValue = () => {
    const { value } = this;
    this.take(value.read());
    if (!value.over && (!value.broken || this.turn.final)) {
      if (value.stringStops) this.calls.letFlow(value.stringStops);
      return false;
    }
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
  endArguments(complete = true, lateId = "") {
    this.calls.argue(this.calls.hasArguments ? "}" : "{}");
    this.calls.end(complete && this.isWhole, lateId);
  }
  /** End a call that the text's end cuts off. */
  finish() {
    const { turn } = this;
    if (!this.calls.isOpen) return;
    const inValue = turn.read === this.readValue;
    const waiting = inValue ? this.before + this.value.waiting : "";
    const rest = waiting + this.unexpected.join("") + turn.text.slice(turn.position);
    this.unexpected = [];
    turn.cutOff(rest);
    if (inValue) this.endValue();
    else if (turn.read === this.readBareText) this.take('"');
    this.endArguments(false);
  }
}
/**
 * Return what may stand before a value, and behind the last one.
 *
 * What ends the arguments may look like another one's beginning, so it comes first; where nothing
 * ends them, they end at whatever else comes, as another call, which may look like one, too.
 */
export function argumentValueRoles(table) {
  const { start = "", empty, end } = argumentsOf(table);
  const closing = callsOf(table).closing ?? [];
  const inQuotes = quotedStarts(table).map((text) => spaced(text, "{comma}"));
  const argument = [
    ...withRole("quoted", inQuotes),
    ...withRole("argument", [spaced(start, "{comma}")]),
  ];
  const [first] = closing;
  const ends = [...(empty ? [first === undefined ? empty : `${empty} ${first}`] : []), first ?? ""];
  const done = withRole(
    "done",
    ends.map((text) => `{comma}${text}`),
  );
  const next = withRole("next_call", nextHeads(table));
  const broken = withRole(
    "broken",
    callEndRoles(table).map(([, notation]) => spaced(notation)),
  );
  const { start: head = "" } = callsOf(table);
  const otherCall =
    isKeyed(argumentsOf(table)) && firstText(head) ? [["done", ["{comma}", [head]]]] : [];
  return [
    ...(first === undefined
      ? [...otherCall, ...argument, ...done]
      : [...done, ...broken, ...next, ...argument]),
    ...withRole("end", end ? [spaced(end)] : []),
  ];
}
/** Return a call's last bracket with the head of another call, which lacks its tag. */
function nextHeads(table) {
  const { start = "", closing = [] } = callsOf(table);
  const found = /^<[^<>{} ]+> \{\?([^{}]+)\}(\{name.*)$/u.exec(start);
  return found && closing[0]?.startsWith("}}") ? [`{comma}}}{comma}${found[1]}${found[2]}`] : [];
}
/** Return how an argument begins whose key stands in quotes, the format's own among them. */
function quotedStarts(table) {
  const { start = "", values } = argumentsOf(table);
  const quotes = new Set(['"', "'", values?.raw_quote || '"']);
  return Array.from(quotes, (quote) =>
    start.replaceAll("{key", `${quote}{key`).replace("}", `}${quote}`),
  );
}
/** Return what ends a text without quotes: another argument, or the end of them all. */
export function textEndRoles(table) {
  const { separator = "", start = "" } = argumentsOf(table);
  const sign = trimmed(separator);
  const starts = sign ? [...quotedStarts(table), start] : [];
  return [
    ...withRole(
      "next",
      starts.map((text) => ` ${sign} ${text}`),
    ),
    ...callClosingRoles(table),
  ];
}
/** Return what ends the arguments, if no text goes on behind it. */
export function callClosingRoles(table) {
  const { end } = argumentsOf(table);
  const { closing = [], section_closing = [], section_end = [], start = "" } = callsOf(table);
  const ends = [...closing.slice(1), ...section_closing, ...section_end, ...table.turn_end];
  const follows = [...ends.map((text) => spaced(text)), ` , ${start}`, "{end of text}"];
  const [first] = closing;
  const mark = ` ${first}`;
  const isDistinct = first !== undefined && literalLength(first) >= FEWEST_SIGNS;
  return [
    ...withRole("close", first === undefined ? [] : [isDistinct ? mark : [mark, follows]]),
    ...withRole(
      "close",
      callEndRoles(table).map(([, notation]) => spaced(notation)),
    ),
    ...withRole("end", end ? [spaced(end)] : []),
  ];
}
