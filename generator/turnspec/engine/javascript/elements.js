/** Arrays and objects that are written as elements within elements. */
import { argumentsOf, callsOf } from "./format.js";
import { withRepeatedJoined } from "./json_text.js";
import { leadingText, spaced } from "./markers.js";
import { jsonTypes } from "./schemas.js";
import { hasLetter, jsonString, quoted, widthAt } from "./strings.js";
import { behindValue, restsOfCall, turnEndRoles, valueRoles } from "./text_arguments.js";
import { withRole } from "./text_markers.js";
import { asSchema, optionsOf, saysSomething } from "./tools.js";
const NESTED_TYPES = ["array", "object"];
/** Reads a value that may consist of elements. Its schema tells; else an opening tag does. */
export class Elements {
  reader;
  turn;
  calls;
  value;
  table;
  first;
  markers;
  behind;
  end;
  keyed;
  closedByKey;
  /** Of the value of an element. */
  schema = undefined;
  containers = [];
  /** Of these, the one that is collected: no schema tells its members. */
  collecting = 0;
  /** What closes the elements that are open in them. */
  path = [];
  /** How often each of these is open. */
  open = new Map();
  constructor(reader) {
    const { compiled } = reader.calls;
    this.reader = reader;
    this.turn = reader.turn;
    this.calls = reader.calls;
    this.value = reader.value;
    this.table = elementsOf(compiled.table);
    this.first = compiled.markers(firstElementRoles);
    this.markers = compiled.markers(elementRoles);
    this.behind = compiled.markers(behindElementRoles);
    this.end = compiled.markers(nestedEndRoles);
    this.keyed = this.table.member_end.includes("{key}");
    this.closedByKey = this.keyed && !!compiled.arguments.end?.includes("{key}");
  }
  /** Read the beginning of a value: nested, if an element begins where one is expected. */
  readOpening = () => {
    const { types } = this.value;
    const isExpected =
      NESTED_TYPES.some((type) => types.has(type)) || (this.table.distinct && types.size === 0);
    const found = isExpected ? this.first.match(this.turn, { final: false }) : null;
    if (found && !found.role) return false;
    if (found) this.beginElements(found);
    else this.beginText();
    return true;
  };
  beginText() {
    this.value.begin();
    this.turn.read = this.path.length > 0 ? this.readElement : this.reader.readValue;
  }
  beginElements(found) {
    const kinds = NESTED_TYPES.filter((type) => this.value.types.has(type));
    let isArray = this.isElement(found);
    const kind = isArray ? "array" : "object";
    if (this.table.element_key !== undefined && kinds.length === 1) {
      isArray = kinds[0] === "array";
    } else if (kinds.length > 0 && !kinds.includes(kind)) {
      this.turn.problem("wrong_type", `an ${kind} is not expected`);
    }
    const schema = this.path.length > 0 ? this.schema : this.reader.schema;
    const inside = schemasInside(schema, this.calls.parameters, isArray);
    this.calls.argue(this.value.before);
    const isTold = inside.members.size > 0 || saysSomething(inside.others);
    if (!this.calls.collected && !isArray && !isTold) {
      this.calls.collected = [];
      this.collecting = this.containers.length;
    }
    this.calls.argue(isArray ? "[" : "{");
    this.containers.push({ closer: isArray ? "]" : "}", ...inside, filled: false });
    this.beginElement(found);
  }
  /** Say whether an opening tag is that of an array's element. */
  isElement(found) {
    const key = this.table.element_key;
    return key === undefined ? found.role === "element" : found.slot("key") === key;
  }
  get container() {
    return this.containers.at(-1);
  }
  beginElement(found) {
    this.tellUnexpected();
    this.turn.position = found.end;
    const { container } = this;
    const { members, others } = container;
    const key = found.slot("key");
    let before = container.filled ? ", " : "";
    if (container.closer === "}") {
      before += `${jsonString(key)}: `;
      if (members.size > 0 && !saysSomething(others) && !members.has(key)) {
        this.turn.problem("unknown_argument", `an object has no ${quoted(key)}`);
      }
      this.schema = members.has(key) ? members.get(key) : others;
    } else {
      if (key && key !== this.table.element_key) {
        this.turn.problem("malformed", `an array has no ${quoted(key)}`);
      }
      const [first = "0"] = members.keys();
      this.schema = members.has(first) ? members.get(first) : others;
      members.delete(first);
    }
    this.value.expect(jsonTypes(this.schema, this.calls.parameters), before);
    const name = this.keyed ? key : key ? "member" : "element";
    this.path.push(name);
    this.open.set(name, this.openTimes(name) + 1);
    this.turn.read = this.readOpening;
  }
  openTimes(name) {
    return this.open.get(name) ?? 0;
  }
  /** Read the text of an element, up to what closes it. */
  readElement = () => {
    const { turn, value } = this;
    const found = this.nextMarker();
    value.take(found ? found.start : turn.text.length);
    if (!found?.role) {
      value.letFlow(this.markers);
      return false;
    }
    if (found.role === "member" || found.role === "element") {
      this.openInText(found);
      return true;
    }
    const mayBeText = value.types.size === 0 || value.mayBeString;
    if ((found.role === "member_end" || found.role === "element_end") && mayBeText) {
      const behind = this.behind.match(turn, { start: found.end, final: false });
      if (behind && !behind.role) return false;
      if (!behind) {
        this.takeInner(found);
        return true;
      }
    }
    if (!this.endElements(found)) value.take(found.start + widthAt(turn.text, found.start));
    return true;
  };
  /** An opening tag in an element's text begins another one, unless it is text. */
  openInText(found) {
    const isKnown = this.isKnown(found, this.container);
    const isText = this.table.distinct ? !isKnown : this.value.isString || !isKnown;
    if (!isText) {
      this.turn.problem("missing_marker", "an element is not closed");
      this.closeElements(this.path.length - 1);
      this.beginElement(found);
      return;
    }
    if (this.table.distinct) this.tellInner(found);
    this.value.take(found.end);
  }
  /** Take for text a closing tag behind which the format can't go on. */
  takeInner(found) {
    if (this.table.distinct || !this.keyed || this.openTimes(this.closingName(found)) > 0) {
      this.tellInner(found);
    }
    this.value.take(found.end);
  }
  tellInner(found) {
    this.turn.problem("inner_marker", `${quoted(found.text)} inside a value`);
  }
  /** Read what stands between elements: the next one's beginning, or what closes them. */
  readElements = () => {
    const { turn, reader } = this;
    const found = this.nextMarker();
    const end = found ? found.start : turn.text.length;
    reader.unexpected.push(turn.text.slice(turn.position, end));
    turn.position = end;
    if (!found?.role) return false;
    if (found.role === "member" || found.role === "element") {
      this.beginNext(found);
    } else if (!this.endElements(found)) {
      turn.problem("stray_marker", `${quoted(found.text)} closes nothing`);
      turn.position = found.end;
    }
    return true;
  };
  /** Begin another element where it belongs: here, or further out. */
  beginNext(found) {
    const { container, turn } = this;
    const outer = this.containers.at(-2);
    const hasOthers = saysSomething(container.others) || container.members.size === 0;
    const mayHave = container.closer === "}" && hasOthers;
    if (this.isKnown(found, container) || mayHave) {
      this.beginElement(found);
    } else if (this.path.length > 0 && outer && this.isKnown(found, outer)) {
      turn.problem("missing_marker", "an element is not closed");
      this.closeElements(this.path.length - 1);
      this.beginElement(found);
    } else if (this.path.length === 0 && this.isOtherArgument(found)) {
      turn.problem("missing_marker", "a value is not closed");
      this.endNested();
      turn.position = found.end;
      this.reader.beginArgument(found);
    } else {
      this.beginElement(found);
    }
  }
  isOtherArgument(found) {
    return this.table.lead !== undefined && this.reader.otherKeys.has(found.slot("key"));
  }
  /** Say whether an element is one that a container has. */
  isKnown(found, container) {
    return container.closer === "}"
      ? container.members.has(found.slot("key"))
      : this.isElement(found);
  }
  /** Return what a closing tag shares with its opening tag, as the path has it. */
  closingName(found) {
    return this.keyed ? found.slot("key") : found.role.replace(/_end$/, "");
  }
  nextMarker() {
    const found = this.markers.search(this.turn, { final: false });
    if (this.turn.final && found && !found.role) {
      const whole = this.markers.match(this.turn, { start: found.start, final: true });
      return whole?.role === "rest" ? whole : found;
    }
    return found;
  }
  /** End what a marker closes, with what is open inside; say whether it closes anything. */
  endElements(found) {
    const { turn } = this;
    if (found.role === "next" && turn.read === this.readElement) return false;
    if (found.role === "rest" || found.role === "next") {
      turn.problem("missing_marker", "a value is not closed");
      this.endNested();
      turn.position = found.end;
      return true;
    }
    const name = this.closingName(found);
    const isOpen = this.openTimes(name) > 0;
    const closesAll = this.closedByKey && !isOpen && name === this.reader.key;
    if (found.role === "outer" || closesAll) {
      if (this.path.length > 0) this.tellNotClosed();
      this.endNested();
      turn.read = this.readClosing;
      return true;
    }
    if (!isOpen) return false;
    const depth = this.path.lastIndexOf(name);
    if (depth < this.path.length - 1) this.tellNotClosed();
    this.closeElements(depth);
    turn.position = found.end;
    return true;
  }
  tellNotClosed() {
    this.turn.problem("missing_marker", "an element is not closed");
  }
  /** Close all elements but the first ones, as many as `depth`. */
  closeElements(depth) {
    if (this.turn.read === this.readElement) this.value.end();
    this.tellUnexpected();
    while (this.containers.length > depth + 1) this.closeContainer();
    for (const name of this.path.splice(depth)) this.open.set(name, this.openTimes(name) - 1);
    this.container.filled = true;
    this.turn.read = this.readElements;
  }
  closeContainer() {
    const { calls } = this;
    calls.argue(this.containers.pop()?.closer ?? "");
    if (calls.collected && this.containers.length === this.collecting) {
      const text = calls.collected.join("");
      calls.collected = null;
      calls.argue(withRepeatedJoined(text));
    }
  }
  /** Close the whole value. */
  endNested() {
    this.closeElements(0);
    this.closeContainer();
    this.turn.read = this.reader.readArguments;
  }
  /** Read what closes the value: behind its elements that is what closes any other. */
  readClosing = () => {
    const found = this.end.match(this.turn, { final: false });
    if (found && !found.role) return false;
    if (found?.role === "close") this.turn.position = found.end;
    this.turn.read = this.reader.readArguments;
    return true;
  };
  tellUnexpected() {
    this.reader.tellUnexpected("between elements", this.table.separator);
  }
  /** Close what the end of the text leaves open. */
  finish() {
    if (this.turn.read === this.readOpening) this.beginText();
    if (this.containers.length > 0) this.endNested();
  }
}
/** Return a table's part on elements; of a format that has some. */
function elementsOf(table) {
  const { elements } = argumentsOf(table);
  if (!elements) throw new TypeError("a format without elements");
  return elements;
}
/** Return the schemas of an object's members, and of others, or of an array's elements. */
function schemasInside(schema, root, isArray) {
  const members = new Map();
  let others;
  for (const option of optionsOf(schema, root)) {
    const found = isArray ? option.prefixItems : asSchema(option.properties);
    for (const [key, member] of Object.entries(found ?? {})) members.set(key, member);
    if (!saysSomething(others)) others = isArray ? option.items : option.additionalProperties;
  }
  return { members, others };
}
/** Return the opening tags with which a nested value begins. */
export function firstElementRoles(table) {
  return openingsOf(table).map(([role, notation]) => [role, spaced(notation)]);
}
/** Return what may stand between elements, or end one. */
export function elementRoles(table) {
  const { start = "", end = "" } = argumentsOf(table);
  const { lead } = elementsOf(table);
  const closings = closingsOf(table);
  const rests = restsOfCall(table);
  const found = [];
  if (rests.length > 0) {
    if (lead) found.push(["rest", [`${lead} `, rests]]);
    found.push(["rest", ["", rests]]);
  }
  found.push(...turnEndRoles(table));
  if (!end.includes("{key}") && closings.every(([, notation]) => notation !== end)) {
    found.push(["outer", [end, behindValue(table)]]);
  }
  if (lead === undefined && hasLetter(leadingText(start))) found.push(["next", ["", [start]]]);
  return [...found, ...closings, ...openingsOf(table)]; // tags with a key look like many others
}
/** Return what may stand behind an element's closing tag. */
export function behindElementRoles(table) {
  const { start = "", end = "" } = argumentsOf(table);
  const tags = [...openingsOf(table), ...closingsOf(table)].map(([, notation]) => notation);
  const texts = [
    ...[...tags, start, end].map(leadingText),
    ...(callsOf(table).closing?.slice(0, 1) ?? []),
    elementsOf(table).separator ?? "",
  ];
  return withRole(
    "behind",
    [...new Set(texts)].filter((text) => text).map((text) => spaced(text)),
  );
}
function nestedEndRoles(table) {
  return valueRoles(table);
}
function openingsOf(table) {
  const { element_start, member_start } = elementsOf(table);
  const elements = element_start === undefined ? [] : [["element", element_start]];
  return [...elements, ["member", member_start]];
}
function closingsOf(table) {
  const { element_end, member_end } = elementsOf(table);
  const elements = element_end === undefined ? [] : [["element_end", element_end]];
  return [["member_end", member_end], ...elements];
}
