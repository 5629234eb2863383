"""What models write otherwise than their templates do: texts, and what is read of each."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.generated_formats import in_memory
from turnspec.testing import Call, Message, check_case


def tool(name: str, *arguments: str) -> dict[str, Any]:
    properties = {argument: {"type": "string"} for argument in arguments}
    return {
        "type": "function",
        "function": {
            "name": name,
            "parameters": {"type": "object", "properties": properties},
        },
    }


TOOLS = (tool("read", "path"), tool("sum", "a"))


@dataclass(frozen=True)
class Text:
    """A text in a format, what has to be read of it, and the kinds of problems that tell of it."""

    name: str
    text: str
    expect: Message
    problems: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=lambda: {"tools": TOOLS})


def said(content: str, reasoning: str = "") -> Message:
    return Message(content=content, reasoning=reasoning)


def called(*arguments: str, name: str = "read") -> Message:
    return Message(calls=tuple(Call(name, {"path": path}) for path in arguments))


def called_after(reasoning: str, path: str) -> Message:
    return Message(reasoning=reasoning, calls=called(path).calls)


def check(case: Text) -> None:
    module = in_memory(case.name)
    check_case(module, case.text, expect=case.expect, problems=case.problems, **case.options)


OSS, MUSE, JP = "openai-gpt-oss-120b", "muse-glimmer", "llm-jp-llm-jp-4-1-8b-thinking"
HEADED = " to=functions.read<|channel|>commentary json<|message|>{}"
INVOKE = (
    '<atem:function_calls>\n<atem:invoke name="{}\n<atem:parameter name="path">a</atem:parameter>'
    "\n</atem:invoke>\n</atem:function_calls><|eot|>"
)
QUOTED = INVOKE.format('read">')

#: The headers of messages in a turn, and who they name.
HEADERS = [
    Text(OSS, "<|channel|>analysis\n<|message|>T.<|end|>\n<|channel|> final <|message|>A.",
         said("A.", "T."), ("missing_marker", "missing_marker")),
    Text(OSS, "<|start|><|channel|>final<|message|>A.", said("A.")),
    Text(OSS, "<|message|>A.<|return|>", said("A.")),
    Text(OSS, "<|channel|>commentary<|message|>Wait.<|end|><|channel|>final<|message|> A.",
         said("Wait. A."), ("missing_marker", "missing_marker")),
    Text(OSS, "<|channel|>commentary to=assistant<|channel|>final<|message|>A.<|return|>",
         said("A."), ("repeated", "stray_marker")),
    Text(OSS, "<|channel|>commentary to=commentary<|channel|>commentary<|message|>A.<|end|>",
         said("A."), ("repeated", "stray_marker")),
    Text(OSS, "<|channel|>final to=assistant<|channel|>analysis<|message|>T.<|end|>",
         said("", "T."), ("repeated", "stray_marker")),
    Text(OSS, "<|channel|>commentary to=user<|channel|>commentary to=functions.read "
         '<|constrain|>json<|message|>{"path": "a"}<|call|>',
         called("a"), ("repeated", "unexpected_text", "stray_marker")),
    Text(OSS, '<|channel|>commentary to=read.read<|message|>{"path": "a"}<|call|>',
         called("a"), ("repeated", "missing_marker")),
    Text(OSS, '<|channel|>commentary to=functions.read kind=json<|message|>{"path": "a"}<|call|>',
         called("a"), ("unexpected_text",)),
    Text(OSS, '<|channel|>commentary 2? to=functions.read<|message|>{"path": "a"}<|call|>',
         called("a"), ("unexpected_text",)),
    Text(OSS, '<|channel|>commentary to=read=<|constrain|><|constrain|>j<|message|>{"path": "a"}',
         called("a"), ("unexpected_text", "missing_marker")),
    Text(OSS, ' to=functions.read<|channel|>commentary code<|message|>{"path": "a"}<|call|>',
         called("a"), ("unexpected_text",)),
    Text(JP, ' to=functions.read<|channel|>analysis <|constrain|> json<|message|>{"path": "a"}',
         called("a"), ("unexpected_text",)),
    Text(JP, '<|channel|>commentary to=functions.read <|constrain|>json<|message|>{"path": "a"}',
         called("a"), ("repeated",)),
    *(
        Text(OSS, f"<|channel|>analysis<|message|>T.<|end|><|start|>{name}<|channel|>commentary"
             '<|message|>{"path": "a"}<|call|>', called_after("T.", "a"), told)
        for name, told in (
            ("read", ("missing_marker",) * 3),
            ("functions.read", ("missing_marker",) * 2),
        )
    ),
    Text(OSS, "<|channel|>commentary to=user<|channel|>commentary?<|end|><|start|>assistant"
         "<|channel|>final<|message|>A.", said("A."),
         ("repeated", "unexpected_text", "missing_marker")),
    Text(OSS, "<|channel|>commentary to=read\nor not<|message|>A.",
         said("to=read\nor not<|message|>A."), ("repeated",)),
    Text(MUSE, " to=commentary<|message|>A.<|eot|>", said("A."), ("unexpected_text",)),
    Text(MUSE, " to=assistant<|message|>" + QUOTED,
         said(QUOTED.removesuffix("<|eot|>")), ("unexpected_text",)),
    Text(MUSE, " to=commentary<|message|>" + QUOTED,
         said(QUOTED.removesuffix("<|eot|>")), ("unexpected_text",)),
    Text(MUSE, "<|message|>A.<|eot|>", said("A.")),
    Text(MUSE, "\n" * 200 + "<|message|>A.<|eot|>", said("A.")),
    Text(MUSE, " to=read<|message|><atem:function_calls>", said(""), ("cut_off",)),
    Text(MUSE, " to=read.read<|message|>" + INVOKE.format('read.read">'),
         called("a"), ("repeated",)),
    Text(MUSE, " to=files.read<|message|>" + QUOTED, called("a"), ("repeated",)),
    Text(MUSE, " to=read.read<|message|>" + QUOTED, called("a"), ("repeated",)),
    Text(MUSE, " to=already<|message|>" + QUOTED,
         said(QUOTED.removesuffix("<|eot|>")), ("unexpected_text",)),
    Text(MUSE, " to=read<|message|>" + INVOKE.format('re<|message|>ad">'),
         called("a"), ("repeated",)),
    Text(MUSE, " to=read<|message|>" + INVOKE.format("read<|message|>"),
         called("a"), ("repeated",)),
    Text(MUSE, " to=read<|message|>" + QUOTED, called("a")),
    Text(MUSE, " to=atem:function_calls<|message|>" + QUOTED, called("a"), ("repeated",)),
    Text(MUSE, " to=files<|message|>" + INVOKE.format('files.read">'),
         called("a", name="files.read"), ("repeated",), {"tools": [tool("files.read", "path")]}),
    *(
        Text(MUSE, f" to=self<|message|>{lead}{QUOTED}",
             said("", lead + QUOTED.removesuffix("<|eot|>")),
             ("stray_marker", "stray_marker", "unclosed"))
        for lead in ("", "So: ")
    ),
    Text(MUSE, " to=self<|message|>So:<|start|>assistant to=read<|message|>" + QUOTED,
         called_after("So:", "a"), ("unclosed",)),
    Text(MUSE, "<|message|>" + QUOTED, called("a")),
    Text(MUSE, "<|message|>So: " + QUOTED, said("So: " + QUOTED.removesuffix("<|eot|>"))),
    *(
        case
        for name in (OSS, JP)
        for case in (
            Text(name, f"<|message|>So:{HEADED}", said(f"So:{HEADED}")),
            Text(name, f"<|channel|>final<|message|>A.<|end|><|start|>assistant<|message|>{HEADED}",
                 said(f"A.{HEADED}")),
            Text(name, " to=user<|message|>A.", said("A."), ("stray_marker",)),
            Text(name, ' to=functions.read<|message|>{"path": "a"}',
                 called("a"), ("missing_marker",)),
            Text(name, '<|channel|>other to=functions.read<|message|>{"path": "a"}', called("a"),
                 ("unexpected_text", *(("repeated", "missing_marker") if name == JP else ()))),
            Text(name, "<|channel|>other<|message|>A.", said("A."), ("unexpected_text",)),
        )
    ),
    Text(JP, ' to=functions.read<|channel|> commentary<|message|> {"path": "a"}',
         called("a"), ("missing_marker",)),
]  # fmt: skip


@pytest.mark.parametrize("case", HEADERS, ids=lambda case: case.text[:40])
def test_headers_say_what_a_message_is(case: Text) -> None:
    check(case)


LLAMA = "meta-llama-llama-3-2-3b-instruct"
QWEN, DEEPSEEK, GEMMA, LFM, NEMO, GLM, HORIZON, FUNCTION_GEMMA = (
    "qwen-qwen3-0-6b",
    "deepseek-ai-deepseek-v3",
    "google-gemma-4-31b-it",
    "lfm2-8b-a1b",
    "mistralai-mistral-nemo-instruct-2407",
    "glm-4-6",
    "ifm-k2-horizon",
    "google-functiongemma-270m-it",
)
SEEK = "deepseek-ai-deepseek-v3-1"
SEEK_CALL = "<｜tool▁call▁begin｜>read<｜tool▁sep｜>"
OLD_SEEK_CALL = "<｜tool▁call▁begin｜>function<｜tool▁sep｜>read\n"
FENCED = '```\n{"path": "a"}\n```<｜tool▁call▁end｜>'
GRANITE, GIGA = "vllm-granite-3", "gigachat3-10b-a1-8b"
COHERE = "coherelabs-c4ai-command-a-tool-use"
TOOL_NAME = '[{"tool_call_id": "0", "tool_name": "read", "parameters": {"path": "a"}}]'
K3_CALL = (
    '<|open|>call tool="read"{}<|sep|><|open|>argument key="path" type="string"<|sep|>a'
    "<|close|>argument<|sep|><|close|>call<|sep|>"
)
MINISTRAL = "mistralai-ministral-3-14b-reasoning-2512"
OTHER = ("other_syntax",)
#: What the text's end decides, and what follows the first of it is no call either.
DRAFTS = (
    "<｜tool▁calls▁begin｜>\n\n< word =<｜tool▁call▁begin｜> function\n<｜tool▁sep｜> user\n"
    "\n```json<｜tool▁<｜tool▁calls▁begin｜>\n\n< word cou"
)
NUMBERED = '<tool_call>{"name": 5, "arguments": {"path": "a"}}</tool_call>'
CODER = "qwen3-coder"
PARAMETER = "<parameter=arguments>\n{}\n</parameter>"
CODED = f"<tool_call>\n<function=read>\n{PARAMETER}\n</function>\n</tool_call>"
TYPED = (
    "<tool_call>read\n<arg_key>path</arg_key>\n<arg_type>{}</arg_type>\n"
    "<arg_value>a b</arg_value>\n</tool_call>"
)
MEMBERS = '{"name": "read", "arguments": {"path": "a"}}'

GEMMA_CALL = '<|tool_call>call:read{path:<|"|>a<|"|>}<tool_call|>'

#: Calls that are written otherwise.
CALLS = [
    Text(GEMMA, '<|tool_call>call:read{path:<|"|>a<|"|>}call:read{path:<|"|>b<|"|>}<tool_call|>',
         called("a", "b"), ("missing_marker",)),
    Text(GEMMA, '<|tool_call>call:read{<|"|>path<|"|>:<|"|>a<|"|>}<tool_call|>',
         called("a"), ("malformed",)),
    Text(GEMMA, '<|tool_call>call:read(path="a")<tool_call|>', called("a"), OTHER),
    Text(GEMMA, '<|tool_call>call:read(path=<|"|>a, (b)<|"|>)<tool_call|>' + GEMMA_CALL,
         called("a, (b)", "a"), ("missing_marker", "malformed")),
    Text(GEMMA, '<|tool_call>call:read{path:<|"|>a<|"|>)<tool_call|>' + GEMMA_CALL,
         called("a", "a"), ("malformed",)),
    Text(GEMMA, '<|tool_call>call:read{path:a, (b)<|"|>}<tool_call|>' + GEMMA_CALL,
         called("a, (b)", "a"), ("malformed",)),
    Text(GEMMA, '<|tool_call>call:read{path:a<|"|>}<tool_call|>', called("a"), ("malformed",)),
    *(
        Text(GEMMA, f"<|tool_call>call:read{{path: {path}}} {after}<tool_call|>", called(*paths),
             ("malformed", *others))
        for path in ("a", "a b")
        for after, paths, others in (
            ("\n", [path], ()),
            ("\ncall:read{path: c}", [path, "c"], ("missing_marker", "malformed")),
        )
    ),
    *(
        Text(name, f"<tool_call>{word}\n{MEMBERS}\n</tool_call>", called("a"), OTHER)
        for name in (QWEN, CODER)
        for word in ("json", "read")
    ),
    Text(QWEN, f"<tool_call>sum\n{MEMBERS}\n</tool_call>",
         Message(calls=(Call("sum", json.loads(MEMBERS)),)), OTHER),
    *(
        Text(QWEN, f'<tool_call>read{between}{{"path": "a"}}\n</tool_call>', called("a"), OTHER)
        for between in ("\n", " ", "")
    ),
    Text("glm-4-6", "<tool_call>read\n</tool call>", said("<tool_call>read\n</tool call>")),
    *(
        Text("glm-4-6", f"{before}<tool_call>read\n</toolcall>{after}", *wanted)
        for before, after, wanted in (
            ("", "", (Message(calls=(Call("read", {}),)), ("cut_off",))),
            ("", " is no call", (said("<tool_call>read\n</toolcall> is no call"),)),
        )
    ),
    Text(QWEN, f"<tool_call>\n{MEMBERS}\n</function>\n</tool_call>",
         called("a"), ("stray_marker",)),
    Text(CODER, "<tool_call>\n<function=read>\n<parameter=path>\na\n</parameter>\n</function>\n"
         "</function>\n</function_invocation>\n</tool_call>", called("a"), ("stray_marker",)),
    Text(LFM, f"<|tool_call_start|>[{MEMBERS}, {MEMBERS}]<|tool_call_end|>",
         called("a", "a"), OTHER * 2),
    Text(LFM, f"<|tool_call_start|>[{MEMBERS}]<|tool_call_end|>", called("a"), OTHER),
    *(
        Text(name, f"<|tool_call_start|>[{calls}]<|tool_call_end|>", called(*paths),
             ("malformed",) * told)
        for name in (LFM, "lfm2-5-8b-a1b", "liquidai-lfm2-5-v2")
        for calls, paths, told in (
            ("read(path='ls 'a (b)'')", ["ls 'a (b)'"], 2),
            ("read(path='(ls 'a') | wc'), read(path='b')", ["(ls 'a') | wc", "b"], 2),
            ("read(path='[x['a'] + 1]')", ["[x['a'] + 1]"], 2),
            ("read(path='open('a')'), read(path='b')", ["open('a')", "b"], 2),
            ("read(path='a 'b'), read(path='{c's')", ["a 'b", "{c's"], 2),
            ("read(path='sh -c 'f('a')'')", ["sh -c 'f('a')'"], 4),
        )
    ),
    Text(LFM, f'<|tool_call_start|>[{MEMBERS}, {{"name": 5}}]<|tool_call_end|>',
         said(f'<|tool_call_start|>[{MEMBERS}, {{"name": 5}}]<|tool_call_end|>'), ("no_name",)),
    Text(QWEN, f"<tool_call>{MEMBERS.replace(chr(34), chr(39))}</tool_call>",
         called("a"), OTHER),
    Text(LLAMA, "{'name': 'read', 'parameters': {'path': '{\"name\": \"read\"} isn\\'t it'}}",
         called('{"name": "read"} isn\'t it'), ("malformed",) * 3),
    Text(COHERE, f"<|START_ACTION|>{TOOL_NAME.replace(chr(34), chr(39))}<|END_ACTION|>",
         called("a"), ("malformed",) * 4),
    Text("apertus-8b-instruct", "<|tools_prefix|>[{'read': {'path': 'a'}}]<|tools_suffix|>",
         called("a"), ("malformed",) * 2),
    Text(GEMMA, GEMMA_CALL.replace('a<|"|>', "a") + GEMMA_CALL, called("a", "a"), ("malformed",)),
    Text(QWEN, NUMBERED, said(NUMBERED), ("no_name",)),
    Text(QWEN, NUMBERED, called("a", name="5"), (), {"tools": [tool("5", "path")]}),
    Text(CODER, CODED.format('{"path": "a"}'), called("a"), ("unknown_argument",)),
    *(
        Text(CODER, CODED.replace("arguments", key).format("{'path': 'a'}"),
             called("a"), ("unknown_argument",))
        for key in ("properties", "parameters", "input")
    ),
    Text("salesforce-llama-xlam-2-8b-fc-r", f"Well.[CALLS][{MEMBERS}]",
         Message("Well.", calls=called("a").calls), ("unexpected_text",)),
    Text("salesforce-llama-xlam-2-8b-fc-r", "Well.[CALLS][1]", said("Well.[CALLS][1]")),
    *(
        Text(CODER, CODED.replace("=arguments>", f"={start}parameter=path{end}").format("a"),
             called("a"), ("missing_marker",) * told)
        for start, end, told in (("", ">", 2), ("", "", 3), ("<", ">", 1), ("><", ">", 0))
    ),
    Text("glm-4-6", TYPED.format("string"), called("a b"), ("missing_marker",)),
    Text("glm-4-6", TYPED.replace("arg_type>", "arg_key>").format("mode"),
         Message(calls=(Call("read", {"path": "", "mode": "a b"}),)),
         ("missing_marker", "missing_marker"), {"tools": [tool("read", "path", "mode")]}),
    Text("glm-4-6", TYPED.replace("<arg_type>", "<arg_value><arg_type>").format("b"),
         called("<arg_type>b</arg_type>\n<arg_value>a b")),
    Text(CODER, '<tool_call>{"name": "read", "args": {"path": "a"}}</tool_call>',
         called("a"), ("other_syntax",)),
    Text("glm-4-6", '<tool_call>read\n{"name": "read", "arguments": {"path": "a"}}</tool_call>',
         called("a"), ("other_syntax",)),
    Text(CODER, '<tool_call>\n<function=read>\n'
         '{"name": "read", "arguments": {"path": "a"}}\n</function>\n</tool_call>',
         called("a"), ("other_syntax",)),
    Text(CODER, CODED.format("{}"),
         Message(calls=(Call("read", {"arguments": {}}),)), ("unknown_argument",)),
    Text(CODER, CODED.format('"a"'),
         Message(calls=(Call("read", {"arguments": '"a"'}),)), ("unknown_argument",)),
    Text(QWEN, f'<tool_call>[{MEMBERS}, {{"name": 5}}]</tool_call>',
         Message(', {"name": 5}]', "", called("a").calls),
         ("array", "no_name", "misplaced", "stray_marker")),
    Text(QWEN, f"<tool_call>[{MEMBERS.replace(chr(34), chr(39))}]</tool_call>",
         called("a"), OTHER),
    Text(GEMMA, '<|tool_call>call:read{path:<|"|>a<|"|>},\ncall:read{path:<|"|>b<|"|>}<tool_call|>',
         called("a", "b"), ("missing_marker",)),
    Text(GEMMA, "<|channel>thought\nA\n<channel|>thought\n<channel|>Hi", said("Hi", "A")),
    Text(GEMMA, "thought of it", said("thought of it")),
    Text(GEMMA, "<|channel>response \nHi<channel|>, yes", said("Hi, yes"),
         ("unexpected_text", "stray_marker")),
    Text(GEMMA, f"<|channel>thought\nA\n{GEMMA_CALL}<|channel>response\nHi",
         said("Hi", f"A\n{GEMMA_CALL}"), ("draft", "unexpected_text", "unclosed")),
    Text(FUNCTION_GEMMA, "<start_function_call>call:read{<escape>path<escape>:<escape>a<escape>}"
         "<end_function_call>", called("a"), ("malformed",)),
    Text(HORIZON, f"</ifm|think><ifm|tool_calls>[{MEMBERS}, {MEMBERS}]</ifm|tool_calls>",
         called("a", "a"), OTHER * 2),
    Text(GLM, "<tool_call>read\n<arg_key>a<1></arg_key>\n<arg_value>b</arg_value>\n</tool_call>",
         Message(calls=(Call("read", {"a<1>": "b"}),)), (), {"prefill": ""}),
    Text(DEEPSEEK, DRAFTS, said("", DRAFTS), ("draft", "unclosed")),
    Text(QWEN, '<tool_call>\n<function=read>\n{"path": "a"}\n</function>\n</tool_call>',
         called("a"), OTHER),
    Text(QWEN, '<tool_call>\n<function=read>\n["a"]\n</function>\n</tool_call>',
         said('<tool_call>\n<function=read>\n["a"]\n</function>\n</tool_call>'), ("no_name",)),
    Text(NEMO, f"[TOOL_CALLS][{MEMBERS}][/TOOL_CALLS]", called("a"), ("stray_marker",)),
    Text(NEMO, f"[TOOL_CALLS][{MEMBERS}]\n[/TOOL_CALLS]So.",
         Message("So.", "", called("a").calls), ("stray_marker", "misplaced")),
    Text(NEMO, "So [/TOOL_CALLS] ends it.", said("So [/TOOL_CALLS] ends it.")),
    Text("ibm-granite-20b-functioncalling", f"<function_call> {MEMBERS}</function_call>",
         called("a"), ("stray_marker",)),
    Text("minimax-m1", "Hi.<tool_calls>\n</tool_calls>", said("Hi.")),
    Text(DEEPSEEK, OLD_SEEK_CALL + FENCED, called("a"),
         ("unclosed", "missing_marker", "missing_marker")),
    Text(SEEK, SEEK_CALL + FENCED, called("a"), ("missing_marker", "stray_marker")),
    Text(SEEK, f"{SEEK_CALL}```", Message(calls=(Call("read", {}),)),
         ("missing_marker", "cut_off", "no_arguments")),
    Text(GLM, "<tool_call>read\n<arg_key>path</arg_key>\n<arg_value>a\n</tool_call>", called("a"),
         ("missing_marker",)),
    Text(CODER, "<tool_call>\n<function=read>\n<parameter=path>\na\n</parameter>\n<function=sum>\n"
         "</function>\n</tool_call>",
         Message(calls=(Call("read", {"path": "a"}), Call("sum", {}))), ("malformed",)),
    Text(CODER, CODED.replace("arguments", "path").format("</parameter>\n</a>\nb"),
         called("</parameter>\n</a>\nb"), ("inner_marker",)),
    Text(CODER, "The <function name> tag.", said("The <function name> tag.")),
    *(
        Text(CODER, text, said(text), ("no_name",))
        for text in (
            "So `<function=seek></function>` looks.",
            "<function=seek>\n<parameter=a>\n1\n</parameter>\n</function>",
        )
    ),
    Text(GEMMA, GEMMA_CALL.replace("call:", "call:default_api:"), called("a"), ("repeated",)),
    Text(GEMMA, GEMMA_CALL.replace("call:", "call:google:mcp."), called("a"), ("repeated",)),
    Text(GEMMA, GEMMA_CALL.replace("call:", "call: "), called("a")),
    Text(GEMMA, GEMMA_CALL.replace("read", "thread"), called("a", name="thread"),
         ("unknown_tool",)),
    Text(QWEN, "Said.\n<tool_call>\n{", said("Said."), ("cut_off",)),
    Text(NEMO, "[TOOL_CALLS]read", said("[TOOL_CALLS]read"), ("no_name",)),
    Text(MINISTRAL, "[TOOL_CALLS]read", said(""), ("cut_off",)),
    Text(MINISTRAL, "[TOOL_CALLS]it</s>", said("[TOOL_CALLS]it")),
    Text(MINISTRAL, "`[TOOL_CALLS]`", said("`[TOOL_CALLS]`")),
    Text(MINISTRAL, '[TOOL_CALLS]read[CALL_ID]x7[ARGS]{"path": "a"}[TOOL_CALLS]read[ARGS]'
         '{"path": "b"}</s>', called("a", "b"), OTHER),
    Text("mistral-small-3-2-24b-instruct-2506", '[TOOL_CALLS] read [ARGS] {"path": "a"}</s>',
         called("a"), ("missing_marker",)),
    Text(MINISTRAL, "[TOOL_CALLS]a&amp;b[ARGS]{}", said("[TOOL_CALLS]a&amp;b[ARGS]{}"),
         ("no_name",)),
    Text(QWEN, MEMBERS, called("a"), ("missing_marker",)),
    Text(QWEN, f"<think>A</think>\n{MEMBERS}\n</tool_call>", called_after("A", "a"),
         ("missing_marker",)),
    Text(QWEN, f"<tools>\n{MEMBERS}\n</tools>", called("a"), ("missing_marker", "stray_marker")),
    Text(QWEN, f"<tools>\n{MEMBERS}\n</tools>\n<tools>\n{MEMBERS}\n</tools>", called("a", "a"),
         ("missing_marker", "stray_marker", "missing_marker", "stray_marker")),
    Text(QWEN, f"<think>{MEMBERS}</think>Hi", said("Hi", MEMBERS)),
    Text(QWEN, '{"name": "read", "size": 3}', said('{"name": "read", "size": 3}')),
    Text(QWEN, MEMBERS, said(MEMBERS), (), {}),
    Text(GRANITE, f"<tool_call>[{MEMBERS}, {MEMBERS}]", called("a", "a"), ("missing_marker",)),
    Text(QWEN, f"```json\n{MEMBERS}\n```", called("a"), ("missing_marker", "stray_marker")),
    Text(QWEN, f"See:\n```json\n{MEMBERS}\n```", said(f"See:\n```json\n{MEMBERS}\n```")),
    Text(NEMO, f"[{MEMBERS}]", said(f"[{MEMBERS}]"), ("no_name",)),
    Text("microsoft-phi-4-mini-instruct", f"[{MEMBERS}]", called("a"), ("missing_marker",)),
    Text("microsoft-phi-4-mini-instruct", f"[{MEMBERS}]", said(f"[{MEMBERS}]"), (), {}),
    Text(COHERE, TOOL_NAME, called("a"), ("missing_marker",)),
    Text(GIGA, f"function call<|role_sep|>\n{MEMBERS}", called("a"), ("missing_marker",)),
    *(
        Text("kimi-k3", "<|open|>tools<|sep|>" + K3_CALL.format(attributes)
             + K3_CALL.format(' index="1"') + "<|close|>tools<|sep|>", called("a", "a"),
             options={"tools": TOOLS, "prefill": '<|open|>message role="assistant"<|sep|>'})
        for attributes in ("", " index=2", ' index="b"', ' index="2" of="3"', ' call_id="x7"')
    ),
    *(
        Text("minimax-m2", f'<minimax:tool_call>\n<invoke name="read">\n<parameter {attributes}>a'
             "</parameter>\n</invoke>\n</minimax:tool_call>", called("a"),
             ("missing_marker",) * told, {"tools": TOOLS, "prefill": ""})
        for attributes, told in (
            ('name="path"', 0),
            ('name="path" type="string"', 1),
            ("name='path' string=true", 1),
        )
    ),
    Text("openbmb-minicpm5-1b",
         '<function name="read"><param name="path" kind="file">a</param></function>', called("a"),
         ("missing_marker",), {"tools": TOOLS, "prefill": ""}),
    *(
        Text(name, opening + twice + call, called("a"), ("repeated",))
        for name, opening, call in (
            (LFM, "<|tool_call_start|>[", "read(path='a')]<|tool_call_end|>"),
            (FUNCTION_GEMMA, "<start_function_call>call:",
             "read{path:<escape>a<escape>}<end_function_call>"),
            (GEMMA, "<|tool_call>call:", 'read{path:<|"|>a<|"|>}<tool_call|>'),
            (CODER, "<tool_call>\n<function=",
             "read>\n<parameter=path>\na\n</parameter>\n</function>\n</tool_call>"),
            (NEMO, "[TOOL_CALLS][", f"{MEMBERS}]"),
        )
        for twice in (opening, "\n" + opening)
    ),
    Text(f"{GEMMA}-interleaved", '<|tool_call>call:read{path:<|"|>a<|"|>}<tool_call|>'
         "<|tool_response>", called("a")),
    *(
        Text(name, opening + "sum" + end, Message(calls=(Call("sum", {}),)), ("no_arguments",))
        for name, opening, end in (
            (FUNCTION_GEMMA, "<start_function_call>call:", "<end_function_call>"),
            (GEMMA, "<|tool_call>call:", "<tool_call|>"),
        )
    ),
    Text(FUNCTION_GEMMA, "Put <start_function_call>name<end_function_call> there.",
         said("Put <start_function_call>name<end_function_call> there."), ("no_name",)),
    *(
        Text(name, opening + written + end, called(*paths), ("other_syntax",) * len(paths))
        for name, opening, end in (
            (CODER, "<tool_call>\n", "\n</tool_call>"),
            ("bytedance-seed-oss", "<seed:tool_call>\n", "\n</seed:tool_call>"),
            ("mistral-small-3-2-24b-instruct-2506", "[TOOL_CALLS]", ""),
            (LFM, "<|tool_call_start|>", "<|tool_call_end|>"),
        )
        for written, paths in (
            (MEMBERS + "\n" + MEMBERS.replace('"a"', '"b"'), "ab"),
            (f"```json\n{MEMBERS}\n```", "a"),
            (f"```\n[{MEMBERS}]\n```", "a"),
            (MEMBERS.replace('"a"', '"}\n{"'), ("}\n{",)),
        )
    ),
    *(
        Text(name, opening + 'read\n```json\n{"path": "a"}\n```' + end, called("a"),
             ("other_syntax",))
        for name, opening, end in (
            (QWEN, "<tool_call>\n", "\n</tool_call>"),
            (CODER, "<tool_call>\n", "\n</tool_call>"),
            (NEMO, "[TOOL_CALLS]", ""),
            ("deepseek-ai-deepseek-v3-0324", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>",
             "<｜tool▁call▁end｜><｜tool▁calls▁end｜>"),
        )
    ),
    Text(LFM, "<|tool_call_start|>```python\nread(path='a')\nread(path='b')\n```<|tool_call_end|>",
         called("a", "b"), ("missing_marker", "unexpected_text", "stray_marker")),
    Text("allenai-olmo-3-7b-instruct",
         '<function_calls>\n```python\nread(path="a")\n```\n</function_calls>', called("a"),
         ("unexpected_text", "stray_marker")),
    Text("allenai-olmo-3-7b-instruct", "<function_calls>\n`read(path='a')`\n</function_calls>",
         said("<function_calls>\n`read(path='a')`\n</function_calls>"), ("no_name",)),
    *(
        Text(name, opening + written, said(opening + written), ("no_name",))
        for name, opening in (
            (NEMO, "[TOOL_CALLS]"),
            (GRANITE, "<|tool_call|>"),
            ("mistral-small-3-2-24b-instruct-2506", "[TOOL_CALLS]"),
        )
        for written in ('"read"', "[read(path='a') + 1]")
    ),
    *(
        Text(name, opening + written, called("a"), OTHER)
        for name, opening in (
            (NEMO, "[TOOL_CALLS]"),
            (GRANITE, "<|tool_call|>"),
            ("mistral-small-3-2-24b-instruct-2506", "[TOOL_CALLS]"),
            ("nvidia-nemotron-nano-v2", "</think><TOOLCALL>"),
        )
        for written in ("[read(path='a')]", '[read({"path": "a"})]')
    ),
    Text(QWEN, f"<tool_call>\n{MEMBERS};\n</tool_call>", called("a"), ("stray_marker",)),
    Text(LLAMA, f"{MEMBERS.replace('arguments', 'parameters')};", called("a"), ("stray_marker",)),
    *(
        Text(QWEN, f"<tool_call><function=read><parameter=path>a</parameter>{ends}</tool_call>",
             called("a"), OTHER)
        for ends in ("</function></function>", "</parameter></function>")
    ),
    *(
        Text(SEEK, f"<｜tool▁calls▁begin｜>{line}read<｜tool▁sep｜>"
             f'{{"path": "a"}}<｜tool▁call▁end｜>{SEEK_CALL}'
             '{"path": "b"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
             called("a", "b"), ("missing_marker",))
        for line in ("", "\n")
    ),
    Text("kimi-k2-instruct", "<|tool_calls_section_begin|>functions.read:0"
         '<|tool_call_argument_begin|>{"path": "a"}<|tool_calls_section_end|>',
         called("a"), ("missing_marker",)),
    Text("kimi-k3", "<|open|>tools<|sep|>" +
         K3_CALL.format("").replace('key="path" type="string"', 'type="string" key="path"') +
         "<|close|>tools<|sep|>", called("a"), ("unclosed",)),
    *(
        Text("deepseek-ai-deepseek-v3-2",
             '<｜DSML｜function_calls>\n<｜DSML｜invoke name="read">\n<｜DSML｜parameter '
             f"{attributes}>a{end}\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
             called("a"), told)
        for attributes, end, told in (
            ('string="true" name="path"', "</｜DSML｜parameter>", ()),
            ('name="path" string="true"', "</parameter>", ("missing_marker",)),
        )
    ),
    *(
        Text(name, f"{opening}call:read(path:{value}){end}", called("a"), ("malformed",))
        for name, opening, quoted, end in (
            (GEMMA, "<|tool_call>", '<|"|>a<|"|>', "<tool_call|>"),
            (FUNCTION_GEMMA, "<start_function_call>", "<escape>a<escape>", "<end_function_call>"),
        )
        for value in (quoted, ' "a"')
    ),
    *(
        Text(GEMMA, f"So.{gap}call:read{{path:<|\"|>a<|\"|>}}<tool_call|>",
             Message(content="So.", calls=called("a").calls), ("missing_marker", "misplaced"))
        for gap in (" ", "\n")
    ),
    Text(GEMMA, 'So. call:write{path:<|"|>a<|"|>}', said('So. call:write{path:<|"|>a<|"|>}')),
    Text(GEMMA, 'So. call:read{path:"a"}', said('So. call:read{path:"a"}')),
    *(
        Text("mistral-small-3-2-24b-instruct-2506", text, said(text), told)
        for text, told in (
            (f"[TOOL_CALLS][{MEMBERS}] it is", ("no_name",)),
            ("say `[TOOL_CALLS][` first", ()),
        )
    ),
    *(
        Text(name, text, said(text))
        for name, opening in (
            *((name, "<tool_call>") for name in (QWEN, CODER)),
            (LFM, "<|tool_call_start|>"),
        )
        for text in (f"It is called `{opening}`", f"```{opening}```")
    ),
    Text(QWEN, "A </think> stands here.", said("A </think> stands here."), ("stray_marker",)),
    Text(QWEN, "A\n</think>\nB", said("A\n\nB"), ("stray_marker",)),
    Text(QWEN, "A <|im_</think>end|> B", said("A <|im_end|> B"), ("stray_marker",) * 2),
]  # fmt: skip


@pytest.mark.parametrize("case", CALLS, ids=lambda case: case.text[:40])
def test_calls_in_other_ways(case: Text) -> None:
    check(case)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("{invalid json here}", "{invalid json here}"),
        ('{"path": {so it [1, "x"] goes}, "b": 1}', '{"path": {so it [1, "x"] goes}, "b": 1}'),
        ('{"a": [{b c}, 2]}', '{"a": [{b c}, 2]}'),
        ('{"path": "a "b" c", "d": 1}', '{"path": "a "b" c", "d": 1}'),
        ('{"path": """a = "b" + c""", "d": 1}', '{"path": """a = "b" + c""", "d": 1}'),
        ('{"a": {"b": "x" "c" "y"}, "d": 1}', '{"a": {"b": "x" "c" "y"}, "d": 1}'),
        ('{"a": {b c}, "d": {"e": [1], "f": "x}y"}}', '{"a": {b c}, "d": {"e": [1], "f": "x}y"}}'),
    ],
)
def test_what_is_no_member_is_handed_on_as_it_is_written(written: str, read: str) -> None:
    module = in_memory(QWEN)
    text = f'<tool_call>\n{{"name": "read", "arguments": {written}}}\n</tool_call>'
    message = module.parse(text, tools=TOOLS)
    assert [(call.arguments, call.complete) for call in message.tool_calls] == [(read, False)]
    parser = module.Parser(tools=TOOLS)
    events = [event for sign in text for event in parser.feed(sign)] + parser.finish()
    assert parser.message == message
    assert "".join(event.arguments for event in events if event.type == "tool_call_delta") == read


@pytest.mark.parametrize(
    ("written", "is_complete"),
    [("it's", True), ("He said 'a' to me", True), ("a' 'b", False), ("a' + 'b", False)],
)
def test_strings_that_python_would_join_are_no_sure_value(written: str, is_complete: bool) -> None:
    module = in_memory("meta-llama-llama-4-pythonic")
    text = f"[read(path='{written}')]"
    for pieces in (text, [*text]):
        (call,) = module.parse(pieces, tools=TOOLS).tool_calls
        assert (call.arguments, call.complete) == (f'{{"path": "{written}"}}', is_complete)


@pytest.mark.parametrize("tag", ["parameters", "args"])
def test_a_tag_around_all_arguments_is_no_part_of_the_last(tag: str) -> None:
    module = in_memory(CODER)
    given = f"<{tag}>\n<parameter=path>\na\n</parameter>\n</{tag}>"
    call = f"<tool_call>\n<function=read>\n{given}\n</function>\n</tool_call>"
    for pieces in (call * 2, [*call, *call]):
        message = module.parse(pieces, tools=TOOLS)
        assert [it.arguments for it in message.tool_calls] == ['{"path": "a"}'] * 2
        assert [it.kind for it in message.problems] == ["unexpected_text"] * 4


@pytest.mark.parametrize(
    ("end", "is_complete"),
    [
        *(("</func>", True), ("</call>", False), ("</fun", True)),
        *(("</Function>s", False), ("</func tion>", False)),
    ],
)
def test_the_tag_that_closes_a_call_may_be_misspelt(end: str, is_complete: bool) -> None:
    module = in_memory(CODER)
    call = f"<tool_call>\n<function=read>\n<parameter=path>\na\n</parameter>\n{end}\n</tool_call>"
    for pieces in (call * 2, [*call, *call]):
        message = module.parse(pieces, tools=TOOLS)
        found = [(it.arguments, it.complete) for it in message.tool_calls]
        assert found == [('{"path": "a"}', is_complete)] * 2
        assert [it.kind for it in message.problems] == ["unexpected_text", "malformed"] * 2


@pytest.mark.parametrize(
    "attribute", ['name ="{}"', "name = '{}'", 'name="{} "', 'name="{}""', "name={}"]
)
def test_white_space_and_quotes_of_an_attribute_are_any(attribute: str) -> None:
    module = in_memory("minimax-m2")
    head, key = (attribute.format(word) for word in ("read", "path"))
    call = f"<invoke {head}>\n<parameter {key}>a</parameter>\n</invoke>\n"
    text = f"</think>\n\n<minimax:tool_call>\n{call}{call}</minimax:tool_call>"
    for pieces in (text, [*text]):
        message = module.parse(pieces, tools=TOOLS)
        found = [(it.name, it.arguments, it.complete) for it in message.tool_calls]
        assert found == [("read", '{"path": "a"}', True)] * 2
        assert (message.content, message.problems) == ("", [])


@pytest.mark.parametrize("broken", ['{file: "a"}', '{"name": "", "arguments": {}}', "{}"])
def test_a_call_behind_what_is_none_in_its_list_is_read(broken: str) -> None:
    module = in_memory("mistralai-mistral-7b-instruct-v0-3")
    call = '{"name": "read", "arguments": {"path": "a"}}'
    text = f"[TOOL_CALLS] [{broken}, {call}]"
    for pieces in (text, [*text]):
        message = module.parse(pieces, tools=TOOLS)
        assert [it.arguments for it in message.tool_calls] == ['{"path": "a"}']
        assert message.content == f"[TOOL_CALLS] [{broken},"
        assert "no_name" in {it.kind for it in message.problems}
        for other in (text.replace("read", "write"), text.replace(", ", "] and ")):
            assert not module.parse(other, tools=TOOLS).tool_calls


@pytest.mark.parametrize(
    "attribute", ["string='true'", 'string = "true"', 'string="true" ', 'type="str"', "string=true"]
)
def test_the_attribute_for_a_type_may_be_written_in_any_way(attribute: str) -> None:
    module = in_memory("deepseek-ai-deepseek-v4")
    given = f'<｜DSML｜parameter name="path" {attribute}>a > b</｜DSML｜parameter>'
    call = f'<｜DSML｜invoke name="read">\n{given}\n</｜DSML｜invoke>\n'
    text = f"</think>\n\n<｜DSML｜tool_calls>\n{call}</｜DSML｜tool_calls>"
    for pieces in (text, [*text]):
        message = module.parse(pieces, tools=TOOLS)
        assert [it.arguments for it in message.tool_calls] == ['{"path": "a > b"}']
        assert [it.kind for it in message.problems] == ["wrong_type"]


@pytest.mark.parametrize("noise", ["`", "}\n"])
def test_noise_behind_a_call_is_all_left_out_however_it_comes(noise: str) -> None:
    call = "<｜tool▁call▁begin｜>read<｜tool▁sep｜>{}"
    text = f"<｜tool▁calls▁begin｜>{call}{noise}<｜tool▁call▁begin｜><｜tool▁call▁end｜>"
    expect, told = Message(calls=(Call("read", {}),)), ("stray_marker",) * 2
    check(Text("deepseek-ai-deepseek-v3-1", text, expect, told))


def test_an_attribute_in_the_place_of_a_type_is_told() -> None:
    head = '<｜DSML｜function_calls>\n<｜DSML｜invoke name="read">\n<｜DSML｜parameter name="path"'
    ends = "</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>"
    text = f'{head} unit="file">p.md{ends}'
    message = in_memory("deepseek-ai-deepseek-v3-2").parse(text, tools=TOOLS)
    assert [problem.kind for problem in message.problems] == ["wrong_type"]
    assert 'unit="file"' in message.problems[0].message
