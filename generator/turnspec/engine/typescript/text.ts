/** Reasoning and content: all text that is no marker, and the markers around it. */

import type { CompiledFormat, ReasoningFormat, RolesOf } from "./format.js";
import type { Found, Markers } from "./markers.js";
import { Stream } from "./stream.js";
import { codePoints, quoted, spaceBefore, trimmed, widthAt, withoutSpace } from "./strings.js";
import {
  behindCallRoles,
  endRoles,
  headerRoles,
  leadRoles,
  openingRoles,
  textRoles,
} from "./text_markers.js";
import type { Read, Turn } from "./turn.js";

/** The roles of markers with which calls begin. */
const DRAFTED: readonly string[] = [
  "opening",
  "noisy_opening",
  "call",
  "other_call",
  "short_call",
  "closed_call",
  "name_alone",
  "foreign",
  "foreign_name",
];

/** The roles of markers that have to do with no call. */
const OF_TURN: readonly string[] = [
  ...["turn_start", "turn_end", "repeated", "between"],
  ...["reasoning_start", "reasoning_end", "content_start", "content_end"],
];
/** Roles of what may yet be the beginning of another marker, where the text ends in that. */
const UNSURE = ["mention", "turn_start", "content_start"];

/** The part that reads calls, as those know it that a format without calls has as well. */
export interface CallReader {
  /** Whether there was a call, if only in the prefill. */
  readonly called: boolean;
  /** What reads on at the beginning of a turn. */
  readonly first: Read;
  /** Say whether there is a tool of that name. */
  knows(name: string): boolean;
  /** Say whether a message's header names no tool. */
  isNoTool?(name: string): boolean;
  /** Say whether what looks like a marker of calls is text. */
  isText(found: Found): boolean;
  /** Do what a marker of calls asks for. */
  passMarker(found: Found): void;
  /** Leave out the calls that the prompt holds, but for one that the model continues. */
  forget(): void;
  /** All text has come: settle what waits for more. */
  endOfText(): void;
  /** End a call that is cut off. */
  finish(): void;
}

/** How the text of a turn is read. */
export interface TextOptions {
  /** Whether reasoning stays in the content. */
  readonly inline: boolean;
  /** Text before this offset is left out. */
  readonly shown: number;
}

/** How often text may be read once more as what may be a draft. */
const MOST_READINGS = 64;
/** How much white space may stand before the text that a marker is a part of. */
const MOST_SPACE = 99;

/** Reads reasoning and content up to the markers of other parts. */
export class Text {
  readonly turn: Turn;
  readonly compiled: CompiledFormat;
  thinking: boolean;
  /** Where a call begins, in the turn's text, that may be a draft: what follows it decides. */
  draftStart: number | null = null;
  /** Whether all this is a draft, and the offset at which something else than a call follows. */
  isDraft = false;
  draftEnd: number | null = null;
  /** Up to which offset drafts were read, and how many began before that, one after the other. */
  readTo = Number.NEGATIVE_INFINITY;
  private readings = 0;
  /** With nothing but white space since. */
  afterMarker = true;
  /** Whether text holds an opening marker of calls. */
  mentioned = false;
  /** Whether the message is for the user by its header: then it holds no call to its end. */
  private isContent = false;
  private calls: CallReader | null = null;
  private readonly inline: boolean;
  private readonly content: Stream;
  private readonly reasoning: Stream;
  private readonly marks: ReasoningFormat;
  private readonly mayStayOpen: boolean;
  /** Whether a call in open reasoning may be a draft, which what follows it decides. */
  private readonly mayDraft: boolean;
  /** How much of the content's white space stands before the last marker. */
  private spaces = 0;
  /** The role of the last marker. */
  private last = "";
  /** Whether content holds an opening marker of reasoning. */
  private quotesReasoning = false;
  /** What follows the end of the turn. */
  private rest: string[] = [];
  private readonly contentLast: boolean;
  private readonly endsTurn: boolean;
  private readonly endsContent: boolean;
  private markers: Markers;
  private begun: RolesOf = textRoles;
  private readonly openings: Markers;
  private readonly behindCall: Markers;
  private readonly leads: Markers;
  private readonly headers: Markers;
  private readonly ends: Markers;

  constructor(turn: Turn, compiled: CompiledFormat, { inline, shown }: TextOptions) {
    const { table } = compiled;
    this.turn = turn;
    this.compiled = compiled;
    this.inline = inline && compiled.table.reasoning !== undefined;
    this.content = new Stream(turn, "content", shown);
    this.reasoning = inline ? this.content : new Stream(turn, "reasoning", shown);
    this.marks = table.reasoning ?? {};
    this.thinking = this.marks.starts_open ?? false;
    this.mayStayOpen = this.marks.may_stay_open ?? false;
    const ends = this.marks.end ?? [];
    this.mayDraft = ends.length > 0 && !this.mayStayOpen;
    const callsAt = table.order.indexOf("calls");
    this.contentLast = callsAt >= 0 && table.order.includes("content", callsAt);
    this.endsTurn = ends.some((end) => compiled.ownEnds.includes(end));
    this.endsContent = ends.some((end) => table.content?.end?.includes(end));
    this.markers = compiled.markers(textRoles);
    this.openings = compiled.markers(openingRoles);
    this.behindCall = compiled.markers(behindCallRoles);
    this.leads = compiled.markers(leadRoles);
    this.headers = compiled.markers(headerRoles);
    this.ends = compiled.markers(endRoles);
  }

  /**
   * Have calls read by another part.
   *
   * `roles` gives all that ends text, `begun` what a text can break off in.
   */
  attach(calls: CallReader, roles: RolesOf, begun: RolesOf): void {
    this.calls = calls;
    this.markers = this.compiled.markers(roles);
    this.begun = begun;
  }

  /** Whether there was a call. */
  private get called(): boolean {
    return this.calls?.called ?? false;
  }

  /** Read text up to a marker, and do what the marker asks for. */
  readonly readText: Read = () => {
    const { turn } = this;
    if (this.draftEnd !== null) return false;
    if (this.afterMarker && this.called && !this.last.endsWith("_start")) {
      const start = turn.position + spaceBefore(turn.text, turn.position);
      const isThere = start < turn.text.length || turn.final;
      const noise = isThere ? this.behindCall.match(turn, { start }) : null;
      if (noise && noise.role !== "marker") {
        this.write(start);
        return this.passNoise(noise);
      }
    }
    const hasLeads = this.isFirst && !!this.compiled.table.content?.lead;
    if (hasLeads) this.write(turn.position + spaceBefore(turn.text, turn.position));
    const lead = hasLeads ? this.leads.match(turn) : null;
    const isAddressed = lead && this.compiled.table.content?.addressed;
    const begun = isAddressed ? this.markers.match(turn) : null; // a call may have no other header
    if (begun && !begun.role) return false;
    if (lead && !begun) {
      if (lead.role) {
        turn.position = lead.end;
        this.beginContent();
      }
      this.afterMarker = !lead.role;
      return !!lead.role;
    }
    let found = this.markers.search(turn);
    if (turn.final && (!found || UNSURE.includes(found.role)) && this.breaksOff()) return false;
    this.write(found ? found.start : turn.text.length);
    if (!found && !turn.final && !this.afterMarker && this.draftEnd === null) {
      turn.flow = (this.thinking ? this.reasoning : this.content).flow(this.markers.firstOr(""));
    }
    if (!found?.role || this.draftEnd !== null) return false;
    const isWithin = this.isWithinText(found);
    if (isWithin === null) return false;
    if (isWithin) {
      turn.problem("stray_marker", `${quoted(found.text)} is text here`);
      this.write(found.end);
      return true;
    }
    found = this.headerIn(found);
    if (this.isText(found)) {
      // An object's beginning has no length.
      this.writeMention(Math.max(found.end, found.start + widthAt(turn.text, found.start)));
    } else if (this.mayDraft && this.thinking && DRAFTED.includes(found.role)) {
      const isAgain = turn.offsetAt(found.start) < this.readTo;
      this.readings = isAgain ? this.readings + 1 : 0;
      if (this.readings > MOST_READINGS) {
        turn.problem("draft", `${quoted(found.text)} is text here`);
        this.write(found.start + widthAt(turn.text, found.start));
        return true;
      }
      this.draftStart = found.start;
      return false;
    } else if (
      this.isDraft &&
      ["reasoning_start", "reasoning_end", "between", "content_start"].includes(found.role)
    ) {
      this.draftEnd = turn.offsetAt(found.start);
      return false;
    } else {
      this.passMarker(found);
    }
    return true;
  };

  /**
   * Say whether a marker that the template never writes is text: more of it comes next.
   *
   * One that stands around content does so but in quotes, and one that ends the turn but in quotes
   * or as a word. Return null if more text decides.
   */
  private isWithinText({ role, text, start, end }: Found): boolean | null {
    const { turn } = this;
    const isToken = role === "special_token";
    if (!(isToken || this.compiled.table.unwritten?.includes(text)) || this.afterMarker)
      return false;
    if (turn.holdsToken(start, end)) return false;
    const stream = this.thinking ? this.reasoning : this.content;
    const isWord = isToken || (role === "turn_end" && stream.space === " ");
    if (!(isWord || stream.endsIn("\"'`"))) return false;
    const at = end + spaceBefore(turn.text, end);
    if (at - end > MOST_SPACE) return false;
    if (at === turn.text.length) return turn.final ? false : null;
    const after = this.markers.match(turn, { start: at });
    if (after && !after.role) return null;
    return !after || after.role === "mention";
  }

  /** Return the header of content with which a call's head begins, if it names no tool. */
  private headerIn(found: Found): Found {
    const [name, again] = [found.slot("name"), found.slot("name_again")];
    const isOther = DRAFTED.includes(found.role) && again && this.calls?.isNoTool?.(name);
    if (!isOther) return found;
    const header = this.headers.match(this.turn, { start: found.start });
    const isOwn = header?.role && !(header.slot("name") && name === again);
    return isOwn ? header : found;
  }

  /** Whether content may begin here, of which there was none before, or a message does. */
  private get isFirst(): boolean {
    const isMessage = this.compiled.table.content?.addressed && this.last === "between";
    const isLater = !isMessage && (this.called || this.content.begun);
    return this.afterMarker && !(this.thinking || isLater);
  }

  /** Leave out brackets and fences that close nothing, between a call and another marker. */
  private passNoise(noise: Found): boolean {
    if (!noise.role) return false;
    this.turn.problem("stray_marker", `${quoted(trimmed(noise.text))} after a call`);
    this.turn.position = noise.end;
    return true;
  }

  /** Add the turn's text up to a position to what is being read. */
  write(end: number): void {
    const { turn } = this;
    const text = turn.text.slice(turn.position, end);
    const begins = this.afterMarker && spaceBefore(text) < text.length;
    if (begins && this.isDraft) this.draftEnd ??= turn.offsetAt(turn.position) + spaceBefore(text);
    if (this.draftEnd !== null) {
      turn.position = end; // all this is read once more
      return;
    }
    if (turn.tokens.length > 0) turn.tellTokens(end);
    if (begins) this.beginPiece(text);
    const start = turn.offsetAt(turn.position);
    (this.thinking ? this.reasoning : this.content).write(text, start, turn.offsetAt(end));
    turn.position = end;
  }

  /**
   * Add the text of what was no call up to a position, and tell of other markers in it.
   *
   * It may break off in a marker, which is not part of it then.
   */
  writeMention(limit: number, mayBreakOff = false): void {
    const { turn } = this;
    const mention = turn.part(turn.position, limit);
    let end = limit;
    let start = widthAt(mention.text, 0);
    // A draft ends here, and is read once more.
    while (!this.isDraft) {
      const found = this.markers.search(mention, { final: !mayBreakOff, start });
      if (!found) break;
      if (!found.role) {
        end = turn.position + found.start;
        break;
      }
      if (OF_TURN.includes(found.role)) {
        const place = mention.offsetAt(found.start);
        turn.problemAt(place, "stray_marker", `${quoted(found.text)} is text here`);
      }
      start = Math.max(found.end, found.start + widthAt(mention.text, found.start));
    }
    this.write(end);
  }

  private beginPiece(text: string): void {
    const { turn } = this;
    this.afterMarker = false;
    const start = turn.offsetAt(turn.position) + spaceBefore(text);
    (this.thinking ? this.reasoning : this.content).part(start);
    if (this.called && !this.thinking && !this.contentLast) {
      turn.problemAt(start, "misplaced", "content after a call");
    }
  }

  /** Say whether a marker is text: what it announces or closes isn't there. */
  private isText(found: Found): boolean {
    const { role } = found;
    if (role === "reasoning_start" || role === "reasoning_end") {
      return !this.thinking && this.isQuoted(found);
    }
    const closes = role === "call_end" || role === "section_end";
    if (closes && this.thinking && !this.called) {
      this.turn.problem("stray_marker", `${quoted(found.text)} is text here`);
      return true;
    }
    if (role === "mention" || (closes && this.mentioned) || this.isForUser(found)) {
      this.mentioned = true; // what closes it is text as well
      return true;
    }
    return this.calls?.isText(found) ?? false;
  }

  /** Say whether a call stands in a message for the user, and no special token is in it. */
  private isForUser({ role, start, end }: Found): boolean {
    return this.isContent && DRAFTED.includes(role) && !this.turn.holdsToken(start, end);
  }

  /** Say whether content is about a marker of reasoning: in quotes, or closing such a one. */
  private isQuoted({ role, text }: Found): boolean {
    if (!this.marks.start?.length || this.endsTurn || this.endsContent) return false;
    const pending = this.quotesReasoning;
    this.quotesReasoning = false;
    const isEnd = role === "reasoning_end";
    if (isEnd && pending) return true;
    // Behind content, a start in quotes is one.
    const mayQuote = isEnd || this.compiled.table.order[0] === "reasoning";
    const isQuoted = mayQuote && !this.afterMarker && this.content.endsIn("\"'`");
    this.quotesReasoning = isQuoted && !isEnd;
    if (isEnd && this.content.space === " " && !this.reasoning.begun) {
      // It is a part of a sentence.
      this.turn.problem("stray_marker", `${quoted(text)} is text here`);
      return true;
    }
    return isQuoted;
  }

  private passMarker(found: Found): void {
    const { turn } = this;
    const { role } = found;
    const closes = this.thinking && (role === "reasoning_end" || role === "between");
    const inline = this.inline && (role === "reasoning_start" || closes);
    if (inline) {
      const marker = role === "between" ? (this.marks.end?.[0] ?? "") : found.text;
      this.content.quote(marker, turn.offsetAt(found.start));
    }
    const { words } = this.compiled;
    for (const word of words.size > 0 ? found.words : []) {
      if (words.has(word)) continue;
      turn.problem("unexpected_text", `${quoted(word)} in ${quoted(found.text)}`);
    }
    const endsCall = role === "call_end" || role === "section_end";
    if (this.afterMarker && (this.last === "opening" || endsCall)) {
      // It stands between the markers of a call.
      this.content.space = this.content.space.slice(0, this.spaces);
    }
    // What closes a mention stands in the same part.
    if (OF_TURN.includes(role)) this.mentioned = false;
    this.obey(found);
    turn.position = found.end;
    this.afterMarker = !inline;
    this.spaces = this.content.space.length;
    this.last = role;
  }

  /** Do what a marker asks for. */
  private obey(found: Found): void {
    switch (found.role) {
      case "reasoning_start":
        this.openReasoning(found);
        break;
      case "reasoning_end":
        this.closeReasoning(found);
        break;
      case "between":
      case "content_start":
        this.passBetween(found);
        break;
      case "turn_start":
      case "repeated":
        this.turn.problem("repeated", `${quoted(found.text)} once more`);
        break;
      case "turn_end":
        this.endTurn();
        break;
      case "special_token":
        this.turn.problem("stray_marker", `${quoted(found.text)} is no text here`);
        if (this.calls && !this.content.begun) this.turn.read = this.calls.first;
        break;
      case "content_end":
        break; // it ends text, and that is all
      default:
        this.calls?.passMarker(found);
    }
  }

  private openReasoning(found: Found): void {
    for (const text of found.missing) {
      this.turn.problem("missing_marker", `${quoted(text)} is missing`);
    }
    const late = this.called || (this.content.begun && !this.inline);
    if (this.thinking) {
      this.turn.problem("repeated", `${quoted(found.text)} in the reasoning`);
    } else if (late && this.compiled.table.order[0] === "reasoning") {
      this.turn.problem("misplaced", "reasoning after content or calls");
    }
    this.thinking = true;
    this.isContent = false;
  }

  private closeReasoning(found: Found): void {
    if (!this.thinking && this.endsTurn) {
      this.turn.read = this.readRest;
    } else if (!this.thinking && this.content.begun && !this.endsContent) {
      this.turn.problem("stray_marker", `${quoted(found.text)} outside reasoning`);
    }
    this.thinking = false;
  }

  /** What stands between parts closes reasoning, if only by the end that is part of it. */
  private passBetween(found: Found): void {
    for (const text of found.missing) {
      this.turn.problem("missing_marker", `${quoted(text)} is missing`);
    }
    const hasEnd = !!this.marks.end?.length && !this.mayStayOpen;
    if (this.thinking && hasEnd && !this.holdsEnd(found.text)) {
      this.turn.problem("unclosed", "the reasoning was not closed");
    }
    this.thinking = false;
    this.isContent = false;
    const name = found.slot("name");
    if (name) this.turn.problem("unexpected_text", `${quoted(name)} in ${quoted(found.text)}`);
    const isNoTool = !name || this.calls?.isNoTool?.(name);
    if (found.role === "content_start" && isNoTool) this.beginContent();
  }

  /** Read a message that is no call, whatever it quotes, if its header says who it is for. */
  beginContent(): void {
    this.isContent = this.compiled.table.content?.addressed ?? false;
  }

  private endTurn(): void {
    this.turn.read = this.readRest;
    if (this.mayStayOpen || !this.marks.end?.length) this.thinking = false;
  }

  /** Say whether the text ends in a marker that should go on: that is no content. */
  private breaksOff(): boolean {
    const { turn } = this;
    const begun = this.compiled.markers(this.begun).search(turn, { final: false });
    if (!begun || begun.role) return false;
    const isBehind = trimmed(turn.text.slice(turn.position, begun.start)) === "";
    const behindCall = this.called && this.afterMarker && isBehind;
    if (!behindCall && !this.openings.match(turn, { start: begun.start, final: true })) {
      return false;
    }
    this.write(begun.start);
    turn.problem("cut_off", begun.text);
    turn.position = turn.text.length;
    return true;
  }

  /** Read what follows the turn's end: ends once more, and what is no content. */
  readonly readRest: Read = () => {
    const { turn } = this;
    const found = this.rest.length > 0 ? null : this.ends.match(turn);
    if (found && !found.role) return false;
    if (found && found.end > turn.position) {
      turn.position = found.end;
      return true;
    }
    this.rest.push(turn.text.slice(turn.position));
    turn.position = turn.text.length;
    return false;
  };

  private holdsEnd(text: string): boolean {
    const found = withoutSpace(text);
    return !!this.marks.end?.some((end) => found.includes(withoutSpace(end)));
  }

  /** Go on behind a turn's end that was read elsewhere. */
  follow(other: Text): void {
    this.rest = other.rest;
    other.rest = [];
    this.turn.read = this.readRest;
  }

  /** Leave text for a call, and tell where none belongs. */
  beginCall(): void {
    const hasEnd = !!(this.marks.end?.length || this.compiled.table.between?.length);
    if (this.thinking && hasEnd && !this.mayStayOpen) {
      this.turn.problem("unclosed", "a call inside the reasoning");
    } else {
      this.thinking = false;
    }
    if (this.contentLast && this.content.begun && !this.inline) {
      this.turn.problem("misplaced", "a call after content");
    }
    this.mentioned = false;
  }

  /** Tell what is missing or too much at the end of the text. */
  finish(): void {
    const { turn } = this;
    for (const stream of [this.reasoning, this.content]) stream.tellJoined(this.markers);
    const mayBeOpen = this.marks.may_end_turn || (this.mayStayOpen && this.called);
    if (this.thinking && !mayBeOpen) {
      this.thinking = false;
      if (turn.problems.every((problem) => problem.kind !== "unclosed")) {
        turn.problem("unclosed", "the reasoning was not closed");
      }
    }
    const all = this.rest.join("");
    const rest = all.slice(spaceBefore(all));
    this.rest = this.rest.length > 0 ? [""] : []; // told once, though it may be asked for again
    if (rest) {
      const start = turn.offsetAt(turn.position) - codePoints(rest);
      turn.problemAt(start, "text_after_end", rest);
    }
  }
}
