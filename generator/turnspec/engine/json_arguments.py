"""Arguments that are one value behind a head: a JSON object, or a relative of one."""

from __future__ import annotations

import re

from turnspec.engine.arguments_value import ArgumentsValue, as_object, deviation
from turnspec.engine.format import Format
from turnspec.engine.heads import HeadCalls
from turnspec.engine.json_text import json_escaped
from turnspec.engine.markers import Found, Roles, spaced
from turnspec.engine.turn import WHITE_SPACE
from turnspec.engine.unclosed import call_end_roles
from turnspec.engine.value import ValueMaker

#: What JSON begins with, or else a word or a sign with which none does.
_BEGINNING = re.compile(r"[ \t\n\r]*(?P<word>[A-Za-z_][A-Za-z_0-9]*|[#%!/@(]|)")
_CONSTANTS = ("true", "false", "null", "True", "False", "None", "NaN", "Infinity")
_LONGEST_CONSTANT = 9  # characters, and then it is another word


class JsonArguments:
    """Reads an object of arguments, and what stands behind it if that isn't a marker in text."""

    def __init__(self, calls: HeadCalls, *, value: ValueMaker) -> None:
        table = calls.compiled.table["calls"]
        self._calls = calls
        self._turn = calls.turn
        self._value = ArgumentsValue(calls, value(calls.turn, calls.compiled))
        self._has_tail = "tail" in table
        self._tail = calls.compiled.markers(tail_roles)
        self._name_is_last = "{name" not in table["start"]
        self._head: Found | None = None  # of a call whose name is last
        self._body_end = calls.compiled.markers(call_end_roles)
        self._before = self._behind = ""  # what stands around arguments that are a text

    def begin(self, found: Found) -> None:
        """Begin behind a head."""
        if self._name_is_last:
            self._head = found
        else:
            self._calls.start_at(found)
        self.go_on()

    def go_on(self) -> None:
        """Read the arguments of a call that is started already."""
        self._value.begin(collect=self._head is not None)
        self._turn.read = self.read_arguments if self._head else self.read_start

    def read_start(self) -> bool:
        """Read up to the arguments; a text that is no JSON is one as a whole."""
        turn = self._turn
        match = _BEGINNING.match(turn.text, turn.position)
        assert match  # if only an empty text
        word = match["word"]
        may_go_on = match.end() == len(turn.text) and len(word) < _LONGEST_CONSTANT
        if may_go_on and not turn.final:
            return False
        turn.position = match.start("word")
        turn.read = self.read_arguments
        if word and word not in _CONSTANTS:
            self._begin_body()
        return True

    def _begin_body(self) -> None:
        turn, name = self._turn, self._turn.calls[-1].name
        is_known = name in (self._calls.tools or ())
        turn.problem("malformed", "the arguments are no JSON")
        self._before, self._behind = ('"', '"') if is_known else ('{"code": "', '"}')
        turn.read = self.read_body

    def read_body(self) -> bool:
        """Read a text up to the end of the call or of the turn."""
        turn = self._turn
        found = self._body_end.search(turn, final=turn.final)
        end = found.start if found else len(turn.text)
        text = turn.text[turn.position : end]
        turn.position = end
        self._calls.argue(self._before + json_escaped(text))
        self._before = ""
        if found is None or not found.role:
            return False
        self._end_body()
        return True

    def _end_body(self, complete: bool = True) -> None:
        self._calls.argue(self._before + self._behind)
        self._calls.end(complete and self._behind != '"')

    def read_arguments(self) -> bool:
        """Read the arguments, which pass through as they arrive."""
        if not self._value.read():
            return False
        self._end_value()
        return True

    def _end_value(self) -> None:
        collected = self._value.collected
        if self._head:
            self._turn.read = self.read_tail
            return
        if collected is not None:
            self._turn.problem(*deviation(collected))
            self._calls.argue(as_object(collected))
        if self._value.complete and self._has_tail:
            self._turn.read = self.read_tail
        else:
            self._calls.end(self._value.complete)

    def read_tail(self) -> bool:
        """Read what stands behind the arguments: maybe an id, or the name."""
        turn = self._turn
        found = self._tail.match(turn)
        if found and not found.role:
            return False
        rest = turn.text[turn.position :].strip(WHITE_SPACE)
        if found is None and turn.final and (rest or self._name_is_last):
            return False
        if found is None:
            turn.problem("missing_marker", "what belongs behind the arguments is missing")
        elif self._head:
            self._calls.start_at(self._head, found["name"], found["id"])
            self._calls.argue(as_object(self._value.collected or ""))
        self._head = None
        if found:
            turn.position = found.end
        turn.read = self._calls.resume
        if self._calls.is_open:
            self._calls.end(late_id=found["id"] if found else "")
        return True

    def finish(self) -> None:
        """End a call that the text's end cuts off."""
        turn = self._turn
        if not self._calls.is_open and not self._head:
            return
        rest = self._value.waiting + turn.text[turn.position :]
        turn.problem("cut_off", f"a call that ends in {rest!r}")
        if turn.read == self.read_body:
            self._end_body(complete=False)
        elif turn.read in (self.read_start, self.read_arguments) and not self._head:
            self._value.close()
            self._end_value()
        elif self._calls.is_open:
            self._calls.end(complete=False)


def tail_roles(table: Format) -> Roles:
    """Return what stands behind a call's arguments, if it has slots or is no marker in text."""
    calls = table["calls"]
    return [("tail", spaced(calls["tail"]))] if "tail" in calls else []
