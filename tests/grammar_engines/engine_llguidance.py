"""Compiles a GBNF grammar with llguidance and says which texts it accepts."""

from __future__ import annotations

from dataclasses import dataclass

from llguidance import LLMatcher, LLTokenizer, grammar_from

from turnspec.spec.problems import Problem

# One token per byte, so that the verdict does not depend on how a text is cut into tokens.
_TOKENIZER = "byte"


@dataclass(frozen=True, slots=True)
class LlguidanceGrammar:
    """A grammar that llguidance has compiled; ``start`` has read nothing, and is copied."""

    start: LLMatcher

    def accepts(self, text: str) -> bool:
        """Say whether ``text`` as a whole is a sentence of the grammar."""
        matcher = self.start.deep_copy()
        return self._taken(matcher, text) == len(text.encode()) and matcher.is_accepting()

    def accepted_length(self, text: str) -> int:
        """Return how many bytes of ``text`` the grammar lets a model write before it objects."""
        return self._taken(self.start.deep_copy(), text)

    def _taken(self, matcher: LLMatcher, text: str) -> int:
        return int(matcher.try_consume_tokens(list(text.encode())))


def compile_grammar(gbnf: str, *, entry: str = "root") -> LlguidanceGrammar | Problem:
    """Compile GBNF text as llguidance's users do; ``entry`` is the rule that a text must match."""
    try:
        grammar = grammar_from("gbnf", _with_entry(gbnf, entry))
    except (ValueError, IndexError) as error:
        return Problem(f"llguidance cannot read the grammar: {error}")
    start = LLMatcher(LLTokenizer(_TOKENIZER), grammar, log_level=0)
    if complaint := start.get_error():
        return Problem(f"llguidance cannot compile the grammar: {complaint}")
    return LlguidanceGrammar(start)


def _with_entry(gbnf: str, entry: str) -> str:
    """Return the grammar with ``root`` standing for the rule ``entry``; nothing refers to root."""
    if entry == "root":
        return gbnf
    lines = (line for line in gbnf.splitlines() if not line.startswith("root ::="))
    return f"root ::= {entry}\n" + "\n".join(lines) + "\n"
