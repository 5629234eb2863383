"""Calls written as JSON objects in a format whose calls are written otherwise.

Many models have learned both. Such an object is read as a whole, when its call ends.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from turnspec.engine.calls import Calls
from turnspec.engine.format import Format
from turnspec.engine.json_text import load_json
from turnspec.engine.markers import Found, Notation, is_name, leading_text
from turnspec.engine.results import Problem
from turnspec.engine.unclosed import call_end_roles

_ARGUMENTS = ("arguments", "parameters")  # the keys that APIs and most formats have for them


class ForeignObject:
    """Reads a JSON object with a name and arguments where another kind of call belongs."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._turn = calls.turn
        self._end = calls.compiled.markers(call_end_roles)
        self._pieces: list[str] = []

    def begin(self, found: Found) -> None:
        """Begin at what opens the call; the object stands behind it."""
        turn = self._turn
        turn.hold()
        turn.position = found.end
        self._pieces.clear()
        turn.read = self.read_object

    def read_object(self) -> bool:
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
        turn = self._turn
        call = _as_call("".join(self._pieces))
        if call is None or not (is_name(call[0]) or call[0] in (self._calls.tools or ())):
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
        turn.problems.append(Problem(start, "other_syntax", "the call is a JSON object"))
        self._calls.argue(arguments)
        self._calls.end()


def _as_call(text: str) -> tuple[str, str] | None:
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
    if isinstance(arguments, str):
        return name, arguments
    return name, json.dumps(arguments, ensure_ascii=False)


def foreign_roles(table: Format) -> list[tuple[str, Notation]]:
    """Return what begins such a call: what opens the format's own, and then an object."""
    calls = table["calls"]
    openings = calls.get("opening", ()) or (leading_text(calls["start"]),)
    heads = [' {{ "name"', ' {{ "function"']
    return [("foreign", (opening, heads)) for opening in openings[-1:] if len(opening) > 2]
