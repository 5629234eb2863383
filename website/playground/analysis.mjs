/** Reading templates and having them analysed; what is told of that as it comes. */

import {
  $,
  client,
  fields,
  listed,
  made,
  markSteps,
  running,
  say,
  step,
  USUAL_NAME,
} from "./common.mjs";
import { tellLink } from "./links.mjs";
import { open, showFile } from "./panels.mjs";
import { element, legendOf, rungRow, sampleOf, shown } from "./show.mjs";
import { offerOutputs, parse, showOverlay } from "./trying.mjs";

/** What comes behind a file or a rung. */
const AFTER = { spec: "parser", parser: "grammar", grammar: "rung 0", 0: "rung 1", 1: "rung 1b" };
Object.assign(AFTER, { "1b": "rung 2", 2: "rung 3", 3: "sanity" });
/** Counts analyses: what an earlier one still tells is dropped. */
let current = 0;
let templates = [];

/** Take what the form holds, as a file of its name. */
function typed() {
  const name = fields.name.value.trim() || USUAL_NAME;
  const file = /\.jinja$/.test(name) ? name : `${name.replace(/\.\w+$/, "")}.jinja`;
  return [{ name: file.replaceAll("/", "-"), data: new Blob([fields.template.value]) }];
}

/** Read files, and analyse the first template in them. */
export async function take(files) {
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

export async function choose(at) {
  const given = templates[at];
  fields.template.value = given.text;
  fields.name.value = given.file;
  fields.bos.value = given.bos_token ?? "";
  fields.eos.value = given.eos_token ?? "";
  made.tokenizer = given.tokenizer;
  await analyse({ ...given, text: given.text });
}

/** Analyse what the form holds. */
export async function submit() {
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

export async function analyse(given, { verify = true } = {}) {
  const number = ++current;
  const overlay = $("#overlay").value.trim() ? $("#overlay").value : null;
  Object.assign(made, { given, judgement: null, scripts: {}, explained: false });
  tellKnown(given.known);
  $("#steps").replaceChildren();
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
    else showFile(kind, told.text);
  }
  const next = AFTER[kind === "rung" ? told.name : kind];
  if (next) step(next, "running");
}

function showSpec(told) {
  Object.assign(made, { facts: told, rungs: [] });
  $("#panel-proof tbody").replaceChildren();
  $("#panel-proof .verdict").textContent = "";
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
  if (verify) markSteps();
  else for (const row of document.querySelectorAll("#steps .running")) row.remove();
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
    if (kind === "parser") showFile("parser", text);
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
  open();
  return undefined;
}
