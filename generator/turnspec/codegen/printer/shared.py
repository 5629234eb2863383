"""The engine as one script that parsers share: it reads a format by its facts, which it is given.

A parser that shares it is a table of its facts. All that these decide stands in one function, so
that each format has its own.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator
from functools import cache
from inspect import signature
from typing import Any

from turnspec.codegen.compiled import engine_source, fact_values
from turnspec.codegen.facts import FormatFacts
from turnspec.codegen.printer.kinds import Kind
from turnspec.codegen.printer.learning import name_of
from turnspec.codegen.printer.module import Module
from turnspec.codegen.printer.names import camel, reached
from turnspec.codegen.printer.script import (
    BY_HAND,
    PUBLIC,
    ROOTS,
    TYPES,
    Declaration,
    declared,
    names_in,
    needed,
    reserved_names,
    texts_of,
)
from turnspec.engine import facts as engine_facts
from turnspec.engine.roles import ValueStyle

#: What copies take of the engine.
SHARED = (
    *("Facts", "FormatModule", "FormatTexts", "TextStream", "TurnParser", "load"),
    *(name for name in PUBLIC if name not in ("FORMAT", "Parser", "parse")),
)
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
            made = self._as_given(kind)[1].format(f"facts.{name}")
            note = "" if kind.name == "class" else self.note(kind)
            self.put(f"const {name}{note} = {made};")
        else:
            super()._put_top(node)

    def facts(self) -> Iterator[str]:
        """Yield the members of what the engine is given."""
        for node in self.tops:
            match node:
                case ast.AnnAssign(target=ast.Name(id=name)) if name in _FACTS[1:]:
                    kind = self.annotations.kind(node.annotation)
                    yield f"  readonly {name}?: {self._as_given(kind)[0]};"

    def _as_given(self, kind: Kind) -> tuple[str, str]:
        """Return the type of a fact as it is given, and what is made of that."""
        match kind:
            case Kind("array", [Kind("class", text="Rule")]):
                return "readonly RuleRow[]", "({0} ?? []).map(ruleOf)"
            case Kind("map", [_, element]):
                return (
                    f"Readonly<Record<string, {element.shown}>>",
                    "new Map(Object.entries({0} ?? {{}}))",
                )
            case Kind("class", text=name):
                given = ", ".join(each.shown for each in self.classes[name].init.kinds.values())
                return f"readonly [{given}]", f'new {name}(...({{0}} ?? ["", false, false, ""]))'
        empty = {"bool": "false", "str": '""'}.get(kind.name, "[]")
        return kind.shown, f"{{0}} ?? {empty}"


@cache
def engine_types() -> tuple[str, frozenset[str]]:
    """Return the types beside the engine's function that what it gives is of, and their names."""
    module = Module(engine_source(), BY_HAND, PUBLIC)
    return module.printed(TYPES).strip(), frozenset(module.needed)


def engine_interface() -> str:
    """Return the type of what the engine is given."""
    engine = _Engine(engine_source(), BY_HAND)
    engine.learn()
    told = "/** What a format says. The first rule of a table that fits counts. */"
    members = ["  readonly FORMAT: FormatTexts;", *engine.facts()]
    return "\n".join([told, "export interface Facts {", *members, "}"])


@cache
def engine_script(*, is_typed: bool) -> str:
    """Return the whole engine: a function that takes a format's facts, and what it needs."""
    types, outer = engine_types()
    engine = _Engine(engine_source(), BY_HAND | outer, (), reserved_names(), is_typed=is_typed)
    printed = engine.printed(("FORMAT", *ROOTS))
    last = "\n".join(engine.last_lines)
    parts = needed([*names_in(printed + last), *PUBLIC, *SHARED, "ruleOf"])
    own = set(map(camel, engine.needed))
    inner = reached(own, lambda name: [each.name for each in parts if _is_inside(each, name)])
    inside = texts_of([each for each in parts if each.name in inner], (), is_typed=is_typed)
    outside = [each for each in parts if each.name not in inner]
    text = "\n\n".join([printed, *inside, last, "return { FORMAT, Parser, parse };"])
    note, returns = (": Facts", ": FormatModule") if is_typed else ("", "")
    head = f"{_LOAD_TOLD}\nexport function load(facts{note}){returns} {{"
    function = f"{head}\n{textwrap.indent(text, '  ')}\n}}\n"
    told = [types, engine_interface()] if is_typed else []
    return "\n\n".join([*told, *texts_of(outside, SHARED, is_typed=is_typed), function])


def _is_inside(part: Declaration, name: str) -> bool:
    """Tell whether a part of the runtime stands beside what was printed, as it needs that."""
    return name in part.words and part.name not in SHARED


def engine_declaration() -> str:
    """Return the declarations of the engine that scripts share."""
    load = f"{_LOAD_TOLD}\nexport declare function load(facts: Facts): FormatModule;"
    return declared([engine_types()[0], engine_interface(), load], SHARED)


def facts_given(facts: FormatFacts) -> dict[str, Any]:
    """Return a format's facts as the engine takes them: those that say something, as JSON."""
    values = fact_values(facts)
    return {name: _plain(values[name]) for name in _FACTS if values[name]}


def _plain(value: Any) -> Any:
    # The engine's classes are made anew where it is run.
    match type(value).__name__:
        case "Rule" | "GuardedRule":
            when = [value.when.value] if hasattr(value, "when") else []
            after = [_plain(value.if_before)] if value.if_before or when else []
            return [value.role.value, value.marker, *after, *when]
        case "ValueStyle":
            return [getattr(value, name) for name in signature(ValueStyle).parameters]
        case "tuple" | "list":
            return [_plain(each) for each in value]
    return value
