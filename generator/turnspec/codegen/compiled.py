"""Facts -> the source of a parser: the engine of `turnspec.reading`, compiled."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from importlib import resources
from types import ModuleType
from typing import cast

from turnspec import reading
from turnspec.codegen.compiler.folding import folded
from turnspec.codegen.compiler.joining import joined, without_empty_sections
from turnspec.codegen.compiler.reaching import reached
from turnspec.codegen.compiler.values import Facts
from turnspec.codegen.facts import FormatFacts, Row, roles_in
from turnspec.codegen.loading import FormatModule
from turnspec.codegen.module_top import docstring
from turnspec.reading.roles import Role

#: The engine's files in a reader's order: what is the format's, and what every parser has alike.
OWN = ("roles", "parser", "text", "turn", "rules")
COMMON = ("results", "streams", "input", "markers", "special", "tools")
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
#: How a marker is called, by what it does.
_NAMES = {
    "turn_start": "TURN_START",
    "turn_end": "TURN_END",
    "reasoning_start": "REASONING_START",
    "reasoning_end": "REASONING_CLOSE",
    "between": "BETWEEN",
    "content_start": "CONTENT_START",
    "content_end": "CONTENT_CLOSE",
    "lead": "LEAD",
    "broken_off": "BEGUN",
}


def compiled_module(
    facts: FormatFacts, samples: Sequence[str] = (), notes: Sequence[str] = ()
) -> str:
    """Return a module: what it says of itself, and its statements."""
    source = compiled_source(facts)
    head = docstring(facts, _run(source), samples, notes)
    return f"{head}\n{source}"


def _run(source: str) -> FormatModule:
    """Return what a module's statements make, without a file."""
    module = ModuleType("compiled_parser")
    exec(compile(source, "<compiled parser>", "exec"), vars(module))
    return cast(FormatModule, module)


def compiled_source(facts: FormatFacts) -> str:
    """Return the statements of a module, from its imports on."""
    head, bodies = _engine()
    tables = "\n".join(_tables(facts))
    own = [bodies[0], tables, *bodies[1 : len(OWN)]]
    common = bodies[len(OWN) :]
    text = "\n\n".join([_with_public_names(head), *own, f"{BEGINS_COMMON}\n", *common])
    text = reached(folded(text, _known(facts)), {*PUBLIC, "__all__"}, _ATTRIBUTES)
    top, begins, rest = without_empty_sections(text).partition(BEGINS_COMMON)
    return f"{_formatted(top)}\n\n{begins}\n\n\n{_formatted(rest)}"


@cache
def _engine() -> tuple[str, Sequence[str]]:
    files = resources.files(reading)
    texts = [files.joinpath(f"{name}.py").read_text("utf-8") for name in (*OWN, *COMMON)]
    return joined(texts, reading.__name__)


def _with_public_names(head: str) -> str:
    names = "".join(f'    "{name}",\n' for name in PUBLIC)
    return f"{head}\n__all__ = [\n{names}]\n"


def _known(facts: FormatFacts) -> Facts:
    roles = roles_in(facts)
    return Facts(
        values=facts.values,
        tables={
            **{name: bool(rows) for name, rows in facts.tables.items()},
            "WORDS": bool(facts.words),
        },
        never={f"Role.{role.name}" for role in Role if role.name not in roles},
    )


def _tables(facts: FormatFacts) -> Iterator[str]:
    """Yield the statements that name markers, and the tables of rules."""
    names = _marker_names(facts)
    yield f"FORMAT = {dict(facts.format)!r}\n"
    yield '# The markers. " " is any white space, "\\n" one line break or none, "{x}" a slot.'
    yield "# {stop} is what ends a turn, and each text of the option `stop`.\n"
    yield from (f"{name} = {text!r}" for text, name in names.items())
    ends = "".join(f"{names[text]}, " for text in facts.turn_ends)
    yield f"TURN_ENDS: tuple[str, ...] = ({ends})"
    others = "".join(f"{names.get(text, repr(text))}, " for text in facts.texts)
    yield "#: A text holds a special token only if one of these does."
    yield f"TEXTS: tuple[str, ...] = ({others})"
    yield "#: What stands for a sign in a marker. Bounded, as a part of a marker is held back."
    yield f"SLOTS: dict[str, str] = {dict(facts.slots)!r}"
    if facts.words:
        yield f"WORDS = {set(facts.words)!r}"
    yield "\n# What can come next. The first rule that fits counts.\n"
    for table, rows in facts.tables.items():
        shown = "".join(f"{_rule(row, names)}, " for row in rows)
        yield f"{table} = ({shown})"


def _marker_names(facts: FormatFacts) -> dict[str, str]:
    """Return the names of the markers, each by its text."""
    names: dict[str, str] = {}
    rows = [row for table in facts.tables.values() for row in table]
    ends = [Row("turn_end", text) for text in facts.turn_ends]
    for row in (*rows, *ends):
        if row.marker in names or "{stop}" in row.marker:
            continue
        name, number = _NAMES[row.role], 2
        while name in names.values():
            name, number = f"{_NAMES[row.role]}_{number}", number + 1
        names[row.marker] = name
    return names


def _rule(row: Row, names: dict[str, str]) -> str:
    marker = names.get(row.marker, repr(row.marker))
    before = "".join(f"{text!r}, " for text in row.if_before)
    return f"Rule(Role.{row.role.upper()}, {marker}{f', ({before})' if before else ''})"


def _formatted(source: str) -> str:
    """Return statements as black lays them out: each by itself, as most are those of others too."""
    blocks = re.sub(r"\n{4,}", "\n\n\n", source.strip("\n")).split("\n\n\n")
    return "\n\n\n".join(_block(block).strip("\n") for block in blocks) + "\n"


@lru_cache(1024)
def _block(source: str) -> str:
    import black
    from black.mode import TargetVersion

    mode = black.Mode(line_length=88, target_versions={TargetVersion.PY310})
    return black.format_str(source, mode=mode)
