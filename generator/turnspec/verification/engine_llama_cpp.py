"""Compiles a GBNF grammar with llama.cpp and says which texts it accepts; no model is needed."""

from __future__ import annotations

import ctypes
import re
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from turnspec.spec.problems import Problem
from turnspec.verification.llama_cpp_library import LlamaVocabulary, load_vocabulary
from turnspec.verification.vocabulary import END_TOKEN

_REFUSED = float("-inf")


@dataclass(frozen=True, slots=True, weakref_slot=True)
class LlamaCppGrammar:
    """A grammar that llama.cpp has compiled. The sampler is only ever copied, never fed."""

    vocabulary: LlamaVocabulary
    sampler: Any

    def accepts(self, text: str) -> bool:
        """Say whether ``text`` as a whole is a sentence of the grammar."""
        data = text.encode()
        with self.state() as state:
            return state.take_all(data) == len(data) and state.allows(state.end)

    def accepted_length(self, text: str) -> int:
        """Return how many bytes of ``text`` the grammar lets a model write before it objects."""
        return self.accepted_bytes(text.encode())

    def accepted_bytes(self, data: bytes) -> int:
        """Return how many of the bytes the grammar lets a model write before it objects."""
        with self.state() as state:
            return state.take_all(data)

    @contextmanager
    def state(self) -> Iterator[GrammarState]:
        """Lend the grammar with nothing written yet."""
        functions = self.vocabulary.library.functions
        sampler = functions.llama_sampler_clone(self.sampler)
        try:
            yield GrammarState.of(self.vocabulary, sampler)
        finally:
            functions.llama_sampler_free(sampler)


@dataclass(frozen=True, slots=True)
class GrammarState:
    """A grammar at one place of a text. The one candidate is asked about again and again."""

    sampler: Any
    candidate: Any
    candidates: Any
    apply: Callable[[Any, Any], None]
    accept: Callable[[Any, int], None]
    end: int

    @classmethod
    def of(cls, vocabulary: LlamaVocabulary, sampler: Any) -> GrammarState:
        """Return the state of a sampler that has just been made."""
        functions = vocabulary.library.functions
        candidate = functions.llama_token_data()
        candidates = functions.llama_token_data_array(
            data=ctypes.pointer(candidate), size=1, selected=-1, sorted=False
        )
        apply, accept = functions.llama_sampler_apply, functions.llama_sampler_accept
        end = vocabulary.specials[END_TOKEN]
        return cls(sampler, candidate, ctypes.byref(candidates), apply, accept, end)

    def allows(self, token: int) -> bool:
        """Say whether the token may come next."""
        self.candidate.id = token
        self.candidate.logit = 0.0
        self.apply(self.sampler, self.candidates)
        return bool(self.candidate.logit != _REFUSED)

    def take(self, token: int) -> bool:
        """Go on by a token if it may come next; taking another would end the whole program."""
        if not self.allows(token):
            return False
        self.accept(self.sampler, token)
        return True

    def take_all(self, tokens: Iterable[int]) -> int:
        """Go on by tokens up to the first that is refused; return how many were taken."""
        count = 0
        for token in tokens:
            if not self.take(token):
                break
            count += 1
        return count


def compile_grammar(
    gbnf: str, *, entry: str = "root", vocabulary: LlamaVocabulary | None = None
) -> LlamaCppGrammar | Problem:
    """Compile GBNF text; ``entry`` is the rule that a text must match."""
    loaded = vocabulary or load_vocabulary()
    if isinstance(loaded, Problem):
        return loaded
    start = loaded.library.functions.llama_sampler_init_grammar
    return _compiled(loaded, lambda: start(loaded.pointer, gbnf.encode(), entry.encode()))


def compile_lazy(
    gbnf: str, patterns: Sequence[str], *, entry: str = "root", vocabulary: LlamaVocabulary
) -> LlamaCppGrammar | Problem:
    """Compile a grammar that sleeps until the text so far shows one of the patterns."""
    functions = vocabulary.library.functions
    words = (ctypes.c_char_p * len(patterns))(*(pattern.encode() for pattern in patterns))
    no_tokens = (functions.llama_token * 0)()
    start = functions.llama_sampler_init_grammar_lazy_patterns
    given = (vocabulary.pointer, gbnf.encode(), entry.encode(), words, len(patterns), no_tokens, 0)
    return _compiled(vocabulary, lambda: start(*given))


def _compiled(vocabulary: LlamaVocabulary, start: Callable[[], Any]) -> LlamaCppGrammar | Problem:
    sampler, message = vocabulary.library.call(start)
    if not sampler:
        return Problem(f"llama.cpp cannot read the grammar: {message}")
    grammar = LlamaCppGrammar(vocabulary, sampler)
    weakref.finalize(grammar, vocabulary.library.functions.llama_sampler_free, sampler)
    return grammar


def wakes_in_vain(grammar: LlamaCppGrammar, patterns: Sequence[str], written: bytes) -> bool:
    """Say whether a lazy grammar would wake here and refuse; llama.cpp would end the program.

    ``grammar`` is the same one, compiled so that it never sleeps.
    """
    for pattern in patterns:
        found = re.search(pattern.encode(), written)
        if found:
            groups = range(1, len(found.groups()) + 1)
            start = next((found.start(n) for n in groups if found[n]), found.start())
            return grammar.accepted_bytes(written[start:]) < len(written) - start
    return False
