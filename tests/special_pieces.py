"""Turns in pieces of which some are special tokens, and what the special tokens of a format are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tests.generated_formats import NAMES, committed_spec
from turnspec.analysis.text import markers
from turnspec.codegen.facts import facts_of
from turnspec.codegen.shapes import looks_like_head
from turnspec.spec.fingerprint import fingerprint
from turnspec.spec.model import Spec
from turnspec.spec.turn_end import stop_strings
from turnspec.verification.quoted_calls import Quoted

Piece = tuple[str, bool]


def formats_with_calls() -> list[list[str]]:
    """Return the names of the formats that have calls; those that differ by name alone together."""
    found: dict[str, list[str]] = {}
    for name in NAMES:
        spec = committed_spec(name)
        if spec.tools:
            found.setdefault(fingerprint(spec), []).append(name)
    return list(found.values())


def special_tokens(spec: Spec) -> tuple[str, ...]:
    """Return what may be a token of its own in a model of this format, as far as the spec tells."""
    found = list(spec.grammar.preserved_tokens)
    for text in (*stop_strings(spec), *facts_of(spec).turn_ends):
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


def as_text(quoted: Quoted, tokens: Sequence[str]) -> list[Piece]:
    """Return a turn in pieces; what is quoted is an ordinary one."""
    around = pieces_of(quoted.before, tokens), pieces_of(quoted.after, tokens)
    return [*around[0], (quoted.text, False), *around[1]]
