/** The format table: all that is particular to one format, as plain data. */
import { Markers, WORD_SIGN } from "./markers.js";
import { codePoints, isBlank } from "./strings.js";
/** Of one format that are kept. */
const MOST_VARIANTS = 9;
const WORDS = new RegExp(`(?:${WORD_SIGN}|-)+`, "gu");
/** A format table, with its sets of markers as they are asked for. */
export class CompiledFormat {
  table;
  /** The words in the format's own markers, if it has such that may hold any word. */
  words;
  sets = new Map();
  variants = new Map();
  /** What ends a turn by the format itself. */
  ownEnds;
  constructor(table, ownEnds = table.turn_end) {
    this.table = table;
    this.ownEnds = ownEnds;
    this.words = wordsOf(table);
  }
  /** The table's part on calls; of a format that has some. */
  get calls() {
    return callsOf(this.table);
  }
  /** The table's part on arguments; of a format that has calls. */
  get arguments() {
    return argumentsOf(this.table);
  }
  /** Return the markers that a function takes from the table. */
  markers(rolesOf) {
    let markers = this.sets.get(rolesOf);
    if (!markers) {
      markers = this.made(rolesOf(this.table));
      this.sets.set(rolesOf, markers);
    }
    return markers;
  }
  made(roles) {
    return new Markers(roles);
  }
  /** Return a variant of the format; the last ones are kept, as they take long to make. */
  variant(key, make) {
    let variant = this.variants.get(key);
    if (!variant) {
      variant = make(this);
      if (this.variants.size >= MOST_VARIANTS) this.variants.clear();
      this.variants.set(key, variant);
    }
    return variant;
  }
  /**
   * Return the format with further texts that end a turn.
   *
   * @throws RangeError if one of them is white space alone, or too long, or they are too many.
   */
  withEnds(ends) {
    if (ends.length === 0) return this;
    if (ends.length > 64 || ends.some((end) => codePoints(end) > 1000)) {
      throw new RangeError("stop: at most 64 texts of at most 1,000 characters each");
    }
    if (ends.some(isBlank)) throw new RangeError("a stop string needs more than white space");
    const notations = ends.map((end) => end.replaceAll("{", "{{").replaceAll("}", "}}"));
    const { turn_end } = this.table;
    return new CompiledFormat({ ...this.table, turn_end: [...turn_end, ...notations] }, turn_end);
  }
}
function wordsOf({ reasoning, content, calls }) {
  const texts = textsOf([reasoning, content, calls]).join("\n");
  const outsideSlots = texts.replace(/\{(?!\?)[^{}]*\}/g, " ");
  return new Set(texts.includes("{word") ? outsideSlots.match(WORDS) : []);
}
/** Return all texts in a table, or in a part of one. */
export function textsOf(value) {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value ? Object.values(value).flatMap(textsOf) : [];
}
/** Return a table's part on calls; of a format that has some. */
export function callsOf(table) {
  if (!table.calls) throw new TypeError("a format without calls");
  return table.calls;
}
/** Return a table's part on arguments; of a format that has calls. */
export function argumentsOf(table) {
  if (!table.arguments) throw new TypeError("a format without arguments");
  return table.arguments;
}
