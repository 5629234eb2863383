// Reads a completion with the example's own modules: argv has their folder, the format's file and
// the endpoint. Prints the events and the message, or the error, as JSON.

import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, format, address, request] = process.argv.slice(2);
const { completion, read } = await import(pathToFileURL(join(folder, "stream.mjs")).href);
const { Parser } = await import(pathToFileURL(join(folder, format)).href);
const events = [];
let told;
try {
  const pieces = completion(address, JSON.parse(request));
  const message = await read(pieces, new Parser(), (event) => events.push(event));
  told = { events, message: message.toObject() };
} catch (error) {
  told = { events, error: error.message };
}
console.log(JSON.stringify(told));
