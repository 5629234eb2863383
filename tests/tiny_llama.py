"""A llama that knows one turn by heart: real inference in llama.cpp, and no weights to download.

Each token is its own direction, attention and feed-forward layers add nothing, and the output layer
maps a token to those that may follow it, the preferred ones first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy
from gguf import GGUFWriter

from turnspec.verification.vocabulary import add_vocabulary, token_ids

_CONTEXT_LENGTH = 8192
_FEED_FORWARD = 32
_STRENGTH = 4.0  # enough that the preferred token comes at any usual temperature


def write_llama(
    path: Path, pieces: Sequence[str], *, prompt_end: str, template: str, end: str
) -> None:
    """Write a GGUF file of a model that writes the pieces behind a prompt with that last byte.

    Each piece is a token, and no two are the same. ``end`` is what comes wherever the piece that
    the model prefers is refused, and at the end.
    """
    assert len(set(pieces)) == len(pieces), "a token can be followed by one other alone"
    assert end not in pieces
    ids = token_ids([*pieces, end])
    size = -(-(256 + len(ids)) // _FEED_FORWARD) * _FEED_FORWARD
    following = {ord(prompt_end): [ids[pieces[0]]]}
    following |= {ids[one]: [ids[other], ids[end]] for one, other in pairwise([*pieces, end])}
    writer = GGUFWriter(path, "llama")
    add_vocabulary(writer, [*pieces, end])
    writer.add_chat_template(template)
    _add_shape(writer, size)
    for name, values in _tensors(256 + len(ids), size, following).items():
        writer.add_tensor(name, values.astype(numpy.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _add_shape(writer: GGUFWriter, size: int) -> None:
    writer.add_context_length(_CONTEXT_LENGTH)
    writer.add_embedding_length(size)
    writer.add_block_count(1)
    writer.add_feed_forward_length(_FEED_FORWARD)
    writer.add_head_count(1)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_dimension_count(size)


def _tensors(tokens: int, size: int, following: Mapping[int, Sequence[int]]) -> dict[str, Any]:
    output = numpy.zeros((tokens, size))
    for token, others in following.items():
        for rank, other in enumerate(others):
            output[other, token] = max(output[other, token], _STRENGTH / 2**rank)
    square = numpy.zeros((size, size))
    block: dict[str, Any] = {f"attn_{part}": square for part in ("q", "k", "v", "output")}
    block |= {part: numpy.ones(size) for part in ("attn_norm", "ffn_norm")}
    block |= {part: numpy.zeros((_FEED_FORWARD, size)) for part in ("ffn_gate", "ffn_up")}
    block["ffn_down"] = numpy.zeros((size, _FEED_FORWARD))
    return {
        "token_embd.weight": numpy.eye(tokens, size),
        "output_norm.weight": numpy.ones(size),
        "output.weight": output,
        **{f"blk.0.{part}.weight": values for part, values in block.items()},
    }
