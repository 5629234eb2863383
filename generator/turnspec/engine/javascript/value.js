/** JSON as it arrives: one value, passed on as far as it can be closed wherever it breaks off. */
import { matchedString, SINGLE_QUOTED_TEXT, STRING_TEXT } from "./json_text.js";
import { escaped } from "./markers.js";
import { ESCAPED, isBlank, jsonEscaped, jsonString, quoted, trimmedEnd } from "./strings.js";
import { UnclosedString } from "./unclosed.js";
const VALUE_TOKENS = ["space", "quote", "opening", "closing", "comma", "colon", "word"];
const STRING_GOES_ON = /(?:\\(?:u[0-9a-fA-F]{0,3})?|'[ \t\n\r]{0,99})$/y;
const WHOLE_NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$/;
const JSON_WORDS = new Map([
  ["true", "true"],
  ["false", "false"],
  ["null", "null"],
]);
/**
 * Reads a value, with JSON out of which it comes whatever the model writes.
 *
 * What can't stand at the end of JSON waits for what follows: a separator, a key, a word or a
 * number that may go on.
 */
export class Value {
  /** Whether all of it is there. */
  over = false;
  /** Whether what comes next isn't part of it. */
  broken = false;
  /** Up to what the text is that of a string in JSON; null where none is passed on. */
  stringStops = null;
  turn;
  /** Of the string that is being read. */
  quote = "";
  /** For the brackets that are open. */
  closers = [];
  unclosed;
  words;
  hasBareKeys;
  /** Whether strings may stand in single quotes. */
  hasSingleQuotes = false;
  quotes;
  longestQuote;
  tokens;
  stops;
  expected = "value";
  /** Whether the string that is being read is a key. */
  isKey = false;
  /** What was read last, if it is a key without quotes. */
  bareKey = "";
  /** The depth of the object that is passed on as it is written. */
  unreadDepth = 0;
  word = [];
  /** Until a value begins. */
  held = [];
  /** Until it is passed on. */
  out = "";
  /** Whether a string's text may be none. */
  isHeld = false;
  /** The place up to which the text of a string was matched, though it may be held back. */
  matchedTo = 0;
  constructor(
    turn,
    compiled = null,
    { quotes = ['"', "'"], words = JSON_WORDS, hasBareKeys = false, stops = null } = {},
  ) {
    this.turn = turn;
    this.quotes = quotes;
    this.words = words;
    this.hasBareKeys = hasBareKeys;
    this.unclosed = compiled && new UnclosedString(turn, compiled);
    this.stops = stops ?? this.unclosed?.ends.firstOr(ESCAPED) ?? null;
    this.longestQuote = Math.max(...quotes.map((quote) => quote.length));
    this.tokens = new RegExp(
      `([ \\t\\n\\r]+)|(${quotes.map(escaped).join("|")})|([{[])|([}\\]])` +
        "|(,)|(:)|([^\\x00-\\x20{}[\\](),:;\"'`<>|]+)",
      "y",
    );
  }
  /** Expect a value. */
  begin() {
    this.over = false;
    this.broken = false;
    this.expected = "value";
    this.closers = [];
    this.quote = "";
    this.stringStops = null;
    this.isKey = false;
    this.bareKey = "";
    this.unreadDepth = 0;
    this.word = [];
    this.held = [];
    this.out = "";
    this.isHeld = false;
  }
  /** What has been read, and waits for what follows it. */
  get waiting() {
    return this.held.join("") + this.word.join("");
  }
  /** Take what has come of the value, and return it as JSON as far as it is settled. */
  read() {
    while (this.quote ? this.readString() : this.readToken());
    const text = this.out;
    this.out = "";
    return text;
  }
  /** Whether there is something of the value that isn't closed. */
  get isOpen() {
    return this.closers.length > 0 || !!this.quote || this.held.length > 0 || this.word.length > 0;
  }
  /** Return what closes the value if it breaks off, and expect another one. */
  close() {
    if (this.isOpen && !this.turn.final) {
      this.turn.problem("malformed", `a value breaks off after ${quoted(this.waiting)}`);
    }
    const quote = this.quote && !this.isKey ? '"' : "";
    const closing = quote + this.closers.reverse().join("");
    this.begin();
    return closing;
  }
  /** Take a token, and return whether there may be another. */
  readToken() {
    const { turn } = this;
    this.tokens.lastIndex = turn.position;
    const token = this.tokens.exec(turn.text);
    const kind = token && VALUE_TOKENS[token.findIndex((text, at) => at && text !== undefined) - 1];
    if (this.word.length > 0 && kind !== "word" && !(kind === "space" && this.isInBareKey)) {
      return this.endWord();
    }
    if (this.over) return false;
    if (!token || !kind) {
      this.broken = !this.mayBeQuote(turn.position);
      return false;
    }
    const isUnsure = kind === "word" || kind === "opening";
    if (isUnsure && this.word.length === 0 && this.isQuoteBegun()) return false;
    this.broken = !this.take(kind, token[0]);
    if (!this.broken) turn.position += token[0].length;
    return !this.broken;
  }
  /** Say whether more text may make a quote of what looks like something else so far. */
  isQuoteBegun() {
    const { turn } = this;
    return this.longestQuote > 1 && !turn.final && this.mayBeQuote(turn.position);
  }
  /** Say whether a word is a number or a constant. */
  isLiteral(word) {
    return this.words.has(word) || WHOLE_NUMBER.test(word);
  }
  /** Say whether what stands at a place is a quote, or the beginning of one so far. */
  mayBeQuote(at) {
    const rest = this.turn.text.slice(at, at + this.longestQuote);
    return this.quotes.some((quote) => quote.startsWith(rest));
  }
  get isInBareKey() {
    return this.expected === "key" && this.hasBareKeys;
  }
  /** Take a token; say whether it may stand there. */
  take(kind, text) {
    if (this.expected === "anything" && kind !== "closing") return this.takeAsWritten(text);
    switch (kind) {
      case "space":
        if (this.word.length > 0) this.word.push(text);
        else if (this.closers.length > 0) this.held.push(text);
        return true;
      case "quote":
        return this.takeQuote(text);
      case "opening":
        return this.takeOpening(text);
      case "closing":
        return this.takeClosing(text);
      case "comma":
        if (this.expected !== "comma") return false;
        this.held.push(text);
        this.expected = this.closers.at(-1) === "}" ? "key" : "value";
        return true;
      case "colon":
        if (this.expected !== "colon") return false;
        this.held.push(text);
        this.expected = "value";
        return true;
      case "word":
        this.word.push(text);
        return true;
    }
  }
  takeOpening(text) {
    this.insertMissing();
    if (this.expected !== "value") return false;
    this.settle(text);
    this.closers.push(text === "{" ? "}" : "]");
    this.expected = text === "{" ? "key" : "value";
    return true;
  }
  takeClosing(text) {
    if (this.closers.at(-1) !== text) return false;
    if (!["comma", "anything"].includes(this.expected) && !isBlank(this.waiting)) {
      this.turn.problem("malformed", `${quoted(this.waiting)} before ${quoted(text)}`);
      this.held = [];
    }
    this.closers.pop();
    this.endValue(text);
    if (this.closers.length < this.unreadDepth) this.unreadDepth = 0;
    else if (this.unreadDepth > 0) this.expected = "anything";
    return true;
  }
  takeQuote(text) {
    // It may well be a part of the string before it.
    const isInside = this.bareKey && this.expected === "colon" && this.held.includes(", ");
    if (isInside) return this.leaveMembers(text);
    if (text === "'" && !this.hasSingleQuotes) {
      this.turn.problem("malformed", "a string in single quotes");
    }
    this.insertMissing();
    this.quote = text;
    this.matchedTo = 0;
    this.isKey = this.expected === "key";
    this.bareKey = "";
    if (this.isKey) this.held.push('"');
    else {
      this.settle('"');
      // Nothing shows an apostrophe that may end it but reading on.
      this.stringStops = text === '"' || this.hasBareKeys ? this.stops : null;
    }
    return true;
  }
  /** Take the word that was read for a number, a constant or a key; else it is a string. */
  endWord() {
    const { turn } = this;
    const atEnd = turn.position === turn.text.length;
    if (atEnd && !turn.final) return false;
    const word = trimmedEnd(this.word.join(""));
    const value = WHOLE_NUMBER.test(word) ? word : this.words.get(word);
    if (atEnd && value === undefined) return false;
    this.word = [];
    if (this.expected === "colon" && this.bareKey) return this.leaveMembers(word);
    this.insertMissing();
    const isKey = this.expected === "key";
    const isString = value === undefined || isKey;
    const json = isString ? jsonString(word) : value;
    if (isString && !(isKey && this.hasBareKeys)) {
      turn.problem("malformed", `${quoted(word)} without quotes`);
    }
    if (isKey) {
      this.held.push(json);
      this.expected = "colon";
      this.bareKey = word;
    } else {
      this.settle("");
      this.endValue(json);
    }
    return true;
  }
  /** Pass on an object as it is written: words follow each other where members belong. */
  leaveMembers(word) {
    this.turn.problem("malformed", `no ':' after ${quoted(this.waiting)}`);
    const written = this.held.filter((piece) => piece !== ", " && piece !== ": ").join("");
    const before = written.replaceAll(jsonString(this.bareKey), () => this.bareKey);
    this.held = [];
    this.settle(before + word);
    this.expected = "anything";
    this.unreadDepth = this.closers.length;
    return true;
  }
  /** Take what is in an object that has no members. */
  takeAsWritten(text) {
    this.out += text;
    if (text === "{" || text === "[") this.closers.push(text === "{" ? "}" : "]");
    return true;
  }
  /** Supply a comma or a colon where none stands before what comes next. */
  insertMissing() {
    if (this.expected !== "comma" && this.expected !== "colon") return;
    const sign = this.expected === "comma" ? "," : ":";
    this.turn.problem("malformed", `no ${quoted(sign)} after ${quoted(this.waiting)}`);
    this.held.push(`${sign} `);
    const isKey = this.expected === "comma" && this.closers.at(-1) === "}";
    this.expected = isKey ? "key" : "value";
  }
  /** Pass on what waited for a value, and the value's beginning. */
  settle(text) {
    this.out += this.held.join("") + text;
    this.held = [];
  }
  /** Pass on the end of a value. */
  endValue(text) {
    this.settle(text);
    this.expected = "comma";
    this.over = this.closers.length === 0;
  }
  /** Take more of a string; return whether there may be something else. */
  readString() {
    const { turn } = this;
    const match = this.matchString(this.quote === '"' ? STRING_TEXT : SINGLE_QUOTED_TEXT);
    const { text } = turn;
    this.passOn(match.text);
    turn.position = match.end;
    if (match.isClosed) {
      this.passOn('"');
      this.endString();
      return true;
    }
    if (this.isHeld || turn.position === text.length) return false;
    STRING_GOES_ON.lastIndex = turn.position;
    if (STRING_GOES_ON.test(text)) return false;
    if (this.quote === "'" && text.startsWith("\\'", turn.position)) turn.position += 1;
    const character = text.charAt(turn.position);
    if (character === "\\") {
      const [sign] = /^[\s\S][\s\S]?/u.exec(text.slice(turn.position, turn.position + 3)) ?? [""];
      turn.problem("malformed", `${quoted(sign)} is no escape`);
    }
    this.passOn(jsonEscaped(character));
    turn.position += 1;
    return true;
  }
  /**
   * Return what has come of a string, up to where it may end though it isn't closed.
   *
   * The pattern's one group is the quote that closes it.
   */
  matchString(pattern) {
    const { text, position, place } = this.turn;
    const match = matchedString(
      pattern,
      text,
      position,
      Math.max(position, this.matchedTo - place),
    );
    this.matchedTo = place + position + match.text.length;
    this.isHeld = false;
    if (!this.unclosed?.mayEnd(position, match.end)) return match;
    const [end, broken] = this.unclosed.find(match.end);
    this.broken = broken;
    this.isHeld = end < match.end;
    return this.isHeld ? matchedString(pattern, text.slice(0, end), position) : match;
  }
  /** Pass on what stands in a string. */
  passOn(text) {
    if (this.isKey) this.held.push(text);
    else this.out += text;
  }
  endString() {
    this.quote = "";
    this.stringStops = null;
    this.expected = this.isKey ? "colon" : "comma";
    this.over = this.closers.length === 0;
  }
}
/** Make a reader of JSON. */
export function makeValue(turn, compiled) {
  return new Value(turn, compiled);
}
