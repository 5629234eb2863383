"""GGUF files of the small models: first the vocabulary alone, later with the weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gguf import GGUFWriter

from turnspec.verification.vocabulary import add_vocabulary, token_ids

_ARCHITECTURE = "llama"


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What is a token beside the bytes; ``stops`` are among the special ones."""

    specials: Sequence[str]
    stops: Sequence[str]
    merges: Sequence[tuple[str, str]]

    def __len__(self) -> int:
        """Return how many tokens there are."""
        return 256 + len(token_ids(self.specials)) + len(self.merges)


@dataclass(frozen=True, slots=True)
class Shape:
    """How big a model is."""

    tokens: int
    width: int = 128
    layers: int = 3
    heads: int = 4
    feed_forward: int = 320
    context: int = 512
    epsilon: float = 1e-5


def write_model(
    path: Path,
    vocabulary: Vocabulary,
    shape: Shape,
    weights: Mapping[str, Any],
) -> None:
    """Write a file that llama.cpp loads; without weights it is good for tokenizing alone."""
    writer = GGUFWriter(path, _ARCHITECTURE)
    add_vocabulary(writer, vocabulary.specials, vocabulary.merges)
    # Makers of models name their ends here, as llama.cpp knows but some by their text.
    numbers = token_ids(vocabulary.specials)
    writer.add_eot_token_id(numbers[vocabulary.stops[0]])
    writer.add_eom_token_id(numbers[vocabulary.stops[-1]])
    writer.add_context_length(shape.context)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.feed_forward)
    writer.add_head_count(shape.heads)
    writer.add_layer_norm_rms_eps(shape.epsilon)
    writer.add_rope_dimension_count(shape.width // shape.heads)
    for name, weight in weights.items():
        writer.add_tensor(name, weight)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
