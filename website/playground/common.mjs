/** What the page's modules share: its fields, what was made last, the worker, what is said. */

import { Client } from "./client.mjs";
import { element, shown } from "./show.mjs";

export const USUAL_NAME = "template.jinja";
const TYPING_WAITS = { parse: 150, overlay: 700, link: 400 };
const OFFLINE_WAITS = 3000;

export const $ = (selector) => document.querySelector(selector);
export const { elements: fields } = $("#source");

/** The template that is analysed, as the worker read it; what was made of it, and without overlay. */
export const made = {
  given: null,
  done: null,
  files: {},
  facts: {},
  rungs: [],
  judgement: null,
  tokenizer: null,
  plain: "",
  scripts: {},
  parsed: null,
};
const timers = {};

await keepForOffline();
export const client = new Client((state, reason) => {
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

export function say(text, kind = "") {
  $("#status").textContent = shown(text);
  $("#status").className = kind;
}

/** Let something happen once a person has typed. */
export function later(name, action) {
  clearTimeout(timers[name]);
  timers[name] = setTimeout(action, TYPING_WAITS[name]);
}

export function running(is) {
  fields.stop.disabled = !is;
  fields.go.disabled = is;
  document.body.toggleAttribute("data-running", is);
}

export function listed(selector, texts) {
  $(selector).replaceChildren(...texts.map((text) => element("li", text)));
}

/** Show that a step is running, done or failed. */
export function step(name, state, label = name) {
  const id = `step-${name}`;
  const row = document.getElementById(id) ?? $("#steps").appendChild(element("li"));
  row.id = id;
  row.className = state;
  row.textContent = { done: "✓ ", failed: "✗ ", running: "… ", skipped: "" }[state] + label;
}

export function markSteps() {
  for (const row of document.querySelectorAll("#steps .running")) {
    row.className = "failed";
    row.textContent = row.textContent.replace("…", "✗");
  }
}
