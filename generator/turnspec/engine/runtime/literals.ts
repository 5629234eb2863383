/** Python's literals, which some models write where JSON belongs. */

import { dumpJson, floatText, JsonNumber, joinHalves } from "./json.js";
import { type Any, isList } from "./python.js";

/** A literal's type, and its JSON; null where JSON has no such value. */
interface PythonLiteral {
  readonly type: "null" | "boolean" | "number" | "string" | "array" | "object" | "tuple";
  readonly json: string;
}

/** How deeply brackets may be nested. */
const MOST_BRACKETS = 200;
const MOST_INTEGER_DIGITS = 4300;
const LITERAL_SPACE = /(?:[ \t\f]|\\\r?\n)*/y;
// Within brackets lines may end, and hold comments.
const BRACKETED_SPACE = /(?:[ \t\f\r\n]|\\\r?\n|#[^\r\n]*)*/y;
const LITERAL_WORD = /[\p{XID_Start}_]\p{XID_Continue}*/uy;
const JSON_WORD = /(?:true|false|null)(?![\p{L}\p{N}_])/uy;
const LITERAL_NUMBER =
  /0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+|(?:[0-9](?:_?[0-9])*\.(?:[0-9](?:_?[0-9])*)?|\.[0-9](?:_?[0-9])*|[0-9](?:_?[0-9])*)(?:[eE][-+]?[0-9](?:_?[0-9])*)?/y;
const LITERAL_PREFIX = /(?:[rR]|[uU])?(?=["'])/y;
const LITERAL_ESCAPE =
  /\\(?:\n|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|([\s\S]))/gu;
const LITERAL_ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  b: "\b",
  f: "\f",
  a: "\x07",
  v: "\v",
  "\\": "\\",
  "'": "'",
  '"': '"',
};
const LITERAL_CONSTANTS: Readonly<Record<string, null | boolean>> = {
  None: null,
  True: true,
  False: false,
};
/** What is no key in a dictionary that JSON can hold. */
const NO_KEYS: readonly string[] = ["array", "object", "tuple"];
const LONE_SURROGATE = /\p{Cs}/u;

/** What is no literal, or none that JSON can hold. */
class NoLiteral extends Error {}

/** Reads literals in a text. */
class LiteralReader {
  private readonly text: string;
  private position = 0;
  private depth: number;

  /** `depth` is the number of brackets that are open already. */
  constructor(text: string, depth = 0) {
    this.text = text;
    this.depth = depth;
  }

  /** Return the text's one literal, or null. */
  static read(text: string): PythonLiteral | null {
    return new LiteralReader(text).attempt((reader) => {
      const literal = reader.literal();
      reader.skip(true); // behind a literal, lines may be empty
      return reader.isAtEnd ? literal : null;
    });
  }

  /** Return keyword arguments up to the bracket behind them, as an object in JSON; or null. */
  static readKeywords(text: string): string | null {
    return new LiteralReader(text, 1).attempt((reader) => {
      const members: string[] = [];
      while (!reader.take(")")) {
        const name = reader.match(LITERAL_WORD).normalize("NFKC");
        if (!name || PYTHON_KEYWORDS.has(name) || !reader.take("=")) return null;
        const json = reader.match(JSON_WORD) || reader.literal().json;
        members.push(`${joinHalves(dumpJson(name))}: ${json}`);
        if (!reader.take(",") && !reader.isNext(")")) return null;
      }
      reader.depth--;
      reader.skip(true);
      return reader.isAtEnd ? `{${members.join(", ")}}` : null;
    });
  }

  private attempt<T>(read: (reader: LiteralReader) => T | null): T | null {
    if (LONE_SURROGATE.test(this.text) || this.text.includes("\0")) return null;
    try {
      return read(this);
    } catch (error) {
      if (error instanceof NoLiteral) return null;
      throw error;
    }
  }

  private get isAtEnd(): boolean {
    return this.position === this.text.length;
  }

  private skip(acrossLines = this.depth > 0): void {
    this.match(acrossLines ? BRACKETED_SPACE : LITERAL_SPACE);
  }

  private match(pattern: RegExp): string {
    pattern.lastIndex = this.position;
    const found = pattern.exec(this.text)?.[0] ?? "";
    this.position += found.length;
    return found;
  }

  private isNext(sign: string): boolean {
    this.skip();
    return this.text.startsWith(sign, this.position);
  }

  private take(sign: string): boolean {
    const isNext = this.isNext(sign);
    if (isNext) {
      this.position += sign.length;
      this.skip();
    }
    return isNext;
  }

  private literal(): PythonLiteral {
    this.skip();
    const sign = this.text.charAt(this.position);
    if ("[({".includes(sign) && sign) return this.bracketed(sign);
    if (/[-+]/.test(sign)) return this.signed(sign);
    if (/[0-9.]/.test(sign)) return this.number(1);
    if (this.isString()) return this.strings();
    const word = this.match(LITERAL_WORD);
    if (!Object.hasOwn(LITERAL_CONSTANTS, word)) throw new NoLiteral();
    const value = LITERAL_CONSTANTS[word] ?? null;
    return { type: value === null ? "null" : "boolean", json: String(value) };
  }

  private signed(sign: string): PythonLiteral {
    this.position++;
    this.skip();
    let brackets = 0;
    while (this.take("(")) brackets++; // around a number they mean nothing
    const number = this.number(sign === "-" ? -1 : 1);
    for (; brackets > 0; brackets--) if (!this.take(")")) throw new NoLiteral();
    return number;
  }

  private number(sign: 1 | -1): PythonLiteral {
    const text = this.match(LITERAL_NUMBER).replaceAll("_", "");
    const follows = this.text.charAt(this.position);
    if (!text || /[\p{L}\p{N}_.]/u.test(follows)) throw new NoLiteral();
    const isInteger = /^(?:0[xXoObB]|[0-9]+$)/.test(text);
    // Zeros before an integer would once have made it octal.
    if (isInteger && /^0+[1-9]/.test(text)) throw new NoLiteral();
    if (!isInteger) {
      const value = sign * Number(text);
      if (!Number.isFinite(value)) throw new NoLiteral();
      return { type: "number", json: floatText(value) };
    }
    if (/^[0-9]/.test(text) && text.length > MOST_INTEGER_DIGITS) throw new NoLiteral();
    const value = BigInt(text) * BigInt(sign);
    return { type: "number", json: String(value) };
  }

  private isString(): boolean {
    LITERAL_PREFIX.lastIndex = this.position;
    return LITERAL_PREFIX.test(this.text);
  }

  /** Read strings, which are one if they stand beside each other. */
  private strings(): PythonLiteral {
    let text = "";
    while (this.isString()) {
      text += this.string();
      this.skip();
    }
    if (/^[bBfFrR]+["']/.test(this.text.slice(this.position, this.position + 3))) {
      throw new NoLiteral();
    }
    return { type: "string", json: joinHalves(dumpJson(text)) };
  }

  private string(): string {
    const isRaw = /[rR]/.test(this.match(LITERAL_PREFIX));
    const sign = this.text.charAt(this.position);
    const isLong = this.text.startsWith(sign.repeat(3), this.position);
    const quote = isLong ? sign.repeat(3) : sign;
    const start = this.position + quote.length;
    let end = start;
    while (!this.text.startsWith(quote, end)) {
      const character = this.text.charAt(end);
      if (!character || (!isLong && /[\r\n]/.test(character))) throw new NoLiteral();
      end += character !== "\\" ? 1 : this.text.startsWith("\r\n", end + 1) ? 3 : 2;
    }
    this.position = end + quote.length;
    const text = this.text.slice(start, end).replace(/\r\n?/g, "\n");
    return isRaw ? text : unescapedLiteral(text);
  }

  private bracketed(opening: string): PythonLiteral {
    if (this.depth === MOST_BRACKETS) throw new NoLiteral();
    this.depth++;
    this.take(opening);
    const closing = opening === "[" ? "]" : opening === "{" ? "}" : ")";
    const literal = opening === "{" ? this.dictionary() : this.sequence(closing);
    this.skip();
    this.position += closing.length;
    this.depth--;
    this.skip();
    return literal;
  }

  private dictionary(): PythonLiteral {
    const members: string[] = [];
    while (!this.isNext("}")) {
      const { json, type } = this.literal();
      if (NO_KEYS.includes(type) || !this.take(":")) throw new NoLiteral();
      members.push(`${type === "string" ? json : `"${json}"`}: ${this.literal().json}`);
      if (!this.take(",") && !this.isNext("}")) throw new NoLiteral();
    }
    return { type: "object", json: `{${members.join(", ")}}` };
  }

  private sequence(closing: string): PythonLiteral {
    const elements: PythonLiteral[] = [];
    let commas = 0;
    while (!this.isNext(closing)) {
      elements.push(this.literal());
      if (this.take(",")) commas++;
      else if (!this.isNext(closing)) throw new NoLiteral();
    }
    const [first] = elements;
    if (closing === ")" && first && commas === 0) return first;
    const json = `[${elements.map((element) => element.json).join(", ")}]`;
    return { type: closing === ")" ? "tuple" : "array", json };
  }
}

/** What can't be the name of an argument. */
const PYTHON_KEYWORDS: ReadonlySet<string> = new Set(
  (
    "False None True and as assert async await break class continue def del elif else except " +
    "finally for from global if import in is lambda nonlocal not or pass raise return try while " +
    "with yield"
  ).split(" "),
);

function unescapedLiteral(text: string): string {
  return text.replace(LITERAL_ESCAPE, (all, two, four, eight, octal, other) => {
    const digits: string | undefined = two ?? four ?? eight;
    if (digits !== undefined) {
      const code = Number.parseInt(digits, 16);
      if (code > 0x10ffff) throw new NoLiteral();
      return String.fromCodePoint(code);
    }
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
    if (other === undefined) return "";
    if ("xuUN".includes(other)) throw new NoLiteral();
    return LITERAL_ESCAPES[other] ?? all;
  });
}

/** Return a literal that JSON has not, or what a function `_` is given by names, as JSON. */
export function literalAsJson(text: string): string | null {
  if (text.startsWith("_(")) return LiteralReader.readKeywords(text.slice(2));
  const found = LiteralReader.read(text);
  return !found || ["number", "string", "tuple"].includes(found.type) ? null : found.json;
}

/** Return the types that a value is of: of JSON, or of a schema. */
export function typesOf(value: Any): Set<string> {
  if (value === null) return new Set(["null"]);
  if (isList(value)) return new Set(["array"]);
  if (value instanceof Map) return new Set(["object"]);
  if (value instanceof JsonNumber) return ofNumber(value.isInteger);
  if (typeof value === "number") return ofNumber(Number.isInteger(value));
  return new Set([typeof value]);
}

function ofNumber(isInteger: boolean): Set<string> {
  return new Set(isInteger ? ["integer", "number"] : ["number"]);
}
