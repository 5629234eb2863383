"""Texts as a model's tokens, by its tokenizer.json: what needs the extra `tokenizers`."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem
from turnspec.spec.turn_end import stop_strings
from turnspec.verification.messages import format_markers


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A tokenizer's tokens.

    Attributes:
        tokenizer: Hugging Face's `tokenizers.Tokenizer`.
        added: the ids of the tokens that stand for a whole text, special or not, by that text.
    """

    tokenizer: Any
    added: dict[str, int]

    @classmethod
    def read(cls, path: Path) -> Vocabulary | Problem:
        """Read a tokenizer.json. Raises ModuleNotFoundError where the extra isn't installed."""
        from tokenizers import Tokenizer

        try:
            tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # its own errors are of no other type
            return Problem(f"no tokenizer.json: {error}", str(path))
        added = tokenizer.get_added_tokens_decoder().items()
        return cls(tokenizer, {token.content: number for number, token in added})

    def cut(self, text: str) -> tuple[tuple[str, ...], tuple[int, ...]] | None:
        """Return a text's pieces, one for each token, and the tokens' ids.

        A token that is part of a character has an empty piece, the last one of it the character.
        None where the tokens stand for another text, as a tokenizer may change white space, or
        where the text holds half a surrogate pair.
        """
        if text != text.encode("utf-8", "replace").decode():
            return None
        encoded = self.tokenizer.encode(text, add_special_tokens=False)
        ids = tuple(encoded.ids)
        if self.tokenizer.decode(ids, skip_special_tokens=False) != text:
            return None
        cuts = [0, *(start for start, _ in encoded.offsets[1:]), len(text)] if ids else []
        return tuple(text[start:end] for start, end in pairwise(cuts)), ids

    def of_format(self, spec: Spec) -> dict[str, list[tuple[str, tuple[int, ...]]]]:
        """Return what stops the model, what ends its reasoning, and all other markers.

        Each has its tokens' ids, where it stands alone: one that is an added token, else pieces,
        which white space and text beside it may join with their own.
        """
        end = spec.reasoning.end.strip()
        stops = stop_strings(spec)
        others = sorted({*format_markers(spec), *spec.grammar.preserved_tokens} - {end, *stops})
        roles = {"stop": stops, "end of reasoning": [end] if end else [], "marker": others}
        return {role: [(text, self._ids(text)) for text in texts] for role, texts in roles.items()}

    def _ids(self, text: str) -> tuple[int, ...]:
        return tuple(self.tokenizer.encode(text, add_special_tokens=False).ids)
