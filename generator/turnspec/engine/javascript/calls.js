/** Tool calls: what is known of each of them, and of the tools. */
import { findFlaw } from "./json_text.js";
import { GrowingText, quoted } from "./strings.js";
import { parametersByName } from "./tools.js";
/** The calls of a turn, which those who read them start, add to and end. */
export class Calls {
  text;
  turn;
  compiled;
  /** The schemas of the tools' arguments by the tools' names. */
  tools;
  called = false;
  /** What reads on behind a call. */
  resume;
  /** Of the arguments, until more of them has come. */
  collected = null;
  /** Whether an id may stand behind the name. */
  hasLateIds = false;
  idPrefix;
  /** Of the arguments' text. */
  flow = null;
  constructor(text, { tools, idPrefix }) {
    this.text = text;
    this.turn = text.turn;
    this.compiled = text.compiled;
    this.tools = tools === null ? null : parametersByName(tools);
    this.idPrefix = idPrefix;
    this.resume = text.readText;
  }
  get first() {
    return this.text.readText;
  }
  /** Whether a call is being read. */
  get isOpen() {
    return this.turn.arguments !== null;
  }
  /** Whether the call that is being read has arguments. */
  get hasArguments() {
    return this.turn.arguments?.isEmpty === false;
  }
  /** The call that is being read. */
  get current() {
    const call = this.turn.calls.at(-1);
    if (!call) throw new TypeError("no call is being read");
    return call;
  }
  /** The schema of the arguments of the call that is being read. */
  get parameters() {
    return this.tools?.get(this.current.name) ?? {};
  }
  /** Say whether there is a tool of this name. */
  knows(name) {
    return this.tools?.has(name) ?? false;
  }
  /** Begin a call; what says so stands from one offset to the other. */
  start(name, start, end, id = "") {
    const { turn } = this;
    if (this.tools && !this.tools.has(name)) {
      turn.problem("unknown_tool", `there is no tool ${quoted(name)}`);
    }
    this.text.beginCall();
    const index = turn.calls.length;
    const given = id || this.hasLateIds ? id : `${this.idPrefix}${index}`;
    turn.calls.push({ id: given, name, arguments: "", complete: false });
    turn.arguments = new GrowingText();
    turn.events.push({ type: "tool_call_start", index, id: given, name, start, end });
    turn.told = end;
    this.called = true;
  }
  /** Add to the arguments, JSON text that comes of what was read up to the position. */
  argue(text) {
    const { turn } = this;
    if (this.collected) {
      this.collected.push(text);
      return;
    }
    if (!text || !turn.arguments) return;
    turn.events.push(this.add(text, turn.told, turn.offsetAt(turn.position)));
  }
  add(text, start, end) {
    const { turn } = this;
    turn.arguments?.add(text);
    turn.told = end;
    return { type: "tool_call_delta", index: turn.calls.length - 1, arguments: text, start, end };
  }
  /** Let text be a part of the arguments up to one of some characters, as it is. */
  letFlow(stops) {
    const { turn } = this;
    if (this.collected || !this.hasArguments) return;
    if (this.flow?.stops !== stops) {
      this.flow = { stops, pass: (text, start) => this.add(text, start, start + text.length) };
    }
    turn.flow = this.flow;
  }
  /** End the call; `complete` says whether it was read to its end. */
  end(complete = true, lateId = "") {
    const { turn } = this;
    if (!this.hasArguments) {
      turn.problem("no_arguments", "a call without arguments");
      this.argue("{}");
    }
    const call = this.current;
    const index = turn.calls.length - 1;
    call.arguments = turn.arguments?.text ?? "";
    turn.arguments = null;
    const flaw = findFlaw(call.arguments);
    if (flaw) turn.problem(...flaw);
    call.complete = complete && flaw?.[0] !== "not_json";
    const id = call.id ? "" : lateId || `${this.idPrefix}${index}`;
    call.id += id;
    const end = turn.offsetAt(turn.position);
    turn.events.push({ type: "tool_call_end", index, id, start: turn.told, end });
    turn.read = this.resume;
  }
  endOfText() {
    // Nothing waits for more, but for calls that may be none.
  }
  finish() {
    // Nothing is open, unless a reader of arguments says so.
  }
  forget() {
    const { turn } = this;
    turn.events = turn.events.filter(({ type }) => type === "content" || type === "reasoning");
    if (turn.held) {
      turn.held.events = turn.events.length;
      turn.held.problems = 0;
    }
    turn.problems.length = 0;
    turn.calls = this.isOpen ? turn.calls.slice(-1) : [];
    const [call] = turn.calls;
    if (!turn.arguments || !call) return;
    const text = turn.arguments.text;
    const at = turn.offsetAt(turn.position);
    const where = { index: 0, start: at, end: at };
    turn.events.push({ type: "tool_call_start", id: call.id, name: call.name, ...where });
    if (text) turn.events.push({ type: "tool_call_delta", arguments: text, ...where });
  }
}
