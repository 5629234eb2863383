/**
 * Calls written as JSON objects in a format whose calls are written otherwise.
 *
 * Many models have learned both. Such an object is read as a whole, when its call ends.
 */

import type { Calls } from "./calls.js";
import { callsOf, type Format } from "./format.js";
import { dumpJson, type Json, loadJson } from "./json_text.js";
import { type Found, isName, leadingText, type Markers, type Roles } from "./markers.js";
import { withRole } from "./text_markers.js";
import type { Read, Turn } from "./turn.js";
import { callEndRoles } from "./unclosed.js";

/** The keys that APIs and most formats have for them. */
const ARGUMENT_KEYS: readonly string[] = ["arguments", "parameters"];

/** Reads a JSON object with a name and arguments where another kind of call belongs. */
export class ForeignObject {
  private readonly calls: Calls;
  private readonly turn: Turn;
  private readonly end: Markers;
  private pieces: string[] = [];

  constructor(calls: Calls) {
    this.calls = calls;
    this.turn = calls.turn;
    this.end = calls.compiled.markers(callEndRoles);
  }

  /** Begin at what opens the call; the object stands behind it. */
  begin(found: Found): void {
    const { turn } = this;
    turn.hold();
    turn.position = found.end;
    this.pieces = [];
    turn.read = this.readObject;
  }

  /** Read up to the end of the call. */
  private readonly readObject: Read = () => {
    const { turn } = this;
    const found = this.end.search(turn);
    const end = found ? found.start : turn.text.length;
    this.pieces.push(turn.text.slice(turn.position, end));
    turn.position = end;
    if (!found?.role && !turn.final) return false;
    this.take();
    return true;
  };

  private take(): void {
    const { turn, calls } = this;
    const { held } = turn;
    if (!held) return;
    const call = asCall(this.pieces.join(""));
    if (!call || !(isName(call.name) || calls.knows(call.name))) {
      const end = turn.goBack(held);
      calls.text.mentioned = true;
      calls.text.write(end);
      turn.read = calls.text.readText;
      return;
    }
    turn.release();
    calls.start(call.name, held.offset, turn.offsetAt(turn.position));
    turn.problemAt(held.offset, "other_syntax", "the call is a JSON object");
    calls.argue(call.arguments);
    calls.end();
  }
}

/** Return the name and the arguments of a call that is a JSON object, null if it is none. */
function asCall(text: string): { readonly name: string; readonly arguments: string } | null {
  let members = loadJson(text);
  if (members instanceof Map && members.get("function") instanceof Map) {
    members = members.get("function");
  }
  if (!(members instanceof Map)) return null;
  const name = members.get("name");
  if (typeof name !== "string" || !name) return null;
  const key = ARGUMENT_KEYS.find((key) => (members as Map<string, Json>).has(key));
  const value: Json = key === undefined ? new Map() : (members.get(key) ?? null);
  return { name, arguments: typeof value === "string" ? value : dumpJson(value) };
}

/** Return what begins such a call: what opens the format's own, and then an object. */
export function foreignRoles(table: Format): Roles {
  const calls = callsOf(table);
  const openings = calls.opening?.length ? calls.opening : [leadingText(calls.start ?? "")];
  const heads = [' {{ "name"', ' {{ "function"'];
  const last = openings.slice(-1).filter((opening) => [...opening].length > 2);
  return withRole(
    "foreign",
    last.map((opening) => [opening, heads] as const),
  );
}
