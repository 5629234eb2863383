"""Relatives of JSON: Python's literals, bare keys, strings in quotes of the format's own."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping

from turnspec.engine.format import CompiledFormat, Format
from turnspec.engine.json_text import ESCAPED, json_escaped
from turnspec.engine.markers import Roles, spaced
from turnspec.engine.turn import WHITE_SPACE, Turn
from turnspec.engine.unclosed import call_end_roles
from turnspec.engine.value import Value

_STRINGS = {
    quote: re.compile(
        rf"(?P<text>[^{quote}\\]*(?:\\(?:[^xuU]|x[0-9a-fA-F]{{2}}|u[0-9a-fA-F]{{4}}"
        rf"|U[0-9a-fA-F]{{8}}|[xuU](?![0-9a-fA-F]{{0,7}}\Z))[^{quote}\\]*)*)(?P<end>{quote})?"
    )
    for quote in "'\""
}
_PIECE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|[\s\S])|[^\\]+")
_SLASH = re.compile(r"(\\[^/])|\\/")  # of all escapes of JSON the one that Python hasn't
_ESCAPES = {
    f"\\{letter}": sign for letter, sign in zip("ntbfrav\\'\"", "\n\t\b\f\r\a\v\\'\"", strict=True)
}


class OtherValue(Value):
    """Reads a value in a relative of JSON."""

    words: Mapping[str, str] = {**Value.words, "True": "true", "False": "false", "None": "null"}
    has_bare_keys = True

    def __init__(self, turn: Turn, compiled: CompiledFormat) -> None:
        style = compiled.table["arguments"].get("values", {})
        self._raw_quote = style.get("raw_quote", "")
        self._raw_inside = style.get("raw_inside", False)
        self._escapes = style.get("escapes", "json")
        self._raw_start = compiled.markers(raw_start_roles)
        self._raw_end = compiled.markers(raw_end_roles)
        signs = re.escape(_behind_string(compiled.table))
        key = r"\w{1,64} ?"  # of an argument before which a separator is missing
        self._after_string = re.compile(
            rf"[{WHITE_SPACE}]*(?:\Z|(?P<begun>{key}\Z)|(?P<next>[{signs}]|{key}[=:]))"
        )
        quotes = dict.fromkeys((self._raw_quote or '"', '"', "'"))
        super().__init__(turn, compiled, tuple(quotes))
        self._stops = compiled.markers(_string_stop_roles).first_or(ESCAPED + "'")

    def _take_quote(self, text: str) -> bool:
        if text == self._raw_quote and not self._raw_start.match(self._turn):
            return False  # it is a special token, and here only looks like it
        if self._escapes == "json" and text == "'" != self._raw_quote:
            self._turn.problem("malformed", "a string in single quotes")
        return super()._take_quote(text)

    def _read_string(self) -> bool:
        inside = bool(self._closers) and not self._raw_inside
        if self._quote == self._raw_quote and not inside:
            return self._read_raw_string()
        if self._escapes == "json" and self._quote == '"':
            return super()._read_string()
        turn = self._turn
        match = _STRINGS[self._quote].match(turn.text, turn.position)
        assert match  # if only an empty text
        if self._first.search(turn.text, turn.position, match.end()):
            match = self._before_unclosed(match)
        text = match["text"]
        turn.position = match.end("text")
        is_quote = match["end"] is not None
        after = self._after_string.match(turn.text, match.end()) if is_quote else None
        if after and after["begun"] and turn.final:
            after = None  # a word with nothing behind it
        if is_quote and after is None:  # it is none that ends the string
            turn.problem("malformed", f"a {self._quote} inside a string")
            text += self._quote
            turn.position = match.end()
        if self._closers and self._quote == '"':  # arrays and objects may be JSON, beside literals
            text = _SLASH.sub(lambda at: at[1] or "/", text)
        self._pass_on(_PIECE.sub(_as_json, text))
        if after is None:
            return is_quote
        if not after["next"] and not turn.final:
            return False
        turn.position = match.end()
        return self._end_if(True)

    def _read_raw_string(self) -> bool:
        turn = self._turn
        found = self._raw_end.search(turn, final=False)
        end = found.start if found else len(turn.text)
        if self._unclosed and self._first.search(turn.text, turn.position, end):
            reach, self.broken = self._unclosed.find(end)
            found, end = (found if reach == end else None), reach
        self._pass_on(json_escaped(turn.text[turn.position : end]))
        turn.position = end
        if found and found.role:
            turn.position = found.end
        return self._end_if(bool(found and found.role))

    def _end_if(self, is_end: bool) -> bool:
        if is_end:
            self._pass_on('"')
            self._end_string()
        return is_end


def _behind_string(table: Format) -> str:
    """Return the signs with which goes on what stands behind a string."""
    arguments, calls = table["arguments"], table["calls"]
    texts = (
        *(arguments.get("separator", ""), arguments.get("end", "")),
        *(*calls.get("closing", ()), *calls.get("end", ()), *table["turn_end"]),
    )
    return ",)]}:<" + "".join(text.strip()[:1] for text in texts)


def _as_json(piece: re.Match[str]) -> str:
    """Return what stands in JSON for an escape of Python's, or for text without one."""
    code = int(piece[piece.lastindex], 16) if piece.lastindex else -1
    if 0xD800 <= code <= 0xDFFF:  # half a character, whose other half may not have come yet
        return f"\\u{code:04x}"
    text = chr(code) if 0 <= code <= sys.maxunicode else _ESCAPES.get(piece.group(), piece.group())
    return json_escaped(text)


def raw_start_roles(table: Format) -> Roles:
    """Return what begins a string without escapes: its quote."""
    quote = table["arguments"].get("values", {}).get("raw_quote", "")
    return [("start", quote)] if quote else []


def _string_stop_roles(table: Format) -> Roles:
    """Return what may end a string, closed or not."""
    return [*raw_end_roles(table), *call_end_roles(table)]


def raw_end_roles(table: Format) -> Roles:
    """Return what ends a string without escapes: its quote, if the call can go on behind it."""
    arguments = table["arguments"]
    quote = arguments.get("values", {}).get("raw_quote", "")
    if not quote:
        return []
    if arguments["values"].get("raw_inside"):
        return [("end", quote)]
    closing = table["calls"].get("closing", ())[:1]
    end = arguments.get("end")
    ends = [end] if end else [arguments.get("separator", ""), *closing]
    return [("end", (quote, [spaced(end) for end in ends if end]))]
