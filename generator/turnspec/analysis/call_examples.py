"""How a prompt says that calls are written: an example of one, or a marker and what follows it.

Nothing is known by name. An example is markers around a JSON-like object, or tags in one another
whose texts are single words; the slots in it, in order, tell the mode. An object with two members
is a whole call; one behind a name is the call's arguments; a name with pairs behind it has tagged
arguments. Code in brackets or marks is one, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from turnspec.analysis.code_examples import code_tools, replace_calls
from turnspec.analysis.instructions import LISTED, SYSTEM_TEXT, Instructions
from turnspec.analysis.tag_examples import (
    OBJECT,
    ExampleObject,
    Marker,
    find_markers,
    is_closing,
    one_word_apart,
    replace_objects,
    tagged_example,
)
from turnspec.rendering.conversation import USER_TEXT
from turnspec.spec.calls import Arguments, Fields, Literal, Piece, Slot, Tools, ValueSyntax
from turnspec.spec.words import SlotKind, ToolMode

_NAME, _ARGUMENTS = Slot(SlotKind.NAME), Slot(SlotKind.ARGUMENTS)
#: Keys of a call object where a prompt tells none.
_USUAL_KEYS = ("name", "arguments")
#: A word that an array follows at once.
_PREFIX = re.compile(r"(?<!\S)\w+\Z")
_SEVERAL = re.compile(rf"(\s*,?\s*(?:{OBJECT}|\.\.\.))+")
_CODE_DOUBT = "are values written as Python's literals, and how are several calls written?"
_SENTENCE = re.compile(r"[^\n]*?(?:[.!?](?=\s|$)|\n|$)")


@dataclass(frozen=True, slots=True)
class CallExample:
    """How calls are written, the words that say so, and what a person has to look at."""

    tools: Tools
    evidence: str
    doubts: tuple[str, ...] = ()


def find_call_example(said: Sequence[Instructions]) -> tuple[CallExample, Instructions] | None:
    """Return what a prompt says of how calls are written, and the stretch that says it.

    An example in markers or tags says most, then a bare object, code, and words about a marker.
    """
    described = partial(_described, prompts=[one.without for one in said])
    bare = partial(_example, in_marks=False)
    for finder in (_example, _tagged_example, bare, _code_example, described):
        for instructions in said:
            example = finder(instructions.text)
            if example is not None:
                return example, instructions
    return None


def _example(text: str, *, in_marks: bool = True) -> CallExample | None:
    return next((found for found, marked in _object_examples(text) if marked is in_marks), None)


def _tagged_example(text: str) -> CallExample | None:
    found = tagged_example(replace_objects(text)[0])
    return CallExample(*found) if found else None


def _code_example(text: str) -> CallExample | None:
    """Return the first calls that are code in an array, or in markers."""
    shown, first = replace_calls(text)
    markers = find_markers(shown)
    for place, call in first.items():
        block = _Block.around(shown, place, markers)
        if block.in_array or block.opening.strip():
            separator = block.separator if block.several else ", " if block.in_array else "\n"
            closing = "]" * block.in_array + block.closing
            tools = code_tools(block.opening, closing, separator)
            return CallExample(tools, call, (_CODE_DOUBT,))
    return None


def _object_examples(text: str) -> Iterator[tuple[CallExample, bool]]:
    """Yield each object that can be a call, and whether markers stand around it."""
    shown, objects = replace_objects(text)
    markers = find_markers(shown)
    places = [match.start() for match in re.finditer(OBJECT, shown)]
    for number, (place, example) in enumerate(zip(places, objects, strict=True)):
        block = _Block.around(shown, place, markers)
        tools, doubts = _tools_of(block, example)
        if tools is not None:
            yield CallExample(tools, _evidence(shown, block, objects, number), doubts), block.marked


@dataclass(slots=True)
class _Block:
    """What stands around an object: an opening, a name in it, an array, and a closing."""

    opening: str
    closing: str
    separator: str
    in_array: bool
    several: bool
    start: int
    end: int
    markers: int

    @property
    def marked(self) -> bool:
        return self.markers > 0

    @classmethod
    def around(cls, text: str, place: int, markers: Sequence[Marker]) -> _Block:
        before = text[:place].rstrip()
        in_array = before.endswith("[")
        start, count = _opening(text, len(before) - 1 if in_array else place, markers)
        if in_array and not count:
            prefix = _PREFIX.search(text, 0, start)
            start = prefix.start() if prefix else start
        more = _SEVERAL.match(text, place + 1)
        after = more.end() if more else place + 1
        closed = re.compile(r"\s*,?\s*\]").match(text, after) if in_array else None
        inner = closed.end() if closed else after
        end = _closing(text, inner, markers, count)
        return cls(
            opening=text[start : len(before)] if in_array else text[start:place],
            closing=text[inner:end],
            separator=_separator(text[place + 1 : after]),
            in_array=closed is not None,
            several=more is not None,
            start=start,
            end=end,
            markers=count,
        )


def _opening(text: str, end: int, markers: Sequence[Marker]) -> tuple[int, int]:
    """Return where the run of markers before a place begins, and how many there are."""
    by_end = {marker.end: marker for marker in markers}
    start, position, count = end, end, 0
    while True:
        space = len(text[:position]) - len(text[:position].rstrip())
        if "\n\n" in text[position - space : position]:
            return start, count
        position -= space
        fence = re.search(r"```\w*$", text[:position])
        word = re.search(r"\w+$", text[:position])
        marker = by_end.get(position)
        if marker is not None and not is_closing(marker.text):
            start, position, count = marker.start, marker.start, count + 1
        elif fence is not None:
            start = position = fence.start()
        elif word is not None and word.start() in by_end:
            start = position = word.start()
        else:
            return start, count


def _closing(text: str, start: int, markers: Sequence[Marker], count: int) -> int:
    """Return where the run of ``count`` markers behind a place ends."""
    by_start = {marker.start: marker for marker in markers}
    end = position = start
    while True:
        space = re.compile(r"\s*").match(text, position)
        assert space is not None
        if "\n\n" in space.group():
            return end
        position = space.end()
        marker = by_start.get(position)
        if text.startswith("```", position):
            end = position = position + 3
        elif marker is not None and count:
            end = position = marker.end
            count -= 1
        else:
            return end


def _separator(text: str) -> str:
    """Return what stands before the second of several objects."""
    before = re.split(rf"{OBJECT}|\.\.\.", text)[0]
    if "," not in before:
        return before
    return ", " if "\n" in before else before


def _tools_of(block: _Block, example: ExampleObject) -> tuple[Tools | None, tuple[str, ...]]:
    named = _split_name(block.opening)
    if named is not None:
        head, tail = named
        call = (Literal(head), _NAME, *_literal(tail), _ARGUMENTS, *_literal(block.closing))
        tools = Tools(ToolMode.TAG_WITH_JSON, "", call, "", "", Arguments())
        return tools, _nesting_doubts(block)
    fields = _fields_of(example)
    if fields is None or (example.is_json and not block.marked):
        return None, ()
    doubts = _nesting_doubts(block)
    if len(example.members) > 2:
        keys = ", ".join(key for key, _ in example.members)
        doubts = (f"the object has more members: {keys}", *doubts)
    return _json_tools(block, example, *fields), doubts


def _json_tools(block: _Block, example: ExampleObject, name: str, arguments: str) -> Tools:
    colon, comma = example.key_separator, example.item_separator
    start, middle = f'{{"{name}"{colon}"', f'"{comma}"{arguments}"{colon}'
    fields = Fields(name=(name,), arguments=(arguments,))
    syntax = Arguments(syntax=ValueSyntax())
    if block.in_array or block.several:
        call = (Literal(start), _NAME, Literal(middle), _ARGUMENTS, Literal("}"))
        ends = ("]" + block.closing) if block.in_array else block.closing
        between = block.separator if block.several else ", "
        return Tools(ToolMode.JSON_NATIVE, block.opening, call, between, ends, syntax, fields)
    head, tail = Literal(block.opening + start), Literal("}" + block.closing)
    call = (head, _NAME, Literal(middle), _ARGUMENTS, tail)
    return Tools(ToolMode.JSON_NATIVE, "", call, "\n", "", syntax, fields)


def _fields_of(example: ExampleObject) -> tuple[str, str] | None:
    """Return the keys of name and arguments: the arguments are an object, or what isn't named.

    Where that tells nothing, they come second.
    """
    keys = [key for key, _ in example.members]
    objects = [key for key, value in example.members if value.startswith("{")]
    if len(keys) < 2:
        return None
    unnamed = [key for key, value in example.members if "name" not in f"{key} {value}".lower()]
    arguments = [*objects, *(unnamed if len(unnamed) == len(keys) - 1 else ()), keys[-1]][0]
    return next(key for key in keys if key != arguments), arguments


def _split_name(opening: str) -> tuple[str, str] | None:
    """Return what stands before and behind a function's name in what opens a call."""
    if opening.endswith("["):
        return None
    word = re.search(r"(?<=[>\]〉》｜|])[^\W\d][\w.-]*(?=(?:\s|```\w*)*$)", opening)
    if word is not None:
        return opening[: word.start()], opening[word.end() :]
    inside = re.search(r"=(\"?)([^\"=<>\s]+)\1(?=[^=\w]*$)", opening)
    if inside is not None:
        return opening[: inside.start(2)], opening[inside.end(2) :]
    return None


def _literal(text: str) -> tuple[Piece, ...]:
    return (Literal(text),) if text else ()


def _nesting_doubts(block: _Block) -> tuple[str, ...]:
    if block.markers < 2 or block.several:
        return ()
    return ("do the outer markers stand around each call, or around all calls of a turn?",)


def _described(text: str, prompts: Sequence[str]) -> CallExample | None:
    """Return the syntax where a sentence only says that JSON follows a marker.

    A marker behind which a message begins in other prompts is none of calls.
    """
    where = "\n".join([text, *prompts])
    for sentence in _SENTENCE.finditer(text):
        words = sentence.group()
        found = [marker for marker in find_markers(words) if not _is_layout(where, marker.text)]
        if not found or not re.search(r"\bjson", _prose(words[found[0].end :]), re.IGNORECASE):
            continue
        rest = find_markers(text[sentence.start() + found[0].end :])
        closed = rest and one_word_apart(found[0].text, rest[0].text)
        return _from_words(words, found[0].text, rest[0].text if closed else "")
    return None


def _prose(text: str) -> str:
    """Return a text without its markers."""
    for marker in find_markers(text):
        text = text.replace(marker.text, " ")
    return text


def _is_layout(text: str, marker: str) -> bool:
    """Tell whether tools are listed behind a marker, or a message, maybe with its role's word."""
    behind = f"(?:{LISTED}|{SYSTEM_TEXT}|{USER_TEXT})"
    return re.search(rf"{re.escape(marker)}\w*[\s\[]*{behind}", text) is not None


def _from_words(words: str, start: str, end: str) -> CallExample:
    quoted = re.findall(r'"(\w+)"', words)
    is_named = len(quoted) == 2
    name, arguments = quoted if is_named else _USUAL_KEYS
    doubts = [] if is_named else ["the prompt doesn't name the keys; these are the usual ones"]
    if not end:
        doubts.append("the prompt doesn't say what stands behind the calls")
    listed = re.search(r"\b(list|array)\b", words, re.IGNORECASE) is not None
    block = _Block(start, end, ", ", in_array=listed, several=listed, start=0, end=0, markers=1)
    if listed:
        block.opening += "["
    example = ExampleObject("", (), ", ", ": ")
    tools = _json_tools(block, example, name, arguments)
    return CallExample(tools, words.strip(), tuple(doubts))


def _evidence(text: str, block: _Block, objects: Sequence[ExampleObject], number: int) -> str:
    """Return an example with the line before it, its objects as they were."""
    line = text.rfind("\n", 0, max(text.rfind("\n", 0, block.start), 0)) + 1
    first = number - text[line : block.start].count(OBJECT)
    following = iter(objects[first:])
    return re.sub(OBJECT, lambda _: next(following).text, text[line : block.end]).strip()
