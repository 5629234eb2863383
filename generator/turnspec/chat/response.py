"""Answers in a given format: a grammar whose content fits a JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping

from turnspec.chat.prepared import in_context
from turnspec.grammar.bound import bind_grammar
from turnspec.grammar.request import GrammarRequest
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem


def response_grammar(spec: Spec, prefill: str, schema: Mapping[str, object]) -> str | list[Problem]:
    """Return a grammar for the answer behind a prompt, or what is wrong with the schema.

    ``prefill`` is the part of the turn that the prompt holds.
    """
    found = bind_grammar(in_context(spec, prefill), GrammarRequest(response_schema=schema))
    return found if isinstance(found, list) else found.grammar
