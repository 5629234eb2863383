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

/** Return a literal that JSON has not, or what a function `_` is given by names, as JSON. */
export function literalAsJson(text: string): string | null {
  const isCall = text.startsWith("_(");
  let at = isCall ? 2 : 0;
  let depth = isCall ? 1 : 0; // of the brackets that are open
  let isTuple = false; // whether the value that was read last is one, which JSON has not

  const match = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0] ?? "";
    at += found.length;
    return found;
  };
  const skip = (isInBrackets = depth > 0): string =>
    match(isInBrackets ? BRACKETED_SPACE : LITERAL_SPACE);
  const isNext = (sign: string): boolean => {
    skip();
    return text.startsWith(sign, at);
  };
  const take = (sign: string): boolean => {
    const isTaken = isNext(sign);
    if (isTaken) at += sign.length;
    if (isTaken) skip();
    return isTaken;
  };
  const value = (): string => {
    skip();
    const sign = text.charAt(at);
    const closing = CLOSING[sign];
    if (closing) return bracketed(sign, closing);
    isTuple = false;
    if (/[-+]/.test(sign)) return signed(sign);
    if (/[0-9.]/.test(sign)) return number(1);
    if (isString()) return strings();
    const constant = LITERAL_CONSTANTS.get(match(LITERAL_WORD)) ?? "";
    check(constant);
    return constant;
  };
  const signed = (sign: string): string => {
    at++;
    skip();
    let brackets = 0;
    while (take("(")) brackets++; // around a number they mean nothing
    const found = number(sign === "-" ? -1 : 1);
    for (; brackets > 0; brackets--) check(take(")"));
    return found;
  };
  const number = (sign: 1 | -1): string => {
    const digits = match(LITERAL_NUMBER).replaceAll("_", "");
    check(digits && !/[\p{L}\p{N}_.]/u.test(text.charAt(at)));
    if (!/^(?:0[xXoObB]|[0-9]+$)/.test(digits)) {
      check(Number.isFinite(Number(digits)));
      return floatText(sign * Number(digits));
    }
    // Zeros before an integer would once have made it octal.
    check(digits.length <= MOST_DIGITS && !/^0+[1-9]/.test(digits));
    return String(BigInt(digits) * BigInt(sign));
  };
  const isString = (): boolean => {
    LITERAL_PREFIX.lastIndex = at;
    return LITERAL_PREFIX.test(text);
  };
  // Strings are one if they stand beside each other.
  const strings = (): string => {
    let found = "";
    for (; isString(); skip()) found += string();
    check(!/^[bBfFrR]+["']/.test(text.slice(at, at + 3)));
    return quote(found);
  };
  const string = (): string => {
    const isRaw = /[rR]/.test(match(LITERAL_PREFIX));
    const sign = text.charAt(at);
    const isLong = text.startsWith(sign.repeat(3), at);
    const mark = isLong ? sign.repeat(3) : sign;
    const start = at + mark.length;
    at = start;
    while (!text.startsWith(mark, at)) {
      const character = text.charAt(at);
      check(character && (isLong || !/[\r\n]/.test(character)));
      at += character !== "\\" ? 1 : text.startsWith("\r\n", at + 1) ? 3 : 2;
    }
    const inner = text.slice(start, at).replace(/\r\n?/g, "\n");
    at += mark.length;
    return isRaw ? inner : inner.replace(LITERAL_ESCAPE, unescaped);
  };
  const bracketed = (opening: string, closing: string): string => {
    check(depth < MOST_BRACKETS);
    depth++;
    take(opening);
    const { found, commas } = listed(closing, opening === "{" ? member : value);
    if (opening === "(" && commas === 0 && found[0]) return found[0];
    isTuple = opening === "(";
    return opening === "{" ? `{${found.join(", ")}}` : `[${found.join(", ")}]`;
  };
  const listed = (closing: string, read: () => string): { found: string[]; commas: number } => {
    const found: string[] = [];
    let commas = 0;
    while (!isNext(closing)) {
      found.push(read());
      if (take(",")) commas++;
      else check(isNext(closing));
    }
    at += closing.length;
    depth--;
    skip();
    return { found, commas };
  };
  const member = (): string => {
    const key = value();
    check(!/^[[{]/.test(key) && take(":"));
    return `${key.startsWith('"') ? key : quote(key)}: ${value()}`;
  };
  const keyword = (): string => {
    const name = match(LITERAL_WORD).normalize("NFKC");
    check(name && !PYTHON_KEYWORDS.test(name) && take("="));
    return `${quote(name)}: ${match(JSON_WORD) || value()}`;
  };

  const read = (): string | null => {
    check(!/\p{Cs}|\0/u.test(text));
    const json = isCall ? `{${listed(")", keyword).found.join(", ")}}` : value();
    skip(true); // behind a literal, lines may be empty
    check(at === text.length);
    return !isCall && (isTuple || /^["\d-]/.test(json)) ? null : joinHalves(json);
  };
  return attempted(read) ?? null;
}

function unescaped(all: string, ...groups: (string | undefined)[]): string {
  const [two, four, eight, octal, other] = groups;
  const digits = two ?? four ?? eight;
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
}
