/** What Python's values do and JavaScript's don't: texts, truth, members, expressions. */

/** What JSON, tools and options hold. */
export type Any = ReturnType<JSON["parse"]>;
/** An object of JSON: of the user's, or one that was read, whose members keep their order. */
export type Json = object;

/** What Python tells by its error of that name. */
export class ValueError extends TypeError {}

/** Return what a function returns; undefined if it throws a ValueError. */
export function attempted<V>(read: () => V): V | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof ValueError) return undefined;
    throw error;
  }
}

/** All that Python takes for white space. */
const SPACES =
  "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000";

export function stripStart(text: string, signs = SPACES): string {
  let at = 0;
  while (at < text.length && signs.includes(text.charAt(at))) at++;
  return at > 0 ? text.slice(at) : text;
}

export function stripEnd(text: string, signs = SPACES): string {
  let end = text.length;
  while (end > 0 && signs.includes(text.charAt(end - 1))) end--;
  return end < text.length ? text.slice(0, end) : text;
}

export function strip(text: string, signs = SPACES): string {
  return stripStart(stripEnd(text, signs), signs);
}

/** Return a text's words, which white space parts. */
export function wordsIn(text: string): string[] {
  return text.split(new RegExp(`[${SPACES}]+`)).filter(Boolean);
}

/** Return characters of a text, of which some are two of JavaScript's, from a position on. */
export function characters(text: string, start: number, end: number, at = 0): string {
  if (end === 1 && text.charCodeAt(at) < 0xd800) return text.charAt(at);
  return Array.from(text.slice(at, at + 2 * end))
    .slice(start, end)
    .join("");
}

/** Return a text in quotes, with escapes for what nobody sees. */
export function repr(value: unknown): string {
  if (Object(value) === value) return {}.toString.call(value);
  if (typeof value !== "string") return String(value);
  const mark = value.includes("'") && !value.includes('"') ? '"' : "'";
  const visible = value.replace(/\p{C}|(?! )\p{Z}|[\\']/gu, (sign) => {
    if (sign === "'") return mark === sign ? "\\'" : sign;
    if (/[\n\r\t\\]/.test(sign)) return JSON.stringify(sign).slice(1, -1);
    const code = sign.codePointAt(0) ?? 0;
    const [letter, digits] = code > 0xffff ? ["U", 8] : code > 0xff ? ["u", 4] : ["x", 2];
    return `\\${letter}${code.toString(16).padStart(digits, "0")}`;
  });
  return mark + visible + mark;
}

/**
 * The pieces of a text that grows: the latest are kept apart, as joining each of them would take
 * long; but not all, as many small strings that stay are what a collector of garbage takes long for.
 */
export class GrowingText {
  private joined = "";
  private readonly latest: string[] = [];
  private count = 0; // of these: the list stays, as one that grows anew takes longer
  length = 0; // of the text

  push(piece: string): void {
    this.length += piece.length;
    this.latest[this.count++] = piece;
    if (this.count === 256) this.join("");
  }

  join(between: ""): string {
    this.joined += this.latest.slice(0, this.count).join(between);
    this.count = 0;
    return this.joined;
  }

  slice(start: number, end?: number): [string] {
    if (start < 0 && end === undefined) {
      const latest = this.latest.slice(0, this.count).join("");
      const before = -start - latest.length; // so much of what is joined
      return [(before > 0 ? this.joined.slice(-before) : "") + latest];
    }
    return [this.join("").slice(start, end)];
  }

  at(last: -1): string {
    return this.latest[this.count + last] ?? this.joined;
  }
}

export const isList = (value: unknown): value is readonly Any[] => Array.isArray(value);

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

/** Return what Python goes through: a list's elements, or an object's keys. */
export const walked = (value: Any): Iterable<Any> => (isMapping(value) ? keysOf(value) : value);

export const among = <V>(value: V, values: readonly V[]): boolean => values.includes(value);

export function intersection<V>(one: ReadonlySet<V>, other: ReadonlySet<V>): Set<V> {
  return new Set([...one].filter((value) => other.has(value)));
}

export function difference<V>(one: ReadonlySet<V>, other: ReadonlySet<V>): Set<V> {
  return new Set([...one].filter((value) => !other.has(value)));
}

/** Return a member of a map, which is the other value from now on if there was none. */
export function keptIn<K, V>(map: Map<K, V>, key: K, other: V): V {
  const found = map.get(key) ?? other;
  map.set(key, found);
  return found;
}

/** Keep what a function returned for what it was given last. */
export function remembered<A extends unknown[], R>(size: number, call: (...given: A) => R) {
  const known = new Map<string, R>();
  return (...given: A): R => {
    const key = JSON.stringify(given);
    const found = known.get(key) ?? call(...given);
    if (known.size === size && !known.has(key)) known.clear();
    known.set(key, found);
    return found;
  };
}

/** Return a function that gives what one made when it was first asked. */
export function once<V>(make: () => V) {
  let made: V | undefined;
  return (): V => (made ??= make());
}

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
    if (step === "\\W") return isInClass ? "\\p{M}\\p{P}\\p{S}\\p{Z}\\p{C}" : "[^\\p{L}\\p{N}_]";
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
  //#if lastgroup

  /** The name of the last group that found something. */
  get lastgroup(): string | null {
    for (let at = this.names.length; at > 0; at--) {
      if (this.found[at] !== undefined) return this.names[at - 1] || null;
    }
    return null;
  }
  //#end
}

type Finder = (text: string, at?: number, end?: number) => Match | null;

/** An expression of Python's. */
export class Pattern {
  //#if groupindex
  readonly groupindex: readonly string[];
  //#end
  readonly match: Finder;
  readonly fullmatch: Finder;
  readonly search: Finder;
  private readonly names: string[] = [];
  private readonly anywhere: RegExp;

  constructor(source: string) {
    const own = translated(source, this.names);
    //#if groupindex
    this.groupindex = this.names.filter(Boolean);
    //#end
    // What may hold any characters takes pairs of surrogates for one; else it is quicker without.
    const flag = /[\x80-\uffff]|\\[upSW]|\{\d|\[\^/.test(own) ? "u" : "";
    this.anywhere = new RegExp(own, `${flag}g`);
    this.match = this.finder(new RegExp(own, `${flag}y`));
    this.fullmatch = this.finder(new RegExp(`(?:${own})$`, `${flag}y`));
    this.search = this.finder(this.anywhere);
  }

  /** Say whether it finds something. */
  isIn(text: string): boolean {
    this.anywhere.lastIndex = 0;
    return this.anywhere.test(text);
  }

  finditer(text: string): Match[] {
    this.anywhere.lastIndex = 0;
    return Array.from(text.matchAll(this.anywhere), (found) => new Match(found, this.names));
  }

  findall(text: string): string[] {
    return this.finditer(text).map((match) => match.get());
  }

  sub(by: string | ((match: Match) => string), text: string): string {
    if (typeof by === "string") return text.replace(this.anywhere, () => by);
    const found = this.finditer(text).values();
    return text.replace(this.anywhere, () => by(found.next().value as Match));
  }

  private finder(expression: RegExp): Finder {
    const find: Finder = (text, at = 0, end = text.length) => {
      expression.lastIndex = at;
      const found = expression.exec(end < text.length ? text.slice(0, end) : text);
      if (found && found.index < at) return find(text, at + 1, end); // it was half a character
      return found && new Match(found, this.names);
    };
    return find;
  }
}

/** Return an expression, made once. */
export const pattern = remembered(99, (source: string): Pattern => new Pattern(source));

export function escapedForPattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
