"""Spec -> the markers of calls, and of what stands around them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from turnspec.codegen.markers import excluded
from turnspec.codegen.marks import CallMarks
from turnspec.codegen.notation import notation, optional, slotted
from turnspec.codegen.shapes import closing_tags, looks_like_head, looks_like_marker, tags
from turnspec.spec.calls import Literal, Piece, Slot, Tools
from turnspec.spec.characters import NAME_SIGNS, call_ends
from turnspec.spec.model import Spec
from turnspec.spec.turn_end import without_stop
from turnspec.spec.words import Part, SlotKind, ToolMode

_ARGUMENTS, _INDEX = Slot(SlotKind.ARGUMENTS), Slot(SlotKind.INDEX)
_NAME = "{name}"
_BRACKETS = "]})` \n"
_COMMAS = " \t\n\r,;"  # what the engine passes between the calls of a section
_JSON_END = re.compile(r'\A(?:[\s"\]}]|,\s*"[^"{}]*"\s*:\s*(?:"[^"{}]*"|\w+)(?=\s*[,}]))+')
#: An object's members up to the array that is its last one: these have texts or words for values.
_MEMBER = r'"[^"{}]*"\s*:\s*(?:"[^"{}]*"|\w+)\s*,\s*'
_ENVELOPE = re.compile(rf'\{{\s*((?:{_MEMBER})*)("[^"{{}}]+")\s*:\s*\[\s*$')
_NUMBER = re.compile(r' \w+="\{index\} "')  # an attribute
_JSON_OPENING = re.compile(r'[\[{](?:[\s\[\]{}:,]|"[^"]*"|true|false|null|\d)*(?:"[^"]*)?$')


def call_marks(spec: Spec, tools: Tools) -> CallMarks:
    """Return how calls are told from text."""
    if tools.mode is ToolMode.JSON_NATIVE:
        return _around_objects(spec, tools)
    shape = _shape(tools, spec.final(Part.CONTENT).strip())
    opening, start = tuple(map(notation, shape.opening)), slotted(shape.head)
    if not opening and not shape.head[0].text[-1:].isspace():
        # A sign that alone marks a call stands right before the name: `< b` is prose.
        start = re.sub(r"\A([^\w\s{}]) (?=\{name)", r"\1", start)
    slot = _no_stop(spec, start) * shape.only_in_section + _name_slot(tools, start)
    before = tools.call[0].text.removesuffix(shape.head[0].text)  # which heads are read behind
    if shape.only_in_section:
        opening = tuple(map(_with_optional_bracket, opening))
    end, section_end = _ends(shape, spec)
    expected = tools.section_ends if shape.only_in_section else ()
    return CallMarks(
        opening=opening,
        start=start.replace(_NAME, slot, 1),
        other_starts=tuple(_other_starts(shape, spec, start)),
        short_starts=tuple(it.replace(_NAME, slot, 1) for it in _short_starts(start)),
        empty=slotted(tools.empty_call).removeprefix(notation(before)).lstrip(),
        closing=_closing(shape),
        end=tuple(dict.fromkeys(map(notation, end))),
        section_end=tuple(dict.fromkeys(map(notation, section_end))),
        section_closing=tuple(notation(text) for text in expected if text.strip()),
        tail=slotted(shape.after) if _needs_tail(shape, spec) else "",
        only_in_section=shape.only_in_section,
    )


def _around_objects(spec: Spec, tools: Tools) -> CallMarks:
    section, call = notation(_before_json(tools.section_start)), _before_object(tools.call)
    found = filter(None, (f"{section} {envelope(tools)}".strip(), call))
    # A run of a sign, as a fence is, isn't followed by that sign.
    opening = tuple(f"{it}{{no {it[0]}}}" if len({*it}) == 1 else it for it in found)
    ends = (text for it in tools.section_ends if (text := _JSON_END.sub("", it).rstrip()))
    closing = dict.fromkeys(filter(None, (_behind_object(tools.call), *map(notation, ends))))
    others = (notation(_before_json(call[0].text)) for call in spec.alternatives.calls)
    return CallMarks(
        opening=opening,
        other_openings=tuple(others),
        closing=tuple(_apart(text, opening) for text in closing),
        end=tuple(filter(looks_like_marker, closing)),
    )


def _before_object(call: Sequence[Piece]) -> str:
    """Return what stands before a call's object, which may hold an index: ``<call_{index}>``."""
    found: list[Piece] = []
    for piece in call:
        text = _before_json(piece.text)
        if piece != _INDEX and text != piece.text.strip():
            found.append(Literal(text))
            break
        found.append(piece if piece == _INDEX else Literal(piece.text))
    return slotted(found) if _INDEX in found[:-1] else notation(found[0].text)


def _behind_object(call: Sequence[Piece]) -> str:
    """Return what stands behind a call's object, likewise."""
    end = _JSON_END.sub("", call[-1].text).rstrip()
    if call[-2] != _INDEX or end != call[-1].text:
        return notation(end)
    return slotted((Literal(_JSON_END.sub("", call[-3].text)), _INDEX, Literal(end)))


def envelope(tools: Tools) -> str:
    """Return how an object begins that holds the array of all calls; "" if there is none."""
    found = _ENVELOPE.search(tools.section_start)
    members = re.sub(r"\s*([:,])\s*", r" \1 ", found[1]) if found else ""
    return f"{{{{ {members}{found[2]} :" if found else ""


def _apart(closing: str, openings: Sequence[str]) -> str:
    """Return what closes a call, but not what goes on as an opening that begins so: a fence."""
    signs = (text[len(closing) :][:1] for text in openings if text.startswith(closing))
    sign = next(filter(str.isalnum, signs), "")
    return f"{closing}{{no {sign}}}" if sign else closing


def own_keys(tools: Tools) -> dict[str, str]:
    """Return the keys of name, arguments and id in their order; none if the one key is the name."""
    fields = tools.fields
    if tools.mode is not ToolMode.JSON_NATIVE or fields.name_is_key:
        return {}
    keys = {"name": fields.name[-1], "arguments": fields.arguments[-1]}
    if tools.call.index(_ARGUMENTS) < tools.call.index(Slot(SlotKind.NAME)):
        keys = dict(reversed(keys.items()))
    return keys | ({"id": fields.id[-1]} if fields.id else {})


def other_keys(tools: Tools) -> tuple[str, ...]:
    """Return the keys of a call's object that mean nothing."""
    own = own_keys(tools)
    found = dict.fromkeys(["type", *re.findall(r'"(\w+)"\s*:', _text(tools.call))])
    return tuple(key for key in found if key not in own.values()) if own else ()


def other_values(tools: Tools) -> tuple[str, ...]:
    """Return what these keys hold, as JSON, digits aside; "function" they may hold anyway."""
    others = other_keys(tools)
    found = re.findall(r'"(\w+)"\s*:\s*("[^"{}]*")', _text(tools.call))
    values = {re.sub(r"\d", "", value) for key, value in found if key in others}
    return tuple(sorted(values - {'""', '"function"'}))


def ends_turn(spec: Spec, separator: str) -> bool:
    """Tell whether what separates two calls holds what ends a turn, and so may end one."""
    return looks_like_marker(separator) and any(stop in separator for stop in spec.turn.stop)


def call_separators(tools: Tools) -> list[str]:
    """Return what separates two calls, where that is more than a comma."""
    return [text for text in tools.separators if text.strip(_COMMAS)]


def has_commas(tools: Tools) -> bool:
    """Tell whether a comma or the like separates two calls, and nothing else."""
    return any(text.strip() and not text.strip(_COMMAS) for text in tools.separators)


def sign_between(tools: Tools) -> str:
    """Return what separates two calls beside white space, if it is no marker but signs alone."""
    text = tools.separator.strip()
    is_sign = not looks_like_marker(text) and not re.search(r"\w", text)
    return "," if text.startswith(",") else text * is_sign


def _text(pieces: Sequence[Piece]) -> str:
    return "".join(piece.text for piece in pieces)


def _before_json(text: str) -> str:
    match = _JSON_OPENING.search(text)
    return (text[: match.start()] if match else text).strip()


@dataclass(frozen=True, slots=True)
class _Shape:
    """A call taken apart: what is around it, its head, and the tags that close it."""

    tools: Tools
    is_tagged: bool  # its arguments are tags
    opening: tuple[str, ...]
    head: tuple[Piece, ...]
    after: tuple[Piece, ...]  # its arguments
    closing: tuple[str, ...]
    only_in_section: bool


def _other_starts(shape: _Shape, spec: Spec, start: str) -> Iterator[str]:
    """Yield heads of other ways to write a call."""
    yield from (slotted(call[: call.index(_ARGUMENTS)]) for call in spec.alternatives.calls)
    # In a section they stand behind what separates calls.
    separators = call_separators(shape.tools) if shape.only_in_section else ()
    yield from (f"{notation(text)} {start}" for text in separators)
    if start.count(_NAME) > 1:  # the first tells, whatever stands where it is said again
        yield start[: start.rindex(_NAME)] + "{name or noise}"
    # Nothing is lost with a call's number; any attribute may stand in its place.
    if (other := _NUMBER.sub("{attributes}", start)) != start:
        yield other


def _name_slot(tools: Tools, start: str) -> str:
    """Return a head's slot, with the signs that no name holds if the engine wouldn't see them."""
    if _NAME not in start or start.startswith(_NAME):
        return _NAME
    known, ends = excluded(start, "name") + "{}", call_ends(tools, SlotKind.NAME)
    others = "".join(sign for sign in ends if sign in NAME_SIGNS and sign not in known)
    return f"{{name but {others}}}" if others else _NAME


def _no_stop(spec: Spec, start: str) -> str:
    """Return what follows no head's first sign, as it ends the turn: ``[END]`` calls no END."""
    sign = start.partition(_NAME)[0].strip()
    ends = (end.strip().removeprefix(sign) for end in spec.turn.stop if end.startswith(sign))
    return "".join(f"{{no {end}}}" for end in ends if sign and re.match(r"\w", end))


def _shape(tools: Tools, turn_end: str) -> _Shape:
    at = tools.call.index(_ARGUMENTS)
    head, after = tools.call[:at], tools.call[at + 1 :]
    is_tagged = tools.mode is ToolMode.TAG_WITH_TAGGED
    # What ends a turn opens nothing by itself.
    is_behind = turn_end and head[0].text.startswith(turn_end)
    head_tags = [] if is_behind else tags(head[0].text)
    section = [tools.section_start.strip()] if tools.section_start.strip() else []
    distinctive = any(looks_like_head(piece.text) for piece in head)
    between = (tools.separator, tools.section_end)
    lost = any(text.strip() and not looks_like_marker(text) for text in between)
    is_word = tools.empty_call and not tools.empty_call[-1].text.strip()  # any line may be one
    in_section = bool(section) and (not head_tags or not distinctive or lost or bool(is_word))
    if head_tags and not in_section:
        text = head[0].text
        head = (Literal(text[text.rindex(head_tags[-1]) :]), *head[1:])
    if is_tagged and tools.arguments.start.strip():
        last = head[-1]
        head = (*(head if last.kind else head[:-1]), Literal(last.text + tools.arguments.start))
    has_slots = is_tagged and any(piece.kind for piece in after)
    closing = tools.arguments.end * is_tagged + _text(after)
    return _Shape(
        tools=tools,
        is_tagged=is_tagged,
        opening=tuple(section if in_section else section + head_tags[:-1]),
        head=head,
        after=after,
        closing=() if has_slots else tuple(closing_tags(closing)),
        only_in_section=in_section,
    )


def _with_optional_bracket(opening: str) -> str:
    """Return what opens a section; the bracket behind its tag may be missing."""
    tag, blank, bracket = opening.rpartition(" ")
    is_optional = looks_like_marker(tag) and bracket in ("[", "(")
    return f"{tag}{blank}{optional(bracket)}" if is_optional else opening


def _short_starts(start: str) -> Iterator[str]:
    """Yield a head that may lack some of its tags, if not each of them is needed.

    Those behind the name are needed only where nothing else tells of the arguments; those that
    are before a name that is said again aren't, either.
    """
    before, name, behind = start.partition(_NAME)
    between, again, rest = behind.partition(_NAME)
    if again:
        *others, last = between.lstrip().split(" <")
        tags_ = [optional(tag if at == 0 else f"<{tag}") for at, tag in enumerate(others)]
        yield " ".join([*tags_, f"<{last}" if others else last]) + again + rest
    elif name:
        short = re.sub(r"(?:(?<=[ }])|^)[^\s{}]+", _optional_tag, behind)
        if short != behind and before[1:] and not re.search(r"[^\s{}] [^\s{}]", behind):
            yield before + name + short


def _optional_tag(found: re.Match[str]) -> str:
    if found.group() == ">":  # a head that has it needs no more to be told
        return "{no >}{?>}"
    return optional(found.group()) if looks_like_marker(found.group()) else found.group()


def _closing(shape: _Shape) -> tuple[str, ...]:
    """Return what closes a call, tag by tag; with a slot in it, such as the name, it is one."""
    if shape.closing or not any(piece.kind for piece in shape.after):
        return tuple(map(notation, shape.closing))
    pieces = (Literal(shape.tools.arguments.end), *shape.after)
    return ("".join(map(_closing_text, pieces)).strip(),) if shape.is_tagged else ()


def _closing_text(piece: Piece) -> str:
    """Return a piece of what closes a call: an id is read there, any other slot passed over."""
    if piece.kind:
        return "{id}" if piece.kind is SlotKind.ID else "{any}"
    return notation(piece.text) + " " * (piece.text[-1:] in (" ", "\t"))


def _ends(shape: _Shape, spec: Spec) -> tuple[list[str], list[str]]:
    """Return what closes calls wherever it stands, and what closes that which is around them."""
    tools = shape.tools
    section_end = tools.section_end.strip() if tools.section_start.strip() else ""
    tails = [tag for call in spec.alternatives.calls for tag in closing_tags(call[-1].text)]
    others = [tag for tag in tails if tag not in shape.closing]
    found = [*filter(looks_like_marker, (*others, *shape.closing, section_end))]
    section_ends: list[str] = []
    # In a section that nothing ends a call's last tag closes that call alone.
    closes_last = bool(section_end) or not tools.section_start.strip()
    if shape.opening and closes_last and len(found) > (0 if section_end else 1):
        lasts = [found.pop(), *filter(looks_like_marker, tools.section_ends[1:])]
        lasts += filter(None, [without_stop(lasts[0], spec.turn.stop)])
        section_ends = [text for last in lasts for text in (last, last.lstrip("]})"))]
    # A bracket before a closing tag may be missing.
    bare = [text for end in found if (text := end.lstrip(_BRACKETS)) != end]
    return [end for end in found if not _ends_texts(end, spec)] + bare, section_ends


def _ends_texts(end: str, spec: Spec) -> bool:
    """Tell whether a call's end is a bracket, which a text may hold, and what ends texts, too."""
    bare = end.lstrip(_BRACKETS)
    return bare != end and bare in (spec.content.end.strip(), spec.reasoning.end.strip())


def _needs_tail(shape: _Shape, spec: Spec) -> bool:
    """Tell whether what stands behind JSON arguments has slots, or is no marker in text."""
    text = _text(shape.after).strip()
    is_in_text = looks_like_marker(text) and text != spec.reasoning.end.strip()
    is_in_text = is_in_text and not shape.only_in_section and not _ends_texts(text, spec)
    has_slots = any(piece.kind for piece in shape.after)
    return not shape.is_tagged and (has_slots or (bool(text) and not is_in_text))
