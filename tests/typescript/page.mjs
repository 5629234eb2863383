// What the boxes of the report make of texts: requests and answers are lines of JSON.
//
// {"facts": …, "options": …, "text": …, "size": …, "count": …} is read as by a box; {"hash": …} is
// where a hash leads; {"name": …, "state": …} is the hash of a case; {"packed": …} is unpacked;
// {"shown": …} is a text as the page shows it; {"words": …, "formats": …, "patterns": …} are what
// its filter finds by each of some words.

import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const folder = pathToFileURL(`${process.argv[2]}/`);
const page = await import(new URL("reading.mjs", folder).href);
const { named } = await import(new URL("names.mjs", folder).href);

function read({ facts, options, text, size, count }) {
  const characters = Array.from(text);
  const pieces = page.cut(characters, size);
  const found = page.readPieces(page.formatOf(facts), options, pieces, count ?? pieces.length);
  const lines = found.steps.flatMap(({ events }) => events.map(page.eventLine));
  return { ...found, lines, parts: page.partsOf(characters, found) };
}

async function answer(asked) {
  if (asked.hash !== undefined) return page.readHash(asked.hash);
  if (asked.shown !== undefined) return page.shown(asked.shown);
  if (asked.packed) return page.unpacked(asked.packed);
  if (asked.words) {
    return asked.words.map((word) => [...named(word, asked.formats, asked.patterns)]);
  }
  if (asked.name) return page.written(asked.name, asked.state);
  return read(asked);
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await answer(JSON.parse(line)))}\n`);
}
