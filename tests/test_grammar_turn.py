"""The grammars that specs compile to: what they accept and refuse, and the subset they stay in."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import product

import pytest

from tests.generated_formats import EVERY_FORMAT
from tests.grammar_engines.engine_llguidance import LlguidanceGrammar, compile_grammar
from tests.specs_for_tests import (
    ALL_SPECS,
    channels_spec,
    json_native_spec,
    plain_spec,
    tag_with_json_spec,
    tagged_spec,
    two_prompts,
)
from turnspec.grammar.free_text import text_without
from turnspec.grammar.text import Rule, literal
from turnspec.grammar.turn import generate_grammar
from turnspec.spec.calls import Arguments, Fields, Literal, Slot, Tools, ValueSyntax
from turnspec.spec.model import Content, End, Join, Spec
from turnspec.spec.problems import Problem
from turnspec.spec.words import ContentMode, Encoding, JsonType, Part, SlotKind, ToolMode
from turnspec.verification.gbnf_reader import Grammar, read_grammar
from turnspec.verification.recognizer import Recognizer

NAME, ID, INDEX, COUNT, ARGUMENTS, KEY, TYPE, VALUE, _ = map(Slot, SlotKind)
RAW_STRINGS = {**dict.fromkeys(JsonType, Encoding.JSON), JsonType.STRING: Encoding.RAW}


def with_tools(tools: Tools) -> Spec:
    return replace(plain_spec(), tools=tools, turn=replace(json_native_spec().turn, joins=()))


def json_array_spec() -> Spec:
    return with_tools(
        Tools(
            mode=ToolMode.JSON_NATIVE,
            section_start="[CALLS][",
            call=(
                Literal('{"name": "'),
                NAME,
                Literal('", "arguments": '),
                ARGUMENTS,
                Literal(', "id": "'),
                ID,
                Literal('"}'),
            ),
            separator=", ",
            section_end="]",
            arguments=Arguments(),
            fields=Fields(name=("name",), arguments=("arguments",), id=("id",)),
        )
    )


def bare_json_spec() -> Spec:
    return with_tools(
        Tools(
            mode=ToolMode.JSON_NATIVE,
            section_start="",
            call=(
                Literal('{"name": "'),
                NAME,
                Literal('", "parameters": '),
                ARGUMENTS,
                Literal("}"),
            ),
            separator="; ",
            section_end="",
            arguments=Arguments(),
            fields=Fields(name=("name",), arguments=("parameters",)),
        )
    )


def python_spec() -> Spec:
    return with_tools(
        Tools(
            mode=ToolMode.TAG_WITH_TAGGED,
            section_start="<|calls|>[",
            call=(NAME, Literal("("), ARGUMENTS, Literal(")")),
            separator=", ",
            section_end="]<|/calls|>",
            arguments=Arguments(
                item=(KEY, Literal("="), VALUE),
                separator=", ",
                empty="",
                values=dict.fromkeys(JsonType, Encoding.PYTHON),
            ),
        )
    )


def quoted_spec() -> Spec:
    return with_tools(
        Tools(
            mode=ToolMode.TAG_WITH_JSON,
            section_start="",
            call=(Literal("<|call>call:"), NAME, ARGUMENTS, Literal("<call|>")),
            separator="",
            section_end="",
            arguments=Arguments(
                syntax=ValueSyntax(encoding=Encoding.QUOTED, quote='<|"|>', bare_keys=True)
            ),
        )
    )


def typed_spec() -> Spec:
    words = {**dict.fromkeys(JsonType, "false"), JsonType.STRING: "true"}
    return with_tools(
        Tools(
            mode=ToolMode.TAG_WITH_TAGGED,
            section_start="<calls>\n",
            call=(
                Literal('<invoke name="'),
                NAME,
                Literal('" index="'),
                INDEX,
                Literal('">\n'),
                ARGUMENTS,
                Literal("</invoke>\n"),
            ),
            separator="",
            section_end="</calls>",
            arguments=Arguments(
                item=(
                    Literal('<p name="'),
                    KEY,
                    Literal('" string="'),
                    TYPE,
                    Literal('">'),
                    VALUE,
                    Literal("</p>\n"),
                ),
                empty="",
                values=RAW_STRINGS,
                types=words,
            ),
        )
    )


def keyed_elements_spec() -> Spec:
    return with_tools(
        Tools(
            mode=ToolMode.TAG_WITH_TAGGED,
            section_start="]~[<calls>\n",
            call=(Literal('<invoke name="'), NAME, Literal('">'), ARGUMENTS, Literal("</invoke>")),
            separator="\n",
            section_end="\n]~[</calls>",
            arguments=Arguments(
                item=(
                    Literal("]~[]<"),
                    KEY,
                    Literal(">"),
                    VALUE,
                    Literal("]~[]</"),
                    KEY,
                    Literal(">"),
                ),
                empty="",
                values=RAW_STRINGS,
            ),
        )
    )


def one_line_values_spec() -> Spec:
    return with_tools(
        Tools(
            mode=ToolMode.TAG_WITH_TAGGED,
            section_start="",
            call=(Literal("Call: "), NAME, Literal("\n"), ARGUMENTS, Literal("\n--")),
            separator="\n",
            section_end="",
            arguments=Arguments(
                item=(KEY, Literal(": "), VALUE), separator="\n", empty="", values=RAW_STRINGS
            ),
        )
    )


def dashes_spec() -> Spec:
    """Between calls stands what could be in a name, too."""
    return with_tools(
        Tools(
            mode=ToolMode.TAG_WITH_JSON,
            section_start="~~~\n",
            call=(NAME, Literal(": "), ARGUMENTS),
            separator="\n---\n",
            section_end="\n~~~",
            arguments=Arguments(),
        )
    )


def recipients_spec() -> Spec:
    """Return a format in which content and calls begin alike, and the prompt with them."""
    spec = with_tools(
        Tools(
            mode=ToolMode.TAG_WITH_JSON,
            section_start="",
            call=(Literal("<to>"), NAME, Literal("<body>\n"), ARGUMENTS),
            separator="<end>",
            section_end="",
            arguments=Arguments(),
        )
    )
    return replace(
        spec,
        content=Content(ContentMode.ALWAYS_WRAPPED, "<to>user<body>\n", ""),
        turn=replace(spec.turn, joins=(Join(Part.CONTENT, Part.CALLS, "<end>"),)),
        thinking=two_prompts(spec.turn.header + "<to>", spec.thinking.disabled.prompt),
    )


def shared_brackets_spec() -> Spec:
    """Return a format whose markers around calls begin alike, and whose section is JSON's."""
    return with_tools(
        Tools(
            mode=ToolMode.TAG_WITH_JSON,
            section_start="<|calls_start|>",
            call=(Literal("<|call_start|>f."), NAME, Literal(":"), INDEX, Literal("|>"), ARGUMENTS),
            separator="",
            section_end="<|calls_end|>",
            arguments=Arguments(syntax=ValueSyntax(encoding=Encoding.PYTHON), empty="none"),
        )
    )


def calls_first_spec() -> Spec:
    """Return a format whose content follows its calls, and then ends as calls do."""
    spec = with_tools(
        Tools(
            mode=ToolMode.TAG_WITH_JSON,
            section_start="",
            call=(Literal("<call>"), NAME, Literal("{"), ARGUMENTS, Literal("}</call>")),
            separator="",
            section_end="",
            arguments=Arguments(),
        )
    )
    ends = (
        End(Part.CONTENT, "<|stop|>", "<|stop|>"),
        End(Part.CALLS, "<|wait|>", "<|wait|>"),
    )
    order = (Part.CALLS, Part.CONTENT)
    turn = replace(spec.turn, order=order, ends=ends, calls_decide_end=True, stop=("<|stop|>",))
    return replace(spec, turn=turn, grammar=replace(spec.grammar, triggers=("<call>",)))


OTHER_SPECS = (
    calls_first_spec,
    recipients_spec,
    shared_brackets_spec,
    json_array_spec,
    bare_json_spec,
    python_spec,
    quoted_spec,
    typed_spec,
    keyed_elements_spec,
    one_line_values_spec,
)


def grammar_of(spec: Spec) -> str:
    return generate_grammar(spec, spec_path=f"specs/{spec.name}.yaml", spec_hash="0123abcd")


def known_grammar(gbnf: str) -> Grammar:
    result = read_grammar(gbnf)
    assert isinstance(result, Grammar), result
    return result


def compiled(gbnf: str, entry: str = "root") -> LlguidanceGrammar:
    result = compile_grammar(gbnf, entry=entry)
    assert isinstance(result, LlguidanceGrammar), result
    return result


JSON_CALL = (
    '<tool_call>\n{"name": "get-it", "arguments": {"a": "x<y", "b": [1, {"c": null}]}}\n'
    "</tool_call>"
)
TAG_CALL = '[CALL]look.up[ID]id-1[ARGS]{"a": {"b": -1.5e3}, "q": "\\"</s>[CALL]\\u00e4"}'
TAGGED_CALL = (
    "<tool_call>\n<function=f>\n<parameter=a b>\n1 < 2\n\n</parameter>\n"
    "<parameter=c>\n<</parameter\n</parameter>\n</function>\n</tool_call>"
)
CHANNEL_CALL = ' to=functions.f<|channel|>commentary json<|message|>{"a":1}'

ACCEPTED: dict[Callable[[], Spec], tuple[str, ...]] = {
    json_native_spec: (
        "",
        "Hello\nthere <b>",
        "\n\nHello<|stop|>\n",
        "<think>\nwhy <not>?\n</think>\n\nBecause.<|stop|>",
        "<think>\n\n</think>\n\n<|stop|>",
        "\n\n<think>\nwhy\n</think>\n\nFirst this:\n" + JSON_CALL + "\n" + JSON_CALL + "<|stop|>\n",
        "<think>\nwhy\n</think>\n\n" + JSON_CALL,
        "a <" + JSON_CALL,
        '<tool_call>{"name":"f","arguments":{}}</tool_call>',
    ),
    tag_with_json_spec: ("", "No call [yet].</s>", TAG_CALL + TAG_CALL + "</s>", "text" + TAG_CALL),
    tagged_spec: (
        "why\n</think>\n\nBecause.<|stop|>\n",
        "<think>\nwhy\n</think>\n\nBecause.",
        "<think>\n\n</think>\n\nBecause.",
        "Because.<|stop|>",
        "\n</think>\n\nSo:\n\n" + TAGGED_CALL + "\n" + TAGGED_CALL + "<|stop|>\n",
        "<tool_call>\n<function=f>\n</function>\n</tool_call>",
    ),
    plain_spec: ("", "text", "1 < 2 <| 3 <|stop", "text<|stop|>\n", "\u2028 \x85 ä 😀"),
    channels_spec: (
        "<|channel|>final<|message|>text<|return|>",
        "<|channel|>analysis<|message|>why<|end|><|start|>assistant"
        "<|channel|>final<|message|>a <|channel b",
        "<|channel|>analysis<|message|>why<|end|><|start|>assistant" + CHANNEL_CALL + "<|call|>",
        "<|channel|>final<|message|>text<|end|><|start|>assistant" + CHANNEL_CALL,
        CHANNEL_CALL,
    ),
    calls_first_spec: (
        "<call>f{{}}</call>text<|wait|>",
        "<call>f{{}}</call><call>g{{}}</call><|wait|>",
        "a <call text<|stop|>",
    ),
    json_array_spec: (
        'text[CALLS][{"name": "f", "arguments": {}, "id": "a1"}]<|stop|>',
        '[CALLS][{"name":"f","arguments":{"a":[]},"id":"a1"},\n{"name":"g","arguments":{},"id":"2"}]',
    ),
    bare_json_spec: (
        '{"name": "f", "parameters": {"a": 1}}; {"name": "g", "parameters": {}}',
        '{"title": 1}',
        "[{ a",
    ),
    python_spec: (
        "text<|calls|>[f(a='it\\'s', b=[1, {'x': True}], c=None), g()]<|/calls|><|stop|>",
        '<|calls|>[f(a="it\'s", b={})]<|/calls|>',
    ),
    quoted_spec: ('<|call>call:f{a:<|"|>x"<|y<|"|>,b:[1,{c:true}]}<call|><|call>call:g{}<call|>',),
    typed_spec: (
        '<calls>\n<invoke name="f" index="0">\n<p name="a" string="true">x</p</p>\n'
        '<p name="b" string="false">[1, "</p>"]</p>\n</invoke>\n'
        '<invoke name="g" index="12">\n</invoke>\n</calls>',
    ),
    keyed_elements_spec: (
        ']~[<calls>\n<invoke name="f">]~[]<a>x[0]~[]~[ y]~[]</a>]~[]<b>{}]~[]</b></invoke>\n'
        '<invoke name="g"></invoke>\n]~[</calls>',
    ),
    recipients_spec: (
        "<to>user<body>\ntext<|stop|>",
        "<to>users<body>\n{}<|stop|>",
        '<to>user<body>\n<to<end><to>f<body>\n{"a": 1}<end><to>g<body>\n{}',
        "user<body>\ntext",
        "f<body>\n{}<end><to>user<body>\n{}",
    ),
    shared_brackets_spec: (
        "<|calls<|calls_start|><|call_start|>f.g.h:0|>{'a': 1}<|call_start|>f.i:12|>none"
        "<|calls_end|><|stop|>",
    ),
    one_line_values_spec: ("Call: f\na: x: y\nb: 1\n--\nCall: g\n\n--",),
    dashes_spec: ("~~~\nf: {}\n---\ng: {}\n~~~", "~~~f:{} ---\n\n g:{}~~~"),
}

REFUSED: dict[Callable[[], Spec], tuple[str, ...]] = {
    json_native_spec: (
        "<think>\nnever closed",
        "stray </think>",
        "<|stop|>more",
        '<tool_call>\n{"name": "f", "arguments": {"a": }}\n</tool_call>',
        '<tool_call>\n{"name": "f", "arguments": []}\n</tool_call>',
        '<tool_call>\n{"name": "f", "arguments": {}}\n',
        JSON_CALL + "\nafterwards",
    ),
    tag_with_json_spec: ("[CALL]f[ARGS]{}", "[CALL]f[ID]1[ARGS]{'a': 1}", TAG_CALL + "x"),
    tagged_spec: (
        "<tool_call>\n<function=f>\n<parameter=a>\n1\n</function>\n</tool_call>",
        "<think>a<think>b</think>",
    ),
    plain_spec: ("text<|stop|>more",),
    channels_spec: (
        "bare text",
        "<|channel|>analysis<|message|>why",
        "<|channel|>final<|message|>a<|channel|>final<|message|>b",
        " to=functions.f<|message|>{}",
    ),
    calls_first_spec: ("<call>f{[]}</call>text", "text<call>", "<call>f{{}}</call>a<call>"),
    json_array_spec: ('[CALLS][{"name": "f", "arguments": {}, "id": "a1"}', "[CALLS][]"),
    bare_json_spec: (
        '{"name": "f", "parameters": 1}',
        "[{",  # which wraps a call that follows, and nothing says that none does
        '{ {"name": "f", "parameters": {}}',
    ),
    python_spec: ("<|calls|>[f(a=true)]<|/calls|>", "<|calls|>[f(1)]<|/calls|>"),
    quoted_spec: ('<|call>call:f{a:"x"}<call|>',),
    typed_spec: (
        '<calls>\n<invoke name="f" index="0">\n<p name="a" string="false">x</p>\n'
        "</invoke>\n</calls>",
        '<calls>\n<invoke name="f" index="i">\n</invoke>\n</calls>',
    ),
    keyed_elements_spec: (']~[<calls>\n<invoke name="f">]~[]<a>x</invoke>\n]~[</calls>',),
    recipients_spec: ("<to>f<body>\ntext", "text"),
    shared_brackets_spec: (
        "<|calls_start|><|call_start|>f.g:0|>{}",
        "<|calls_start|><|calls_end|>",
    ),
    one_line_values_spec: ("Call: f\na\n--",),
    dashes_spec: ("~~~\nf: {}\n-- g: {}\n~~~",),
}


def test_what_could_be_in_a_name_is_set_apart_from_it() -> None:
    """Else the grammar's call would have another name for the parser."""
    tool_calls = compiled(grammar_of(dashes_spec()), entry="tool-calls")
    assert tool_calls.accepts("~~~\nf: {}\n---\n---g: {}\n~~~")
    assert "---\\n" in parsed_rules(grammar_of(dashes_spec()))["tool-calls"].replace('" "', "")


def cases(table: dict[Callable[[], Spec], tuple[str, ...]]) -> list[tuple[Callable[[], Spec], str]]:
    return [(make_spec, text) for make_spec, texts in table.items() for text in texts]


@pytest.mark.parametrize(("make_spec", "text"), cases(ACCEPTED))
def test_accepts_turn(make_spec: Callable[[], Spec], text: str) -> None:
    assert compiled(grammar_of(make_spec())).accepts(text)


@pytest.mark.parametrize(("make_spec", "text"), cases(REFUSED))
def test_refuses_broken_turn(make_spec: Callable[[], Spec], text: str) -> None:
    assert not compiled(grammar_of(make_spec())).accepts(text)


@pytest.mark.parametrize(
    ("make_spec", "text"),
    [
        (json_native_spec, JSON_CALL + "\n" + JSON_CALL),
        (tag_with_json_spec, TAG_CALL + TAG_CALL),
        (tagged_spec, TAGGED_CALL),
        (channels_spec, CHANNEL_CALL.lstrip()),
    ],
)
def test_tool_calls_entry_begins_at_the_trigger(make_spec: Callable[[], Spec], text: str) -> None:
    grammar = compiled(grammar_of(make_spec()), entry="tool-calls")
    assert grammar.accepts(text)
    assert not grammar.accepts("text" + text)


def test_long_text_is_accepted() -> None:
    grammar = compiled(grammar_of(tagged_spec()))
    reasoning = "if a < b: print('<tool>')\n" * 5000
    assert grammar.accepts(f"{reasoning}</think>{reasoning}<|stop|>")


def test_accepted_length_stops_at_the_first_fault() -> None:
    grammar = compiled(grammar_of(tag_with_json_spec()))
    assert grammar.accepted_length("ä[CALL]f{") == len("ä[CALL]f".encode())


def test_engine_reports_what_does_not_compile() -> None:
    assert compile_grammar('root ::= "a" missing\n') == Problem(
        "llguidance cannot read the grammar: "
        "Failed to convert the grammar from GBNF to Lark: Rule 'missing' not found"
    )


@pytest.mark.parametrize("make_spec", [*ALL_SPECS, *OTHER_SPECS])
def test_grammar_stays_in_the_common_subset(make_spec: Callable[[], Spec]) -> None:
    rules = parsed_rules(grammar_of(make_spec()))
    entries = {"root", "tool-calls"} if make_spec().tools else {"root"}
    assert entries <= rules.keys()
    assert "start" not in rules
    for name, body in rules.items():
        assert re.fullmatch(r"[a-z][a-z0-9-]*", name)
        assert Rule(name, body).references() <= rules.keys()
        assert_subset(body)


LITERAL = r'"(?:[^"\\\x00-\x1f\x7f]|\\["\\nrt]|\\x[0-9A-F]{2}|\\u[1-9A-F][0-9A-F]{3})*"'
CLASS = r"\[\^?(?:[^\[\]\\\x00-\x1f\x7f]|\\[\[\]\\nrt]|\\x[0-9A-F]{2}|\\u[1-9A-F][0-9A-F]{3})+\]"
WORD = re.compile(rf"{LITERAL}|{CLASS}|[a-z][a-z0-9-]*|[()|]|[*+?]|{{\d+(?:,\d*)?}}| ")


def parsed_rules(gbnf: str) -> dict[str, str]:
    """Return each rule's body by name; every line is a comment, empty, or one whole rule."""
    assert gbnf.endswith("\n")
    lines = [line for line in gbnf.split("\n") if line and not line.startswith("#")]
    pairs = [line.split(" ::= ", 1) for line in lines]
    names = [name for name, _ in pairs]
    assert len(names) == len(set(names))
    return dict(pairs)


def assert_subset(body: str) -> None:
    words = WORD.findall(body)
    assert "".join(words) == body
    for word in words:
        if word.startswith("["):
            dash = word.find("-", 1)
            code = r"\\x[0-9A-F]{2}|\\u[0-9A-F]{4}"
            ranges = rf"(?:(?:{code}|[^-])-(?:{code}|[^-])|[^-])*-?"
            assert dash == -1 or re.fullmatch(ranges, word[1:-1].removeprefix("^"))
        if word.startswith("{"):
            assert max(map(int, re.findall(r"\d+", word))) <= 2000


HOSTILE = '"\nroot ::= "owned" | [^a]* \\" # \x00\x7f\u2028]-^['


def test_no_template_can_write_grammar() -> None:
    spec = tagged_spec()
    assert spec.tools is not None
    hostile = replace(
        spec,
        reasoning=replace(spec.reasoning, start=f"<{HOSTILE}", end=f"</{HOSTILE}>"),
        tools=replace(spec.tools, section_end=f"?{HOSTILE}", section_start=f"!{HOSTILE}"),
    )
    gbnf = generate_grammar(hostile, spec_path=HOSTILE, spec_hash=HOSTILE)
    rules = parsed_rules(gbnf)
    # What stands for no reasoning no longer looks like an empty one, so it begins content.
    others = re.compile(r"text-[a-z0-9-]+-\d+|content-start(-2)?")
    friendly = parsed_rules(grammar_of(spec)).keys()
    assert {name for name in rules.keys() ^ friendly if not others.fullmatch(name)} == set()
    for body in rules.values():
        assert_subset(body)
    grammar = compiled(gbnf)
    assert grammar.accepts(f"<{HOSTILE}why</{HOSTILE}>text!{HOSTILE}{TAGGED_CALL}?{HOSTILE}")


@pytest.mark.parametrize(
    ("markers", "refused_ends"),
    [
        (["ab"], ()),
        (["a"], ()),
        (["abc", "ac"], ()),
        (["abc", "b"], ()),
        (["aab"], ()),
        (["aaa"], ("aa",)),
        (["aba"], ("ab",)),
        (["abab"], ("ab",)),
        (["a b", "ac b"], ()),
        ([], ()),
    ],
)
def test_free_text_is_all_text_without_the_markers(
    markers: list[str], refused_ends: tuple[str, ...]
) -> None:
    grammar = compiled("root ::= text\n" + "".join(map(str, text_without("text", markers))))
    alphabet = "abc \t" if " " in "".join(markers) else "abc"
    for length in range((7 if EVERY_FORMAT else 6) - len(alphabet) // 5):
        for text in map("".join, product(alphabet, repeat=length)):
            holds_marker = any(re.search(marker.replace(" ", r"\s*"), text) for marker in markers)
            refused = holds_marker or text.endswith(refused_ends)
            assert grammar.accepts(text) is not refused, text


@pytest.mark.parametrize("marker", ["«b", "⟦b", "【b", "퀀b", "ࠀb", "🔧b", "é", "\U00100041b"])
def test_a_marker_that_begins_beyond_ascii_is_told_from_text_that_begins_with_the_same_byte(
    marker: str,
) -> None:
    """A lexer that takes bytes one by one, and never goes back, has to end the text before it."""
    rules = "".join(map(str, text_without("text", [marker, "<x"])))
    marked = "".join(f' "{char}"' for char in marker)
    grammar = compiled(f'root ::= text ({marked} | "<" "x" )?\n{rules}')
    recognizer = Recognizer(known_grammar(f"root ::= text\n{rules}"))
    near = chr(ord(marker[0]) + 1)  # whose last byte alone is another
    for length in range(4):
        for text in map("".join, product(f"ab{near}{marker[0]}", repeat=length)):
            assert recognizer.accepts(text) is (marker not in text), text
            whole = text.partition(marker)[0] + marker
            assert grammar.accepts(whole), whole
            assert grammar.accepts(f"{text}<x") is (marker not in text), text


@pytest.mark.parametrize(("lead", "marker"), [("\n", "*b"), (" ", "*b"), ("\n", "⟦b")])
def test_white_space_that_has_to_stand_before_a_marker_is_left_to_it(
    lead: str, marker: str
) -> None:
    rules = "".join(map(str, text_without("text", [marker], leads=lead)))
    marked = " ".join(map(literal, lead + marker))
    grammar = compiled(f"root ::= text ( {marked} )?\n{rules}")
    recognizer = Recognizer(known_grammar(f"root ::= text\n{rules}"))
    for length in range(5):
        for text in map("".join, product(f"b{marker[0]} \n", repeat=length)):
            assert recognizer.accepts(text) is (marker not in text), text
            assert grammar.accepts(text + lead + marker) is (marker not in text), text


def test_literals_escape_what_would_end_them() -> None:
    assert literal('a"b\\c\n\r\t\x00\x7f') == r'"a\"b\\c\n\r\t\x00\x7F"'
