/**
 * The worker: Pyodide with turnspec's own pipeline in it. It answers one request after the other, and
 * is ended from outside if one takes too long. Before a template comes in, it gives up the network.
 */

import { loadPyodide } from "../pyodide/pyodide.mjs";

/** Pages of 64 KiB that Python may take: 1 GiB, where the native tool gives each process 2. */
const MOST_PAGES = 16_384;
/** A GGUF file's header is read in slices of this size, and no further than the limit. */
const SLICE = 2 ** 20;
const LONGEST_HEADER = 256 * SLICE;
const PICKED = "/picked";

let picked = 0;
const python = await start();
globalThis.onmessage = async ({ data: { id, verb, given, files } }) => {
  const post = (kind, told) => postMessage({ id, kind, told });
  try {
    if (verb === "read") given.path = await keep(files);
    const tell = (kind, told) => post(kind, JSON.parse(told));
    post("answer", JSON.parse(python.call(verb, JSON.stringify(given), tell)));
  } catch (error) {
    // What breaks Python itself leaves nothing to go on with.
    post(error.pyodide_fatal_error ? "fatal" : "fault", faultOf(error));
  }
};
postMessage({ kind: "ready" });
// What the first parser needs besides is loaded while nobody has pasted anything yet.
setTimeout(() => python.warm());

/** Load Python and the pipeline, from this site alone. */
async function start() {
  limitMemory();
  const archive = fetch(new URL("../turnspec.zip", import.meta.url));
  const pyodide = await loadPyodide({ indexURL: new URL("../pyodide/", import.meta.url).href });
  pyodide.unpackArchive(await (await archive).arrayBuffer(), "zip", { extractDir: "/app" });
  const begin = pyodide.runPython(`
import sys, types
sys.path.insert(0, "/app")
# Processes are none to be had; what starts them is only imported.
sys.modules["_multiprocessing"] = types.ModuleType("_multiprocessing")
import json
from functools import partial
from pathlib import Path
from website.worker.session import Session, call, header_end

session = Session(Path("/made"), json.loads(Path("/app/known.json").read_text("utf-8")))
(partial(call, session), lambda data: header_end(data.to_bytes()), lambda: __import__("black"))
`);
  const [call, headerEnd, warm] = begin;
  giveUpNetwork(pyodide);
  return { call, headerEnd, warm, files: pyodide.FS };
}

/** Refuse memory beyond the limit: Python raises MemoryError, as it does natively. */
function limitMemory() {
  const { grow } = WebAssembly.Memory.prototype;
  WebAssembly.Memory.prototype.grow = function (pages) {
    if (this.buffer.byteLength / 65_536 + pages > MOST_PAGES) throw new RangeError("out of memory");
    return grow.call(this, pages);
  };
}

/** From here on nothing in this worker reaches any host, whatever gets out of its sandbox. */
function giveUpNetwork(pyodide) {
  pyodide.unregisterJsModule("js");
  for (const name of ["fetch", "XMLHttpRequest", "WebSocket", "EventSource", "Worker", "caches"]) {
    Object.defineProperty(globalThis, name, { value: undefined });
  }
}

/** Put what was picked into Python's files, of a GGUF file only its header; return its path. */
async function keep(files) {
  const { files: FS } = python;
  picked += 1;
  // What isn't one file is a model's folder, and is called so.
  const folder = `${PICKED}/${picked}/model`;
  FS.mkdirTree(folder);
  for (const { name, data } of files) {
    const isModel = name.endsWith(".gguf");
    const bytes = isModel ? await header(data) : new Uint8Array(await data.arrayBuffer());
    FS.writeFile(`${folder}/${name}`, bytes);
  }
  const [{ name }] = files;
  return /\.(gguf|jinja)$/.test(name) && files.length === 1 ? `${folder}/${name}` : folder;
}

/** Return the beginning of a file as far as its metadata goes, however large the file is. */
async function header(file) {
  let end = SLICE;
  for (;;) {
    const bytes = new Uint8Array(await file.slice(0, end).arrayBuffer());
    const more = end < file.size ? python.headerEnd(bytes) : 0;
    if (more === 0) return bytes;
    if (more > LONGEST_HEADER) throw new Error("the header of this file is too long for a page");
    end = Math.max(more, 2 * end);
  }
}

/** Return an error in a line; of Python's, the last one. */
function faultOf(error) {
  const lines = String(error.message ?? error)
    .trim()
    .split("\n");
  return lines[lines.length - 1];
}
