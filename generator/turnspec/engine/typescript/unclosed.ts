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
    let start = this.turn.position;
    for (;;) {
      const found = this.ends.search(this.turn, { final: false, start, end });
      if (!found) return [end, false];
      const isOver = this.isOver(found);
      if (isOver !== false) return [found.start, isOver ?? false];
      start = found.start + widthAt(this.turn.text, found.start);
    }
  }

  /** Say whether no string goes on behind an end; null where more text has to tell. */
  private isOver(found: Found): boolean | null {
    const { turn } = this;
    let at = found.start;
    for (;;) {
      const marker = this.ends.match(turn, { start: at });
      if (!marker) break;
      if (!marker.role) return null;
      at = marker.end + spaceBefore(turn.text, marker.end);
    }
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
