"""Calls written as other formats write them: as a JSON object, in tags, or as Python does.

Many models have learned several. Such a call is read as a whole, when it ends.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from turnspec.engine.calls import Calls
from turnspec.engine.format import Format
from turnspec.engine.json_text import dump_json, load_json, without_halves
from turnspec.engine.markers import LETTERS, NAME_SIGNS, Found, Notation, is_name, leading_text
from turnspec.engine.python_literal import keyword_arguments
from turnspec.engine.results import Problem
from turnspec.engine.schemas import as_json, json_types
from turnspec.engine.unclosed import call_end_roles

_ARGUMENTS = ("arguments", "parameters")  # the keys that APIs and most formats have for them
_TAG = r"""[ \t\n\r]*<(?P<tag>[A-Za-z0-9_:-]+)(?: name)? ?= ?["']?(?P<key>[^<>"']{1,256})["']? ?>"""
_OPENING_TAG = re.compile(_TAG)
_ARGUMENT = re.compile(rf"{_TAG}\n?(?P<value>[\s\S]*?)\n?</(?P=tag)>")
_CALLED = re.compile(rf"[ \t\n\r]*(?P<name>[{LETTERS}{NAME_SIGNS}]{{1,256}})[ \t\n\r]*\(")
_CLOSING_TAG = re.compile(r"(?:[ \t\n\r]*</[A-Za-z0-9_:-]+>)?[ \t\n\r]*")


class ForeignCall:
    """Reads a call that is written in another syntax, where one of the format's own belongs."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._turn = calls.turn
        self._end = calls.compiled.markers(call_end_roles)
        self._pieces: list[str] = []

    def begin(self, found: Found) -> None:
        """Begin at what opens the call."""
        turn = self._turn
        turn.hold()
        turn.position = found.end
        self._pieces.clear()
        turn.read = self.read_call

    def read_call(self) -> bool:
        """Read up to the end of the call."""
        turn = self._turn
        found = self._end.search(turn)
        end = found.start if found else len(turn.text)
        self._pieces.append(turn.text[turn.position : end])
        turn.position = end
        if (found is None or not found.role) and not turn.final:
            return False
        self._take()
        return True

    def _take(self) -> None:
        turn, tools, text = self._turn, self._calls.tools or {}, "".join(self._pieces)
        call, told = _from_object(text), "the call is a JSON object"
        if call is None:
            call, told = _from_tags(text, tools), "the call is tags"
        if call is None:
            call, told = _from_keywords(text), "the call has keyword arguments"
        if call is None or not (is_name(call[0]) or call[0] in tools):
            end = turn.go_back()
            self._calls.text.mentioned = True
            self._calls.text.write(end)
            turn.read = self._calls.text.read_text
            return
        assert turn.held
        start = turn.held.offset
        turn.release()
        name, arguments = call
        self._calls.start(name, start, turn.offset + turn.position)
        turn.problems.append(Problem(start, "other_syntax", told))
        self._calls.argue(arguments)
        self._calls.end()


def _from_object(text: str) -> tuple[str, str] | None:
    """Return the name and the arguments of a call that is a JSON object, None if it is none."""
    try:
        members = load_json(text)
    except ValueError:
        return None
    if isinstance(members, Mapping) and isinstance(members.get("function"), Mapping):
        members = members["function"]
    name = members.get("name") if isinstance(members, Mapping) else None
    if not isinstance(name, str) or not name:
        return None
    arguments: Any = next((members[key] for key in _ARGUMENTS if key in members), {})
    text = arguments if isinstance(arguments, str) else dump_json(arguments)
    return name, without_halves(text)


def _from_tags(text: str, tools: Mapping[str, Mapping[str, Any]]) -> tuple[str, str] | None:
    """Return the name and the arguments of a call that is a tag with tags inside, or None."""
    head = _OPENING_TAG.match(text)
    if head is None:
        return None
    parameters = tools.get(head["key"], {})
    properties = parameters.get("properties") or {}
    found, at = {}, head.end()
    while argument := _ARGUMENT.match(text, at):
        key, value, at = argument["key"], argument["value"], argument.end()
        types = json_types(properties.get(key), parameters)
        found[key] = as_json(value, types, python=True) or dump_json(value)
    if not _CLOSING_TAG.fullmatch(text, at):
        return None
    members = (f"{dump_json(key)}: {found[key]}" for key in found)
    return head["key"], f"{{{', '.join(members)}}}"


def _from_keywords(text: str) -> tuple[str, str] | None:
    """Return the name and the arguments of a call with Python's keyword arguments, or None."""
    head = _CALLED.match(text)
    arguments = keyword_arguments(text[head.end() :]) if head else None
    return (head["name"], arguments) if head and arguments else None


def foreign_roles(table: Format) -> list[tuple[str, Notation]]:
    """Return what begins such a call: what opens the format's own, and then another one."""
    calls, arguments = table["calls"], table["arguments"]
    openings = calls.get("opening", ()) or (leading_text(calls.get("start", "")),)
    opening = openings[-1]
    if len(opening) <= 2:
        return []
    heads = [' {{ "name"', ' {{ "function"'] if calls["form"] == "heads" else []
    heads += [" <{word}=", " <{word}name ="] if arguments["form"] == "json" else []
    # Behind a word, as `to=`, a call is code that the text speaks of.
    is_own = arguments["form"] == "values" or "(" in calls.get("start", "")
    called = [] if is_own or opening[0].isalnum() else [" {name} ( )", " {name} ({word}="]
    begun = (("foreign", heads), ("foreign_name", called))
    return [(role, (opening, follows)) for role, follows in begun if follows]
