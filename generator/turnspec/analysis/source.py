"""What is analysed. It stands apart, as who names a template needn't load what analyses it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, Self

from turnspec.spec.model import Tokenizer
from turnspec.spec.overlay import OverlayText


class Listed(Protocol):
    """What is known of a template beside its text, whatever names it."""

    @property
    def name(self) -> str:
        """The template's name."""

    @property
    def file(self) -> str:
        """Its file's name."""

    @property
    def bos_token(self) -> str | None:
        """The text of this token; None where nobody says."""

    @property
    def eos_token(self) -> str | None:
        """Likewise."""

    @property
    def tokenizer(self) -> Tokenizer | None:
        """The tokenizer's special tokens, where its lists are known."""


@dataclass(frozen=True, slots=True)
class TemplateSource:
    """A template to analyse: its name, text, identity, special tokens, and its overlay.

    ``tokens`` are those that templates know by name, ``tokenizer`` has all of them.
    """

    name: str
    text: str
    file: str
    origin: str
    tokens: Mapping[str, str]
    overlay: OverlayText | None = None
    tokenizer: Tokenizer | None = None

    @classmethod
    def of(
        cls, listed: Listed, text: str, origin: str = "local", overlay: OverlayText | None = None
    ) -> Self:
        """Return the template that has a text."""
        tokens = {"bos_token": listed.bos_token, "eos_token": listed.eos_token}
        known = {name: token for name, token in tokens.items() if token is not None}
        return cls(listed.name, text, listed.file, origin, known, overlay, listed.tokenizer)
