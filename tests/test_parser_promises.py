"""What every committed parser promises, on what a confused model may write (`marker_soup`).

``TURNSPEC_EXAMPLES=200`` (`make test-long`) tries that many random texts per test and module
instead of a few fixed ones.
"""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.generated_formats import KINDS, committed_format, committed_spec
from tests.marker_soup import Output, chunkings, own_markers, soups, written_outputs
from tests.parser_checks import added_up, assert_in_order, stream, summary
from tests.special_pieces import pieces_of, special_tokens
from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.writer import write_parts
from turnspec.engine.json_texts import load_json
from turnspec.rendering.conversation import tool_definitions
from turnspec.spec.calls import Literal
from turnspec.spec.characters import LONGEST, NOT_IN_NAMES
from turnspec.spec.encoding import encode_object
from turnspec.spec.message import Call, Message
from turnspec.spec.model import Spec
from turnspec.spec.words import Encoding, Part, ToolMode
from turnspec.verification.messages import format_markers
from turnspec.verification.random_messages import random_messages
from turnspec.verification.turns import expected_message, written_input

#: How many texts are tried unless the environment says otherwise.
FEW = 4
#: What can be a name for a parser.
NAME = re.compile(rf"[^{NOT_IN_NAMES}]{{1,{LONGEST}}}")
EXAMPLES = int(os.environ.get("TURNSPEC_EXAMPLES", FEW))

pytestmark = pytest.mark.timeout(300 + EXAMPLES)


spec_of = committed_spec


def module_of(name: str) -> FormatModule:
    return committed_format(name).module


@functools.cache
def soups_of(name: str) -> st.SearchStrategy[Output]:
    return soups(spec_of(name))


@functools.cache
def written_of(name: str) -> st.SearchStrategy[Output]:
    return written_outputs(spec_of(name))


@functools.cache
def messages_of(name: str) -> st.SearchStrategy[Message]:
    seeds = st.integers(0, 2**32 - 1)
    return seeds.map(lambda seed: next(random_messages(spec_of(name), 1, seed)))


def for_examples(test: Callable[..., None]) -> Callable[..., None]:
    """Run a test on drawn examples: the same few every time, or as many random ones as asked."""
    few = "TURNSPEC_EXAMPLES" not in os.environ
    given_data: Callable[..., None] = given(data=st.data())(test)
    return settings(
        max_examples=EXAMPLES,
        derandomize=few,
        database=None,
        deadline=None,
        print_blob=True,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )(given_data)


def found_in(message: Any) -> str:
    """Return all texts of a message in one: as they are, and arguments decoded as well."""
    texts = [message.content, message.reasoning_content]
    for call in message.tool_calls:
        texts += [call.id, call.name, call.arguments, *decoded_texts(call.arguments)]
    return "\n".join([*texts, *(problem.message for problem in message.problems)])


def decoded_texts(arguments: str) -> Iterator[str]:
    """Yield every string in a JSON text, its keys included; nothing if it isn't JSON."""
    try:
        rest = [json.loads(arguments)]
    except ValueError:
        return
    while rest:
        value = rest.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            rest += [*value, *value.values()]
        elif isinstance(value, list):
            rest += value


def shown_texts(message: Any) -> list[str]:
    """Return the texts in which no marker may stand."""
    texts = [message.content, message.reasoning_content]
    for call in message.tool_calls:
        texts += [call.arguments, *decoded_texts(call.arguments)]
    return texts


def begins_calls_barely(spec: Spec) -> bool:
    """Tell whether calls are JSON objects without a marker, which content may be as well."""
    tools = spec.tools
    if tools is None or tools.mode is not ToolMode.JSON_NATIVE:
        return False
    first = tools.call[0]
    before = tools.section_start + (first.text if isinstance(first, Literal) else "")
    return before.strip().startswith(("{", "["))


def call_literals(spec: Spec) -> set[str]:
    pieces = spec.tools.call if spec.tools else ()
    return {piece.text.strip() for piece in pieces if isinstance(piece, Literal)}


@functools.cache
def leakable_markers(name: str) -> set[str]:
    """Return the markers that show only if they leak: JSON that no marker precedes may show."""
    spec = spec_of(name)
    bare = call_literals(spec) if begins_calls_barely(spec) else set()
    return format_markers(spec) - bare


@pytest.mark.parametrize("name", KINDS)
@for_examples
def test_any_chunking_gives_the_same_message(name: str, data: st.DataObject) -> None:
    module, output = module_of(name), data.draw(soups_of(name))
    whole = module.parse(output.text, **output.options)
    for chunks in (data.draw(chunkings(output.text)), list(output.text), ["", output.text, ""]):
        message, events = stream(module, chunks, **output.options)
        assert message == whole, chunks
        assert added_up(events) == summary(whole), chunks


@pytest.mark.parametrize("name", KINDS)
@for_examples
def test_a_turn_that_lacks_a_character_is_read_alike_in_any_chunking(
    name: str, data: st.DataObject
) -> None:
    """Where a separator or a sign of a marker is missing, parsers wait for what may come."""
    module, output = module_of(name), data.draw(written_of(name))
    at = data.draw(st.integers(0, max(len(output.text) - 1, 0)))
    text = output.text[:at] + output.text[at + 1 :]
    whole = module.parse(text, **output.options)
    for chunks in (data.draw(chunkings(text)), list(text)):
        message, events = stream(module, chunks, **output.options)
        assert message == whole, chunks
        assert added_up(events) == summary(whole), chunks


@pytest.mark.parametrize("name", KINDS)
@for_examples
def test_the_message_only_grows(name: str, data: st.DataObject) -> None:
    module, output = module_of(name), data.draw(soups_of(name))
    parser = module.Parser(**output.options)
    events = parser.feed("")
    before = parser.message
    for chunk in data.draw(chunkings(output.text)):
        events += parser.feed(chunk)
        assert_told(events, parser.message)
        assert_grown(before, parser.message)
        before = parser.message
    parser.finish()
    assert_grown(before, parser.message)


def assert_told(events: Iterable[Any], message: Any) -> None:
    """Assert that the events so far add up to the message so far."""
    ended = {event.index for event in events if event.type == "tool_call_end"}
    open_calls = range(len(message.tool_calls))
    closing = [type_of_end(index) for index in open_calls if index not in ended]
    assert added_up([*events, *closing]) == summary(message)


def type_of_end(index: int) -> Any:
    """Return an event that ends a call and says nothing else."""
    return type("End", (), {"type": "tool_call_end", "index": index})()


def assert_grown(before: Any, after: Any) -> None:
    """Assert that nothing was taken back between one message and a later one."""
    assert after.content.startswith(before.content)
    assert after.reasoning_content.startswith(before.reasoning_content)
    assert after.problems[: len(before.problems)] == before.problems
    assert len(after.tool_calls) >= len(before.tool_calls)
    for old, new in zip(before.tool_calls, after.tool_calls, strict=False):
        assert new.name == old.name
        assert new.id.startswith(old.id)
        assert new.arguments.startswith(old.arguments)
        assert new == old or not old.complete


@pytest.mark.parametrize("name", KINDS)
@for_examples
def test_no_word_is_lost(name: str, data: st.DataObject) -> None:
    module, output = module_of(name), data.draw(soups_of(name))
    found = found_in(module.parse(output.text, **output.options))
    assert [word for word in output.words if word not in found] == []


@pytest.mark.parametrize("name", KINDS)
@for_examples
def test_no_word_of_a_cut_off_turn_is_lost(name: str, data: st.DataObject) -> None:
    module, turn = module_of(name), data.draw(written_of(name))
    output = turn.first(data.draw(st.integers(0, len(turn.text))))
    found = found_in(module.parse(output.text, **output.options))
    assert [word for word in output.words if word not in found] == []


@pytest.mark.parametrize("name", KINDS)
@for_examples
def test_offsets_lie_in_the_text(name: str, data: st.DataObject) -> None:
    module, output = module_of(name), data.draw(soups_of(name))
    prefill = output.options["prefill"]
    if prefill is None:
        prefill = spec_of(name).thinking.state(output.options["enable_thinking"]).prompt
    message = module.parse(output.text, **output.options)
    for problem in message.problems:
        assert -len(prefill) <= problem.offset <= len(output.text), problem


@pytest.mark.parametrize("name", KINDS)
@for_examples
def test_a_finished_parser_takes_no_more(name: str, data: st.DataObject) -> None:
    module, output = module_of(name), data.draw(soups_of(name))
    parser = module.Parser(**output.options)
    parser.feed(output.text)
    parser.finish()
    finished = parser.message
    assert parser.finish() == []
    assert parser.message == finished
    for more in ("", data.draw(soups_of(name)).text):
        with pytest.raises(ValueError, match=r"feed\(\) after finish\(\)"):
            parser.feed(more)
    assert parser.finish() == []
    assert parser.message == finished


@pytest.mark.parametrize("name", KINDS)
@for_examples
def test_a_turn_cut_off_anywhere_loads_and_does_not_leak(name: str, data: st.DataObject) -> None:
    spec, module = spec_of(name), module_of(name)
    text, prefill, message = data.draw(turns_behind_a_prompt(name))
    unknown = [] if begins_calls_barely(spec) else [[], [{"name": "other"}]]
    tools = data.draw(st.sampled_from([None, tool_definitions(message.calls), *unknown]))
    text = text[: data.draw(st.integers(0, len(text)))]
    parsed, _ = stream(module, data.draw(chunkings(text)), tools=tools, prefill=prefill)
    for call in parsed.tool_calls:
        assert isinstance(json.loads(call.arguments), dict), call
    texts = shown_texts(parsed)
    leaked = [
        marker for marker in leakable_markers(name) if any(marker in shown for shown in texts)
    ]
    assert [marker for marker in leaked if not in_arguments(spec, message, marker)] == [], parsed


def in_arguments(spec: Spec, message: Message, marker: str) -> bool:
    """Tell whether the message's own arguments, written as JSON, have a marker in them."""
    syntax = spec.tools.arguments.syntax if spec.tools else None
    written = [json.dumps(call.arguments, ensure_ascii=False) for call in message.calls]
    written += [encode_object(call.arguments, syntax) for call in message.calls if syntax]
    return any(marker in text for text in written)


@st.composite
def turns_behind_a_prompt(draw: st.DrawFn, name: str) -> tuple[str, str, Message]:
    """Draw a written turn: what the model writes, what the prompt holds of it, and the message."""
    spec, message = spec_of(name), draw(messages_of(name))
    thinking = draw(st.sampled_from((True, False, None)))
    given_input = None
    if thinking is not None:
        given_input = written_input(spec, message, thinking=thinking)
    if given_input is None:
        shown = expected_message(spec, message)
        return write_parts(spec, shown, Part.START), spec.turn.header, shown
    return given_input.text, given_input.prefill or "", message


@pytest.mark.parametrize("name", KINDS)
@for_examples
def test_names_arguments_and_special_tokens_are_what_they_say(
    name: str, data: st.DataObject
) -> None:
    """A name can be a tool's, complete arguments are JSON, and a special token in text is told.

    UTF-8 can hold arguments if it can hold what the model wrote. Content in several pieces may look
    like a token where a stray marker between them was left out.
    """
    module, output = module_of(name), data.draw(soups_of(name))
    tokens = special_tokens(spec_of(name))
    options: dict[str, Any] = {**output.options, "echo": False}
    tools = [tool.get("function", tool) for tool in options["tools"] or ()]
    has_halves = holds_halves(output.text + (options["prefill"] or ""))
    for given_tokens in (None, tokens):
        parser = module.Parser(special_tokens=given_tokens, **options)
        events = []
        for piece, special in pieces_of(output.text, tokens):
            events += parser.feed(piece, special)
        events += parser.finish()
        message = parser.message
        assert_in_order(events, message)
        for call in message.tool_calls:
            assert NAME.fullmatch(call.name) or call.name in [tool["name"] for tool in tools]
            assert not call.complete or load_json(call.arguments) is not None
            assert has_halves or not holds_halves(call.arguments)
        told = "\n".join(problem.message for problem in message.problems)
        if given_tokens is not None and options["reasoning"] == "extract":
            texts = [event.text for event in events if event.type == "content"]
            shown = [token for token in tokens if any(token in text for text in texts)]
            assert [token for token in shown if token not in told] == []


def holds_halves(text: str) -> bool:
    """Tell whether a text has half characters (surrogates), so that UTF-8 can't hold it."""
    return any("\ud800" <= sign <= "\udfff" for sign in text)


JSON_NAMES = [
    name
    for name in KINDS
    if (tools := spec_of(name).tools) is not None
    and tools.mode is not ToolMode.TAG_WITH_TAGGED
    and tools.arguments.syntax.encoding is Encoding.JSON
]


@pytest.mark.parametrize("name", JSON_NAMES)
@for_examples
def test_a_marker_in_a_json_string_is_text(name: str, data: st.DataObject) -> None:
    spec, module = spec_of(name), module_of(name)
    pieces = st.sampled_from([*own_markers(spec), '"', "\\", "}", "]", "words", "\n"])
    texts = st.lists(pieces, max_size=5).map("".join)
    arguments = data.draw(st.dictionaries(texts, texts, min_size=1, max_size=3))
    thought = "Thinking." if spec.reasoning.field else ""
    message = Message(reasoning=thought, calls=(Call("fetch", arguments, "abcdef123"),))
    text = write_parts(spec, message, Part.START)
    parsed, _ = stream(module, data.draw(chunkings(text)), prefill=spec.turn.header)
    found = [(call.name, json.loads(call.arguments), call.complete) for call in parsed.tool_calls]
    assert found == [("fetch", arguments, True)]
    assert parsed.problems == []
