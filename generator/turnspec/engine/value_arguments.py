"""Arguments whose values say themselves where they end, each with its key before it."""

from __future__ import annotations

import re

from turnspec.engine.format import Format
from turnspec.engine.heads import HeadCalls
from turnspec.engine.json_text import dump_json, json_escaped
from turnspec.engine.markers import Found, Notation, Roles, literal_length, spaced
from turnspec.engine.unclosed import FEWEST_SIGNS, call_end_roles
from turnspec.engine.value import ValueMaker

#: A number, a constant or a word without quotes; nothing where a value begins with a sign.
_WORD = re.compile("[ \t\n\r]*(?P<word>[^\\x00-\x20{}\\[\\](),:;\"'`<>|]*)")


class ValueArguments:
    """Reads arguments one by one: a key, and a value in JSON or a relative of it."""

    def __init__(self, calls: HeadCalls, *, value: ValueMaker) -> None:
        self._calls = calls
        self._turn = calls.turn
        self._value = value(calls.turn, calls.compiled)
        self._before = ""  # what stands in the arguments before the value
        self._markers = calls.compiled.markers(argument_value_roles)
        self._text_end = calls.compiled.markers(text_end_roles)
        self._cut_end = calls.compiled.markers(call_closing_roles)
        self._is_whole = True  # whether each value was closed, and nothing else was there
        self._unexpected: list[str] = []  # text where none belongs
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
        if found is None and self._has_end:
            self._unexpected.append(turn.text[turn.position : turn.position + 1])
            turn.position += 1
            turn.read = self.read_unexpected
            return True
        if found is None or found.role == "broken":
            turn.problem("malformed", "the arguments are not closed")
            self._end_arguments()
            return True
        turn.position = found.end
        if found.role == "quoted":
            turn.problem("malformed", f"{found['key']!r} in quotes")
        if found.role in ("argument", "quoted"):
            self._begin_argument(found)
        elif found.role == "done":
            self._end_arguments(late_id=found["id"])
        return True

    def read_unexpected(self) -> bool:
        """Read text that is no argument, up to where the call can go on."""
        turn = self._turn
        found = self._text_end.search(turn)
        end = found.start if found else len(turn.text)
        self._unexpected.append(turn.text[turn.position : end])
        turn.position = end
        if found is None or not found.role:
            return False
        turn.problem("unexpected_text", f"between arguments: {''.join(self._unexpected)}")
        self._unexpected.clear()
        self._is_whole = False
        turn.read = self.read_arguments
        return True

    def _begin_argument(self, found: Found) -> None:
        key = found["key"]
        if not self._may_have(key):
            self._turn.problem("unknown_argument", f"the tool has no {key!r}")
        separator = ", " if self._turn.arguments else "{"
        self._before = f"{separator}{dump_json(key)}: "
        self._value.begin()
        self._turn.read = self.read_start

    def _may_have(self, key: str) -> bool:
        """Say whether the tool has such an argument, as far as its schema tells."""
        parameters = self._calls.parameters
        properties = parameters.get("properties")
        return not properties or key in properties or bool(parameters.get("additionalProperties"))

    def read_start(self) -> bool:
        """Read up to a value; what is more than a word, and has no quotes, is a text."""
        turn = self._turn
        match = _WORD.match(turn.text, turn.position)
        assert match  # if only an empty text
        if match.end() == len(turn.text) and not turn.final:
            return False
        word = match["word"]
        is_literal = self._value.may_be_quote(match.start("word")) or self._value.is_literal(word)
        is_word = word and not is_literal
        found = self._text_end.match(turn, match.end()) if is_word else None
        if found and not found.role:
            return False
        cut_off = turn.final and self._cut_end.match(turn, match.end(), final=False)
        is_text = is_word and not found and not cut_off and match.end() < len(turn.text)
        turn.read = self.read_bare_text if is_text else self.read_value
        if is_text:
            turn.position += turn.text.startswith(" ", turn.position)
            turn.problem("malformed", "a text without quotes")
            self._take('"')
        return True

    def read_bare_text(self) -> bool:
        """Read a text without quotes, up to where the call can go on."""
        turn = self._turn
        found = self._text_end.search(turn)
        if found is None and turn.final:
            found = self._cut_end.search(turn, final=False)
        end = found.start if found else len(turn.text)
        is_text = found and found.role == "next" and not self._may_have(found["key"])
        end += bool(is_text)
        self._take(json_escaped(turn.text[turn.position : end]))
        turn.position = end
        if found is None or not found.role:
            return False
        if not is_text:
            self._take('"')
            turn.read = self.read_arguments
        return True

    def read_value(self) -> bool:
        """Read a value, which becomes JSON as it arrives."""
        value = self._value
        self._take(value.read())
        if not value.over and (not value.broken or self._turn.final):
            if value.string_stops:
                self._calls.let_flow(value.string_stops)
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
        rest = "".join((waiting, *self._unexpected, turn.text[turn.position :]))
        self._unexpected.clear()
        turn.problem("cut_off", f"a call that ends in {rest!r}")
        if in_value:
            self._end_value()
        elif turn.read == self.read_bare_text:
            self._take('"')
        self._end_arguments(complete=False)


def argument_value_roles(table: Format) -> Roles:
    """Return what may stand before a value, and behind the last one.

    What ends the arguments may look like another one's beginning, so it comes first; where nothing
    ends them, they end at whatever else comes.
    """
    arguments, closing = table["arguments"], table["calls"].get("closing", ())
    argument = [("argument", spaced(arguments["start"], "{comma}"))]
    argument += [("quoted", spaced(start, "{comma}")) for start in _quoted(arguments["start"])]
    empty = arguments.get("empty", "")
    ends = [f"{empty} {closing[0]}"] if empty and closing else [empty] if empty else []
    done: list[tuple[str, Notation]] = [
        ("done", "{comma}" + end) for end in (*ends, *(closing[:1] or [""]))
    ]
    broken = [("broken", spaced(end)) for _, end in call_end_roles(table)]
    found = [*done, *broken, *argument] if closing else [*argument, *done]
    return [*found, ("end", spaced(arguments["end"]))] if arguments.get("end") else found


def _quoted(start: str) -> list[str]:
    """Return how an argument begins whose key stands in quotes."""
    return [start.replace("{key", f"{quote}{{key").replace("}", f"}}{quote}", 1) for quote in "\"'"]


def text_end_roles(table: Format) -> Roles:
    """Return what ends a text without quotes: another argument, or the end of them all."""
    arguments = table["arguments"]
    separator = arguments.get("separator", "").strip()
    starts = (*_quoted(arguments["start"]), arguments["start"])
    following = [("next", f" {separator} {start}") for start in starts if separator]
    return [*following, *call_closing_roles(table)]


def call_closing_roles(table: Format) -> Roles:
    """Return what ends the arguments, if no text goes on behind it."""
    arguments, calls = table["arguments"], table["calls"]
    closings = calls.get("closing", ())
    sections = (*calls.get("section_closing", ()), *calls.get("section_end", ()))
    ends = (*closings[1:], *sections, *table["turn_end"])
    follows = [*map(spaced, ends), f" , {calls['start']}", "{end of text}"]
    found: list[tuple[str, Notation]] = []
    for closing in closings[:1]:
        is_distinct = literal_length(closing) >= FEWEST_SIGNS
        found.append(("close", f" {closing}" if is_distinct else (f" {closing}", follows)))
    found += [("close", spaced(end)) for _, end in call_end_roles(table)]
    return [*found, ("end", spaced(arguments["end"]))] if arguments.get("end") else found
