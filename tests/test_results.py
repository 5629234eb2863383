"""What holds of every result, whatever the model writes, and how soon a text is passed on."""

from __future__ import annotations

import json
import re
from random import Random

import pytest
from hypothesis import strategies as st

from tests.generated_formats import KINDS, committed_format
from tests.grammar_engines.random_texts import mutated
from tests.test_parser_promises import for_examples, module_of, spec_of, turns_behind_a_prompt
from turnspec.codegen.facts import facts_of
from turnspec.codegen.markers import leading_text
from turnspec.deviations.turns import Format
from turnspec.rendering.conversation import tool_definitions
from turnspec.spec.characters import LONGEST, NOT_IN_NAMES
from turnspec.verification.messages import format_markers

NAME = re.compile(f"[^{NOT_IN_NAMES}]{{1,{LONGEST}}}")


@pytest.mark.parametrize("name", KINDS)
@for_examples
def test_names_are_names_and_arguments_load(name: str, data: st.DataObject) -> None:
    """In faulty turns as well: a name is a tool's or could be, and what is complete is JSON."""
    text, prefill, message = data.draw(turns_behind_a_prompt(name))
    random = Random(data.draw(st.integers(0, 2**32)))
    for _ in range(data.draw(st.integers(1, 4))):
        text = mutated(text, random, sorted(format_markers(spec_of(name))))
    tools = data.draw(st.sampled_from([None, tool_definitions(message.calls)]))
    parsed = module_of(name).parse(text, tools=tools, prefill=prefill)
    known = {call.name for call in message.calls}
    for call in parsed.tool_calls:
        assert call.name in known or NAME.fullmatch(call.name), text
        if call.complete:
            json.loads(call.arguments, parse_constant=pytest.fail)


TEXT = "Hello there. 2 < 3, [x] {y} `z` and (so) on: to=be | or *not*, </b> <!-- c -->.\n\nBye"


@pytest.mark.parametrize("name", KINDS)
def test_no_more_is_held_back_than_may_become_a_marker(name: str) -> None:
    """Behind each character of an answer, what isn't passed on yet may be a marker's beginning."""
    form = committed_format(name)
    module, beginnings = form.module, marker_beginnings(form)
    parser = module.Parser(prefill=form.spec.turn.header + form.spec.content.start, tools=[])
    said = ""
    for at, character in enumerate(TEXT, start=1):
        said += "".join(event.text for event in parser.feed(character))
        held = TEXT[len(said) : at]
        assert TEXT.startswith(said)
        compact = re.sub(r"\s+", "", held)
        may_begin = any(text.startswith(compact) for text in beginnings)
        assert may_begin or _begins_slot(compact, form), (held, said)


def _begins_slot(held: str, form: Format) -> bool:
    """Tell whether a text is a head's beginning up to its name, or that of a call's object."""
    head, opening = leading_text(form.marks.calls.start), form.marks.calls.opening
    before_name = {head, *(leading_text(text) + head for text in opening)}
    escaped = "|".join(map(re.escape, before_name - {""})) or "(?!)"
    in_name = re.fullmatch(rf"(?:{escaped})[\w.:/-]+", held)
    return bool(in_name) or (form.marks.are_bare and held in ("[", "{", "[{"))


def marker_beginnings(form: Format) -> set[str]:
    """Return the texts with which markers may begin, without white space."""
    facts = facts_of(form.spec)
    markers = {row.marker for rows in facts.tables.values() for row in rows} | {*facts.turn_ends}
    shown = {re.sub(r"\{\?([^{}]*)\}", r"\1", leading_text(it) or it) for it in markers}
    return {re.sub(r"\s+", "", text) for text in shown} | {""}
