/** The panels of what was found: tabs, files to copy or to download, explanations. */

import { $, client, made, say } from "./common.mjs";
import { issueText, showIssue } from "./issue.mjs";
import { tellLink } from "./links.mjs";
import { element, linesOf, shown, shownFile } from "./show.mjs";

const PANELS = {
  spec: "Spec",
  proof: "Proof",
  samples: "Sample turns",
  parser: "Parser",
  grammar: "Grammar",
  explain: "Explain",
  overlay: "Overlay",
  parse: "Parse",
  compare: "Compare",
  issue: "File an issue",
};
let tab = "spec";

/** Return which panel is open. */
export const openTab = () => tab;

for (const tools of document.querySelectorAll(".tools")) {
  const { file: kind } = tools.dataset;
  const copy = element("button", "Copy");
  const save = element("button", "Download");
  for (const button of [copy, save]) button.type = "button";
  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(fileOf(kind)?.text ?? "");
      say("Copied.");
    } catch {
      say("The browser doesn't let this page copy; download it instead.", "no");
    }
  });
  save.addEventListener("click", () => {
    const { file, text } = fileOf(kind) ?? { file: "nothing.txt", text: "" };
    const link = element("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
    link.download = file;
    link.click();
    URL.revokeObjectURL(link.href);
  });
  tools.append(copy, save);
}

const tabs = Object.entries(PANELS).map(([name, title]) => {
  const button = element("button", title);
  const panel = $(`#panel-${name}`);
  Object.assign(button, { type: "button", id: `tab-${name}` });
  button.setAttribute("role", "tab");
  button.setAttribute("aria-controls", panel.id);
  panel.setAttribute("role", "tabpanel");
  panel.setAttribute("aria-labelledby", button.id);
  button.addEventListener("click", () => open(name));
  $("[role=tablist]").append(button);
  return button;
});

$("[role=tablist]").addEventListener("keydown", (event) => {
  const step = { ArrowLeft: -1, ArrowRight: 1, Home: -tabs.length, End: tabs.length }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const at = tabs.indexOf(document.activeElement) + step;
  const far = event.key === "Home" ? 0 : event.key === "End" ? tabs.length - 1 : at;
  const next = tabs[(far + tabs.length) % tabs.length];
  next.focus();
  open(next.id.slice("tab-".length));
});

export function open(name) {
  if (name !== undefined) tab = name in PANELS ? name : "spec";
  for (const button of tabs) {
    const isIt = button.id === `tab-${tab}`;
    button.setAttribute("aria-selected", String(isIt));
    button.tabIndex = isIt ? 0 : -1;
    document.getElementById(button.getAttribute("aria-controls")).hidden = !isIt;
  }
  if (tab === "explain") explain();
  if (tab === "parser") script();
  if (tab === "issue") showIssue();
  tellLink();
}

export function showFile(kind, text) {
  $(`#panel-${kind} > pre`).textContent = shownFile(text);
}

/** What a panel's file is called, and its text. */
function fileOf(kind) {
  if (kind === "issue") return { file: "issue.md", text: issueText() };
  if (kind !== "parser") return made.files[kind];
  const { value } = fields.language ?? $("[name=language]");
  return value === "python" ? made.files.parser : made.scripts[value];
}

async function explain() {
  const place = $("#panel-explain > pre");
  if (!made.done || made.explained || document.body.hasAttribute("data-running")) return;
  made.explained = true;
  place.textContent = "The comparisons are made once more.";
  try {
    const { lines, problems } = await client.ask("explain", {});
    place.replaceChildren(...linesOf(lines ?? problems.map((text) => [[text, "wrong"]])));
  } catch (error) {
    place.textContent = shown(error.message);
  }
}

export async function script() {
  const { value } = $("[name=language]");
  if (value === "python") return showFile("parser", made.files.parser?.text ?? "");
  if (!made.done) return undefined;
  try {
    if (!made.scripts[value]) {
      const { files, problems } = await client.ask("script", { language: value });
      if (problems.length) throw new Error(problems.join("\n"));
      // Of JavaScript there are two: the parser, and its declarations.
      const [file, text] = Object.entries(files).find(([name]) => !name.endsWith(".d.mts"));
      made.scripts[value] = { file, text };
    }
    return showFile("parser", made.scripts[value].text);
  } catch (error) {
    return showFile("parser", error.message);
  }
}
