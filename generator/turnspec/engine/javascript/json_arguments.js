/** Arguments that are one value behind a head: a JSON object, or a relative of one. */
import { ArgumentsValue, asObject, deviation } from "./arguments_value.js";
import { callsOf } from "./format.js";
import { spaced } from "./markers.js";
import { jsonEscaped, trimmed } from "./strings.js";
import { withRole } from "./text_markers.js";
import { callEndRoles } from "./unclosed.js";
/** What JSON begins with, or else a word or a sign with which none does. */
const ARGUMENTS_BEGIN = /[ \t\n\r]*([A-Za-z_][A-Za-z_0-9]*|[#%!/@(]|)/y;
const KNOWN_CONSTANTS = [
  ...["true", "false", "null"],
  ...["True", "False", "None", "NaN", "Infinity"],
];
/** Characters, and then it is another word. */
const LONGEST_CONSTANT = 9;
/** Reads an object of arguments, and what stands behind it if that isn't a marker in text. */
export class JsonArguments {
  calls;
  turn;
  value;
  hasTail;
  tail;
  nameIsLast;
  /** Of a call whose name is last. */
  head = null;
  bodyEnd;
  // What stands around arguments that are a text.
  before = "";
  behind = "";
  constructor(calls, makeReader) {
    const { compiled, turn } = calls;
    const { tail, start } = compiled.calls;
    this.calls = calls;
    this.turn = turn;
    this.value = new ArgumentsValue(calls, makeReader(turn, compiled));
    this.hasTail = tail !== undefined;
    this.tail = compiled.markers(tailRoles);
    this.nameIsLast = !start?.includes("{name");
    this.bodyEnd = compiled.markers(callEndRoles);
  }
  /** Begin behind a head. */
  begin(found) {
    if (this.nameIsLast) this.head = found;
    else this.calls.startAt(found);
    this.goOn();
  }
  /** Read the arguments of a call that is started already. */
  goOn() {
    this.value.begin({ collect: this.head !== null });
    this.turn.read = this.head ? this.readArguments : this.readStart;
  }
  /** Read up to the arguments; a text that is no JSON is one as a whole. */
  readStart = () => {
    const { turn } = this;
    ARGUMENTS_BEGIN.lastIndex = turn.position;
    const [whole, word = ""] = ARGUMENTS_BEGIN.exec(turn.text) ?? [""];
    const end = turn.position + whole.length;
    const mayGoOn = end === turn.text.length && word.length < LONGEST_CONSTANT;
    if (mayGoOn && !turn.final) return false;
    turn.position = end - word.length;
    turn.read = this.readArguments;
    if (word && !KNOWN_CONSTANTS.includes(word)) this.beginBody();
    return true;
  };
  beginBody() {
    const { turn } = this;
    const isKnown = this.calls.knows(this.calls.current.name);
    turn.problem("malformed", "the arguments are no JSON");
    this.before = isKnown ? '"' : '{"code": "';
    this.behind = isKnown ? '"' : '"}';
    turn.read = this.readBody;
  }
  /** Read a text up to the end of the call or of the turn. */
  readBody = () => {
    const { turn } = this;
    const found = this.bodyEnd.search(turn);
    const end = found ? found.start : turn.text.length;
    const text = turn.text.slice(turn.position, end);
    turn.position = end;
    this.calls.argue(this.before + jsonEscaped(text));
    this.before = "";
    if (!found?.role) return false;
    this.endBody();
    return true;
  };
  endBody(complete = true) {
    this.calls.argue(this.before + this.behind);
    this.calls.end(complete && this.behind !== '"');
  }
  /** Read the arguments, which pass through as they arrive. */
  readArguments = () => {
    if (!this.value.read()) return false;
    this.endValue();
    return true;
  };
  endValue() {
    const { collected, complete } = this.value;
    if (this.head) {
      this.turn.read = this.readTail;
      return;
    }
    if (collected !== null) {
      this.turn.problem(...deviation(collected));
      this.calls.argue(asObject(collected));
    }
    if (complete && this.hasTail) this.turn.read = this.readTail;
    else this.calls.end(complete);
  }
  /** Read what stands behind the arguments: maybe an id, or the name. */
  readTail = () => {
    const { turn, calls } = this;
    const found = this.tail.match(turn);
    if (found && !found.role) return false;
    const rest = trimmed(turn.text.slice(turn.position));
    if (!found && turn.final && (rest || this.nameIsLast)) return false;
    if (!found) {
      turn.problem("missing_marker", "what belongs behind the arguments is missing");
    } else if (this.head) {
      calls.startAt(this.head, found.slot("name"), found.slot("id"));
      calls.argue(asObject(this.value.collected ?? ""));
    }
    this.head = null;
    if (found) turn.position = found.end;
    turn.read = calls.resume;
    if (calls.isOpen) calls.end(true, found?.slot("id"));
    return true;
  };
  /** End a call that the text's end cuts off. */
  finish() {
    const { turn, calls } = this;
    if (!calls.isOpen && !this.head) return;
    const rest = this.value.waiting + turn.text.slice(turn.position);
    turn.cutOff(rest);
    const inValue = turn.read === this.readStart || turn.read === this.readArguments;
    if (turn.read === this.readBody) {
      this.endBody(false);
    } else if (inValue && !this.head) {
      this.value.close();
      this.endValue();
    } else if (calls.isOpen) {
      calls.end(false);
    }
  }
}
/** Return what stands behind a call's arguments, if it has slots or is no marker in text. */
export function tailRoles(table) {
  const { tail } = callsOf(table);
  return withRole("tail", tail === undefined ? [] : [spaced(tail)]);
}
