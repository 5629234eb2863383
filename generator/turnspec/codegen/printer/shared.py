"""The engine as one script that parsers share: it reads a format by its facts, which it is given.

A parser that shares it is a table of its facts. All that these decide stands in one function, so
that each format has its own.
"""

from __future__ import annotations

import ast
import textwrap
from functools import cache
from inspect import signature
from typing import Any

from turnspec.codegen.compiled import engine_source, fact_values
from turnspec.codegen.facts import FormatFacts
from turnspec.codegen.printer import script
from turnspec.codegen.printer.kinds import Kind
from turnspec.codegen.printer.learning import name_of
from turnspec.codegen.printer.module import Module
from turnspec.engine import facts as engine_facts
from turnspec.engine.roles import ValueStyle

#: What copies take of the engine.
SHARED = (
    *("Facts", "FormatModule", "FormatTexts", "TextStream", "TurnParser", "load"),
    *(name for name in script.PUBLIC if name not in ("FORMAT", "Parser", "parse")),
)
#: What of the runtime stands beside what is printed, as it needs that.
_INSIDE = ("Parser", "parse", "feedPiece", "eventsOf", "ruleOf")
_LOAD_TOLD = "/** Return what reads a format, by what it says. */"
_OTHERS = ("FORMAT", "IS_TRACED", "OBSERVER")
_FACTS = ("FORMAT", *(name for name in engine_facts.__annotations__ if name not in _OTHERS))


class _Engine(Module):
    """Prints the engine; its facts are what it is given."""

    def _put_top(self, node: ast.stmt) -> None:
        name = name_of(node)
        if name == "FORMAT":
            self.put("const FORMAT = facts.FORMAT;")
        elif name in _FACTS:
            kind = self.globals[name]
            note = "" if kind.name == "class" else self.note(kind)
            self.put(f"const {name}{note} = {self._as_given(kind, name)};")
        else:
            super()._put_top(node)

    def _as_given(self, kind: Kind, name: str) -> str:
        """Return what is made of a fact that is given, if it is."""
        given = f'facts["{name}"] ?? '
        match kind:
            case Kind("array", [Kind("class", text="Rule")]):
                return f"({given}[]).map(ruleOf)"
            case Kind("map"):
                return f"new Map(Object.entries({given}{{}}))"
            case Kind("class", text=class_):
                types = f" as ConstructorParameters<typeof {class_}>" * self.is_typed
                return f'new {class_}(...(({given}["", false, false, ""]){types}))'
        return given + {"bool": "false", "str": '""'}.get(kind.name, "[]")


@cache
def engine_types() -> tuple[str, frozenset[str]]:
    """Return the types beside the engine's function that what it gives is of, and their names."""
    module = Module(engine_source(), script.BY_HAND, script.PUBLIC)
    return module.printed(script.TYPES).strip(), frozenset(module.needed)


@cache
def engine_script(*, is_typed: bool) -> str:
    """Return the whole engine: a function that takes a format's facts, and what it needs."""
    types, outer = engine_types()
    engine = _Engine(
        engine_source(), script.BY_HAND | outer, (), script.reserved_names(), is_typed=is_typed
    )
    printed = engine.printed(("FORMAT", *script.ROOTS))
    last = "\n".join(engine.last_lines)
    parts = script.needed([*script.names_in(printed + last), *script.PUBLIC, *SHARED, "ruleOf"])
    held = {name: parts.pop(name) for name in list(parts) if name in _INSIDE}
    inside = script.texts_of(held, (), is_typed=is_typed)
    text = "\n\n".join([printed, *inside, last, "return { FORMAT, Parser, parse };"])
    note, returns = (": Facts", ": FormatModule") if is_typed else ("", "")
    head = f"{_LOAD_TOLD}\nexport function load(facts{note}){returns} {{"
    function = f"{head}\n{textwrap.indent(text, '  ')}\n}}\n"
    others = script.texts_of(parts, SHARED, is_typed=is_typed)
    whole = "\n\n".join([*[types] * is_typed, *others, function])
    return whole if is_typed else script.INNER_DOC.sub("", whole)


def engine_declaration() -> str:
    """Return the declarations of the engine that scripts share."""
    load = f"{_LOAD_TOLD}\nexport declare function load(facts: Facts): FormatModule;"
    return script.declared([engine_types()[0], load], SHARED)


def facts_given(facts: FormatFacts) -> dict[str, Any]:
    """Return a format's facts as the engine takes them: those that say something, as JSON."""
    values = fact_values(facts)
    return {name: _plain(values[name]) for name in _FACTS if values[name]}


def _plain(value: Any) -> Any:
    # The engine's classes are made anew where it is run.
    match type(value).__name__:
        case "Rule":
            after = [_plain(value.if_before)] if value.if_before else []
            return [value.role.value, value.marker, *after]
        case "ValueStyle":
            return [getattr(value, name) for name in signature(ValueStyle).parameters]
        case "tuple" | "list":
            return [_plain(each) for each in value]
    return value
