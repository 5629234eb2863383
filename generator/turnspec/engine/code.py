"""Calls that are code: all text up to the turn's end is one argument of a tool."""

from __future__ import annotations

from turnspec.engine.calls import ArgumentReader, Calls
from turnspec.engine.format import Format
from turnspec.engine.json_text import dump_json, json_escaped
from turnspec.engine.markers import Notation, Roles, literal_length
from turnspec.engine.python_literal import keyword_arguments


class Code:
    """Reads code, or what may stand in its place: an object of arguments, or ``NAME.method(…)``."""

    def __init__(self, calls: Calls, arguments: ArgumentReader | None = None) -> None:
        self._calls = calls
        self._arguments = arguments
        self._turn = calls.turn
        self._table = calls.compiled.table["code"]
        self._start = calls.compiled.markers(code_start_roles)
        self._end = calls.compiled.markers(code_end_roles)
        self._keywords: list[str] = []  # of a method's call

    def read_code_start(self) -> bool:
        """Read the beginning of a call."""
        turn = self._turn
        found = self._start.match(turn)
        if found and not found.role:
            return False
        at = turn.offset + turn.position
        if found and found.role == "method":
            turn.position = found.end
            self._calls.start(found["name"], at, turn.offset + found.end)
            turn.read = self.read_keywords
            return True
        self._calls.start(self._table["tool"], at, at)
        if found and self._arguments:
            self._arguments.go_on()
            return True
        self._calls.argue(f'{{{dump_json(self._table["argument"])}: "')
        turn.read = self.read_code
        return True

    def read_code(self) -> bool:
        """Read code, up to the turn's end."""
        text, over = self._take()
        self._calls.argue(json_escaped(text))
        if over:
            self._calls.argue('"}')
            self._calls.end()
        return over

    def read_keywords(self) -> bool:
        """Read a method's keyword arguments, up to the turn's end."""
        text, over = self._take()
        self._keywords.append(text)
        if not over:
            return False
        text = "".join(self._keywords)
        self._keywords.clear()
        arguments = keyword_arguments(text)
        if arguments is None:
            kind = "cut_off" if self._turn.final else "malformed"
            self._turn.problem(kind, f"not Python's keyword arguments: {text!r}")
        self._calls.argue(arguments or "{}")
        self._calls.end(arguments is not None)
        return True

    def _take(self) -> tuple[str, bool]:
        """Return the code that has come, and whether it is over."""
        turn = self._turn
        found = self._end.search(turn)
        text = turn.text[turn.position : found.start if found else len(turn.text)]
        turn.position += len(text)
        return text, turn.final or bool(found and found.role)


def code_start_roles(table: Format) -> Roles:
    """Return what may stand in the place of code."""
    found: list[tuple[str, Notation]] = []
    if method := table["code"].get("method"):
        found.append(("method", f" {{name}}.{method} ("))
    if table["calls"]["form"] == "heads" and table["arguments"]["form"] == "json":
        found.append(("object", (" ", ["{{"])))
    return found


def code_end_roles(table: Format) -> Roles:
    """Return what ends code."""
    return [("end", "\n" + end) for end in table["turn_end"] if literal_length(end)]
