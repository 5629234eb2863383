"""The rules for all schemas of a request, with names that no other rule has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from turnspec.grammar.answers import answer_grammar
from turnspec.grammar.calls import value_ends
from turnspec.grammar.notations import Notation
from turnspec.grammar.request import Function
from turnspec.grammar.rule_names import RuleNames, slug
from turnspec.grammar.schema import SchemaGrammar, compiled_schema
from turnspec.grammar.schema_checks import Schema, checked
from turnspec.grammar.tagged import argument_notation
from turnspec.grammar.text import Rule
from turnspec.spec.characters import call_ends, is_name, key_ends
from turnspec.spec.model import SlotKind, Tools
from turnspec.spec.problems import Problem


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


@dataclass(slots=True)
class BoundSchemas:
    """The rules for the schemas so far, and what is to be said of these.

    ``loosen`` is as in a `GrammarRequest`.
    """

    names: RuleNames
    loosen: bool
    plain: dict[object, str] = field(default_factory=dict)
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
        name = self.names.free(f"tool-{slug(function.name)}")
        found = compiled_schema(
            function.parameters,
            name,
            syntax.arguments,
            closed=True,
            only="object",
            names=self.names,
            plain=self.plain,
            loosen=self.loosen,
        )
        self._add(found, "tools", function.path)
        return name

    def answer(self, schema: Schema, markers: Iterable[str]) -> None:
        """Check the schema of an answer, and add the rules for it."""
        findings = checked(schema, loosen=self.loosen)
        self.notices += (replace(notice, file="response schema") for notice in findings.notices)
        self._add(list(findings.problems), "response schema", "#")
        if findings.usable:
            found = answer_grammar(schema, markers, self.names, loosen=self.loosen)
            self._add(found, "response schema", "#")

    def _add(self, found: SchemaGrammar | list[Problem], file: str, path: str) -> None:
        remarks = found if isinstance(found, list) else found.notices
        placed = [replace(r, file=file, path=path + r.path.removeprefix("#")) for r in remarks]
        if isinstance(found, list):
            self.problems += placed
            return
        self.notices += placed
        self.rules += found.rules
