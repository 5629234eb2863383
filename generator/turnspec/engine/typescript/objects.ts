/** Calls that are JSON objects, with the name and the arguments as members. */

import { ArgumentsValue, asObject, deviation } from "./arguments_value.js";
import { type CallOptions, Calls, type CodeReader } from "./calls.js";
import { ForeignCall, foreignRoles } from "./foreign.js";
import { type CallsFormat, callsOf, type Format } from "./format.js";
import { asString } from "./json_text.js";
import {
  type Found,
  isName,
  type Markers,
  mentionRoles,
  type Notation,
  type Roles,
  spaced,
} from "./markers.js";
import { quoted, spaceBefore, trimmed } from "./strings.js";
import type { Text } from "./text.js";
import { codeRoles, longestFirst, textRoles, withRole } from "./text_markers.js";
import type { Read } from "./turn.js";
import type { ValueMaker } from "./value.js";

/** The member in which chat-completions APIs have name and arguments. */
const WRAPPER = "function";
/** What other members hold in any format, as JSON; or a number. */
const USUAL_VALUES: readonly string[] = ["", '""', '"function"', "null"];
const DIGITS = /\p{Nd}/gu;
/** What members mean in those APIs, and in JSON Schema, where a format has other keys for them. */
const USUAL_KEYS: ReadonlyMap<string, string> = new Map([
  ["name", "name"],
  ["arguments", "arguments"],
  ["parameters", "arguments"],
]);

/** The parts that read what is in objects, and what isn't one. */
export interface ObjectParts {
  readonly value: ValueMaker;
  readonly code?: (calls: Calls) => CodeReader;
}

/** Reads calls that are JSON objects. Until one has a name, it may still be content. */
export class ObjectCalls extends Calls {
  private readonly code: CodeReader | null;
  private readonly foreign: ForeignCall;
  private readonly table: CallsFormat;
  private keys: Readonly<Record<string, string>>;
  private readonly between: Markers;
  private readonly members: Markers;
  private readonly value: ArgumentsValue;
  /** Whether a marker stands before an object that needs none. */
  private announced = false;
  /** Of objects around the members. */
  private depth = 0;
  /** Of the member that is being read. */
  private key = "";
  private id = "";
  /** Arguments that came before the name. */
  private early = "";
  /** An object that may be the arguments, under another key. */
  private spare = "";

  constructor(text: Text, options: CallOptions, parts: ObjectParts) {
    super(text, options);
    text.attach(this, objectTextRoles, begunObjectRoles);
    this.code = parts.code?.(this) ?? null;
    this.foreign = new ForeignCall(this);
    this.table = this.compiled.calls;
    this.keys = this.table.members ?? {};
    this.between = this.compiled.markers(betweenRoles);
    this.members = this.compiled.markers(memberRoles);
    this.value = new ArgumentsValue(this, parts.value(this.turn, this.compiled));
    this.hasLateIds = "id" in this.keys;
    this.resume = this.readBetween;
  }

  /** A turn may begin with a call that nothing announces, whatever its name. */
  override get first(): Read {
    return this.table.bare && !this.text.thinking ? this.readBetween : this.text.readText;
  }

  /** Say whether an object is no call: without tools nothing tells. */
  override isText(found: Found): boolean {
    return found.role === "object" && !this.tools?.size;
  }

  /** Do what a marker around calls asks for. */
  override passMarker(found: Found): void {
    const { turn } = this;
    if (found.role === "opening" || found.role === "object") {
      this.announced = found.role === "opening";
      turn.hold();
      turn.read = this.readBetween;
    } else if (found.role === "foreign" || found.role === "foreign_name") {
      this.foreign.begin(found);
    } else if (found.role === "code" && this.code) {
      turn.read = this.code.readCodeStart;
    } else if (found.role === "call_end" && !(this.called && this.text.afterMarker)) {
      turn.problem("stray_marker", `${quoted(found.text)} without a call`);
    }
  }

  /** Read what stands between calls: the beginning of one, or what closes them. */
  private readonly readBetween: Read = () => {
    const { turn } = this;
    const found = this.between.match(turn);
    const begun = this.called || turn.held; // else a bracket closes nothing
    if (!found || (found.role === "array_end" && !begun)) {
      this.giveUp();
      turn.read = this.text.readText;
      return true;
    }
    if (!found.role) return false;
    if (found.role === "object") {
      this.beginObject(found);
    } else if (found.role === "brackets") {
      turn.problem("stray_marker", `${quoted(trimmed(found.text))} after a call`);
    }
    turn.position = found.end;
    return true;
  };

  private beginObject(found: Found): void {
    const { turn } = this;
    if (!turn.held) turn.hold();
    this.depth = 0;
    this.keys = this.table.members ?? {};
    this.key = this.id = this.early = this.spare = "";
    const inArray = found.text.includes("[");
    if (this.table.in_array && !this.called && !inArray) {
      turn.problem("array", "a call outside an array");
    } else if (inArray && !this.table.in_array) {
      turn.problem("array", "calls in an array");
    }
    turn.read = this.readMember;
  }

  /** Read a member of a call, in any order, up to its value; or the end of the call. */
  private readonly readMember: Read = () => {
    const { turn } = this;
    turn.position += spaceBefore(turn.text, turn.position);
    const found = this.members.match(turn);
    if (!found) return this.breakOff();
    if (!found.role) return false;
    turn.position = found.end;
    if (found.role === "wrapper" && this.nameIsKey && this.knows(WRAPPER)) {
      turn.position -= 1; // a tool is called so, and its arguments follow
      this.beginMember(WRAPPER);
    } else if (found.role === "wrapper") {
      this.depth += 1;
      if (!this.table.other_members?.includes(WRAPPER)) {
        turn.problem("wrapper", "the call is inside another object");
      }
    } else if (found.role === "member") {
      this.beginMember(found.slot("string") || found.slot("key"));
    } else if (this.depth > 0) {
      this.depth -= 1;
    } else if (this.isOpen) {
      this.endObject();
    } else {
      this.giveUp();
    }
    return true;
  };

  /** Whether the one key of a call is its name. */
  private get nameIsKey(): boolean {
    return Object.keys(this.keys).length === 0;
  }

  private beginMember(written: string): void {
    const key = this.ownKey(written);
    this.key = key;
    this.turn.read = this.readValue;
    if (this.nameIsKey) {
      this.value.begin();
      this.commit(key);
      return;
    }
    const isAwaited = this.isOpen && key === this.keys.arguments && !this.hasArguments;
    this.value.begin({ collect: !isAwaited });
  }

  /** Return the format's own key for one; what is none of its own may be a usual one. */
  private ownKey(key: string): string {
    const own = [...Object.values(this.keys), ...(this.table.other_members ?? [])];
    const role = own.includes(key) ? "" : (USUAL_KEYS.get(key) ?? "");
    if (this.nameIsKey && role === "name" && !this.knows(key)) {
      this.keys = { name: "name", arguments: "arguments" };
    } else if (!Object.hasOwn(this.keys, role)) {
      return key;
    }
    this.turn.problem("other_syntax", `${quoted(key)} is no member of the format's calls`);
    return this.keys[role] ?? key;
  }

  /** Read a member's value; the arguments of a call with a name pass through. */
  private readonly readValue: Read = () => {
    if (!this.value.read()) return false;
    this.turn.read = this.readMember;
    this.takeMember(this.value.collected ?? "");
    if (!this.value.complete && this.turn.read === this.readMember) this.breakOff(false);
    return true;
  };

  /** Take what didn't pass through: JSON text. */
  private takeMember(text: string): void {
    const { turn, key, keys } = this;
    const others = this.table.other_members ?? [];
    if (!text) {
      const isExtra = !(Object.values(keys).includes(key) || others.includes(key));
      if (isExtra && !this.nameIsKey) turn.problem("malformed", `no value after ${quoted(key)}`);
      return;
    }
    const name = asString(text);
    const isName = text.startsWith('"') || this.knows(name);
    if (this.nameIsKey) {
      turn.problem(...deviation(text));
      this.argue(asObject(text));
    } else if (key === keys.name && !this.isOpen && name && isName) {
      this.commit(trimmed(name));
    } else if (key === keys.arguments && !(this.hasArguments || this.early)) {
      if (!text.startsWith("{")) turn.problem(...deviation(text));
      if (this.isOpen) this.argue(asObject(text));
      else this.early = asObject(text);
    } else if (key === keys.id && !this.id) {
      this.id = name;
    } else if (!(others.includes(key) && this.saysNothing(text))) {
      turn.problem("extra_field", `${quoted(key)}: ${text}`);
      this.spare ||= text.startsWith("{") ? text : "";
    }
  }

  /** Say whether a member's value is a number, maybe in a word, or the word for a call's type. */
  private saysNothing(text: string): boolean {
    const usual = [...USUAL_VALUES, ...(this.table.other_values ?? [])];
    return usual.includes(text.replace(DIGITS, ""));
  }

  /** The name is known: what was held is a call. */
  private commit(name: string): void {
    const { turn, tools } = this;
    const isExpected = this.called || this.announced || !this.table.bare;
    const isKnown = this.knows(name);
    const isNone = !(isKnown || isName(name)) || !(isKnown || isExpected || tools === null);
    if (isNone && turn.held) {
      this.giveUp();
      return;
    }
    if (this.isOpen) {
      this.end();
      turn.read = this.readValue;
    }
    const at = turn.offsetAt(turn.position);
    const start = turn.held?.offset ?? at;
    turn.release();
    this.text.afterMarker = true;
    this.announced = false; // of those that follow
    this.start(name, start, at, this.id);
    if (this.early && Object.keys(this.keys)[0] !== "arguments") {
      turn.problem("order", "the arguments stand before the name");
    }
    this.argue(this.early);
  }

  private endObject(complete = true): void {
    if (!this.hasArguments) this.argue(this.spare);
    this.end(complete, this.id);
  }

  /** There is no name: what was held is content. */
  private giveUp(): void {
    const { turn } = this;
    if (!turn.held) return;
    const { bare } = this.table;
    const at = turn.offsetAt(turn.position);
    const end = turn.goBack(turn.held);
    if (this.announced || !bare) {
      turn.problemAt(at, "no_name", "what looks like a call has no name");
    }
    this.text.mentioned ||= this.announced;
    this.announced = false;
    this.text.writeMention(end, true);
    turn.read = this.text.readText;
  }

  /** End a call whose object doesn't go on as one. */
  private breakOff(complete = true): boolean {
    if (this.isOpen && this.turn.final) return false;
    if (this.isOpen) {
      this.turn.problem("malformed", "the call's object is not closed");
      this.endObject(complete);
    } else {
      const { turn } = this;
      const end = turn.position + spaceBefore(turn.text, turn.position);
      if (turn.final && end === turn.text.length) this.endOfText();
      this.giveUp();
    }
    return true;
  }

  /** All text has come: what began as a call and has no name is no content. */
  override endOfText(): void {
    const { turn } = this;
    const isNamed = this.key === (this.keys.name ?? "");
    const isSure = !this.table.bare || this.called || this.announced || isNamed;
    if (turn.held && isSure && turn.read !== this.foreign.readCall) {
      turn.goBack(turn.held);
      turn.problem("cut_off", turn.text.slice(turn.position));
      turn.position = turn.text.length;
      turn.read = this.text.readRest;
    }
  }

  /** End a call that is cut off, or take it for content. */
  override finish(): void {
    const { turn } = this;
    if (turn.held) {
      this.giveUp();
      const events = turn.feed("");
      turn.events.unshift(...events);
    }
    if (this.isOpen) {
      const waiting = turn.read === this.readValue ? this.value.waiting : "";
      const rest = waiting + turn.text.slice(turn.position);
      turn.cutOff(rest);
      if (turn.read === this.readValue) {
        this.value.close();
        this.takeMember(this.value.collected ?? "");
      }
      this.endObject(false);
    }
  }
}

/** Return the markers in texts whose calls are objects. */
export function objectTextRoles(table: Format): Roles {
  const calls = callsOf(table);
  const { opening: openings = [], other_openings = [] } = calls;
  const heads = calls.bare ? objectHeads(calls) : [];
  const follows: readonly Notation[] = heads.length
    ? heads.map((head) => spaced(head))
    : [" {fence} {?[} {{", ...openings.slice(1).map((opening) => spaced(opening))];
  const found: Roles = [
    ...textRoles(table),
    ...foreignRoles(table),
    ...[...openings.slice(0, 1), ...other_openings].map(
      (opening) => ["opening", [opening, follows]] as const,
    ),
    ...mentionRoles(calls.mentions ?? []),
    ...withRole("object", heads.length && calls.members ? [["", heads]] : []),
    ...withRole("call_end", calls.end),
  ];
  return [...longestFirst(found), ...codeRoles(table)];
}

/** Return the markers that a text can break off in: a word is text. */
export function begunObjectRoles(table: Format): Roles {
  return objectTextRoles(table).filter(([role]) => role !== "foreign_name");
}

/** Return how a call begins that nothing announces: with one of the keys that it can have. */
function objectHeads({ members = {}, other_members = [] }: CallsFormat): string[] {
  const keys = new Set([...Object.values(members), ...other_members, WRAPPER]);
  const heads = Array.from(keys, (key) => `{{ "${key}"`);
  if ("name" in members) heads.push(`{{ '${members.name}'`); // as Python writes it
  return [...heads, ...heads.map((head) => `[ ${head}`)];
}

/** Return what may stand between calls. */
export function betweenRoles(table: Format): Roles {
  const calls = callsOf(table);
  const closing = (calls.closing ?? []).map((notation) => spaced(notation));
  const inner = [...(calls.opening ?? []).slice(1), ...(calls.separators ?? [])];
  return [
    ["object", "{comma}{fence} {?[} {{"],
    ["array_end", " ]"],
    ...withRole(
      "inner_opening",
      inner.map((text) => spaced(text)),
    ),
    ...withRole("brackets", closing.length ? [["{brackets}", closing]] : []),
    ...withRole("closing", closing),
  ];
}

/** Return what a call's object consists of. */
export function memberRoles(): Roles {
  return [
    ["wrapper", `{comma}"${WRAPPER}" : {{`],
    ["member", '{comma}"{string}" :'],
    ["member", "{comma}'{key}' :"],
    ["end", "{comma}}}"],
  ];
}
