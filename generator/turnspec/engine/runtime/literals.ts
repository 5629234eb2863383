/** Python's literals, which some models write where JSON belongs. */

import { floatText, joinHalves, MOST_DIGITS, quote } from "./json.js";
import { attempted, ValueError } from "./python.js";

const MOST_BRACKETS = 200; // in each other
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
const LITERAL_CONSTANTS = new Map([
  ["None", "null"],
  ["True", "true"],
  ["False", "false"],
]);
const CLOSING: Readonly<Record<string, string>> = { "[": "]", "{": "}", "(": ")" };
/** What can't be the name of an argument. */
const PYTHON_KEYWORDS =
  /^(?:False|None|True|and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield)$/;

/** See that a text is a literal, and one that JSON can hold. */
function check(isRight: unknown): void {
  if (!isRight) throw new ValueError("no literal of JSON");
}

/** Reads literals in a text as JSON; what is none is a ValueError. */
class LiteralReader {
  private readonly text: string;
  private position = 0;
  private depth: number; // of the brackets that are open
  isTuple = false; // whether the value that was read last is one, which JSON has not

  constructor(text: string, depth = 0) {
    check(!/\p{Cs}|\0/u.test(text));
    this.text = text;
    this.depth = depth;
  }

  /** Return the text's one literal. */
  whole(): string {
    const value = this.value();
    this.end();
    return value;
  }

  /** Return keyword arguments up to the bracket behind them. */
  keywords(): string {
    const members: string[] = [];
    this.listed(")", () => {
      const name = this.match(LITERAL_WORD).normalize("NFKC");
      check(name && !PYTHON_KEYWORDS.test(name));
      check(this.take("="));
      members.push(`${quote(name)}: ${this.match(JSON_WORD) || this.value()}`);
    });
    this.end();
    return `{${members.join(", ")}}`;
  }

  private end(): void {
    this.skip(true); // behind a literal, lines may be empty
    check(this.position === this.text.length);
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

  private value(): string {
    this.skip();
    const sign = this.text.charAt(this.position);
    const closing = CLOSING[sign];
    if (closing) return this.bracketed(sign, closing);
    this.isTuple = false;
    if (/[-+]/.test(sign)) return this.signed(sign);
    if (/[0-9.]/.test(sign)) return this.number(1);
    if (this.isString()) return this.strings();
    const constant = LITERAL_CONSTANTS.get(this.match(LITERAL_WORD));
    check(constant);
    return constant ?? "";
  }

  private signed(sign: string): string {
    this.position++;
    this.skip();
    let brackets = 0;
    while (this.take("(")) brackets++; // around a number they mean nothing
    const number = this.number(sign === "-" ? -1 : 1);
    for (; brackets > 0; brackets--) check(this.take(")"));
    return number;
  }

  private number(sign: 1 | -1): string {
    const text = this.match(LITERAL_NUMBER).replaceAll("_", "");
    check(text && !/[\p{L}\p{N}_.]/u.test(this.text.charAt(this.position)));
    if (!/^(?:0[xXoObB]|[0-9]+$)/.test(text)) {
      check(Number.isFinite(Number(text)));
      return floatText(sign * Number(text));
    }
    // Zeros before an integer would once have made it octal.
    check(text.length <= MOST_DIGITS && !/^0+[1-9]/.test(text));
    return String(BigInt(text) * BigInt(sign));
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
    check(!/^[bBfFrR]+["']/.test(this.text.slice(this.position, this.position + 3)));
    return quote(text);
  }

  private string(): string {
    const isRaw = /[rR]/.test(this.match(LITERAL_PREFIX));
    const sign = this.text.charAt(this.position);
    const isLong = this.text.startsWith(sign.repeat(3), this.position);
    const mark = isLong ? sign.repeat(3) : sign;
    const start = this.position + mark.length;
    let end = start;
    while (!this.text.startsWith(mark, end)) {
      const character = this.text.charAt(end);
      check(character && (isLong || !/[\r\n]/.test(character)));
      end += character !== "\\" ? 1 : this.text.startsWith("\r\n", end + 1) ? 3 : 2;
    }
    this.position = end + mark.length;
    const text = this.text.slice(start, end).replace(/\r\n?/g, "\n");
    return isRaw ? text : unescapedLiteral(text);
  }

  private bracketed(opening: string, closing: string): string {
    check(this.depth < MOST_BRACKETS);
    this.depth++;
    this.take(opening);
    const isObject = opening === "{";
    const inside: string[] = [];
    const commas = this.listed(closing, () => {
      inside.push(isObject ? this.member() : this.value());
    });
    if (opening === "(" && commas === 0 && inside[0]) return inside[0];
    this.isTuple = opening === "(";
    return isObject ? `{${inside.join(", ")}}` : `[${inside.join(", ")}]`;
  }

  /** Read what commas part, up to a bracket; return how many there are. */
  private listed(closing: string, read: () => void): number {
    let commas = 0;
    while (!this.isNext(closing)) {
      read();
      if (this.take(",")) commas++;
      else check(this.isNext(closing));
    }
    this.position += closing.length;
    this.depth--;
    this.skip();
    return commas;
  }

  private member(): string {
    const key = this.value();
    check(!/^[[{]/.test(key) && this.take(":"));
    return `${key.startsWith('"') ? key : quote(key)}: ${this.value()}`;
  }
}

function unescapedLiteral(text: string): string {
  return text.replace(LITERAL_ESCAPE, (all, two, four, eight, octal, other) => {
    const digits: string | undefined = two ?? four ?? eight;
    if (digits !== undefined) {
      const code = Number.parseInt(digits, 16);
      check(code <= 0x10ffff);
      return String.fromCodePoint(code);
    }
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
    if (other === undefined) return "";
    check(!"xuUN".includes(other));
    if (/[bfnrt"\\]/.test(other)) return JSON.parse(`"${all}"`) as string;
    return LITERAL_ESCAPES[other] ?? all;
  });
}

/** Return a literal that JSON has not, or what a function `_` is given by names, as JSON. */
export function literalAsJson(text: string): string | null {
  const found = attempted((): string | null => {
    if (text.startsWith("_(")) return new LiteralReader(text.slice(2), 1).keywords();
    const reader = new LiteralReader(text);
    const value = reader.whole();
    return reader.isTuple || /^["\d-]/.test(value) ? null : value;
  });
  return found ? joinHalves(found) : null;
}
