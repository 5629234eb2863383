/** Tool calls: what is known of each of them, and of the tools. */

import type { CompiledFormat } from "./format.js";
import { findFlaw } from "./json_text.js";
import type { Found } from "./markers.js";
import type { Schema, Tool } from "./options.js";
import type { ParserEvent, ToolCall } from "./results.js";
import { GrowingText, quoted } from "./strings.js";
import type { CallReader, Text } from "./text.js";
import { parametersByName } from "./tools.js";
import type { Flow, Read, Turn } from "./turn.js";

/** The part that reads what stands behind a head, and ends the call. */
export interface ArgumentReader {
  /** Start the call of a head, and read on. */
  begin(found: Found): void;
  /** Read the arguments of a call that is started already. */
  goOn(): void;
  /** End a call that the end of the text cuts off. */
  finish(): void;
}

/** The part that reads calls that are code. */
export interface CodeReader {
  /** Read on behind what announces code. */
  readonly readCodeStart: Read;
}

/** What calls are read for. */
export interface CallOptions {
  readonly tools: readonly Tool[] | null;
  readonly idPrefix: string;
}

/** The calls of a turn, which those who read them start, add to and end. */
export abstract class Calls implements CallReader {
  readonly text: Text;
  readonly turn: Turn;
  readonly compiled: CompiledFormat;
  /** The schemas of the tools' arguments by the tools' names. */
  readonly tools: ReadonlyMap<string, Schema> | null;
  called = false;
  /** What reads on behind a call. */
  resume: Read;
  /** Of the arguments, until more of them has come. */
  collected: string[] | null = null;
  /** Whether an id may stand behind the name. */
  protected hasLateIds = false;
  private readonly idPrefix: string;
  /** Of the arguments' text. */
  private flow: Flow | null = null;

  constructor(text: Text, { tools, idPrefix }: CallOptions) {
    this.text = text;
    this.turn = text.turn;
    this.compiled = text.compiled;
    this.tools = tools === null ? null : parametersByName(tools);
    this.idPrefix = idPrefix;
    this.resume = text.readText;
  }

  abstract isText(found: Found): boolean;
  abstract passMarker(found: Found): void;

  get first(): Read {
    return this.text.readText;
  }

  /** Whether a call is being read. */
  get isOpen(): boolean {
    return this.turn.arguments !== null;
  }

  /** Whether the call that is being read has arguments. */
  get hasArguments(): boolean {
    return this.turn.arguments?.isEmpty === false;
  }

  /** The call that is being read. */
  get current(): ToolCall {
    const call = this.turn.calls.at(-1);
    if (!call) throw new TypeError("no call is being read");
    return call;
  }

  /** The schema of the arguments of the call that is being read. */
  get parameters(): Schema {
    return this.tools?.get(this.current.name) ?? {};
  }

  /** Say whether there is a tool of this name. */
  knows(name: string): boolean {
    return this.tools?.has(name) ?? false;
  }

  /** Begin a call; what says so stands from one offset to the other. */
  start(name: string, start: number, end: number, id = ""): void {
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
  argue(text: string): void {
    const { turn } = this;
    if (this.collected) {
      this.collected.push(text);
      return;
    }
    if (!text || !turn.arguments) return;
    turn.events.push(this.add(text, turn.told, turn.offsetAt(turn.position)));
  }

  private add(text: string, start: number, end: number): ParserEvent {
    const { turn } = this;
    turn.arguments?.add(text);
    turn.told = end;
    return { type: "tool_call_delta", index: turn.calls.length - 1, arguments: text, start, end };
  }

  /** Let text be a part of the arguments up to one of some characters, as it is. */
  letFlow(stops: RegExp): void {
    const { turn } = this;
    if (this.collected || !this.hasArguments) return;
    if (this.flow?.stops !== stops) {
      this.flow = { stops, pass: (text, start) => this.add(text, start, start + text.length) };
    }
    turn.flow = this.flow;
  }

  /** End the call; `complete` says whether it was read to its end. */
  end(complete = true, lateId = ""): void {
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

  endOfText(): void {
    // Nothing waits for more, but for calls that may be none.
  }

  finish(): void {
    // Nothing is open, unless a reader of arguments says so.
  }

  forget(): void {
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
