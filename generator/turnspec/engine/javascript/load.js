/** Parsers from format tables: the parts that a format needs, joined. */
import { Code } from "./code.js";
import { Elements } from "./elements.js";
import { CompiledFormat } from "./format.js";
import { HeadCalls } from "./heads.js";
import { JsonArguments } from "./json_arguments.js";
import { ObjectCalls } from "./objects.js";
import { makeOtherValue } from "./other_value.js";
import { parseWith, TurnParser } from "./parser.js";
import { TextArguments } from "./text_arguments.js";
import { makeValue } from "./value.js";
import { ValueArguments } from "./value_arguments.js";
/** Return what reads turns of a format, from its table. */
export function load(format) {
  const machine = machineOf(format);
  return {
    format,
    parser: (options) => new TurnParser(machine, options),
    parse: (text, options) => parseWith(new TurnParser(machine, options), text),
  };
}
/** Return what a format's parsers are made of. */
export function machineOf(format) {
  return { compiled: new CompiledFormat(format), makeCalls: callMaker(format) };
}
function callMaker({ calls, arguments: args, code }) {
  if (!calls || !args) return null;
  const value = args.values ? makeOtherValue : makeValue;
  if (calls.form === "objects") {
    const parts = { value, ...(code ? { code: (calls) => new Code(calls) } : {}) };
    return (text, options) => new ObjectCalls(text, options, parts);
  }
  const parts = {
    arguments: argumentsMaker(args),
    ...(code ? { code: (calls, reader) => new Code(calls, reader) } : {}),
  };
  return (text, options) => new HeadCalls(text, options, parts);
}
function argumentsMaker({ form, values, elements }) {
  const value = values ? makeOtherValue : makeValue;
  switch (form) {
    case "json":
      return (calls) => new JsonArguments(calls, value);
    case "values":
      return (calls) => new ValueArguments(calls, value);
    case "text": {
      const nested = elements ? (reader) => new Elements(reader) : undefined;
      return (calls) => new TextArguments(calls, nested);
    }
  }
}
