"""What training is given and gives, without PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

#: The weights by their names in GGUF files.
Weights = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Sample:
    """What the model reads, and what it should write."""

    prompt: Sequence[int]
    turn: Sequence[int]


@dataclass(frozen=True, slots=True)
class Plan:
    """How a model is trained; ``early`` is the step after which it is looked at first."""

    steps: int
    early: int
    batch: int = 24
    rate: float = 3e-3
    seed: int = 1
