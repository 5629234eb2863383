"""Facts -> the source of a parser: the engine of `turnspec.engine`, compiled."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from types import CodeType, ModuleType
from typing import cast

from turnspec import engine
from turnspec.codegen.compiler.folding import folded
from turnspec.codegen.compiler.joining import joined, without_empty_sections
from turnspec.codegen.compiler.reaching import reached
from turnspec.codegen.compiler.values import Facts
from turnspec.codegen.facts import FormatFacts, Marker, Row, roles_in
from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.module_top import docstring
from turnspec.engine import facts as engine_facts
from turnspec.engine.roles import Role, When

#: The engine's files in a reader's order: what is the format's, and what every parser has alike.
OWN = (
    *("roles", "parser", "text", "objects", "calls", "json_arguments", "value_arguments"),
    *("text_arguments", "elements", "code", "other_syntax", "whole_arguments", "turn", "rules"),
)
COMMON = (
    *("results", "streams", "json_values", "unclosed"),
    *("other_values", "values", "types", "json_texts", "input", "markers", "special", "tools"),
)
#: What begins the common part.
BEGINS_COMMON = "# What follows is the same in every parser of this kind."
PUBLIC = (
    *("FORMAT", "ContentDelta", "Event", "Message", "Parser", "Problem", "ReasoningDelta"),
    *("ToolCall", "ToolCallDelta", "ToolCallEnd", "ToolCallStart", "parse"),
)
#: What users take of what they get.
_ATTRIBUTES = {
    *("feed", "finish", "message", "finish_reason", "to_dict", "to_delta", "type", "value"),
}
#: Methods that do nothing but give a value.
_PURE = {"_made"}
#: How a marker is called, by what it does.
_NAMES = {
    "turn_start": "TURN",
    "turn_end": "TURN_CLOSE",
    "reasoning_start": "REASONING",
    "reasoning_end": "REASONING_CLOSE",
    "between": "BETWEEN",
    "content_start": "CONTENT",
    "content_end": "CONTENT_CLOSE",
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


def compiled_module(
    facts: FormatFacts, samples: Sequence[str] = (), notes: Sequence[str] = ()
) -> str:
    """Return a module: what it says of itself, and its statements."""
    source = compiled_source(facts)
    head = docstring(facts, loaded(source), samples, notes)
    return f"{head}\n{source}"


def loaded(source: str) -> FormatModule:
    """Return what a module's statements make, without a file."""
    module = ModuleType("compiled_parser")
    exec(compile(source, "<compiled parser>", "exec"), vars(module))
    return cast(FormatModule, module)


def run_engine(facts: FormatFacts) -> FormatModule:
    """Return the engine as it is, run with a format's facts as variables."""
    module = ModuleType("turnspec.format_in_memory")
    names = vars(module)
    names |= {name: value for name, value in vars(engine_facts).items() if name.isupper()}
    roles, rest = _engine_code()
    exec(roles, names)
    names |= facts.values
    exec("\n".join(_tables(facts, with_data=True)), names)
    exec(rest, names)
    return cast(FormatModule, module)


@cache
def _engine_code() -> tuple[CodeType, CodeType]:
    """Return the engine in two parts: what tables are made of, and what reads with them."""
    head, bodies = _engine()
    roles = compile("\n\n".join([head, bodies[0]]), "<engine: roles>", "exec")
    rest = "\n\n".join(["from __future__ import annotations", *bodies[1:]])
    return roles, compile(rest, "<engine>", "exec")


def compiled_source(facts: FormatFacts) -> str:
    """Return the statements of a module, from its imports on."""
    head, bodies = _engine()
    known = _known(facts)
    own = [folded(body, known.of(body)) for body in bodies[: len(OWN)]]
    tables = "\n".join(_tables(facts))
    common = common_source(_Class.of(facts))
    parts = [_with_public_names(head, facts), own[0], tables, *own[1:], f"{BEGINS_COMMON}\n"]
    text = "\n\n".join([*parts, common])
    text = reached(text, _public(facts), _ATTRIBUTES, _PURE, BEGINS_COMMON)
    own_text, begins, _ = text.partition(BEGINS_COMMON)
    return f"{_formatted(without_empty_sections(own_text))}\n\n{begins}\n\n\n{common}"


#: The facts by which the common parts of parsers differ.
_CLASS_FACTS = (
    *("HAS_REASONING", "HAS_CALLS", "CALLS_ARE_OBJECTS", "ARGUMENTS", "HAS_ELEMENTS", "HAS_CODE"),
    *("HAS_OTHER_VALUES", "HAS_OPTIONAL_TEXTS", "HAS_FOLLOWERS", "READS_TAGS"),
)
#: What no parser without calls has.
_OF_CALLS = ("HAS_DRAFTS", "HAS_MENTIONS", "IS_BARE", "ARE_CALLS_ADDRESSED")


@dataclass(frozen=True, slots=True)
class _Class:
    """What decides which common part a parser has."""

    values: tuple[tuple[str, object], ...]
    empty: frozenset[str]  # tables

    @classmethod
    def of(cls, facts: FormatFacts) -> _Class:
        """Return a format's class. What calls can have, all of a class have."""
        values = {name: facts.values.get(name, False) for name in _CLASS_FACTS}
        if facts.values["HAS_CALLS"]:
            values |= {"HAS_OPTIONAL_TEXTS": True, "HAS_FOLLOWERS": True}
        else:
            values |= dict.fromkeys(_OF_CALLS, False)
        return cls(tuple(values.items()), facts.unused)


@cache
def common_source(kind: _Class) -> str:
    """Return the part that all parsers of a class have alike."""
    head, bodies = _engine()
    known = Facts(dict(kind.values), dict.fromkeys(kind.empty, False), frozenset())
    parts = [folded(body, known.of(body)) for body in bodies]
    parts.insert(len(OWN), f"{BEGINS_COMMON}\n")
    text = "\n\n".join([_with_public_names(head), *parts])
    text = reached(text, {*PUBLIC, "__all__"}, _ATTRIBUTES, _PURE)
    return _formatted(without_empty_sections(text.partition(BEGINS_COMMON)[2]))


def shared_source() -> str:
    """Return all that any parsers have in common, as a source of its own."""
    head, bodies = _engine()
    known = Facts({"HAS_OPTIONAL_TEXTS": True, "HAS_FOLLOWERS": True}, {}, frozenset())
    parts = [head, *(folded(body, known.of(body)) for body in bodies[len(OWN) :])]
    names = {name for part in bodies for name in re.findall(r"\w+", part)}
    return _formatted(reached("\n\n".join(parts), names, names))


def _public(facts: FormatFacts) -> set[str]:
    return {"__all__", *public_names(facts)}


def public_names(facts: FormatFacts | None = None) -> tuple[str, ...]:
    """Return the names that a parser makes public."""
    return PUBLIC


@cache
def _engine() -> tuple[str, Sequence[str]]:
    files = resources.files(engine)
    texts = [files.joinpath(f"{name}.py").read_text("utf-8") for name in (*OWN, *COMMON)]
    return joined(texts, engine.__name__)


def _with_public_names(head: str, facts: FormatFacts | None = None) -> str:
    names = "".join(f'    "{name}",\n' for name in public_names(facts))
    return f"{head}\n__all__ = [\n{names}]\n"


def _known(facts: FormatFacts) -> Facts:
    roles = roles_in(facts)
    cases = {row.when for rows in facts.tables.values() for row in rows}
    never = {f"Role.{role.name}" for role in Role if role.value not in roles}
    return Facts(
        values=facts.values,
        tables={
            **{name: bool(rows) for name, rows in facts.tables.items()},
            **{name: bool(data) for name, data in facts.data.items()},
        },
        never=never | {f"When.{case.name}" for case in When if case.name not in cases},
    )


def _tables(facts: FormatFacts, *, with_data: bool = False) -> Iterator[str]:
    """Yield the statements that name markers, and the tables of rules."""
    names = _marker_names(facts)
    yield f"FORMAT = {dict(facts.format)!r}\n"
    yield '# The markers. " " is any white space, "\\n" one line break or none, "{x}" a slot (see'
    yield "# SLOTS). {stop} is what ends a turn, and each text of the option `stop`.\n"
    yield from (f"{name} = {text!r}" for text, name in names.items())
    ends = "".join(f"{_shown(text, names)}, " for text in facts.turn_ends)
    yield f"TURN_ENDS: tuple[str, ...] = ({ends})"
    others = "".join(f"{names.get(text, repr(text))}, " for text in facts.texts)
    yield "#: A text holds a special token only if one of these does."
    yield f"TEXTS: tuple[str, ...] = ({others})"
    yield "#: What stands in a slot. Bounded, as a part of a marker is held back."
    yield f"SLOTS: dict[str, list[str]] = {dict(facts.slots)!r}"
    if facts.style:
        style = ", ".join(f"{name}={value!r}" for name, value in facts.style.items())
        yield f"VALUE_STYLE = ValueStyle({style})"
    yield from (f"{name} = {data!r}" for name, data in facts.data.items() if data or with_data)
    yield "\n# What can come next. The first rule that fits counts.\n"
    for table, rows in facts.tables.items():
        shown = "".join(f"{_rule(row, names)}, " for row in rows)
        yield f"{table}: tuple[Rule, ...] = ({shown})"


def _marker_names(facts: FormatFacts) -> dict[str, str]:
    """Return the names of the markers, each by its text."""
    names: dict[str, str] = {}
    rows = [row for table in facts.tables.values() for row in table]
    ends = [Row("turn_end", text) for text in facts.turn_ends]
    for row in (*rows, *ends):
        text = row.marker.strip()
        if row.role not in _NAMES or text in names or not text or "{stop" in text:
            continue
        name, number = _NAMES[row.role], 2
        while name in names.values():
            name, number = f"{_NAMES[row.role]}_{number}", number + 1
        names[text] = name
    return names


def _rule(row: Row, names: Mapping[str, str]) -> str:
    parts = [f"Role.{Role(row.role).name}", _shown(row.marker, names)]
    if row.if_before or row.when:
        parts.append(f"({''.join(f'{_after(other, names)}, ' for other in row.if_before)})")
    if row.when:
        parts.append(f"When.{row.when}")
    return f"{'GuardedRule' if row.when else 'Rule'}({', '.join(parts)})"


def _after(marker: Marker, names: Mapping[str, str]) -> str:
    if isinstance(marker, str):
        return _shown(marker, names)
    text, after = marker
    return f"({_shown(text, names)}, ({''.join(f'{_after(other, names)}, ' for other in after)}))"


def _shown(text: str, names: Mapping[str, str]) -> str:
    """Return the expression for a marker: names of its own, and what stands around them."""
    if text in names:
        return names[text]
    found = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    parts = [part for part in re.split(f"({found})", text) if part] if names else [text]
    if not any(part in names for part in parts):
        return repr(text)
    shown = (f"{{{names[part]}}}" if part in names else _in_format(part) for part in parts)
    return f'f"{"".join(shown)}"'


def _in_format(text: str) -> str:
    """Return a text as it stands in a format string in double quotes."""
    quoted = "".join(repr(sign)[1:-1] for sign in text)
    return quoted.replace('"', r"\"").replace("{", "{{").replace("}", "}}")


def _formatted(source: str) -> str:
    """Return statements as black lays them out: each by itself, as most are those of others too."""
    inside = re.sub(r"\n{3,}(?= )", "\n\n", source.strip("\n"))
    blocks = re.sub(r"\n{4,}", "\n\n\n", inside).split("\n\n\n")
    return "\n\n\n".join(_block(block).strip("\n") for block in blocks) + "\n"


@lru_cache(1024)
def _block(source: str) -> str:
    import black
    from black.mode import TargetVersion

    mode = black.Mode(line_length=88, target_versions={TargetVersion.PY310})
    return black.format_str(source, mode=mode)
