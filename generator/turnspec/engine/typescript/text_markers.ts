/** The markers that text ends at, each with its role. */

import type { Format } from "./format.js";
import { literalLength, type Notation, type Roles } from "./markers.js";

/** Return some markers with one role. */
export function withRole(role: string, notations: readonly Notation[] = []): Roles {
  return notations.map((notation) => [role, notation] as const);
}

/** Return the markers of reasoning, content and the turn, with their roles. */
export function textRoles(table: Format): Roles {
  const { reasoning, content } = table;
  const known = [
    ...withRole("content_start", content?.start),
    ...withRole("reasoning_start", reasoning?.start),
    ...withRole("between", table.between),
    ...withRole("reasoning_end", reasoning?.end),
    ...withRole("turn_end", table.turn_end),
    ...withRole("content_end", content?.end),
    ...withRole("turn_start", table.turn_start),
  ];
  const others = table.unwritten?.filter((token) => !known.some(([, other]) => other === token));
  return [...known, ...withRole("special_token", others)];
}

/** Return what announces code; it comes last, as a marker may go on where it is a beginning. */
export function codeRoles(table: Format): Roles {
  return table.code ? [["code", table.code.start]] : [];
}

/** Return markers in an order in which none stands before one that it is the beginning of. */
export function longestFirst(markers: Roles): Roles {
  return [...markers].sort(([, one], [, other]) => literalLength(other) - literalLength(one));
}

/** Return the words that may stand before all content. */
export function leadRoles(table: Format): Roles {
  return withRole("lead", table.content?.lead);
}

/** Return the headers of messages for the user, if messages say who they are for. */
export function headerRoles({ content }: Format): Roles {
  return withRole("content_start", (content?.addressed && content.start) || []);
}

/** Return the beginnings of markers that tell of one that breaks off. */
export function openingRoles(table: Format): Roles {
  return withRole("opening", table.openings);
}

/** Return what may stand behind a call: a marker, or brackets that no part has before one. */
export function behindCallRoles(table: Format): Roles {
  const { calls } = table;
  if (!calls) return [];
  const ends = [...(calls.end ?? []), ...(calls.section_end ?? []), ...table.turn_end];
  const behind = ends.filter((end) => literalLength(end) > 1).map((end) => ` ${end}`);
  return [...withRole("marker", behind), ["stray", ["{brackets}", [...behind, "{end of text}"]]]];
}

/** Return what ends a turn, where it has ended already. */
export function endRoles(table: Format): Roles {
  return withRole(
    "turn_end",
    table.turn_end.map((end) => ` ${end}`),
  );
}
