/**
 * Markers: what a format writes around its parts, looked for in a text that is still growing.
 *
 * A marker is written as text in which a blank stands for any white space or none, and a line end
 * for one line end or none. A slot in braces, as `{name}`, stands for a text of the turn's own;
 * `{key but <>}` has no such characters. `{?text}` is text that may be missing. `{no x}` says that
 * no x follows and, at a marker's end, `{before x}` that one does. `{{` and `}}` are braces.
 */

import { hasPairs, trimmed, trimmedEnd, widthAt } from "./strings.js";
import { PRIVATE_USE, type Turn } from "./turn.js";

/** A marker as it is written; or that and others, of which one has to follow it. */
export type Notation = string | readonly [text: string, follows: readonly Notation[]];
export type Roles = readonly (readonly [role: string, notation: Notation])[];

/** One of a notation's characters, or a slot. */
interface Token {
  readonly text: string;
  /** What stands in the braces of a slot. */
  readonly slot: string;
  /** The characters that a slot is said not to have. */
  readonly but: string;
  readonly optional: boolean;
}

interface Expressions {
  /** For the whole marker. */
  readonly whole: string;
  /** For any beginning of it that may go on. */
  readonly beginning: string;
}

const BEFORE = /^((?:[^{]|\{\{|\{(?!\{|before ))*)\{before (.*)\}$/su;
const TOKEN = /\{\{|\}\}|\{(?<optional>\?)?(?<slot>[^{}]+?)(?: but (?<but>[^{}]+))?\}|[^{}]/gu;
// Bounded, as a marker that is not whole yet is held back.
const SPACES: Readonly<Record<string, string>> = {
  " ": "[ \\t\\n\\r]{0,99}",
  "\n": "(?:\\r?\\n|\\r$)?",
};
/** What a name never holds: signs but NAME_SIGNS, and symbols. */
export const NOT_IN_NAMES =
  "\\x00-,;-@\\[-\\^`{-\\xA9\\xAB-\\xB4\\xB6-\\xB9\\xBB-\\xBF\\u1680\\u2000-\\u2BFF" +
  "\\u3000-\\u3004\\u3008-\\u3020\\u3030\\u303D-\\u303F\\uD800-\\uF8FF\\uFE10-\\uFE1F\\uFE30-\\uFE6F" +
  "\\uFF00-\\uFF0F\\uFF1A-\\uFF20\\uFF3B-\\uFF40\\uFF5B-\\uFF65\\uFFF0-\\uFFFF";
/** The other signs that names and ids may hold; the dash is last, as in a class of characters. */
export const NAME_SIGNS = "_.:/-";
/** What a key never holds: controls, what nobody sees, and white space but the blank. */
export const NOT_IN_KEYS =
  "\\x00-\\x1F\\x7F-\\xA0\\u1680\\u2000-\\u200F\\u2028-\\u202F\\u205F-\\u206F\\u3000";
/** A character of a word, in any script. */
export const WORD_SIGN = "[\\p{L}\\p{N}_]";
// What stands in a slot. BUT is what a slot can't hold for what stands around it.
const SLOTS: Readonly<Record<string, string>> = {
  name: `[^${NOT_IN_NAMES}BUT]{1,256}`,
  key: `[^${NOT_IN_KEYS}BUT]{1,256}`,
  type: `[^${NOT_IN_KEYS}BUT]{1,256}`,
  id: `[^${NOT_IN_NAMES}BUT]{0,256}`,
  index: "[0-9]{0,9}",
  word: "[ \\t\\n\\r]{0,99}[A-Za-z0-9_-]{0,40}[ \\t\\n\\r]{0,99}",
  "not a name": "[^ \\t\\n\\r<>{}\\[\\]()\"'|]{1,256}",
  "word in a line": "[A-Za-z0-9_-]{1,40}[ \\t\\r]{0,9}(?:\\n|$)",
  noise: `[ \\t\\n\\r]{0,9}${WORD_SIGN}[^<>\\[\\]{}|]{0,99}`,
  any: "[^ \\t\\n\\r<>BUT]{0,256}",
  "name or noise": "[^ \\t\\n\\r]{1,256}",
  comma: "[ \\t\\n\\r,;]{0,99}",
  string: '(?:[^"\\\\]|\\\\[\\s\\S]|\\\\$){0,256}',
  // What models put before and behind JSON.
  fence: "(?:`{1,3}[A-Za-z0-9_]{0,9})?",
  brackets: "[ \\t\\n\\r]{0,99}[}\\]`][ \\t\\n\\r}\\]`]{0,99}",
  "line end": "[ \\t\\r]{0,9}\\n",
  "end of text": "$",
  never: "(?!)",
};
const NAME = new RegExp(`^[^${NOT_IN_NAMES}]{1,256}$`, "u");
/** Slots that may be quoted as attributes are. */
const NAMES = ["name", "key"];
const TEXTS = ["key", "type", "id", "string"];
const MAY_BE_MISSING = ["word", "comma", "fence"];
const WORD_BEGINS = new RegExp(`^${WORD_SIGN}`, "u");
const NAME_BEGINS = new RegExp(`^(?:${WORD_SIGN}|[.:/-])`, "u");
const GROUP = /\(\?<(\w+)>/g;

/** Say whether a text can be the name of a tool. */
export function isName(text: string): boolean {
  return NAME.test(text);
}

/** Return a text as an expression that matches it, within a class of characters or outside. */
export function escaped(text: string): string {
  return text.replace(
    /[\0-/:-@[-`{-\x7f]/g,
    (sign) => `\\x${sign.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
}

/** A marker in the text; without a role it is what may be the beginning of one. */
export class Found {
  readonly role: string;
  readonly start: number;
  readonly end: number;
  /** The texts that the marker may have, and hasn't. */
  readonly missing: readonly string[];
  /** The marker as the turn has it. */
  readonly text: string;
  private readonly slots: ReadonlyMap<string, string>;

  constructor(
    role: string,
    start: number,
    text: string,
    slots: ReadonlyMap<string, string> = new Map(),
    missing: readonly string[] = [],
  ) {
    this.role = role;
    this.start = start;
    this.end = start + text.length;
    this.text = text;
    this.slots = slots;
    this.missing = missing;
  }

  /** What stands in its slots for any word. */
  get words(): string[] {
    const found = [...this.slots].filter(([name]) => name.startsWith("word_"));
    return found.map(([, word]) => trimmed(word)).filter((word) => word);
  }

  /** Return what stands in a slot; nothing if the marker has no such slot. */
  slot(name: string): string {
    return this.slots.get(name) ?? "";
  }
}

/** A marker of a set: where an expression's match has it, its slots and optional texts. */
interface Known {
  readonly role: string;
  readonly group: number;
  readonly slots: readonly (readonly [name: string, group: number])[];
  readonly optional: readonly (readonly [text: string, group: number])[];
}

/** What stands for special tokens in markers; no slot holds them. */
interface Tokens {
  putInto(notation: Notation): Notation;
}

/** An expression for a set of markers, and where its groups stand. */
class Pattern {
  private readonly expression: RegExp;
  private readonly known: readonly Known[];

  constructor(alternatives: readonly string[], markers: Roles, written: Roles, flags: string) {
    const source = alternatives.join("|") || "(?!)";
    const names = Array.from(source.matchAll(GROUP), ([, name]) => name as string);
    // By number, as a match with hundreds of names is slow to make.
    this.expression = new RegExp(source.replace(GROUP, "("), flags);
    this.known = markers.map(([role, notation], number) => {
      const groups = names
        .map((name, at) => [name, at + 1] as const)
        .filter(([name]) => name.startsWith(`m${number}_`))
        .map(([name, group]) => [name.slice(`m${number}_`.length), group] as const);
      const shown = optionalTexts(notation);
      const optional = new Map(
        optionalTexts(written[number]?.[1] ?? "").map(([name], at) => [name, shown[at]?.[1] ?? ""]),
      );
      return {
        role,
        group: names.indexOf(`m${number}`) + 1,
        slots: groups.filter(([name]) => !optional.has(name)),
        optional: groups
          .filter(([name]) => optional.has(name))
          .map(([name, group]) => [optional.get(name) ?? "", group] as const),
      };
    });
  }

  /** Return the marker at a place; its texts are those of the turn, which may be another one. */
  match(text: string, at: number, shown: string): Found | null {
    this.expression.lastIndex = at;
    const match = this.expression.exec(text);
    if (!match) return null;
    const marker = shown.slice(at, at + match[0].length);
    const known = this.known.find(({ group }) => match[group] !== undefined);
    if (!known) return new Found("", at, marker);
    const textOf = (group: number) => {
      const place = match.indices?.[group];
      return place ? shown.slice(...place) : (match[group] ?? "");
    };
    const slots = new Map(known.slots.map(([name, group]) => [name, textOf(group)]));
    const missing = known.optional.filter(([, group]) => match[group] === undefined);
    return new Found(
      known.role,
      at,
      marker,
      slots,
      missing.map(([optional]) => optional),
    );
  }
}

/** A step of a marker: a text, or an expression; an optional one is a text that may be missing. */
interface Step {
  readonly text: string;
  readonly expression: RegExp | null;
  /** Of a slot. */
  readonly name: string;
  readonly optional: boolean;
}

/** What is returned where the text ends before a marker does. */
const BEGUN: number[] = [];

const STEP_EXPRESSIONS = new Map<string, RegExp>();

/** Return an expression, which is made once: most are those of white space. */
function expressionOf(source: string): RegExp {
  const found = STEP_EXPRESSIONS.get(source) ?? new RegExp(source, "uy");
  STEP_EXPRESSIONS.set(source, found);
  return found;
}

/** A marker that is compared step by step: as one expression it would be too large. */
class SteppedMarker {
  readonly steps: readonly Step[];
  private readonly follows: readonly SteppedMarker[];

  constructor(notation: Notation, guarded: (text: string) => string) {
    const [text, follows] = parted(notation);
    const tokens = tokensOf(text);
    this.steps = tokens.flatMap((token, at): Step[] => {
      const isText = token.optional || !(token.slot || token.text in SPACES);
      const written = token.optional ? token.slot : characterOf(token);
      if (isText) return [{ text: written, expression: null, name: "", optional: token.optional }];
      return stepsOf(tokens, at, "m").map((step) => ({
        text: "",
        expression: expressionOf(guarded(step.replace(GROUP, "("))),
        name: /\(\?<m_(\w+)>/.exec(step)?.[1] ?? "",
        optional: false,
      }));
    });
    this.follows = follows.map((other) => new SteppedMarker(other, guarded));
  }

  /** Return where the marker begins, and each of its steps ends, if what has to follow it does. */
  fit(text: string, start: number, final: boolean): number[] | null {
    const places = this.walk(text, start, 0, final);
    if (!places || places === BEGUN || this.follows.length === 0) return places;
    const last = places.length - 1;
    const slot = this.steps.at(-1)?.expression;
    let after = this.isFollowed(text, places[last] as number, final);
    while (after === null && slot && (places[last] as number) > (places[last - 1] as number)) {
      const end = (places[last] as number) - 1; // as a slot may hold what has to follow it
      places[last] = end;
      slot.lastIndex = places[last - 1] as number;
      if (slot.test(text.slice(0, end)) && slot.lastIndex === end) {
        after = this.isFollowed(text, end, final);
      }
    }
    return after === null || after === BEGUN ? after : places;
  }

  private isFollowed(text: string, at: number, final: boolean): number[] | null {
    const found = this.follows.map((other) => other.fit(text, at, final));
    return found.includes(BEGUN) ? BEGUN : (found.find((places) => places) ?? null);
  }

  private walk(text: string, start: number, first: number, final: boolean): number[] | null {
    const places = [start];
    let at = start;
    for (let number = first; number < this.steps.length; number++) {
      if (!final && at === text.length) return BEGUN;
      const step = this.steps[number] as Step;
      if (step.expression) {
        step.expression.lastIndex = at;
        if (!step.expression.test(text)) return null;
        at = step.expression.lastIndex;
      } else if (text.startsWith(step.text, at)) {
        const end = at + step.text.length;
        const rest = step.optional ? this.walk(text, end, number + 1, final) : null;
        if (rest) return rest === BEGUN ? rest : [...places, ...rest];
        at = step.optional ? at : end;
      } else if (!final && step.text.startsWith(text.slice(at, at + step.text.length))) {
        return BEGUN;
      } else if (!step.optional) {
        return null;
      }
      places.push(at);
    }
    const isSlot = this.steps.at(-1)?.expression;
    return !final && at === text.length && isSlot ? BEGUN : places;
  }
}

/** A set of markers that are compared step by step. */
class SteppedPattern {
  private readonly markers: readonly (readonly [SteppedMarker, string, readonly string[]])[];
  private readonly final: boolean;

  constructor(markers: Roles, written: Roles, guarded: (text: string) => string, final: boolean) {
    this.markers = markers.map(([role, notation], number) => [
      new SteppedMarker(written[number]?.[1] ?? "", guarded),
      role,
      optionalTexts(notation).map(([, text]) => text),
    ]);
    this.final = final;
  }

  /** Return the marker at a place; its texts are those of the turn, which may be another one. */
  match(text: string, at: number, shown: string): Found | null {
    for (const [marker, role, optional] of this.markers) {
      const places = marker.fit(text, at, this.final);
      if (places === BEGUN) return new Found("", at, shown.slice(at));
      if (!places) continue;
      const slots = new Map<string, string>();
      const missing: string[] = [];
      let optionals = 0;
      for (const [number, step] of marker.steps.entries()) {
        const found = shown.slice(places[number], places[number + 1]);
        if (step.name) slots.set(step.name, found);
        if (step.optional && !found) missing.push(optional[optionals] ?? "");
        optionals += Number(step.optional);
      }
      return new Found(role, at, shown.slice(at, places.at(-1)), slots, missing);
    }
    return null;
  }
}

/** How many characters markers may have that become one expression. */
const LARGEST_EXPRESSION = 2000;

/** Return how many characters a marker has, with what has to follow it. */
function sizeOf(notation: Notation): number {
  const [text, follows] = parted(notation);
  return follows.reduce((size, other) => size + sizeOf(other), text.length);
}

/** Where a marker is looked for, if not from the position on to the end. */
interface Range {
  /** Whether all text has come, so that nothing is the beginning of a marker. */
  readonly final?: boolean;
  readonly start?: number;
  readonly end?: number;
}

/** Markers that may come next, each with its role. Where several fit, the first counts. */
export class Markers {
  /** With what a marker can begin. */
  private readonly first: RegExp;
  private readonly whole: Pattern | SteppedPattern;
  private readonly growing: Pattern | SteppedPattern;
  private readonly isEmpty: boolean;
  private readonly starts: string;
  /** By the characters that stop a text as well. */
  private readonly stops = new Map<string, RegExp>();
  /** Whether special tokens stand in them. */
  private readonly isSpecial: boolean;

  constructor(markers: Roles, tokens: Tokens | null = null) {
    const written = tokens
      ? markers.map(([role, notation]) => [role, tokens.putInto(notation)] as const)
      : markers;
    const starts = new Set(markers.flatMap(([, notation]) => [...startsOf(notation)]));
    this.starts = [...starts].join("");
    this.first = anyOf(this.starts);
    this.isSpecial = tokens !== null;
    this.isEmpty = markers.length === 0;
    const guarded = (text: string) => (tokens ? text.replaceAll("[^", `[^${PRIVATE_USE}`) : text);
    if (written.reduce((size, [, notation]) => size + sizeOf(notation), 0) > LARGEST_EXPRESSION) {
      this.whole = new SteppedPattern(markers, written, guarded, true);
      this.growing = new SteppedPattern(markers, written, guarded, false);
      return;
    }
    const whole: string[] = [];
    const growing: string[] = [];
    for (const [number, [, notation]] of written.entries()) {
      const expressions = expressionsOf(notation, `m${number}`);
      const group = `(?<m${number}>${expressions.whole})`;
      whole.push(group);
      growing.push(`${expressions.beginning}$`, group);
    }
    const flags = tokens ? "duy" : "uy";
    this.whole = new Pattern(whole.map(guarded), markers, written, flags);
    this.growing = new Pattern(growing.map(guarded), markers, written, flags);
  }

  /** Return the marker at a place, by default the turn's position. */
  match(turn: Turn, { final = turn.final, start = turn.position }: Range = {}): Found | null {
    const pattern = final ? this.whole : this.growing;
    return pattern.match(this.isSpecial ? turn.marked : turn.text, start, turn.text);
  }

  /** Return the first marker from the turn's position on, or one that begins between two places. */
  search(turn: Turn, range: Range = {}): Found | null {
    const { text } = turn;
    const { final = turn.final, start = turn.position, end = text.length } = range;
    const pattern = final ? this.whole : this.growing;
    const marked = this.isSpecial ? turn.marked : text;
    let at = this.firstFrom(text, start, end);
    while (at >= 0) {
      const found = pattern.match(marked, at, text);
      if (found) return found;
      at = this.firstFrom(text, at + widthAt(text, at), end);
    }
    return null;
  }

  /**
   * Return an expression for what a marker can begin with, or one of a class's characters.
   *
   * It stops at halves of pairs as well.
   */
  firstOr(characters: string): RegExp {
    let stops = this.stops.get(characters);
    if (!stops) {
      const isAnywhere = !this.isEmpty && !this.starts;
      const signs = `${characters}${escaped(this.starts)}\\ud800-\\udfff`;
      stops = new RegExp(isAnywhere ? "(?:)" : `[${signs}]`);
      this.stops.set(characters, stops);
    }
    return stops;
  }

  /** Return the first place between two at which a marker may begin, or -1. */
  firstFrom(text: string, start: number, end: number): number {
    if (this.isEmpty || start > end) return -1;
    // What is cut off isn't looked at: else a rare sign would be looked for to the text's end
    // again and again.
    this.first.lastIndex = start;
    return this.first.exec(end < text.length ? text.slice(0, end) : text)?.index ?? -1;
  }
}

/** Return the expression for any of some characters; for any place if there are none. */
function anyOf(signs: string): RegExp {
  if (!signs) return /(?:)/gu;
  // Without the flag, which astral characters alone need, it is quicker.
  return new RegExp(`[${escaped(signs)}]`, hasPairs(signs) ? "gu" : "g");
}

/** Return a marker's text, and what has to follow it. */
function parted(notation: Notation): readonly [string, readonly Notation[]] {
  if (typeof notation !== "string") return notation;
  const found = BEFORE.exec(notation);
  return found ? [found[1] ?? "", [found[2] ?? ""]] : [notation, []];
}

/** Return the text of a notation in its characters and slots. */
function tokensOf(text: string): Token[] {
  return Array.from(text.matchAll(TOKEN), ({ 0: token, groups }) => ({
    text: token,
    slot: groups?.slot ?? "",
    but: groups?.but ?? "",
    optional: groups?.optional !== undefined,
  }));
}

/** Return the character that a token stands for, if it is no slot. */
function characterOf(token: Token): string {
  return token.text === "{{" || token.text === "}}" ? token.text.charAt(0) : token.text;
}

/**
 * Return the expressions for a marker, and for any beginning of it that may go on.
 *
 * Slots become groups that are named after the marker's own `group`, if it has one.
 */
function expressionsOf(notation: Notation, group = ""): Expressions {
  const [text, follows] = parted(notation);
  const tokens = tokensOf(text);
  const steps = tokens.flatMap((_, at) => stepsOf(tokens, at, group));
  let whole = steps.join("");
  let beginning = "";
  const last = tokens.at(-1);
  if (follows.length > 0) {
    const others = follows.map((other) => expressionsOf(other));
    whole += `(?=${others.map((other) => other.whole).join("|")})`;
    steps.push(others.map((other) => other.beginning).join("|"));
  } else if (last?.optional) {
    steps.pop(); // with its last character the marker is whole
    beginning = beginningOf([...last.slot].slice(0, -1).join(""));
  } else if (last && !last.slot && !(last.text in SPACES)) {
    steps.pop();
  }
  const optional = new Map(
    tokens.flatMap((token, at) =>
      token.optional ? [[stepsOf(tokens, at, group)[0], token.slot] as const] : [],
    ),
  );
  for (const step of steps.reverse()) {
    const begun = optional.has(step) ? `|${beginningOf(optional.get(step) ?? "")}` : "";
    beginning = `(?:(?:${step})${beginning}${begun})?`;
  }
  return { whole, beginning: beginning.replace(GROUP, "(?:") };
}

/** Return the expression for any beginning of a text. */
function beginningOf(text: string): string {
  return [...text].reduceRight((rest, sign) => `(?:${escaped(sign)}${rest})?`, "");
}

/** Return the expressions for one of a marker's characters or slots. */
function stepsOf(tokens: readonly Token[], at: number, group: string): string[] {
  const token = tokens[at] as Token;
  const name = token.slot;
  if (!name) return [SPACES[token.text] ?? escaped(characterOf(token))];
  if (token.optional) return [`(${group ? `?<${group}_${at}>` : "?:"}${escaped(name)})?`];
  if (name.startsWith("no ")) return [`(?!${escaped(name.slice(3))})`];
  let slot = SLOTS[name] ?? "";
  if (slot.includes("BUT")) {
    const excluded = excludedAt(tokens, at);
    const signs = [...NAME_SIGNS].filter((sign) => excluded.includes(sign)).join("");
    const notHeld = name === "name" || name === "id" ? signs : escaped(excluded);
    slot = slot.replace("BUT", () => notHeld);
    const mayBeginTag = name === "key" && notHeld.includes(escaped("<"));
    if (mayBeginTag) slot = slot.replace("]{", "]|<(?=[ 0-9=]|$)){").replace("[^", "(?:[^");
  }
  const next = tokens[at + 1];
  if (TEXTS.includes(name) && next && next.text in SPACES) {
    slot = `(?:${slot}(?<![ \t\n\r]))`; // that is the marker's own
  }
  if (group && name === "name or noise") slot = `(?<${group}_name_again>${slot})`;
  if (group && name.startsWith("word")) slot = `(?<${group}_word_${at}>${slot})`;
  if (group && (NAMES.includes(name) || TEXTS.includes(name))) {
    const isAgain = tokens.slice(0, at).some((other) => other.text === token.text);
    slot = `(?<${group}_${name}${isAgain ? "_again" : ""}>${slot})`;
  }
  return isAttribute(tokens, at) ? ["[\"']?", slot, "[\"']?"] : [slot];
}

/** Return the characters that a slot can't hold: those with which its surroundings begin. */
function excludedAt(tokens: readonly Token[], at: number): string {
  let found = tokens[at]?.but + (isAttribute(tokens, at) ? "\"'" : "");
  // Between values, which say themselves where they end.
  if (tokens[0]?.slot === "comma") found += "()[]{},;\"'";
  const first = tokens.find((token) => !mayBeMissing(token));
  if (first && !first.slot && !NAME_BEGINS.test(first.text)) found += characterOf(first);
  for (const [index, token] of tokens.entries()) {
    if (index <= at) continue;
    if (token.optional) found += firstOf(token.slot);
    else if (mayBeMissing(token)) continue;
    else if (token.slot) return found;
    else if (!WORD_BEGINS.test(token.text)) return found + characterOf(token);
    // A word, such as the slot itself may hold.
    else return found + (tokens[at + 1]?.text === " " ? " " : "");
  }
  return found;
}

/** Say whether a slot may stand in quotes, behind an equals sign. */
function isAttribute(tokens: readonly Token[], at: number): boolean {
  const before = tokens.slice(0, at).map((token) => token.text);
  return NAMES.includes(tokens[at]?.slot ?? "") && trimmedEnd(before.join("")).endsWith("=");
}

function mayBeMissing(token: Token): boolean {
  return token.text in SPACES || MAY_BE_MISSING.includes(token.slot);
}

function firstOf(text: string): string {
  return text.slice(0, widthAt(text, 0));
}

/** Return how many characters of a marker are always the same. */
export function literalLength(notation: Notation): number {
  return tokensOf(parted(notation)[0]).filter((token) => !token.slot && !(token.text in SPACES))
    .length;
}

/** Return the text with which a marker begins, up to a slot or white space. */
export function firstText(notation: Notation): string {
  return /^(?:[^{} \n]|\{\{|\}\})*/.exec(parted(notation)[0])?.[0] ?? "";
}

/** Return the text with which a marker begins, up to a slot. */
export function leadingText(notation: Notation): string {
  return trimmed(/^(?:[^{}]|\{\{|\}\})*/.exec(parted(notation)[0])?.[0] ?? "");
}

/** Return a marker with white space before it, or something else. */
export function spaced(notation: Notation, before = " "): Notation {
  return typeof notation === "string" ? before + notation : [before + notation[0], notation[1]];
}

/** Return markers that open calls, where none follows: once more before themselves, or text. */
export function mentionRoles(mentions: readonly string[]): Roles {
  const again = mentions.filter((text) => !/^[\p{L}\p{N}_].* /u.test(text)); // else words of prose
  return [
    ...again.map((text) => ["repeated", [text, [` ${text}`]]] as const),
    ...mentions.map((text) => ["mention", text] as const),
  ];
}

/** Return a marker's texts that may be missing, by the names of their groups. */
function optionalTexts(notation: Notation): (readonly [string, string])[] {
  const tokens = tokensOf(parted(notation)[0]);
  return tokens.flatMap((token, at) => (token.optional ? [[`${at}`, token.slot] as const] : []));
}

/** Return the characters with which a marker can begin, but for those of slots. */
function startsOf(notation: Notation): string {
  const [text, follows] = parted(notation);
  let found = "";
  for (const token of tokensOf(text)) {
    if (token.text === "\n") found += "\r\n";
    else if (token.optional) found += firstOf(token.slot);
    else if (!token.slot && token.text !== " ") return found + characterOf(token);
  }
  return found + follows.map(startsOf).join("");
}
