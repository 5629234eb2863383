/** Python's literals, which some models write where JSON belongs. */

import {
  addMember,
  CONSTANTS_OF_JSON,
  dumpJson,
  floatText,
  type JsonData,
  JsonNumber,
  type JsonObject,
  joinHalves,
} from "./json.js";
import { type Any, attempted, isList, ValueError } from "./python.js";

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
/** Escapes that JSON has not. */
const LITERAL_ESCAPES: Readonly<Record<string, string>> = { a: "\x07", v: "\v", "'": "'" };
const LITERAL_CONSTANTS: ReadonlyMap<string, boolean | null> = new Map([
  ["None", null],
  ["True", true],
  ["False", false],
]);
const CLOSING: Readonly<Record<string, string>> = { "[": "]", "{": "}", "(": ")" };
const NO_LITERAL = "no literal, or none that JSON can hold";

/** Reads literals in a text; what is none is a ValueError. */
class LiteralReader {
  private readonly text: string;
  private position = 0;
  private depth: number;
  /** Whether the value that was read last is a tuple, which JSON and schemas have not. */
  isTuple = false;

  /** `depth` is the number of brackets that are open already. */
  constructor(text: string, depth = 0) {
    if (/\p{Cs}|\0/u.test(text)) throw new ValueError(NO_LITERAL);
    this.text = text;
    this.depth = depth;
  }

  /** Return the text's one literal. */
  whole(): JsonData {
    const value = this.value();
    this.end();
    return value;
  }

  /** Return keyword arguments up to the bracket behind them. */
  keywords(): JsonObject {
    const members: JsonObject = new Map();
    this.listed(")", () => {
      const name = this.match(LITERAL_WORD).normalize("NFKC");
      if (!name || PYTHON_KEYWORDS.test(name)) throw new ValueError(NO_LITERAL);
      this.expect("=");
      const word = this.match(JSON_WORD);
      addMember(members, name, word ? (CONSTANTS_OF_JSON[word] ?? null) : this.value());
    });
    this.end();
    return members;
  }

  private end(): void {
    this.skip(true); // behind a literal, lines may be empty
    if (this.position < this.text.length) throw new ValueError(NO_LITERAL);
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
    if (isNext) this.position += sign.length;
    if (isNext) this.skip();
    return isNext;
  }

  private expect(sign: string): void {
    if (!this.take(sign)) throw new ValueError(NO_LITERAL);
  }

  private value(): JsonData {
    this.skip();
    const sign = this.text.charAt(this.position);
    const closing = CLOSING[sign];
    if (closing) return this.bracketed(sign, closing);
    this.isTuple = false;
    if (/[-+]/.test(sign)) return this.signed(sign);
    if (/[0-9.]/.test(sign)) return this.number(1);
    if (this.isString()) return this.strings();
    const word = this.match(LITERAL_WORD);
    const constant = LITERAL_CONSTANTS.get(word);
    if (constant === undefined) throw new ValueError(NO_LITERAL);
    return constant;
  }

  private signed(sign: string): JsonNumber {
    this.position++;
    this.skip();
    let brackets = 0;
    while (this.take("(")) brackets++; // around a number they mean nothing
    const number = this.number(sign === "-" ? -1 : 1);
    for (; brackets > 0; brackets--) this.expect(")");
    return number;
  }

  private number(sign: 1 | -1): JsonNumber {
    const text = this.match(LITERAL_NUMBER).replaceAll("_", "");
    const follows = this.text.charAt(this.position);
    const isInteger = /^(?:0[xXoObB]|[0-9]+$)/.test(text);
    const isLong = /^[0-9]/.test(text) && text.length > MOST_INTEGER_DIGITS;
    const isNone =
      !text ||
      /[\p{L}\p{N}_.]/u.test(follows) ||
      // Zeros before an integer would once have made it octal.
      (isInteger ? isLong || /^0+[1-9]/.test(text) : !Number.isFinite(Number(text)));
    if (isNone) throw new ValueError(NO_LITERAL);
    if (isInteger) return new JsonNumber(String(BigInt(text) * BigInt(sign)));
    return new JsonNumber(floatText(sign * Number(text)));
  }

  private isString(): boolean {
    LITERAL_PREFIX.lastIndex = this.position;
    return LITERAL_PREFIX.test(this.text);
  }

  /** Read strings, which are one if they stand beside each other. */
  private strings(): string {
    let text = "";
    while (this.isString()) {
      text += this.string();
      this.skip();
    }
    if (/^[bBfFrR]+["']/.test(this.text.slice(this.position, this.position + 3))) {
      throw new ValueError(NO_LITERAL);
    }
    return text;
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
      if (!character || (!isLong && /[\r\n]/.test(character))) throw new ValueError(NO_LITERAL);
      end += character !== "\\" ? 1 : this.text.startsWith("\r\n", end + 1) ? 3 : 2;
    }
    this.position = end + quote.length;
    const text = this.text.slice(start, end).replace(/\r\n?/g, "\n");
    return isRaw ? text : unescapedLiteral(text);
  }

  private bracketed(opening: string, closing: string): JsonData {
    if (this.depth === MOST_BRACKETS) throw new ValueError(NO_LITERAL);
    this.depth++;
    this.take(opening);
    const elements: JsonData[] = [];
    const members: JsonObject = new Map();
    if (opening === "{") this.listed(closing, () => this.member(members));
    const commas = opening === "{" || this.listed(closing, () => elements.push(this.value()));
    const [first] = elements;
    if (opening === "(" && commas === 0 && first !== undefined) return first;
    this.isTuple = opening === "(";
    return opening === "{" ? members : elements;
  }

  /** Read what commas part, up to a bracket; return how many there are. */
  private listed(closing: string, read: () => unknown): number {
    let commas = 0;
    while (!this.isNext(closing)) {
      read();
      if (this.take(",")) commas++;
      else if (!this.isNext(closing)) throw new ValueError(NO_LITERAL);
    }
    this.position += closing.length;
    this.depth--;
    this.skip();
    return commas;
  }

  private member(members: JsonObject): void {
    const key = this.value();
    if (this.isTuple || isList(key) || key instanceof Map) throw new ValueError(NO_LITERAL);
    this.expect(":");
    addMember(members, typeof key === "string" ? key : dumpJson(key), this.value());
  }
}

/** What can't be the name of an argument. */
const PYTHON_KEYWORDS =
  /^(?:False|None|True|and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield)$/;

function unescapedLiteral(text: string): string {
  return text.replace(LITERAL_ESCAPE, (all, two, four, eight, octal, other) => {
    const digits: string | undefined = two ?? four ?? eight;
    if (digits !== undefined) {
      const code = Number.parseInt(digits, 16);
      if (code > 0x10ffff) throw new ValueError(NO_LITERAL);
      return String.fromCodePoint(code);
    }
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
    if (other === undefined) return "";
    if ("xuUN".includes(other)) throw new ValueError(NO_LITERAL);
    if (/[bfnrt"\\]/.test(other)) return JSON.parse(`"${all}"`) as string;
    return LITERAL_ESCAPES[other] ?? all;
  });
}

/** Return a literal that JSON has not, or what a function `_` is given by names, as JSON. */
export function literalAsJson(text: string): string | null {
  if (text.startsWith("_(")) {
    const members = attempted(() => new LiteralReader(text.slice(2), 1).keywords());
    return members ? joinHalves(dumpJson(members)) : null;
  }
  const read = (): string | null => {
    const reader = new LiteralReader(text);
    const value = reader.whole();
    if (reader.isTuple || typeof value === "string" || value instanceof JsonNumber) return null;
    return joinHalves(dumpJson(value));
  };
  return attempted(read) ?? null;
}

/** Return the types that a value is of: of JSON, or of a schema. */
export function typesOf(value: Any): Set<string> {
  if (value instanceof JsonNumber || typeof value === "number") {
    const isInteger = typeof value === "number" ? Number.isInteger(value) : value.isInteger;
    return new Set(isInteger ? ["integer", "number"] : ["number"]);
  }
  return new Set([value === null ? "null" : isList(value) ? "array" : typeof value]);
}
