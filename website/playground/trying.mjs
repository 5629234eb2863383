/** What one tries with a format: an overlay, an output, another template. */

import { analyse } from "./analysis.mjs";
import { $, client, later, listed, made, USUAL_NAME } from "./common.mjs";
import { tellLink } from "./links.mjs";
import { differences, linesOf, shown } from "./show.mjs";

let parses = 0;

export function showOverlay(isThere) {
  const lines = isThere && made.plain ? differences(made.plain, made.files.spec.text) : [];
  $("#panel-overlay > pre").replaceChildren(...linesOf(lines));
}

export function beginOverlay() {
  const { file, text } = made.given ?? { file: USUAL_NAME, text: "" };
  const own = ['# What it says is put over the spec as data; see "Fix an overlay" in the docs.'];
  own.push(`template: ${JSON.stringify(file)}`, `sha256: ${made.facts.template ?? ""}`, "keys:");
  own.push(
    "  - key: turn.stop",
    '    value: ["<|end|>"]',
    "    reason: say why",
    "    source: say from where",
  );
  $("#overlay").value = made.draft || (text && `${own.join("\n")}\n`);
  overlayChanged();
}

export function overlayChanged() {
  later("overlay", () => made.given && analyse(made.given, { verify: false }));
}

export function offerOutputs({ outputs = [], tools = [] }) {
  const options = outputs.map(([title], at) => new Option(title, at));
  $("[name=sample]").replaceChildren(new Option("a text of your own", ""), ...options);
  if (!$("#tools").value) $("#tools").value = JSON.stringify(tools, null, 1);
  if (!$("#output").value && outputs.length > 0) {
    $("[name=sample]").value = String(outputs.length - 1);
    [, $("#output").value] = outputs[outputs.length - 1];
  }
}

export async function parse() {
  if (!made.done) return;
  const text = $("#output").value;
  parses += 1;
  const number = parses;
  const place = $("#panel-parse > pre");
  try {
    const tools = $("#tools").value.trim() ? JSON.parse($("#tools").value) : null;
    const thinking = $("[name=thinking]").value;
    const options = { tools, enable_thinking: thinking ? JSON.parse(thinking) : null };
    const isStale = () => number !== parses;
    const found = await client.ask("parse", { text, options }, { isStale });
    if (number !== parses) return;
    made.parsed = { text, found };
    place.textContent = shown(JSON.stringify(found.message, null, 2));
    const told = found.problems.map(
      ({ kind, offset, message }) => `${kind} at ${offset}: ${message}`,
    );
    listed("[data-part=parse-problems]", told.slice(0, 200));
  } catch (error) {
    const where = error instanceof SyntaxError ? "Tools: not JSON: " : "";
    if (number === parses) listed("[data-part=parse-problems]", [where + error.message]);
  }
}

export async function compare(files) {
  const verdict = $("#panel-compare .verdict");
  if (!made.done) {
    verdict.textContent = "Analyse a template first.";
    return;
  }
  verdict.textContent = "Comparing.";
  try {
    const { templates: others, problems } = await client.ask("read", {}, { files });
    if (others.length === 0) throw new Error(problems.join("\n") || "there is no template in that");
    $("#other").value = others[0].text;
    const found = await client.ask("diff", others[0]);
    if (found.problems) throw new Error(found.problems.join("\n"));
    verdict.textContent =
      found.severity === "same" ? "Both write the same format." : shown(found.severity);
    verdict.className = `verdict l-${found.severity}`;
    $("#panel-compare > pre").replaceChildren(...linesOf(found.lines.map((line) => [line])));
  } catch (error) {
    verdict.textContent = shown(error.message);
    verdict.className = "verdict no";
  }
  tellLink();
}

/** Return the other template as it was typed, as a file. */
export const otherTyped = () => [{ name: "other.jinja", data: new Blob([$("#other").value]) }];
