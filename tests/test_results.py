"""What holds of every result, whatever the model writes, and how soon a text is passed on."""

from __future__ import annotations

import json
import re
from random import Random
from typing import Any

import pytest
from hypothesis import strategies as st

from tests.generated_formats import KINDS, committed_format, committed_spec
from tests.grammar_engines.random_texts import mutated
from tests.test_parser_promises import for_examples, module_of, spec_of, turns_behind_a_prompt
from turnspec.codegen.facts import facts_of
from turnspec.codegen.held_back import held_back
from turnspec.codegen.markers import leading_text
from turnspec.codegen.module import generate_module
from turnspec.deviations.turns import Format
from turnspec.rendering.conversation import tool_definitions
from turnspec.spec.calls import Literal
from turnspec.spec.characters import LONGEST, NOT_IN_NAMES
from turnspec.spec.message import Call, Message
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


def marks_around_values(name: str) -> list[str]:
    """Return what stands around an argument's value, if anything does on both sides."""
    tools = committed_spec(name).tools
    items = tools.arguments.item if tools else ()
    return [text for it in items if isinstance(it, Literal) and (text := it.text.strip())]


@pytest.mark.parametrize("name", [name for name in KINDS if marks_around_values(name)[1:]])
def test_a_call_with_a_misspelt_mark_is_right_or_not_complete(name: str) -> None:
    """Of the marks that close its values, each without one of its signs: they are in no value."""
    form = committed_format(name)
    call = Call("get_weather", {"city": "Paris is nice", "days": 3}, form.call.id)
    text = form.write(Message(calls=(call,)))
    options = {"tools": tool_definitions((call,)), "prefill": form.spec.turn.header}
    places = {
        found.start() + at
        for found in re.finditer(re.escape(marks_around_values(name)[-1]), text)
        for at in range(len(found[0]))
    }
    assert len(places) > 1
    for at in places:
        for read in form.module.parse(text[:at] + text[at + 1 :], **options).tool_calls:
            assert not read.complete or json.loads(read.arguments) == call.arguments, text[at - 9 :]


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


@pytest.mark.parametrize("name", KINDS)
def test_the_module_says_how_much_is_held_back(name: str) -> None:
    """Of each marker in its longest form, with a sign that it hasn't before its end."""
    form = committed_format(name)
    facts = facts_of(form.spec)
    told = re.search(r"marker, of at most (\d+) ", held_back(facts))
    assert told
    prompt = form.spec.turn.header + form.spec.content.start + "Well"
    for row in facts.tables["IN_TEXT"]:
        longest = longest_form(row.marker) + longest_form(next(iter(row.if_before), ""))
        parser = form.module.Parser(prefill=prompt, tools=[])
        said = 0
        for at, character in enumerate(f" {longest[:-1]}~", start=1):
            events = parser.feed(character)
            if any(event.type != "content" for event in events):
                break  # it is a call
            said += sum(len(event.text) for event in events)
            assert at - 1 - said <= int(told[1]), (row.marker, longest)


def test_the_module_speaks_of_names_only_where_markers_have_them() -> None:
    told = {
        name: held_back(facts_of(committed_spec(name)))
        for name in ("lmsys-vicuna-7b-v1-5", "qwen3-coder")
    }
    bounds = {name: re.findall(r"\((.*?)\)", text)[0] for name, text in told.items()}
    assert bounds == {
        "lmsys-vicuna-7b-v1-5": "each run of blanks 99",
        "qwen3-coder": "a name or a key may have 256, each run of blanks 99",
    }


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("qwen3-coder", "; tools tell the types of arguments"),
        ("minimax-m3", "; tools tell the types of arguments"),
        ("qwen-qwen3-0-6b", "; tools tell which names are known"),  # JSON has types itself
        ("google-functiongemma-270m-it", "; tools tell which names are known"),
        ("lmsys-vicuna-7b-v1-5", ""),
    ],
)
def test_the_module_says_what_tools_are_for(name: str, told: str) -> None:
    source = generate_module(committed_spec(name), spec_path="specs/x.yaml", spec_hash="0")
    (line,) = [it for it in source.splitlines() if "# a whole text" in it]
    assert line.partition("# a whole text")[2] == told


def longest_form(marker: Any) -> str:
    """Return a marker with a long name and many blanks, and the first of what has to follow it."""
    text, following = (marker, ()) if isinstance(marker, str) else marker
    shown = text.replace(" ", " " * 99).replace("{name}", "n" * 256).replace("{key}", "k" * 256)
    shown = re.sub(r"\{\?([^{}]*)\}", r"\1", shown.replace("{{", "{"))
    shown = re.sub(r"(?<=.)\{[a-z][^{}]*\}", "", shown)
    return shown + (longest_form(following[0]) if following else "")


def _begins_slot(held: str, form: Format) -> bool:
    """Tell whether a text is a head's beginning up to its name, or that of a call's object.

    A word of any signs may stand behind a name.
    """
    head, opening = leading_text(form.marks.calls.start), form.marks.calls.opening
    before_name = {head, *(leading_text(text) + head for text in opening)}
    escaped = "|".join(map(re.escape, before_name - {""})) or "(?!)"
    markers = str(facts_of(form.spec).tables["IN_TEXT"])
    word = "[^<>{}=()]*" if "{name}{word}" in markers else ""
    in_name = re.fullmatch(rf"(?:{escaped})[\w.:/-]+{word}", held)
    has_tags = "{tag}" in markers
    in_tag = has_tags and re.fullmatch("<[^/<>]*", held)
    may_be_tag = "[{tag name}]" in str(facts_of(form.spec).tables)
    in_bracket = may_be_tag and re.fullmatch(r"\[[\w.:-]*\]?", held)
    return bool(in_name or in_tag or in_bracket) or (
        form.marks.are_bare and held in ("[", "{", "[{")
    )


def marker_beginnings(form: Format) -> set[str]:
    """Return the texts with which markers may begin, without white space."""
    facts = facts_of(form.spec)
    markers = {row.marker for rows in facts.tables.values() for row in rows} | {*facts.turn_ends}
    shown = {re.sub(r"\{\?([^{}]*)\}", r"\1", leading_text(it) or it) for it in markers}
    return {re.sub(r"\s+", "", text) for text in shown} | {""}
