"""What follows a turn's first call, where it isn't what follows the later ones."""

from __future__ import annotations

import pytest

from tests.grammar_engines.engine_llguidance import LlguidanceGrammar, compile_grammar
from tests.own_templates import own_template, spec_of
from turnspec.analysis.calls import CallsFinding, end_of_only_call, find_after_first
from turnspec.analysis.findings import Derivation
from turnspec.analysis.frames import Combination, Edge, Frame, Frames
from turnspec.analysis.repetition import Repetition
from turnspec.codegen.loading import load_module
from turnspec.pipeline.build import build_template
from turnspec.pipeline.project import OutputPaths
from turnspec.rendering.conversation import Following
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.calls import AfterFirst
from turnspec.spec.words import Part

LAST = Edge(Part.CALLS, Part.END)


def frames(*ends: str) -> Frames:
    """Return a frame for one call, one for two, and so on, with these ends."""
    return Frames(
        tuple(
            Frame(Combination(False, False, calls), following, "", (Part.CALLS,), ("", end), "", ())
            for calls, end in enumerate(ends, start=1)
            for following in (Following.NOTHING, Following.USER)
        )
    )


def calls(separator: str, first_separator: str) -> CallsFinding:
    return CallsFinding((), Repetition("", "</c>", separator, (), ()), None, first_separator)


def test_a_turn_with_several_calls_counts_before_one_with_one() -> None:
    assert frames("</c>", "</c></s>").edges()[LAST] == "</c></s>"
    assert frames("</c>").edges()[LAST] == "</c>"
    assert frames("</c>", "</c></s>").edges(Following.USER)[LAST] == "</c></s>"


def test_the_end_of_an_only_call_is_found_where_it_differs() -> None:
    different, same = frames("</c>~", "</c></s>~"), frames("</c></s>~", "</c></s>~")
    several = {LAST: "</c></s>"}
    assert end_of_only_call(different, several, "~") == "</c>"
    assert end_of_only_call(same, several, "~") is None
    assert end_of_only_call(Frames(()), several, "~") is None


FOUND = {
    "nothing closes an only call": (("", "", "</c>"), AfterFirst("", "", "")),
    "only the turn's end": (("", "", "</c><end>"), AfterFirst("", "", "<end>")),
    "only the section's end": (("", "", "</c></s>"), AfterFirst("", "</s>", "")),
    "another section's end": (("", "", "</c></o><end>"), AfterFirst("", "</o>", "<end>")),
    "another turn's end": (("", "", "</c></s><stop>"), AfterFirst("", "</s>", "<stop>")),
    "both are others": (("", "", "</c></o><stop>"), AfterFirst("", "", "</o><stop>")),
    "another separator": ((";", ",", None), AfterFirst(",", "</s>", "<end>")),
    "everything differs": ((";", ",", "</c>"), AfterFirst(",", "", "")),
    "nothing differs": ((";", ";", None), None),
}


@pytest.mark.parametrize("case", FOUND)
def test_find_after_first(case: str) -> None:
    (separator, first, only), expected = FOUND[case]
    found = find_after_first(calls(separator, first), only, "</s>", "<end>", Derivation())
    assert found == expected


#: What the templates of our own show, and how turns may be written all the same.
READ = {
    "closing-behind-several-calls": (
        AfterFirst("\n", "", ""),
        "«:work:»⟨a⟩",
        "«:work:»⟨a⟩«:worked:»«:over:»",
        "«:work:»⟨a⟩\n⟨b⟩«:worked:»«:over:»",
        "«:work:»⟨a⟩\n⟨b⟩«:worked:»«:over:»\n⟨c⟩«:worked:»«:over:»",
    ),
    "only-call-ends-otherwise": (
        AfterFirst("", "</only>", "<:end:>"),
        "<calls>⟨a⟩</only><:end:>",
        "<calls>⟨a⟩</calls><:end:>",
        "<calls>⟨a⟩⟨b⟩</calls><:end:>",
    ),
}
CALLS = {
    "closing-behind-several-calls": '«:do {}:»{{"k": "v"}}«:done:»',
    "only-call-ends-otherwise": '<call to="{}"><with k>v</with></call>',
}
REFUSED = {
    "closing-behind-several-calls": "«:work:»⟨a⟩\n⟨b⟩",
    "only-call-ends-otherwise": "<calls>⟨a⟩⟨b⟩</only><:end:>",
}


def written(name: str, turn: str) -> str:
    """Return the turn with calls in place of ⟨a⟩, ⟨b⟩ and ⟨c⟩."""
    for tool in "abc":
        turn = turn.replace(f"⟨{tool}⟩", CALLS[name].format(tool))
    return turn


@pytest.mark.parametrize("name", READ)
def test_a_first_call_may_be_followed_by_what_follows_later_ones(
    name: str, worker: RenderWorker
) -> None:
    after, *turns = READ[name]
    tools = spec_of(name, worker).tools
    assert tools is not None
    assert tools.after_first == after
    paths = OutputPaths.in_folder(name)
    files = build_template(own_template(name), paths, worker=worker).files
    module, grammar = load_module(files[paths.module]), compile_grammar(files[paths.grammar])
    assert isinstance(grammar, LlguidanceGrammar)
    for turn in turns:
        text = written(name, str(turn))
        message = module.parse(text)
        assert message.problems == []
        assert [call.name for call in message.tool_calls] == [
            tool for tool in "abc" if f"⟨{tool}⟩" in str(turn)
        ]
        assert all(call.arguments == '{"k": "v"}' for call in message.tool_calls)
        assert grammar.accepts(text), text
    assert not grammar.accepts(written(name, REFUSED[name]))
