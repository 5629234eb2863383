"""The special tokens that a tokenizer adds to a template's format, as far as reading needs them."""

from __future__ import annotations

from dataclasses import replace

from turnspec.codegen.format import texts_in
from turnspec.codegen.loading import load
from turnspec.codegen.markers import leading_text
from turnspec.codegen.shapes import looks_like_marker
from turnspec.codegen.table import format_table, markers_in_text
from turnspec.spec.model import Spec, Tokenizer
from turnspec.verification.quoted_calls import prefill


def with_tokenizer(spec: Spec, given: Tokenizer | None) -> Spec:
    """Return a spec with a tokenizer's special tokens, but for those that its markers hold.

    A token that holds a marker is left out as well, and one that the format's parser reads as
    anything but text: none may stand in the way of what the template writes.
    """
    if given is None:
        return spec
    table = format_table(spec)
    written = "\n".join(texts_in(table))
    heads = [
        head
        for _, marker in markers_in_text(table)
        if looks_like_marker(head := leading_text(marker))
    ]
    form, before = load(spec), prefill(spec)

    def is_new(token: str) -> bool:
        if token in written or any(head in token for head in heads):
            return False
        content: str = form.parse(token, prefill=before).content
        return content == token

    special, ends = (tuple(filter(is_new, t)) for t in (given.special_tokens, given.end_tokens))
    return (
        replace(spec, tokenizer=Tokenizer(given.origin, special, ends)) if special or ends else spec
    )
