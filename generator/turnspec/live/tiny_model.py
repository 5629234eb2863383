"""A tiny model that llama.cpp really runs: a token per byte, and seeded random weights.

It has learnt nothing. What it writes is what a grammar lets through, which is what is to be tried.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGUFWriter
from numpy.typing import NDArray

from turnspec.spec.atomic import replacing
from turnspec.spec.model import Spec
from turnspec.spec.turn_end import stop_strings
from turnspec.verification.vocabulary import add_vocabulary, token_ids

#: How many tokens the model can read; a token is a byte, and prompts with tools are long.
CONTEXT = 32768

#: Of the weights; another number makes other files in the cache.
VERSION = 1

_WIDTH = 64
_HEADS = 2  # each 32 wide, for which llama.cpp is fast
_INNER_WIDTH = 128
_LAYERS = 2
_SPREAD = 0.25  # of the weights: wide enough that not all tokens are equally likely
_TOKEN = re.compile(r"<[^<>\s]+>|\[[^\[\]\s]+\]")


#: What llama.cpp has to know of a model of these weights.
SHAPE: Mapping[str, int | float] = {
    "context_length": CONTEXT,
    "embedding_length": _WIDTH,
    "block_count": _LAYERS,
    "feed_forward_length": _INNER_WIDTH,
    "attention.head_count": _HEADS,
    "attention.head_count_kv": _HEADS,
    "rope.dimension_count": _WIDTH // _HEADS,
    "attention.layer_norm_rms_epsilon": 1e-5,
}


def special_tokens(spec: Spec) -> tuple[str, ...]:
    """Return what is a token of its own in a model of this format, as far as the spec tells."""
    texts = (*stop_strings(spec), *(token.text for token in spec.tokens.values()))
    looking_so = (token for text in texts for token in _TOKEN.findall(text))
    return tuple(dict.fromkeys((*spec.grammar.preserved_tokens, *looking_so)))


def cached_model(tokens: Iterable[str], folder: Path) -> Path:
    """Return the model with these special tokens, written into the folder if it isn't there."""
    tokens = tuple(tokens)
    key = json.dumps([VERSION, *tokens]).encode()
    path = folder / f"tiny-{hashlib.sha256(key).hexdigest()[:16]}.gguf"
    if not path.is_file():
        with replacing(path) as written:
            write_model(written, tokens)
    return path


def write_model(path: Path, tokens: Iterable[str], *, template: str | None = None) -> None:
    """Write the model to a GGUF file, with a chat template if one is given."""
    tokens = tuple(tokens)
    writer = begun_model(path)
    add_vocabulary(writer, tokens)
    if template is not None:
        writer.add_chat_template(template)
    finish_model(writer, weights(256 + len(token_ids(tokens))))


def begun_model(path: Path) -> GGUFWriter:
    """Begin a file with what llama.cpp has to know of a model of these weights."""
    writer = GGUFWriter(path, "llama")
    for key, value in SHAPE.items():
        if isinstance(value, float):
            writer.add_float32(f"llama.{key}", value)
        else:
            writer.add_uint32(f"llama.{key}", value)
    return writer


def finish_model(writer: GGUFWriter, tensors: Iterable[tuple[str, NDArray[Any]]]) -> None:
    """Add the tensors to a file, and write all that it holds."""
    for name, values in tensors:
        writer.add_tensor(name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def weights(token_count: int) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Yield all tensors by name; those of the layers don't depend on the vocabulary."""
    random = np.random.default_rng(VERSION)

    def spread(rows: int, columns: int) -> NDArray[np.float32]:
        return (random.standard_normal((rows, columns)) * _SPREAD).astype(np.float32)

    ones = np.ones(_WIDTH, dtype=np.float32)
    for number in range(_LAYERS):
        layer = f"blk.{number}"
        yield f"{layer}.attn_norm.weight", ones
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            yield f"{layer}.{name}.weight", spread(_WIDTH, _WIDTH)
        yield f"{layer}.ffn_norm.weight", ones
        yield f"{layer}.ffn_gate.weight", spread(_INNER_WIDTH, _WIDTH)
        yield f"{layer}.ffn_up.weight", spread(_INNER_WIDTH, _WIDTH)
        yield f"{layer}.ffn_down.weight", spread(_WIDTH, _INNER_WIDTH)
    yield "output_norm.weight", ones
    yield "token_embd.weight", spread(token_count, _WIDTH)
    yield "output.weight", spread(token_count, _WIDTH)
