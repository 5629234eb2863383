"""Facts -> the statements of a module that name its markers, and its tables of rules."""

from __future__ import annotations

import itertools
import re
import textwrap
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from turnspec.codegen.facts import FormatFacts, roles_in
from turnspec.codegen.rules import Marker, Row
from turnspec.engine.roles import Role
from turnspec.spec.characters import NOT_IN_KEYS, NOT_IN_NAMES

_LINE_LENGTH = 88
_LONGEST_LINE = 80  # of the names of roles
_WORTH_A_NAME = 24  # characters
#: How a marker is called, by what it does.
_NAMES = {
    "turn_start": "TURN",
    "turn_end": "TURN_CLOSE",
    "reasoning_start": "REASONING",
    "reasoning_end": "REASONING_CLOSE",
    "between": "BETWEEN",
    "content_start": "CONTENT",
    "content_end": "CONTENT_CLOSE",
    "special_token": "TOKEN",
    "lead": "LEAD",
    "broken_off": "BEGUN",
    "opening": "OPEN",
    "section_end": "CLOSE",
    "call": "HEAD",
    "other_call": "OTHER_HEAD",
    "short_call": "SHORT_HEAD",
    "call_end": "CALL_CLOSE",
    "argument": "ARGUMENT",
    "close": "VALUE_CLOSE",
    "guard": "GUARD",
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
    yield from textwrap.wrap(told, 88, subsequent_indent="# ")
    yield ""
    yield from (f"{name} = {text!r}" for text, name in names.items())
    ends = _tuple(_shown(text, names) for text in facts.turn_ends)
    yield f"TURN_ENDS{'' if facts.turn_ends else ': tuple[str, ...]'} = {ends}"


def table_statements(facts: FormatFacts, *, with_data: bool = False) -> Iterator[str]:
    """Yield the tables of rules, and what else a format says, with the markers' names.

    ``with_data`` gives all that the engine asks for, which needs no names.
    """
    names = {} if with_data else _marker_names(facts)
    followers = {} if with_data else _followers(facts, names)
    if followers:
        yield "\n# What has to follow some markers: one of these.\n"
        yield from _follower_statements(facts, names, followers)
    yield "\n# What can come next: the first rule that fits. In text, `stop` comes before all.\n"
    for table, rows in facts.tables.items():
        if with_data:
            yield f"{table} = {_tuple(_rule(row, names, followers) for row in rows)}"
        elif rows:
            yield f"{table} = {_table(table, rows, names, followers)}"
    others = list(_other_statements(facts, names, with_data=with_data))
    if others:
        yield "\n# What else the format says.\n"
        yield from others


def _other_statements(
    facts: FormatFacts, names: Mapping[str, str], *, with_data: bool
) -> Iterator[str]:
    for name, found in facts.markers.items():
        texts = found if isinstance(found, tuple) else (found,)
        shown = [_shown(text, names) for text in texts]
        yield f"{name} = {_tuple(shown) if isinstance(found, tuple) else shown[0]}"
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
    if len(f'Role = Enum("Role", "{words}")') <= _LINE_LENGTH:
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
    in_order = [*_NAMES.values(), "QUOTE"]
    return dict(
        sorted(names.items(), key=lambda named: in_order.index(named[1].rstrip("_0123456789")))
    )


def _is_variant(named: tuple[str, Row]) -> tuple[bool, bool, int]:
    """Return what puts an argument's usual beginning before those that have less, or more."""
    table, row = named
    is_argument = row.role == "argument"
    tags = row.marker.count("<") if is_argument else 0
    return is_argument, is_argument and table == "FIRST_ARGUMENT", tags


def _numbered(base: str, taken: Collection[str]) -> str:
    names = itertools.chain([base], (f"{base}_{number}" for number in itertools.count(2)))
    return next(name for name in names if name not in taken)


def _followers(facts: FormatFacts, names: Mapping[str, str]) -> dict[str, str]:
    """Return names for what has to follow markers, by the text of it.

    What is asked for more than once has one, and what makes a rule longer than a line.
    """
    rows = [row for table in facts.tables.values() for row in table if row.if_before]
    inner = [
        (row, _after_all(group, names, {})) for row in rows for group in _groups(row.if_before)
    ]
    told = Counter(text for _, text in inner)
    found: dict[str, str] = {}
    for row, text in [*((row, _after_all(row.if_before, names, {})) for row in rows), *inner]:
        is_long = len(_rule(row, names, found)) > _LINE_LENGTH - 5
        if text in found or not (is_long or (told[text] > 1 and len(text) > _WORTH_A_NAME)):
            continue
        found[text] = _numbered(f"{Role(row.role).name}_NEXT", found.values())
    return found


def _groups(markers: Sequence[Marker]) -> Iterator[Sequence[Marker]]:
    """Yield what has to follow a marker, after that of what follows within."""
    for marker in markers:
        if not isinstance(marker, str):
            yield from _groups(marker[1])
    yield markers


def _follower_statements(
    facts: FormatFacts, names: Mapping[str, str], followers: Mapping[str, str]
) -> Iterator[str]:
    """Yield the statements that name what has to follow markers, the inner ones first."""
    left = dict(followers)
    rows = (row for table in facts.tables.values() for row in table)
    for group in (group for row in rows for group in _groups(row.if_before)):
        if name := left.pop(_after_all(group, names, {}), ""):
            items = [_after(marker, names, followers) for marker in group]
            yield f"{name} = {_packed(name, items)}"


def _packed(name: str, items: Sequence[str]) -> str:
    """Return the expression for a tuple: in a line, or else in lines that are full."""
    if len(f"{name} = {_tuple(items)}") <= _LINE_LENGTH:
        return _tuple(items)
    lines: list[list[str]] = [[]]
    for item in items:
        if lines[-1] and len(f"    *{_tuple([*lines[-1], item])},") > _LINE_LENGTH:
            lines.append([])
        lines[-1].append(item)
    rows = (f"*{_tuple(line)}" if line[1:] else line[0] for line in lines)
    return f"({', '.join(rows)},)"


def _table(
    name: str, rows: Sequence[Row], names: Mapping[str, str], followers: Mapping[str, str]
) -> str:
    """Return the expression for a table: in a line, or else with a line for rules that are alike.

    These stand side by side, and differ in their markers alone.
    """
    alone = _tuple(_rule(row, names, followers) for row in rows)
    if len(f"{name} = {alone}") <= _LINE_LENGTH:
        return alone
    items: list[str] = []
    for (role, after), alike in itertools.groupby(rows, lambda row: (row.role, row.if_before)):
        left = list(alike)
        while left:
            sizes = range(len(left), 0, -1)
            lines = {size: _in_a_line(role, left[:size], after, names, followers) for size in sizes}
            size = next(it for it in sizes if it == 1 or len(lines[it]) <= _LINE_LENGTH - 5)
            items.append(lines[size] if size > 1 else _rule(left[0], names, followers))
            del left[:size]
    one = f"tuple{items[0][1:]}"
    return one if len(items) == 1 and len(f"{name} = {one}") <= _LINE_LENGTH else _tuple(items)


def _in_a_line(
    role: str,
    rows: Sequence[Row],
    after: Sequence[Marker],
    names: Mapping[str, str],
    followers: Mapping[str, str],
) -> str:
    """Return the expression for some rules that differ in their markers, within a table's."""
    markers = _tuple(_shown(row.marker, names) for row in rows)
    next_ = f", {_after_all(after, names, followers)}" if after else ""
    return f"*(Rule(Role.{Role(role).name}, it{next_}) for it in {markers})"


def _rule(row: Row, names: Mapping[str, str], followers: Mapping[str, str]) -> str:
    parts = [f"Role.{Role(row.role).name}", _shown(row.marker, names)]
    if row.if_before:
        parts.append(_after_all(row.if_before, names, followers))
    return f"Rule({', '.join(parts)})"


def _after_all(
    markers: Sequence[Marker], names: Mapping[str, str], followers: Mapping[str, str]
) -> str:
    text = _tuple(_after(other, names, {}) for other in markers)
    return followers.get(text) or _tuple(_after(other, names, followers) for other in markers)


def _after(marker: Marker, names: Mapping[str, str], followers: Mapping[str, str]) -> str:
    if isinstance(marker, str):
        return _shown(marker, names)
    text, after = marker
    return f"({_shown(text, names)}, {_after_all(after, names, followers)})"


def _shown(text: str, names: Mapping[str, str]) -> str:
    """Return the expression for a marker: names of its own, and what stands around them."""
    if text in names:
        return names[text]
    parts = [part for part in _any_of(tuple(names)).split(text) if part]
    if not any(part in names for part in parts):
        return repr(text)
    shown = (f"{{{names[part]}}}" if part in names else _in_format(part) for part in parts)
    return f'f"{"".join(shown)}"'


@lru_cache(1)  # all that a format shows is shown with the same names
def _any_of(texts: tuple[str, ...]) -> re.Pattern[str]:
    found = "|".join(map(re.escape, sorted(texts, key=len, reverse=True)))
    return re.compile(f"({found or '(?!)'})")


def _in_format(text: str) -> str:
    """Return a text as it stands in a format string in double quotes."""
    quoted = "".join(repr(sign)[1:-1] for sign in text)
    return quoted.replace('"', r"\"").replace("{", "{{").replace("}", "}}")
