"""Choosing the next token with llama.cpp's samplers, under a grammar or without one."""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from turnspec.grammar.bound import BoundGrammar
from turnspec.live.model import LiveModel
from turnspec.spec.problems import Problem
from turnspec.verification import engine_llama_cpp as engine

_CANDIDATE = np.dtype([("id", "<i4"), ("logit", "<f4"), ("p", "<f4")])  # as in llama.h
_NOT_CHOSEN = -1


@dataclass(frozen=True, slots=True)
class LiveGrammar:
    """A bound grammar that llama.cpp has compiled."""

    compiled: engine.LlamaCppGrammar
    awake: engine.LlamaCppGrammar  # never lazy, and read byte by byte, to be asked about texts
    patterns: tuple[str, ...] = ()


def live_grammar(model: LiveModel, bound: BoundGrammar) -> LiveGrammar | Problem:
    """Compile a bound grammar for a model."""
    awake = engine.compile_grammar(bound.grammar)
    patterns = bound.trigger_patterns
    compiled = (
        engine.compile_lazy(bound.grammar, patterns, vocabulary=model.vocabulary)
        if bound.lazy
        else engine.compile_grammar(bound.grammar, vocabulary=model.vocabulary)
    )
    if isinstance(awake, Problem) or isinstance(compiled, Problem):
        return compiled if isinstance(compiled, Problem) else awake  # type: ignore[return-value]
    return LiveGrammar(compiled, awake, patterns if bound.lazy else ())


@dataclass(slots=True)
class Sampler:
    """Chooses the tokens of one turn; ``close`` it when the turn is over."""

    model: LiveModel
    grammar: LiveGrammar | None
    chain: Any
    state: engine.GrammarState | None
    candidates: NDArray[np.void]
    written: bytes = b""
    asleep: bool = False
    _grammar_sampler: Any = field(default=None, repr=False)

    @classmethod
    def start(
        cls,
        model: LiveModel,
        grammar: LiveGrammar | None,
        seed: int,
        temperature: float = 1.0,
        top_p: float = 1.0,
    ) -> Sampler:
        """Return a sampler with nothing written yet; the rest says how it chooses a token."""
        functions = model.library.functions
        chain = functions.llama_sampler_chain_init(functions.llama_sampler_chain_default_params())
        for sampler in (
            functions.llama_sampler_init_top_p(top_p, 1),
            functions.llama_sampler_init_temp(temperature),
            functions.llama_sampler_init_dist(seed),
        ):
            functions.llama_sampler_chain_add(chain, sampler)
        candidates = np.zeros(model.token_count, dtype=_CANDIDATE)
        if grammar is None:
            return cls(model, None, chain, None, candidates)
        own = functions.llama_sampler_clone(grammar.compiled.sampler)
        state = engine.GrammarState.of(model.vocabulary, own)
        asleep = bool(grammar.patterns)
        return cls(model, grammar, chain, state, candidates, b"", asleep, own)

    def close(self) -> None:
        """Give the memory back."""
        functions = self.model.library.functions
        functions.llama_sampler_free(self.chain)
        if self._grammar_sampler is not None:
            functions.llama_sampler_free(self._grammar_sampler)

    def pick(self, logits: NDArray[np.float32]) -> int | None:
        """Return the next token; None if the grammar lets none through.

        The grammar is asked about one token first, and only if it refuses that one about all:
        with a big vocabulary that takes long.
        """
        logits = logits.copy()
        under_grammar = False
        while True:
            token = self._choose(logits, under_grammar=under_grammar)
            if token is None or self.allows(token):
                return token
            logits[token] = -np.inf
            under_grammar = True

    def allows(self, token: int) -> bool:
        """Say whether the grammar takes this token next."""
        if self.state is None or self.grammar is None:
            return True
        if not self.state.allows(token):
            return False
        if not self.asleep or self.model.vocabulary.ends_turn(token):
            return True
        written = self.written + self.model.piece(token)
        return not engine.wakes_in_vain(self.grammar.awake, self.grammar.patterns, written)

    def take(self, token: int) -> None:
        """Go on by a token that is allowed."""
        if self.state is None or self.grammar is None:
            return
        self.state.accept(self.state.sampler, token)
        if self.asleep:
            self.written += self.model.piece(token)
            found = (re.search(pattern.encode(), self.written) for pattern in self.grammar.patterns)
            self.asleep = not any(found)

    def _choose(self, logits: NDArray[np.float32], *, under_grammar: bool) -> int | None:
        functions = self.model.library.functions
        self.candidates["id"] = np.arange(len(logits))
        self.candidates["logit"] = logits
        self.candidates["p"] = 0.0
        pointer = self.candidates.ctypes.data_as(ctypes.POINTER(functions.llama_token_data))
        array = functions.llama_token_data_array(pointer, len(logits), _NOT_CHOSEN, False)
        if under_grammar and self.state is not None:
            self.state.apply(self.state.sampler, ctypes.byref(array))
        if not np.isfinite(self.candidates["logit"]).any():
            return None
        functions.llama_sampler_apply(self.chain, ctypes.byref(array))
        return int(array.data[array.selected].id)
