"""What models wrote, a case in a line: the format, the text, the message, and the problems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.generated_formats import committed_format
from turnspec.testing import Call, Message, check_case

LOOK = Call("look", {"city": "Paris"})
CITY = {"type": "object", "properties": {"city": {"type": "string"}}}
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": CITY}}]
CALL = Message(calls=(LOOK,))
JSON = '{"name": "look", "arguments": {"city": "Paris"}}'
GLM = "<tool_call>look<arg_key>city</arg_key><arg_value>Paris</arg_value></tool_call>"
OFF = {"enable_thinking": False}

CASES: list[tuple[str, str, Message, tuple[str, ...], Mapping[str, Any]]] = [
    ("qwen-qwen3-0-6b", "<think>\nHm\n</think>\n\nHi<|im_end|>", Message("Hi", "Hm"), (), {}),
    ("qwen-qwen3-0-6b", "Hi<|im_end|>", Message("Hi"), (), OFF),
    ("qwen-qwen3-0-6b", f"<tool_call>\n{JSON}\n</tool_call><|im_end|>", CALL, (), {}),
    ("qwen-qwen3-0-6b", f"<tool_call>{JSON}", CALL, (), {}),
    ("qwen-qwen3-0-6b", f"<tool_call>[{JSON}]</tool_call>", CALL, ("array",), {}),
    ("qwen-qwen3-0-6b", "a < b and <tool", Message("a < b and <tool"), (), {}),
    ("glm-4-7-flash", f"Hm</think>{GLM}<|observation|>", Message("", "Hm", (LOOK,)), (), {}),
    ("glm-4-7-flash", "Hm", Message("", "Hm"), ("unclosed",), {}),
    ("glm-4-7-flash", "Hi<|user|>", Message("Hi"), (), OFF),
    ("gigachat3-1-10b-a1-8b", f"Hi<|function_call|>{JSON}", Message("Hi", "", (LOOK,)), (), {}),
]


@pytest.mark.parametrize(
    ("name", "text", "message", "problems", "options"), CASES, ids=range(len(CASES))
)
def test_a_case(
    name: str, text: str, message: Message, problems: tuple[str, ...], options: Mapping[str, Any]
) -> None:
    parser = committed_format(name).module
    check_case(parser, text, expect=message, problems=problems, tools=TOOLS, **options)
