"""Examples in prose: JSON-like objects, and tags: which belong together, and what they hold."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from turnspec.analysis.instructions import SYSTEM_TEXT
from turnspec.analysis.text import markers
from turnspec.rendering.conversation import USER_TEXT
from turnspec.spec.calls import Arguments, Literal, Piece, Slot, Tools
from turnspec.spec.words import Encoding, JsonType, SlotKind, ToolMode

#: A value in a tag: behind an equals sign, in quotes or not.
_VALUE = re.compile(r"=(\"?)([^\"=<>\s]+)\1")
_AND_SO_ON = "..."


@dataclass(frozen=True, slots=True)
class Marker:
    """A marker and where it stands in a text."""

    text: str
    start: int
    end: int


def find_markers(text: str) -> list[Marker]:
    """Return every marker of a text with its place, in order."""
    found: list[Marker] = []
    position = 0
    for marker in markers(text):
        start = text.index(marker, position)
        position = start + len(marker)
        found.append(Marker(marker, start, position))
    return found


def is_closing(marker: str) -> bool:
    """Tell whether a marker closes another one, as in any markup: by a slash at its beginning."""
    return marker[1:2] == "/"


def closes(marker: str, opening: str) -> bool:
    """Tell whether a marker closes the other one, which may hold more words than its name."""
    if not is_closing(marker) or is_closing(opening):
        return False
    name = marker[0] + marker[2:-1]
    return opening.startswith(name) and re.match(r"[\w:.-]", opening[len(name) :]) is None


def one_word_apart(first: str, second: str) -> bool:
    """Tell whether two markers differ in one word only, as a start and an end do."""
    left, right = (re.findall(r"[^\W_]+", marker) for marker in (first, second))
    if len(left) != len(right):
        return False
    differing: int = sum(one != other for one, other in zip(left, right, strict=True))
    return differing == 1


def empty_pairs(text: str) -> list[tuple[Marker, Marker]]:
    """Return the tags in prose that hold nothing, dots or a hint on one line, but no message."""
    found = find_markers(text)
    pairs = []
    for left, right in itertools.pairwise(found):
        inner = text[left.end : right.start]
        is_message = any(needle in inner for needle in (USER_TEXT, SYSTEM_TEXT))
        is_hint = "\n" not in inner or inner.strip() in ("...", "…")
        if closes(right.text, left.text) and is_hint and not is_message:
            pairs.append((left, right))
    return pairs


def tagged_example(text: str) -> tuple[Tools, str, tuple[str, ...]] | None:
    """Return the first call in tags (a name, keys, values), its words, and what is doubtful."""
    found = find_markers(text)
    for index, opening in enumerate(found):
        if is_closing(opening.text):
            continue
        last = next((marker for marker in found[index:] if closes(marker.text, opening.text)), None)
        if last is None:
            continue
        pieces = _pieces(text[opening.start : last.end])
        tools = _tools_of(pieces) if pieces else None
        if tools is not None:
            line = text.rfind("\n", 0, max(text.rfind("\n", 0, opening.start), 0)) + 1
            return tools, text[line : last.end].strip(), _doubts(pieces)
    return None


@dataclass(frozen=True, slots=True)
class _Token:
    """A piece of an example: a marker or a part of one, white space, or a slot."""

    text: str
    slot: bool = False
    is_marker: bool = False


def _doubts(pieces: Sequence[_Token]) -> tuple[str, ...]:
    doubts = ["the example shows strings only; see how other values are written"]
    first_slot = next(index for index, piece in enumerate(pieces) if piece.slot)
    if sum(piece.is_marker for piece in pieces[:first_slot]) > 1:
        doubts.append("do the outer tags stand around each call, or around all calls of a turn?")
    return tuple(doubts)


def _pieces(example: str) -> list[_Token]:
    """Cut an example at its slots; nothing where some of its text is prose."""
    found = find_markers(example)
    pieces: list[_Token] = []
    for left, right in zip(found, [*found[1:], None], strict=True):
        pieces += _marker_pieces(left.text)
        if right is None:
            break
        inner = example[left.end : right.start]
        shown = inner.replace(_AND_SO_ON, "").strip()
        is_leaf = closes(right.text, left.text)
        if shown and not is_leaf and (re.search(r"\s", shown) or is_closing(left.text)):
            return []
        if is_leaf and not shown:
            return []
        pieces += _text_pieces(inner, shown)
    return pieces


def _marker_pieces(marker: str) -> Iterator[_Token]:
    value = None if is_closing(marker) else _VALUE.search(marker)
    if value is None:
        yield _Token(marker, is_marker=True)
        return
    yield _Token(marker[: value.start(2)], is_marker=True)
    yield _Token(value[2], slot=True)
    yield _Token(marker[value.end(2) :])


def _text_pieces(inner: str, shown: str) -> Iterator[_Token]:
    if not shown:
        if inner.replace(_AND_SO_ON, ""):
            yield _Token(inner.partition(_AND_SO_ON)[0])
        return
    before, _, after = inner.partition(shown)
    yield from (_Token(before),) if before else ()
    yield _Token(shown, slot=True)
    yield from (_Token(after.partition(_AND_SO_ON)[0]),) if after else ()


def _tools_of(pieces: Sequence[_Token]) -> Tools | None:
    """Return the format of one call with tagged arguments: a name, then keys with values."""
    slots = [index for index, piece in enumerate(pieces) if piece.slot]
    if len(slots) < 3 or len(slots) % 2 == 0:
        return None
    marked = [index for index, piece in enumerate(pieces) if piece.is_marker]
    starts = [max((at for at in marked if at <= key), default=-1) for key in slots[1::2]]
    ends = [min((at + 1 for at in marked if at >= value), default=0) for value in slots[2::2]]
    apart = all(before < start for before, start in zip(slots[::2], starts, strict=False))
    if not apart or 0 in ends:  # some key or value has no marker of its own
        return None
    item = [*pieces[starts[0] : ends[0]]]
    head = [*pieces[: slots[0]], _Token(""), *pieces[slots[0] + 1 : starts[0]]]
    between = [_joined(pieces[left:right]) for left, right in zip(ends, starts[1:], strict=False)]
    tail = _joined(pieces[ends[-1] :])
    space = tail[: len(tail) - len(tail.lstrip())]
    call: tuple[Piece, ...] = (
        Literal(_joined(head[: slots[0]])),
        Slot(SlotKind.NAME),
        Literal(_joined(head[slots[0] + 1 :])),
        Slot(SlotKind.ARGUMENTS),
        Literal(tail.lstrip()),
    )
    arguments = Arguments(
        item=_item(item),
        separator=between[0] if between else space,
        end=space,
        empty="",
        values={**dict.fromkeys(JsonType, Encoding.JSON), JsonType.STRING: Encoding.RAW},
    )
    call = tuple(piece for piece in call if piece != Literal(""))
    return Tools(ToolMode.TAG_WITH_TAGGED, "", call, "\n", "", arguments)


def _item(pieces: Sequence[_Token]) -> tuple[Piece, ...]:
    kinds = iter((SlotKind.KEY, SlotKind.VALUE))
    result: list[Piece] = []
    literal = ""
    for piece in pieces:
        if not piece.slot:
            literal += piece.text
            continue
        result += [Literal(literal)] if literal else []
        result.append(Slot(next(kinds)))
        literal = ""
    return (*result, Literal(literal))


def _joined(pieces: Sequence[_Token]) -> str:
    return "".join(piece.text for piece in pieces)


#: Stands for an object in a text in which all of them are replaced.
OBJECT = "\ue000"

_KEY = re.compile(r"\s*([\"'])(?P<key>(?:(?!\1)[^\n])+)\1(?P<colon>\s*:\s*)")
_NEXT = re.compile(r"\s*,\s*(?=[\"'])")
_LONGEST = 2000


@dataclass(frozen=True, slots=True)
class ExampleObject:
    """An object in a text: its own text, its keys with the texts of their values, and its style."""

    text: str
    members: tuple[tuple[str, str], ...]
    item_separator: str
    key_separator: str

    @property
    def is_json(self) -> bool:
        """Whether it could be real JSON, with no placeholder in it."""
        in_double_quotes = self.text.replace("'", '"')
        try:
            json.loads(in_double_quotes if '"' not in self.text else self.text)
        except ValueError:
            return False
        return True


def replace_objects(text: str) -> tuple[str, list[ExampleObject]]:
    """Return the text with `OBJECT` in the place of each outermost object, and the objects.

    An object is a brace before a quoted key and a colon; a value, maybe a placeholder as in
    ``{"call": <its name>}``, runs to the comma before the next key or to the closing brace. Doubled
    braces, which a formatter left over, are read as single ones, and single quotes as double ones.
    """
    text = text.replace(OBJECT, "")  # which stands for an object only if we put it there
    found: list[ExampleObject] = []
    result, position = "", 0
    for match in re.finditer(r"\{", text):
        if match.start() < position:
            continue
        example = _read_object(text, match.start())
        if example is not None:
            result += text[position : match.start()] + OBJECT
            position = match.start() + len(example.text)
            found.append(example)
    return result + text[position:], found


def _read_object(text: str, start: int) -> ExampleObject | None:
    doubled = text.startswith("{{", start)
    position = start + (2 if doubled else 1)
    members: list[tuple[str, str]] = []
    colons, commas = [], []
    while key := _KEY.match(text, position):
        end = _value_end(text, key.end(), key[1])
        if end is None:
            return None
        members.append((key["key"], text[key.end() : end].strip()))
        colons.append(key["colon"])
        following = _NEXT.match(text, end)
        position = following.end() if following else end
        if following is None:
            break
        commas.append(following.group())
    closing = "}}" if doubled else "}"
    if not members or not text.startswith(closing, position):
        return None
    whole = text[start : position + len(closing)]
    return ExampleObject(whole, tuple(members), _in_one_line(commas, ", "), _in_one_line(colons))


def _value_end(text: str, start: int, quote: str) -> int | None:
    """Return where a value ends: at the comma before the next key, or at the closing brace."""
    depth, in_string = 0, False
    for position in range(start, min(len(text), start + _LONGEST)):
        character = text[position]
        if in_string:
            in_string = character not in (quote, "\n")
        elif character == quote:
            in_string = True
        elif character in "{[":
            depth += 1
        elif character in "}]" and depth:
            depth -= 1
        elif character == "}" or (character == "," and not depth and _NEXT.match(text, position)):
            return position
        elif text.startswith("\n\n", position):
            return None
    return None


def _in_one_line(separators: list[str], usual: str = ": ") -> str:
    return separators[0] if separators and "\n" not in separators[0] else usual
