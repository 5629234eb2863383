"""Answers in a given format: a grammar whose content fits a JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping

from generator.analysis.probes import CONTENT, REASONING
from generator.chat.prepared import in_context
from generator.grammar.schema import schema_rules
from generator.grammar.text import (
    GAP,
    Rule,
    choice,
    closing,
    group,
    lenient,
    reachable,
    sequence,
    space_rules,
    text_without,
)
from generator.grammar.turn import ROOT, text_markers
from generator.spec.message import Message
from generator.spec.model import ReasoningMode, Spec
from generator.spec.problems import Problem
from generator.verification.turns import written_input

_ANSWER = "answer"
_THOUGHTS = "thoughts"


def response_grammar(spec: Spec, prefill: str, schema: Mapping[str, object]) -> str | list[Problem]:
    """Return a grammar for the answer behind a prompt, or what is wrong with the schema.

    ``prefill`` is the part of the turn that the prompt holds. The content is a JSON text of the
    schema, between the format's own markers; reasoning may stand before it.
    """
    found = schema_rules(dict(schema), _ANSWER)
    if isinstance(found, list):
        return found
    ways = _ways(in_context(spec, prefill))
    if not ways:
        return [Problem("the format has no place for content behind this prompt")]
    rules = (
        Rule(ROOT, choice(ways), "the turn, its content a JSON text of the schema"),
        *found.rules,
        *text_without(_THOUGHTS, text_markers(spec), "reasoning"),
        *space_rules(),
    )
    return "".join(map(str, reachable(_each_once(rules), (ROOT,)))).lstrip("\n")


def _ways(spec: Spec) -> list[str]:
    """Return the turn without and with reasoning, as far as the prompt allows each."""
    messages = [Message(CONTENT)]
    if spec.reasoning.mode is not ReasoningMode.NONE:
        messages.insert(0, Message(CONTENT, REASONING))
    ways: list[str] = []
    for message in messages:
        given = written_input(spec, message, thinking=True)
        if given is None or (message.reasoning and REASONING not in given.text):
            continue
        head, _, end = given.text.partition(CONTENT)
        start, thought, between = head.partition(REASONING)
        begun = sequence(lenient(start), _THOUGHTS, closing(between)) if thought else lenient(start)
        ways.append(sequence(begun, GAP, _ANSWER, GAP, group([lenient(end)], "?") if end else ""))
    return ways


def _each_once(rules: tuple[Rule, ...]) -> list[Rule]:
    return list({rule.name: rule for rule in rules}.values())
