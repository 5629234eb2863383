"""A small llama in PyTorch, with the names and the shapes that llama.cpp gives its weights."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import torch
from torch.nn import functional

from benchmarks.learned_formats.model_file import Shape
from benchmarks.learned_formats.plans import Plan, Sample, Weights

_IGNORED = -100  # what the loss leaves out, by PyTorch's default
_ROPE_BASE = 10_000.0


def new_weights(shape: Shape, seed: int) -> Weights:
    """Return random weights."""
    generator = torch.Generator().manual_seed(seed)
    wide, inner = shape.width, shape.feed_forward
    sizes = {"token_embd": (shape.tokens, wide), "output": (shape.tokens, wide)}
    for layer in range(shape.layers):
        block = dict.fromkeys(("attn_q", "attn_k", "attn_v", "attn_output"), (wide, wide))
        block |= {"ffn_gate": (inner, wide), "ffn_up": (inner, wide), "ffn_down": (wide, inner)}
        sizes |= {f"blk.{layer}.{part}": size for part, size in block.items()}
    norms = ["output_norm"]
    norms += [f"blk.{n}.{part}" for n in range(shape.layers) for part in ("attn_norm", "ffn_norm")]
    scale = {name: 1 / math.sqrt(size[1]) for name, size in sizes.items()}
    weights = {n: torch.randn(size, generator=generator) * scale[n] for n, size in sizes.items()}
    weights |= {name: torch.ones(wide) for name in norms}
    return {f"{name}.weight": weight.requires_grad_() for name, weight in weights.items()}


def train(
    shape: Shape, samples: Sequence[Sample], plan: Plan
) -> Iterator[tuple[int, Weights, float]]:
    """Yield weights that predict the samples' turns, early and at the end, with step and loss."""
    torch.set_num_threads(1)
    weights, random, recent = new_weights(shape, plan.seed), Random(plan.seed), 0.0
    optimizer = torch.optim.AdamW(weights.values(), lr=plan.rate, weight_decay=0.05)
    for step in range(plan.steps):
        warm, done = min(1.0, (step + 1) / 20), step / plan.steps
        rate = plan.rate * warm * (0.05 + 0.95 * (1 + math.cos(math.pi * done)) / 2)
        optimizer.param_groups[0]["lr"] = rate
        inputs, targets = _batch(random.choices(samples, k=plan.batch))
        logits = _logits(shape, weights, inputs)
        loss = functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights.values(), 1.0)
        optimizer.step()
        recent = loss.item() if not step else 0.9 * recent + 0.1 * loss.item()
        if step + 1 in (plan.early, plan.steps):
            yield step + 1, weights, recent


def _batch(samples: Sequence[Sample]) -> tuple[Any, Any]:
    """Return the samples' tokens, and for each the one to predict, where it is of the turn."""
    longest = max(len(sample.prompt) + len(sample.turn) for sample in samples) - 1
    inputs = torch.zeros(len(samples), longest, dtype=torch.long)
    targets = torch.full((len(samples), longest), _IGNORED)
    for row, sample in enumerate(samples):
        tokens = torch.tensor([*sample.prompt, *sample.turn])
        inputs[row, : len(tokens) - 1] = tokens[:-1]
        begin = len(sample.prompt) - 1
        targets[row, begin : len(tokens) - 1] = tokens[begin + 1 :]
    return inputs, targets


def _logits(shape: Shape, weights: Weights, tokens: Any) -> Any:
    state = weights["token_embd.weight"][tokens]
    turns = _rotations(shape, tokens.shape[1])
    for layer in range(shape.layers):
        own = {
            name.removeprefix(f"blk.{layer}.").removesuffix(".weight"): weight
            for name, weight in weights.items()
            if name.startswith(f"blk.{layer}.")
        }
        state = state + _attention(shape, own, _norm(shape, state, own["attn_norm"]), turns)
        state = state + _feed_forward(own, _norm(shape, state, own["ffn_norm"]))
    return _norm(shape, state, weights["output_norm.weight"]) @ weights["output.weight"].T


def _norm(shape: Shape, state: Any, weight: Any) -> Any:
    return functional.rms_norm(state, (shape.width,), weight, shape.epsilon)


def _attention(shape: Shape, own: Weights, state: Any, turns: Any) -> Any:
    def heads(part: str) -> Any:
        values = state @ own[part].T
        return values.unflatten(-1, (shape.heads, -1)).transpose(1, 2)

    query, key = (_rotated(heads(part), turns) for part in ("attn_q", "attn_k"))
    mixed = functional.scaled_dot_product_attention(query, key, heads("attn_v"), is_causal=True)
    return mixed.transpose(1, 2).flatten(-2) @ own["attn_output"].T


def _feed_forward(own: Weights, state: Any) -> Any:
    gate = functional.silu(state @ own["ffn_gate"].T)
    return (gate * (state @ own["ffn_up"].T)) @ own["ffn_down"].T


def _rotations(shape: Shape, length: int) -> Any:
    size = shape.width // shape.heads
    speeds = _ROPE_BASE ** (-torch.arange(0, size, 2) / size)
    angles = torch.outer(torch.arange(length).float(), speeds)
    return torch.polar(torch.ones_like(angles), angles)


def _rotated(values: Any, turns: Any) -> Any:
    """Turn each pair of neighbours by its position, as llama.cpp does for this architecture."""
    pairs = torch.view_as_complex(values.unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * turns).flatten(-2)
