"""Turns for the grammars to judge: those that the writer writes, and such without their ends.

No walk can show that a grammar allows too little, and none that it lets the end of a call be
missing: a parser that has read a whole call takes it without that, and has nothing to tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from turnspec.analysis.text import markers
from turnspec.grammar.call_text import value_ends
from turnspec.grammar.request import GrammarRequest, ToolChoice
from turnspec.rendering.conversation import tool_definitions
from turnspec.spec.conditions import parts_of_message
from turnspec.spec.message import Call, Message
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem
from turnspec.spec.results import Counterexample
from turnspec.spec.turn_end import with_stop_at_end
from turnspec.spec.words import Encoding, JsonType
from turnspec.verification.gbnf_reader import read_grammar
from turnspec.verification.messages import SAMPLE_CALLS, allowed_call, sample_messages
from turnspec.verification.recognizer import Recognizer
from turnspec.verification.turns import expected_behind, expected_message, written_input
from turnspec.verification.walk_offers import Bind, bound_grammar, offers


@dataclass(frozen=True, slots=True)
class WrittenTurn:
    """A turn, the grammar that has to judge it, and the end that is left out of it, "" if none."""

    text: str
    recognizer: Recognizer
    left_out: str = ""

    def fault(self) -> Counterexample | None:
        """Return what is wrong with how the grammar judges the turn."""
        if self.recognizer.accepts(self.text) != bool(self.left_out):
            return None
        if self.left_out:
            return Counterexample(self.text, f"refused without {self.left_out!r}", "allowed")
        taken = self.recognizer.accepted_length(self.text)
        rest = self.text[taken : taken + 20]
        got = f"it stops at {rest!r}" if taken < len(self.text) else "it wants more"
        return Counterexample(self.text, "allowed by the grammar", got)


def written_turns(spec: Spec, gbnf: str, bind: Bind) -> Iterator[WrittenTurn]:
    """Yield the writer's turns, each with the grammar for any tools or one bound to its own."""
    grammar = read_grammar(gbnf)
    if not isinstance(grammar, Problem):
        yield from _judged(spec, list(sample_messages(spec)), Recognizer(grammar))
    if spec.tools is None:
        return
    whole = Message(calls=tuple(allowed_call(spec, call) for call in SAMPLE_CALLS))
    calls = expected_message(spec, whole).calls
    own = GrammarRequest(
        tool_definitions(calls), tool_choice=ToolChoice.REQUIRED, parallel=True, thinking=True
    )
    yield from _bound_turns(spec, own, calls, bind)
    walked = next(offers(spec)).request
    yield from _bound_turns(spec, walked, [_least_call(tool) for tool in walked.tools], bind)


def _least_call(tool: Mapping[str, Any]) -> Call:
    """Return a call of a tool with the arguments that it needs, all of which are strings."""
    function = tool["function"]
    arguments = dict.fromkeys(function["parameters"]["required"], "word")
    return Call(function["name"], arguments, "abcdef123")


def _bound_turns(
    spec: Spec, request: GrammarRequest, calls: Sequence[Call], bind: Bind
) -> Iterator[WrittenTurn]:
    """Yield turns of nothing but calls, each alone and all together, and how they are judged."""
    found = bound_grammar(request, bind)
    if isinstance(found, Problem):  # the walks tell
        return
    only_calls = [
        Message(reasoning=reasoning, calls=chosen)
        for reasoning in ("", "Let me think: 2 < 3.")
        for chosen in (*((call,) for call in calls), tuple(calls))
    ]
    yield from _judged(spec, only_calls, Recognizer(found[1]), thinking=(True,))


def _judged(
    spec: Spec,
    messages: Sequence[Message],
    recognizer: Recognizer,
    thinking: Sequence[bool] = (True, False),
) -> Iterator[WrittenTurn]:
    texts: dict[str, bool] = {}
    for message in messages:
        for on in thinking:
            shown = expected_behind(spec, message, on)
            says = may_be_written(spec, message) and parts_of_message(shown)
            if says and (found := written_input(spec, message, thinking=on)):
                texts[found.text] = bool(message.calls) and not message.content
    for text, ends_in_calls in sorted(texts.items()):
        yield WrittenTurn(text, recognizer)
        for end in _call_ends(spec) if ends_in_calls else ():
            before, found_end, behind = text.rpartition(end)
            if found_end:
                yield WrittenTurn(before + behind, recognizer, end)


def may_be_written(spec: Spec, message: Message) -> bool:
    """Tell whether no text among the arguments holds what ends a raw one for a grammar."""
    tools = spec.tools
    if tools is None or tools.arguments.values.get(JsonType.STRING) is not Encoding.RAW:
        return True
    texts = [text for call in message.calls for text in call.arguments.values()]
    ends = value_ends(tools)
    return not any(end in text for end in ends for text in texts if isinstance(text, str))


def _call_ends(spec: Spec) -> list[str]:
    """Return what ends a call and a section of calls, and neither the turn nor another part.

    A turn without one of those can be another one: reasoning that goes on to what ends that, or
    content where nothing but its name tells of a call.
    """
    tools = with_stop_at_end(spec).tools
    if tools is None or spec.named_lines:
        return []
    ends = (tools.call[-1].text, tools.section_end)
    others = (spec.reasoning.end, spec.content.end)
    found = [end.strip() for end in ends if end.strip()]
    found += [last_marker for end in found for last_marker in markers(end)[-1:]]
    return [end for end in dict.fromkeys(found) if not any(end in other for other in others)]
