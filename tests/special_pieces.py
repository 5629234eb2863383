"""Turns in pieces of which some are special tokens, and texts that would smuggle a call."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tests.generated_formats import NAMES, committed_format
from turnspec.analysis.text import common_prefix, common_suffix, markers
from turnspec.codegen.shapes import looks_like_head
from turnspec.codegen.table import format_table
from turnspec.codegen.writer import write_calls, write_parts
from turnspec.spec.fingerprint import fingerprint
from turnspec.spec.message import Call, Message
from turnspec.spec.model import Part, Spec
from turnspec.spec.turn_end import may_repeat_calls, stop_strings
from turnspec.verification.messages import allowed_call
from turnspec.verification.turns import is_ambiguous

Piece = tuple[str, bool]

CALL = Call("look_up", {"city": "Paris"}, "id0000001")
PLACE = "Paris"  # where something else is put


def formats_with_calls() -> list[list[str]]:
    """Return the names of the formats that have calls; those that differ by name alone together."""
    found: dict[str, list[str]] = {}
    for name in NAMES:
        spec = committed_format(name).spec
        if spec.tools:
            found.setdefault(fingerprint(spec), []).append(name)
    return list(found.values())


def prefill(spec: Spec) -> str:
    """Return what the prompt holds of a turn without reasoning."""
    is_open = is_ambiguous(spec, Message("It is said."))
    return spec.turn.header + (spec.reasoning.end if is_open else "")


def special_tokens(spec: Spec) -> tuple[str, ...]:
    """Return what may be a token of its own in a model of this format, as far as the spec tells."""
    found = list(spec.grammar.preserved_tokens)
    for text in (*stop_strings(spec), *format_table(spec)["turn_end"]):
        found += markers(text) or [text.strip()]
    if spec.tools:
        found += [quote for quote in [spec.tools.arguments.syntax.quote] if looks_like_head(quote)]
    return tuple(dict.fromkeys(found))


def pieces_of(text: str, tokens: Iterable[str]) -> list[Piece]:
    """Return a text as a tokenizer cuts it: special tokens, and what stands between them."""
    longest_first = sorted(tokens, key=len, reverse=True)
    parts = re.split(f"({'|'.join(map(re.escape, longest_first)) or '(?!)'})", text)
    return [(part, bool(at % 2)) for at, part in enumerate(parts) if part]


def in_characters(pieces: Iterable[Piece]) -> list[Piece]:
    """Return pieces of which those that are no special tokens are cut into characters."""
    return [
        piece
        for text, special in pieces
        for piece in ([(text, True)] if special else [(character, False) for character in text])
    ]


@dataclass(frozen=True, slots=True)
class Smuggled:
    """A text inside a turn that quotes the format, and what stands around it."""

    before: str
    text: str
    after: str

    @property
    def turn(self) -> str:
        """The whole turn."""
        return self.before + self.text + self.after

    def as_text(self, tokens: Sequence[str]) -> list[Piece]:
        """Return the turn in pieces; what is smuggled is an ordinary one."""
        around = pieces_of(self.before, tokens), pieces_of(self.after, tokens)
        return [*around[0], (self.text, False), *around[1]]


def call_in_value(spec: Spec) -> tuple[Smuggled, str]:
    """Return a call with a value that holds the rest of its call and another one; and the value."""
    assert spec.tools
    call = allowed_call(spec, CALL)
    turn = write_parts(spec, Message(calls=(call,)), Part.START)
    before, _, after = turn.partition(PLACE)
    between = after + before
    if may_repeat_calls(spec):
        between = write_calls(spec.tools, (call, call)).split(PLACE)[1]
    value = f"north{between}south"
    smuggling = Call(call.name, {**call.arguments, "city": value}, call.id)
    written = write_parts(spec, Message(calls=(smuggling,)), Part.START)
    before = common_prefix([before, written])
    after = common_suffix([after, written])
    return Smuggled(before, written[len(before) : len(written) - len(after)], after), value


def call_in_text(spec: Spec, lead: str, rest: str) -> Smuggled:
    """Return content that quotes a whole turn with a call."""
    call = allowed_call(spec, CALL)
    quoted = write_parts(spec, Message(calls=(call,)), Part.START)
    before, _, after = write_parts(spec, Message(PLACE), Part.START).partition(PLACE)
    return Smuggled(before, lead + quoted.strip() + rest, after)
