"""What a format is, whatever template it is of: formats with one fingerprint write the same turns.

A fingerprint leaves out what names a template (its name, file, hash and origin), from where a fact
is known (an overlay, an assumed token), what the template takes of a conversation, and what a
tokenizer's lists add. What is left is all that a parser and a grammar are made from, so these are
the same, too, but for a tokenizer's tokens.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from turnspec.spec.model import Capabilities, Spec, TemplateIdentity, Token
from turnspec.spec.plain import spec_to_data
from turnspec.spec.words import TokenSource, Verdict
from turnspec.spec.yaml_text import yaml_text

_NO_TEMPLATE = TemplateIdentity("", "", "")
_FALSE: dict[str, Any] = dict.fromkeys(Capabilities.__slots__, False)
_NO_CAPABILITIES = Capabilities(**{**_FALSE, "prefix_broken_by": None})


#: Verdicts on what surrounds a turn: what it quotes, what the prompt says of it.
_OF_TEXTS = (Verdict.OPEN, Verdict.TOLD)


def fingerprint(spec: Spec) -> str:
    """Return the SHA-256 of a format's facts, in hexadecimal."""
    tokens = {
        name: Token(token.text, TokenSource.GIVEN)
        for name, token in sorted(spec.tokens.items())
        if name.startswith("eos")  # others are none of a turn's
    }
    facts = replace(
        spec.of_template,
        name="",
        template=_NO_TEMPLATE,
        tokens=tokens,
        capabilities=_NO_CAPABILITIES,
        overlay=(),
        limits=tuple(limit for limit in spec.limits if limit.verdict not in _OF_TEXTS),
    )
    return hashlib.sha256(yaml_text(spec_to_data(facts)).encode("utf-8")).hexdigest()


def same_formats(specs: Iterable[Spec]) -> list[tuple[str, ...]]:
    """Return the names of specs that share a fingerprint with others, in groups."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for spec in specs:
        groups[fingerprint(spec)].append(spec.name)
    return sorted(tuple(sorted(names)) for names in groups.values() if len(names) > 1)
