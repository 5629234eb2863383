"""Templates as people edit them: slips, other settings, and what models write all the same.

They are in ``tests/templates/edited``.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from tests.own_templates import FOLDER, given_template
from turnspec.pipeline.build import Build, build_template
from turnspec.pipeline.project import OutputPaths
from turnspec.spec.files import load_checked_spec
from turnspec.spec.model import Spec
from turnspec.spec.words import Subject, Verdict
from turnspec.testing import Call, Message, check_case

EDITED = FOLDER / "edited"
#: Of these something is wrong that nobody but their makers can mend.
RED = {"prompt-unlike-turns", "prompt-of-another-format", "opened-and-never-closed"}
LOOK, ADD = Call("look", {"city": "Paris"}), Call("add", {"a": 1, "b": [1, 2]})
CITY = {"type": "object", "properties": {"city": {"type": "string"}}}
BOTH = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "array"}}}
TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": parameters}}
    for name, parameters in (("look", CITY), ("add", BOTH))
]
OBJECTS = '{"name": "look", "arguments": {"city": "Paris"}', '{"name": "add", "arguments": '
OBJECTS_2 = OBJECTS[1] + '{"a": 1, "b": [1, 2]}'
ON = {"enable_thinking": True}
OFF = {"enable_thinking": False}

CASES: list[tuple[str, str, Message, dict[str, Any]]] = [
    ("thought-wanted-if-enabled", "Hi</:bot:>", Message("Hi"), {}),
    ("thought-wanted-if-enabled", "Hm</muse>Hi</:bot:>", Message("Hi", "Hm"), ON),
    (
        "thought-wanted-if-enabled",
        "Hi<do>look<k>city</k><v>Paris</v></do></:bot:>",
        Message("Hi", "", (LOOK,)),
        {},
    ),
    ("thought-before-header", "Hi<:over:>", Message("Hi"), {}),
    ("thought-before-header", "<:muse:>Hm<:over:><:bot:>Hi<:over:>", Message("Hi", "Hm"), {}),
    (
        "thought-before-header",
        '<:do:>{"tool": "look", "with": {"city": "Paris"}}<:over:>'
        '<:do:>{"tool": "add", "with": {"a": 1, "b": [1, 2]}}<:over:>',
        Message(calls=(LOOK, ADD)),
        {},
    ),
    ("line-before-content-alone", "Hi<:close:>", Message("Hi"), {}),
    ("line-before-content-alone", "<muse>\nHm\n</muse>\n\nHi<:close:>", Message("Hi", "Hm"), {}),
    ("line-before-content-alone", f"<do>\n{OBJECTS[0]}}}\n</do>", Message(calls=(LOOK,)), OFF),
    ("bracket-forgotten", f"<DO>[{OBJECTS[0]}]</DO><:close:>", Message(calls=(LOOK,)), {}),
    ("bracket-forgotten", f"<DO>[{OBJECTS[0]}}}]</DO><:close:>", Message(calls=(LOOK,)), {}),
    ("bracket-forgotten", f"<DO>[{OBJECTS[0]}, {OBJECTS_2}]</DO>", Message(calls=(LOOK, ADD)), {}),
    (
        "bracket-forgotten",
        f"<DO>[{OBJECTS[0]}}},{OBJECTS_2}}}]</DO><:close:>",
        Message(calls=(LOOK, ADD)),
        {},
    ),
    (
        "envelope-with-members",
        '{"reason": "calls", "acts": [{"with": {"city": "Paris"}, "act": "look"},'
        ' {"with": {"a": 1, "b": [1, 2]}, "act": "add"}]}<:close:>',
        Message(calls=(LOOK, ADD)),
        {},
    ),
    ("prompt-opens-answer", "Hi</reply><:close:>", Message("Hi"), {}),
    ("prompt-opens-answer", f"Hi</reply><do>{OBJECTS[0]}}}</do>", Message("Hi", "", (LOOK,)), {}),
    ("end-behind-every-prompt", "<muse>Hm</muse>Hi </s>", Message("Hi", "Hm"), {}),
    ("end-behind-every-prompt", "Hi </s>", Message("Hi"), {}),
    ("ended-by-words-and-all", "assistant says: Hi\n\n</s>", Message("Hi"), {}),
    ("ended-by-words-and-all", "Hi\n\nuser says:", Message("Hi"), {}),
    (
        "ended-by-words-and-all",
        "An assistant says: Hi\n\n</s>",
        Message("An assistant says: Hi"),
        {},
    ),
    ("prompt-without-opening", "Hi<:over:>", Message("Hi"), {}),
    ("prompt-with-own-marks", "Hi<:over:>", Message("Hi"), {}),
    ("last-answer-left-out", "Hi\n\n Ask:", Message("Hi"), {}),
    ("envelope-with-members", '{"reason": "none"}<:close:>', Message('{"reason": "none"}'), {}),
]


@cache
def built(name: str) -> Build:
    text = (EDITED / f"{name}.jinja").read_text(encoding="utf-8")
    return build_template(given_template(text, name), OutputPaths.in_folder(name), messages=15)


def spec_in(build: Build) -> Spec:
    text = build.files[OutputPaths.in_folder(build.name).spec]
    spec = load_checked_spec(text, "the.yaml")
    assert isinstance(spec, Spec)
    return spec


@pytest.mark.parametrize("name", sorted({path.stem for path in EDITED.glob("*.jinja")} - RED))
def test_they_pass_every_rung(name: str) -> None:
    build = built(name)
    assert build.problems == ()
    assert build.result is not None
    assert {key: rung.example for key, rung in build.result.rungs.items() if rung.failed} == {}
    assert all(rung.is_passed for rung in build.result.rungs.values())


@pytest.mark.parametrize(("name", "text", "message", "options"), CASES)
def test_what_models_write_is_read(
    name: str, text: str, message: Message, options: dict[str, Any]
) -> None:
    check_case(spec_in(built(name)), text, expect=message, tools=TOOLS, **options)


def told(name: str) -> list[tuple[Subject, str]]:
    """Return what a spec says of what a person should know."""
    limits = spec_in(built(name)).limits
    return [(limit.subject, limit.reason) for limit in limits if limit.verdict is Verdict.TOLD]


def test_a_forgotten_bracket_is_told() -> None:
    assert told("bracket-forgotten") == [
        (
            Subject.CALLS,
            "a call opens a bracket that nothing closes; calls that close it are read as well",
        )
    ]


def test_marks_of_the_prompt_alone_are_told() -> None:
    """What stands in brackets in every prompt, and is never closed, opens no reasoning."""
    for name, marks in (
        ("prompt-with-own-marks", "<|voice|><|say|>"),
        ("last-answer-left-out", "[GO]"),
    ):
        how = f"the prompt ends in {marks!r}, which no turn shows"
        assert told(name) == [(Subject.CONTENT, f"{how}; what the model writes begins behind it")]


def test_an_end_behind_every_prompt_is_told() -> None:
    how = "every prompt ends in '</s>', too, which has to be left out before the model goes on"
    for name in ("end-behind-every-prompt", "ended-by-words-and-all"):
        assert told(name) == [(Subject.CONTENT, how)]


def test_what_a_prompt_opens_and_no_turn_shows_is_told() -> None:
    result = built("opened-and-never-closed").result
    assert result is not None
    told = result.rungs["sanity"].example
    assert told is not None
    wanted = "with effort='much' a prompt has the marker \"<|MUSE>\", which no part explains"
    assert told.got == wanted


def test_a_prompt_that_begins_no_turn_is_told() -> None:
    result = built("prompt-of-another-format").result
    assert result is not None
    told = result.rungs["sanity"].example
    assert told is not None
    assert told.got == 'no turn begins as the prompt does: "### Answer:"'


def test_it_is_told_how_a_prompt_and_turns_differ() -> None:
    """Nothing can be checked behind such a prompt."""
    build = built("prompt-unlike-turns")
    assert build.result is not None
    note = build.result.rungs["1b"].note
    prompt, turn = '"<:open:> assistant"', '"<:open:>assistant\\n\\nHello there!\\n\\nHow are…"'
    how = f"the prompt is {prompt}, and such a turn begins {turn}"
    assert note.startswith(f"no prompt leaves a place for any message: {how}")
