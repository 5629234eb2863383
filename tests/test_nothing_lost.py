"""The committed parsers lose nothing: each word of a turn cut off anywhere can be found again.

A word is in the content, the reasoning, a call or a problem, unless it is a marker's own.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.generated_formats import KINDS, committed_format
from tests.parser_checks import some
from turnspec.codegen.loading import load, load_module
from turnspec.codegen.writer import write_parts
from turnspec.rendering.conversation import tool_definitions
from turnspec.spec.files import read_spec
from turnspec.spec.message import Call, Message
from turnspec.spec.model import Spec
from turnspec.spec.words import Part
from turnspec.verification.messages import allowed_call, format_markers

ROOT = Path(__file__).parent.parent
CALL = Call("qvfetch", {"qvwhere": "qvparis qvnorth", "qvmany": 41}, "qvid00001")
MESSAGE = Message("qvsaid qvloud", "qvthought qvhard", (CALL,))


@pytest.mark.parametrize("name", KINDS)
def test_no_word_of_a_cut_off_turn_is_lost(name: str) -> None:
    spec, module = committed_format(name).spec, committed_format(name).module
    call = allowed_call(spec, CALL)
    message = Message(
        MESSAGE.content,
        MESSAGE.reasoning if spec.reasoning.end.strip() else "",
        (call,) if spec.tools else (),
    )
    turn = write_parts(spec, message, Part.START)
    own = " ".join(format_markers(spec))
    tools = tool_definitions(message.calls)
    for cut in some(range(len(turn) + 1)):
        text = turn[:cut]
        parsed = module.parse(text, tools=tools, prefill=spec.turn.header)
        found = json.dumps(parsed.to_dict(), ensure_ascii=False)
        found += " ".join(problem.message for problem in parsed.problems)
        words = {word for word in re.findall(r"qv\w+", text) if word not in own}
        assert not {word for word in words if word not in found}, text


@pytest.mark.parametrize("sign", ["¤", "Z"])
@pytest.mark.parametrize("name", KINDS)
def test_no_foreign_sign_is_lost_wherever_it_stands(name: str, sign: str) -> None:
    """Neither one that stands in no name, nor one that any slot takes."""
    spec = read_spec(ROOT / "specs" / f"{name}.yaml")
    assert isinstance(spec, Spec)
    form = load(spec)
    call = allowed_call(spec, Call("look", {"city": "Rome", "days": 3}, "id0000001"))
    reasoning = "I see." if spec.reasoning.end.strip() else ""
    turn = write_parts(spec, Message("Said.", reasoning, (call,) if spec.tools else ()), Part.START)
    tools = tool_definitions((call,))
    for at in some(range(len(turn) + 1)):
        text = turn[:at] + sign + turn[at:]
        parsed = form.parse(text, tools=tools, prefill=spec.turn.header)
        found = json.dumps(parsed.to_dict(), ensure_ascii=False)
        found += " ".join(problem.message for problem in parsed.problems)
        assert sign in found, text


@pytest.mark.parametrize("name", KINDS)
def test_a_sign_that_content_begins_with_is_kept(name: str) -> None:
    spec, form = committed_format(name).spec, committed_format(name).module
    for sign in ("]", "}", ")", ",", ":", ">", "|", "[", "{", "(", '"'):
        text = f"{spec.content.start}{sign}abc x"
        message = form.parse(text, prefill=spec.turn.header + spec.reasoning.end)
        assert f"{sign}abc x" in message.content or message.problems, sign


LOST = {
    "the key of a member without a value": (
        "qwen-qwen3-0-6b",
        '<tool_call>\n{"name": "f", "arguments": {}, "lost": }\n</tool_call>',
    ),
    "the key of a member that breaks off": (
        "qwen-qwen3-0-6b",
        '<tool_call>\n{"name": "f", "arguments": {}, "lost": ',
    ),
    "a call's type": (
        "qwen-qwen3-0-6b",
        '<tool_call>\n{"type": "lost", "name": "f", "arguments": {}}\n</tool_call>',
    ),
    "another word for an id": (
        "cohere2moe",
        '<|START_ACTION|>[{"tool_call_id": "lost", "tool_name": "f", "parameters": {}}]',
    ),
    "a word for a type": (
        "deepseek-ai-deepseek-v3-2",
        '<｜DSML｜function_calls>\n<｜DSML｜invoke name="f">\n'
        '<｜DSML｜parameter name="a" string="lost">1</｜DSML｜parameter>\n</｜DSML｜invoke>',
    ),
    "a channel": ("openai-gpt-oss-120b", "<|channel|>lost<|message|>So.<|end|>"),
    "a constraint": (
        "openai-gpt-oss-120b",
        "<|channel|>commentary to=functions.f <|constrain|>lost<|message|>{}<|call|>",
    ),
}


@pytest.mark.parametrize("title", LOST)
def test_what_means_nothing_is_told(title: str) -> None:
    name, text = LOST[title]
    spec = read_spec(ROOT / "specs" / f"{name}.yaml")
    assert isinstance(spec, Spec)
    form = load(spec)
    options = {"prefill": spec.turn.header + spec.reasoning.end}
    message = form.parse(text, **options)
    assert any("lost" in problem.message for problem in message.problems)
    usual = form.parse(text.replace("lost", "Z"), **options)
    assert [call.name for call in message.tool_calls] == [call.name for call in usual.tool_calls]


def test_white_space_before_arguments_is_not_read_again_and_again() -> None:
    path = ROOT / "generated" / "qwen_qwen3_0_6b.py"
    parser = load_module(path.read_text(encoding="utf-8")).Parser()
    parser.feed('<tool_call>\n{"name": "look", "arguments": ')
    for _ in range(1000):
        parser.feed(" ")
    assert parser._turn.input.text == ""
    parser.feed("{}}\n</tool_call>")
    parser.finish()
    assert [(call.arguments, call.complete) for call in parser.message.tool_calls] == [("{}", True)]


@pytest.mark.parametrize("name", KINDS)
def test_no_call_is_complete_whose_arguments_stand_behind_it(name: str) -> None:
    """They can't be read; so the call may not be run without them."""
    form = committed_format(name)
    module, turn = load(form.spec), form.write(form.one_call)
    written = json.dumps(dict(form.call.arguments)) if form.calls else ""
    for sign in (",", ":") if written and written in turn else ():
        text = turn.replace(written, f"{sign}{written}")
        message = module.parse(text, **form.options)
        assert message == module.parse(iter(text), **form.options), text
        assert not message.tool_calls or not message.tool_calls[0].complete, text


@pytest.mark.parametrize("name", ["minimax-m2", "muse-glimmer", "stepfun-ai-step3"])
def test_a_further_attribute_behind_a_key_is_told(name: str) -> None:
    spec = committed_format(name).spec
    turn = write_parts(spec, Message(calls=(allowed_call(spec, CALL),)), Part.START)
    head = turn[: turn.index("qvparis")].rstrip()
    assert head.endswith('="qvwhere">')
    longer = f"{head[:-1]} qvtype=qvtext>{turn[len(head) :]}"
    message = load(spec).parse(longer, prefill=spec.turn.header)
    assert json.loads(message.tool_calls[0].arguments)["qvwhere"] == "qvparis qvnorth"
    assert any("qvtype=qvtext" in problem.message for problem in message.problems)
