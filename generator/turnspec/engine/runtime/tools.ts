/** Tools: the schemas of their arguments, and whether what a parser is given are tools at all. */

import type { Schema, Tool } from "./options.js";
import type { Json } from "./python.js";

const ALTERNATIVES: readonly string[] = ["anyOf", "oneOf", "allOf"];
/** What a schema has lists for; those of constants hold no schemas. */
const LISTS: readonly string[] = [...ALTERNATIVES, "prefixItems", "enum"];
const INNER_SCHEMAS: readonly string[] = ["items", "additionalProperties"];

/**
 * Return the schemas of the tools' arguments by the tools' names.
 *
 * A tool is an OpenAI tool definition, or the function in it alone. Its parameters may be any JSON
 * Schema: one that is true, false or missing says nothing of them.
 *
 * @throws TypeError if they aren't tools; it says which of them is none, and why.
 */
export function parametersByName(tools: readonly Tool[]): Map<string, Schema> {
  if (!Array.isArray(tools)) throw new TypeError("tools: not a list");
  const found = new Map<string, Schema>();
  for (const [index, tool] of tools.entries()) {
    let path = `tools[${index}]`;
    let definition = objectAt(tool, path);
    if (definition.function !== undefined) {
      path += ".function";
      definition = objectAt(definition.function, path);
    }
    const { name, parameters } = definition;
    if (typeof name !== "string" || !name) throw new TypeError(`${path}: no name`);
    checkSchema(parameters, `${path}.parameters`);
    found.set(name, asSchema(parameters) ?? {});
  }
  return found;
}

/** Return a value as a schema; undefined if it is none. */
export function asSchema(value: unknown): Schema | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Schema)
    : undefined;
}

/** Say whether a schema, or a part of one, says something. */
export function saysSomething(schema: unknown): boolean {
  return !!schema && (typeof schema !== "object" || Object.keys(schema).length > 0);
}

/** Return a part of a schema that may be a list. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Return a schema inside `root`, what it refers to, and the alternatives in it, each once. */
export function schemaOptions(value: unknown, root: Json): Schema[] {
  const found = new Set<Schema>();
  const waiting = [value];
  while (waiting.length > 0) {
    const option = asSchema(waiting.pop());
    if (!option || found.has(option)) continue;
    found.add(option);
    const inner = ALTERNATIVES.flatMap((word) => listOf(option[word]));
    for (const other of [...inner, targetOf(option, root)].reverse()) waiting.push(other);
  }
  return [...found];
}

/** Return what a schema refers to; undefined if it doesn't, or to nothing that is there. */
function targetOf(schema: Schema, root: Json): unknown {
  if (!Object.hasOwn(schema, "$ref")) return undefined;
  let target: unknown = root;
  for (const step of String(schema.$ref).split("/").slice(1)) {
    const within = asSchema(target);
    target = within && Object.hasOwn(within, step) ? within[step] : undefined;
  }
  return target;
}

/** Throw a TypeError if a schema isn't one, as far as it is read. */
function checkSchema(root: unknown, rootPath: string): void {
  const seen = new Set<Schema>();
  const waiting: [path: string, schema: unknown][] = [[rootPath, root]];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [path, value] = next;
    if (value === undefined || value === null || typeof value === "boolean") continue;
    const schema = objectAt(value, path);
    if (seen.has(schema)) continue;
    seen.add(schema);
    for (const inner of schemasIn(schema, root as Schema, path)) waiting.push(inner);
  }
}

/** Give the schemas in a schema, each with where it is. */
function* schemasIn(schema: Schema, root: Schema, path: string): Generator<[string, unknown]> {
  for (const word of LISTS) {
    const listed = saysSomething(schema[word]) ? schema[word] : [];
    if (!Array.isArray(listed)) throw new TypeError(`${path}.${word}: not a list`);
    if (word === "enum") continue;
    for (const [at, inner] of listed.entries()) yield [`${path}.${word}[${at}]`, inner];
  }
  const properties = saysSomething(schema.properties) ? schema.properties : {};
  const members = objectAt(properties, `${path}.properties`);
  for (const [key, inner] of Object.entries(members)) yield [`${path}.properties.${key}`, inner];
  for (const word of INNER_SCHEMAS) {
    // Older schemas have a list of arrays' elements.
    if (!Array.isArray(schema[word])) yield [`${path}.${word}`, schema[word]];
  }
  const target = asSchema(targetOf(schema, root));
  if (target) yield [String(schema.$ref), target];
}

function objectAt(value: unknown, path: string): Schema {
  const found = asSchema(value);
  if (!found) throw new TypeError(`${path}: not an object`);
  return found;
}
