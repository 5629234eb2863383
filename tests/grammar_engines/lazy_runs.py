"""Feeds turns to llama.cpp's grammars that wait for a trigger, as a server does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from turnspec.spec.problems import Problem
from turnspec.verification.engine_llama_cpp import compile_grammar, compile_lazy, wakes_in_vain
from turnspec.verification.llama_cpp_library import LlamaVocabulary

_NUL = 0  # this byte is refused wherever a grammar is at work, and nowhere else


@dataclass(frozen=True, slots=True)
class LazyRun:
    """What a grammar that waits for a trigger did with a text."""

    start: int | None  # the piece with which it took hold
    accepted: bool  # it let the rest through, and the turn may end there


def lazy_run(
    gbnf: str,
    patterns: Sequence[str],
    pieces: Sequence[str],
    *,
    entry: str = "root",
    vocabulary: LlamaVocabulary | None = None,
) -> LazyRun | Problem:
    """Feed tokens to a grammar that sleeps until the text so far shows one of the patterns.

    A piece is a special token of the vocabulary, or is fed byte by byte. Patterns are regular
    expressions; the grammar has to allow the text from their first group on, or else from where
    they begin. As in a server, a token that ends the turn is the last; whatever its text says, it
    may come only where the grammar has come to an end.
    """
    grammar = compile_grammar(gbnf, entry=entry, vocabulary=vocabulary)
    if isinstance(grammar, Problem):
        return grammar
    loaded = grammar.vocabulary
    lazy = compile_lazy(gbnf, patterns, entry=entry, vocabulary=loaded)
    if isinstance(lazy, Problem):
        return lazy
    written, start = b"", None
    with lazy.state() as state:
        for number, token, data in _tokens(loaded, pieces):
            written += data
            if start is None and wakes_in_vain(grammar, patterns, written):
                return LazyRun(number, accepted=False)
            if not state.take(token):
                return LazyRun(start, accepted=False)
            if start is None and not state.allows(_NUL):
                start = number
            if loaded.ends_turn(token):
                return LazyRun(start, accepted=True)
        return LazyRun(start, accepted=state.allows(state.end))


def _tokens(vocabulary: LlamaVocabulary, pieces: Sequence[str]) -> Iterator[tuple[int, int, bytes]]:
    """Yield for each token the number of its piece, its own number and its text."""
    for number, piece in enumerate(pieces):
        data = piece.encode()
        special = vocabulary.specials.get(piece)
        if special is not None:
            yield number, special, data
        else:
            yield from ((number, byte, bytes([byte])) for byte in data)
