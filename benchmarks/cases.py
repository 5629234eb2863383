"""What is measured: the committed parsers by class of format, and long turns for each of them."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from turnspec.analysis.text import markers
from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.loading import load_module
from turnspec.codegen.writer import write_parts
from turnspec.pipeline.project import OutputPaths
from turnspec.rendering.conversation import tool_definitions
from turnspec.spec.calls import Literal, Tools
from turnspec.spec.files import SPEC_SUFFIX, read_spec
from turnspec.spec.message import Call, Message
from turnspec.spec.model import Spec
from turnspec.spec.words import Encoding, JsonType, Part, ToolMode

#: The first and the last word of a long text, by which it is found in a turn.
_FIRST, _LAST = "Once", "after"
_PROSE = "upon a time, in a far-away land, there lived 3 old men; they said little.\n"
_ESCAPED = '"quoted" C:\\path\n\x01'
_NAME, _KEY, _ID = "tell_story", "story", "abcdef123"


class LongText(StrEnum):
    """The part of a turn that is long."""

    CONTENT = "content"
    REASONING = "reasoning"
    ARGUMENT = "string argument"
    ESCAPES = "argument of escapes"


@dataclass(frozen=True, slots=True)
class Format:
    """One spec and its committed parser."""

    spec: Spec
    format_class: str
    source: str

    @property
    def name(self) -> str:
        """The spec's name."""
        return self.spec.name

    def load(self) -> FormatModule:
        """Execute the parser module."""
        return load_module(self.source)


@dataclass(frozen=True, slots=True)
class LongTurn:
    """A turn with one long text in it: what stands before the text, the text, what follows.

    ``value`` is the text as the message has it; ``body`` as the turn has it, maybe with escapes.
    """

    message: Message
    value: str
    lead: str
    body: str
    tail: str

    @property
    def whole(self) -> str:
        """The whole turn behind its header."""
        return self.lead + self.body + self.tail

    @property
    def tools(self) -> Sequence[object]:
        """Definitions of the tools that the turn calls."""
        return tool_definitions(self.message.calls)


def read_formats(root: Path) -> list[Format]:
    """Return all formats of a checkout by name; a spec that can't be read is an error."""
    formats = []
    for path in sorted((root / "specs").glob(f"*{SPEC_SUFFIX}")):
        spec = read_spec(path)
        if not isinstance(spec, Spec):
            raise ValueError(str(spec[0]))
        module = root / OutputPaths.in_project(spec.name).module
        formats.append(Format(spec, format_class(spec), module.read_text(encoding="utf-8")))
    return formats


def format_class(spec: Spec) -> str:
    """Return how a format writes calls: its mode, and how string and object values are written."""
    tools = spec.tools
    if tools is None:
        return "no tools"
    if tools.mode is ToolMode.JSON_NATIVE:
        return f"{tools.mode} bare" if _is_bare(tools) else str(tools.mode)
    encodings = [string_encoding(tools)]
    if tools.arguments.item and JsonType.OBJECT in tools.arguments.values:
        encodings.append(tools.arguments.values[JsonType.OBJECT])
    guarded = " guarded" if tools.arguments.guard else ""
    return f"{tools.mode} {'/'.join(encodings)}{guarded}"


def string_encoding(tools: Tools) -> Encoding:
    """Return how a string argument is written."""
    if tools.arguments.item:
        return tools.arguments.values.get(JsonType.STRING, Encoding.JSON)
    return tools.arguments.syntax.encoding


def _is_bare(tools: Tools) -> bool:
    """Tell whether nothing but the JSON itself marks a call."""
    first = tools.call[0].text if isinstance(tools.call[0], Literal) else ""
    start = (tools.section_start + first).lstrip()
    return start.startswith(("{", "[")) and not markers(start)


def representatives(formats: Iterable[Format]) -> list[Format]:
    """Return the first format of each class, ordered by class."""
    ordered = sorted(formats, key=lambda known: (known.format_class, known.name))
    groups = itertools.groupby(ordered, key=lambda known: known.format_class)
    return [next(group) for _, group in groups]


def has_part(spec: Spec, part: LongText) -> bool:
    """Tell whether turns of this format can hold such a text."""
    if part is LongText.CONTENT:
        return True
    if part is LongText.REASONING:
        return bool(spec.reasoning.end.strip())
    if part is LongText.ARGUMENT:
        return spec.tools is not None
    return spec.tools is not None and string_encoding(spec.tools) is Encoding.JSON


def long_turn(spec: Spec, part: LongText, size: int) -> LongTurn:
    """Write a turn with a text of ``size`` characters, a few more where the format escapes some."""
    sentence = _PROSE
    if part is LongText.ESCAPES:  # the size is that of its JSON
        sentence = _ESCAPED
        size = size * len(sentence) // len(json.dumps(sentence)[1:-1])
    return turn_with(spec, part, (sentence * (size // len(sentence) + 1))[:size])


def turn_with(spec: Spec, part: LongText, text: str) -> LongTurn:
    """Write a turn with a text in it, to which a first and a last word are added."""
    value = f"{_FIRST} {text} {_LAST}"
    message = _message(spec, part, value)
    turn = write_parts(spec, message, Part.START)
    start, end = turn.index(_FIRST), turn.rindex(_LAST) + len(_LAST)
    return LongTurn(message, value, turn[:start], turn[start:end], turn[end:])


def _message(spec: Spec, part: LongText, value: str) -> Message:
    """Return a message with the long text; what stands around it is as short as may be."""
    if part is LongText.REASONING:
        return Message(content="It is told.", reasoning=value)
    before = "A story." if has_part(spec, LongText.REASONING) else ""
    if part is LongText.CONTENT:
        return Message(content=value, reasoning=before)
    return Message(reasoning=before, calls=(Call(_NAME, {_KEY: value}, _ID),))


def said(part: LongText, message: Any) -> str:
    """Return what a parsed message holds in the place of the long text."""
    if part is LongText.CONTENT:
        return str(message.content)
    if part is LongText.REASONING:
        return str(message.reasoning_content)
    return "".join(json.loads(call.arguments).get(_KEY, "") for call in message.tool_calls)
