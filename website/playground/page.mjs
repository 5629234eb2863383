/** The playground: what is asked of the worker, and what is shown of its answers. */

import { Client } from "./client.mjs";
import { EXAMPLE } from "./example.mjs";
import {
  differences,
  element,
  legendOf,
  linesOf,
  rungRow,
  sampleOf,
  shown,
  shownFile,
} from "./show.mjs";
import { fragmentOf, stateOf } from "./state.mjs";

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
const TYPING_WAITS = { parse: 150, overlay: 700, link: 400 };
const OFFLINE_WAITS = 3000;
const USUAL_NAME = "template.jinja";
const $ = (selector) => document.querySelector(selector);
const { elements: fields } = $("#source");

/** The template that is analysed, as the worker read it; what was made of it, and without overlay. */
const made = {
  given: null,
  files: {},
  facts: {},
  rungs: [],
  judgement: null,
  plain: "",
  scripts: {},
};
/** Counts analyses: what an earlier one still tells is dropped. */
let current = 0;
let templates = [];
let tab = "spec";
let lastParse = null;
let parses = 0;
const timers = {};

await keepForOffline();
const client = new Client((state, reason) => {
  if (state === "loading") return;
  if (state === "ready" && $("#status").textContent.startsWith("Python is")) say("Ready.");
  if (state === "ended") {
    say(`Ended: ${reason}. Python is loaded anew.`, "no");
    Object.assign(made, { given: null, done: null });
    running(false);
    markSteps();
  }
});

/** Have a service worker keep what is loaded from here on; where there is none, all works too. */
async function keepForOffline() {
  const { serviceWorker } = navigator;
  if (!serviceWorker || serviceWorker.controller) return;
  const late = new Promise((resolve) => setTimeout(resolve, OFFLINE_WAITS));
  const controlled = new Promise((resolve) =>
    serviceWorker.addEventListener("controllerchange", resolve),
  );
  try {
    await Promise.race([serviceWorker.register("../offline.js").then(() => controlled), late]);
  } catch {
    // Not everybody lets pages keep something.
  }
}

function say(text, kind = "") {
  $("#status").textContent = shown(text);
  $("#status").className = kind;
}

/** Let something happen once a person has typed. */
function later(name, action) {
  clearTimeout(timers[name]);
  timers[name] = setTimeout(action, TYPING_WAITS[name]);
}

function running(is) {
  fields.stop.disabled = !is;
  fields.go.disabled = is;
  document.body.toggleAttribute("data-running", is);
}

function listed(selector, texts) {
  $(selector).replaceChildren(...texts.map((text) => element("li", text)));
}

// Templates.

/** Take what the form holds, as a file of its name. */
function typed() {
  const name = fields.name.value.trim() || USUAL_NAME;
  const file = /\.jinja$/.test(name) ? name : `${name.replace(/\.\w+$/, "")}.jinja`;
  return [{ name: file.replaceAll("/", "-"), data: new Blob([fields.template.value]) }];
}

/** Read files, and analyse the first template in them. */
async function take(files) {
  say(`Reading ${files.map(({ name }) => name).join(", ")}.`);
  try {
    const found = await client.ask("read", {}, { files });
    listed("#problems", found.problems);
    templates = found.templates;
    fields.which.replaceChildren(...templates.map(({ file }, at) => new Option(shown(file), at)));
    $("#others").hidden = templates.length < 2;
    if (templates.length === 0) return say("There is no template in that.", "no");
    return await choose(0);
  } catch (error) {
    return say(error.message, "no");
  }
}

async function choose(at) {
  const given = templates[at];
  fields.template.value = given.text;
  fields.name.value = given.file;
  fields.bos.value = given.bos_token ?? "";
  fields.eos.value = given.eos_token ?? "";
  made.tokenizer = given.tokenizer;
  await analyse({ ...given, text: given.text });
}

/** Analyse what the form holds. */
async function submit() {
  const [{ name }] = typed();
  const text = fields.template.value;
  if (!text.trim()) return say("Paste a template first.", "no");
  say("Reading the template.");
  try {
    const found = await client.ask("read", {}, { files: typed() });
    listed("#problems", found.problems);
    const [given] = found.templates;
    if (!given) return say(`${name} can't be read.`, "no");
    const tokens = { bos_token: fields.bos.value || null, eos_token: fields.eos.value || null };
    return await analyse({ ...given, ...tokens, tokenizer: made.tokenizer ?? null });
  } catch (error) {
    return say(error.message, "no");
  }
}

async function analyse(given, { verify = true } = {}) {
  const number = ++current;
  const overlay = $("#overlay").value.trim() ? $("#overlay").value : null;
  Object.assign(made, { given, rungs: [], judgement: null, scripts: {}, explained: false });
  tellKnown(given.known);
  $("#steps").replaceChildren();
  $("#panel-proof tbody").replaceChildren();
  listed("#problems", []);
  running(true);
  say("Analysing.");
  const start = performance.now();
  step("spec", "running");
  const onTell = (kind, told) => number === current && onStep(kind, told, start);
  try {
    const isStale = () => number !== current;
    const done = await client.ask("build", { ...given, overlay, verify }, { onTell, isStale });
    if (number === current) finish(done, verify, start);
  } catch (error) {
    if (number === current) {
      if (!error.ended) say(error.message, "no");
      markSteps();
    }
  } finally {
    if (number === current) running(false);
    tellLink();
  }
}

function seconds(start) {
  return `${((performance.now() - start) / 1000).toFixed(1)} s`;
}

function tellKnown(names) {
  const known = $("#known");
  known.hidden = names.length === 0;
  const links = names.flatMap((name) => {
    const link = element("a", name);
    link.href = `../formats/${encodeURIComponent(name)}.html`;
    return [link, " "];
  });
  known.replaceChildren("This very template is known: ", ...links);
}

/** Show that a step is running, done or failed. */
function step(name, state, label = name) {
  const id = `step-${name}`;
  const row = document.getElementById(id) ?? $("#steps").appendChild(element("li"));
  row.id = id;
  row.className = state;
  row.textContent = { done: "✓ ", failed: "✗ ", running: "… ", skipped: "" }[state] + label;
}

function markSteps() {
  for (const row of document.querySelectorAll("#steps .running")) {
    row.className = "failed";
    row.textContent = row.textContent.replace("…", "✗");
  }
}

const AFTER = { spec: "module", module: "grammar", grammar: "rung 0", 0: "rung 1", 1: "rung 1b" };
Object.assign(AFTER, { "1b": "rung 2", 2: "rung 3", 3: "sanity" });

function onStep(kind, told, start) {
  $("#results").hidden = false;
  if (kind === "rung") {
    made.rungs.push(told);
    const label = told.name === "sanity" ? "sanity" : `rung ${told.name}`;
    step(label, told.is_passed ? "done" : "failed");
    $("#panel-proof tbody").append(rungRow(told));
  } else {
    step(kind, "done", kind === "spec" ? `spec after ${seconds(start)}` : kind);
    made.files[kind] = told;
    if (kind === "spec") showSpec(told);
    else showFile(kind === "module" ? "parser" : kind, told.text);
  }
  const next = AFTER[kind === "rung" ? told.name : kind];
  if (next) step(next, "running");
}

function showSpec(told) {
  made.facts = told;
  if (!$("#overlay").value.trim()) made.plain = told.text;
  showFile("spec", told.text);
  if (told.same?.length && made.given.known.length === 0) {
    tellKnown(told.same);
    $("#known").firstChild.textContent = "Another template, which writes the format of: ";
  }
  $("#panel-samples .samples").replaceChildren(...(told.samples ?? []).map(sampleOf));
  $("#panel-samples .legend").replaceChildren(...legendOf(told.samples ?? []));
  offerOutputs(told);
}

function finish(done, verify, start) {
  markSteps();
  const isOverlaid = $("#overlay").value.trim() !== "";
  listed("[data-part=overlay-problems]", isOverlaid ? done.problems : []);
  if (isOverlaid && Object.keys(done.files).length === 0 && made.done) {
    return say("The overlay can't be put over the spec, which is shown without it.", "no");
  }
  listed("#problems", [...done.problems, ...done.objections]);
  made.judgement = done.judgement;
  made.draft = done.draft;
  made.done = done;
  if (Object.keys(done.files).length === 0) {
    $("#results").hidden = !isOverlaid;
    if (isOverlaid) open("overlay");
    made.done = null;
    return say(`No format was found after ${seconds(start)}.`, "no");
  }
  // What says that it isn't verified is the text that counts.
  for (const [file, text] of Object.entries(done.files)) {
    const kind = Object.keys(made.files).find((name) => made.files[name].file === file);
    if (kind) made.files[kind].text = text;
    if (kind === "module") showFile("parser", text);
    if (kind === "grammar") showFile("grammar", text);
  }
  const verified = done.judgement?.standing === "verified";
  const verdict = verify
    ? verified
      ? "verified"
      : `not verified: ${done.judgement?.reason}`
    : "not verified yet";
  $("#panel-proof .verdict").textContent = shown(verdict);
  $("#panel-proof .verdict").className = `verdict ${verified ? "yes" : "no"}`;
  const missing = done.missing.length ? `; not found: ${done.missing.join(", ")}` : "";
  say(
    `${made.given.name}: ${verdict}, after ${seconds(start)}${missing}`,
    verified ? "yes" : verify ? "no" : "",
  );
  showOverlay(isOverlaid);
  parse();
  open(tab);
  return undefined;
}

// Panels.

function showFile(kind, text) {
  $(`#panel-${kind} > pre`).textContent = shownFile(text);
}

/** What a panel's file is called, and its text. */
function fileOf(kind) {
  if (kind === "issue") return { file: "issue.md", text: issueText() };
  if (kind !== "parser") return made.files[kind];
  const { value } = fields.language ?? $("[name=language]");
  return value === "python" ? made.files.module : made.scripts[value];
}

for (const tools of document.querySelectorAll(".tools")) {
  const { file: kind } = tools.dataset;
  const copy = element("button", "Copy");
  const save = element("button", "Download");
  for (const button of [copy, save]) button.type = "button";
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(fileOf(kind)?.text ?? "");
    say("Copied.");
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

function open(name) {
  tab = name in PANELS ? name : "spec";
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

async function script() {
  const { value } = $("[name=language]");
  if (value === "python") return showFile("parser", made.files.module?.text ?? "");
  if (!made.done) return undefined;
  try {
    if (!made.scripts[value]) {
      const { files, problems } = await client.ask("script", { language: value });
      if (problems.length) throw new Error(problems.join("\n"));
      // Of JavaScript there are two: the parser, and its declarations.
      const [file, text] = Object.entries(files).find(([name]) => !name.endsWith(".d.ts"));
      made.scripts[value] = { file, text };
    }
    return showFile("parser", made.scripts[value].text);
  } catch (error) {
    return showFile("parser", error.message);
  }
}

// Overlay.

function showOverlay(isThere) {
  const lines = isThere && made.plain ? differences(made.plain, made.files.spec.text) : [];
  $("#panel-overlay > pre").replaceChildren(...linesOf(lines));
}

function beginOverlay() {
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

function overlayChanged() {
  later("overlay", () => made.given && analyse(made.given, { verify: false }));
}

// Parsing.

function offerOutputs({ outputs = [], tools = [] }) {
  const options = outputs.map(([title], at) => new Option(title, at));
  $("[name=sample]").replaceChildren(new Option("a text of your own", ""), ...options);
  if (!$("#tools").value) $("#tools").value = JSON.stringify(tools, null, 1);
  if (!$("#output").value && outputs.length > 0) {
    $("[name=sample]").value = String(outputs.length - 1);
    [, $("#output").value] = outputs[outputs.length - 1];
  }
}

async function parse() {
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
    lastParse = { text, found };
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

// Comparing.

async function compare(files) {
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

// Issues.

function issueText() {
  const { facts, judgement, rungs, done } = made;
  const lines = [
    "### Versions",
    "",
    `- playground of turnspec ${document.body.dataset.version ?? ""}`,
  ];
  lines.push(`- ${navigator.userAgent}`, "", "### Format", "");
  if (facts.template)
    lines.push(`- template: ${facts.template}`, `- fingerprint: ${facts.fingerprint}`);
  for (const problem of done?.problems ?? []) lines.push(`- error: ${problem}`);
  if (judgement)
    lines.push(`- ${judgement.standing}${judgement.reason ? `: ${judgement.reason}` : ""}`);
  for (const { name, passed, failed } of rungs)
    lines.push(`- rung ${name}: ${passed} of ${passed + failed}`);
  if (lastParse) {
    lines.push("", `### Output (${lastParse.text.length} characters)`, "");
    lines.push(...fenced([lastParse.text]), "", "It is read as:", "", ...fenced(lastParse.found));
  }
  return `${lines.join("\n")}\n`;
}

/** Return JSON between fences, which is on lines of its own and so can't end them. */
function fenced(value) {
  const text = JSON.stringify(value, null, 2);
  const fence = "`".repeat(Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length)) + 1);
  return [`${fence}json`, text, fence];
}

function showIssue() {
  const text = issueText();
  showFile("issue", text);
  const { repository } = document.body.dataset;
  const link = $("#file-issue");
  link.hidden = !repository;
  const form = lastParse?.found.problems.length ? "output.yml" : "template.yml";
  const query = new URLSearchParams({ template: form, report: text.slice(0, 6000) });
  if (repository) link.href = `${repository}/issues/new?${query}`;
}

// Links.

function state() {
  return {
    name: fields.name.value === USUAL_NAME ? "" : fields.name.value,
    text: fields.template.value,
    bos: fields.bos.value,
    eos: fields.eos.value,
    tokenizer: made.tokenizer ? JSON.stringify(made.tokenizer) : "",
    overlay: $("#overlay").value,
    output: $("#output").value,
    other: $("#other").value,
    tab,
  };
}

function tellLink() {
  later("link", async () => {
    const fragment = fields.template.value ? await fragmentOf(state()) : "#";
    $("#link").href = fragment ?? "#";
    $("#link-note").textContent = fragment ? "" : "What you see is too long for a link.";
    if (fragment) history.replaceState(null, "", fragment === "#" ? location.pathname : fragment);
  });
}

async function restore() {
  const found = await stateOf(location.hash);
  if (!found?.text) return;
  fields.name.value = found.name || USUAL_NAME;
  fields.template.value = found.text;
  fields.bos.value = found.bos ?? "";
  fields.eos.value = found.eos ?? "";
  made.tokenizer = tokenizerIn(found.tokenizer);
  $("#overlay").value = found.overlay ?? "";
  $("#output").value = found.output ?? "";
  $("#other").value = found.other ?? "";
  tab = found.tab in PANELS ? found.tab : "spec";
  await submit();
  if (found.other) await compare(otherTyped());
}

/** A link may say anything: only what is a tokenizer's lists is taken. */
function tokenizerIn(text) {
  try {
    const { origin, special_tokens, end_tokens } = JSON.parse(text);
    const isTexts = (list) => Array.isArray(list) && list.every((one) => typeof one === "string");
    const isSound = typeof origin === "string" && isTexts(special_tokens) && isTexts(end_tokens);
    return isSound ? { origin, special_tokens, end_tokens } : null;
  } catch {
    return null;
  }
}

const otherTyped = () => [{ name: "other.jinja", data: new Blob([$("#other").value]) }];
const picked = (list) => [...list].map((file) => ({ name: file.name, data: file }));

$("#source").addEventListener("submit", (event) => {
  event.preventDefault();
  submit();
});
fields.stop.addEventListener("click", () => client.end("stopped"));
fields.example.addEventListener("click", () => {
  Object.assign(made, { tokenizer: null });
  fields.template.value = EXAMPLE;
  fields.name.value = "example.jinja";
  $("#output").value = "";
  submit();
});
fields.which.addEventListener("change", () => choose(Number(fields.which.value)));
fields.file.addEventListener(
  "change",
  () => fields.file.files.length && take(picked(fields.file.files)),
);
fields.template.addEventListener("input", () => {
  made.tokenizer = null; // that was of another template
  tellLink();
});
fields.template.addEventListener("paste", () => setTimeout(submit));
fields.template.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit();
});
$("[name=language]").addEventListener("change", script);
$("[name=draft]").addEventListener("click", beginOverlay);
$("[name=verify]").addEventListener("click", () => made.given && analyse(made.given));
$("[name=clear]").addEventListener("click", () => {
  $("#overlay").value = "";
  overlayChanged();
});
$("#overlay").addEventListener("input", overlayChanged);
for (const place of ["#output", "#tools", "[name=thinking]"]) {
  $(place).addEventListener("input", () => {
    later("parse", parse);
    tellLink();
  });
}
$("[name=sample]").addEventListener("input", (event) => {
  const chosen = made.facts.outputs?.[Number(event.target.value)];
  if (event.target.value !== "" && chosen) [, $("#output").value] = chosen;
  parse();
  tellLink();
});
$("[name=compare]").addEventListener("click", () => compare(otherTyped()));
$("[name=other-file]").addEventListener(
  "change",
  ({ target }) => target.files.length && compare(picked(target.files)),
);
for (const type of ["dragover", "dragleave", "drop"]) {
  addEventListener(type, (event) => {
    event.preventDefault();
    document.body.classList.toggle("drop", type === "dragover");
    if (type === "drop" && event.dataTransfer.files.length) take(picked(event.dataTransfer.files));
  });
}
open(tab);
restore();
