"""Texts that go on as a marker does, and then otherwise: free text to the grammar, so to the parser.

A random walk comes to few of them. So each beginning of each marker is written on purpose: with the
turn's end behind it, with other text, and with white space in it where the marker has none.
"""

from __future__ import annotations

from collections.abc import Iterator

from turnspec.codegen.writer import write_parts
from turnspec.grammar.turn import text_markers
from turnspec.spec.message import Message
from turnspec.spec.model import Part, Spec
from turnspec.verification.gbnf_reader import Grammar
from turnspec.verification.messages import format_markers
from turnspec.verification.recognizer import Recognizer
from turnspec.verification.walks import Span, Walk

_PLACE = "qxplace"  # where the texts are put


def begun_markers(spec: Spec, grammar: Grammar) -> Iterator[Walk]:
    """Yield turns whose content begins a marker that it doesn't go on with.

    They are those whose text the grammar allows as such.
    """
    before, found, after = write_parts(spec, Message(_PLACE), Part.START).partition(_PLACE)
    if not found or "text" not in grammar.rules:
        return
    recognizer = Recognizer(grammar, "text")
    for text in filter(recognizer.accepts, _texts(spec)):
        end = len(before) + len(text)
        spans = (Span("content-turn", 0, end, 0), Span("text", len(before), end, 0))
        yield Walk(before + text + after, spans)


def _texts(spec: Spec) -> list[str]:
    markers = dict.fromkeys(
        (*spec.grammar.triggers, *text_markers(spec), *sorted(format_markers(spec)))
    )
    cuts = ((marker.strip(), at) for marker in markers for at in range(1, len(marker.strip())))
    tails = ((marker[:at], ("", " y", f" {marker[at:]} y")) for marker, at in cuts)
    return list(dict.fromkeys(f"x {begun}{tail}" for begun, ends in tails for tail in ends))
