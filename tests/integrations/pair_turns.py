"""The turns that a pair is held to: what its template reads, and what its tag lets through.

Written turns are those of rung 1b. Walks go over the grammar in the tag, behind text where that is
free. Hostile turns hold the format's marks, and what begins a call, in a call's arguments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from tests.integrations.served_turns import some
from tests.integrations.turns import Case, cases
from turnspec.deviations.turns import Format
from turnspec.export.pair import pair_tag
from turnspec.export.xgrammar import tag_of_grammar
from turnspec.grammar.bound import GrammarBinder
from turnspec.grammar.request import GrammarRequest
from turnspec.grammar.triggers import begins_turn
from turnspec.grammar.turn_onward import opens_reasoning, prompt_extra
from turnspec.rendering.conversation import tool_definitions
from turnspec.spec.message import Call, Message
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem
from turnspec.verification.comparing import Turn, as_meant, as_read
from turnspec.verification.grammar_rung import BEYOND_DOUBLES, SAID_AGAIN
from turnspec.verification.messages import allowed_call, format_markers
from turnspec.verification.turns import expected_message, written_input
from turnspec.verification.walk_offers import TOOLS, bound_grammar, offers
from turnspec.verification.walks import random_walk

_SEED = 41
#: Walks for each of these requests, and how long they get.
_WALKS = {"calls": 16, "calls or an answer": 6}
_LENGTHS = (40, 120, 250, 400)
#: What ends values, and so may stand before a mark.
_ENDS = ('"}}', "]", ")", "'\n")
#: Transformers rounds what a schema calls a number.
_LONG_NUMBER = re.compile("[0-9]{16}")
_FREE_TEXT = "One moment: 2 < 3.\n"


@dataclass(frozen=True, slots=True)
class Held:
    """A turn, and the structural tag that it is asked of."""

    kind: str
    case: Case
    tag: Mapping[str, Any]
    plain: Mapping[str, Any]  # the same without what narrows it


def held_turns(form: Format) -> Iterator[Held]:
    """Yield the turns of a format that calls tools."""
    written = some([case for case in cases(form.spec) if case.rung == "1b"])
    tags = _Tags(GrammarBinder(form.spec))
    for kind, found in (("written", written), ("hostile", _hostile(form))):
        for case in found:
            # Where nothing switches thinking, one prompt is both, and a turn may reason behind it.
            thinking = case.thinking or bool(case.wanted.reasoning)
            if both := tags.of(
                GrammarRequest(case.tools or TOOLS, parallel=True, thinking=thinking)
            ):
                yield Held(kind, case, *both)
    yield from _walked(form)


@dataclass(frozen=True, slots=True)
class _Tags:
    """A format's tags for requests, each made once: the pair's, and the one that isn't narrowed."""

    binder: GrammarBinder
    made: dict[bytes | None, tuple[Any, Any] | None] = field(default_factory=dict)

    def of(self, request: GrammarRequest) -> tuple[Any, Any] | None:
        """Return the tags for a request, None if its tools' names can't be written."""
        key = request.as_bytes()
        if key not in self.made:
            bound, spec = self.binder.bind(request), self.binder.spec
            self.made[key] = (
                None
                if isinstance(bound, list)
                else (pair_tag(spec, request, bound), tag_of_grammar(spec, request, bound))
            )
        return self.made[key]


def _walked(form: Format) -> Iterator[Held]:
    """Yield walks over bound grammars that the generated parser reads without a problem."""
    spec, random = form.spec, Random(_SEED)
    binder = GrammarBinder(spec)
    for offer in offers(spec):
        count = _WALKS.get(offer.title, 0)
        found = bound_grammar(offer.request, binder.bind) if count else None
        if found is None or isinstance(found, Problem):
            continue
        bound, grammar = found
        tools = [*offer.request.tools]
        tag = pair_tag(spec, offer.request, bound)
        plain = tag_of_grammar(spec, offer.request, bound)
        prompt = spec.thinking.state(offer.request.thinking).prompt
        lead = _lead(spec, prompt) if bound.lazy else ""
        for number in range(count):
            longest = _LENGTHS[number * len(_LENGTHS) // count]
            walk = random_walk(grammar, random, longest=longest, again=SAID_AGAIN)
            if BEYOND_DOUBLES.search(walk.text) or _LONG_NUMBER.search(walk.text):
                continue
            case = _read(form, prompt, lead + walk.text, tools, thinking=True)
            if case is not None:
                yield Held("walked", case, tag, plain)


def _lead(spec: Spec, prompt: str) -> str:
    """Return what stands before a lazy grammar: the end of reasoning that is open, and text."""
    opened = opens_reasoning(spec, prompt_extra(spec, prompt))
    text = "" if begins_turn(spec) or not spec.capabilities.content_beside_calls else _FREE_TEXT
    return (f"So.{spec.reasoning.end}" if opened else "") + text


def _hostile(form: Format) -> Iterator[Case]:
    """Yield turns whose arguments hold marks, as far as the format can say them."""
    spec = form.spec
    call = '{"name": "get_weather", "arguments": {}}'
    marks = [*sorted(format_markers(spec)), call]
    for text in (
        framed for mark in marks for framed in [mark, *(f"{sign}{mark} x" for sign in _ENDS)]
    ):
        called = allowed_call(spec, Call("get_weather", {"city": text}, "abcdef123"))
        message = Message(calls=(called,) * (2 if spec.capabilities.parallel_calls else 1))
        found = written_input(spec, message, thinking=True)
        if found is None:
            continue
        tools: Any = tool_definitions((called,))
        case = _read(form, found.prefill or "", found.text, tools, thinking=True)
        if case is not None and case.wanted == as_meant(spec, expected_message(spec, message)):
            yield case


def _read(form: Format, prefill: str, text: str, tools: Any, *, thinking: bool) -> Case | None:
    """Return a case with what the generated parser reads in it, None if it has a problem."""
    said = as_read(form.spec, form.module, Turn(text, prefill, tools, thinking))
    # Transformers takes white space of any kind from the ends of texts.
    said = replace(said, content=said.content.strip(), reasoning=said.reasoning.strip())
    return None if said.problems else Case("3", prefill, text, tools, thinking, said)
