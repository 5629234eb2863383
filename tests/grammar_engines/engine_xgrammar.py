"""Compiles a GBNF grammar with xgrammar and says which texts it accepts.

xgrammar brings PyTorch along, so it is not among the tool's dependencies: see `make engines`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any

from turnspec.spec.problems import Problem

_MISSING = "xgrammar is not installed; to have it: pip install -r requirements-engines.txt"
_END = 256  # behind one token for each byte
_LOG_PREFIX = re.compile(r"\[[\d:]+\] \S+: ")


@dataclass(frozen=True, slots=True)
class XgrammarGrammar:
    """A grammar that xgrammar has compiled."""

    compiled: Any

    def accepts(self, text: str) -> bool:
        """Say whether ``text`` as a whole is a sentence of the grammar."""
        matcher = self._matcher()
        return bool(matcher.accept_string(text.encode()) and matcher.accept_token(_END))

    def accepted_length(self, text: str) -> int:
        """Return how many bytes of ``text`` the grammar lets a model write before it objects."""
        matcher = self._matcher()
        data = text.encode()
        taken = (number for number, byte in enumerate(data) if not matcher.accept_token(byte))
        return next(taken, len(data))

    def _matcher(self) -> Any:
        from xgrammar import GrammarMatcher

        return GrammarMatcher(self.compiled)


def compile_grammar(gbnf: str, *, entry: str = "root") -> XgrammarGrammar | Problem:
    """Compile GBNF text; ``entry`` is the rule that a text must match."""
    if find_spec("xgrammar") is None:
        return Problem(_MISSING)
    try:
        return XgrammarGrammar(_compiler().compile_grammar(gbnf, root_rule_name=entry))
    except (RuntimeError, ValueError) as error:
        message = _LOG_PREFIX.sub("", str(error)).strip() or type(error).__name__
        return Problem(f"xgrammar cannot read the grammar: {message.splitlines()[0]}")


@cache
def _compiler() -> Any:
    """Return a compiler for one token per byte; it keeps no grammars, as each comes once."""
    from xgrammar import GrammarCompiler, TokenizerInfo

    tokens = [*(bytes([byte]) for byte in range(256)), b"<turnspec:end>"]
    information = TokenizerInfo(tokens, stop_token_ids=[_END])
    return GrammarCompiler(information, max_threads=1, cache_enabled=False)
