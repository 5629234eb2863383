/**
 * Where a string ends that is never closed: at the end of its call, if no string goes on there.
 *
 * A string may well quote the format; then what it quotes has the string's own escapes.
 */

import { type CompiledFormat, callsOf, type Format } from "./format.js";
import { type Found, leadingText, literalLength, type Markers, type Roles } from "./markers.js";
import { spaceBefore, trimmedEnd, widthAt } from "./strings.js";
import { withRole } from "./text_markers.js";
import type { Turn } from "./turn.js";

// A call goes on with an object, whose first quote a string would have escaped.
const OBJECT_BEGINS = /[^"\\]{0,256}/uy;
/** Of an end that no string has by chance. */
export const FEWEST_SIGNS = 3;

/** Finds out where a string ends that isn't closed. */
export class UnclosedString {
  private readonly turn: Turn;
  readonly ends: Markers;
  private readonly calls: Markers;
  /** The places between which ends were found that follow each other. */
  private first = -1;
  private last = -1;
  /** The place before which all ends are the string's. */
  private decided = -1;

  constructor(turn: Turn, compiled: CompiledFormat) {
    this.turn = turn;
    this.ends = compiled.markers(callEndRoles);
    this.calls = compiled.markers(callStartRoles);
  }

  /** Say whether a string that isn't closed may end between two places. */
  mayEnd(start: number, end: number): boolean {
    return this.ends.firstFrom(this.turn.text, start, end) >= 0;
  }

  /**
   * Return up to where the text before `end` is a string's, and if that breaks off there.
   *
   * It is settled no further where more text has to tell.
   */
  find(end: number): readonly [reach: number, broken: boolean] {
    const { turn } = this;
    let start = Math.max(turn.position, this.decided - turn.place);
    for (;;) {
      const found = this.ends.search(turn, { final: false, start, end });
      if (!found) return [end, false];
      const behind = this.behindEnds(found);
      const isOver = this.isOver(found, behind);
      if (isOver !== false) return [found.start, isOver ?? false];
      start = Math.max(behind, found.start + widthAt(turn.text, found.start));
      this.decided = turn.place + start;
    }
  }

  /** Return the position behind all ends that follow each other; those that are known are passed. */
  private behindEnds(found: Found): number {
    const { turn } = this;
    const place = turn.place + found.start;
    let at = found.start;
    if (this.first <= place && place < this.last) {
      at = this.last - turn.place;
      at += spaceBefore(turn.text, at);
    } else {
      this.first = place;
    }
    let marker = this.ends.match(turn, { start: at });
    while (marker?.role) {
      at = marker.end + spaceBefore(turn.text, marker.end);
      marker = this.ends.match(turn, { start: at });
    }
    this.last = turn.place + at;
    return at;
  }

  /** Say whether no string goes on behind ends; null where more text has to tell. */
  private isOver(found: Found, at: number): boolean | null {
    const { turn } = this;
    if (this.ends.match(turn, { start: at })) return null;
    if (at === found.start) return false;
    if (at === turn.text.length) return turn.final ? true : null;
    const call = this.calls.match(turn, { start: at });
    if (!call?.role) return call ? null : false;
    OBJECT_BEGINS.lastIndex = at;
    const before = OBJECT_BEGINS.exec(turn.text)?.[0] ?? "";
    const sign = turn.text.charAt(at + before.length);
    if (!sign && !turn.final) return null;
    return sign === '"' && trimmedEnd(before).endsWith("{");
  }
}

/** Return what ends a call, or the turn. */
export function callEndRoles(table: Format): Roles {
  const calls = callsOf(table);
  const ends = [...(calls.end ?? []), ...(calls.section_end ?? []), ...table.turn_end];
  return withRole(
    "end",
    ends.filter((end) => literalLength(end) >= FEWEST_SIGNS),
  );
}

/** Return what begins another call. */
export function callStartRoles(table: Format): Roles {
  const calls = callsOf(table);
  const texts = new Set([...(calls.opening ?? []), calls.start ?? ""].map(leadingText));
  return withRole(
    "start",
    [...texts].filter((text) => [...text].length >= FEWEST_SIGNS),
  );
}
