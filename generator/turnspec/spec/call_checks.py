"""What a spec's calls must be beyond their form: slots in their places, texts that show them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from turnspec.spec.calls import AfterFirst, Elements, Slot, Tools
from turnspec.spec.model import Spec
from turnspec.spec.piece_checks import CALL_SLOTS, check_pieces, exactly_one, first_text, slots_in
from turnspec.spec.words import CallIdPosition, Encoding, JsonType, Part, SlotKind, ToolMode
from turnspec.spec.yaml_document import Finding, YamlPath

_ITEM_SLOTS = (SlotKind.KEY, SlotKind.TYPE, SlotKind.VALUE)
_MEMBER_SLOTS = (SlotKind.KEY, SlotKind.VALUE)
#: What begins another value than a string, or stands between values.
_NO_QUOTES = "{}[]:,-+.\\"
_CONTAINERS = (JsonType.ARRAY, JsonType.OBJECT)


def check_tools(spec: Spec) -> Iterator[Finding]:
    """Yield what is impossible in calls, if the format has any."""
    tools = spec.tools
    if tools is None:
        return
    yield from _call_slots(tools)
    yield from _name_last(tools)
    yield from _call_id(tools)
    yield from _id_parts(tools)
    yield from _call_index(tools)
    yield from _arguments(tools)
    yield from _fields(tools)
    after = tools.after_first
    if after == AfterFirst(tools.separator, tools.section_end, spec.final(Part.CALLS)):
        yield ("tools", "after_first"), "is the same as what follows later calls"
    if _undetectable(spec, tools):
        yield ("tools", "call", 0), "no text stands before the first slot: nothing shows a call"


def _call_slots(tools: Tools) -> Iterator[Finding]:
    path: YamlPath = ("tools", "call")
    yield from check_pieces(tools.call, path, CALL_SLOTS)
    slots = slots_in(tools.call)
    if SlotKind.NAME not in slots:
        yield path, "no NAME slot"
    yield from exactly_one(slots, SlotKind.ARGUMENTS, path)
    if tools.empty_call:
        path = ("tools", "empty_call")
        yield from check_pieces(tools.empty_call, path, CALL_SLOTS[:-1])
        yield from exactly_one(slots_in(tools.empty_call), SlotKind.NAME, path)


def _name_last(tools: Tools) -> Iterator[Finding]:
    """A tagged value is read by its type, which the tool's name tells; any call has a head."""
    slots = slots_in(tools.call)
    is_tagged, is_native = (
        tools.mode is ToolMode.TAG_WITH_TAGGED,
        tools.mode is ToolMode.JSON_NATIVE,
    )
    has_head = is_native or tools.call[:1] != (Slot(SlotKind.ARGUMENTS),)
    if SlotKind.ARGUMENTS not in slots or (has_head and not is_tagged):
        return
    if SlotKind.NAME not in slots[: slots.index(SlotKind.ARGUMENTS)]:
        message = "the name comes after the arguments; parsers can't read that yet"
        yield ("tools", "call"), message


def _call_id(tools: Tools) -> Iterator[Finding]:
    path: YamlPath = ("tools", "call_id")
    slots = slots_in(tools.call)
    if SlotKind.ID not in slots:
        if tools.call_id is not CallIdPosition.NONE:
            yield path, f"is {tools.call_id}, but tools.call has no ID slot"
        return
    if SlotKind.NAME not in slots or SlotKind.ARGUMENTS not in slots:
        return
    places = {_id_position(slots, at) for at, kind in enumerate(slots) if kind is SlotKind.ID}
    if tools.call_id not in places:
        found = " and ".join(sorted(places))
        yield path, f"is {tools.call_id}, but the ID slot's place in tools.call is {found}"


def _id_position(slots: Sequence[SlotKind], at: int) -> CallIdPosition:
    if SlotKind.ARGUMENTS in slots[:at]:
        return CallIdPosition.POST_ARGS
    if SlotKind.NAME in slots[:at]:
        return CallIdPosition.BETWEEN_FUNC_AND_ARGS
    return CallIdPosition.PRE_FUNC_NAME


def _id_parts(tools: Tools) -> Iterator[Finding]:
    if not tools.id_parts:
        return
    call, parts = (
        "".join(f"\0{piece.kind}\0" if piece.kind else piece.text for piece in pieces)
        for pieces in (tools.call, tools.id_parts)
    )
    if SlotKind.ID in slots_in(tools.call) or SlotKind.NAME not in slots_in(tools.id_parts):
        yield ("tools", "id_parts"), "is for ids that hold the name, where there is no ID slot"
    elif parts not in call:
        yield ("tools", "id_parts"), "is no part of tools.call"


def _call_index(tools: Tools) -> Iterator[Finding]:
    has_slot = SlotKind.INDEX in slots_in(tools.call)
    for key, value in (("index_base", tools.index_base), ("index_scope", tools.index_scope)):
        if has_slot and value is None:
            yield ("tools",), f"tools.call has an INDEX slot, but {key} is missing"
        if not has_slot and value is not None:
            yield ("tools", key), "is there, but tools.call has no INDEX slot"


def _arguments(tools: Tools) -> Iterator[Finding]:
    arguments = tools.arguments
    path: YamlPath = ("tools", "arguments")
    quote = arguments.syntax.quote
    if not quote.strip() or quote[0].isalnum() or quote[0] in _NO_QUOTES:
        yield (*path, "syntax", "quote"), "can't be told from what stands around strings"
    if arguments.syntax.encoding is Encoding.ELEMENTS:
        yield (*path, "syntax", "encoding"), "ELEMENTS is for values only"
    tagged = tools.mode is ToolMode.TAG_WITH_TAGGED
    if tagged and not arguments.item:
        yield path, "no item, but tools.mode is TAG_WITH_TAGGED"
    if arguments.item and not tagged:
        yield (*path, "item"), f"is for TAG_WITH_TAGGED, but tools.mode is {tools.mode}"
    is_plain = arguments.syntax.encoding is Encoding.JSON and not arguments.item
    if arguments.syntax.in_string and not is_plain:
        yield (*path, "syntax", "in_string"), "is for JSON without an item"
    if not arguments.item:
        for key in ("start", "separator", "end", "values", "types", "elements"):
            if getattr(arguments, key):
                yield (*path, key), "is there, but there is no item"
        return
    yield from _item(tools)
    yield from _nested(tools)


def _item(tools: Tools) -> Iterator[Finding]:
    arguments = tools.arguments
    path: YamlPath = ("tools", "arguments", "item")
    yield from check_pieces(arguments.item, path, _ITEM_SLOTS)
    slots = slots_in(arguments.item)
    if SlotKind.KEY not in slots:
        yield path, "no KEY slot"
    yield from exactly_one(slots, SlotKind.VALUE, path)
    for kind, encoding in arguments.values.items():
        if encoding is Encoding.RAW and kind is not JsonType.STRING:
            yield (*path[:-1], "values", kind), "RAW is for strings"
    if not arguments.values:
        yield path[:-1], "values is missing: nothing says how a value is written"
    if SlotKind.TYPE in slots and not arguments.types:
        yield path[:-1], "types is missing, but the item has a TYPE slot"
    if SlotKind.TYPE not in slots and arguments.types:
        yield (*path[:-1], "types"), "is there, but the item has no TYPE slot"


def _nested(tools: Tools) -> Iterator[Finding]:
    arguments = tools.arguments
    path: YamlPath = ("tools", "arguments")
    found = [kind for kind, how in arguments.values.items() if how is Encoding.ELEMENTS]
    for kind in found:
        if kind not in _CONTAINERS:
            yield (*path, "values", kind), "ELEMENTS is for arrays and objects"
    if arguments.elements is None:
        if found:
            yield path, "elements is missing, but values has ELEMENTS"
        return
    path = (*path, "elements")
    if not found:
        yield path, "is there, but values has no ELEMENTS"
    if arguments.values.get(JsonType.STRING) is not Encoding.RAW:
        yield path, "is there, but strings are not RAW"
    if arguments.guard:
        yield path, "is there, but guard says where a string ends"
    yield from _element_pieces(arguments.elements, path)


def _element_pieces(elements: Elements, path: YamlPath) -> Iterator[Finding]:
    yield from check_pieces(elements.member, (*path, "member"), _MEMBER_SLOTS)
    yield from check_pieces(elements.element, (*path, "element"), (SlotKind.VALUE,))
    if SlotKind.KEY not in slots_in(elements.member):
        yield (*path, "member"), "no KEY slot"
    for key, pieces in (("member", elements.member), ("element", elements.element)):
        yield from exactly_one(slots_in(pieces), SlotKind.VALUE, (*path, key))
        ends = [pieces[0], pieces[-1]] if pieces else []
        if not ends or not all(end.text.strip() for end in ends):
            yield (*path, key), "no text stands at its beginning and its end"


def _fields(tools: Tools) -> Iterator[Finding]:
    fields = tools.fields
    path: YamlPath = ("tools", "fields")
    if tools.mode is not ToolMode.JSON_NATIVE:
        if fields.name or fields.arguments or fields.id or fields.name_is_key:
            yield path, f"is for JSON_NATIVE, but tools.mode is {tools.mode}"
        return
    for key, keys in (("name", fields.name), ("arguments", fields.arguments)):
        if not keys and not fields.name_is_key:
            yield path, f"{key} is missing, but tools.mode is JSON_NATIVE"
    for key, keys in (("name", fields.name), ("arguments", fields.arguments), ("id", fields.id)):
        if not all(word.strip() for word in keys):
            yield (*path, key), "a key can't be empty or made of blanks"
    has_slot = SlotKind.ID in slots_in(tools.call)
    if has_slot and not fields.id:
        yield path, "id is missing, but tools.call has an ID slot"
    if fields.id and not has_slot:
        yield (*path, "id"), "is there, but tools.call has no ID slot"


def _undetectable(spec: Spec, tools: Tools) -> bool:
    """Return whether a call may follow the turn's start or content with no text to show it.

    One that begins with its name, as tools tell, may begin the turn, or a line.
    """
    opener = tools.section_start + first_text(tools.call)
    if not tools.call or opener.strip() or spec.content.start.strip():
        return False
    order = spec.turn.order
    before = order[: order.index(Part.CALLS)] if Part.CALLS in order else ()
    neighbours = [part for part in (Part.START, *before) if part is not Part.REASONING]
    if tools.begin_with_name:
        between = (join.text for join in spec.joins(Part.CONTENT, Part.CALLS))
        lines = (spec.content.end + text + opener for text in between)
        return any("\n" not in text for text in lines if not text.strip())
    return any(not spec.join(part, Part.CALLS).strip() for part in neighbours)
