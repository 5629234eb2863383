"""Every committed parser goes on in the middle of a turn, and leaves reasoning where it is told to.

A turn is cut all over; what is before the cut is the prefill, what is behind it the model's text.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.generated_formats import KINDS, committed_format, committed_spec
from tests.parser_checks import added_up, some, stream, summary
from tests.test_mid_stream import drafts
from tests.typescript.engines import difference, opened_engine
from turnspec.codegen.loading import load
from turnspec.deviations.turns import SAID, THOUGHT
from turnspec.spec.message import Message

#: Formats whose templates have no header there.
WITHOUT_HEADER = (
    *("deepseek-ai-deepseek-r1-0528", "deepseek-ai-deepseek-v3-2", "google-gemma-4-31b-it"),
    *("mistralai-mistral-nemo-instruct-2407", "mistral-small-3-2-24b-instruct-2506"),
)


def test_behind_results_of_calls_the_next_turn_may_have_no_header(tmp_path: Path) -> None:
    """A prompt may end so; who ends turns by the template's own end changes nothing."""
    with opened_engine(tmp_path) as engine:
        for name in WITHOUT_HEADER:
            form = committed_format(name)
            module, header = load(form.spec), form.spec.turn.header
            turn = form.write(form.message)
            prompts = [text for key, text in module.FORMAT.items() if key.startswith("prompt")]
            for prompt in prompts:
                prefill = f"You help 😀{header}{turn}It is '{turn[:9]}', \"x\"] or {{}}. 😀\n"
                options = {**form.options, "stop": form.spec.turn.stop, "prefill": prompt}
                message = module.parse(turn, **options)
                options["prefill"] = prefill + prompt.removeprefix(header)
                assert module.parse(turn, **options) == message
                echoed = module.parse(turn, **options, echo=True)
                assert echoed == module.parse(turn, **options | {"prefill": prompt}, echo=True)
                assert not difference(engine, name, module, turn, options, (0, 7))
                options["prefill"] = f"Sys.\nHi {prompt.strip()}"
                assert not difference(engine, name, module, turn, options, (0, 7))


@pytest.mark.parametrize("name", KINDS)
def test_a_prompt_may_have_lost_the_white_space_at_its_ends(name: str) -> None:
    form = committed_format(name)
    module, prompt = load(form.spec), form.module.FORMAT["prompt"]
    turn, options = form.write(form.message), form.options
    whole = module.parse(turn, **options | {"prefill": prompt})
    for before in ("", "Sys.\nHi "):
        message = module.parse(turn, **options | {"prefill": before + prompt.strip()})
        assert summary(message) == summary(whole)
        assert len(message.problems) == len(whole.problems)


@pytest.mark.parametrize("name", [name for name in KINDS if committed_spec(name).turn.stop])
def test_a_conversation_may_begin_with_an_answer(name: str) -> None:
    """Then the prompt begins with the header of a turn that is over, and not the model's."""
    form = committed_format(name)
    module, header, turn = load(form.spec), form.spec.turn.header, form.write(form.message)
    before = f"{header}{form.write(Message(SAID))}{form.spec.turn.stop[0]}\nHi?"
    for cut in some(range(len(turn.partition(header)[0]) + 1)):
        for echo in (False, True):
            options = {**form.options, "prefill": header + turn[:cut], "echo": echo}
            message = module.parse(turn[cut:], **options)
            options["prefill"] = before + header + turn[:cut]
            assert module.parse(turn[cut:], **options) == message, turn[:cut]


@pytest.mark.parametrize("name", KINDS)
def test_a_stop_text_in_the_prompt_stops_nothing(name: str) -> None:
    module, header = load(committed_spec(name)), committed_spec(name).turn.header
    options = {"prefill": f"{header}```py\n", "reasoning": "inline", "stop": "```"}
    assert module.parse("x = 1\n``` more", **options).content == "x = 1"
    assert module.parse(iter("x = 1\n``` more"), **options).content == "x = 1"
    assert module.parse("x = 1\n```", **options, echo=True).content == "```py\nx = 1"


@pytest.mark.parametrize("name", KINDS)
def test_any_part_of_a_turn_can_be_the_prefill_and_be_echoed(name: str) -> None:
    form = committed_format(name)
    turn = form.write(form.message)
    whole = form.module.parse(turn, **form.options)
    for cut in some(range(len(turn) + 1)):
        options = form.options | {"prefill": form.spec.turn.header + turn[:cut], "echo": True}
        assert summary(form.module.parse(turn[cut:], **options)) == summary(whole), turn[:cut]


@pytest.mark.parametrize("name", KINDS)
def test_without_echo_a_continued_turn_gives_only_what_is_new(name: str) -> None:
    form = committed_format(name)
    turn = form.write(form.message)
    whole = form.module.parse(turn, **form.options)
    for cut in some(range(len(turn) + 1)):
        options = form.options | {"prefill": form.spec.turn.header + turn[:cut]}
        message = form.module.parse(turn[cut:], **options)
        streamed, events = stream(form.module, turn[cut:], **options)
        assert streamed == message, turn[:cut]
        assert added_up(events) == summary(message), turn[:cut]
        assert whole.content.endswith(message.content), turn[:cut]
        assert whole.reasoning_content.endswith(message.reasoning_content), turn[:cut]
        assert not message.problems, turn[:cut]
        # Calls that are over are left out, one that the model continues is whole.
        before = len(whole.tool_calls) - len(message.tool_calls)
        kept = [(call.name, call.arguments) for call in whole.tool_calls[before:]]
        assert [(call.name, call.arguments) for call in message.tool_calls] == kept, turn[:cut]


@pytest.mark.parametrize("name", [n for n in KINDS if committed_spec(n).reasoning.end.strip()])
def test_inline_reasoning_stays_in_the_content_with_its_markers(name: str) -> None:
    form = committed_format(name)
    message = form.shown(Message(SAID, THOUGHT))
    turn = form.spec.reasoning.start + THOUGHT + form.spec.reasoning.end
    turn += form.write_after_reasoning(message)
    parsed = form.module.parse(turn, **form.options, reasoning="inline")
    assert not parsed.reasoning_content
    start, end = form.spec.reasoning.start.strip(), form.spec.reasoning.end.strip()
    assert _squeezed(parsed.content).startswith(_squeezed(start + THOUGHT + end))
    assert parsed.content.endswith(SAID)
    turn = form.write(Message(reasoning=THOUGHT))
    alone = load(form.spec).parse(turn, **form.options, reasoning="inline")
    assert alone.content in turn


def _squeezed(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize("name", KINDS)
def test_what_may_be_a_draft_can_be_the_prefill(name: str) -> None:
    """In part or as a whole, whatever follows; a stream has it in order, and tells all of it."""
    form = committed_format(name)
    for place in drafts(name):
        text = place.before + place.after
        whole = form.module.parse(text, **place.options)
        for cut in some(range(len(text) + 1)):
            options = place.options | {"prefill": form.spec.turn.header + text[:cut]}
            for pieces in ([text[cut:]], text[cut:]):
                echoed, _ = stream(form.module, pieces, **options | {"echo": True})
                assert summary(echoed) == summary(whole), text[:cut]
                stream(form.module, pieces, **options | {"echo": False})


@pytest.mark.parametrize("echo", [False, True])
def test_a_draft_that_the_model_goes_on_with_is_a_call_where_the_text_ends(echo: bool) -> None:
    """Its events came before those of what the prompt holds of it."""
    prefill = (
        '<|im_start|>assistant\n<think>\nx <tool_call>\n{"name": "fetch", "arguments": {"tag": "a '
    )
    parser = committed_format("qwen-qwen3-0-6b").module.Parser(prefill=prefill, echo=echo)
    events = parser.feed("c") + parser.finish()
    told = [event.type for event in events if event.type != "reasoning"]
    assert told == ["tool_call_start", *["tool_call_delta"] * 3, "tool_call_end"]
    arguments = [event.arguments for event in events if event.type == "tool_call_delta"]
    assert "".join(arguments) == '{"tag": "a c"}'
    assert summary(parser.message) == added_up(events)
