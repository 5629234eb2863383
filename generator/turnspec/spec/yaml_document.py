"""YAML text as plain data, with the line of every value and every key.

Only what a spec needs is YAML here: no anchors, aliases or tags, and the scalars of YAML 1.2 (so
``on`` and ``no`` are words). That keeps hostile text harmless: nothing is expanded or constructed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from turnspec.spec.problems import Problem

#: Keys and list positions from the document's root to a value.
YamlPath = tuple[str | int, ...]
#: Where a check objects, and why.
Finding = tuple[YamlPath, str]

MAX_CHARACTERS = 300_000
MAX_DEPTH = 20

_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]|\\U0000[dD][89a-fA-F]")
_INTEGER = re.compile(r"[-+]?[0-9]{1,400}")
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS = {"": None, "~": None, "null": None, "true": True, "false": False}
_CONTENT = (yaml.NodeEvent, yaml.CollectionEndEvent)  # all but the frame of the document


@dataclass(frozen=True, slots=True)
class Document:
    """Plain data, and the line (from 1) of each value; a key's value has the line of its key."""

    data: object
    lines: dict[YamlPath, int] = field(default_factory=dict)

    def line(self, path: YamlPath) -> int | None:
        """Return the line of ``path``, or of the nearest thing around it that has one."""
        places = (path[:length] for length in range(len(path), -1, -1))
        return next((self.lines[place] for place in places if place in self.lines), None)

    def problem(self, path: YamlPath, message: str, file: str) -> Problem:
        """Return what is wrong at a place, as a problem of the document's file."""
        return Problem(message, file, self.line(path), path_text(path))


def path_text(path: YamlPath) -> str:
    """Return a path as people write it: ``tools.call[1].slot``."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}"
    return text.removeprefix(".")


def is_word(text: str) -> bool:
    """Return whether a plain scalar with this text would be read as something but a string."""
    return text in _WORDS or _NUMBER.fullmatch(text) is not None


def read_document(text: str, file: str) -> tuple[Document | None, list[Problem]]:
    """Read one YAML document.

    Returns it with every problem found on the way (duplicate keys, aliases, tags). When the text
    isn't YAML at all, the document is None and the last problem says why.
    """
    reader = _Reader(file)
    try:
        data = reader.read(_events(text))
    except _UnreadableError as error:
        return None, [*reader.problems, Problem(str(error), file, error.line)]
    return Document(data, reader.lines), reader.problems


class _UnreadableError(Exception):
    """Reading can't go on after this."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


def _events(text: str) -> Iterator[yaml.Event]:
    if len(text) > MAX_CHARACTERS:
        raise _UnreadableError(f"too long: {len(text)} characters, {MAX_CHARACTERS} at most")
    # libyaml is some twenty times as fast, but refuses the escape of a lone surrogate.
    fast = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    loader = yaml.SafeLoader if _SURROGATE_ESCAPE.search(text) else fast
    try:
        yield from yaml.parse(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else None
        raise _UnreadableError(f"not YAML: {error.problem or error.context}", line) from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise _UnreadableError(f"not YAML: {error.reason}", line) from error
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise _UnreadableError("not YAML: a lone surrogate", line) from error


class _Reader:
    """Builds plain data from YAML events; what it objects to lands in ``problems``."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.lines: dict[YamlPath, int] = {}
        self.problems: list[Problem] = []

    def read(self, events: Iterator[yaml.Event]) -> object:
        content = (event for event in events if isinstance(event, _CONTENT))
        first = next(content, None)
        if first is None:
            raise _UnreadableError("the file is empty")
        data = self._value(first, content, ())
        second = next(content, None)
        if second is not None:
            raise _UnreadableError("more than one document", _line(second))
        return data

    def _value(self, event: yaml.Event, events: Iterator[yaml.Event], path: YamlPath) -> object:
        self.lines.setdefault(path, _line(event))
        if len(path) > MAX_DEPTH:
            raise _UnreadableError(f"nested deeper than {MAX_DEPTH}", _line(event))
        if isinstance(event, yaml.AliasEvent):
            self._object_to(event, path, "an alias; write the value out")
            return None
        start: Any = event  # the stubs don't know what starts a value
        if start.anchor is not None:
            self._object_to(event, path, "an anchor; write the value out where it is needed")
        if start.tag is not None:
            self._object_to(event, path, f"a tag: {start.tag}")
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(events, path)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(events, path)
        return self._scalar(start, path)

    def _mapping(self, events: Iterator[yaml.Event], path: YamlPath) -> dict[str, object]:
        values: dict[str, object] = {}
        for event in events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            if not isinstance(event, yaml.ScalarEvent):
                raise _UnreadableError("a key must be a string", _line(event))
            key, place = event.value, (*path, event.value)
            if key in values:
                first = self.lines[place]
                self._object_to(event, place, f"duplicate key {key!r}, first in line {first}")
            self.lines.setdefault(place, _line(event))
            values[key] = self._value(next(events), events, place)
        return values

    def _sequence(self, events: Iterator[yaml.Event], path: YamlPath) -> list[object]:
        values: list[object] = []
        for event in events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            values.append(self._value(event, events, (*path, len(values))))
        return values

    def _scalar(self, event: yaml.ScalarEvent, path: YamlPath) -> object:
        text: str = event.value
        if event.style:  # quoted, or a block
            return text
        if text in _WORDS:
            return _WORDS[text]
        if _INTEGER.fullmatch(text):
            return int(text)
        if not _NUMBER.fullmatch(text):
            return text
        number = float(text)
        if not math.isfinite(number):
            self._object_to(event, path, "too large a number")
        return number

    def _object_to(self, event: yaml.Event, path: YamlPath, message: str) -> None:
        self.problems.append(Problem(message, self.file, _line(event), path_text(path)))


def _line(event: yaml.Event) -> int:
    mark: Any = event.start_mark
    return int(mark.line) + 1
