"""Calls with a head: a marker that holds the name, with the arguments behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from turnspec.engine.calls import ArgumentReader, Calls, CodeReader
from turnspec.engine.foreign import ForeignCall, foreign_roles
from turnspec.engine.format import Format
from turnspec.engine.markers import Found, Notation, Roles, first_text, mention_roles, spaced
from turnspec.engine.text import Text
from turnspec.engine.text_markers import code_roles, longest_first, text_roles
from turnspec.engine.tools import Tools
from turnspec.engine.turn import WHITE_SPACE

#: Those who talk in a conversation, in the words of chat-completions APIs.
_ROLES = ("assistant", "user", "system", "developer", "tool")


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
        text.attach(self, head_text_roles, begun_roles)
        self._table = compiled.table["calls"]
        behind = (self._table.get("tail", ""), *self._table.get("closing", ())[:1])
        self.has_late_ids = any("{id}" in text for text in behind)
        self._section = compiled.markers(section_roles)
        self._opened = False  # whether what stands around calls is open
        self._arguments = arguments(self)
        self._foreign = ForeignCall(self)
        self._code = code(self, self._arguments) if code else None
        if self._table.get("only_in_section"):
            self.resume = self.read_section

    def is_text(self, found: Found) -> bool:
        """Say whether a head lacks its opening, or has a mere bracket, and no tool has its name."""
        if found.role == "opening" and not self._table.get("mentions"):  # a mere bracket
            head = self._section.match(self.turn, found.end)
            return head is not None and self.tools is not None and head["name"] not in self.tools
        if found.role not in ("call", "short_call") or self._opened or not self.tools:
            return False
        return bool(self._table.get("needs_opening")) and found["name"] not in self.tools

    def pass_marker(self, found: Found) -> None:
        """Do what a head, or a marker around calls, asks for."""
        turn = self.turn
        match found.role:
            case "opening" | "noisy_opening":
                self._opened = True
                turn.read = self.resume
                self._tell_opening(found)
            case "call" | "other_call" | "short_call" if self._addresses_nobody(found):
                turn.problem("stray_marker", f"{found.text!r} addresses no tool")
                self.text.begin_content()
            case "call" | "other_call" | "short_call":
                self._arguments.begin(found)
            case "foreign" | "foreign_name":
                self._opened = True
                self._foreign.begin(found)
            case "closed_call":
                self.start_at(found)
                turn.position = found.end
                self.end()
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

    def _addresses_nobody(self, found: Found) -> bool:
        """Say whether what would be a call is addressed to someone in the conversation."""
        name = found["name"]
        return bool(found.missing) and name in _ROLES and not self.knows(name)

    def _tell_opening(self, found: Found) -> None:
        for text in found.missing:
            self.turn.problem("missing_marker", f"{text!r} is missing")
        if found.role == "noisy_opening":
            noise = found.text.strip(WHITE_SPACE)
            self.turn.problem("unexpected_text", f"before a call: {noise!r}")

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
        if found.role != "other_call" and self._table.get("needs_opening") and not self._opened:
            turn.problem("missing_marker", f"a call without {self._table['opening'][0]} before it")
        self._opened = True
        name, again = name or found["name"], found["name_again"]
        if again not in ("", name):
            turn.problem("repeated", f"{name!r}, and then another name")
            name = again
        self.start(name, turn.offset + found.start, turn.offset + found.end, id_ or found["id"])
        for text in found.missing:
            turn.problem("missing_marker", f"{text!r} is missing")

    def finish(self) -> None:
        """End a call that is cut off."""
        self._arguments.finish()


def head_text_roles(table: Format) -> Roles:
    """Return the markers in texts whose calls have heads."""
    return longest_first(unsorted_roles(table)) + code_roles(table)


def unsorted_roles(table: Format) -> Roles:
    """Return these markers, but for code, in the order in which they stand in the table."""
    calls = table["calls"]
    heads, openings = _heads(table), calls.get("opening", ())
    found = list(text_roles(table))
    for at, opening in enumerate(openings):
        following = [*openings[at + 1 :], *(head for _, head in heads)]
        ends = [] if at else calls.get("section_end", ())
        role = "inner_opening" if at else "opening"
        found.append((role, (opening, [spaced(notation) for notation in (*following, *ends)])))
        if not at and not calls.get("only_in_section"):
            found.append(("noisy_opening", (opening + "{noise}", following)))
    if not calls.get("only_in_section"):
        found += heads
    found += foreign_roles(table)
    found += mention_roles(calls.get("mentions", ()))
    found += [("section_end", notation) for notation in calls.get("section_end", ())]
    found += [("call_end", notation) for notation in calls.get("end", ())]
    return found


def begun_roles(table: Format) -> Roles:
    """Return the markers that a text can break off in: noise is text, and so is another word."""
    words = ("noisy_opening", "foreign_name")
    return [found for found in head_text_roles(table) if found[0] not in words]


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
    heads = [("call", calls["start"])]
    heads += [("other_call", notation) for notation in calls.get("other_starts", ())]
    if table["arguments"]["form"] == "text" and calls["start"].endswith('">'):
        heads.append(("closed_call", calls["start"][:-1] + "/>"))
    heads += [("short_call", notation) for notation in calls.get("short_starts", ())]
    return [(role, (head, follows) if head.rstrip()[-1:] == "}" else head) for role, head in heads]


def _behind_name(table: Format) -> Sequence[Notation]:
    """Return what may stand behind a name that no text closes."""
    arguments, calls = table["arguments"], table["calls"]
    if arguments["form"] == "json":
        return ("{{", '"{{', *calls.get("closing", ())[:1])
    ends = calls.get("closing") or (*calls.get("section_end", ())[:1], first_text(calls["start"]))
    argument = start if (start := arguments["start"]).startswith("{key") else first_text(start)
    return (argument, "{{", arguments.get("empty", ""), *ends)
