/** What Python's values do and JavaScript's don't: texts, truth, members, expressions. */

// biome-ignore lint/suspicious/noExplicitAny: what JSON, tools and options hold
export type Any = any;
/** An object of JSON: of the user's, or one that was read, whose members keep their order. */
export type Json = object;

/** What Python tells by its error of that name. */
export class ValueError extends RangeError {}

/** Return what a function returns; undefined if it throws a ValueError. */
export function attempted<V>(read: () => V): V | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof ValueError) return undefined;
    throw error;
  }
}

// Texts.

const ANY_SPACE = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

export function stripStart(text: string, signs?: string): string {
  let at = 0;
  while (at < text.length && belongsTo(text.charAt(at), signs)) at++;
  return at > 0 ? text.slice(at) : text;
}

export function stripEnd(text: string, signs?: string): string {
  let end = text.length;
  while (end > 0 && belongsTo(text.charAt(end - 1), signs)) end--;
  return end < text.length ? text.slice(0, end) : text;
}

export function strip(text: string, signs?: string): string {
  return stripStart(stripEnd(text, signs), signs);
}

function belongsTo(sign: string, signs: string | undefined): boolean {
  return signs === undefined ? ANY_SPACE.test(sign) : signs.includes(sign);
}

/** Return a text's words, which white space parts. */
export function wordsIn(text: string): string[] {
  return text.split(new RegExp(`${ANY_SPACE.source}+`)).filter(Boolean);
}

/** Return characters of a text, of which some are two of JavaScript's. */
export function characters(text: string, start: number, end: number): string {
  if (text.charCodeAt(0) < 0xd800 && end === 1) return text.charAt(start);
  return Array.from(text.slice(0, 2 * end))
    .slice(start, end)
    .join("");
}

/** Return so many characters of a text from a position on. */
export function charactersAt(text: string, at: number, count: number): string {
  if (count === 1 && text.charCodeAt(at) < 0xd800) return text.charAt(at);
  return characters(text.slice(at, at + 2 * count), 0, count);
}

export function countOf(text: string, sought: string): number {
  return text.split(sought).length - 1;
}

export function isDecimal(text: string): boolean {
  return /^\p{Nd}+$/u.test(text);
}

const NOT_PRINTABLE = /\p{C}|(?! )\p{Z}|\\/gu;

/** Return a text in quotes, with escapes for what nobody sees. */
export function repr(value: unknown): string {
  if (typeof value !== "string") return String(value);
  const sign = value.includes("'") && !value.includes('"') ? '"' : "'";
  const visible = value.replace(NOT_PRINTABLE, (sign) => {
    const code = sign.codePointAt(0) ?? 0;
    const digits = code > 0xffff ? 8 : code > 0xff ? 4 : 2;
    const letter = code > 0xffff ? "U" : code > 0xff ? "u" : "x";
    if (/[\n\r\t\\]/.test(sign)) return JSON.stringify(sign).slice(1, -1);
    return `\\${letter}${code.toString(16).padStart(digits, "0")}`;
  });
  return sign + (sign === "'" ? visible.replaceAll("'", "\\'") : visible) + sign;
}

/**
 * The pieces of a text that grows.
 *
 * The latest are kept apart, as joining each of them would take long; but not all of them, as many
 * small strings that stay are what a collector of garbage takes long for.
 */
export class GrowingText {
  private joined = "";
  private readonly latest: string[] = [];
  private count = 0;
  /** How long the text is. */
  length = 0;

  push(piece: string): void {
    this.length += piece.length;
    this.latest[this.count] = piece;
    this.count += 1;
    if (this.count === 256) this.join("");
  }

  join(_between: ""): string {
    this.joined += this.latest.slice(0, this.count).join("");
    this.count = 0;
    return this.joined;
  }

  at(_last: -1): string {
    return this.latest[this.count - 1] ?? this.joined;
  }
}

/** Return so many characters before and after a place. */
export function near(pieces: GrowingText, place: number, most: number): [string, string] {
  const text = pieces.join("");
  return [text.slice(Math.max(0, place - most), place), text.slice(place, place + most)];
}

// Truth and membership.

export function isList(value: unknown): value is readonly Any[] {
  return Array.isArray(value);
}

/** Say whether a value is an object of JSON. */
export function isMapping(value: unknown): value is Json {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return value instanceof Map || !("jsonText" in value);
}

export function truthy(value: Any): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (value instanceof Map || value instanceof Set) return value.size > 0;
  return isMapping(value) ? Object.keys(value).length > 0 : Boolean(value);
}

/** Return the first value if it is true, else the second. */
export function either<A, B>(first: A, second: B): NonNullable<A> | B {
  return truthy(first) ? (first as NonNullable<A>) : second;
}

export function memberOf(object: Any, key: string, other: Any = null): Any {
  if (object instanceof Map) return object.get(key) ?? other;
  return Object.hasOwn(object, key) ? (object[key] ?? null) : other;
}

export function hasMember(object: Any, key: string): boolean {
  if (object instanceof Map || object instanceof Set) return object.has(key);
  return Array.isArray(object) ? object.includes(key) : Object.hasOwn(object, key);
}

export function keysOf(object: Json): string[] {
  return object instanceof Map ? [...object.keys()] : Object.keys(object);
}

export function membersOf(object: Json): [string, Any][] {
  return object instanceof Map ? [...object] : Object.entries(object);
}

const IDENTITIES = new WeakMap<object, number>();
let identities = 0;

/** Return a number that no other object has. */
export function identity(value: object): number {
  const found = IDENTITIES.get(value) ?? identities++;
  IDENTITIES.set(value, found);
  return found;
}

/** Return what Python goes through: a list's elements, or an object's keys. */
export function walked(value: Any): Iterable<Any> {
  return isMapping(value) ? keysOf(value) : value;
}

/** Say whether two lists hold the same. */
export function equal<V>(one: readonly V[], other: readonly V[]): boolean {
  return one.length === other.length && one.every((value, at) => value === other[at]);
}

export function among<V>(value: V, values: readonly V[]): boolean {
  return values.includes(value);
}

export function intersection<V>(one: ReadonlySet<V>, other: ReadonlySet<V>): Set<V> {
  return new Set([...one].filter((value) => other.has(value)));
}

export function difference<V>(one: ReadonlySet<V>, other: ReadonlySet<V>): Set<V> {
  return new Set([...one].filter((value) => !other.has(value)));
}

export function isSubset<V>(one: ReadonlySet<V>, other: ReadonlySet<V>): boolean {
  return [...one].every((value) => other.has(value));
}

export function addAll(container: Set<Any> | Map<Any, Any>, values: Iterable<Any>): void {
  for (const value of values) {
    if (container instanceof Map) container.set(value[0], value[1]);
    else container.add(value);
  }
}

/** Return a member of a map, which is the other value from now on if there was none. */
export function keptIn<K, V>(map: Map<K, V>, key: K, other: V): V {
  const found = map.get(key) ?? other;
  map.set(key, found);
  return found;
}

/** Take a member out of a map; return the other value if there is none. */
export function taken<K, V, O>(map: Map<K, V>, key: K, other: O): V | O {
  const found = map.has(key) ? (map.get(key) as V) : other;
  map.delete(key);
  return found;
}

export function zip<A, B>(ones: readonly A[], others: readonly B[]): [A, B][] {
  return ones.map((one, at) => [one, others[at] as B]);
}

type Key = number | string | boolean | readonly (number | string | boolean)[];

/** Sort values by keys: numbers, texts, or lists of them. */
export function sortBy<V>(values: V[], by: (value: V) => Key): V[] {
  return values.sort((a, b) => {
    const [one, other] = [[by(a)].flat(), [by(b)].flat()];
    const at = one.findIndex((part, index) => part !== other[index]);
    return at < 0 ? 0 : (one[at] as number) < (other[at] as number) ? -1 : 1;
  });
}

/** Keep what a function returned for what it was given last. */
export function remembered<A extends unknown[], R>(size: number, call: (...given: A) => R) {
  const known = new Map<string, R>();
  return (...given: A): R => {
    const key = JSON.stringify(given);
    const found = known.get(key) ?? call(...given);
    known.delete(key);
    known.set(key, found);
    const [oldest] = known.keys();
    if (known.size > size && oldest !== undefined) known.delete(oldest);
    return found;
  };
}

// Expressions.

/** Return an expression of Python's as JavaScript has it; note the names of its groups. */
function translated(source: string, names: string[]): string {
  let isInClass = false;
  return source.replace(/\\[\s\S]|\(\?P([<=])(\w+)[>)]|\((?!\?)|[[\]]/g, (step, sign, name) => {
    if (sign === "=") return `\\${names.indexOf(name) + 1}`;
    // Groups have numbers alone, which take less long than names.
    if (step.startsWith("(") && !isInClass) names.push(name ?? "");
    if (name) return "(";
    if (step === "\\Z") return "$";
    if (step === "\\w") return isInClass ? "\\p{L}\\p{N}_" : "[\\p{L}\\p{N}_]";
    if (step === "[") isInClass = true;
    else if (step === "]") isInClass = false;
    else if (step === "\\-") return isInClass ? step : "-";
    // Other signs need no escape, and may have none.
    return /^\\[^\w^$\\.*+?()[\]{}|/]$/.test(step) ? step.charAt(1) : step;
  });
}

/** What an expression found. */
export class Match {
  private readonly found: RegExpExecArray;
  private readonly names: readonly string[];

  constructor(found: RegExpExecArray, names: readonly string[]) {
    this.found = found;
    this.names = names;
  }

  /** Return what a group found; by default all of it. */
  get(group: number | string = 0): string {
    const number = typeof group === "number" ? group : this.names.indexOf(group) + 1;
    return this.found[number] ?? (null as Any);
  }

  start(): number {
    return this.found.index;
  }

  end(): number {
    return this.found.index + this.found[0].length;
  }

  /** The name of the last group that found something. */
  get lastgroup(): string | null {
    for (let at = this.names.length; at > 0; at--) {
      if (this.found[at] !== undefined) return this.names[at - 1] || null;
    }
    return null;
  }
}

/** An expression of Python's. */
export class Pattern {
  readonly source: string;
  readonly groupindex: readonly string[];
  private readonly names: string[] = [];
  private readonly here: RegExp;
  private readonly anywhere: RegExp;
  private whole: RegExp | null = null;

  constructor(source: string) {
    const own = translated(source, this.names);
    this.source = source;
    this.groupindex = this.names.filter(Boolean);
    // What may hold any characters takes pairs of surrogates for one; else it is quicker without.
    const flag = /[^\x00-\x7f]|\\[upSW]|\{\d|\[\^/.test(own) ? "u" : "";
    this.here = new RegExp(own, `${flag}y`);
    this.anywhere = new RegExp(own, `${flag}g`);
  }

  match(text: string, at = 0, end = text.length): Match | null {
    return this.executed(this.here, text, at, end);
  }

  fullmatch(text: string, at = 0, end = text.length): Match | null {
    this.whole ??= new RegExp(`(?:${this.here.source})$`, this.here.flags);
    return this.executed(this.whole, text, at, end);
  }

  search(text: string, at = 0, end = text.length): Match | null {
    return this.executed(this.anywhere, text, at, end);
  }

  /** Say whether it finds something. */
  isIn(text: string): boolean {
    this.anywhere.lastIndex = 0;
    return this.anywhere.test(text);
  }

  *finditer(text: string, at = 0, end = text.length): Generator<Match, void> {
    let found = this.search(text, at, end);
    while (found) {
      yield found;
      const next = Math.max(found.end(), found.start() + 1);
      found = next > end ? null : this.search(text, next, end);
    }
  }

  findall(text: string): string[] {
    return Array.from(this.finditer(text), (match) => match.get());
  }

  sub(by: string | ((match: Match) => string), text: string): string {
    let made = "";
    let at = 0;
    for (const match of this.finditer(text)) {
      made += text.slice(at, match.start()) + (typeof by === "string" ? by : by(match));
      at = match.end();
    }
    return made + text.slice(at);
  }

  private executed(expression: RegExp, text: string, at: number, end: number): Match | null {
    expression.lastIndex = at;
    const match = expression.exec(end < text.length ? text.slice(0, end) : text);
    return match && new Match(match, this.names);
  }
}

/** Return an expression, made once. */
export const pattern = remembered(99, (source: string): Pattern => new Pattern(source));

export function escapedForPattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
