"""Calls that are JSON objects, with the name and the arguments as members."""

from __future__ import annotations

from collections.abc import Callable

from turnspec.engine.arguments_value import ArgumentsValue, as_object, deviation
from turnspec.engine.calls import Calls, CodeReader
from turnspec.engine.foreign import ForeignCall, foreign_roles
from turnspec.engine.format import CallsFormat, Format
from turnspec.engine.json_text import as_string
from turnspec.engine.markers import Found, Notation, Roles, is_name, mention_roles, spaced
from turnspec.engine.results import Problem
from turnspec.engine.text import Text
from turnspec.engine.text_markers import code_roles, longest_first, text_roles
from turnspec.engine.tools import Tools
from turnspec.engine.turn import WHITE_SPACE, behind_space
from turnspec.engine.value import ValueMaker

_WRAPPER = "function"  # the member in which chat-completions APIs have name and arguments
#: What members mean in those APIs, and in JSON Schema, where a format has other keys for them.
_USUAL_KEYS = {"name": "name", "arguments": "arguments", "parameters": "arguments"}


class ObjectCalls(Calls):
    """Reads calls that are JSON objects. Until one has a name, it may still be content."""

    def __init__(
        self,
        text: Text,
        tools: Tools | None,
        id_prefix: str,
        *,
        value: ValueMaker,
        code: Callable[[Calls], CodeReader] | None = None,
    ) -> None:
        super().__init__(text, tools, id_prefix)
        compiled = text.compiled
        text.attach(self, object_text_roles, begun_object_roles)
        self._code = code(self) if code else None
        self._foreign = ForeignCall(self)
        self._table = compiled.table["calls"]
        self._keys = self._table.get("members", {})
        self._between = compiled.markers(between_roles)
        self._members = compiled.markers(member_roles)
        self._value = ArgumentsValue(self, value(text.turn, compiled))
        self._announced = False  # whether a marker stands before an object that needs none
        self._depth = 0  # of objects around the members
        self._key = ""  # of the member that is being read
        self._id = ""
        self._early = ""  # arguments that came before the name
        self._spare = ""  # an object that may be the arguments, under another key
        self.has_late_ids = "id" in self._keys
        self.resume = self.read_between

    @property
    def first(self) -> Callable[[], bool]:
        """A turn may begin with a call that nothing announces, whatever its name."""
        is_bare = self._table.get("bare") and not self.text.thinking
        return self.read_between if is_bare else self.text.read_text

    def is_text(self, found: Found) -> bool:
        """Say whether an object is no call: without tools nothing tells."""
        return found.role == "object" and not self.tools

    def pass_marker(self, found: Found) -> None:
        """Do what a marker around calls asks for."""
        if found.role in ("opening", "object"):
            self._announced = found.role == "opening"
            self.turn.hold()
            self.turn.read = self.read_between
        elif found.role in ("foreign", "foreign_name"):
            self._foreign.begin(found)
        elif found.role == "code" and self._code:
            self.turn.read = self._code.read_code_start
        elif found.role == "call_end" and not (self.called and self.text.after_marker):
            self.turn.problem("stray_marker", f"{found.text!r} without a call")

    def read_between(self) -> bool:
        """Read what stands between calls: the beginning of one, or what closes them."""
        turn = self.turn
        found = self._between.match(turn)
        begun = self.called or turn.held  # else a bracket closes nothing
        if found is None or (found.role == "array_end" and not begun):
            if turn.held:
                self._give_up()
            turn.read = self.text.read_text
            return True
        if not found.role:
            return False
        if found.role == "object":
            self._begin_object(found)
        elif found.role == "brackets":
            turn.problem("stray_marker", f"{found.text.strip()!r} after a call")
        turn.position = found.end
        return True

    def _begin_object(self, found: Found) -> None:
        turn = self.turn
        if turn.held is None:
            turn.hold()
        self._depth = 0
        self._keys = self._table.get("members", {})
        self._key = self._id = self._early = self._spare = ""
        if self._table.get("in_array") and not self.called and "[" not in found.text:
            turn.problem("array", "a call outside an array")
        elif "[" in found.text and not self._table.get("in_array"):
            turn.problem("array", "calls in an array")
        turn.read = self.read_member

    def read_member(self) -> bool:
        """Read a member of a call, in any order, up to its value; or the end of the call."""
        turn = self.turn
        turn.position = behind_space(turn.text, turn.position)
        found = self._members.match(turn)
        if found is None:
            return self._break_off()
        if not found.role:
            return False
        turn.position = found.end
        if found.role == "wrapper" and not self._keys and self.knows(_WRAPPER):
            turn.position -= 1  # a tool is called so, and its arguments follow
            self._begin_member(_WRAPPER)
        elif found.role == "wrapper":
            self._depth += 1
            if _WRAPPER not in self._table.get("other_members", ()):
                turn.problem("wrapper", "the call is inside another object")
        elif found.role == "member":
            self._begin_member(found["string"])
        elif self._depth:
            self._depth -= 1
        elif self.is_open:
            self._end_object()
        else:
            self._give_up()
        return True

    def _begin_member(self, key: str) -> None:
        self._key = key = self._own_key(key)
        self.turn.read = self.read_value
        if not self._keys:  # the one key is the name
            self._value.begin()
            self._commit(key)
            return
        awaited = self.is_open and key == self._keys["arguments"] and not self.turn.arguments
        self._value.begin(collect=not awaited)

    def _own_key(self, key: str) -> str:
        """Return the format's own key for one; what is none of its own may be a usual one."""
        own = (*self._keys.values(), *self._table.get("other_members", ()))
        role = "" if key in own else _USUAL_KEYS.get(key, "")
        if not self._keys and role == "name" and key not in (self.tools or ()):
            self._keys = {"name": "name", "arguments": "arguments"}
        elif role not in self._keys:
            return key
        self.turn.problem("other_syntax", f"{key!r} is no member of the format's calls")
        return self._keys[role]

    def read_value(self) -> bool:
        """Read a member's value; the arguments of a call with a name pass through."""
        if not self._value.read():
            return False
        self.turn.read = self.read_member
        self._take_member(self._value.collected or "")
        if not self._value.complete and self.turn.read == self.read_member:
            self._break_off(complete=False)
        return True

    def _take_member(self, text: str) -> None:
        """Take what didn't pass through: JSON text."""
        name, others = as_string(text), self._table.get("other_members", ())
        if not text:
            if self._keys and self._key not in (*self._keys.values(), *others):
                self.turn.problem("malformed", f"no value after {self._key!r}")
            return
        if not self._keys:
            self.turn.problem(*deviation(text))
            self.argue(as_object(text))
        elif self._key == self._keys["name"] and not self.is_open and name:
            self._commit(name.strip(WHITE_SPACE))
        elif self._key == self._keys["arguments"] and not (self.turn.arguments or self._early):
            if not text.startswith("{"):
                self.turn.problem(*deviation(text))
            if self.is_open:
                self.argue(as_object(text))
            else:
                self._early = as_object(text)
        elif self._key == self._keys.get("id") and not self._id:
            self._id = name
        elif self._key not in others or not self._says_nothing(text):
            self.turn.problem("extra_field", f"{self._key!r}: {text}")
            self._spare = self._spare or (text if text.startswith("{") else "")

    def _says_nothing(self, text: str) -> bool:
        """Say whether a member's value is a number, or the word for a call's type."""
        usual = ('"function"', "null", *self._table.get("other_values", ()))
        return text in usual or text.strip('"').isdecimal()

    def _commit(self, name: str) -> None:
        """The name is known: what was held is a call."""
        turn = self.turn
        expected = self.called or self._announced or not self._table.get("bare")
        known = name in (self.tools or ())
        is_none = not (known or is_name(name)) or not (known or expected or self.tools is None)
        if is_none and turn.held:
            self._give_up()
            return
        if self.is_open:
            self.end()
            turn.read = self.read_value
        start = turn.held.offset if turn.held else turn.offset + turn.position
        turn.release()
        self.text.after_marker = True
        self.start(name, start, turn.offset + turn.position, self._id)
        if self._early and next(iter(self._keys)) != "arguments":
            turn.problem("order", "the arguments stand before the name")
        self.argue(self._early)

    def _end_object(self, complete: bool = True) -> None:
        if not self.turn.arguments:
            self.argue(self._spare)
        self.end(complete, self._id)

    def _give_up(self) -> None:
        """There is no name: what was held is content."""
        turn, bare = self.turn, self._table.get("bare")
        at = turn.offset + turn.position
        end = turn.go_back()
        if self._announced or not bare:
            turn.problems.append(Problem(at, "no_name", "what looks like a call has no name"))
        self.text.mentioned = self.text.mentioned or not bare
        self._announced = False
        self.text.write(end)
        turn.read = self.text.read_text

    def _break_off(self, complete: bool = True) -> bool:
        """End a call whose object doesn't go on as one."""
        if self.is_open and self.turn.final:
            return False
        if self.is_open:
            self.turn.problem("malformed", "the call's object is not closed")
            self._end_object(complete)
        else:
            self._give_up()
        return True

    def end_of_text(self) -> None:
        """All text has come: what began as a call and has no name is no content."""
        turn = self.turn
        is_named = self._key == self._keys.get("name", "")
        sure = not self._table.get("bare") or self.called or self._announced or is_named
        if turn.held and sure and turn.read != self._foreign.read_call:
            turn.go_back()
            turn.problem("cut_off", turn.text[turn.position :])
            turn.position = len(turn.text)
            turn.read = self.text.read_rest

    def finish(self) -> None:
        """End a call that is cut off, or take it for content."""
        turn = self.turn
        if turn.held:
            self._give_up()
            events = turn.feed("")
            turn.events[:0] = events
        if self.is_open:
            rest = self._value.waiting if turn.read == self.read_value else ""
            rest += turn.text[turn.position :]
            turn.problem("cut_off", f"a call that ends in {rest!r}")
            if turn.read == self.read_value:
                self._value.close()
                self._take_member(self._value.collected or "")
            self._end_object(complete=False)


def object_text_roles(table: Format) -> Roles:
    """Return the markers in texts whose calls are objects."""
    return longest_first(unsorted_object_roles(table)) + code_roles(table)


def unsorted_object_roles(table: Format) -> Roles:
    """Return these markers, but for code, in the order in which they stand in the table."""
    calls = table["calls"]
    openings = calls.get("opening", ())
    heads = _object_heads(calls) if calls.get("bare") else []
    follows = [spaced(head) for head in heads] or [" {fence} {?[} {{", *map(spaced, openings[1:])]
    found = list(text_roles(table))
    for opening in (*openings[:1], *calls.get("other_openings", ())):
        found.append(("opening", (opening, follows)))
    found += foreign_roles(table)
    found += mention_roles(calls.get("mentions", ()))
    if heads and "members" in calls:
        found.append(("object", ("", heads)))
    return found + [("call_end", end) for end in calls.get("end", ())]


def begun_object_roles(table: Format) -> Roles:
    """Return the markers that a text can break off in: a word is text."""
    return [found for found in object_text_roles(table) if found[0] != "foreign_name"]


def _object_heads(calls: CallsFormat) -> list[str]:
    """Return how a call begins that nothing announces: with one of the keys that it can have."""
    keys = [*calls.get("members", {}).values(), *calls.get("other_members", ()), _WRAPPER]
    heads = [f'{{{{ "{key}"' for key in dict.fromkeys(keys)]
    return heads + [f"[ {head}" for head in heads]


def between_roles(table: Format) -> Roles:
    """Return what may stand between calls."""
    calls = table["calls"]
    closing = [spaced(closing) for closing in calls.get("closing", ())]
    found: list[tuple[str, Notation]] = [("object", "{comma}{fence} {?[} {{"), ("array_end", " ]")]
    found += [("inner_opening", spaced(opening)) for opening in calls.get("opening", ())[1:]]
    found += [("brackets", ("{brackets}", closing))] if closing else []
    return found + [("closing", notation) for notation in closing]


def member_roles(table: Format) -> Roles:
    """Return what a call's object consists of."""
    return [
        ("wrapper", f'{{comma}}"{_WRAPPER}" : {{{{'),
        ("member", '{comma}"{string}" :'),
        ("end", "{comma}}}"),
    ]
