"""The rules for all schemas of a request, with names that no other rule has."""

from __future__ import annotations

import marshal
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache

from turnspec.grammar.answers import answer_grammar
from turnspec.grammar.call_text import value_ends
from turnspec.grammar.notations import Notation
from turnspec.grammar.request import Function, plain_key
from turnspec.grammar.rule_names import RuleNames, slug
from turnspec.grammar.schema import SchemaGrammar, compiled_schema
from turnspec.grammar.schema_checks import Findings, Schema, checked
from turnspec.grammar.tagged import argument_notation
from turnspec.grammar.text import Rule
from turnspec.spec.calls import Tools
from turnspec.spec.characters import call_ends, is_name, key_ends
from turnspec.spec.problems import Problem
from turnspec.spec.words import SlotKind

#: How many schemas of tools are kept, of so many bytes each.
_REMEMBERED, _LONGEST_KEY = 512, 32_000


@dataclass(frozen=True, slots=True)
class CallSyntax:
    """How calls of real tools are written: their arguments, and what ends a name."""

    arguments: Notation
    name_ends: str

    @classmethod
    def of(cls, tools: Tools) -> CallSyntax:
        """Return how a format writes calls."""
        ends = value_ends(tools, known=True)
        arguments = argument_notation(tools.arguments, ends, key_ends(tools))
        return cls(arguments, call_ends(tools, SlotKind.NAME))


class RememberedSchemas:
    """What the schemas of tools are as rules, by their content: most requests bring known ones."""

    def __init__(self, syntax: CallSyntax | None) -> None:
        """Take how the format writes calls, if it does; the last schemas are kept."""
        self._syntax = syntax
        self._checked = lru_cache(_REMEMBERED)(
            lambda key, loosen: checked(marshal.loads(key), loosen=loosen)
        )
        self._compiled = lru_cache(_REMEMBERED)(
            lambda key, *given: self._by_itself(marshal.loads(key), *given)
        )

    def findings(self, schema: Schema, *, loosen: bool) -> Findings:
        """Return what is wrong with a schema, as `checked` does."""
        key = plain_key(schema, _LONGEST_KEY)
        return self._checked(key, loosen) if key else checked(schema, loosen=loosen)

    def compiled(self, schema: Schema, name: str, *, loosen: bool) -> SchemaGrammar | list[Problem]:
        """Return the rules for a tool's arguments, as they are where no other rule has a name."""
        key = plain_key(schema, _LONGEST_KEY)
        if key:
            return self._compiled(key, name, loosen)
        return self._by_itself(schema, name, loosen)

    def among(
        self, schema: Schema, name: str, names: RuleNames, *, loosen: bool
    ) -> SchemaGrammar | list[Problem]:
        """Return the rules for a tool's arguments, with names that no other rule has."""
        assert self._syntax is not None
        how = self._syntax.arguments
        return compiled_schema(
            schema, name, how, closed=True, only="object", names=names, loosen=loosen
        )

    def _by_itself(self, schema: Schema, name: str, loosen: bool) -> SchemaGrammar | list[Problem]:
        return self.among(schema, name, RuleNames([name]), loosen=loosen)


@dataclass(slots=True)
class BoundSchemas:
    """The rules for the schemas so far, and what is to be said of these.

    ``loosen`` is as in a `GrammarRequest`. Tools with equal schemas share their rules.
    """

    names: RuleNames
    loosen: bool
    remembered: RememberedSchemas
    entries: dict[bytes, tuple[str, SchemaGrammar | list[Problem]]] = field(default_factory=dict)
    rules: list[Rule] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notices: list[Problem] = field(default_factory=list)

    def arguments(self, function: Function, syntax: CallSyntax) -> str:
        """Add the rules for a tool's arguments and return the name of the first.

        The function's schema has been checked.
        """
        if not is_name(function.name, syntax.name_ends):
            message = f"the name {function.name!r} cannot be written in this format"
            self.problems.append(Problem(message, file="tools", path=function.path))
            return ""
        key = plain_key(function.parameters, _LONGEST_KEY) or b""
        if key in self.entries:
            name, found = self.entries[key]
            self._add(found, "tools", function.path, is_known=True)
            return name
        name, found = self._compiled(function)
        self._add(found, "tools", function.path)
        self.entries |= {key: (name, found)} if key else {}
        return name

    def _compiled(self, function: Function) -> tuple[str, SchemaGrammar | list[Problem]]:
        """Return the rules for a tool's arguments, and the name of the first."""
        name, schema = f"tool-{slug(function.name)}", function.parameters
        found = self.remembered.compiled(schema, name, loosen=self.loosen)
        if isinstance(found, list) or self.names.take([rule.name for rule in found.rules]):
            return name, found
        name = self.names.free(name)
        return name, self.remembered.among(schema, name, self.names, loosen=self.loosen)

    def answer(self, schema: Schema, markers: Iterable[str]) -> None:
        """Check the schema of an answer, and add the rules for it."""
        findings = checked(schema, loosen=self.loosen)
        self.notices += (replace(notice, file="response schema") for notice in findings.notices)
        self._add(list(findings.problems), "response schema", "#")
        if findings.usable:
            found = answer_grammar(schema, markers, self.names, loosen=self.loosen)
            self._add(found, "response schema", "#")

    def _add(
        self, found: SchemaGrammar | list[Problem], file: str, path: str, *, is_known: bool = False
    ) -> None:
        remarks = found if isinstance(found, list) else found.notices
        placed = [replace(r, file=file, path=path + r.path.removeprefix("#")) for r in remarks]
        if isinstance(found, list):
            self.problems += placed
            return
        self.notices += placed
        self.rules += () if is_known else found.rules
