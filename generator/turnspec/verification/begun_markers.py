"""Texts that begin as a marker and go on otherwise: free text to the grammar, so to the parser.

A random walk comes to few of them. So each beginning of each marker is written on purpose: with the
part's end behind it, with other text, and with white space in it where the marker has none.
"""

from __future__ import annotations

from collections.abc import Iterator

from turnspec.grammar.free_text import A_NAME
from turnspec.grammar.turn_text import text_markers
from turnspec.spec.message import Message
from turnspec.spec.model import Spec
from turnspec.verification.gbnf_reader import Grammar
from turnspec.verification.messages import format_markers
from turnspec.verification.recognizer import Recognizer
from turnspec.verification.turns import written_input
from turnspec.verification.walks import Span, Walk

_PLACE = "qxplace"  # where the texts are put


def begun_markers(spec: Spec, grammar: Grammar) -> Iterator[tuple[str, tuple[Walk, ...]]]:
    """Yield prompts, each with turns behind it whose text begins markers and goes on otherwise.

    The text is content or reasoning, and such as the grammar allows.
    """
    recognizer = Recognizer(grammar, "text")
    texts = list(filter(recognizer.accepts, _texts(spec))) if "text" in grammar.rules else []
    parts = {"content-turn": Message(_PLACE), "reasoning-turn": Message(reasoning=_PLACE)}
    for rule, message in parts.items():
        written = written_input(spec, message, thinking=rule == "reasoning-turn" or None)
        if written and _PLACE in written.text:
            before, _, after = written.text.partition(_PLACE)
            prompt = written.prefill or ""
            yield prompt, tuple(_walk(rule, before, text, after) for text in texts)


def _walk(rule: str, before: str, text: str, after: str) -> Walk:
    end = len(before) + len(text)
    return Walk(before + text + after, (Span(rule, 0, end, 0), Span("text", len(before), end, 0)))


def _texts(spec: Spec) -> list[str]:
    """Return each beginning of each marker, and the whole, with what may stand behind it."""
    given = (*spec.grammar.triggers, *text_markers(spec), *sorted(format_markers(spec)))
    markers = dict.fromkeys(marker.strip().replace(A_NAME, "") for marker in given)
    cuts = ((marker[:at], marker[at:]) for marker in markers for at in range(1, len(marker) + 1))
    tails = ((begun, ("", " y", f" {rest} y")) for begun, rest in cuts)
    return list(dict.fromkeys(f"x {begun}{tail}" for begun, ends in tails for tail in ends))
