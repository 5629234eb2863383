// Measures parsers in JavaScript: requests and answers are lines of JSON. A request holds a format's
// name, options, turns of several lengths, each as what leads to a long text and that text, and the
// length of its pieces; or it is null, for another round of the same. The answer is the microseconds
// that a piece of each turn takes.
//
// The collector of garbage can't be turned off, as it is for Python; its pauses are rare and long.
// So in a round all turns are as much text: the short ones are read many times over, else hardly one
// would have such a pause, and the long one several. The first round of a request is no measure: in
// it the collector moves the pieces themselves, which are the benchmark's, and code is compiled.

import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

function cut(text, length) {
  const pieces = [];
  for (let at = 0; at < text.length; at += length) pieces.push(text.slice(at, at + length));
  return pieces;
}

// What a parser has told last. If nobody had it, the compiler might leave out making it.
export let told = [];

/** Return the milliseconds in which a parser takes the pieces behind what leads to them. */
function taken(parser, { lead, pieces }) {
  parser.feed(lead);
  const start = performance.now();
  for (const piece of pieces) told = parser.feed(piece);
  return performance.now() - start;
}

/** Return what measures a round. */
async function rounds({ name, options, turns, piece }) {
  const { Parser } = await import(pathToFileURL(`${process.argv[2]}/${name}.mjs`).href);
  const texts = turns.map(({ lead, body }) => ({ lead, pieces: cut(body, piece) }));
  const most = Math.max(...texts.map(({ pieces }) => pieces.length));
  return () =>
    texts.map((text) => {
      const times = Math.round(most / text.pieces.length);
      let all = 0;
      for (let time = 0; time < times; time++) all += taken(new Parser(options), text);
      return (all / times / text.pieces.length) * 1000;
    });
}

let round = () => [];
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  if (request) round = await rounds(request);
  process.stdout.write(`${JSON.stringify(round())}\n`);
}
