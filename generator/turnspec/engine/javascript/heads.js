/** Calls with a head: a marker that holds the name, with the arguments behind it. */
import { Calls } from "./calls.js";
import { ForeignCall, foreignRoles } from "./foreign.js";
import { argumentsOf, callsOf } from "./format.js";
import { escaped, firstText, isName, leadingText, mentionRoles, spaced } from "./markers.js";
import { quoted, trimmed, trimmedEnd } from "./strings.js";
import { codeRoles, longestFirst, textRoles, withRole } from "./text_markers.js";
/** Those who talk in a conversation, in the words of chat-completions APIs. */
const PARTICIPANTS = ["assistant", "user", "system", "developer", "tool"];
/** Reads heads, and what stands around calls. */
export class HeadCalls extends Calls {
  table;
  section;
  /** Whether what stands around calls is open. */
  opened = false;
  argumentReader;
  foreign;
  code;
  constructor(text, options, parts) {
    super(text, options);
    text.attach(this, headTextRoles, begunRoles);
    this.table = this.compiled.calls;
    const behind = [this.table.tail ?? "", ...(this.table.closing?.slice(0, 1) ?? [])];
    this.hasLateIds = behind.some((notation) => notation.includes("{id}"));
    this.section = this.compiled.markers(sectionRoles);
    this.argumentReader = parts.arguments(this);
    this.foreign = new ForeignCall(this);
    this.code = parts.code?.(this, this.argumentReader) ?? null;
    if (this.table.only_in_section) this.resume = this.readSection;
  }
  /** Say whether a head is none: it lacks its opening, or all but its name, that no tool has. */
  isText(found) {
    if (found.role === "opening" && !this.table.mentions?.length) {
      // A mere bracket opens calls of known tools alone.
      const head = this.section.match(this.turn, { start: found.end });
      return !!this.tools && !!head && !this.knows(head.slot("name"));
    }
    if (found.role === "unnamed") {
      this.turn.problem("no_name", "what looks like a call has no name");
      this.text.mentioned = true;
      return true;
    }
    if (found.role === "name_alone") return !this.knows(found.slot("name"));
    const isHead = found.role === "call" || found.role === "short_call";
    if (!isHead || this.opened || !this.table.needs_opening) return false;
    return !!this.tools?.size && !this.knows(found.slot("name"));
  }
  /** Do what a head, or a marker around calls, asks for. */
  passMarker(found) {
    const { turn } = this;
    switch (found.role) {
      case "opening":
      case "noisy_opening":
        this.opened = true;
        turn.read = this.resume;
        this.tellOpening(found);
        break;
      case "call":
      case "other_call":
      case "short_call":
        this.passHead(found);
        break;
      case "foreign":
      case "foreign_name":
        this.opened = true;
        this.foreign.begin(found);
        break;
      case "closed_call":
      case "name_alone":
        this.startAt(found);
        turn.position = found.end;
        this.end(found.role === "closed_call");
        break;
      case "call_end":
        if (this.called && this.text.afterMarker) break;
        turn.problem("stray_marker", `${quoted(found.text)} without a call`);
        break;
      case "section_end":
        if (!this.opened) turn.problem("stray_marker", `${quoted(found.text)} was not opened`);
        this.opened = false;
        break;
      case "code":
        if (this.code) turn.read = this.code.readCodeStart;
    }
  }
  passHead(found) {
    if (this.addressesNobody(found)) {
      this.turn.problem("stray_marker", `${quoted(found.text)} addresses no tool`);
      this.text.beginContent();
    } else {
      this.argumentReader.begin(found);
    }
  }
  /** Say whether what would be a call is addressed to someone in the conversation. */
  addressesNobody(found) {
    const name = found.slot("name");
    const { words, table } = this.compiled;
    const isWord = !!table.content?.addressed && words.has(name);
    const isOther = PARTICIPANTS.includes(name) || isWord;
    return found.missing.length > 0 && isOther && !this.knows(name);
  }
  /**
   * Say whether a message's header names no tool, but someone who talks, or else another word.
   *
   * The format's own word for calls is none, and no name space of tools.
   */
  isNoTool(given) {
    const name = this.saidOnce(given);
    if (this.knows(name)) return false;
    if (!this.tools || PARTICIPANTS.includes(name)) return PARTICIPANTS.includes(name);
    const isSpace = Array.from(this.tools.keys()).some((tool) => tool.startsWith(`${name}.`));
    return !isSpace && !this.table.start?.includes(`<${name}>`);
  }
  /** Return a name; of one that is said twice, as its own name space, the tool that it is. */
  saidOnce(name) {
    const half = name.slice(0, name.length >> 1);
    const isTwice = name === `${half}.${half}` && !this.knows(name);
    return isTwice && this.knows(half) ? half : name;
  }
  /** Return the tool whose name stands last in an id, the longest of several; else the id. */
  toolIn(id) {
    let [tool, end] = [id, 0];
    for (const name of this.tools?.keys() ?? []) {
      const word = "[\\p{L}\\p{N}_]";
      const stands = new RegExp(`^.*(?<!${word})${escaped(name)}(?!${word})`, "su");
      const found = stands.exec(id)?.[0].length ?? 0;
      if (found > end || (found === end && found && name.length > tool.length)) {
        [tool, end] = [name, found];
      }
    }
    return tool;
  }
  tellOpening(found) {
    for (const text of found.missing) {
      this.turn.problem("missing_marker", `${quoted(text)} is missing`);
    }
    if (found.role === "noisy_opening") {
      this.turn.problem("unexpected_text", `before a call: ${quoted(trimmed(found.text))}`);
    }
  }
  /** Read the next call of a section, or its end. */
  readSection = () => {
    const { turn } = this;
    const found = this.section.match(turn);
    if (!found && turn.final && trimmed(turn.text.slice(turn.position))) {
      const begun = this.section.match(turn, { final: false });
      if (begun && !begun.role) {
        turn.problem("cut_off", begun.text);
        turn.position = turn.text.length;
        return false;
      }
    }
    if (found && !found.role) return false;
    turn.read = this.text.readText;
    if (found) {
      this.passMarker(found);
      turn.position = found.end;
    }
    return true;
  };
  /** Start the call of a head, and tell what the head lacks. */
  startAt(found, lateName = "", lateId = "") {
    const { turn } = this;
    if (found.role !== "other_call" && this.table.needs_opening && !this.opened) {
      const message = `a call without ${this.table.opening?.[0]} before it`;
      turn.problem("missing_marker", message);
    }
    this.opened = true;
    let name = lateName || found.slot("name");
    const again = found.slot("name_again");
    if (again && again !== name) {
      turn.problem("repeated", `${quoted(name)}, and then ${quoted(again)}`);
      if (isName(again) && (this.knows(again) || !this.knows(name))) name = again;
    }
    const tool = this.compiled.table.content?.addressed ? this.saidOnce(name) : name;
    if (tool !== name) turn.problem("repeated", `${quoted(name)} is the tool ${quoted(tool)}`);
    name = this.table.named_by_id ? this.toolIn(tool) : tool;
    const id = lateId || found.slot("id") || (name === tool ? "" : tool);
    this.start(name, turn.offsetAt(found.start), turn.offsetAt(found.end), id);
    for (const text of found.missing) {
      turn.problem("missing_marker", `${quoted(text)} is missing`);
    }
  }
  /** End a call that is cut off. */
  finish() {
    this.argumentReader.finish();
  }
}
/** Return the markers in texts whose calls have heads. */
export function headTextRoles(table) {
  const calls = callsOf(table);
  const { opening: openings = [], section_end = [] } = calls;
  const heads = headsOf(table);
  const others = foreignRoles(table);
  const inner = others
    .map(([, other]) => other)
    .filter((other) => !openings.includes(other[0] ?? ""));
  const found = [...textRoles(table)];
  for (const [at, opening] of openings.entries()) {
    const following = [...openings.slice(at + 1), ...heads.map(([, head]) => head), ...inner];
    const ends = at ? [] : section_end;
    const follows = [...following, ...ends].map((notation) => spaced(notation));
    found.push([at ? "inner_opening" : "opening", [opening, follows]]);
    if (!at && !calls.only_in_section) {
      found.push(["noisy_opening", [`${opening}{noise}`, following]]);
    }
  }
  if (!calls.only_in_section) found.push(...heads, ...brokenHeads(table));
  found.push(
    ...others,
    ...mentionRoles(calls.mentions ?? []),
    ...withRole("section_end", section_end),
    ...withRole("call_end", calls.end),
  );
  return [...longestFirst(found), ...codeRoles(table)];
}
/** Return heads that have no name where it belongs, or nothing else behind it. */
function brokenHeads(table) {
  const { start = "", opening } = callsOf(table);
  const at = start.indexOf("{name}");
  const [before, behind] = [start.slice(0, at), start.slice(at + "{name}".length)];
  if (at < 0 || leadingText(before).length < 3) return [];
  const ends = table.turn_end.map((end) => spaced(end));
  return [
    ["unnamed", withFollows(table, `${before}{not a name}${behind}`)],
    ...(opening?.length ? [] : [["name_alone", [`${before}{name}`, ends]]]),
  ];
}
/** Return the markers that a text can break off in: noise is text, and so is another word. */
export function begunRoles(table) {
  const words = ["noisy_opening", "foreign_name", "unnamed"];
  return headTextRoles(table).filter(([role]) => !words.includes(role));
}
/** Return what may stand in a section, between calls. */
export function sectionRoles(table) {
  const { section_closing = [], section_end = [] } = callsOf(table);
  return [
    ...headsOf(table).map(([role, head]) => [role, spaced(head, "{comma}")]),
    ...withRole(
      "section_end",
      [...section_closing, ...section_end].map((end) => ` ${end}`),
    ),
  ];
}
/** Return the heads of calls; one that ends in a slot with what may follow. */
function headsOf(table) {
  const { start = "", other_starts, short_starts } = callsOf(table);
  const isClosable = argumentsOf(table).form === "text" && start.endsWith('">');
  const heads = [
    ["call", start],
    ...(other_starts ?? []).map((head) => ["other_call", head]),
    ...(isClosable ? [["closed_call", `${start.slice(0, -1)}/>`]] : []),
    ...(short_starts ?? []).map((head) => ["short_call", head]),
  ];
  return heads.map(([role, head]) => [role, withFollows(table, head)]);
}
/** Return a head; one that ends in a slot with what may follow. */
function withFollows(table, head) {
  if (!trimmedEnd(head).endsWith("}")) return head;
  const follows = behindName(table).filter((text) => text);
  return [head, follows.map((text) => spaced(text))];
}
/** Return what may stand behind a name that no text closes. */
function behindName(table) {
  const { form, start = "", empty = "" } = argumentsOf(table);
  const calls = callsOf(table);
  const closing = calls.closing ?? [];
  if (form === "json") return ["{{", '"{{', ...closing.slice(0, 1)];
  const behind = closing.length
    ? closing
    : [...(calls.section_end?.slice(0, 1) ?? []), firstText(calls.start ?? "")];
  const argument = start.startsWith("{key") ? start : firstText(start);
  return [argument, "{{", empty, ...behind];
}
