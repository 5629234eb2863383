"""What one source of templates yields, whatever kind of file it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from turnspec.spec.model import Tokenizer


@dataclass(frozen=True, slots=True)
class NamedTexts:
    """What one kind of source yields: template texts by name, the tokens, and where each was.

    ``adds_bos`` and ``adds_eos``: the tokenizer puts these tokens around every text itself.
    ``missing`` says what was looked for where there is no template at all. ``model`` is what the
    source itself calls its model, "" if it doesn't; ``tokenizer`` has its lists' special tokens.
    """

    texts: Mapping[str, str]
    sources: Mapping[str, str]
    bos_token: str | None = None
    eos_token: str | None = None
    adds_bos: bool = False
    adds_eos: bool = False
    missing: str = ""
    model: str = ""
    tokenizer: Tokenizer | None = None
