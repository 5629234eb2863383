"""Grammars behind a message that the prompt has begun: they go on with it, or say why not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest
from click.testing import CliRunner

from tests.bound_grammars import ANSWER, TOOLS, Bound
from tests.generated_formats import KINDS, committed_format, committed_spec
from turnspec.chat.messages import Turn
from turnspec.chat.request import continuation
from turnspec.cli.main import turnspec
from turnspec.codegen.writer import write_parts
from turnspec.grammar.bound import BoundGrammar, bind_grammar
from turnspec.grammar.request import GrammarRequest
from turnspec.spec.message import Call, Message
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem
from turnspec.spec.words import Part

QWEN = "qwen-qwen3-0-6b"
BEGUN = (
    Turn("assistant", "A word of"),
    Turn("assistant", reasoning="I should"),
    Turn("assistant", "A word of", "I should"),
)
REQUESTS = (
    GrammarRequest(TOOLS, tool_choice="required"),
    GrammarRequest(TOOLS, lazy=False),
    GrammarRequest(TOOLS, tool_choice="none"),
)


def continued(spec: Spec) -> Iterator[tuple[Turn, str]]:
    """Yield begun messages, each with what the prompt holds of its turn."""
    for prompt in spec.thinking.prompts:
        for turn in BEGUN:
            begun = continuation(spec, prompt, turn)
            if begun and not isinstance(begun, Problem):
                yield turn, prompt + begun


@pytest.mark.parametrize("name", KINDS)
def test_what_is_begun_goes_on_and_is_read(name: str) -> None:
    spec = committed_spec(name)
    found = list(continued(spec))
    assert found
    for turn, prefill in found:
        for request in REQUESTS:
            if spec.tools is None and request.tool_choice != "none":
                continue
            tools = request.tools if spec.tools is not None else ()
            asked = replace(request, tools=tools, prefill=prefill)
            order = spec.turn.order
            content_is_last = Part.CALLS in order[: order.index(Part.CONTENT)]
            if request.calls_needed and turn.text and content_is_last:
                refused = bind_grammar(spec, asked)
                told = f"prefill: it holds content, which no calls follow in {name}"
                assert isinstance(refused, list)
                assert list(map(str, refused)) == [told]
                continue
            bound = Bound.of(name, asked)
            turns = bound.turns(Random(name), 3)
            assert not [(t, faults) for t in turns if (faults := bound.faults(t))], prefill


def refusals(name: str, **request: object) -> list[str]:
    found = bind_grammar(committed_spec(name), GrammarRequest(**request))  # type: ignore[arg-type]
    return list(map(str, found)) if isinstance(found, list) else []


def test_what_no_grammar_goes_on_with_is_refused() -> None:
    header = "<|im_start|>assistant\n"
    call = header + '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    told = "prefill: it holds a call, and a grammar begins before the first one"
    assert refusals(QWEN, tools=TOOLS, prefill=call) == [told]
    told = "prefill: it holds content, and a response schema is for the whole of it"
    assert refusals(QWEN, response_schema=ANSWER, prefill=f"{header}So: ") == [told]
    # A call in thoughts is none, and an answer may follow these.
    thoughts = f"{header}<think>\n<tool_call>"
    assert not refusals(QWEN, tools=TOOLS, prefill=thoughts)
    assert not refusals(QWEN, response_schema=ANSWER, prefill=thoughts)


# Behind results there is no header: the prompt's last one begins the turn that asked for them.
@pytest.mark.parametrize("name", ["deepseek-ai-deepseek-v3-1", "google-gemma-4-31b-it", QWEN])
@pytest.mark.parametrize("choice", ["auto", "required"])
def test_a_turn_that_is_over_does_not_go_on(name: str, choice: str) -> None:
    spec = committed_spec(name)
    call = Call("get_weather", {"city": "Oslo"}, "")
    turn = spec.turn.header + write_parts(spec, Message(calls=(call,)), Part.START)
    request = GrammarRequest(TOOLS, choice, prefill=spec.turn.header)
    bound = bind_grammar(spec, request)
    assert isinstance(bound, BoundGrammar)
    for before in (turn, f"{turn}It was found."):
        assert bind_grammar(spec, replace(request, prefill=before)) == bound


@pytest.mark.parametrize("begun", ["<tool_call>\n", "<tool_c"])
def test_no_trigger_is_waited_for_in_a_call(begun: str) -> None:
    """The model would never write the word, as the prompt has it, and nothing would hold it."""
    spec = committed_spec("qwen3-coder")
    bound = bind_grammar(spec, GrammarRequest(TOOLS, prefill=spec.turn.header + begun))
    assert isinstance(bound, BoundGrammar)
    assert not bound.lazy
    assert "root ::= begun-calls-turn" in bound.grammar


def test_a_whole_prompt_is_a_prefill() -> None:
    """What a server has is the prompt; it says how the turn begins, as for a parser."""
    spec = committed_format(QWEN).spec
    for enable in (None, True, False):
        prompt = "<|im_start|>user\nHi<|im_end|>\n" + spec.thinking.state(enable).prompt
        request = GrammarRequest(TOOLS, tool_choice="required")
        by_prompt = bind_grammar(spec, replace(request, prefill=prompt))
        assert isinstance(by_prompt, BoundGrammar)
        assert by_prompt == bind_grammar(spec, replace(request, thinking=enable))


def test_the_command_takes_a_prefill() -> None:
    prefill = "<|im_start|>assistant\nIt is"
    run = CliRunner().invoke(turnspec, ["grammar", QWEN, "--prefill", prefill])
    assert run.exit_code == 0
    entry = next(line for line in run.output.splitlines() if line.startswith("root ::="))
    assert "reasoning-turn" not in entry
    assert "content-turn" in entry
