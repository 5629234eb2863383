"""Values as models write them: with calls in them, line breaks, null, other signs and words."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.generated_formats import KINDS, committed_format, committed_spec
from tests.test_what_models_write import MEMBERS, Text, called
from turnspec.codegen.loading import load
from turnspec.deviations.turns import Format
from turnspec.rendering.conversation import tool_definitions
from turnspec.spec.message import Message as Said
from turnspec.testing import Call, Message, check_case
from turnspec.verification.turns import expected_message


def tool(name: str, **types: Any) -> dict[str, Any]:
    properties = {key: {"type": it} if it else {} for key, it in types.items()}
    return {"name": name, "parameters": {"type": "object", "properties": properties}}


TOOLS = (
    tool("write", path="string", text="string"),
    tool("edit", path="string", edits="array", all="boolean", count="integer", note="string"),
    tool("read", path="string"),
)
CODER, GLM, K3, HY3 = "qwen3-coder", "glm-4-6", "kimi-k3", "tencent-hy3"
GEMMA, FUNCTION_GEMMA, SEEK = (
    "google-gemma-4-31b-it",
    "google-functiongemma-270m-it",
    "deepseek-ai-deepseek-v4",
)


def coder(name: str, **values: str) -> str:
    arguments = "".join(
        f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in values.items()
    )
    return f"<tool_call>\n<function={name}>\n{arguments}</function>\n</tool_call>"


def glm(name: str, **values: str) -> str:
    arguments = "".join(
        f"<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n"
        for key, value in values.items()
    )
    return f"<tool_call>{name}\n{arguments}</tool_call>"


def k3(word: str) -> str:
    argument = f'<|open|>argument key="count" type="{word}"<|sep|>3<|close|>argument<|sep|>'
    call = f'<|open|>call tool="edit" index="1"<|sep|>{argument}<|close|>call<|sep|>'
    return f"<|close|>think<|sep|><|open|>tools<|sep|>{call}<|close|>tools<|sep|>"


def edit(**arguments: Any) -> Message:
    return Message(calls=(Call("edit", arguments),))


def write(text: str, content: str = "") -> Message:
    return Message(content, "", (Call("write", {"path": "a", "text": text}),))


EXAMPLE = coder("do", x="1", y="2")
INNER = "<function=do>\n<parameter=x>\n1\n</parameter>\n</function>"
MENTION = "a <parameter=x> here"
BROKEN = '[{"old": "a\nb", "all": true}]'
LINES = MEMBERS.replace('"a"', '"a\nb"')
QUOTE = '<|"|>'
HY3_CALL = (
    "<tool_calls:opensource>\n<tool_call:opensource>read<tool_sep:opensource>\n"
    "<arg_key:opensource>path</arg_key:opensource>\n"
    "<arg_value:opensource>a</arg_value:opensource>\n</tool_call:opensource>\n"
    "</tool_calls:opensource>"
)
INVOKE = '<｜DSML｜invoke name="{}">\n<｜DSML｜parameter name="{}" string="{}">{}'
INVOKE += "</｜DSML｜parameter>\n</｜DSML｜invoke>"
SECTION = "\n\n<｜DSML｜tool_calls>\n{}\n</｜DSML｜tool_calls>"
SEEK_EXAMPLE = SECTION.format(INVOKE.format("do", "x", "true", "1"))
PLAIN = {"prefill": ""}

VALUES = [
    # A call that stands in a value is a part of it.
    Text(CODER, coder("write", path="a", text=f"See\n{EXAMPLE}\n!"),
         write(f"See\n{EXAMPLE}\n!"), ("inner_marker",) * 2),
    Text(CODER, coder("write", path="a", text=f"See\n{EXAMPLE}"),
         write(f"See\n{EXAMPLE}"), ("inner_marker",) * 2),
    Text(CODER, coder("write", path="a", text=f"{INNER}\n!") + "\nDone.",
         write(f"{INNER}\n!", "Done."), ("inner_marker", "misplaced")),
    Text(CODER, coder("write", text=f"{INNER}\n!", path="a"), write(f"{INNER}\n!"),
         ("inner_marker",)),
    Text(GLM, glm("write", path="a", text=glm("do", x="1") + "\n!"),
         write(glm("do", x="1") + "\n!"), ("inner_marker",), PLAIN),
    Text(SEEK, SECTION.format(INVOKE.format("read", "path", "true", f"See{SEEK_EXAMPLE}!")),
         called(f"See{SEEK_EXAMPLE}!"), ("inner_marker",)),
    # So are two of them, whatever follows the value.
    Text(CODER, coder("write", path="a", text=f"{coder('read', path='b')}\n" * 2),
         write(f"{coder('read', path='b')}\n" * 2), ("inner_marker",) * 2),
    Text(CODER, coder("write", text=f"{coder('read', path='b')}\n" * 2, path="a"),
         write(f"{coder('read', path='b')}\n" * 2), ("inner_marker",) * 2),
    # So is an argument's beginning, where the call ends behind it.
    Text(CODER, coder("write", path="a", text=MENTION), write(MENTION)),
    Text(CODER, coder("write", path="a", text=MENTION) + "\n" + coder("read", path="b"),
         Message(calls=(*write(MENTION).calls, *called("b").calls))),
    Text(CODER, coder("write", text=MENTION, path="a"), write(MENTION)),
    # Strings within values have line breaks and tabs as they are.
    Text(CODER, coder("edit", edits=BROKEN), edit(edits=[{"old": "a\nb", "all": True}])),
    Text(CODER, coder("edit", edits="[{'old': 'a\n\tb'}]"), edit(edits=[{"old": "a\n\tb"}])),
    Text(CODER, coder("edit", edits='[{"old": "a\tb\r\n\x01", "all": true}]'),
         edit(edits=[{"old": "a\tb\r\n\x01", "all": True}])),
    Text(CODER, coder("edit", edits='[\n  "a\\"\nb",\n  "it\'s\n"\n]'),
         edit(edits=['a"\nb', "it's\n"])),
    Text(CODER, coder("edit", note=BROKEN), edit(note=BROKEN)),
    Text(CODER, coder("edit", edits='["a\nb" c]'), edit(edits='["a\nb" c]'), ("wrong_type",)),
    Text(CODER, f"<tool_call>\n{LINES}\n</tool_call>",
         called("a\nb"), ("other_syntax",)),
    # What is left out is null, but where it may be a word.
    Text(CODER, coder("edit", all="null", count="None", edits=" null ", note="null"),
         edit(all=None, count=None, edits=None, note="null")),
    # A word for a type that the format has not leaves it to the tool.
    Text(K3, k3("integer"), edit(count=3), ("wrong_type",)),
    Text(K3, k3("string"), edit(count="3")),
    # A head lacks what stands behind its name.
    Text(HY3, HY3_CALL.replace("<tool_sep:opensource>", ""), called("a"), ("missing_marker",)),
    # Signs of others.
    Text(GEMMA,
         f"<|tool_call>call:edit{{note:{QUOTE}a=b{QUOTE},edits=[\"x\"],all=true}}<tool_call|>",
         edit(note="a=b", edits=["x"], all=True), ("missing_marker",) * 2),
    Text(GEMMA, "<|tool_call>call:edit{a=b:1}<tool_call|>",
         Message(calls=(Call("edit", {"a=b": 1}),)), ("unknown_argument",)),
    Text(GEMMA, "<|tool_call>call:edit{note:`a {\n \"b\" 'c'}`,edits:[`d`, \"`e`\"]}<tool_call|>",
         edit(note="a {\n \"b\" 'c'}", edits=["d", "`e`"]), ("malformed",) * 2),
    Text(GEMMA, f"<|tool_call>{MEMBERS}<tool_call|>", called("a"), ("other_syntax",)),
    Text(GEMMA, f"<|tool_call>[{MEMBERS}]<tool_call|>", called("a"), ("other_syntax",)),
]  # fmt: skip


@pytest.mark.parametrize("case", VALUES, ids=lambda case: case.text[:60])
def test_values(case: Text) -> None:
    module = load(committed_spec(case.name))
    options = {"tools": TOOLS, **(case.options if "prefill" in case.options else {})}
    check_case(module, case.text, expect=case.expect, problems=case.problems, **options)


def _has_text_arguments(name: str) -> bool:
    form = committed_format(name)
    return form.spec.tools is not None and form.marks.arguments.form == "text"


def _quoted(form: Format, **arguments: Any) -> str:
    other = replace(form.call, name="other", arguments=arguments)
    return form.without_end(expected_message(form.spec, Said(calls=(other,)))).strip()


@pytest.mark.parametrize("name", [name for name in KINDS if _has_text_arguments(name)])
def test_a_value_may_hold_a_whole_call(name: str) -> None:
    form = committed_format(name)
    for quoted in (_quoted(form, x="1"), _quoted(form, x="1", y="2")):
        text = f"a\n{quoted}\nb"
        call = replace(form.call, arguments={"city": text, "days": 3})
        written = form.write(expected_message(form.spec, Said(calls=(call,))))
        read = form.module.parse(written, tools=tool_definitions((call, *form.calls)))
        assert [one.complete for one in read.tool_calls] == [True]
        assert json.loads(read.tool_calls[0].arguments)["city"] == text
        assert not read.content


def test_blanks_may_stand_behind_a_value_that_mentions_an_argument() -> None:
    module = load(committed_spec("qwen3-coder"))
    told = "use <parameter=x> here"
    text = f"<tool_call>\n<function=edit>\n<parameter=note>\n{told}\n</parameter>"
    for between in ("\n", " \n\n", "\r\n \n"):
        rest = f"{between}</function>{between}</tool_call><|im_end|>"
        (call,) = module.parse(text + rest, tools=TOOLS).tool_calls
        assert (json.loads(call.arguments), call.complete) == ({"note": told}, True)


@pytest.mark.parametrize(
    ("text", "read", "complete"),
    [
        ("a\n</parameter>", "a", True),
        ("<b/>\n</parameter>", "<b/>\n</parameter>", False),  # which an edit's lines may end in
        ("Ends in </parameter>", "Ends in </parameter>", True),
    ],
)
def test_a_value_is_closed_twice(text: str, read: str, complete: bool) -> None:
    module = load(committed_spec(CODER))
    for values in ({"path": "a", "text": text}, {"text": text, "path": "a"}):
        call = module.parse(coder("write", **values), tools=list(TOOLS)).tool_calls[0]
        assert (json.loads(call.arguments), call.complete) == (values | {"text": read}, complete)
