/** Parsers from format tables: the parts that a format needs, joined. */

import type { Calls } from "./calls.js";
import { Code } from "./code.js";
import { Elements } from "./elements.js";
import { type ArgumentsFormat, CompiledFormat, type Format } from "./format.js";
import { HeadCalls, type HeadParts } from "./heads.js";
import { JsonArguments } from "./json_arguments.js";
import { ObjectCalls } from "./objects.js";
import type { ParserOptions, Pieces } from "./options.js";
import { makeOtherValue } from "./other_value.js";
import { type Machine, parseWith, TurnParser } from "./parser.js";
import type { Message } from "./results.js";
import { TextArguments } from "./text_arguments.js";
import { makeValue } from "./value.js";
import { ValueArguments } from "./value_arguments.js";

/** What reads turns of a format. */
export interface Loaded {
  readonly format: Format;
  /** Return a parser for a text that arrives in pieces. */
  parser(options?: ParserOptions): TurnParser;
  /** Return the message in a text, what the model wrote. */
  parse(text: Pieces, options?: ParserOptions): Message;
}

/** Return what reads turns of a format, from its table. */
export function load(format: Format): Loaded {
  const machine = machineOf(format);
  return {
    format,
    parser: (options) => new TurnParser(machine, options),
    parse: (text, options) => parseWith(new TurnParser(machine, options), text),
  };
}

/** Return what a format's parsers are made of. */
export function machineOf(format: Format): Machine {
  return { compiled: new CompiledFormat(format), makeCalls: callMaker(format) };
}

function callMaker({ calls, arguments: args, code }: Format): Machine["makeCalls"] {
  if (!calls || !args) return null;
  const value = args.values ? makeOtherValue : makeValue;
  if (calls.form === "objects") {
    const parts = { value, ...(code ? { code: (calls: Calls) => new Code(calls) } : {}) };
    return (text, options) => new ObjectCalls(text, options, parts);
  }
  const parts: HeadParts = {
    arguments: argumentsMaker(args),
    ...(code ? { code: (calls, reader) => new Code(calls, reader) } : {}),
  };
  return (text, options) => new HeadCalls(text, options, parts);
}

function argumentsMaker({ form, values, elements }: ArgumentsFormat): HeadParts["arguments"] {
  const value = values ? makeOtherValue : makeValue;
  switch (form) {
    case "json":
      return (calls) => new JsonArguments(calls, value);
    case "values":
      return (calls) => new ValueArguments(calls, value);
    case "text": {
      const nested = elements ? (reader: TextArguments) => new Elements(reader) : undefined;
      return (calls) => new TextArguments(calls, nested);
    }
  }
}
