/** Python's literals, which some models write where JSON belongs. */

import { floatText, joinHalves, MOST_DIGITS, quote } from "./json.js";
import { attempted, ValueError } from "./python.js";

const MOST_BRACKETS = 200; // in each other
const LITERAL_SPACE = /[ \t\f]+|\\\r?\n(?!$)/y;
// Within brackets lines may end, and hold comments.
const BRACKETED_SPACE = /[ \t\f\r\n]+|\\\r?\n(?!$)|#[^\r\n]*/y;
const LITERAL_STRING = /^[rRuU]?["']/;
const LITERAL_WORD = /^[\p{XID_Start}_]\p{XID_Continue}*$/u;
const LITERAL_TOKEN =
  /[rRuU]?(?=["'])|[\p{XID_Start}_]\p{XID_Continue}*|[-+[\]{}(),:=]|(?:0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+|(?:[0-9](?:_?[0-9])*\.(?:[0-9](?:_?[0-9])*)?|\.[0-9](?:_?[0-9])*|[0-9](?:_?[0-9])*)(?:[eE][-+]?[0-9](?:_?[0-9])*)?)(?![\p{L}\p{N}_.])/uy;
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

/** See that a text is a literal, and one that JSON can hold: there is what it needs. */
function check<V>(found: V): NonNullable<V> {
  if (!found) throw new ValueError("no literal of JSON");
  return found;
}

/** Return a literal that JSON has not, or what a function `_` is given by names, as JSON. */
export function literalAsJson(text: string): string | null {
  const isCall = text.startsWith("_(");
  const read = (): string | null => {
    const tokens = literalTokens(text, isCall);
    let at = 0;
    let isTuple = false; // whether the value that was read last is one, which JSON has not
    const next = (): string => tokens[at++] ?? "";
    const take = (sign: string): boolean => {
      const isNext = tokens[at] === sign;
      at += Number(isNext);
      return isNext;
    };
    const value = (): string => {
      const token = next();
      const closing = CLOSING[token];
      if (closing) return bracketed(token, closing);
      isTuple = false;
      if (/^[-+]$/.test(token)) return signed(token === "-" ? -1 : 1);
      if (/^[.\d]/.test(token)) return numberAsJson(token, 1);
      if (!LITERAL_STRING.test(token)) return check(LITERAL_CONSTANTS.get(token));
      let found = literalString(token);
      // Strings are one if they stand beside each other.
      while (LITERAL_STRING.test(tokens[at] ?? "")) found += literalString(next());
      return quote(found);
    };
    const signed = (sign: 1 | -1): string => {
      if (!take("(")) return numberAsJson(next(), sign);
      const found = signed(sign); // brackets around a number mean nothing
      check(take(")"));
      return found;
    };
    const bracketed = (opening: string, closing: string): string => {
      const [found, isOpen] = listed(closing, opening === "{" ? member : value);
      if (opening === "(" && found.length === 1 && !isOpen) return found.join("");
      isTuple = opening === "(";
      return opening === "{" ? `{${found.join(", ")}}` : `[${found.join(", ")}]`;
    };
    /** Return what commas part, and whether the last of them stands at the end. */
    const listed = (closing: string, element: () => string): [string[], boolean] => {
      const found: string[] = [];
      let isOpen = true;
      while (!take(closing)) {
        check(isOpen);
        found.push(element());
        isOpen = take(",");
      }
      return [found, isOpen];
    };
    const member = (): string => {
      const key = value();
      check(!/^[[{]/.test(key) && take(":"));
      return `${key.startsWith('"') ? key : quote(key)}: ${value()}`;
    };
    const keyword = (): string => {
      const name = next().normalize("NFKC");
      check(LITERAL_WORD.test(name) && !PYTHON_KEYWORDS.test(name) && take("="));
      return `${quote(name)}: ${/^(?:true|false|null)$/.test(tokens[at] ?? "") ? next() : value()}`;
    };
    const json = isCall ? `{${listed(")", keyword)[0].join(", ")}}` : value();
    return !isCall && (isTuple || json.startsWith('"')) ? null : joinHalves(json);
  };
  return attempted(read) ?? null;
}

/** Return the tokens of one literal, or of what follows the bracket of a call. */
function literalTokens(text: string, isCall: boolean): string[] {
  check(!/\p{Cs}|\0/u.test(text));
  const tokens: string[] = [];
  let at = isCall ? 2 : 0;
  let depth = isCall ? 1 : 0; // of the brackets that are open
  const match = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0] ?? "";
    at += found.length;
    return found;
  };
  // An expression for all that is skipped would take a stack for it.
  const skip = (space: RegExp): void => {
    while (match(space) !== "");
  };
  match(/[ \t]*/y);
  if (!isCall) skip(/[ \t\f]*(?:#[^\r\n]*)?[\r\n]/y); // lines before it
  check(isCall || !/[\r\n][ \t]/.test(text.slice(Math.max(at - 1, 0), at + 1)));
  do {
    skip(depth > 0 ? BRACKETED_SPACE : LITERAL_SPACE);
    const begin = at;
    const token = match(LITERAL_TOKEN);
    const mark = /^[rRuU]?$/.test(token) ? match(/'''|"""|["']/y) : "";
    while (mark && !text.startsWith(mark, at)) {
      const character = text.charAt(at);
      check(character && (mark.length > 1 || !/[\r\n]/.test(character)));
      at += character !== "\\" ? 1 : text.startsWith("\r\n", at + 1) ? 3 : 2;
    }
    at += mark.length;
    check(at > begin && depth <= MOST_BRACKETS);
    depth += Number(/^[[{(]$/.test(token)) - Number(/^[\]})]$/.test(token));
    tokens.push(text.slice(begin, at));
  } while (depth > 0 || /^[-+]$/.test(tokens[tokens.length - 1] ?? ""));
  skip(BRACKETED_SPACE); // after a literal, lines may be empty
  check(at === text.length);
  return tokens;
}

function numberAsJson(token: string, sign: 1 | -1): string {
  const digits = token.replaceAll("_", "");
  if (/^(?:0[xXoObB]|[0-9]+$)/.test(digits)) {
    // Zeros before an integer would once have made it octal.
    check(digits.length <= MOST_DIGITS && !/^0+[1-9]/.test(digits));
    return String(BigInt(digits) * BigInt(sign));
  }
  check(/^[.\d]/.test(digits) && Number.isFinite(Number(digits)));
  return floatText(sign * Number(digits));
}

function literalString(token: string): string {
  const mark = /'''|"""|["']/.exec(token)?.[0] ?? "";
  const inner = token.slice(token.indexOf(mark) + mark.length, -mark.length);
  const text = inner.replace(/\r\n?/g, "\n");
  return /^[rR]/.test(token) ? text : text.replace(LITERAL_ESCAPE, unescaped);
}

function unescaped(all: string, ...groups: (string | undefined)[]): string {
  const [two, four, eight, octal, other] = groups;
  const digits = octal ?? two ?? four ?? eight;
  if (digits !== undefined) {
    const code = Number.parseInt(digits, octal === undefined ? 16 : 8);
    check(code <= 0x10ffff);
    return String.fromCodePoint(code);
  }
  if (other === undefined) return "";
  check(!"xuUN".includes(other));
  if (/[bfnrt"\\]/.test(other)) return JSON.parse(`"${all}"`) as string;
  return LITERAL_ESCAPES[other] ?? all;
}
