"""Arrays and objects that are written as elements within elements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from turnspec.engine.format import Format
from turnspec.engine.json_text import dump_json, load_json, without_halves
from turnspec.engine.markers import Found, Notation, Roles, leading_text, spaced
from turnspec.engine.schemas import json_types
from turnspec.engine.text_arguments import (
    TextArguments,
    behind_value,
    rests_of_call,
    turn_end_roles,
    value_roles,
)
from turnspec.engine.tools import options

_NESTED = {"array", "object"}


@dataclass(slots=True)
class Container:
    """An open array or object, with the schemas of what is in it."""

    closer: str  # its closing bracket
    members: dict[Any, Any]  # schemas by key, or by index
    others: Any  # the schema of all others
    filled: bool = False  # whether something is in it


class Elements:
    """Reads a value that may consist of elements. Its schema tells; else an opening tag does."""

    def __init__(self, arguments: TextArguments) -> None:
        compiled = arguments.calls.compiled
        self._arguments = arguments
        self._turn = arguments.turn
        self._calls = arguments.calls
        self._value = arguments.value
        self._table = compiled.table["arguments"]["elements"]
        self._first = compiled.markers(first_element_roles)
        self._markers = compiled.markers(element_roles)
        self._behind = compiled.markers(behind_element_roles)
        self._end = compiled.markers(value_roles)
        self._keyed = "{key}" in self._table["member_end"]
        self._closed_by_key = self._keyed and "{key}" in compiled.table["arguments"].get("end", "")
        self._schema: Any = None  # of the value of an element
        self._containers: list[Container] = []
        self._collecting = 0  # of these, the one that is collected: no schema tells its members
        self._path: list[str] = []  # what closes the elements that are open in them
        self._open: Counter[str] = Counter()  # how often each of these is open

    def read_opening(self) -> bool:
        """Read the beginning of a value: nested, if an element begins where one is expected."""
        value = self._value
        expected = value.types & _NESTED or (self._table.get("distinct") and not value.types)
        found = self._first.match(self._turn, final=False) if expected else None
        if found and not found.role:
            return False
        if found:
            self._begin_elements(found)
        else:
            self._begin_text()
        return True

    def _begin_text(self) -> None:
        self._value.begin()
        self._turn.read = self.read_element if self._path else self._arguments.read_value

    def _begin_elements(self, found: Found) -> None:
        kinds = self._value.types & _NESTED
        is_array = self._is_element(found)
        if "element_key" in self._table and len(kinds) == 1:
            is_array = "array" in kinds
        elif kinds and ("array" if is_array else "object") not in kinds:
            kind = "array" if is_array else "object"
            self._turn.problem("wrong_type", f"an {kind} is not expected")
        schema = self._schema if self._path else self._arguments.schema
        members, others = schemas_inside(schema, self._calls.parameters, is_array)
        self._calls.argue(self._value.before)
        if self._calls.collected is None and not (is_array or members or others):
            self._calls.collected = []
            self._collecting = len(self._containers)
        self._calls.argue("[" if is_array else "{")
        self._containers.append(Container("]" if is_array else "}", members, others))
        self._begin_element(found)

    def _is_element(self, found: Found) -> bool:
        """Say whether an opening tag is that of an array's element."""
        if "element_key" in self._table:
            return found["key"] == self._table["element_key"]
        return found.role == "element"

    def _begin_element(self, found: Found) -> None:
        self._tell_unexpected()
        self._turn.position = found.end
        container, key = self._containers[-1], found["key"]
        before = ", " if container.filled else ""
        if container.closer == "}":
            before += f"{dump_json(key)}: "
            if container.members and not container.others and key not in container.members:
                self._turn.problem("unknown_argument", f"an object has no {key!r}")
            self._schema = container.members.get(key, container.others)
        else:
            if key and key != self._table.get("element_key"):
                self._turn.problem("malformed", f"an array has no {key!r}")
            first = next(iter(container.members), 0)
            self._schema = container.members.pop(first, container.others)
        self._value.expect(json_types(self._schema, self._calls.parameters), before)
        self._path.append(found["key"] if self._keyed else "member" if key else "element")
        self._open[self._path[-1]] += 1
        self._turn.read = self.read_opening

    def read_element(self) -> bool:
        """Read the text of an element, up to what closes it."""
        found = self._next_marker()
        self._value.take(found.start if found else len(self._turn.text))
        if found is None or not found.role:
            self._value.let_flow(self._markers)
            return False
        if found.role in ("member", "element"):
            self._open_in_text(found)
            return True
        may_be_text = not self._value.types or "string" in self._value.types
        if found.role in ("member_end", "element_end") and may_be_text:
            behind = self._behind.match(self._turn, found.end, final=False)
            if behind and not behind.role:
                return False
            if behind is None:
                self._take_inner(found)
                return True
        if not self._end_elements(found):
            self._value.take(found.start + 1)
        return True

    def _open_in_text(self, found: Found) -> None:
        """An opening tag in an element's text begins another one, unless it is text."""
        known = self._is_known(found, self._containers[-1])
        is_text = (
            not known
            if self._table.get("distinct")
            else self._value.types <= {"string"} or not known
        )
        if not is_text:
            self._turn.problem("missing_marker", "an element is not closed")
            self._close_elements(len(self._path) - 1)
            self._begin_element(found)
            return
        if self._table.get("distinct"):
            self._turn.problem("inner_marker", f"{found.text!r} inside a value")
        self._value.take(found.end)

    def _take_inner(self, found: Found) -> None:
        """Take for text a closing tag behind which the format can't go on."""
        if self._table.get("distinct") or not self._keyed or self._open[self._closing_name(found)]:
            self._turn.problem("inner_marker", f"{found.text!r} inside a value")
        self._value.take(found.end)

    def read_elements(self) -> bool:
        """Read what stands between elements: the next one's beginning, or what closes them."""
        turn, arguments = self._turn, self._arguments
        found = self._next_marker()
        end = found.start if found else len(turn.text)
        arguments.unexpected.append(turn.text[turn.position : end])
        turn.position = end
        if found is None or not found.role:
            return False
        if found.role not in ("member", "element"):
            if not self._end_elements(found):
                turn.problem("stray_marker", f"{found.text!r} closes nothing")
                turn.position = found.end
            return True
        container = self._containers[-1]
        may_have = container.closer == "}" and (container.others or not container.members)
        if self._is_known(found, container) or may_have:
            self._begin_element(found)
        elif self._path and self._is_known(found, self._containers[-2]):
            turn.problem("missing_marker", "an element is not closed")
            self._close_elements(len(self._path) - 1)
            self._begin_element(found)
        elif not self._path and "lead" in self._table and found["key"] in arguments.other_keys:
            turn.problem("missing_marker", "a value is not closed")
            self._end_nested()
            turn.position = found.end
            arguments.begin_argument(found)
        else:
            self._begin_element(found)
        return True

    def _is_known(self, found: Found, container: Container) -> bool:
        """Say whether an element is one that a container has."""
        if container.closer == "}":
            return found["key"] in container.members
        return self._is_element(found)

    def _closing_name(self, found: Found) -> str:
        """Return what a closing tag shares with its opening tag, as the path has it."""
        return found["key"] if self._keyed else found.role.removesuffix("_end")

    def _next_marker(self) -> Found | None:
        found = self._markers.search(self._turn, final=False)
        if self._turn.final and found and not found.role:
            whole = self._markers.match(self._turn, found.start, final=True)
            return whole if whole and whole.role == "rest" else found
        return found

    def _end_elements(self, found: Found) -> bool:
        """End what a marker closes, with what is open inside; say whether it closes anything."""
        if found.role == "next" and self._turn.read == self.read_element:
            return False
        if found.role in ("rest", "next"):
            self._turn.problem("missing_marker", "a value is not closed")
            self._end_nested()
            self._turn.position = found.end
            return True
        name = self._closing_name(found)
        closes_all = self._closed_by_key and not self._open[name] and name == self._arguments.key
        if found.role == "outer" or closes_all:
            if self._path:
                self._turn.problem("missing_marker", "an element is not closed")
            self._end_nested()
            self._turn.read = self.read_closing
            return True
        if not self._open[name]:
            return False
        depth = len(self._path) - 1
        while self._path[depth] != name:
            depth -= 1
        if depth < len(self._path) - 1:
            self._turn.problem("missing_marker", "an element is not closed")
        self._close_elements(depth)
        self._turn.position = found.end
        return True

    def _close_elements(self, depth: int) -> None:
        """Close all elements but the first ones, as many as ``depth``."""
        if self._turn.read == self.read_element:
            self._value.end()
        self._tell_unexpected()
        while len(self._containers) > depth + 1:
            self._close_container()
        self._open.subtract(self._path[depth:])
        del self._path[depth:]
        self._containers[-1].filled = True
        self._turn.read = self.read_elements

    def _close_container(self) -> None:
        calls = self._calls
        calls.argue(self._containers.pop().closer)
        if calls.collected is not None and len(self._containers) == self._collecting:
            text, calls.collected = "".join(calls.collected), None
            calls.argue(with_repeated_joined(text))

    def _end_nested(self) -> None:
        """Close the whole value."""
        self._close_elements(0)
        self._close_container()
        self._turn.read = self._arguments.read_arguments

    def read_closing(self) -> bool:
        """Read what closes the value: behind its elements that is what closes any other."""
        found = self._end.match(self._turn, final=False)
        if found and not found.role:
            return False
        if found and found.role == "close":
            self._turn.position = found.end
        self._turn.read = self._arguments.read_arguments
        return True

    def _tell_unexpected(self) -> None:
        self._arguments.tell_unexpected("between elements", self._table.get("separator", ""))

    def finish(self) -> None:
        """Close what the end of the text leaves open."""
        if self._turn.read == self.read_opening:
            self._begin_text()
        if self._containers:
            self._end_nested()


def with_repeated_joined(text: str) -> str:
    """Return JSON text in which the values of a key that is repeated are the array of them."""
    try:
        value = load_json(text, object_pairs_hook=_joined)
    except ValueError:  # as it is nested too deeply
        return text
    return without_halves(dump_json(value))


def _joined(members: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, list[Any]] = {}
    for key, value in members:
        found.setdefault(key, []).append(value)
    return {key: values if len(values) > 1 else values[0] for key, values in found.items()}


def schemas_inside(
    schema: Any, root: Mapping[str, Any], is_array: bool
) -> tuple[dict[Any, Any], Any]:
    """Return the schemas of an object's members, and of others, or of an array's elements."""
    members: dict[Any, Any] = {}
    others = None
    for option in options(schema, root):
        if is_array:
            members |= enumerate(option.get("prefixItems") or [])
        else:
            members |= option.get("properties") or {}
        others = others or option.get("items" if is_array else "additionalProperties")
    return members, others


def first_element_roles(table: Format) -> Roles:
    """Return the opening tags with which a nested value begins."""
    return [(role, spaced(notation)) for role, notation in _openings(table)]


def element_roles(table: Format) -> Roles:
    """Return what may stand between elements, or end one."""
    arguments, elements = table["arguments"], table["arguments"]["elements"]
    closings, openings = _closings(table), _openings(table)
    lead = elements.get("lead")
    found: list[tuple[str, Notation]] = []
    if rests := rests_of_call(table):
        found += [("rest", (f"{lead} ", rests))] if lead else []
        found.append(("rest", ("", rests)))
    found += turn_end_roles(table)
    end = arguments.get("end", "")
    if "{key}" not in end and end not in [notation for _, notation in closings]:
        found.append(("outer", (end, behind_value(table))))
    if lead is None and any(map(str.isalnum, leading_text(arguments["start"]))):
        found.append(("next", ("", [arguments["start"]])))
    return [*found, *closings, *openings]  # tags with a key look like many others


def behind_element_roles(table: Format) -> Roles:
    """Return what may stand behind an element's closing tag."""
    arguments = table["arguments"]
    tags = [notation for _, notation in (*_openings(table), *_closings(table))]
    texts = [leading_text(tag) for tag in (*tags, arguments["start"], arguments.get("end", ""))]
    texts += [*table["calls"].get("closing", ())[:1], arguments["elements"].get("separator", "")]
    return [("behind", spaced(text)) for text in dict.fromkeys(texts) if text]


def _openings(table: Format) -> list[tuple[str, str]]:
    elements = table["arguments"]["elements"]
    found = [("element", elements["element_start"])] if "element_start" in elements else []
    return [*found, ("member", elements["member_start"])]


def _closings(table: Format) -> list[tuple[str, str]]:
    elements = table["arguments"]["elements"]
    found = [("element_end", elements["element_end"])] if "element_end" in elements else []
    return [("member_end", elements["member_end"]), *found]
