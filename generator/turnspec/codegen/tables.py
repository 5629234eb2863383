"""Facts -> the statements of a module that name its markers, and its tables of rules."""

from __future__ import annotations

import itertools
import re
import textwrap
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from turnspec.codegen.compiler.tidying import in_full_lines
from turnspec.codegen.facts import FormatFacts, roles_in
from turnspec.codegen.layout import LINE_LENGTH
from turnspec.codegen.rules import Marker, Row
from turnspec.engine.roles import Role
from turnspec.spec.characters import NOT_IN_KEYS, NOT_IN_NAMES

_LONGEST_LINE = 80  # of the names of roles
_WORTH_A_NAME = 24  # characters
#: How a marker is called, by what it does.
_NAMES = {
    **{"turn_start": "TURN", "turn_end": "TURN_CLOSE"},
    **{"reasoning_start": "REASONING", "reasoning_end": "REASONING_CLOSE", "between": "BETWEEN"},
    **{"content_start": "CONTENT", "content_end": "CONTENT_CLOSE", "special_token": "TOKEN"},
    **{"lead": "LEAD", "broken_off": "BEGUN", "opening": "OPEN", "section_end": "CLOSE"},
    **{"call": "HEAD", "other_call": "OTHER_HEAD", "short_call": "SHORT_HEAD"},
    **{"call_end": "CALL_CLOSE", "argument": "ARGUMENT", "close": "VALUE_CLOSE", "guard": "GUARD"},
}
#: How it is called by the table that it stands in.
_NAMES_OF_TABLES = {"AT_RAW_START": "QUOTE", "AT_RAW_END": "QUOTE", "AT_CALL_START": "OPEN"}

#: The classes of signs that modules name.
_CLASSES = {
    "NOT_IN_NAMES": (
        NOT_IN_NAMES,
        "What a name doesn't hold. Letters, marks and digits of all scripts are left.",
    ),
    "NOT_IN_KEYS": (NOT_IN_KEYS, "What a key doesn't hold: controls, and what nobody sees."),
}


#: How markers are written.
_OF_SLOTS = (
    ' "{x}" is a slot (see SLOTS), "{?x}" the text x or nothing (told, but not in what closes).'
)
_NOTATION = (
    '# The markers. " " is any white space, "\\n" one line break or none, "{{" a brace.'
    + _OF_SLOTS
    + " {stop} is what ends a turn, and each text of the option `stop`."
)


def marker_statements(facts: FormatFacts) -> Iterator[str]:
    """Yield the statements that name a format and its markers."""
    names = _marker_names(facts)
    yield f"FORMAT = {dict(facts.format)!r}\n"
    told = _NOTATION if facts.slots else _NOTATION.replace(_OF_SLOTS, "")
    has_numbers = any(name.endswith("_2") for name in names.values())
    told += " A number tells markers of one kind apart." * has_numbers
    told += " {stop 2} has two signs or more." * bool(re.search(r"\{stop \d", repr(facts.tables)))
    yield from textwrap.wrap(told, LINE_LENGTH, subsequent_indent="# ")
    yield ""
    yield from (f"{name} = {text!r}" for text, name in names.items())
    ends = _tuple(map(_Expressions(names).marker, facts.turn_ends))
    yield f"TURN_ENDS{'' if facts.turn_ends else ': tuple[str, ...]'} = {ends}"


def table_statements(facts: FormatFacts, *, with_data: bool = False) -> Iterator[str]:
    """Yield the tables of rules, and what else a format says, with the markers' names.

    ``with_data`` gives all that the engine asks for, which needs no names.
    """
    shown = _Expressions({}) if with_data else _named(facts)
    if shown.followers:
        yield "\n# What has to follow some markers: one of these.\n"
        yield from _follower_statements(facts, shown)
    yield "\n# What can come next: the first rule that fits. In text, `stop` comes before all.\n"
    for table, rows in facts.tables.items():
        if with_data:
            yield f"{table} = {_tuple(map(shown.rule, rows))}"
        elif rows:
            yield f"{table} = {_table(table, rows, shown)}"
    others = list(_other_statements(facts, shown, with_data=with_data))
    if others:
        yield "\n# What else the format says.\n"
        yield from others


def _other_statements(facts: FormatFacts, shown: _Expressions, *, with_data: bool) -> Iterator[str]:
    for name, found in facts.markers.items():
        text = shown.marker(found) if isinstance(found, str) else _tuple(map(shown.marker, found))
        yield f"{name} = {text}"
    if facts.style:
        style = ", ".join(f"{name}={value!r}" for name, value in facts.style.items())
        yield f"VALUE_STYLE = ValueStyle({style})"
    for name, (classes, told) in _CLASSES.items() if facts.slots or with_data else ():
        yield f"#: {told}"
        yield f"{name} = ({' '.join(_raw_lines(classes))})"
    for name, data in facts.data.items():
        if data or with_data:
            yield f"{name} = {_expression(data) if isinstance(data, str) else repr(data)}"
    if facts.slots or with_data:
        yield "#: What stands in a slot. Bounded, as a part of a marker is held back."
        a_name = facts.data["NAME"]  # so that the same text is compiled once
        slots = (
            f"{it!r}: [{', '.join('NAME' if x == a_name else _expression(x) for x in steps)}]"
            for it, steps in facts.slots.items()
        )
        yield f"SLOTS: dict[str, list[str]] = {{{', '.join(slots)}}}"


def _raw_lines(text: str) -> Iterator[str]:
    """Yield raw literals for a long text of escapes, each as long as a line allows."""
    line = ""
    for part in re.findall(r"\\?[^\\]+", text):
        if len(line + part) > _LONGEST_LINE:
            yield f'r"{line}"'
            line = ""
        line += part
    yield f'r"{line}"'


def _expression(text: str) -> str:
    """Return the literal for a regular expression, which names the class that it holds."""
    if not text.isprintable() or text.endswith("\\") or "\0" in text:
        return repr(text)
    for name, (classes, _) in _CLASSES.items():
        if classes in text:
            rest = text.replace(classes, "\0").replace("{", "{{").replace("}", "}}")
            return 'rf"' + rest.replace('"', r"\"").replace("\0", f"{{{name}}}") + '"'
    if "\\" in text and '"' not in text:
        return f'r"{text}"'
    return repr(text)


def role_statement(facts: FormatFacts) -> str:
    """Return the statement that makes the roles of a format's markers."""
    words = " ".join(role.name for role in Role if role.value in roles_in(facts))
    lines = textwrap.wrap(words, _LONGEST_LINE)
    if len(f'Role = Enum("Role", "{words}")') <= LINE_LENGTH:
        return f'Role = Enum("Role", "{words}")\n'
    shown = [f'    "{line} "' for line in lines[:-1]] + [f'    "{lines[-1]}",']
    return "\n".join(["Role = Enum(", '    "Role",', *shown, ")", ""])


def _tuple(items: Iterable[str]) -> str:
    """Return the expression for a tuple, without a comma that would keep it in many lines."""
    found = list(items)
    return f"({found[0]},)" if len(found) == 1 else f"({', '.join(found)})"


def _marker_names(facts: FormatFacts) -> dict[str, str]:
    """Return the names of the markers, each by its text."""
    names: dict[str, str] = {}
    rows = [(name, row) for name, table in facts.tables.items() for row in table]
    ends = [("", Row("turn_end", text)) for text in facts.turn_ends]
    for table, row in (*sorted(rows, key=_is_variant), *ends):
        text = row.marker.strip()
        is_joined = (table, row.role) == ("IN_VALUE", "call")  # of a head and an argument
        base = "" if is_joined else _NAMES_OF_TABLES.get(table, _NAMES.get(row.role, ""))
        if not base or text in names or not text or "{stop" in text:
            continue
        names[text] = _numbered(base, names.values())
    order = [*_NAMES.values(), "QUOTE"]
    return dict(sorted(names.items(), key=lambda it: order.index(it[1].rstrip("_0123456789"))))


def _is_variant(named: tuple[str, Row]) -> tuple[bool, bool, int]:
    """Return what puts an argument's usual beginning before those that have less, or more."""
    table, row = named
    is_argument = row.role == "argument"
    tags = row.marker.count("<") if is_argument else 0
    return is_argument, is_argument and table == "FIRST_ARGUMENT", tags


def _numbered(base: str, taken: Collection[str]) -> str:
    names = itertools.chain([base], (f"{base}_{number}" for number in itertools.count(2)))
    return next(name for name in names if name not in taken)


@dataclass(frozen=True, slots=True)
class _Expressions:
    """Writes rules, with names for markers and for what has to follow these, each by its text."""

    names: Mapping[str, str]
    followers: dict[str, str] = field(default_factory=dict)

    def marker(self, text: str) -> str:
        """Return the expression for a marker: names, and what stands around them."""
        names = self.names
        if text in names:
            return names[text]
        parts = [part for part in _any_of(tuple(names)).split(text) if part]
        if not any(part in names for part in parts):
            return repr(text)
        shown = (f"{{{names[part]}}}" if part in names else _in_format(part) for part in parts)
        return f'f"{"".join(shown)}"'

    def follower(self, marker: Marker) -> str:
        if isinstance(marker, str):
            return self.marker(marker)
        text, after = marker
        return f"({self.marker(text)}, {self.following(after)})"

    def unnamed(self, markers: Sequence[Marker]) -> str:
        """Return the expression for what has to follow a marker, which has no name itself."""
        return _tuple(map(_Expressions(self.names).follower, markers))

    def following(self, markers: Sequence[Marker]) -> str:
        name = self.followers.get(self.unnamed(markers)) if self.followers else None
        return name or _tuple(map(self.follower, markers))

    def rule(self, row: Row) -> str:
        after = f", {self.following(row.if_before)}" if row.if_before else ""
        return f"Rule(Role.{Role(row.role).name}, {self.marker(row.marker)}{after})"

    def rules(self, alike: Sequence[Row]) -> str:
        """Return the expression for rules that differ in their markers, within a table's."""
        first, *others = alike
        if not others:
            return self.rule(first)
        markers = _tuple(self.marker(row.marker) for row in alike)
        next_ = f", {self.following(first.if_before)}" if first.if_before else ""
        return f"*(Rule(Role.{Role(first.role).name}, it{next_}) for it in {markers})"


def _named(facts: FormatFacts) -> _Expressions:
    """Return what writes a format's rules with names.

    What has to follow markers has one if it is asked for more than once, or makes a rule longer
    than a line.
    """
    shown = _Expressions(_marker_names(facts))
    rows = [row for table in facts.tables.values() for row in table if row.if_before]
    inner = [(row, group) for row in rows for group in _groups(row.if_before)]
    told, found = Counter(shown.unnamed(group) for _, group in inner), shown.followers
    for row, group in [*((row, row.if_before) for row in rows), *inner]:
        text = shown.unnamed(group)
        is_long = len(shown.rule(row)) > LINE_LENGTH - 5
        if text not in found and (is_long or (told[text] > 1 and len(text) > _WORTH_A_NAME)):
            found[text] = _numbered(f"{Role(row.role).name}_NEXT", found.values())
    return shown


def _groups(markers: Sequence[Marker]) -> Iterator[Sequence[Marker]]:
    """Yield what has to follow a marker, after that of what follows within."""
    for marker in markers:
        if not isinstance(marker, str):
            yield from _groups(marker[1])
    yield markers


def _follower_statements(facts: FormatFacts, shown: _Expressions) -> Iterator[str]:
    """Yield the statements that name what has to follow markers, the inner ones first."""
    left = dict(shown.followers)
    rows = (row for table in facts.tables.values() for row in table)
    for group in (group for row in rows for group in _groups(row.if_before)):
        if name := left.pop(shown.unnamed(group), ""):
            items = list(map(shown.follower, group))
            is_long = len(line := f"{name} = {_tuple(items)}") > LINE_LENGTH
            yield f"{name} = ({', '.join(in_full_lines(items))},)" if is_long else line


def _table(name: str, rows: Sequence[Row], shown: _Expressions) -> str:
    """Return the expression for a table: in a line, or else with a line for rules that are alike.

    These stand side by side, and differ in their markers alone.
    """
    alone = _tuple(map(shown.rule, rows))
    if len(f"{name} = {alone}") <= LINE_LENGTH:
        return alone
    items: list[str] = []
    for _, alike in itertools.groupby(rows, lambda row: (row.role, row.if_before)):
        left = list(alike)
        while left:
            lines = ((size, shown.rules(left[:size])) for size in range(len(left), 0, -1))
            fit = (it for it in lines if it[0] == 1 or len(it[1]) <= LINE_LENGTH - 5)
            size, line = next(fit)
            items.append(line)
            del left[:size]
    one = f"tuple{items[0][1:]}"
    return one if len(items) == 1 and len(f"{name} = {one}") <= LINE_LENGTH else _tuple(items)


@lru_cache(1)  # all that a format shows is shown with the same names
def _any_of(texts: tuple[str, ...]) -> re.Pattern[str]:
    found = "|".join(map(re.escape, sorted(texts, key=len, reverse=True)))
    return re.compile(f"({found or '(?!)'})")


def _in_format(text: str) -> str:
    """Return a text as it stands in a format string in double quotes."""
    quoted = "".join(repr(sign)[1:-1] for sign in text)
    return quoted.replace('"', r"\"").replace("{", "{{").replace("}", "}}")
