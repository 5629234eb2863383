"""Texts to try committed grammars on, and what the parsers say about them."""

from __future__ import annotations

from functools import cache
from typing import Any

from tests.generated_formats import ROOT, committed_format
from tests.grammar_engines.agreement import Sample
from turnspec.spec.calls import Slot
from turnspec.spec.model import Spec
from turnspec.spec.words import Part, SlotKind
from turnspec.verification.messages import sample_messages
from turnspec.verification.turns import written_input


@cache
def gbnf_of(name: str) -> str:
    """Return a committed grammar."""
    return (ROOT / "generated" / f"{name}.gbnf").read_text(encoding="utf-8")


def written_turns(spec: Spec) -> list[str]:
    """Return the sample turns that the spec's writer writes after the real prompts, each once."""
    written = (
        written_input(spec, message, thinking=thinking)
        for message in sample_messages(spec)
        for thinking in (True, False)
    )
    return sorted({given.text for given in written if given})


def written_samples(name: str) -> list[Sample]:
    """Return the written turns of a committed spec, which its grammar has to allow."""
    return [Sample(turn, allowed=True) for turn in written_turns(committed_format(name).spec)]


def says_twice(spec: Spec) -> bool:
    """Say whether a call's or an argument's name stands there twice.

    No grammar for any name finds the same one again; one for known tools does.
    """
    if spec.tools is None:
        return False
    arguments = spec.tools.arguments
    member = arguments.elements.member if arguments.elements else ()
    texts = (
        (SlotKind.NAME, spec.tools.call),
        (SlotKind.KEY, arguments.item),
        (SlotKind.KEY, member),
    )
    return any(pieces.count(Slot(kind)) > 1 for kind, pieces in texts)


def turn_ends(spec: Spec) -> list[str]:
    """Return the ends of a turn that an engine may take away.

    Without its end a turn that ends like the beginning of a marker may have been cut off there.
    """
    finals = (spec.content.end + spec.final(Part.CONTENT), spec.final(Part.CALLS))
    return [final for final in dict.fromkeys(finals) if final.strip()]


def told_problems(name: str, text: str) -> list[Any]:
    """Return the problems that a committed parser tells of after the prompt that fits best.

    No grammar for any arguments can keep a key from coming twice, so that kind doesn't count.
    """
    chosen = committed_format(name)
    spec, module = chosen.spec, chosen.module
    prompts = dict.fromkeys((*spec.thinking.prompts, spec.turn.header))
    ended = [text, *(text + end for end in turn_ends(spec))]
    parsed = (module.parse(t, prefill=prompt).problems for prompt in prompts for t in ended)
    told = ([p for p in problems if p.kind != "repeated_argument"] for problems in parsed)
    return min(told, key=len)
