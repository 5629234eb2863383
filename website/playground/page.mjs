/** The playground: what happens when something is typed, picked, dropped or pressed. */

import { analyse, choose, submit, take } from "./analysis.mjs";
import { $, client, fields, later, made } from "./common.mjs";
import { EXAMPLE } from "./example.mjs";
import { restored, tellLink } from "./links.mjs";
import { open, script } from "./panels.mjs";
import { beginOverlay, compare, otherTyped, overlayChanged, parse } from "./trying.mjs";

/** Return files that a person gave, as the worker takes them. */
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
const tab = await restored();
open(tab ?? "spec");
if (tab !== null) {
  await submit();
  if ($("#other").value) await compare(otherTyped());
}
