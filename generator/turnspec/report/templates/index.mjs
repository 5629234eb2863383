/** The page: the index with its filters, and formats that open where a link leads. */

import { Box } from "./box.mjs";
import { named } from "./names.mjs";
import { readHash, unpacked } from "./reading.mjs";

const filters = document.getElementById("filters");
const rows = [...document.querySelectorAll(".index tr[data-name]")];
const articles = new Map(
  [...document.querySelectorAll("article")].map((article) => [article.dataset.name, article]),
);
const data = unpacked(document.getElementById("data").textContent);
const boxes = new Map();
const formats = rows.map(({ dataset: { name, file, aliases, packager } }) => {
  const shown = file.replace(/\.jinja$/, "");
  return { name, file: shown, aliases: aliases ? aliases.split("\n") : [], packager };
});
const patterns = JSON.parse(filters.dataset.patterns);

function filter() {
  const { name, ...wanted } = Object.fromEntries(new FormData(filters));
  const words = name.split(/\s+/).filter(Boolean);
  const meant = words.map((word) => named(word, formats, patterns));
  let count = 0;
  for (const row of rows) {
    const fits =
      meant.every((names) => names.has(row.dataset.name)) &&
      Object.entries(wanted).every(([key, value]) => !value || row.dataset[key] === value);
    row.hidden = !fits;
    articles.get(row.dataset.name).hidden = !fits;
    count += fits ? 1 : 0;
  }
  document.getElementById("count").textContent = `${count} of ${rows.length} shown`;
  document.getElementById("none").hidden = count > 0;
}

/** Fill a format when it is opened, once: its box, its states, spec, results and grammar. */
export async function boxOf(article) {
  const { name } = article.dataset;
  const { facts, texts, tools, more } = await data;
  if (!boxes.has(name)) {
    // Markup in which all text is escaped already, as in the page itself.
    article.querySelector(".more").innerHTML = more[name];
    const box = new Box(name, { facts: facts[name], texts: texts[name], tools });
    article.querySelector(".try").replaceChildren(box.root);
    boxes.set(name, box);
  }
  return boxes.get(name);
}

/** Open the format that the address leads to, with the case that it tells. */
async function open() {
  const { id, state } = readHash(location.hash);
  const article = document.getElementById(id);
  if (!article?.matches("article")) return;
  const details = article.querySelector("details");
  article.hidden = false;
  details.open = true;
  details.querySelector("summary").focus({ preventScroll: true });
  article.scrollIntoView();
  const box = await boxOf(article);
  if (!state) return;
  box.restore(state);
  box.root.scrollIntoView();
}

filters.hidden = false;
filters.addEventListener("input", filter);
filters.addEventListener("submit", (event) => event.preventDefault());
filters.addEventListener("reset", () => setTimeout(filter));
filter();
for (const article of articles.values()) {
  const details = article.querySelector("details");
  details.addEventListener("toggle", () => details.open && boxOf(article));
}
// So that a line reached by the keyboard can be copied; a click takes it by its style.
for (const line of document.querySelectorAll("code.line")) {
  line.addEventListener("focus", () => getSelection().selectAllChildren(line));
}
// A link to where the page is already brings no event.
for (const link of document.querySelectorAll('a[href^="#t-"]')) {
  link.addEventListener("click", () => setTimeout(open));
}
addEventListener("hashchange", open);
open();
