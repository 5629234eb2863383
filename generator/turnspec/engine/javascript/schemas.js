/** Types of values, from the JSON Schemas of a tool's arguments. */
import { JsonNumber, loadJson } from "./json_text.js";
import { LiteralReader } from "./python_literal.js";
import { trimmed } from "./strings.js";
import { listOf, optionsOf } from "./tools.js";
/** What Python's names of types, which some write into schemas, are in JSON Schema. */
const PYTHON_TYPES = new Map([
  ["str", "string"],
  ["int", "integer"],
  ["float", "number"],
  ["bool", "boolean"],
  ["list", "array"],
  ["tuple", "array"],
  ["dict", "object"],
  ["None", "null"],
  ["NoneType", "null"],
]);
/** Return the types that a schema inside `root` allows; none where it doesn't say. */
export function jsonTypes(value, root) {
  const allowed = new Set();
  for (const option of optionsOf(value, root)) {
    const types = option.type || [];
    for (const type of Array.isArray(types) ? types : [types]) {
      if (typeof type === "string") allowed.add(PYTHON_TYPES.get(type) ?? type);
    }
    const constants = listOf(option.enum);
    const isOne = constants.length === 0 && Object.hasOwn(option, "const");
    for (const constant of isOne ? [option.const] : constants) {
      for (const type of typesOfConstant(constant)) allowed.add(type);
    }
  }
  return allowed;
}
function typesOfConstant(value) {
  if (value === null) return ["null"];
  if (Array.isArray(value)) return ["array"];
  if (typeof value === "number") {
    return Number.isInteger(value) ? ["integer", "number"] : ["number"];
  }
  return typeof value === "undefined" ? [] : [typeof value];
}
/** Return the types that a value has. */
function typesOf(value) {
  if (value instanceof JsonNumber) return value.isInteger ? ["integer", "number"] : ["number"];
  return value instanceof Map ? ["object"] : typesOfConstant(value);
}
/**
 * Return a written value as JSON, or null if it isn't of one of the types.
 *
 * `python` says whether it may be a literal of Python's where it isn't JSON. No text at all is an
 * empty array or object where just that is expected.
 */
export function asJson(text, types, python) {
  const written = trimmed(text);
  const isArray = types.has("array");
  if (!written && isArray !== types.has("object") && !types.has("string")) {
    return isArray ? "[]" : "{}";
  }
  const value = loadJson(text);
  if (value !== undefined) return typesOf(value).some((type) => types.has(type)) ? written : null;
  const literal = python ? LiteralReader.read(written) : null;
  // Numbers and strings JSON has as well.
  if (!literal || literal.type === "number" || literal.type === "string") return null;
  return types.has(literal.type) ? literal.json : null;
}
