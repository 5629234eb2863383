/** A format's box: a text, its options and two sliders, and what the parser makes of it. */

import { element, lines, stepRows } from "./elements.mjs";
import { cut, formatOf, LONGEST_TEXT, partsOf, readPieces, shown, written } from "./reading.mjs";

/** The piece size behind the last one of the slider: the whole text. */
const WHOLE = 33;
const USUAL = 7;
const OWN = "";
const FRAMES = 150;
/** So many problems are shown, as a list of all would be slow. */
const SHOWN_PROBLEMS = 500;
/** Browsers let a page change its address only so often: it waits for this, in milliseconds. */
const ADDRESS_WAITS = 300;

/** The box of one format. `data` has its facts and texts, and the tools that they are parsed with. */
export class Box {
  constructor(name, data) {
    this.name = name;
    this.data = data;
    this.format = formatOf(data.facts);
    this.root = document.getElementById("box").content.cloneNode(true).firstElementChild;
    this.form = this.root.querySelector("form");
    this.fields = this.form.elements;
    this.playing = null;
    this.texts = {};
    this.offerTexts();
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.form.addEventListener("input", (event) => this.changed(event.target.name));
    this.fields.play.addEventListener("click", () => this.play());
    this.fields.piece.max = WHOLE;
    this.fields.piece.value = USUAL;
    this.choose(String(data.texts.findLastIndex(([group]) => group === data.texts[0][0])));
  }

  /** Put a text into a field, and keep it as it is: a field has no line ends but LF. */
  put(name, text) {
    this.fields[name].value = text;
    this.texts[name] = text;
  }

  offerTexts() {
    const groups = new Map();
    this.data.texts.forEach(([group, title], number) => {
      if (!groups.has(group)) groups.set(group, element("optgroup"));
      groups.get(group).label = group;
      groups.get(group).append(new Option(title, String(number)));
    });
    this.fields.chosen.append(new Option("a text of your own", OWN), ...groups.values());
  }

  /** Take one of the texts that are offered, with its options; or leave the field for one's own. */
  choose(number) {
    const { fields, data } = this;
    fields.chosen.value = number;
    fields.thinking.value = "null";
    const [, , text, prefill, tools] = data.texts[number] ?? ["", "", "", null, 0];
    this.put("text", text);
    this.put("prefill", prefill ?? data.facts.FORMAT.prompt);
    fields.tools.value = JSON.stringify(data.tools[tools], null, 1);
    this.rewind();
    if (number === OWN) fields.text.focus();
  }

  /** Take over what a link says; what it doesn't say is as in a new box. */
  restore(state) {
    const { fields, data } = this;
    this.stop();
    this.put("text", state.text ?? "");
    fields.thinking.value = String(state.thinking ?? null);
    fields.tools.value = state.tools ?? JSON.stringify(data.tools[0], null, 1);
    this.put("prefill", state.prefill ?? this.prompt());
    fields.piece.value = state.piece === 0 ? WHOLE : (state.piece ?? USUAL);
    this.rewind();
    if (state.upTo !== undefined) fields.upTo.value = state.upTo;
    this.show();
    this.recognize();
  }

  /** Return what a link has to say of this box. */
  get state() {
    const { fields, data } = this;
    const state = { text: this.texts.text, piece: this.size };
    if (Number(fields.upTo.value) < Number(fields.upTo.max)) state.upTo = Number(fields.upTo.value);
    if (this.thinking !== null) state.thinking = this.thinking;
    if (this.texts.prefill !== this.prompt()) state.prefill = this.texts.prefill;
    const usual = JSON.stringify(data.tools[0], null, 1);
    if (fields.tools.value !== usual) state.tools = fields.tools.value;
    return state;
  }

  get size() {
    const size = Number(this.fields.piece.value);
    return size === WHOLE ? 0 : size;
  }

  /** Whether thinking is asked for; null where the template's own default holds. */
  get thinking() {
    return JSON.parse(this.fields.thinking.value);
  }

  /** Return what the template's prompt holds of a turn. */
  prompt() {
    const { FORMAT } = this.format;
    const asked = this.thinking ? FORMAT.prompt_with_thinking : FORMAT.prompt_without_thinking;
    return (this.thinking === null ? null : asked) ?? FORMAT.prompt;
  }

  changed(name) {
    if (name !== "upTo") this.stop();
    if (name === "chosen") this.choose(this.fields.chosen.value);
    else if (name === "upTo") this.show();
    else {
      if (name === "thinking") this.put("prefill", this.prompt());
      if (name in this.texts) this.put(name, this.fields[name].value);
      this.rewind();
      this.recognize();
    }
    this.tellAddress();
  }

  /** Say which of the texts that are offered this is. */
  recognize() {
    const { fields, data, texts } = this;
    const at = data.texts.findIndex(
      ([, , text, prefill]) =>
        text === texts.text && (prefill ?? data.facts.FORMAT.prompt) === texts.prefill,
    );
    fields.chosen.value = at < 0 ? OWN : String(at);
  }

  /** Cut the text anew and read all of it. */
  rewind() {
    const { fields } = this;
    this.characters = Array.from(this.texts.text);
    this.pieces = cut(this.characters, this.size);
    fields.upTo.max = this.pieces.length;
    fields.upTo.value = this.pieces.length;
    this.show();
  }

  /** Let the pieces come one after the other. */
  play() {
    if (this.playing) return this.stop();
    const { upTo, play } = this.fields;
    const step = Math.max(1, Math.ceil(this.pieces.length / FRAMES));
    if (Number(upTo.value) >= this.pieces.length) upTo.value = 0;
    play.textContent = "Stop";
    this.playing = setInterval(() => {
      upTo.value = Number(upTo.value) + step;
      this.show();
      if (Number(upTo.value) >= this.pieces.length) this.stop();
    }, 80);
    return this.show();
  }

  stop() {
    if (!this.playing) return;
    clearInterval(this.playing);
    this.playing = null;
    this.fields.play.textContent = "Play";
    this.tellAddress();
  }

  /** Return the options of the parser. Throws where the tools are none. */
  options() {
    const { tools } = this.fields;
    const found = tools.value.trim() ? JSON.parse(tools.value) : null;
    return { tools: found, enableThinking: this.thinking, prefill: this.texts.prefill };
  }

  /** Read as far as the slider says, and show what came of it. */
  show() {
    const count = Number(this.fields.upTo.value);
    this.fields.pieceShown.value = this.size === 0 ? "the whole text" : counted(this.size);
    this.fields.upToShown.value = `${count} of ${this.pieces.length}`;
    try {
      const { length } = this.characters;
      if (length > LONGEST_TEXT) throw new Error(`${counted(length)} are too many for a page`);
      const found = readPieces(this.format, this.options(), this.pieces, count);
      this.fill(found);
      this.say("");
    } catch (error) {
      const where = error instanceof SyntaxError ? "tools: not JSON: " : "";
      this.say(where + error.message);
    }
    this.share();
  }

  say(fault) {
    this.part("fault").textContent = shown(fault);
    this.part("found").hidden = fault !== "";
  }

  part(name) {
    return this.root.querySelector(`[data-part="${name}"]`);
  }

  fill(found) {
    const { problems, message } = found;
    const listed = problems.slice(0, SHOWN_PROBLEMS);
    this.part("reading").replaceChildren(...this.readText({ ...found, problems: listed }));
    this.part("message").textContent = shown(JSON.stringify(message, null, 2));
    const told = problems.length === 1 ? "1 problem" : `${problems.length || "no"} problems`;
    const summary = this.part("summary");
    summary.textContent = found.isOver ? `Read to the end: ${told}` : `So far: ${told}`;
    summary.className = problems.length > 0 ? "no" : "yes";
    const rows = listed.map((each, at) => this.problem(each, at));
    const left = problems.length - listed.length;
    if (left > 0) rows.push(element("li", `${left} more`));
    this.part("problems").replaceChildren(...rows);
    this.part("events").replaceChildren(...stepRows(found.steps));
    const { parentElement: table } = this.part("events");
    table.parentElement.scrollTop = table.scrollHeight;
  }

  /** Return the text in its parts, with the number of each problem where it is. */
  readText(found) {
    const parts = [];
    const badges = this.badges(found.problems);
    for (const { kind, at, text } of partsOf(this.characters, found)) {
      parts.push(...(badges.get(at) ?? []));
      const part = element("span", lines(text), `k-${kind}`);
      part.title = kind;
      parts.push(part);
    }
    return [...parts, ...(badges.get(this.characters.length) ?? [])];
  }

  /** Return the problems' numbers as elements, by their offsets. */
  badges(problems) {
    const found = new Map();
    problems.forEach(({ kind, offset, message }, at) => {
      const badge = element("b", String(at + 1), "place");
      badge.title = shown(`${kind}: ${message}`);
      const place = Math.min(offset, this.characters.length);
      found.set(place, [...(found.get(place) ?? []), badge]);
    });
    return found;
  }

  problem({ kind, offset, message }, at) {
    const place = offset < 0 ? "in the prompt" : `at ${offset}`;
    const row = element("button", `${at + 1}. ${kind} ${place}: ${message}`, "no");
    row.type = "button";
    row.addEventListener("click", () => this.leadTo(at + 1));
    return element("li", row);
  }

  /** Have the reader look at the place of a problem. */
  leadTo(number) {
    const badges = [...this.part("reading").querySelectorAll(".place")];
    for (const badge of badges) {
      const isIt = badge.textContent === String(number);
      badge.classList.toggle("shown", isIt);
      if (isIt) badge.scrollIntoView({ block: "nearest" });
    }
  }

  /** Have the link lead to this case; return where it leads, null where the text is too long. */
  share() {
    const link = written(this.name, this.state);
    const share = this.part("share");
    share.textContent = link ? "Link to this case" : "This text is too long for a link";
    if (link) share.href = link;
    else share.removeAttribute("href");
    return link;
  }

  /** Have the address of the page lead to this case too. */
  tellAddress() {
    if (this.playing) return;
    clearTimeout(this.telling);
    const { hash } = location;
    this.telling = setTimeout(() => {
      if (location.hash !== hash) return; // the reader has gone elsewhere
      history.replaceState(null, "", this.share() ?? written(this.name));
    }, ADDRESS_WAITS);
  }
}

const counted = (count) => (count === 1 ? "1 character" : `${count} characters`);
