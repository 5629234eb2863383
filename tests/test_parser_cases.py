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
IFM = "<ifm|tool_call>look\n<ifm|arg_key>city</ifm|arg_key>\n<ifm|arg_value>Paris</ifm|arg_value>\n"
IFM += "</ifm|tool_call>\n"
IFM_OPEN, IFM_CLOSE = "<ifm|tool_calls>\n", "</ifm|tool_calls><|ifm|im_end|>"
JP = 'to=functions.look<|channel|>commentary <|constrain|> json<|message|>{"city": "Paris"}'
JP_THOUGHT = "<|channel|>analysis<|message|>Hm<|end|><|start|>assistant"
SEEK = '<｜tool▁call▁begin｜>function<｜tool▁sep｜>look\n```json\n{"city": "Paris"}\n```'
SEEK += "<｜tool▁call▁end｜>"
SEEK_OPEN = "<｜tool▁calls▁begin｜>"
SEEK_CLOSE = "<｜tool▁calls▁end｜><｜end▁of▁sentence｜>"
FAST = {"prefill": "<|ifm|im_start|>assistant\n<ifm|think_fast>\n"}

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
    ("ifm-k2-horizon", "Hm\n</ifm|think>Hi<|ifm|im_end|>", Message("Hi", "Hm"), (), {}),
    ("ifm-k2-horizon", "Hm</ifm|think_fast>Hi<|ifm|im_end|>", Message("Hi", "Hm"), (), FAST),
    (
        "ifm-k2-horizon",
        f"Hm</ifm|think>{IFM_OPEN}{IFM}{IFM_CLOSE}",
        Message("", "Hm", (LOOK,)),
        (),
        {},
    ),
    (
        "ifm-k2-horizon",
        f"</ifm|think>Hi{IFM_OPEN}{IFM}{IFM}{IFM_CLOSE}",
        Message("Hi", "", (LOOK, LOOK)),
        (),
        {},
    ),
    (
        "llm-jp-llm-jp-4-1-8b-thinking",
        f"{JP_THOUGHT}<|channel|>final<|message|>Hi<|return|>",
        Message("Hi", "Hm"),
        (),
        {},
    ),
    (
        "llm-jp-llm-jp-4-1-8b-thinking",
        f"{JP_THOUGHT} {JP}<|call|>",
        Message("", "Hm", (LOOK,)),
        (),
        {},
    ),
    (
        "openai-gpt-oss-120b",
        ' to=functions.look <|constrain|>json<|message|>{"city": "Paris"}<|call|>',
        CALL,
        ("missing_marker",),
        {},
    ),
    (
        "llm-jp-llm-jp-4-1-8b-thinking",
        f" {JP}<|end|><|start|>assistant {JP}<|call|>",
        Message(calls=(LOOK, LOOK)),
        (),
        {},
    ),
    ("deepseek-ai-deepseek-prover-v2", "Hi<｜end▁of▁sentence｜>", Message("Hi"), (), {}),
    (
        "deepseek-ai-deepseek-prover-v2",
        f"Hi{SEEK_OPEN}{SEEK}{SEEK_CLOSE}",
        Message("Hi", "", (LOOK,)),
        (),
        {},
    ),
    (
        "deepseek-ai-deepseek-prover-v2",
        f"{SEEK_OPEN}{SEEK}\n{SEEK}{SEEK_CLOSE}",
        Message(calls=(LOOK, LOOK)),
        (),
        {},
    ),
    (
        "skywork-skywork-or1",
        "<think>Hm</think>Hi<｜end▁of▁sentence｜>",
        Message("Hi", "Hm"),
        (),
        {},
    ),
    ("skywork-skywork-or1", f"{SEEK_OPEN}{SEEK}{SEEK_CLOSE}", CALL, (), {}),
    (
        "skywork-skywork-or1",
        f"{SEEK_OPEN}{SEEK}\n{SEEK}{SEEK_CLOSE}",
        Message(calls=(LOOK, LOOK)),
        (),
        {},
    ),
    (
        "microsoft-phi-4-mini-instruct",
        f'functools[{{"name": "look", "arguments": {{"city": "Rome"}} (so)}}, {JSON}]<|end|>',
        Message("(so)},", "", (Call("look", {"city": "Rome"}), LOOK)),
        ("malformed", "misplaced"),
        {},
    ),
    (
        "mistralai-ministral-3-14b-reasoning-2512",
        '[TOOL_CALLS]look[ARGS]{"city": "a}[TOOL_CALLS]look[ARGS][TOOL_CALLS]look[ARGS]'
        '{"city": "Paris"}</s>',
        Message(calls=(Call("look", {"city": "a}"}), Call("look", {}), LOOK)),
        ("malformed", "no_arguments"),
        {},
    ),
    ("google-translategemma-4b-it", "Hi<end_of_turn>\n", Message("Hi"), (), {}),
    ("huggingfacem4-idefics3", " Hi<end_of_utterance>\n", Message("Hi"), (), {}),
    ("llava-hf-llava-next", " Hi</s> ", Message("Hi"), (), {}),
]


@pytest.mark.parametrize(
    ("name", "text", "message", "problems", "options"), CASES, ids=range(len(CASES))
)
def test_a_case(
    name: str, text: str, message: Message, problems: tuple[str, ...], options: Mapping[str, Any]
) -> None:
    parser = committed_format(name).module
    check_case(parser, text, expect=message, problems=problems, tools=TOOLS, **options)
