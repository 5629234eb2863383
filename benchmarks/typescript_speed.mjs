// Measures the TypeScript engine: requests and answers are lines of JSON. A request holds a format's
// table, options, what leads to a long text, that text, and the length of its pieces; the answer is
// the microseconds that a piece takes, the median of all rounds.

import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const { load } = await import(pathToFileURL(process.argv[2]).href);

function median(values) {
  return values.sort((one, other) => one - other)[Math.floor(values.length / 2)];
}

function measured({ table, options, lead, body, piece, rounds }) {
  const format = load(table);
  const pieces = [];
  for (let at = 0; at < body.length; at += piece) pieces.push(body.slice(at, at + piece));
  const times = [];
  for (let round = 0; round < rounds; round++) {
    const parser = format.parser(options);
    parser.feed(lead);
    const start = performance.now();
    for (const each of pieces) parser.feed(each);
    times.push(((performance.now() - start) / pieces.length) * 1000);
  }
  return median(times);
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(measured(JSON.parse(line)))}\n`);
}
