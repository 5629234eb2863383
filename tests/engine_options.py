"""What the engine reads with options: special tokens, tools of all kinds, text that passes through.

The formats are those of `tests.small_formats`.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from tests.engine_cases import TOOLS
from tests.parser_checks import added_up, summary
from tests.special_pieces import Piece, in_characters
from turnspec.codegen.format_module import FormatModule


@dataclass(frozen=True, slots=True)
class OptionCase:
    """Pieces, some of them special, that a table's parser reads with options, and what it says.

    `told` has the kinds of problems or, where that matters, all that they say.
    """

    table: str
    pieces: tuple[Piece, ...]
    options: dict[str, Any]
    content: str = ""
    reasoning: str = ""
    calls: tuple[tuple[str, Any], ...] = ()
    told: tuple[str, ...] = ()


def pieces(*texts: str) -> tuple[Piece, ...]:
    """Return texts as pieces; those that begin with ! are special."""
    return tuple((text.removeprefix("!"), text.startswith("!")) for text in texts)


def known(*tokens: str, **more: Any) -> dict[str, Any]:
    return {"tools": TOOLS, "special_tokens": list(tokens), **more}


CALL = '{"do": "add", "with": {"b": "x"}}'
TAGGED = '<call "add"><k>a</k><v>1</v></call>'
ADDED = (("add", {"b": "x"}),)

OPTION_CASES: dict[str, OptionCase] = {
    "a call of tokens": OptionCase(
        "objects",
        pieces("So.", "!<call>", CALL, "!</call>", "!<end>"),
        known("<call>", "</call>", "<end>"),
        content="So.",
        calls=ADDED,
    ),
    "a call of text": OptionCase(
        "objects",
        pieces(f"So <call>{CALL}</call><end>"),
        known("<call>", "</call>", "<end>"),
        content=f"So <call>{CALL}</call><end>",
    ),
    "a call of text, where nothing is known of tokens": OptionCase(
        "objects",
        pieces(f"So.<call>{CALL}</call><end>"),
        {"tools": TOOLS},
        content="So.",
        calls=ADDED,
    ),
    "special pieces, where nothing is known of tokens": OptionCase(
        "objects",
        pieces("So.", "!<call>", CALL, "!</call>", "!<end>"),
        {"tools": TOOLS},
        content="So.",
        calls=ADDED,
    ),
    "text like a token inside a string": OptionCase(
        "tags",
        pieces("!<call", " add>", "<b>a</call><end>b</b>", "!</call>", "!<end>"),
        known("<call", "</call>", "<end>"),
        calls=(("add", {"b": "a</call><end>b"}),),
    ),
    "a token that is text": OptionCase(
        "objects",
        pieces("a", "!<call>", " b"),
        known("<call>", "</call>", "<end>"),
        content="a<call> b",
        told=("stray_marker: '<call>' is text here",),
    ),
    "a token that no marker has": OptionCase(
        "objects",
        pieces("a", "!<other>", " b", "<other>"),
        known("<call>", "</call>", "<end>", "<other>"),
        content="a<other> b<other>",
        told=("stray_marker: '<other>' is text here",),
    ),
    "a token that nobody knows": OptionCase(
        "objects",
        pieces("a", "!<other>", " b"),
        known("<call>", "</call>", "<end>"),
        content="a<other> b",
    ),
    "private characters": OptionCase(
        "objects",
        pieces("\ue001\ue000", "!<call>", CALL.replace("x", "\ue002\ue000\ue000"), "!</call>"),
        known("<call>", "</call>", "<end>"),
        content="\ue001\ue000",
        calls=(("add", {"b": "\ue002\ue000\ue000"}),),
    ),
    "a token in the prefill": OptionCase(
        "objects",
        pieces('"x"}}', "!</call>", "a<end>"),
        known("<call>", "</call>", "<end>", prefill='<call>{"do": "add", "with": {"b": '),
        content="a<end>",
        calls=ADDED,
        told=("misplaced",),
    ),
    "tokens that begin alike": OptionCase(
        "opened",
        pieces("!<calls>", '<call "add">', "<k>a</k><v>1</v></call>", "!</calls>", "<calls>"),
        known("<calls>", "<calls>>", "</calls>", "<end>"),
        content="<calls>",
        calls=(("add", {"a": 1}),),
        told=("misplaced",),
    ),
    "a call that a token opens": OptionCase(
        "opened",
        pieces("!<calls>", f"{TAGGED}</calls><end>"),
        known("<calls>"),
        calls=(("add", {"a": 1}),),
    ),
    "a head without the token that opens calls": OptionCase(
        "opened", pieces(f"So {TAGGED}"), known("<calls>", "</call>"), content=f"So {TAGGED}"
    ),
    "a section that breaks off in a call's end": OptionCase(
        "opened",
        pieces("!<calls>", TAGGED, "</cal"),
        known("<calls>"),
        calls=(("add", {"a": 1}),),
        told=("cut_off: </cal",),
    ),
    "a head that lacks the token of the format's own": OptionCase(
        "thoughts",
        pieces("a <call>add{} b"),
        known("<with>"),
        content="a <call>add{} b",
    ),
    "a head with its token": OptionCase(
        "thoughts",
        pieces("a <call>add", "!<with>", "{}</call>"),
        known("<with>"),
        content="a",
        calls=(("add", {}),),
    ),
    "a token that is missing": OptionCase(
        "opened",
        pieces("!<calls>", '<call "add"><k>a</k>1', "!</v>", "</call>"),
        known("<calls>", "<v>", "</v>"),
        calls=(("add", {"a": 1}),),
        told=("missing_marker: '<v>' is missing in '<k>a</k>'",),
    ),
    "a call that ends by a token": OptionCase(
        "python",
        pieces("<call>add(b='x', c=[1])", "!</call>", "!<end>"),
        known("</call>", "<end>"),
        calls=(("add", {"b": "x", "c": [1]}),),
    ),
    "a stop text that is a token": OptionCase(
        "text",
        pieces("a<stop>b", "!<stop>", "c"),
        known("<stop>", stop=["<stop>"]),
        content="a<stop>b",
        told=("text_after_end: c",),
    ),
    "several stop texts": OptionCase(
        "text", pieces("a{x}b"), {"stop": ["STOP", "{x}"]}, content="a", told=("text_after_end: b",)
    ),
    "a stop text of one sign in a value without quotes": OptionCase(
        "list",
        pieces("[add(b=one; two, a=1)]"),
        {"tools": TOOLS, "stop": ";"},
        calls=(("add", {"b": "one; two", "a": 1}),),
        told=("malformed",),
    ),
    "a stop text in a call": OptionCase(
        "json", pieces('<call add>{"b": "x"}STOP'), {"stop": "STOP"}, calls=ADDED
    ),
    "ids": OptionCase(
        "json", pieces("<call add>{}</call>"), {"id_prefix": "x"}, calls=(("add", {}),)
    ),
}


def _schemas() -> Iterator[tuple[str, Any, str, Any]]:
    """Yield schemas of an argument: what it is about, the schema, a text and its value."""
    yield "a type", {"type": "integer"}, "3", 3
    yield "types", {"type": ["integer", "null"]}, "null", None
    yield "no type", {}, "3", "3"
    yield "no schema", True, "3", "3"
    yield "Python's name of a type", {"type": "int"}, "3", 3
    yield "a type that is none", {"type": [["integer"]]}, "3", "3"
    yield "a number for a type", {"type": 1}, "3", "3"
    yield "constants", {"enum": [1, "a"]}, "1", 1
    yield "a constant", {"const": 2.5}, "2.5", 2.5
    yield "alternatives", {"anyOf": [{"type": "boolean"}, {"type": "string"}]}, "true", True
    many: list[Any] = [{"type": "string"} for _ in range(3200)]
    yield "more alternatives than count", {"anyOf": [*many, {"type": "integer"}]}, "3", "3"
    yield "more constants than count", {"enum": [*["a"] * 10_000, 1]}, "1", "1"
    yield "nested alternatives", {"oneOf": [{"allOf": [{"type": "number"}]}]}, "1.5", 1.5
    yield "a reference", {"$ref": "#/$defs/n"}, "7", 7
    yield "a reference to nothing", {"$ref": "#/$defs/m"}, "7", "7"
    yield "a string that looks like a number", {"type": "string"}, "7", "7"
    yield "a literal of Python", {"type": "object"}, "{'a': (1, None)}", {"a": [1, None]}
    yield "an empty array", {"type": "array"}, "", []
    yield "an empty object", {"type": "object"}, " ", {}
    yield "a raw string of Python", {"type": "array"}, r"[r'\d', '\x41']", [r"\d", "A"]
    yield "a backslash that is none of Python's", {"type": "array"}, r"['\d']", [r"\d"]


SCHEMAS = {title: (schema, text, value) for title, schema, text, value in _schemas()}

#: What options can't be, and what is said of it, in JavaScript with its own names and constants.
WRONG_VALUES: tuple[tuple[str, Any, str], ...] = (
    ("enable_thinking", "no", "'no' is not True, False or None"),
    ("prefill", 3, "3 is not a string or None"),
    ("prefill", ["a"], "['a'] is not a string or None"),
    ("reasoning", "x", "'x' is not 'extract' or 'inline'"),
    ("echo", "no", "'no' is not True or False"),
    ("echo", None, "None is not True or False"),
    ("stop", [3], "[3] is not a string, a list of strings or None"),
    ("id_prefix", 3, "3 is not a string"),
    ("special_tokens", "a" * 200, f"'{'a' * 98} is not a list of strings or None"),
)

#: What are no tools, and what is said of them.
NO_TOOLS: dict[str, tuple[Any, str]] = {
    "a tool alone": ({"name": "add"}, "tools: not a list"),
    "a text": ("add", "tools: not a list"),
    "a name": (["add"], "tools[0]: not an object"),
    "no name": ([*TOOLS, {}], "tools[1]: no name"),
    "a function that is a name": ([{"function": "add"}], "tools[0].function: not an object"),
}
_DEEPEST, _LONG = "[" * 499 + "]" * 499, "word " * 300
#: Texts that are long, deep or no JSON: a table, what stands around, and the kinds of problems.
EXTREMES: dict[str, tuple[str, tuple[str, str, str], tuple[str, ...]]] = {
    "lists in lists": ("json", ("<call add>", f'{{"c": {_DEEPEST}}}', "</call>"), ()),
    "lists in lists, one too many": (
        "json",
        ("<call add>", f'{{"c": [{_DEEPEST}]}}', "</call>"),
        ("not_json",),
    ),
    "words without marks": (
        "json",
        ("<call add>", '{"o": {x y "z"}, "a": 1}', "</call>"),
        ("malformed", "malformed", "not_json"),
    ),
    "a key like what is between members": (
        "json",
        ("<call add>", '{"o": {"x": 1 ", " y}, "a": 1}', "</call>"),
        ("malformed", "malformed", "not_json"),
    ),
    "an object without a name": (
        "objects",
        ("", f'<call>{{"x": "{_LONG}"}}</call>', "<end>"),
        ("no_name",),
    ),
}
#: Tables, texts, and how many of their signs pass through at once, without being read.
FLOWS = {
    "content": ("json", "It rains in Paris, and so on.", 28),
    "reasoning": ("text", "<why>Let me see, it rains.", 20),
    "a string in JSON": ("json", '<call add>{"b": "It rains in Paris."}', 18),
    "a string in quotes of one's own": ("section", "<calls>[add(b:~~q~~It rains.~~q~~)]", 6),
    "Python's string": ("python", "<call>add(b='It rains.')", 9),
    "a text": ("tags", "<call add><b>It rains.</b>", 9),
    "a text that is collected": ("tags", "<call add><c>[1, 2, 3]</c>", 9),
    "an element": ("array", "<call add><arg c><e>It rains</e>", 7),
}


def option_failures(form: FormatModule, case: OptionCase) -> Iterator[str]:
    """Yield how what is read differs from what a case wants, whole, cut and in copies."""
    whole = form.parse(case.pieces, **case.options)
    found = tuple((call.name, json.loads(call.arguments)) for call in whole.tool_calls)
    wanted = (case.content, case.reasoning, case.calls)
    if (whole.content, whole.reasoning_content, found) != wanted:
        yield f"wanted {wanted!r}, got {whole!r}"
    if f"Message(content={case.content!r}, " not in f"{whole!r}":
        yield f"shown as {whole!r}"
    told = [f"{problem.kind}: {problem.message}" for problem in whole.problems]
    kinds = [problem.kind for problem in whole.problems]
    if list(case.told) not in (told, kinds):
        yield f"told {told!r}"
    prefix = case.options.get("id_prefix", "call_")
    if [call.id for call in whole.tool_calls] != [f"{prefix}{n}" for n in range(len(found))]:
        yield f"ids: {whole!r}"
    yield from _cut_failures(form, case, whole)


def _cut_failures(form: FormatModule, case: OptionCase, whole: Any) -> Iterator[str]:
    parser, copies = form.Parser(**case.options), []
    events = []
    for piece in in_characters(case.pieces):
        copies.append(copy.copy(parser))
        events += parser.feed(*piece)
    events += parser.finish()
    if parser.message != whole or added_up(events) != summary(whole):
        yield f"in characters: {parser.message!r}"
    for at, other in enumerate(copies):
        for piece in in_characters(case.pieces)[at:]:
            other.feed(*piece)
        other.finish()
        if other.message != whole:
            yield f"copied behind {at} pieces: {other.message!r}"


def schema_failures(form: FormatModule, title: str) -> Iterator[str]:
    """Yield what is wrong with a value of a schema in the table of tags."""
    schema, text, value = SCHEMAS[title]
    for where in ({"properties": {"a": schema}}, {"additionalProperties": schema}):
        parameters = {**where, "$defs": {"n": {"type": "integer"}}}
        tools = [{"type": "function", "function": {"name": "add", "parameters": parameters}}]
        message = form.parse(f"<call add><a>{text}</a></call>", tools=tools)
        found = [json.loads(call.arguments) for call in message.tool_calls]
        if found != [{"a": value}] or message.problems:
            yield f"{message!r}"


def flow_failures(form: FormatModule, title: str) -> Iterator[str]:
    """Yield how many signs of a text pass through at once, if they are too few."""
    _, text, wanted = FLOWS[title]
    parser, count = form.Parser(tools=TOOLS), 0
    turn = vars(parser)["_turn"]
    for sign in text:
        flow = turn.flow
        parser.feed(sign)
        count += flow is not None and turn.flow is flow
    if count < wanted:
        yield f"{count} of {len(text)}"


def refusal_failures(form: FormatModule, options: dict[str, Any], wanted: str) -> Iterator[str]:
    """Yield what is said of options that there can't be, if it isn't what should be."""
    try:
        form.Parser(**options)
    except ValueError as error:
        if str(error) != wanted:
            yield f"{error}"
    else:
        yield "taken"


def extreme_failures(form: FormatModule, title: str) -> Iterator[str]:
    """Yield how a text is read otherwise than it should be, whole and in characters."""
    _, (before, given, after), told = EXTREMES[title]
    parser = form.Parser(tools=TOOLS)
    for sign in before + given + after:
        parser.feed(sign)
    parser.finish()
    for message in (form.parse(before + given + after, tools=TOOLS), parser.message):
        found = message.content + "".join(call.arguments for call in message.tool_calls)
        kinds = tuple(problem.kind for problem in message.problems)
        if (found, kinds) != (given, told):
            yield f"{message!r:.999}"


#: A table, and what yields how its parser fails.
Check = tuple[str, Callable[[FormatModule], Iterator[str]]]


def checks() -> dict[str, Check]:
    """Return all checks by their titles."""
    found: dict[str, Check] = {
        f"options: {title}": (case.table, partial(option_failures, case=case))
        for title, case in OPTION_CASES.items()
    }
    for title in SCHEMAS:
        found[f"schema: {title}"] = ("tags", partial(schema_failures, title=title))
    for title, (tools, wanted) in NO_TOOLS.items():
        check = partial(refusal_failures, options={"tools": tools}, wanted=wanted)
        found[f"no tools: {title}"] = ("tags", check)
    for number, (name, value, wanted) in enumerate(WRONG_VALUES):
        check = partial(refusal_failures, options={name: value}, wanted=f"{name}: {wanted}")
        found[f"option {number}"] = ("tags", check)
    for title, (table, *_) in EXTREMES.items():
        found[f"extreme: {title}"] = (table, partial(extreme_failures, title=title))
    for title, (table, *_) in FLOWS.items():
        found[f"flow: {title}"] = (table, partial(flow_failures, title=title))
    return found
