"""Spec -> the part of a format table that says how calls are told from text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from turnspec.codegen.format import CallsFormat, CodeFormat
from turnspec.codegen.markers import excluded, leading_text
from turnspec.codegen.notation import literal_text, notation, optional, slotted
from turnspec.codegen.shapes import looks_like_head, looks_like_marker, tags
from turnspec.spec.characters import NAME_SIGNS, call_ends
from turnspec.spec.model import (
    CodeCall,
    Literal,
    Piece,
    Slot,
    SlotKind,
    Spec,
    ToolMode,
    Tools,
)
from turnspec.spec.turn_end import without_stop

_ARGUMENTS = Slot(SlotKind.ARGUMENTS)
_NAME = "{name}"
_BRACKETS = "]})` \n"
_COMMAS = " \t\n\r,;"  # what the engine passes between the calls of a section
_JSON_OPENING = re.compile(r'[\[{](?:[\s\[\]{}:,]|"[^"]*"|true|false|null|\d)*(?:"[^"]*)?$')

Calls = tuple[tuple[Piece, ...], ...]


def calls_table(spec: Spec, tools: Tools) -> CallsFormat:
    """Return how calls are told from text."""
    others = spec.alternatives.calls
    if tools.mode is ToolMode.JSON_NATIVE:
        found = _object_calls(tools, others)
        signs = {stop[:1] for stop in spec.turn.stop}
        return found | {"braced_end": "{" in signs, "bracketed_end": "]" in signs}
    return _head_calls(tools, others, spec)


def code_table(code: CodeCall) -> CodeFormat:
    """Return how calls that are code are announced."""
    start = notation(code.start)
    if code.start.endswith("\n"):  # then the line has to end there
        start += "{line end}"
    found: CodeFormat = {"start": start, "tool": code.name, "argument": code.argument}
    if code.method:
        found["method"] = code.method
    return found


def _object_calls(tools: Tools, others: Calls) -> CallsFormat:
    before = [_before_json(text) for text in (tools.section_start, literal_text(tools.call[0]))]
    opening = [notation(text) for text in before if text]
    ends = (literal_text(tools.call[-1]), *tools.section_ends)
    closing = list(dict.fromkeys(notation(text) for end in ends if (text := _after_json(end))))
    found: CallsFormat = {
        "form": "objects",
        "bare": not opening,
        "in_array": tools.section_start.rstrip().endswith("["),
        "opening": opening,
        "other_openings": [notation(_before_json(literal_text(call[0]))) for call in others],
        "mentions": list(filter(looks_like_marker, opening[:1])),
        "closing": [_apart(text, opening) for text in closing],
        "end": list(filter(looks_like_marker, closing)),
    }
    if between := [notation(text) for text in tools.separators if text.strip(_COMMAS)]:
        found["separators"] = between
    return found if tools.fields.name_is_key else found | _members(tools)


def _apart(closing: str, openings: Sequence[str]) -> str:
    """Return what closes a call, but not what goes on as an opening that begins so: a fence."""
    signs = (text[len(closing) :][:1] for text in openings if text.startswith(closing))
    sign = next(filter(str.isalnum, signs), "")
    return f"{closing}{{no {sign}}}" if sign else closing


def _members(tools: Tools) -> CallsFormat:
    """Return the keys of a call's object: what they stand for, in their order, and the others."""
    fields = tools.fields
    keys = {"name": fields.name[-1], "arguments": fields.arguments[-1]}
    slots = [piece.kind for piece in tools.call if isinstance(piece, Slot)]
    if slots.index(SlotKind.ARGUMENTS) < slots.index(SlotKind.NAME):
        keys = dict(reversed(keys.items()))
    if fields.id:
        keys["id"] = fields.id[-1]
    literals = "".join(map(literal_text, tools.call))
    members = dict.fromkeys(["type", *re.findall(r'"(\w+)"\s*:', literals)])
    others = [key for key in members if key not in keys.values()]
    found = re.findall(r'"(\w+)"\s*:\s*("[^"{}]*")', literals)
    values = {re.sub(r"\d", "", value) for key, value in found if key in others}
    usual = {'""', '"function"'}
    return {"members": keys, "other_members": others, "other_values": sorted(values - usual)}


def _before_json(text: str) -> str:
    match = _JSON_OPENING.search(text)
    return (text[: match.start()] if match else text).strip()


def _after_json(text: str) -> str:
    return text.lstrip(' \t\r\n"}]').rstrip()


@dataclass(frozen=True, slots=True)
class _Shape:
    """A call taken apart: what is around it, its head, and the tags that close it."""

    opening: tuple[str, ...]
    head: tuple[Piece, ...]
    closing: tuple[str, ...]
    only_in_section: bool


def _head_calls(tools: Tools, others: Calls, spec: Spec) -> CallsFormat:
    shape = _shape(tools)
    at = tools.call.index(_ARGUMENTS)
    after = tools.call[at + 1 :]
    start = slotted(shape.head)
    opening = [notation(text) for text in shape.opening]
    if shape.only_in_section:
        opening = [_with_optional_bracket(text) for text in opening]
    first = leading_text(opening[0] if opening else start)
    found: CallsFormat = {
        "form": "heads",
        "opening": opening,
        "needs_opening": bool(opening) and not shape.only_in_section,
        "only_in_section": shape.only_in_section,
        "start": start,
        "other_starts": [slotted(call[: call.index(_ARGUMENTS)]) for call in others],
        "mentions": [first] if looks_like_marker(first) else [],
        "closing": _closing(tools, shape, after),
    }
    if spec.names_by_id:
        found["named_by_id"] = True
    if short := _short_start(start, is_json=tools.mode is ToolMode.TAG_WITH_JSON):
        found["short_starts"] = [short]
    if shape.only_in_section:
        found["other_starts"] = [*found["other_starts"], *_separated_starts(tools, start)]
    if start.count(_NAME) > 1:  # the first tells, whatever stands where it is said again
        noisy = start[: start.rindex(_NAME)] + "{name or noise}"
        found["other_starts"] = [*found["other_starts"], noisy]
    _bound_names(found, call_ends(tools, SlotKind.NAME))
    found |= _ends(tools, shape, spec)
    if _needs_tail(tools, shape, after, spec):
        found["tail"] = slotted(after)
    return found


def _separated_starts(tools: Tools, start: str) -> Iterator[str]:
    """Yield heads behind what separates calls in a section, where that is more than a comma."""
    for separator in tools.separators:
        if separator.strip(_COMMAS):
            yield f"{notation(separator)} {start}"


def _bound_names(table: CallsFormat, ends: str) -> None:
    """Write into heads which signs a name can't hold, if the engine wouldn't see it from them."""
    if _NAME not in table["start"] or table["start"].startswith(_NAME):
        return
    known = excluded(table["start"], "name") + "{}"
    if others := "".join(sign for sign in ends if sign in NAME_SIGNS and sign not in known):
        bounded = f"{{name but {others}}}"
        table["start"] = table["start"].replace(_NAME, bounded, 1)
        if "short_starts" in table:
            table["short_starts"] = [s.replace(_NAME, bounded, 1) for s in table["short_starts"]]


def _shape(tools: Tools) -> _Shape:
    at = tools.call.index(_ARGUMENTS)
    head, after = tools.call[:at], tools.call[at + 1 :]
    is_tagged = tools.mode is ToolMode.TAG_WITH_TAGGED
    head_tags = tags(literal_text(head[0]))
    section = [tools.section_start.strip()] if tools.section_start.strip() else []
    distinctive = any(looks_like_head(literal_text(piece)) for piece in head)
    between = (tools.separator, tools.section_end)
    lost = any(text.strip() and not looks_like_marker(text) for text in between)
    in_section = bool(section) and (not head_tags or not distinctive or lost)
    if head_tags and not in_section:
        text = literal_text(head[0])
        head = (Literal(text[text.rindex(head_tags[-1]) :]), *head[1:])
    if is_tagged and tools.arguments.start.strip():
        head = (*head, Literal(tools.arguments.start))
    closing = "".join(map(literal_text, after))
    has_slots = is_tagged and any(isinstance(piece, Slot) for piece in after)
    return _Shape(
        opening=tuple(section if in_section else section + head_tags[:-1]),
        head=head,
        closing=() if has_slots else tuple(tags(tools.arguments.end * is_tagged + closing)),
        only_in_section=in_section,
    )


def _with_optional_bracket(opening: str) -> str:
    """Return what opens a section; the bracket behind its tag may be missing."""
    tag, blank, bracket = opening.rpartition(" ")
    is_optional = looks_like_marker(tag) and bracket in ("[", "(")
    return f"{tag}{blank}{optional(bracket)}" if is_optional else opening


def _short_start(start: str, *, is_json: bool) -> str:
    """Return a head that may lack some of its tags, "" if each of them is needed.

    Those behind the name are needed only where nothing else tells of the arguments; those that
    are before a name that is said again aren't, either.
    """
    before, name, behind = start.partition(_NAME)
    again = behind.partition(_NAME)
    if again[1]:
        *others, last = again[0].lstrip().split(" <")
        tags_ = [optional(tag if at == 0 else f"<{tag}") for at, tag in enumerate(others)]
        return " ".join([*tags_, f"<{last}" if others else last]) + "".join(again[1:])
    if not (is_json and name) or re.search(r"[^\s{}] [^\s{}]", behind):
        return ""
    short = re.sub(r"(?<=[ }])[^\s{}]+", _optional_tag, behind)
    return before + name + short if short != behind else ""


def _optional_tag(found: re.Match[str]) -> str:
    return optional(found.group()) if looks_like_marker(found.group()) else found.group()


def _closing(tools: Tools, shape: _Shape, after: tuple[Piece, ...]) -> list[str]:
    """Return what closes a call, tag by tag; with a slot in it, such as the name, it is one."""
    if shape.closing or not any(isinstance(piece, Slot) for piece in after):
        return [notation(text) for text in shape.closing]
    if tools.mode is not ToolMode.TAG_WITH_TAGGED:
        return []
    pieces = (Literal(tools.arguments.end), *after)
    return ["".join(map(_closing_text, pieces)).strip()]


def _closing_text(piece: Piece) -> str:
    """Return a piece of what closes a call: an id is read there, any other slot passed over."""
    if isinstance(piece, Slot):
        return "{id}" if piece.kind is SlotKind.ID else "{any}"
    spaced = piece.text[-1:] in (" ", "\t")
    return notation(piece.text) + " " * spaced


def _ends(tools: Tools, shape: _Shape, spec: Spec) -> CallsFormat:
    """Return what closes calls wherever it stands; the last one closes what is around them."""
    section_end = tools.section_end.strip()
    tails = [tag for call in spec.alternatives.calls for tag in tags(literal_text(call[-1]))]
    found = [tag for tag in tails if tag not in shape.closing] + [*shape.closing]
    found += [section_end] if tools.section_start.strip() else []
    found = [text for text in found if looks_like_marker(text)]
    section_ends: list[str] = []
    has_section_end = bool(tools.section_start.strip() and section_end)
    if shape.opening and len(found) > (0 if has_section_end else 1):
        lasts = [found.pop(), *filter(looks_like_marker, tools.section_ends[1:])]
        lasts += filter(None, [without_stop(lasts[0], spec.turn.stop)])
        section_ends = [text for last in lasts for text in (last, last.lstrip("]})"))]
    # A bracket before a closing tag may be missing.
    bare = [text for end in found if (text := end.lstrip(_BRACKETS)) != end]
    found = [end for end in found if not _ends_texts(end, spec)] + bare
    ends: CallsFormat = {
        "end": list(dict.fromkeys(map(notation, found))),
        "section_end": list(dict.fromkeys(map(notation, section_ends))),
    }
    if shape.only_in_section:
        expected = [notation(text) for text in tools.section_ends if text.strip()]
        ends["section_closing"] = expected
    return ends


def _ends_texts(end: str, spec: Spec) -> bool:
    """Tell whether a call's end is a bracket, which a text may hold, and what ends texts, too."""
    bare = end.lstrip(_BRACKETS)
    return bare != end and bare in (spec.content.end.strip(), spec.reasoning.end.strip())


def _needs_tail(tools: Tools, shape: _Shape, after: tuple[Piece, ...], spec: Spec) -> bool:
    """Tell whether what stands behind JSON arguments has slots, or is no marker in text."""
    if tools.mode is ToolMode.TAG_WITH_TAGGED:
        return False
    text = "".join(map(literal_text, after)).strip()
    elsewhere = looks_like_marker(text) and text != spec.reasoning.end.strip()
    elsewhere = elsewhere and not shape.only_in_section and not _ends_texts(text, spec)
    return any(isinstance(piece, Slot) for piece in after) or (bool(text) and not elsewhere)
