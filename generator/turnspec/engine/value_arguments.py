"""Arguments whose values say themselves where they end, each with its key before it."""

from __future__ import annotations

import json

from turnspec.engine.format import Format
from turnspec.engine.heads import HeadCalls
from turnspec.engine.markers import Found, Notation, Roles, spaced
from turnspec.engine.value import ValueMaker


class ValueArguments:
    """Reads arguments one by one: a key, and a value in JSON or a relative of it."""

    def __init__(self, calls: HeadCalls, *, value: ValueMaker) -> None:
        self._calls = calls
        self._turn = calls.turn
        self._value = value(calls.turn, calls.compiled)
        self._before = ""  # what stands in the arguments before the value
        self._markers = calls.compiled.markers(argument_value_roles)
        self._is_whole = True  # whether each value was closed
        self._has_end = bool(calls.compiled.table["calls"].get("closing"))

    def begin(self, found: Found) -> None:
        """Begin behind a head."""
        self._calls.start_at(found)
        self.go_on()

    def go_on(self) -> None:
        """Read the arguments of a call that is started already."""
        self._is_whole = True
        self._turn.read = self.read_arguments

    def read_arguments(self) -> bool:
        """Read the beginning of an argument, or the end of them all."""
        turn = self._turn
        found = self._markers.match(turn, final=turn.final and not self._has_end)
        if found and not found.role:
            return False
        if found is None:
            turn.problem("malformed", "the arguments are not closed")
            self._end_arguments()
            return True
        turn.position = found.end
        if found.role == "argument":
            self._begin_argument(found)
        elif found.role == "done":
            self._end_arguments(late_id=found["id"])
        return True

    def _begin_argument(self, found: Found) -> None:
        key, parameters = found["key"], self._calls.parameters
        properties = parameters.get("properties") or {}
        if properties and key not in properties and not parameters.get("additionalProperties"):
            self._turn.problem("unknown_argument", f"the tool has no {key!r}")
        separator = ", " if self._turn.arguments else "{"
        self._before = f"{separator}{json.dumps(key, ensure_ascii=False)}: "
        self._value.begin()
        self._turn.read = self.read_value

    def read_value(self) -> bool:
        """Read a value, which becomes JSON as it arrives."""
        value = self._value
        self._take(value.read())
        if not value.over and (not value.broken or self._turn.final):
            return False
        self._end_value()
        return True

    def _take(self, text: str) -> None:
        if text:
            self._calls.argue(self._before + text)
            self._before = ""

    def _end_value(self) -> None:
        self._is_whole = self._is_whole and not self._value.is_open
        self._take(self._value.close())
        if self._before:
            if not self._turn.final:
                self._turn.problem("malformed", f"no value after {self._before!r}")
            self._take("null")
        self._turn.read = self.read_arguments

    def _end_arguments(self, complete: bool = True, late_id: str = "") -> None:
        self._calls.argue("}" if self._turn.arguments else "{}")
        self._calls.end(complete and self._is_whole, late_id)

    def finish(self) -> None:
        """End a call that the text's end cuts off."""
        turn = self._turn
        if not self._calls.is_open:
            return
        in_value = turn.read == self.read_value
        waiting = self._before + self._value.waiting if in_value else ""
        rest = waiting + turn.text[turn.position :]
        turn.problem("cut_off", f"a call that ends in {rest!r}")
        if in_value:
            self._end_value()
        self._end_arguments(complete=False)


def argument_value_roles(table: Format) -> Roles:
    """Return what may stand before a value, and behind the last one.

    What ends the arguments may look like another one's beginning, so it comes first; where nothing
    ends them, they end at whatever else comes.
    """
    arguments, closing = table["arguments"], table["calls"].get("closing", ())
    argument = [("argument", spaced(arguments["start"], "{comma}"))]
    empty = arguments.get("empty", "")
    ends = [f"{empty} {closing[0]}"] if empty and closing else [empty] if empty else []
    done: list[tuple[str, Notation]] = [
        ("done", "{comma}" + end) for end in (*ends, *(closing[:1] or [""]))
    ]
    found = [*done, *argument] if closing else [*argument, *done]
    return [*found, ("end", spaced(arguments["end"]))] if arguments.get("end") else found
