"""What a spec must be beyond its form: the things that schema.json can't say.

Each check yields where it objects and why. None of them knows a model: they ask whether the parts
of a spec fit each other, and whether a parser could tell a part's beginning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from turnspec.spec.model import (
    AfterFirst,
    CallIdPosition,
    Condition,
    ContentMode,
    Elements,
    Encoding,
    JsonType,
    Part,
    Piece,
    Reasoning,
    ReasoningMode,
    SlotKind,
    Spec,
    Subject,
    Switch,
    ThinkingState,
    ToolMode,
    Tools,
    Verdict,
)
from turnspec.spec.problems import Problem
from turnspec.spec.sizes import oversized
from turnspec.spec.turn_end import MOST_STOPS
from turnspec.spec.yaml_document import Document, YamlPath, path_text

_Finding = tuple[YamlPath, str]

_CALL_SLOTS = (SlotKind.NAME, SlotKind.ID, SlotKind.INDEX, SlotKind.COUNT, SlotKind.ARGUMENTS)
_ITEM_SLOTS = (SlotKind.KEY, SlotKind.TYPE, SlotKind.VALUE)
#: What holds text, of which some characters may not come back.
_TEXTS = (Subject.REASONING, Subject.CONTENT, Subject.ARGUMENT_STRING, Subject.ARGUMENT_KEY)
_MEMBER_SLOTS = (SlotKind.KEY, SlotKind.VALUE)
#: What begins another value than a string, or stands between values.
_NO_QUOTES = "{}[]:,-+.\\"
_CONTAINERS = (JsonType.ARRAY, JsonType.OBJECT)
# What stands for a slot in the notation of markers, which looks for it as text.
_LIKE_SLOT = re.compile(rf"\{{(?:{'|'.join(kind.lower() for kind in SlotKind)})\}}")
# What such a slot holds shows its own beginning or end, so nothing need stand beside it.
_SELF_EVIDENT = frozenset({SlotKind.ARGUMENTS, SlotKind.VALUE, SlotKind.WORD})


def check_spec(spec: Spec, file: str = "", document: Document | None = None) -> list[Problem]:
    """Return what is impossible in a spec; with the ``document`` it came from, also the lines."""
    checks = (
        *(_thinking(spec), _turn(spec), _reasoning(spec), _blocks(spec.reasoning)),
        *(_content(spec), _tools(spec), _limits(spec), _grammar(spec), _alternatives(spec)),
        oversized(spec),
    )
    return [
        Problem(message, file, document.line(path) if document else None, path_text(path))
        for check in checks
        for path, message in check
    ]


def _thinking(spec: Spec) -> Iterator[_Finding]:
    thinking = spec.thinking
    seen: set[tuple[str, Switch]] = set()
    for index, word in enumerate(thinking.words):
        path: YamlPath = ("thinking", "words", index)
        if not word.word.strip():
            yield (*path, "word"), "a word can't be empty"
        if (word.word, word.switches) in seen:
            yield path, f"a second word {word.word!r} by which thinking is {word.switches}"
        seen.add((word.word, word.switches))
    for name in ("enabled", "disabled"):
        state: ThinkingState = getattr(thinking, name)
        if state.variables or state.prompt == thinking.default.prompt:
            continue
        if not any(word.prompt == state.prompt for word in thinking.words):
            yield ("thinking", name, "prompt"), "no variable and no word gives another prompt"


def _turn(spec: Spec) -> Iterator[_Finding]:
    order = spec.turn.order
    for index, part in enumerate(order):
        if part in order[:index]:
            yield ("turn", "order", index), f"{part} is there twice"
    if spec.tools and Part.CALLS not in order:
        yield ("turn", "order"), "calls is missing, but tools says how they are written"
    if not spec.tools and Part.CALLS in order:
        yield ("turn", "order"), "calls is there, but tools is missing"
    yield from _joins(spec)
    yield from _ends(spec)
    yield from _stops(spec.turn.stop, ("turn", "stop"))


def _joins(spec: Spec) -> Iterator[_Finding]:
    order = (Part.START, *spec.turn.order)
    seen: set[tuple[Part, Part, Condition]] = set()
    for index, join in enumerate(spec.turn.joins):
        path: YamlPath = ("turn", "joins", index)
        if (join.left, join.right, join.when) in seen:
            yield path, f"a second join of {join.left} and {join.right}"
        seen.add((join.left, join.right, join.when))
        strangers = [part for part in (join.left, join.right) if part not in order]
        for part in strangers:
            yield path, f"joins {part}, which turn.order doesn't have"
        if not strangers and order.index(join.left) >= order.index(join.right):
            yield path, f"joins {join.left} to {join.right}, against turn.order"


def _ends(spec: Spec) -> Iterator[_Finding]:
    seen: set[Part] = set()
    for index, end in enumerate(spec.turn.ends):
        path: YamlPath = ("turn", "ends", index)
        if end.last in seen:
            yield path, f"a second end after {end.last}"
        seen.add(end.last)
        if end.last not in (Part.START, *spec.turn.order):
            yield path, f"an end after {end.last}, which turn.order doesn't have"


def _reasoning(spec: Spec) -> Iterator[_Finding]:
    reasoning, order = spec.reasoning, spec.turn.order
    if reasoning.mode is ReasoningMode.NONE:
        for key, marker in (("start", reasoning.start), ("end", reasoning.end)):
            if marker:
                yield ("reasoning", key), "a marker, but the mode is NONE"
        if Part.REASONING in order:
            yield ("turn", "order"), "reasoning is there, but its mode is NONE"
        return
    if reasoning.field is not None and not reasoning.field:
        yield ("reasoning", "field"), "a key can't be empty"
    if reasoning.call_field is not None and reasoning.field in (None, reasoning.call_field):
        yield ("reasoning", "call_field"), "is there, but field is missing or the same"
    if reasoning.mode is ReasoningMode.TAG_BASED and not reasoning.start.strip():
        yield ("reasoning", "start"), "nothing marks the start, but the mode is TAG_BASED"
    after = _after(Part.REASONING, order)
    following = [part for part in after if spec.joins(Part.REASONING, part)] or after
    starts = {
        Part.CONTENT: spec.content.start,
        Part.CALLS: spec.tools.section_start + _first_text(spec.tools.call) if spec.tools else "",
    }
    behind = [spec.join(Part.REASONING, part) + starts.get(part, "") for part in following]
    if not reasoning.end.strip() and not (behind and all(text.strip() for text in behind)):
        yield ("reasoning", "end"), f"nothing marks the end, but the mode is {reasoning.mode}"


def _blocks(reasoning: Reasoning) -> Iterator[_Finding]:
    blocks = reasoning.blocks
    if blocks is None:
        return
    if reasoning.field is None:
        yield ("reasoning", "blocks"), "is there, but field is missing"
    if blocks.reasoning_type == blocks.content_type:
        yield ("reasoning", "blocks"), "reasoning_type and content_type are the same"
    for key, field in (("field", reasoning.field), ("blocks", blocks.content_key)):
        if field == blocks.type_key:
            yield ("reasoning", key), f"{field} is the key of the type already"


def _after(part: Part, order: Sequence[Part]) -> Sequence[Part]:
    return order[order.index(part) + 1 :] if part in order else ()


def _content(spec: Spec) -> Iterator[_Finding]:
    content = spec.content
    marked = bool(content.start.strip() or content.end.strip())
    if content.mode is ContentMode.PLAIN and marked:
        yield ("content", "mode"), "is PLAIN, but start or end is a marker"
    if content.mode is not ContentMode.PLAIN and not marked:
        yield ("content", "mode"), f"is {content.mode}, but neither start nor end is a marker"


#: What can be said of a subject beside that it is dropped or ambiguous.
_VERDICTS = {
    Subject.REASONING: (Verdict.TRIMS, Verdict.TOLD),
    Subject.CONTENT: (Verdict.TRIMS, Verdict.MOVES, Verdict.OPEN, Verdict.TOLD),
    Subject.CALLS: (Verdict.TOLD,),
    Subject.ARGUMENT_STRING: (Verdict.TRIMS, Verdict.OPEN),
}


def _limits(spec: Spec) -> Iterator[_Finding]:
    for index, limit in enumerate(spec.limits):
        allowed = (Verdict.DROPS, Verdict.AMBIGUOUS, *_VERDICTS.get(limit.subject, ()))
        if limit.subject is Subject.FURTHER_CALLS:
            allowed = (Verdict.DROPS,)
        if limit.verdict not in allowed:
            wanted = " or ".join(allowed)
            yield ("limits", index, "verdict"), f"{limit.subject}: can be {wanted} only"
        path: YamlPath = ("limits", index, "characters")
        if limit.characters and limit.subject not in _TEXTS:
            yield path, f"is there, but {limit.subject} is no text"
        if limit.characters and limit.verdict is not Verdict.AMBIGUOUS:
            yield path, f"is for ambiguous, but the verdict is {limit.verdict}"


def _grammar(spec: Spec) -> Iterator[_Finding]:
    grammar = spec.grammar
    yield from _empty_texts(grammar.triggers, ("grammar", "triggers"), "a trigger")
    yield from _empty_texts(
        grammar.preserved_tokens, ("grammar", "preserved_tokens"), "a preserved token"
    )


def _alternatives(spec: Spec) -> Iterator[_Finding]:
    path: YamlPath = ("alternatives",)
    found = spec.alternatives
    if spec.tools is None and (found.calls or found.code):
        yield path, "another way to write calls, but tools is missing"
    for index, call in enumerate(found.calls):
        yield from _other_call(call, (*path, "calls", index))
    for index, marks in enumerate(found.marks):
        place: YamlPath = (*path, "marks", index, "start")
        yield from _pieces(marks.start, place, (SlotKind.WORD,))
        yield from _unannounced(marks.start, place)
    if found.code and not found.code.start.strip():
        yield (*path, "code", "start"), "nothing shows where the code begins"
    ends = [end.final.strip() for end in spec.turn.ends] + [*spec.turn.stop, *found.stop]
    if found.code and not any(ends):
        yield (*path, "code"), "nothing shows where the code ends: the turn has no end"
    yield from _stops(found.stop, (*path, "stop"))


def _other_call(call: Sequence[Piece], path: YamlPath) -> Iterator[_Finding]:
    yield from _pieces(call, path, (*_CALL_SLOTS, SlotKind.WORD))
    yield from _unannounced(call, path)
    slots = _slots(call)
    yield from _exactly_one(slots, SlotKind.NAME, path)
    yield from _exactly_one(slots, SlotKind.ARGUMENTS, path)
    if (
        SlotKind.ARGUMENTS in slots
        and SlotKind.NAME not in slots[: slots.index(SlotKind.ARGUMENTS)]
    ):
        yield path, "the NAME slot has to stand before ARGUMENTS"


def _unannounced(pieces: Sequence[Piece], path: YamlPath) -> Iterator[_Finding]:
    if not _first_text(pieces).strip():
        yield path, "no text stands at its beginning: nothing shows it"


def _stops(texts: Sequence[str], path: YamlPath) -> Iterator[_Finding]:
    yield from _empty_texts(texts, path, "a stop string")
    if len(texts) > MOST_STOPS:
        yield path, f"there are {len(texts)} stop strings; {MOST_STOPS} at most"


def _empty_texts(texts: Iterable[str], path: YamlPath, what: str) -> Iterator[_Finding]:
    for index, text in enumerate(texts):
        if not text:
            yield (*path, index), f"{what} can't be empty"
        elif not text.strip():  # any white space is read there, and so none
            yield (*path, index), f"{what} can't be made of blanks"


def _tools(spec: Spec) -> Iterator[_Finding]:
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


def _call_slots(tools: Tools) -> Iterator[_Finding]:
    path: YamlPath = ("tools", "call")
    yield from _pieces(tools.call, path, _CALL_SLOTS)
    slots = _slots(tools.call)
    if SlotKind.NAME not in slots:
        yield path, "no NAME slot"
    yield from _exactly_one(slots, SlotKind.ARGUMENTS, path)
    if tools.empty_call:
        path = ("tools", "empty_call")
        yield from _pieces(tools.empty_call, path, _CALL_SLOTS[:-1])
        yield from _exactly_one(_slots(tools.empty_call), SlotKind.NAME, path)


def _name_last(tools: Tools) -> Iterator[_Finding]:
    """A tagged value is read by its type, which the tool's name tells."""
    slots = _slots(tools.call)
    if tools.mode is not ToolMode.TAG_WITH_TAGGED or SlotKind.ARGUMENTS not in slots:
        return
    if SlotKind.NAME not in slots[: slots.index(SlotKind.ARGUMENTS)]:
        message = "the name comes after tagged arguments; parsers can't read that yet"
        yield ("tools", "call"), message


def _exactly_one(slots: Sequence[SlotKind], kind: SlotKind, path: YamlPath) -> Iterator[_Finding]:
    count = slots.count(kind)
    if count != 1:
        yield path, f"{count or 'no'} {kind} slot{'s' if count > 1 else ''}; there must be one"


def _pieces(
    pieces: Sequence[Piece], path: YamlPath, allowed: Sequence[SlotKind]
) -> Iterator[_Finding]:
    for index, piece in enumerate(pieces):
        if piece.kind and piece.kind not in allowed:
            yield (*path, index, "slot"), f"a {piece.kind} slot doesn't belong here"
        elif not piece.kind and not piece.text:
            yield (*path, index, "text"), "a text can't be empty here"
        elif slot := _LIKE_SLOT.search(piece.text):
            yield (*path, index, "text"), f"{slot.group()!r} can't be told from a slot"
    for index, (left, right) in enumerate(pairwise(pieces)):
        if left.kind and right.kind and not {left.kind, right.kind} & _SELF_EVIDENT:
            place = (*path, index + 1)
            yield place, f"nothing stands between the slots {left.kind} and {right.kind}"


def _slots(pieces: Iterable[Piece]) -> list[SlotKind]:
    return [piece.kind for piece in pieces if piece.kind]


def _first_text(pieces: Sequence[Piece]) -> str:
    return pieces[0].text if pieces else ""


def _call_id(tools: Tools) -> Iterator[_Finding]:
    path: YamlPath = ("tools", "call_id")
    slots = _slots(tools.call)
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


def _id_parts(tools: Tools) -> Iterator[_Finding]:
    if not tools.id_parts:
        return
    call, parts = (
        "".join(f"\0{piece.kind}\0" if piece.kind else piece.text for piece in pieces)
        for pieces in (tools.call, tools.id_parts)
    )
    if SlotKind.ID in _slots(tools.call) or SlotKind.NAME not in _slots(tools.id_parts):
        yield ("tools", "id_parts"), "is for ids that hold the name, where there is no ID slot"
    elif parts not in call:
        yield ("tools", "id_parts"), "is no part of tools.call"


def _call_index(tools: Tools) -> Iterator[_Finding]:
    has_slot = SlotKind.INDEX in _slots(tools.call)
    for key, value in (("index_base", tools.index_base), ("index_scope", tools.index_scope)):
        if has_slot and value is None:
            yield ("tools",), f"tools.call has an INDEX slot, but {key} is missing"
        if not has_slot and value is not None:
            yield ("tools", key), "is there, but tools.call has no INDEX slot"


def _arguments(tools: Tools) -> Iterator[_Finding]:
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


def _item(tools: Tools) -> Iterator[_Finding]:
    arguments = tools.arguments
    path: YamlPath = ("tools", "arguments", "item")
    yield from _pieces(arguments.item, path, _ITEM_SLOTS)
    slots = _slots(arguments.item)
    if SlotKind.KEY not in slots:
        yield path, "no KEY slot"
    yield from _exactly_one(slots, SlotKind.VALUE, path)
    for kind, encoding in arguments.values.items():
        if encoding is Encoding.RAW and kind is not JsonType.STRING:
            yield (*path[:-1], "values", kind), "RAW is for strings"
    if not arguments.values:
        yield path[:-1], "values is missing: nothing says how a value is written"
    if SlotKind.TYPE in slots and not arguments.types:
        yield path[:-1], "types is missing, but the item has a TYPE slot"
    if SlotKind.TYPE not in slots and arguments.types:
        yield (*path[:-1], "types"), "is there, but the item has no TYPE slot"


def _nested(tools: Tools) -> Iterator[_Finding]:
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


def _element_pieces(elements: Elements, path: YamlPath) -> Iterator[_Finding]:
    yield from _pieces(elements.member, (*path, "member"), _MEMBER_SLOTS)
    yield from _pieces(elements.element, (*path, "element"), (SlotKind.VALUE,))
    if SlotKind.KEY not in _slots(elements.member):
        yield (*path, "member"), "no KEY slot"
    for key, pieces in (("member", elements.member), ("element", elements.element)):
        yield from _exactly_one(_slots(pieces), SlotKind.VALUE, (*path, key))
        ends = [pieces[0], pieces[-1]] if pieces else []
        if not ends or not all(end.text.strip() for end in ends):
            yield (*path, key), "no text stands at its beginning and its end"


def _fields(tools: Tools) -> Iterator[_Finding]:
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
    has_slot = SlotKind.ID in _slots(tools.call)
    if has_slot and not fields.id:
        yield path, "id is missing, but tools.call has an ID slot"
    if fields.id and not has_slot:
        yield (*path, "id"), "is there, but tools.call has no ID slot"


def _undetectable(spec: Spec, tools: Tools) -> bool:
    """Return whether a call may follow the turn's start or content with no text to show it.

    One that begins with its name, as tools tell, may begin the turn, or a line.
    """
    opener = tools.section_start + _first_text(tools.call)
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
