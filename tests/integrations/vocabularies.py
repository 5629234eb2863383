"""A real vocabulary with a format's special tokens, in the environments of programs that serve."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import tokenizers
from gguf import GGUFReader
from transformers import PreTrainedTokenizerFast

from turnspec.spec.atomic import write_atomically


@cache
def real_vocabulary(path: Path) -> str:
    """Return the tokenizer of a vocabulary file, as the JSON that it can be made of again.

    That is kept beside the file, which takes long to read.
    """
    kept = path.with_suffix(".tokenizer.json")
    if not kept.is_file():
        write_atomically(kept, _tokenizer(path))
    return kept.read_text(encoding="utf-8")


def _tokenizer(path: Path) -> str:
    fields = GGUFReader(path).fields
    known = fields["tokenizer.ggml.tokens"].contents()
    merges = [tuple(pair.split(" ")) for pair in fields["tokenizer.ggml.merges"].contents()]
    vocabulary = {text: number for number, text in enumerate(known)}
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocabulary, merges=merges))
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    return str(made.to_str())


def real_tokenizer(path: Path, specials: Sequence[str], **options: Any) -> Any:
    """Return the tokenizer of a vocabulary file, with a format's special tokens.

    ``options`` are what a model's tokenizer_config.json says beside.
    """
    made = tokenizers.Tokenizer.from_str(real_vocabulary(path))
    made.add_special_tokens(list(specials))
    return PreTrainedTokenizerFast(tokenizer_object=made, **options)


def texts_of(tokenizer: Any, groups: Sequence[Sequence[int]]) -> Iterator[str]:
    """Yield the texts of some groups of tokens; a character that isn't whole yet waits."""
    waiting: list[int] = []
    for number, group in enumerate(groups):
        waiting += group
        text = tokenizer.decode(waiting, skip_special_tokens=False)
        if text.endswith("\ufffd") and number < len(groups) - 1:
            yield ""
        else:
            yield text
            waiting = []
