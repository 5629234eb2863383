/** A stream of text: the reasoning, or the content. */
import { codePoints, positionBehind, quoted, spaceBefore, trimmedEnd } from "./strings.js";
import { Turn } from "./turn.js";
/** How much of a text is looked at on either side of where a marker was taken out of it. */
const SEAM = 99;
/** Reasoning or content, as far as it has come. White space at its ends is no part of it. */
export class Stream {
  begun = false;
  /** White space that counts if more text follows. */
  space = "";
  spaceStart = 0;
  flowing = null;
  turn;
  type;
  all;
  /** What stands before this offset is left out. */
  shown;
  /** Where markers were taken out, and the offsets of the text behind them. */
  seams = [];
  constructor(turn, type, shown) {
    this.turn = turn;
    this.type = type;
    this.all = turn[type];
    this.shown = shown;
  }
  /** Add text, which stands from one offset to another in the model's text. */
  write(text, start, end) {
    const body = trimmedEnd(text);
    const behind = end - (text.length - body.length);
    if (body) this.writeBody(body, start, behind);
    if (this.begun) this.hold(text.slice(body.length), behind);
  }
  writeBody(text, from, end) {
    let [body, start] = [text, from];
    if (this.space) {
      body = this.space + body;
      start = this.spaceStart;
      this.space = "";
    } else if (!this.begun) {
      const space = spaceBefore(body);
      body = body.slice(space);
      start += space;
      this.begun = true;
    }
    if (start < this.shown) {
      body = body.slice(positionBehind(body, this.shown - end + codePoints(body)));
      start = this.shown;
    }
    if (body) this.turn.events.push(this.add(body, start, end));
  }
  hold(space, start) {
    if (!this.space) this.spaceStart = start;
    this.space += space;
  }
  add(text, start, end) {
    this.all.add(text);
    return { type: this.type, text, start, end };
  }
  /** Return what more text becomes up to one of some characters, if it has begun. */
  flow(stops) {
    const start = this.space ? this.spaceStart : this.turn.offsetAt(this.turn.position);
    if (!this.begun || start < this.shown) return null;
    if (this.flowing?.stops !== stops) {
      this.flowing = { stops, pass: (text, start) => this.pass(text, start) };
    }
    return this.flowing;
  }
  pass(text, start) {
    const body = trimmedEnd(text);
    const end = start + body.length;
    let event = null;
    if (body && this.space) {
      event = this.add(this.space + body, this.spaceStart, end);
      this.space = "";
    } else if (body) {
      event = this.add(body, start, end);
    }
    if (body.length < text.length) this.hold(text.slice(body.length), end);
    return event;
  }
  /** Add a marker as it is, which is shown even where the prompt holds it. */
  quote(marker, start) {
    const { shown } = this;
    this.shown = Math.min(shown, start);
    this.writeBody(marker, start, start + codePoints(marker));
    this.shown = shown;
  }
  /** Note that a marker stands before the text that is added next. */
  part(offset) {
    if (this.begun) this.seams.push([this.all.text.length, offset]);
  }
  /** Tell of what looks like a marker where another one was taken out of the text. */
  tellJoined(markers) {
    for (const [at, offset] of this.seams) {
      const start = Math.max(at - SEAM, 0);
      const end = at - start;
      const around = new Turn(offset);
      around.begin(this.all.text.slice(start, at + SEAM), offset, 0);
      let found = markers.search(around, { final: true, end });
      while (found && found.end <= end) {
        const next = Math.max(found.end, found.start + 1);
        found = markers.search(around, { final: true, start: next, end });
      }
      if (!found) continue;
      this.turn.problemAt(offset, "stray_marker", `${quoted(found.text)} is text here`);
    }
    this.seams = [];
  }
  /** Say whether the last character is one of these. */
  endsIn(characters) {
    return !this.all.isEmpty && !this.space && characters.includes(this.all.last);
  }
}
