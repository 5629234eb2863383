/**
 * Calls written as other formats write them: as a JSON object, in tags, or as Python does.
 *
 * Many models have learned several. Such a call is read as a whole, when it ends.
 */
import { argumentsOf, callsOf } from "./format.js";
import { dumpJson, loadApart } from "./json_text.js";
import { isName, NOT_IN_NAMES } from "./markers.js";
import { LiteralReader } from "./python_literal.js";
import { asJson, jsonTypes } from "./schemas.js";
import { hasLetter, jsonString, trimmed, withoutHalves } from "./strings.js";
import { asSchema } from "./tools.js";
import { callEndRoles } from "./unclosed.js";
/** The keys that APIs and most formats have for them. */
const ARGUMENT_KEYS = ["arguments", "parameters"];
const TAG = /[ \t\n\r]*<([A-Za-z0-9_:-]+)(?: name)? ?= ?["']?([^<>"']{1,256})["']? ?>/.source;
const OPENING_TAG = new RegExp(TAG, "uy");
const TAGGED_ARGUMENT = new RegExp(`${TAG}\\n?([\\s\\S]*?)\\n?</\\1>`, "uy");
const CALLED = new RegExp(`[ \\t\\n\\r]*([^${NOT_IN_NAMES}]{1,256})[ \\t\\n\\r]*\\(`, "uy");
const CLOSING_TAG = /(?:[ \t\n\r]*<\/[A-Za-z0-9_:-]+>)?[ \t\n\r]*$/y;
/** Reads a call that is written in another syntax, where one of the format's own belongs. */
export class ForeignCall {
  calls;
  turn;
  end;
  pieces = [];
  constructor(calls) {
    this.calls = calls;
    this.turn = calls.turn;
    this.end = calls.compiled.markers(callEndRoles);
  }
  /** Begin at what opens the call. */
  begin(found) {
    const { turn } = this;
    turn.hold();
    turn.position = found.end;
    this.pieces = [];
    turn.read = this.readCall;
  }
  /** Read up to the end of the call. */
  readCall = () => {
    const { turn } = this;
    const found = this.nextEnd();
    const end = found ? found.start : turn.text.length;
    if (end > turn.position) this.pieces.push(turn.text.slice(turn.position, end));
    turn.position = end;
    if (!found?.role && !turn.final) return false;
    this.take();
    return true;
  };
  /** Return the next end, which isn't looked for again where none was found before. */
  nextEnd() {
    const { turn } = this;
    const { endless } = turn;
    const place = turn.place + turn.position;
    const isKnown = endless.start <= place && place <= endless.end;
    const start = isKnown ? endless.end - turn.place : turn.position;
    const found = this.end.search(turn, { start });
    if (turn.final && !found) return null; // an end that breaks off counts as none then
    if (!isKnown) endless.start = place;
    endless.end = turn.place + (found ? found.start : turn.text.length);
    return found;
  }
  take() {
    const { turn, calls } = this;
    const { held } = turn;
    if (!held) return;
    const text = this.pieces.join("");
    const found = callsIn(text, calls);
    if (found.length === 0) {
      const end = turn.goBack(held);
      calls.text.mentioned = true;
      calls.text.writeMention(end);
      turn.read = calls.text.readText;
      return;
    }
    turn.release();
    let start = held.offset;
    const end = turn.offsetAt(turn.position);
    for (const call of found) {
      calls.start(call.name, start, end);
      turn.problemAt(start, "other_syntax", call.told);
      calls.argue(call.arguments);
      calls.end();
      start = end;
    }
  }
}
/** Return the calls that a text is; none if it is something else. */
function callsIn(text, calls) {
  let found = objectsIn(text).map(fromObject);
  if (found.length === 0) found = [fromTags(text, calls)];
  if (!found.some(Boolean)) found = [fromKeywords(text)];
  const good = found.filter((call) => call && (isName(call.name) || calls.knows(call.name)));
  return good.length === found.length ? good : [];
}
/** Return the values in a text, in JSON or Python: alone, or in an array without brackets. */
function objectsIn(text) {
  const candidates = [trimmed(text), `[${trimmed(text)}]`];
  const literals = candidates.map((candidate) => LiteralReader.read(candidate)?.json ?? "");
  const values = [...candidates, ...literals].map(loadApart);
  const value = values.find((it) => it !== undefined);
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}
/**
 * Return the name and the arguments of a call that is a JSON object, null if it is none.
 *
 * What else that holds is told.
 */
function fromObject(object) {
  const inner = object instanceof Map ? object.get("function") : null;
  const members = inner instanceof Map ? inner : object;
  if (!(members instanceof Map)) return null;
  const name = members.get("name");
  if (typeof name !== "string" || !name) return null;
  const key = ARGUMENT_KEYS.find((key) => members.has(key));
  const value = key === undefined ? new Map() : (members.get(key) ?? null);
  const written = typeof value === "string" ? withoutHalves(value) : dumpJson(value);
  const known = ["name", key];
  const others = [...members].filter(([key]) => !known.includes(key));
  if (inner instanceof Map) {
    others.push(...[...object].filter(([key]) => key !== "function"));
  }
  const more = others.every(([, other]) => other === "function") ? "" : `: ${dumpJson(object)}`;
  return { told: `the call is a JSON object${more}`, name, arguments: written };
}
/** Return the name and the arguments of a call that is a tag with tags inside, or null. */
function fromTags(text, calls) {
  OPENING_TAG.lastIndex = 0;
  const head = OPENING_TAG.exec(text);
  if (!head) return null;
  const [, , name = ""] = head;
  const parameters = calls.tools?.get(name) ?? {};
  const properties = new Map(Object.entries(asSchema(parameters.properties) ?? {}));
  const members = [];
  let at = OPENING_TAG.lastIndex;
  for (;;) {
    TAGGED_ARGUMENT.lastIndex = at;
    const argument = TAGGED_ARGUMENT.exec(text);
    if (!argument) break;
    const [, , key = "", value = ""] = argument;
    at = TAGGED_ARGUMENT.lastIndex;
    const json = asJson(value, jsonTypes(properties.get(key), parameters), true);
    members.push(`${jsonString(key)}: ${json || jsonString(value)}`);
  }
  CLOSING_TAG.lastIndex = at;
  if (!CLOSING_TAG.test(text)) return null;
  return { told: "the call is tags", name, arguments: `{${members.join(", ")}}` };
}
/** Return the name and the arguments of a call with Python's keyword arguments, or null. */
function fromKeywords(text) {
  CALLED.lastIndex = 0;
  const [head, name = ""] = CALLED.exec(text) ?? [];
  const written = head === undefined ? null : LiteralReader.readKeywords(text.slice(head.length));
  return written ? { told: "the call has keyword arguments", name, arguments: written } : null;
}
/** Return what begins such a call: what opens the format's own, and then another one. */
export function foreignRoles(table) {
  const calls = callsOf(table);
  const { form } = argumentsOf(table);
  const openings = openingsOfOthers(calls);
  const isOwn = (calls.start ?? "").includes("(");
  const objects = calls.form === "heads" ? [' {{ "name"', ' {{ "function"'] : [" {{ '"];
  const heads = [
    ...objects.flatMap((text) => [text, ` [${text}`]),
    ...(form === "json" ? [" <{word}=", " <{word}name ="] : []),
  ];
  const isWord = hasLetter((openings[0] ?? "").charAt(0));
  const called = isOwn || isWord ? [] : [" {name} ( )", " {name} ({word}="];
  const begun = [
    ["foreign", heads],
    ["foreign_name", called],
  ];
  return openings.flatMap((opening) =>
    begun
      .filter(([, follows]) => follows.length > 0)
      .map(([role, follows]) => [role, [opening, follows]]),
  );
}
/**
 * Return behind what a call in another syntax may stand.
 *
 * Behind a word, as `to=`, it is code that a text speaks of.
 */
function openingsOfOthers({ start = "", opening = [] }) {
  const openings = opening.slice(-1).filter((text) => [...text].length > 2);
  const [tag] = /^<[^<>{} ]+>/.exec(start) ?? [];
  if (openings.length > 0) return tag === undefined ? openings : [...openings, tag];
  const [before = ""] = start.split("{name");
  const own = trimmed(before);
  return [...own].length > 2 && !hasLetter(own.charAt(0)) ? [own] : [];
}
