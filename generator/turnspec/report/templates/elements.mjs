/** Elements of the page for what a parser tells. All text goes into them as text. */

import { eventLine, shown } from "./reading.mjs";

/** So many steps are shown at once, as a list of all would be slow; the slider leads to others. */
const SHOWN_STEPS = 500;

/** Return a new element with some text, or with other elements in it. */
export function element(name, content = [], kind = "") {
  const made = document.createElement(name);
  made.append(...[content].flat().map((part) => (typeof part === "string" ? shown(part) : part)));
  if (kind) made.className = kind;
  return made;
}

/** Return a text with its line ends as signs. */
export function lines(text) {
  return text
    .split("\n")
    .flatMap((line, at) => (at > 0 ? [element("i", [], "newline"), "\n", line] : [line]));
}

/** Return a row for each step, with the piece and what it told. */
export function stepRows(steps) {
  const left = Math.max(steps.length - SHOWN_STEPS, 0);
  const rows = steps.slice(left).map(({ piece, events }, at) => {
    const number = String(left + at + 1);
    const taken = piece === null ? "the end" : element("code", JSON.stringify(piece));
    const told = events.map((event) => element("div", eventLine(event)));
    const nothing = element("span", "nothing yet", "quiet");
    return element("tr", [
      element("td", number),
      element("td", taken),
      element("td", told.length > 0 ? told : piece === null ? "" : nothing),
    ]);
  });
  if (left === 0) return rows;
  const earlier = element("td", `${left} earlier pieces: move the slider back to see them`);
  earlier.colSpan = 3;
  return [element("tr", earlier), ...rows];
}
