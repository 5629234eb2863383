"""A structured answer: content that is JSON by a schema, in which no marker of the turn occurs.

Inside JSON's strings a parser of the turn would still find its markers, so a character of each is
written there by its code alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from turnspec.grammar.characters import Characters, Strings, written
from turnspec.grammar.notations import Notation, strings_in
from turnspec.grammar.rule_names import RuleNames
from turnspec.grammar.schema import SchemaGrammar, compiled_schema
from turnspec.grammar.schema_checks import Schema
from turnspec.grammar.text import Rule, literal
from turnspec.grammar.values import structure_rules
from turnspec.spec.problems import Problem

#: The rule for the answer.
RESPONSE = "response"

_PREFIX = "response-json"
_STRING = f"{_PREFIX}-string"
_SHORT = {'"': r"\"", "\\": r"\\", "\n": r"\n", "\r": r"\r", "\t": r"\t"}
_JSON_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_CONTROLS = Characters.of([(0, 0x1F)])
# What texts are full of is spared where a marker has anything else.
_FREQUENT = "_-.,:;/{}\"'()\\"


@dataclass(frozen=True, slots=True)
class AnswerNotation(Notation):
    """JSON whose strings write some characters by their codes."""

    def constant(self, value: Any) -> str | None:
        """Return one value as it is written; None if it can't be."""
        if (Characters.from_text("".join(strings_in(value))) & self.strings.unwritable()).ranges:
            return None
        return literal(_JSON_STRING.sub(self._coded, json.dumps(value)))

    def _coded(self, found: re.Match[str]) -> str:
        text = json.loads(found[0])
        return f'"{"".join(self.strings.escapes.get(char, char) for char in text)}"'


def answer_grammar(
    schema: Schema, markers: Iterable[str], names: RuleNames, *, loosen: bool = False
) -> SchemaGrammar | list[Problem]:
    """Return rules for a JSON answer by a checked schema, `RESPONSE` first, or what is wrong.

    ``markers`` are what the answer may not hold, ``names`` those of the rules, ``loosen`` whether
    what can't be expressed is left out.
    """
    codes = {char: f"\\u{ord(char):04X}" for char in _one_of_each(markers)}
    never_plain = _CONTROLS | Characters.from_text([*_SHORT, *codes])
    strings = Strings('"\\""', '"\\""', _STRING, never_plain, {**_SHORT, **codes})
    notation = AnswerNotation(prefix=_PREFIX, strings=strings)
    name = names.free(RESPONSE)
    found = compiled_schema(schema, name, notation, names=names, closed=True, loosen=loosen)
    if isinstance(found, list):
        return found
    character = written(Characters.of([(0, 0x10FFFF)]), strings)
    shared = (
        *structure_rules(_PREFIX, _STRING, ("true", "false", "null"), "any JSON, freely spaced"),
        Rule(_STRING, strings.enclosed(f"{character}*")),
    )
    return SchemaGrammar((*found.rules, *shared), found.notices)


def _one_of_each(markers: Iterable[str]) -> str:
    """Return characters of which each marker has one; none of those that are only JSON's own."""
    found = ""
    for marker in markers:
        rare = [char for char in marker if not char.isalnum() and char not in _FREQUENT]
        rare = [char for char in rare if not char.isspace() and ord(char) <= 0xFFFF]
        if rare and not set(rare) & set(found):
            found += rare[0]
    return found
