/** On a page that is served: the steps that a format's Python parser takes. */

import { element } from "./elements.mjs";
import { boxOf } from "./index.mjs";
import { eventLine } from "./reading.mjs";

function stepRow(step) {
  const state = step.role ? `${step.state}: ${step.role}` : step.state || "(end)";
  const told = [
    ...step.events.map((event) => element("div", eventLine(event))),
    ...step.problems.map(({ kind, message }) => element("div", `${kind}: ${message}`, "no")),
  ];
  return element("tr", [
    element("td", String(step.offset)),
    element("td", state),
    element("td", element("code", JSON.stringify(step.consumed))),
    element("td", told),
  ]);
}

function stepTable({ steps, left_out: leftOut }) {
  const titles = ["Offset", "State", "Takes", "Tells"].map((title) => element("th", title));
  const table = element("table", [
    element("thead", element("tr", titles)),
    element("tbody", steps.map(stepRow)),
  ]);
  return leftOut
    ? [table, element("p", `${leftOut} more steps; this page shows no more`)]
    : [table];
}

async function ask(article, result) {
  const { fields, texts, name, thinking } = await boxOf(article);
  const asked = { name, ...texts, tools: fields.tools.value, thinking };
  try {
    const answer = await fetch("/parse", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(asked),
    });
    const found = await answer.json();
    result.replaceChildren(...(answer.ok ? stepTable(found) : [element("p", found.error, "no")]));
  } catch (error) {
    const told = `no answer: is turnspec report --serve still running? (${error.message})`;
    result.replaceChildren(element("p", told, "no"));
  }
}

for (const article of document.querySelectorAll("article")) {
  const result = article.querySelector(".steps");
  article.querySelector(".ask").addEventListener("click", () => ask(article, result));
}
