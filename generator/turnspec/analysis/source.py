"""What is analysed. It stands apart, as who names a template needn't load what analyses it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from turnspec.spec.model import Tokenizer
from turnspec.spec.overlay import OverlayText


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
