"""The engine that is printed gives what Python's gives; and copies in TypeScript compile, and run.

``TURNSPEC_EXAMPLES=200`` (`make test-long`) compares all deviations in all formats, and that many
random texts per six formats, instead of a sample.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from copy import copy
from functools import cache
from itertools import groupby, product
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest
from benchmarks.cases import LongText, has_part, read_formats, representatives, turn_with
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.engine_cases import CASES, TOOLS
from tests.engine_options import WRONG_VALUES
from tests.generated_formats import (
    FORMATS,
    FORMS,
    KINDS,
    NAMES,
    PARTS,
    committed_spec,
    facts_of_format,
    in_memory,
)
from tests.marker_soup import Output, soups, written_outputs
from tests.marker_texts import MarkerTexts
from tests.parser_checks import some
from tests.small_formats import small_format
from tests.test_tools import ALLOWED, CALL, NO_SCHEMAS, WRONG, tool, with_a
from tests.test_what_models_write import CALLS, HEADERS, Text
from tests.typescript.engines import (
    SIZES,
    TypeScriptEngine,
    at_once,
    difference,
    has_two_halves,
    opened_engine,
    pieces_of,
    python_result,
)
from tests.typescript.toolchain import SCRIPTS, compile_typescript, lint
from turnspec.codegen.call_marks import other_keys
from turnspec.codegen.facts import facts_of
from turnspec.codegen.loading import load
from turnspec.codegen.printer.names import camel
from turnspec.codegen.typescript import SHARED_ENGINE, Script, script_engine, script_text
from turnspec.codegen.writer import write_parts
from turnspec.deviations.table import DEVIATIONS
from turnspec.deviations.turns import Format
from turnspec.pipeline.project import OutputPaths
from turnspec.spec.message import Call, Message
from turnspec.spec.model import Spec
from turnspec.spec.words import Part
from turnspec.verification.random_messages import random_messages

ROOT = Path(__file__).parent.parent
ALL = "TURNSPEC_EXAMPLES" in os.environ
#: Random texts per format; all of them together are more than 10,000 in a long run.
EXAMPLES = int(os.environ.get("TURNSPEC_EXAMPLES", 24)) // 6
#: Of the formats, so many have a deviation tried in a short run.
STEP = 1 if ALL else 43

pytestmark = pytest.mark.timeout(300 + 10 * EXAMPLES)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TypeScriptEngine]:
    with opened_engine(tmp_path_factory.mktemp("engine")) as opened:
        yield opened


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for copies, with the engine that they may share."""
    folder = tmp_path_factory.mktemp("copies")
    (folder / f"{SHARED_ENGINE}.mjs").write_text(script_engine(Script.JAVASCRIPT), "utf-8")
    return folder


@cache
def format_of(name: str) -> Format:
    """Return a committed format in memory, which is read as its module reads it."""
    return Format(committed_spec(name), in_memory(name))


def source_of(name: str) -> str:
    return (ROOT / OutputPaths.in_project(name).module).read_text(encoding="utf-8")


@pytest.mark.parametrize("deviation", DEVIATIONS)
def test_deviations_are_read_alike(deviation: str, engine: TypeScriptEngine) -> None:
    first = list(DEVIATIONS).index(deviation) % STEP
    for name in FORMATS[first::STEP]:
        form = format_of(name)
        for case in DEVIATIONS[deviation](form):
            assert not difference(engine, name, form.module, case.text, case.options)


@pytest.mark.parametrize("case", CASES)
def test_tables_written_by_hand_are_read_alike(case: str, engine: TypeScriptEngine) -> None:
    name, text, *_ = CASES[case]
    module = small_format(name)
    assert not difference(engine, f"hand {name}", module, text, {"tools": TOOLS})
    for cut in some(range(len(text))):
        assert not difference(engine, f"hand {name}", module, text[:cut], {}, (0, 1))


@pytest.mark.parametrize("case", [*HEADERS, *CALLS], ids=lambda case: case.text[:40])
def test_what_models_write_is_read_alike(case: Text, engine: TypeScriptEngine) -> None:
    module = in_memory(case.name)
    assert not difference(engine, case.name, module, case.text, case.options, (0, 1, 3))


@pytest.mark.parametrize("name", KINDS)
def test_texts_that_end_within_a_marker_are_read_alike(name: str, engine: TypeScriptEngine) -> None:
    form, random = format_of(name), Random(name)
    markers = MarkerTexts(facts_of(form.spec), random)
    for _ in range(EXAMPLES * 3):
        *whole, last = (markers.any() for _ in range(random.randint(1, 6)))
        text = "".join(whole) + last[: random.randint(0, len(last))]
        assert not difference(engine, name, form.module, text, {}, (0, 1))


def test_a_format_without_reasoning_has_none_to_leave_in_place(engine: TypeScriptEngine) -> None:
    name, text = "google-gemma-3-pythonic", "Said. [fetch(flag={'count': []})]"
    module = in_memory(name)
    assert [it.kind for it in module.parse(text, reasoning="inline").problems] == ["misplaced"]
    assert not difference(engine, name, module, text, {"reasoning": "inline"})


@pytest.mark.parametrize("name", KINDS)
def test_random_texts_are_read_alike(name: str, engine: TypeScriptEngine) -> None:
    form = format_of(name)

    @settings(
        max_examples=EXAMPLES,
        derandomize=not ALL,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(texts_of(name))
    def compare(output: Output) -> None:
        if not has_two_halves(output.text + (output.options.get("prefill") or "")):
            texts = (engine, name, form.module, output.text, output.options)
            assert not difference(*texts, SIZES if ALL else (0, 1, 3))

    compare()


@cache
def texts_of(name: str) -> st.SearchStrategy[Output]:
    """Return a strategy for what a model may write: well-formed turns, and any soup of markers."""
    spec = format_of(name).spec
    seeds = st.integers(0, 2**32 - 1)
    turns = seeds.map(lambda seed: _random_turn(spec, seed))
    return st.one_of(soups(spec), soups(spec), written_outputs(spec), turns)


def _random_turn(spec: Spec, seed: int) -> Output:
    message = next(random_messages(spec, 1, seed))
    return Output(write_parts(spec, message, Part.START), {"prefill": spec.turn.header})


_OPEN_TOOL = {"name": "set", "parameters": {"properties": {"it": {"type": "object"}}}}
_ANY_TOOL = {
    "name": "any",
    "parameters": {
        "properties": {"it": {"type": ["array", "object", "boolean", "null", "number"]}}
    },
}
_VALUES = (
    *("True", "None", "[1, 'two', 3.0, -4, +5, None, True]", "[1, 2,]", "[,]", "(1, 2)", "(True)"),
    *(
        "{'a': 1, 'b': [2]}",
        "{1: 'a', True: 'b', 1.0: 'c'}",
        "{None: 0, 2.50: 1}",
        "{'a': 1, 'a': 2}",
    ),
    *("{[1]: 2}", "{(1, 2): 3}", "{1, 2}", "{}", "[]", "[[], {}, ()]", "{'a' 'b': 'c' \"d\"}"),
    *("[0x1F, 0o17, 0b11, 1_000, 00, 07]", "[0x1F, 0o17, 0b11, 1_000, 00]", "[1__0]", "[1_]"),
    *("[1e5, 1E-7, 1e16, 123456789012345678901234567890, .5, 5., 1e22, 0.1, -0.0]", "[1e999]"),
    *(
        "+5",
        "-+5",
        "+(5)",
        "1_000",
        "0x1F",
        "-.5",
        "5.",
        "007",
        "1_0e1",
        "1e999",
        "-0x0",
        "-1j",
        "١",
    ),
    *("[1j]", "[1 + 2j]", "[--1]", "[-(1)]", "[-True]", "[not 1]", "['a' if 1 else 2]", "[x]"),
    *(r"['\n\t\\\'\"\a\v\x41\u00e9\U0001F600\101\0']", r"['\q']", r"['\xZ']", r"['\N{DASH}']"),
    *(r"[r'\n', R'a', u'b']", "[b'a']", "[f'a']", "['a' b'b']", '[\'\'\'a\nb\'\'\', """c"d"""]'),
    *(
        "['a\nb']",
        "['a\\\nb']",
        "[1, # one\n 2]",
        "[1] # one",
        "[1]\n",
        "[1] [2]",
        "[1",
        "'a'",
        "1",
    ),
    *("[1,\r\n 2]", "['''a\r\nb''']", "[\ud83d]", "['😀']", "[" * 201, "[" * 150 + "]" * 150),
    *('{"a": 1e5, "b": -0, "a": 2}', '["\\ud83d\\ude00", "\\ud83d"]', '{"a": NaN}', "[01]", "[1.]"),
    *('{"2": 1, "1": 2, "__proto__": 3}', '{"a": "b\nc"}', "\u3000", "\x1c[]", "\ufeff[]", "true"),
)


# Python warns of an escape that it doesn't know.
@pytest.mark.filterwarnings("ignore:invalid escape sequence")
@pytest.mark.parametrize("value", _VALUES)
@pytest.mark.parametrize("tool", [_OPEN_TOOL, _ANY_TOOL], ids=lambda tool: tool["name"])
def test_values_in_text_are_read_alike(
    value: str, tool: dict[str, Any], engine: TypeScriptEngine
) -> None:
    name = "qwen3-coder"
    call = f"<tool_call>\n<function={tool['name']}>\n<parameter=it>\n{value}\n</parameter>\n"
    text = f"{call}</function>\n</tool_call>"
    module = format_of(name).module
    assert not difference(engine, name, module, text, {"tools": [tool]}, (0, 1))


@pytest.mark.parametrize("value", ["7" * 400, f"-{'9' * 400}", "7" * 4301, f"{'7' * 400}.0"])
def test_integers_of_any_length_are_of_their_type(value: str, engine: TypeScriptEngine) -> None:
    name, tools = "glm-4-6", [with_a({"type": "integer"})]
    call = f"<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>{value}</arg_value>\n</tool_call>"
    module = format_of(name).module
    assert not difference(engine, name, module, call, {"tools": tools}, (0, 1))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("axolotl-gemma-4", '<|tool_call>call:éfetch{a:<|"|>b<|"|>}<tool_call|>'),
        ("kimi-k2-instruct", "<|tool_call_begin|>functions.нfetch:0<|tool_call_argument_begin|>{}"),
        ("mimo-vl", "<étude ✓"),
    ],
)
def test_letters_of_all_scripts_are_letters(name: str, text: str, engine: TypeScriptEngine) -> None:
    options = {"tools": [{"name": "fetch"}]}
    assert not difference(engine, name, format_of(name).module, text, options, (0, 1))


@pytest.mark.parametrize(
    ("name", "text", "stop"),
    [
        # A search goes on behind it, where JavaScript would find it once more.
        ("axolotl-gemma-4", '<|tool_call>call:look{city:<|"|>Rome 🍋', "🍋x"),
        # As it has two signs, not three, it ends nothing where it may be text.
        ("apertus-8b-instruct", '<|tools_prefix|>\nlook{"city": "Rome", 🍋x": 3}', "🍋x"),
    ],
)
def test_texts_that_stop_are_as_long_as_in_python(
    name: str, text: str, stop: str, engine: TypeScriptEngine
) -> None:
    module = format_of(name).module
    assert not difference(engine, name, module, text, {"stop": [stop]}, (0, 1))


@pytest.mark.parametrize("value", _VALUES)
def test_calls_of_another_kind_are_read_alike(value: str, engine: TypeScriptEngine) -> None:
    name = "qwen3-coder"
    for members in (f'"arguments": {value}', f'"parameters": "{value}"', f'"x": {value}'):
        text = f'<tool_call>\n{{"name": "set", {members}}}\n</tool_call> Done.'
        assert not difference(engine, name, format_of(name).module, text, {}, (0, 1))


@pytest.mark.parametrize("name", ["qwen3-coder", "qwen-qwen3-0-6b"])
@pytest.mark.parametrize("title", WRONG)
def test_wrong_tools_are_told(title: str, name: str, engine: TypeScriptEngine) -> None:
    tools, told = WRONG[title]
    with pytest.raises(AssertionError, match=f"^TypeError: {re.escape(told)}\n"):
        engine.parse(name, format_of(name).module, text="", sizes=[0], options={"tools": tools})


@pytest.mark.parametrize("option", ["enable_Thinking", "constructor"])
def test_an_option_that_is_none_is_told(option: str, engine: TypeScriptEngine) -> None:
    name, right = "qwen3-coder", "there are tools, enableThinking"
    with pytest.raises(AssertionError, match=f"^TypeError: there is no option {option}; {right}"):
        engine.parse(name, format_of(name).module, text="", sizes=[0], options={option: True})


@pytest.mark.parametrize("options", [None, 3, "x"])
def test_what_holds_no_options_is_told(options: object, engine: TypeScriptEngine) -> None:
    module = format_of("qwen3-coder").module
    with pytest.raises(AssertionError, match=r"^TypeError: options: not an object\n"):
        engine.parse("qwen3-coder", module, text="", sizes=[0], options=options)


@pytest.mark.parametrize(("option", "value", "told"), WRONG_VALUES)
def test_a_value_that_an_option_has_not_is_told_in_the_words_of_python(
    option: str, value: object, told: str, engine: TypeScriptEngine
) -> None:
    name, option = "qwen3-coder", camel(option)
    for ours, theirs in (("True", "true"), ("False", "false"), ("None", "null")):
        told = told.replace(ours, theirs)
    with pytest.raises(AssertionError, match=rf"^TypeError: {option}: {re.escape(told)}\n"):
        engine.parse(name, format_of(name).module, text="", sizes=[0], options={option: value})


def test_one_stop_text_is_no_list(engine: TypeScriptEngine) -> None:
    name = "qwen3-coder"
    assert not difference(
        engine, name, format_of(name).module, "a STOP b", {"stop": "STOP"}, (0, 1)
    )


_CHAIN = {f"s{at}": {"$ref": f"#/$defs/s{at + 1}"} for at in range(99)}
_TOOLS = {
    **{title: tool(parameters) for title, parameters in ALLOWED.items()},
    **NO_SCHEMAS,
    "nothing but emptiness": tool({"properties": [], "anyOf": {}, "items": [], "enum": 0}),
    "many references": with_a(
        {"$ref": "#/$defs/s0"}, **{"$defs": {**_CHAIN, "s99": {"type": "integer"}}}
    ),
}


@pytest.mark.parametrize("title", _TOOLS)
def test_schemas_of_tools_are_read_alike(title: str, engine: TypeScriptEngine) -> None:
    name = "qwen3-coder"
    options = {"tools": [_TOOLS[title]]}
    assert not difference(engine, name, format_of(name).module, CALL.format(3), options, (0, 1))


@pytest.mark.parametrize(
    "value", ['"function"', "null", "7", '"7"', "-7", '"tool"', '"tool_use"', '""', "{}", "", "٣"]
)
def test_members_that_should_say_nothing_are_read_alike(
    value: str, engine: TypeScriptEngine
) -> None:
    for name in FORMATS:
        marks = format_of(name).marks
        if not marks.are_objects:
            continue
        for key in (*other_keys(marks.tools), "extra"):
            members = f'"name": "set", "{key}": {value}, "arguments": {{}}'
            text = f"{''.join(marks.calls.opening)}{{{members}}}"
            assert not difference(engine, name, format_of(name).module, text, {}, (0, 1))


@pytest.mark.parametrize("word", ["functions", "other", "Wörter", ""])
def test_words_in_markers_are_read_alike(word: str, engine: TypeScriptEngine) -> None:
    for name in FORMATS:
        form = format_of(name)
        for notation in (*form.marks.calls.opening, form.marks.calls.start):
            if "{word}" in notation:
                text = notation.replace("{word}", word).replace("{name}", "set")
                text = f"{text} {{}}"
                assert not difference(engine, name, form.module, text, {}, (0, 1))


@pytest.mark.parametrize(
    "text",
    [
        *("city='P')", 'city="P", days=-3,)', "city=[1, {'a': None}])", ")", "1)", ",)", "a=1"),
        *("a=1, a=2)", "for=1)", "ﬁ=1)", "é=1)", "a=b)", "**{'a': 1})", "a=1).more(b=2)", "a==1)"),
        *("a=1) # done", "a=(1)\n)", "a=(1,))", "a=1) 2", " a = 1 , b = 2 )", "a=1 b=2)"),
    ],
)
def test_keyword_arguments_are_read_alike(text: str, engine: TypeScriptEngine) -> None:
    name = "meta-llama-llama-3-1-8b-instruct"
    module = format_of(name).module
    assert facts_of_format(name).rows("method")
    whole = f"<|python_tag|>look.call({text}<|eom_id|>"
    assert not difference(engine, name, module, whole, {}, (0, 1))


@pytest.mark.parametrize("part", LongText)
def test_long_texts_are_read_alike(part: LongText, engine: TypeScriptEngine) -> None:
    text = 'upon  a \n\ttime, "he" said: C:\\\\x\n \r\n' * 30  # more pieces than stay apart
    for known in representatives(read_formats(ROOT)):
        if has_part(known.spec, part):
            turn = turn_with(known.spec, part, text)
            options = {"tools": turn.tools, "prefill": known.spec.turn.header}
            module = format_of(known.name).module
            assert not difference(engine, known.name, module, turn.whole, options, (0, 1, 4))


_VALUE = f"<tool_call>\n<function={_OPEN_TOOL['name']}>\n<parameter=it>\n"


@pytest.mark.parametrize(
    ("name", "begin", "part", "end"),
    [
        ("qwen-qwen3-0-6b", '<tool_call>\n{"name": "look", "arguments": {"a": "', r"\n", ""),
        ("team-ace-toolace-8b", "[look(a='", r"\'", ""),
        ("qwen3-coder", f"{_VALUE}{{'a':", "#\n", "1}\n</parameter>\n</function>\n</tool_call>"),
    ],
)
def test_there_may_be_any_number_of_escapes_and_comments(
    name: str, begin: str, part: str, end: str, engine: TypeScriptEngine
) -> None:
    """Engines of expressions put each turn of some repeats on a stack that has its end."""
    module = format_of(name).module
    text = begin + part * 6_000_000 + end
    assert engine.parse(name, module, pieces=[text], options={"tools": [_OPEN_TOOL]})


def test_what_stands_before_a_marker_counts_behind_any_number_of_pieces(
    engine: TypeScriptEngine,
) -> None:
    name = "qwen-qwen3-0-6b"
    module = format_of(name).module
    for length in range(500, 520):  # with one of them, no piece stays apart before the marker
        for quote, content in (('"', 'x"<think>" is a marker'), ("", "x")):
            text = "x" * length + f"{quote}<think>{quote} is a marker"
            assert module.parse(text).content == "x" * (length - 1) + content
            assert not difference(engine, name, module, text, {}, (1,))


@pytest.mark.parametrize("name", ["qwen3-coder", "openai-gpt-oss-120b", "mistral-small-3-2-24b"])
def test_a_character_that_is_cut_between_two_pieces_is_joined(
    name: str, engine: TypeScriptEngine
) -> None:
    known = next(other for other in NAMES if other.startswith(name[:8]))
    form = format_of(known)
    text = f"🦆 {form.write(form.message)} 𝔊🦆"
    units = text.encode("utf-16-le")
    pieces = [
        units[at : at + 2].decode("utf-16-le", "surrogatepass") for at in range(0, len(units), 2)
    ]
    (found,) = engine.parse(known, form.module, pieces=pieces, options=form.options)
    whole = python_result(form.module, [text], form.options)
    assert found["message"] == whole["message"]
    (by_character,) = engine.parse(known, form.module, pieces=list(text), options=form.options)
    events = [
        [event for told in each["events"] for event in told] for each in (found, by_character)
    ]
    assert events[0] == events[1]


@pytest.mark.parametrize("name", FORMS)
def test_nothing_is_fed_after_the_end(name: str, engine: TypeScriptEngine) -> None:
    form = format_of(name)
    text = form.write(form.message)
    told = "Error: feed() after finish(): the text is over\n"
    for pieces in ([None, text], [text, None, ""], [text[:-5], None, [text[-5:], True]]):
        with pytest.raises(AssertionError, match=f"^{re.escape(told)}"):
            engine.parse(name, form.module, pieces=pieces, options=form.options)
    (once,) = engine.parse(name, form.module, pieces=[text[:-5]], options=form.options)
    (twice,) = engine.parse(name, form.module, pieces=[text[:-5], None], options=form.options)
    assert twice == {**once, "events": [*once["events"], []]}


@pytest.mark.parametrize("name", PARTS)
def test_a_copied_parser_reads_as_the_engine_does(
    name: str, engine: TypeScriptEngine, copies: Path
) -> None:
    form = format_of(name)
    for shared in (False, True) if name in FORMS else (False,):
        path = copies / f"{name}-{shared}.mjs"
        path.write_text(
            script_text(source_of(name), facts_of_format(name), Script.JAVASCRIPT, shared=shared),
            "utf-8",
        )
        engine.load_file(path.stem, path)
        text = form.write(form.message)
        for cut in (len(text), len(text) // 2):
            texts = (engine, path.stem, form.module, text[:cut], form.options)
            assert not difference(*texts, (0, 3))


def test_a_piece_that_is_no_string_is_told(engine: TypeScriptEngine) -> None:
    module, wrong = format_of(_QWEN).module, cast(str, None)
    parser = module.Parser()
    for special in (False, True):
        with pytest.raises(TypeError, match=r"^text: None is not a string$"):
            parser.feed(wrong, special)
        with pytest.raises(AssertionError, match=r"^TypeError: text: null is not a string\n"):
            engine.parse(_QWEN, module, pieces=[(None, special)], options={})
    parser.feed("It rains.")
    assert parser.message.content == copy(parser).message.content == "It rains."


def test_a_call_that_a_prompt_begins_in_the_reasoning_is_told_from_its_start(
    engine: TypeScriptEngine,
) -> None:
    name = "qwen-qwen3-0-6b"
    lead = '<think>\nx <tool_call>\n{"name": "fetch", "arguments": {"tag": "a b '
    for echo, thought in ((False, []), (True, ["x"])):
        options = {"prefill": f"<|im_start|>assistant\n{lead}", "echo": echo}
        (found,) = engine.parse(name, format_of(name).module, pieces=["c"], options=options)
        first, last = found["events"]
        assert [event["text"] for event in first] == thought
        assert [event.get("arguments") for event in last] == [
            *(None, '{"tag": "a b ', "c", '"}', None)
        ]


@pytest.mark.parametrize("name", ["qwen3-coder", "qwen-qwen3-0-6b", "google-gemma-2-2b-it"])
def test_the_finish_reason_tells_of_a_call_that_was_cut_off(
    name: str, engine: TypeScriptEngine
) -> None:
    spec = committed_spec(name)
    module, calls = load(spec), spec.tools is not None
    made = (Call("look_up", {"word": "tea"}),) if calls else ()
    text = write_parts(spec, Message("Hi.", calls=made), Part.START)
    ends = range(len(text) + 1)
    told = [python_result(module, [text[:end]], {})["finish_reason"] for end in ends]
    assert set(told) == ({"stop", "length", "tool_calls"} if calls else {"stop"})
    for end in ends:
        (found,) = engine.parse(name, module, pieces=[text[:end]], options={})
        assert found["finish_reason"] == told[end]


def test_a_prefill_may_begin_with_the_conversation(engine: TypeScriptEngine) -> None:
    name, header = "qwen-qwen3-0-6b", "<|im_start|>assistant\n"
    talk = f"<|im_start|>user\nWhy?<|im_end|>\n{header}Hm.<|im_end|>\n"
    module = in_memory(name)
    for prompt in (header, f"{header}<think>\n", f"{header}<think>\n\n</think>\n\n"):
        whole, own = (
            engine.parse(name, module, pieces=["So."], options={"prefill": prefill})
            for prefill in (talk + prompt, prompt)
        )
        assert whole == own


@pytest.mark.parametrize("deviation", ["others: a draft in reasoning", "reasoning: a call inside"])
def test_what_a_prompt_holds_is_told_first(deviation: str, engine: TypeScriptEngine) -> None:
    """Where it is echoed, all is told that is told of the same text without a prompt."""
    asked = 0
    for name in KINDS:
        form = format_of(name)
        for case in DEVIATIONS[deviation](form):
            (whole,) = engine.parse(name, form.module, pieces=[case.text], options=case.options)
            for cut, size in product(some(range(1, len(case.text))), (0, 1)):
                prefill = form.spec.turn.header + case.text[:cut]
                options = {**case.options, "prefill": prefill}
                request = {"pieces": pieces_of(case.text[cut:], size), "options": options}
                (hidden,) = engine.parse(name, form.module, **request)
                assert _are_in_order(hidden["events"]), (name, request)
                options["echo"] = True
                (shown,) = engine.parse(name, form.module, **request)
                assert at_once(_moved(shown, cut)) == at_once(whole), (name, request)
                asked += 1
    assert asked > 100


def _are_in_order(events: list[list[dict[str, Any]]]) -> bool:
    """Say whether each call has its start, then its arguments, then its end, and then the next."""
    told = [event for found in events for event in found if "index" in event]
    types = [each for each, _ in groupby((event["index"], event["type"]) for event in told)]
    kinds = ("tool_call_start", "tool_call_delta", "tool_call_end")
    calls = range(1 + max((event["index"] for event in told), default=-1))
    return types == list(product(calls, kinds))


def _moved(result: Any, by: int) -> Any:
    """Return a result with all offsets moved."""
    events = [
        [{**event, "start": event["start"] + by, "end": event["end"] + by} for event in told]
        for told in result["events"]
    ]
    problems = [
        {**problem, "offset": problem["offset"] + by} for problem in result["message"]["problems"]
    ]
    message = {**result["message"], "problems": problems}
    return {**result, "events": events, "message": message}


def test_what_may_be_a_draft_is_not_copied_with_each_piece(engine: TypeScriptEngine) -> None:
    """Nothing of a call in reasoning is given before it is over: four times as many pieces."""
    name = "qwen-qwen3-0-6b"
    lead = '<think>So: <tool_call>\n{"name": "f", "arguments": {"a": "'
    few, many = (engine.steps(name, [lead, *["word "] * count])[1] for count in (400, 1600))
    assert few > 400
    assert many < 6 * few


_QWEN = "qwen-qwen3-0-6b"


def test_drafts_with_astral_characters_take_linear_time(engine: TypeScriptEngine) -> None:
    """Each of them is read to the end of the text, but not counted up to there."""
    few, many = (
        engine.steps(_QWEN, ["<think>", "🦆<tool_call>\n<function=" * count])[1]
        for count in (400, 800)
    )
    assert many < 2.3 * few


def test_drafts_with_special_tokens_take_linear_time(engine: TypeScriptEngine) -> None:
    tokens = ["<think>", "<tool_call>", "</tool_call>"]
    few, many = (
        engine.steps(
            _QWEN,
            [("<think>", True), *[("<tool_call>", True), ("\n<function=", False)] * count],
            special_tokens=tokens,
        )[1]
        for count in (400, 800)
    )
    assert many < 2.3 * few


def test_copies_compile(tmp_path: Path) -> None:
    """Under the strictest settings, with and without the engine, and in use as the docs have it."""
    for name in {"qwen3-coder", *PARTS}:
        source = source_of(name)
        (tmp_path / f"{name}.ts").write_text(
            script_text(source, facts_of_format(name), Script.TYPESCRIPT), "utf-8"
        )
    qwen, facts = source_of("qwen3-coder"), facts_of_format("qwen3-coder")
    for script in Script:
        (tmp_path / f"{SHARED_ENGINE}{script}").write_text(script_engine(script), "utf-8")
        (tmp_path / f"own{script}").write_text(script_text(qwen, facts, script), "utf-8")
        text = script_text(qwen, facts, script, shared=True)
        (tmp_path / f"shared{script}").write_text(text, "utf-8")
    for module in ("./own.js", "./shared.js", "./own.mjs", "./shared.mjs"):
        use = tmp_path / f"use{module.replace('.', '_').replace('/', '_')}.ts"
        use.write_text(_USE.replace("MODULE", module), "utf-8")
    page = (ROOT / "docs/vendor-a-parser.md").read_text("utf-8")
    (example,) = re.findall(r"^```ts\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    (tmp_path / "docs.ts").write_text(_CONSOLE + example.replace("./formats/", "./"), "utf-8")
    compile_typescript(tmp_path, tmp_path / "compiled")


_CONSOLE = "declare const console: { log(...values: unknown[]): void };\n"
_USE = """
import { parse, Parser, sliceOf, toDelta, type Message, type Tool } from "MODULE";

const tools: Tool[] = [{ type: "function", function: { name: "look", parameters: {} } }];
const text = "It rains.";
const message: Message = parse(text, { tools, reasoning: "inline" });
const parser = new Parser({ idPrefix: "turn2_" });
for (const event of [...parser.feed(text), ...parser.finish()]) {
  const said: string = event.type === "content" ? event.text : sliceOf(text, event);
  const delta = toDelta(event);
  if (delta?.content !== said) throw new Error(message.toObject().role);
}
"""


def test_what_is_written_by_hand_is_as_the_linter_wants_it() -> None:
    lint(SCRIPTS)
