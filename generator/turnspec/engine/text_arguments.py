"""Arguments whose values are text, each between marks that hold its key."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from turnspec.engine.calls import Calls
from turnspec.engine.format import ArgumentsFormat, Format
from turnspec.engine.heads import HeadCalls
from turnspec.engine.json_text import ESCAPED, dump_json, json_escaped, load_json
from turnspec.engine.markers import (
    Found,
    Markers,
    Notation,
    Roles,
    first_text,
    leading_text,
    literal_length,
    spaced,
)
from turnspec.engine.schemas import as_json, json_types
from turnspec.engine.turn import WHITE_SPACE


class TypedText:
    """A value that is text: a string is passed on as it comes, any other value as a whole."""

    def __init__(self, calls: Calls, *, python: bool) -> None:
        self.types: set[str] = set()  # of which it may be; none says that it is a string
        self._calls = calls
        self._python = python
        self.before = ""  # what stands before it in the arguments
        self._pieces: list[str] = []

    def expect(self, types: set[str], before: str) -> None:
        """Expect a value of some types, behind a text of the arguments."""
        self.types = types
        self.before = before

    def begin(self) -> None:
        """Begin the value."""
        if self.types <= {"string"}:
            self._calls.argue(f'{self.before}"')

    def may_end(self, end: int) -> bool:
        """Say whether the value is whole with the turn's text up to a position.

        One that is open within brackets or quotes isn't, if it can be anything but a string.
        """
        text = "".join(self._pieces) + self._calls.turn.text[self._calls.turn.position : end]
        opened = text.lstrip(WHITE_SPACE)[:1]
        if self.types <= {"string"} or opened not in ("[", "{", '"', "'"):
            return True
        return as_json(text, self.types - {"string"}, python=self._python) is not None

    def take(self, end: int) -> None:
        """Take the turn's text up to a position."""
        turn = self._calls.turn
        text = turn.text[turn.position : end]
        turn.position = end
        if self.types <= {"string"}:
            self._calls.argue(json_escaped(text))
        else:
            self._pieces.append(text)

    def let_flow(self, markers: Markers) -> None:
        """Pass a string on as it comes, up to what may begin one of these markers."""
        if self.types <= {"string"}:
            self._calls.let_flow(markers.first_or(ESCAPED))

    def end(self) -> None:
        """End the value."""
        if self.types <= {"string"}:
            self._calls.argue('"')
            return
        text = "".join(self._pieces)
        self._pieces.clear()
        value = as_json(text, self.types, python=self._python)
        if value is None and "string" not in self.types:
            self._calls.turn.problem("wrong_type", f"{text!r} is kept as a string")
        self._calls.argue(self.before + (value or dump_json(text)))


class NestedReader(Protocol):
    """The part that reads arrays and objects that are written as elements."""

    def read_opening(self) -> bool:
        """Read the beginning of a value that may be such a one."""

    def finish(self) -> None:
        """Close what the end of the text leaves open."""


class TextArguments:
    """Reads arguments one by one, each with its key and its value."""

    def __init__(
        self,
        calls: HeadCalls,
        *,
        nested: Callable[[TextArguments], NestedReader] | None = None,
    ) -> None:
        compiled = calls.compiled
        self.calls = calls
        self.turn = calls.turn
        self.table: ArgumentsFormat = compiled.table["arguments"]
        self.value = TypedText(calls, python=self.table.get("literals") == "python")
        self.properties: Mapping[str, Any] = {}  # that the tool has
        self.other_keys: set[str] = set()  # that would begin another argument
        start = self.table["start"]
        #: Whether no element of a value can look like an argument's beginning.
        self._shows_itself = is_keyed(self.table) or any(map(str.isalnum, leading_text(start)))
        self.doubtful = False  # whether text was left out that may be an argument
        self.unexpected: list[str] = []  # text where none belongs
        self.schema: Any = None  # of the value
        self.key = ""  # as it is written
        self._escapes = self.table.get("key_escapes", {})
        self._escape = re.compile("|".join(map(re.escape, self._escapes)))
        self._given: set[str] = set()  # the keys of the call's arguments so far
        self._markers = compiled.markers(argument_roles)
        self._first = compiled.markers(keyed_roles)
        self._guard = compiled.markers(guard_roles)
        self._plain_end = compiled.markers(value_roles)
        self._guarded_end = compiled.markers(guarded_value_roles)
        self._end = self._plain_end
        self._nested = nested(self) if nested else None

    def begin(self, found: Found) -> None:
        """Begin behind a head."""
        self.calls.start_at(found)
        self.go_on()

    def go_on(self) -> None:
        """Read the arguments of a call that is started already."""
        self._given.clear()
        self.turn.read = self.read_arguments

    def read_arguments(self) -> bool:
        """Read up to an argument's beginning, or to the end of them all."""
        turn = self.turn
        found = None if any(self.unexpected) else self._first.match(turn, final=False)
        if found and not found.role:
            return False
        found = found or self._markers.search(turn, final=False)
        end = found.start if found else len(turn.text)
        self.unexpected.append(turn.text[turn.position : end])
        turn.position = end
        if found is None or not found.role:
            return False
        if found.role != "argument" and not self._given:
            self._take_object()
        self.tell_unexpected("between arguments")
        if found.role == "argument":
            turn.position = found.end
            self.begin_argument(found)
            return True
        if found.role == "broken":
            turn.problem("malformed", "the arguments are not closed")
        else:
            turn.position = found.end
        self._end_arguments(late_id=found["id"])
        return True

    def _take_object(self) -> None:
        """Take a JSON object in place of the arguments, if there is one."""
        text = "".join(self.unexpected).strip(WHITE_SPACE)
        try:
            is_object = isinstance(load_json(text), dict)
        except ValueError:
            return
        if is_object:
            self.turn.problem("other_syntax", "the arguments are a JSON object")
            self.calls.argue(text)
            self.unexpected.clear()

    def begin_argument(self, found: Found) -> None:
        """Begin an argument. Its tool's schema tells its type, or a word in its beginning."""
        for text in found.missing:
            self.turn.problem("missing_marker", f"{text!r} is missing")
        key, parameters = self._key_of(found), self.calls.parameters
        properties = parameters.get("properties") or {}
        others = parameters.get("additionalProperties")
        if properties and key not in properties and not others:
            self.turn.problem("unknown_argument", f"the tool has no {key!r}")
        self.key = found["key"]
        self._given.add(key)
        self.properties = properties
        self.other_keys = set(properties) - self._given
        self.schema = properties.get(key, others)
        words = self.table.get("types")
        if words and found["type"] not in words:
            self.turn.problem("wrong_type", f"{found['type']!r} is no type")
        types = set(words.get(found["type"], ())) if words else json_types(self.schema, parameters)
        separator = ", " if self.turn.arguments else "{"
        self.value.expect(types, f"{separator}{dump_json(key)}: ")
        self.turn.read = self._nested.read_opening if self._nested else self.read_guard

    def read_guard(self) -> bool:
        """Read what may surround a value: one that has it is a string, if it can be one."""
        found = self._guard.match(self.turn, final=False)
        if found and not found.role and not self.turn.final:
            return False
        self._end = self._guarded_end if found else self._plain_end
        if found:
            self.turn.position = found.end
            self.value.types &= {"string"} if "string" in self.value.types else self.value.types
        self.begin_value()
        return True

    def begin_value(self) -> None:
        """Begin a value that is text."""
        self.value.begin()
        self.turn.read = self.read_value

    def read_value(self) -> bool:
        """Read a value up to what closes it."""
        turn = self.turn
        found = self._end.search(turn, final=False)
        self.value.take(found.start if found else len(turn.text))
        if turn.final and found and not found.role:
            find = self._end.search if is_keyed(self.table) else self._end.match
            found = find(turn, final=True)
            self.value.take(found.start if found else turn.position)
            if found and found.role != "rest":  # the rest of the text is a part of a marker
                return False
        if found is None or not found.role:
            self.value.let_flow(self._end)
            return False
        is_other = found.role == "close" and found["key"] not in ("", self.key)
        if found.role == "inner" or is_other:
            if not is_other:
                turn.problem("inner_marker", f"{found.text!r} inside a value")
            self.value.take(found.end)
        elif found.role == "next" and not (
            self._is_other(self._key_of(found)) and self.value.may_end(found.start)
        ):
            self.value.take(found.start + 1)
        else:
            self._end_value(found)
        return True

    def _key_of(self, found: Found) -> str:
        """Return the key in a marker, without its escapes."""
        key, escapes = found["key"], self._escapes
        return self._escape.sub(lambda escape: escapes[escape.group()], key) if escapes else key

    def _is_other(self, key: str) -> bool:
        """Say whether another argument may have a key.

        Where none is known, or no string belongs, it is any new one, if no element looks like it.
        """
        has_end = bool(self.table.get("end")) and not is_keyed(self.table)
        is_known = self.calls.tools is not None and (has_end or self.properties)
        if self._shows_itself and not (is_known and "string" in (self.value.types or "string")):
            return key not in self._given
        return key in self.other_keys

    def _end_value(self, found: Found) -> None:
        if found.role == "close":
            self.turn.position = found.end
        elif self.table.get("end"):
            self.turn.problem("missing_marker", "a value is not closed")
        self.value.end()
        self.turn.read = self.read_arguments

    def tell_unexpected(self, where: str, expected: str = "") -> None:
        """Tell of text that belongs nowhere; it may be an argument."""
        text = "".join(self.unexpected).replace(expected, "", 1)
        self.unexpected.clear()
        if text.strip(WHITE_SPACE):
            self.turn.problem("unexpected_text", f"{where}: {text.strip(WHITE_SPACE)}")
            self.doubtful = True

    def _end_arguments(self, complete: bool = True, late_id: str = "") -> None:
        if self._given or not self.turn.arguments:
            self.calls.argue("}" if self.turn.arguments else "{}")
        self.calls.end(complete and not self.doubtful, late_id)
        self.doubtful = False

    def finish(self) -> None:
        """End a call that the text's end cuts off."""
        turn = self.turn
        if not self.calls.is_open:
            return
        rest = "".join(self.unexpected) + turn.text[turn.position :]
        turn.problem("cut_off", f"a call that ends in {rest!r}")
        self.unexpected.clear()
        if self._nested:
            self._nested.finish()
        if turn.read == self.read_value:
            self.value.end()
        self._end_arguments(complete=False)


def is_keyed(arguments: ArgumentsFormat) -> bool:
    """Say whether an argument begins with its key, which no search would find."""
    return arguments["start"].startswith("{key")


def keyed_roles(table: Format) -> Roles:
    """Return the beginning of an argument that begins with its key, where one is due."""
    arguments = table["arguments"]
    return [("argument", spaced(arguments["start"], "{comma}"))] if is_keyed(arguments) else []


def next_argument(arguments: ArgumentsFormat) -> str:
    """Return the beginning of an argument behind another one."""
    if not is_keyed(arguments):
        return "\n" + arguments["start"]
    return (arguments.get("separator") or "\n") + " " + arguments["start"]


def argument_roles(table: Format) -> Roles:
    """Return what may stand between arguments."""
    arguments = table["arguments"]
    done, empty = table["calls"].get("closing", ())[:1], arguments.get("empty", "")
    found = [("done", f"{empty} {done[0]}")] if done and empty else []
    found += [("done", closing) for closing in done]
    keyed = is_keyed(arguments)
    found.append(("argument", next_argument(arguments) if keyed else arguments["start"]))
    return found + [("broken", other) for other in behind_call(table)]


def value_roles(table: Format, guard_end: str = "") -> Roles:
    """Return what may end a value: its mark if the format can go on behind it, or the rest of it.

    Without its mark a value ends where only the rest of the call follows, or another argument.
    """
    arguments, closing = table["arguments"], table["calls"].get("closing", ())
    mark = arguments.get("end", "").removeprefix("\n")
    before = guard_end + ("\n" if mark != arguments.get("end", "") else "")
    found: list[tuple[str, Notation]] = []
    if before + mark:
        found.append(("close", (before + mark, behind_value(table))))
    # A single sign is text wherever the format doesn't go on behind it.
    if guard_end + mark and "{key}" not in mark and literal_length(guard_end + mark) > 1:
        found.append(("inner", guard_end + mark))
    if closing:
        found.append(("rest", (before, rests_of_call(table))))
        if not guard_end:
            found.append(("next", next_argument(arguments)))
    return found + turn_end_roles(table)


def guard_roles(table: Format) -> Roles:
    """Return what may surround a value, at its beginning."""
    return [("guard", spaced(guard)) for guard in table["arguments"].get("guard", ())[:1]]


def guarded_value_roles(table: Format) -> Roles:
    """Return what may end a value that is surrounded."""
    guard = table["arguments"].get("guard")
    return value_roles(table, guard[1]) if guard else []


def behind_value(table: Format) -> list[Notation]:
    """Return what may stand behind the mark that closes a value."""
    arguments = table["arguments"]
    following = (
        next_argument(arguments) if is_keyed(arguments) else first_text(arguments["start"]),
        *table["calls"].get("closing", ())[:1],
        *behind_call(table),
    )
    return [spaced(notation) for notation in following if notation]


def rests_of_call(table: Format) -> list[str]:
    """Return what may stand behind a value without a mark: the rest of the call, and more."""
    closing = table["calls"].get("closing", ())
    rests = [" ".join(closing[at:]) for at in range(len(closing))]
    return [f"{rest} {more}" for rest in rests for more in (*behind_call(table), "{end of text}")]


def behind_call(table: Format) -> list[str]:
    """Return what may stand behind the first of a call's closing tags."""
    calls = table["calls"]
    section = calls.get("section_closing", ())
    found = [
        *calls.get("closing", ())[1:],
        *calls.get("section_end", ()),
        *(f"{end} {behind}" for end in section for behind in (*table["turn_end"], "{end of text}")),
        *(calls.get("opening") or [leading_text(calls["start"])]),
        *table["turn_end"],
        *(table.get("content", {}).get("start", ()) if table["order"][-1] == "content" else ()),
    ]
    if calls.get("only_in_section") and calls["start"].startswith("{name"):
        found.append("{comma}" + calls["start"])
    opening = first_text(table["arguments"]["start"])
    return [text for text in dict.fromkeys(found) if text != opening and literal_length(text)]


def turn_end_roles(table: Format) -> list[tuple[str, Notation]]:
    """Return markers that end a value nowhere but at the end of the text."""
    return [("ending", f"{end} {{never}}") for end in table["turn_end"] if literal_length(end)]
