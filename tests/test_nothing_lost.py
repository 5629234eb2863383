"""The committed parsers lose nothing: each word of a turn cut off anywhere can be found again.

A word is in the content, the reasoning, a call or a problem, unless it is a marker's own.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.generated_formats import FORMATS
from turnspec.codegen.loading import load_module
from turnspec.codegen.writer import write_parts
from turnspec.pipeline.project import OutputPaths
from turnspec.rendering.conversation import tool_definitions
from turnspec.spec.files import read_spec
from turnspec.spec.message import Call, Message
from turnspec.spec.model import Part, Spec
from turnspec.verification.messages import allowed_call, format_markers

ROOT = Path(__file__).parent.parent
CALL = Call("qvfetch", {"qvwhere": "qvparis qvnorth", "qvmany": 41}, "qvid00001")
MESSAGE = Message("qvsaid qvloud", "qvthought qvhard", (CALL,))


@pytest.mark.parametrize("name", FORMATS)
def test_no_word_of_a_cut_off_turn_is_lost(name: str) -> None:
    spec = read_spec(ROOT / "specs" / f"{name}.yaml")
    assert isinstance(spec, Spec)
    module_path = ROOT / OutputPaths.in_project(name).module
    module = load_module(module_path.read_text(encoding="utf-8"))
    call = allowed_call(spec, CALL)
    message = Message(
        MESSAGE.content,
        MESSAGE.reasoning if spec.reasoning.end.strip() else "",
        (call,) if spec.tools else (),
    )
    turn = write_parts(spec, message, Part.START)
    own = " ".join(format_markers(spec))
    tools = tool_definitions(message.calls)
    for cut in range(len(turn) + 1):
        text = turn[:cut]
        parsed = module.parse(text, tools=tools, prefill=spec.turn.header)
        found = json.dumps(parsed.to_dict(), ensure_ascii=False)
        found += " ".join(problem.message for problem in parsed.problems)
        words = {word for word in re.findall(r"qv\w+", text) if word not in own}
        assert not {word for word in words if word not in found}, text


def test_white_space_before_arguments_is_not_read_again_and_again() -> None:
    path = ROOT / "generated" / "qwen_qwen3_0_6b.py"
    parser = load_module(path.read_text(encoding="utf-8")).Parser()
    parser.feed('<tool_call>\n{"name": "look", "arguments": ')
    for _ in range(1000):
        parser.feed(" ")
    assert len(parser._turn.text) == 0
    parser.feed("{}}\n</tool_call>")
    parser.finish()
    assert [(call.arguments, call.complete) for call in parser.message.tool_calls] == [("{}", True)]
