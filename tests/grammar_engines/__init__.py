"""What a grammar engine has to be able to do, so that tests can treat all engines alike."""

from __future__ import annotations

from typing import Protocol

from turnspec.spec.problems import Problem


class CompiledGrammar(Protocol):
    """A grammar that an engine has compiled."""

    def accepts(self, text: str) -> bool:
        """Say whether ``text`` as a whole is a sentence of the grammar."""

    def accepted_length(self, text: str) -> int:
        """Return how many bytes of ``text`` the grammar lets a model write before it objects."""


class Compile(Protocol):
    """Compiles GBNF text; ``entry`` is the rule that a text must match."""

    def __call__(self, gbnf: str, *, entry: str = "root") -> CompiledGrammar | Problem:
        """Return the compiled grammar, or the engine's own complaint."""
