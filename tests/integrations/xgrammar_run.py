"""Compiles structural tags with xgrammar; runs in an environment that has xgrammar alone.

Standard input: a list of tags, each with texts to accept and to refuse. Standard output: for each,
whether the engine takes each text as a whole, or why it can't read the tag.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from xgrammar import GrammarCompiler, GrammarMatcher, TokenizerInfo

END = 256  # behind one token for each byte
TOKENS = [*(bytes([byte]) for byte in range(256)), b"<end>"]


def outcome(compiler: Any, given: dict[str, Any]) -> Any:
    """Return what the engine says of a tag's texts."""
    try:
        compiled = compiler.compile_structural_tag(json.dumps(given["tag"]))
    except (RuntimeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"[:300]
    return [accepts(compiled, text) for text in given["texts"]]


def accepts(compiled: Any, text: str) -> bool:
    """Say whether a text as a whole is what the tag allows."""
    matcher = GrammarMatcher(compiled)
    taken = all(matcher.accept_token(byte) for byte in text.encode())
    return bool(taken and matcher.accept_token(END))


if __name__ == "__main__":
    information = TokenizerInfo(TOKENS, stop_token_ids=[END])
    engine = GrammarCompiler(information, max_threads=1, cache_enabled=False)
    json.dump([outcome(engine, given) for given in json.load(sys.stdin)], sys.stdout)
