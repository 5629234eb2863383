"""The special tokens that a tokenizer adds to a template's format, as far as reading needs them."""

from __future__ import annotations

from dataclasses import replace

from turnspec.codegen.facts import facts_of
from turnspec.codegen.loading import load
from turnspec.codegen.markers import leading_text
from turnspec.codegen.rules import markers_in_text
from turnspec.codegen.shapes import looks_like_marker
from turnspec.codegen.text_marks import marks_of
from turnspec.spec.model import Spec, Tokenizer
from turnspec.verification.quoted_calls import prefill


def with_tokenizer(spec: Spec, given: Tokenizer | None) -> Spec:
    """Return a spec with a tokenizer's special tokens, but for those that its markers hold.

    A token that holds a marker is left out as well, and one that the format's parser reads as
    anything but text: none may stand in the way of what the template writes.
    """
    if given is None:
        return spec
    facts = facts_of(spec)
    written = repr((facts.format, facts.turn_ends, facts.markers, facts.tables))
    texts = (leading_text(marker) for _, marker in markers_in_text(marks_of(spec)))
    heads = [*filter(looks_like_marker, texts)]
    form, before = load(spec), prefill(spec)

    def is_new(token: str) -> bool:
        if token in written or any(head in token for head in heads):
            return False
        content: str = form.parse(token, prefill=before).content
        return content == token

    special, ends = (tuple(filter(is_new, t)) for t in (given.special_tokens, given.end_tokens))
    kept = Tokenizer(given.origin, special, ends)
    return replace(spec, tokenizer=kept) if special or ends else spec
