"""Grammars of JSON Schemas alone, as tests and benchmarks ask engines about them."""

from __future__ import annotations

from turnspec.grammar.characters import character_rules
from turnspec.grammar.rule_names import RuleNames
from turnspec.grammar.schema import SchemaGrammar, compiled_schema
from turnspec.grammar.schema_checks import Schema, checked
from turnspec.grammar.text import reachable, space_rules
from turnspec.grammar.values import json_value_rules
from turnspec.spec.problems import Problem


def schema_rules(
    schema: Schema, name: str, *, loosen: bool = False
) -> SchemaGrammar | list[Problem]:
    """Return rules for the schema's values in JSON with ``name`` as the entry, or what is wrong.

    ``loosen`` leaves out what no grammar can express, with a notice.
    """
    findings = checked(schema, loosen=loosen)
    if not findings.usable:
        return list(findings.problems)
    found = compiled_schema(schema, name, names=RuleNames([name]), loosen=loosen)
    if findings.problems or isinstance(found, list):
        return [*findings.problems, *(found if isinstance(found, list) else ())]
    shared = (*json_value_rules(), *character_rules(), *space_rules())
    rules = reachable([*found.rules, *shared], [name])
    return SchemaGrammar(rules, (*findings.notices, *found.notices))
