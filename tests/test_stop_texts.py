"""Further texts that end a turn: how many there may be, and how long; both engines read them alike.

What they cost grows with their length.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.counted_steps import CountedSteps
from tests.generated_formats import (
    EVERY_FORMAT,
    FORMS,
    committed_format,
    committed_spec,
    module_source,
)
from tests.typescript.engines import TypeScriptEngine, difference, opened_engine
from turnspec.codegen.loading import load
from turnspec.codegen.writer import write_parts
from turnspec.rendering.conversation import tool_definitions
from turnspec.spec.message import Call, Message
from turnspec.spec.words import Part
from turnspec.verification.messages import allowed_call

REFUSED = "stop: at most 64 texts of 1 to 1,000 whole characters"
#: As many and as long as they may be, with what has a meaning in markers and in expressions.
STOPS = [(f"<|{number:02}|{{a}}\n" + "ab{ .😀" * 200)[:999] + ">" for number in range(64)]
CALL = Call("look", {"where": "here"}, "abcdef123")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TypeScriptEngine]:
    with opened_engine(tmp_path_factory.mktemp("engine")) as opened:
        yield opened


@pytest.mark.parametrize(
    "stop",
    [["<end>"] * 65, ["é" * 1001], ["a\ud83d"], ["<end>", ""]],
    ids=["many", "long", "half", "empty"],
)
@pytest.mark.parametrize("name", ["qwen3-coder", "01-ai-yi-1-5-chat"])
def test_more_or_longer_ones_are_refused(
    name: str, stop: list[str], engine: TypeScriptEngine
) -> None:
    module = load(committed_spec(name))
    with pytest.raises(ValueError, match=f"^{REFUSED}$"):
        module.Parser(stop=stop)
    with pytest.raises(AssertionError, match=f"^TypeError: {REFUSED}\n"):
        engine.parse(name, module, text="", sizes=[0], options={"stop": stop})


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", FORMS)
def test_the_most_are_read_alike(name: str, engine: TypeScriptEngine) -> None:
    spec, last = committed_spec(name), STOPS[-1]
    module = load(spec)
    call = allowed_call(spec, CALL)
    options = {"tools": tool_definitions([call]), "stop": STOPS, "prefill": spec.turn.header}
    texts = [
        "I look.",
        write_parts(spec, Message("", "", (call,) if spec.tools else ()), Part.START),
    ]
    whole = [f"{start}{end}" for start in texts for end in (last, last[:-1], last + "more")]
    for text in whole if EVERY_FORMAT else whole[FORMS.index(name) % len(whole) :: len(whole)]:
        assert not difference(engine, name, module, text, options, (0, 97))
    assert module.parse(f"I look.{last}", **options).content.strip() == "I look."


#: Texts, each with what of it is content where another text ends the turn.
EXACT = (
    ("Hello User x", "\n\nUser", "Hello User x"),
    ("Hello\nUser x", "\n\nUser", "Hello\nUser x"),
    ("Hello\n\nUser x", "\n\nUser", "Hello"),
    ("Hello\n\n\nUser x", "\n\nUser", "Hello"),
    ("Hello\r\nUser x", "\r\nUser", "Hello"),
    ("Hi ab c", "a b", "Hi ab c"),
    ("Hi a\nb c", "a b", "Hi a\nb c"),
    ("Hi a b c", "a b", "Hi"),
    ("HiUser x", " User", "HiUser x"),
    ("Hi\tUser x", "\tUser", "Hi"),
    ("x {} {\n} y", "{ }", "x {} {\n} y"),
    ("x { } y", "{ }", "x"),
    ("a {{ }} b", "{{ }}", "a"),
    ("a\n\nb", "\n\n", "a"),
    ("a\n \nb", "\n\n", "a\n \nb"),
    ("a\r\nb", "\n", "a"),
    ("a b", " ", "a"),
)


@pytest.mark.parametrize("name", FORMS)
def test_white_space_in_them_is_as_it_is(name: str, engine: TypeScriptEngine) -> None:
    module, header = load(committed_spec(name)), committed_spec(name).turn.header
    for text, stop, content in EXACT:
        options: dict[str, Any] = {"stop": [stop], "prefill": header, "reasoning": "inline"}
        assert module.parse(text, **options).content == content, (text, stop)
        assert module.parse(iter(text), **options).content == content, (text, stop)
    text, stop, _ = EXACT[FORMS.index(name) % len(EXACT)]
    assert not difference(engine, name, module, text, {**options, "stop": [stop]}, (0, 1))
    options["stop"] = None  # as requests have it that name none
    assert module.parse("a", **options).content == "a"
    assert not difference(engine, name, module, "a", options, (0,))


@pytest.mark.parametrize("name", [*FORMS, "baidu-ernie-4-5"])
def test_they_end_a_turn_after_each_part(name: str) -> None:
    """With their white space, however they come; so do ends that the template doesn't write."""
    form = committed_format(name)
    spec, module = form.spec, load(form.spec)
    options = {**form.options, "stop": ["\nUser:", *form.marks.text.unwritten, "##"]}
    messages = [Message("Hi"), Message("", "Think", form.calls), Message("", "", form.calls)]
    texts = [write_parts(spec, message, Part.START) for message in messages]
    for text in ["", *(text.removesuffix(spec.final(Part.CONTENT)) for text in texts)]:
        plain = module.parse(text, **options)
        for stop in options["stop"]:
            ended = text.rstrip() + (stop if stop[0] == "\n" else f" {stop}") + " more"
            for pieces in (ended, [*ended]):
                message = module.parse(pieces, **options)
                assert message.to_dict() == plain.to_dict(), (text, stop)
                assert message.problems[-1].kind == "text_after_end"


@pytest.mark.parametrize("name", FORMS)
def test_white_space_alone_ends_no_call(name: str) -> None:
    spec = committed_spec(name)
    call = Call("look", {"where": "a\n\nb"}, "abcdef123")
    text = write_parts(spec, Message("", "", (call,) if spec.tools else ()), Part.START)
    options = {"tools": tool_definitions([call]), "prefill": spec.turn.header}
    parse = load(spec).parse
    for pieces in (text, [*text]):
        assert parse(pieces, **options, stop="\n\n") == parse(pieces, **options)


@pytest.mark.parametrize("name", FORMS)
def test_they_end_a_turn_whatever_else_begins_with_them(name: str) -> None:
    spec = committed_spec(name)
    options = {"stop": "<", "prefill": spec.turn.header, "reasoning": "inline"}
    for marker in ("<|x|>", *spec.turn.stop):
        assert load(spec).parse(f"I look.<{marker}", **options).content == "I look."


@pytest.mark.parametrize(("few", "many"), [((32, 500), (64, 500)), ((32, 500), (32, 1000))])
def test_they_cost_as_much_as_they_are_long(few: tuple[int, int], many: tuple[int, int]) -> None:
    steps = CountedSteps(module_source("qwen3-coder"))

    def cost(number: int, length: int) -> int:
        stops = [(f"<{at}" + "ab " * length)[:length] for at in range(number)]
        before = steps.now()
        parser = steps.module.Parser(stop=stops)
        parser.feed(stops[-1][: length // 2] * 2)
        parser.finish()
        return steps.now() - before

    assert cost(*many) <= 2.3 * cost(*few)
