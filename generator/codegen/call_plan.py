"""The calls of a format: their markers, heads and tails as pieces, and how values are read."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from generator.codegen.argument_plan import has_quoted_strings, raw_sets, structured_sets
from generator.codegen.marker_plan import (
    SPACE,
    Expression,
    Follows,
    Marker,
    MarkerPieces,
    looks_like_head,
    looks_like_marker,
    tags,
    words,
)
from generator.codegen.slot_plan import literal_text, slotted
from generator.spec.model import Encoding, JsonType, Literal, Piece, Slot, SlotKind, ToolMode, Tools

_JSON_OPENING = re.compile(r'[\[{](?:[\s\[\]{}:,]|"[^"]*"|true|false|null|\d)*"?$')


@dataclass(frozen=True, slots=True)
class CallPlan:
    """What a module needs to read calls: a kind, marker sets, and expressions by constant."""

    kind: str  # "native", "json" or "tagged"
    text: tuple[Marker, ...]
    sets: dict[str, tuple[Marker, ...]]  # marker sets beside _TEXT, by constant
    expressions: dict[str, str]  # by constant
    wrap: str = ""  # the marker that has to stand before a call
    bare: bool = False
    in_section: bool = False
    structured: bool = False
    head_slots: frozenset[str] = frozenset()
    tail_slots: frozenset[str] = frozenset()
    keys: dict[str, tuple[str, ...]] = field(default_factory=dict)
    name_is_key: bool = False
    type_words: dict[str, tuple[str, ...]] = field(default_factory=dict)
    python_values: bool = False
    guarded: bool = False  # a value can have a guard around it
    key_closes: bool = False  # what closes a value has its key
    dialect: str = "json"  # of structured values: "json", "python" or "quoted"
    quote: str = '"'
    quoted_strings: bool = False  # QUOTED, where values inside others are in another dialect


def plan_calls(tools: Tools, ends: tuple[str, ...]) -> CallPlan:
    """Return the plan for reading the calls of a format; ``ends`` are the turn's end markers."""
    if tools.mode is ToolMode.JSON_NATIVE:
        return _plan_native(tools)
    return _plan_tags(tools, ends)


def _plan_native(tools: Tools) -> CallPlan:
    opening = _before_json(tools.section_start), _before_json(literal_text(tools.call[0]))
    closing = _after_json(tools.section_end), _after_json(literal_text(tools.call[-1]))
    section, call = opening
    object_pieces: MarkerPieces = (Expression("_SEPARATOR"), "{")
    ahead = Follows((((Expression("_BRACKET"), "{")), *([(SPACE, *words(call))] if call else [])))
    text, objects = [], [Marker("object", (object_pieces,)), Marker("array_end", ((SPACE, "]"),))]
    if section:
        text.append(Marker("wrap", ((*words(section), ahead),)))
    elif call:
        text.append(Marker("wrap", ((*words(call), Follows(((Expression("_BRACKET"), "{"),))),)))
    if section and call:
        objects.append(Marker("open", ((SPACE, *words(call)),)))
    closers = [literal for literal in reversed(closing) if literal]
    if closers:
        objects.append(Marker("close", tuple((SPACE, *words(literal)) for literal in closers)))
    stray = [words(literal) for literal in closers if looks_like_marker(literal)]
    if stray:
        text.append(Marker("close", tuple(stray)))
    fields = tools.fields
    named = {
        "_NAME_KEYS": fields.name[-1:],
        "_ARGUMENTS_KEYS": fields.arguments[-1:],
        "_ID_KEYS": fields.id[-1:],
    }
    known = {key for keys in named.values() for key in keys} | {"function"}
    literals = " ".join(piece.text for piece in tools.call if isinstance(piece, Literal))
    others = [
        key
        for key in dict.fromkeys(["type", *re.findall(r'"(\w+)"\s*:', literals)])
        if key not in known
    ]
    return CallPlan(
        kind="native",
        text=tuple(text),
        sets={
            "_OBJECTS": tuple(objects),
            "_MEMBER": (
                Marker("wrapper", ((Expression("_COMMA"), '"function"', SPACE, ":", SPACE, "{"),)),
                Marker(
                    "member",
                    ((Expression("_COMMA"), '"', Expression("_KEY_TEXT"), '"', SPACE, ":"),),
                ),
                Marker("close", ((Expression("_COMMA"), "}"),)),
            ),
        },
        expressions={
            "_SEPARATOR": r"[\s,;]{0,99}\[?\s{0,99}",
            **({"_BRACKET": r"\s{0,99}\[?\s{0,99}"} if text else {}),
            "_COMMA": r"[\s,]{0,99}",
        },
        bare=not (section or call),
        structured=True,
        keys={**named, "_OTHER_KEYS": tuple(others)},
        name_is_key=fields.name_is_key,
        dialect=_dialect(tools),
        quote=tools.arguments.syntax.quote,
    )


def _dialect(tools: Tools) -> str:
    """Return how structured values are written: the name of the dialect in the templates.

    Where types differ it is the one that reads them all: Python's reads JSON as well.
    """
    arguments = tools.arguments
    if not arguments.item:
        return arguments.syntax.encoding.value.lower()
    found = set(arguments.values.values())
    if has_quoted_strings(tools):
        return "python"
    kinds = (Encoding.QUOTED, Encoding.PYTHON)
    return next((kind.value.lower() for kind in kinds if kind in found), "json")


def _before_json(text: str) -> str:
    match = _JSON_OPENING.search(text)
    return (text[: match.start()] if match else text).strip()


def _after_json(text: str) -> str:
    return text.lstrip(' \t\r\n"}]').rstrip()


def _plan_tags(tools: Tools, ends: tuple[str, ...]) -> CallPlan:
    at = tools.call.index(Slot(SlotKind.ARGUMENTS))
    before, after = tools.call[:at], tools.call[at + 1 :]
    tagged = tools.mode is ToolMode.TAG_WITH_TAGGED
    arguments = tools.arguments
    head_tags = tags(literal_text(before[0]))
    section = [tools.section_start.strip()] if tools.section_start.strip() else []
    distinctive = any(looks_like_head(literal_text(piece)) for piece in before) or not section
    in_section = not head_tags or not distinctive
    tail_text = "".join(map(literal_text, after))
    tail = tags(arguments.end + tail_text if tagged else tail_text)
    expressions: dict[str, str] = {}
    if not in_section:
        head_text = literal_text(before[0])
        before = (Literal(head_text[head_text.rindex(head_tags[-1]) :]), *before[1:])
    if tagged and arguments.start.strip():
        before = (*before, Literal(arguments.start))
    head = slotted(before, expressions, "{" if not tagged else "")
    if not isinstance(head[-1], str):
        head = (*head, Follows(_after_name(tools, tail, tagged)))
    wraps = section if in_section else section + head_tags[:-1]
    text = [*_wraps(wraps, head)]
    if not in_section:
        text.append(Marker("call", (head,)))
    closers = [*tail, tools.section_end.strip()] if section else tail
    closers = [literal for literal in closers if looks_like_marker(literal)]
    has_unwrap = bool(wraps) and len(closers) > (0 if section and tools.section_end.strip() else 1)
    if has_unwrap:
        text.append(Marker("unwrap", (words(closers[-1]),)))
        closers = closers[:-1]
    if closers:
        text.append(Marker("close", tuple(words(literal) for literal in closers)))
    sets: dict[str, tuple[Marker, ...]] = {}
    structured = not tagged
    if tagged:
        structured = arguments.values.get(JsonType.STRING, Encoding.RAW) is not Encoding.RAW
        if structured:
            sets |= structured_sets(tools, tail, expressions)
        else:
            sets |= raw_sets(tools, tail, wraps, ends, expressions)
    else:
        sets |= _tail_set(after, expressions)
    if in_section:
        expressions["_SEPARATOR"] = r"[\s,;]{0,99}"
        unwrap = words(tools.section_end)
        options = [Marker("call", ((Expression("_SEPARATOR"), *head),))]
        if unwrap:
            options.append(Marker("unwrap", ((SPACE, *unwrap),)))
        sets["_SECTION"] = tuple(options)
    return CallPlan(
        kind="tagged" if tagged else "json",
        text=tuple(text),
        sets=sets,
        expressions=expressions,
        wrap=wraps[0] if wraps and not in_section else "",
        in_section=in_section,
        structured=structured,
        head_slots=frozenset(_slot_names(before)),
        tail_slots=frozenset(_slot_names(after)) if "_TAIL" in sets else frozenset(),
        type_words=_type_words(tools),
        python_values=Encoding.PYTHON in arguments.values.values(),
        guarded="_GUARD" in sets,
        key_closes="_KEY_AGAIN" in expressions,
        dialect=_dialect(tools),
        quote=arguments.syntax.quote,
        quoted_strings=has_quoted_strings(tools),
    )


def _slot_names(pieces: tuple[Piece, ...]) -> list[str]:
    return [piece.kind.value.lower() for piece in pieces if isinstance(piece, Slot)]


def _wraps(wraps: list[str], head: MarkerPieces) -> list[Marker]:
    """Return the opening tags around a call; each counts only if a call follows."""
    found = []
    for index, literal in enumerate(wraps):
        following = [words(wrap) for wrap in wraps[index + 1 :]] + [head]
        ahead = Follows(tuple((SPACE, *pieces) for pieces in following))
        found.append(Marker("open" if index else "wrap", ((*words(literal), ahead),)))
    return found


def _after_name(tools: Tools, tail: list[str], tagged: bool) -> tuple[MarkerPieces, ...]:
    """Return what can follow a name that no literal closes."""
    if not tagged:
        return ((SPACE, "{"),)
    opening = words(literal_text(tools.arguments.item[0]))[:1]
    return tuple((SPACE, *pieces) for pieces in (opening, *map(words, tail)) if pieces)


def _tail_set(
    after: tuple[Piece, ...], expressions: dict[str, str]
) -> dict[str, tuple[Marker, ...]]:
    """Return what follows JSON arguments, where it cannot be told from content elsewhere."""
    text = "".join(map(literal_text, after)).strip()
    slots = any(isinstance(piece, Slot) for piece in after)
    if not slots and (not text or looks_like_marker(text)):
        return {}
    return {"_TAIL": (Marker("tail", ((SPACE, *slotted(after, expressions, "<")),)),)}


def _type_words(tools: Tools) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for json_type, word in tools.arguments.types.items():
        found[word] = (*found.get(word, ()), json_type.value)
    return found
