"""Calls with a head: a marker that holds the name, with the arguments behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from turnspec.engine.calls import ArgumentReader, Calls, CodeReader
from turnspec.engine.format import Format
from turnspec.engine.markers import (
    Found,
    Notation,
    Roles,
    first_text,
    mention_roles,
    spaced,
)
from turnspec.engine.text import Text, Tools, code_roles, longest_first, text_roles
from turnspec.engine.turn import WHITE_SPACE


class HeadCalls(Calls):
    """Reads heads, and what stands around calls."""

    def __init__(
        self,
        text: Text,
        tools: Tools | None,
        id_prefix: str,
        *,
        arguments: Callable[[HeadCalls], ArgumentReader],
        code: Callable[[Calls, ArgumentReader], CodeReader] | None = None,
    ) -> None:
        super().__init__(text, tools, id_prefix)
        compiled = text.compiled
        text.attach(self, compiled.markers(head_text_roles))
        self._table = compiled.table["calls"]
        self.has_late_ids = "{id}" in self._table.get("tail", "")
        self._section = compiled.markers(section_roles)
        self._opened = False  # whether what stands around calls is open
        self._arguments = arguments(self)
        self._code = code(self, self._arguments) if code else None
        if self._table.get("only_in_section"):
            self.resume = self.read_section

    def is_text(self, found: Found) -> bool:
        """Say whether a head is none: it lacks its opening, and no tool has its name."""
        if found.role != "call" or self._opened or not self._table.get("needs_opening"):
            return False
        return bool(self.tools) and found["name"] not in (self.tools or ())

    def pass_marker(self, found: Found) -> None:
        """Do what a head, or a marker around calls, asks for."""
        turn = self.turn
        match found.role:
            case "opening":
                self._opened = True
                turn.read = self.resume
            case "call" | "other_call":
                self._arguments.begin(found)
            case "call_end":
                if not (self.called and self.text.after_marker):
                    turn.problem("stray_marker", f"{found.text!r} without a call")
            case "section_end":
                if not self._opened:
                    turn.problem("stray_marker", f"{found.text!r} was not opened")
                self._opened = False
            case "code":
                assert self._code
                turn.read = self._code.read_code_start

    def read_section(self) -> bool:
        """Read the next call of a section, or its end."""
        turn = self.turn
        found = self._section.match(turn)
        if found is None and turn.final and turn.text[turn.position :].strip(WHITE_SPACE):
            begun = self._section.match(turn, final=False)
            if begun and not begun.role:
                turn.problem("cut_off", begun.text)
                turn.position = len(turn.text)
                return False
        if found and not found.role:
            return False
        turn.read = self.text.read_text
        if found:
            self.pass_marker(found)
            turn.position = found.end
        return True

    def start_at(self, found: Found, name: str = "", id_: str = "") -> None:
        """Start the call of a head, and tell what the head lacks."""
        turn = self.turn
        if found.role == "call" and self._table.get("needs_opening") and not self._opened:
            turn.problem("missing_marker", f"a call without {self._table['opening'][0]} before it")
        self._opened = True
        name = name or found["name"]
        self.start(name, turn.offset + found.start, turn.offset + found.end, id_ or found["id"])
        for text in found.missing:
            turn.problem("missing_marker", f"{text!r} is missing")
        if found["name_again"] not in ("", name):
            turn.problem("repeated", f"another name, {found['name_again']!r}")

    def finish(self) -> None:
        """End a call that is cut off."""
        self._arguments.finish()


def head_text_roles(table: Format) -> Roles:
    """Return the markers in texts whose calls have heads."""
    calls = table["calls"]
    heads, openings = _heads(table), calls.get("opening", ())
    found = list(text_roles(table))
    for at, opening in enumerate(openings):
        following = [*openings[at + 1 :], *(head for _, head in heads)]
        role = "inner_opening" if at else "opening"
        found.append((role, (opening, [spaced(notation) for notation in following])))
    if not calls.get("only_in_section"):
        found += heads
    found += mention_roles(calls.get("mentions", ()))
    found += [("section_end", notation) for notation in calls.get("section_end", ())]
    found += [("call_end", notation) for notation in calls.get("end", ())]
    return longest_first(found) + code_roles(table)


def section_roles(table: Format) -> Roles:
    """Return what may stand in a section, between calls."""
    found = [(role, spaced(head, "{comma}")) for role, head in _heads(table)]
    calls = table["calls"]
    ends = [*calls.get("section_closing", ()), *calls.get("section_end", ())]
    return found + [("section_end", f" {end}") for end in ends]


def _heads(table: Format) -> list[tuple[str, Notation]]:
    """Return the heads of calls; one that ends in a slot with what may follow."""
    calls = table["calls"]
    follows = [spaced(notation) for notation in _behind_name(table) if notation]
    heads = [("call", calls["start"])] + [("other_call", n) for n in calls.get("other_starts", ())]
    return [(role, (head, follows) if head.rstrip()[-1:] == "}" else head) for role, head in heads]


def _behind_name(table: Format) -> Sequence[Notation]:
    """Return what may stand behind a name that no text closes."""
    arguments, calls = table["arguments"], table["calls"]
    if arguments["form"] == "json":
        return ("{{", '"{{')
    closing = calls.get("closing") or (
        *calls.get("section_end", ())[:1],
        first_text(calls["start"]),
    )
    return (first_text(arguments["start"]), arguments.get("empty", ""), *closing)
