"""What a grammar costs with each token in llguidance: the mask over a real vocabulary.

llguidance keeps what it has found out, so a place's first mask is the one that costs; a grammar of
the same tools' schemas, as llguidance makes it itself, stands beside it. There is no target.

Exit codes: 0 every mask was made; 1 llguidance gave up at one; 2 wrong usage.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import process_time
from typing import Any

import click
from llguidance import LLMatcher, LLTokenizer, TokenizerWrapper, grammar_from

from benchmarks.grammar_binding import as_one_schema
from benchmarks.mask_cost import (
    CONTENT,
    Vocabulary,
    begun_call,
    begun_content,
    example_tools,
    turn_grammars,
)

_ROOT = Path(__file__).parent.parent
_CONTROL = 8  # as in llama.h


class _Tokens:
    """A vocabulary of llama.cpp's as llguidance wants it."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        functions, pointer = vocabulary.library.functions, vocabulary.pointer
        count = functions.llama_vocab_n_tokens(pointer)
        self.vocabulary = vocabulary
        self.tokens = [vocabulary.piece(token) for token in range(count)]
        self.eos_token_id = functions.llama_vocab_eos(pointer)
        self.bos_token_id = None
        attributes = (functions.llama_vocab_get_attr(pointer, token) for token in range(count))
        self.special_token_ids = [n for n, found in enumerate(attributes) if found & _CONTROL]

    def __call__(self, text: bytes | str) -> list[int]:
        return self.vocabulary.tokens(text.encode() if isinstance(text, str) else text)


def first_mask(tokenizer: LLTokenizer, grammar: str, begun: list[int], rounds: int) -> float:
    """Return the milliseconds of the mask behind some tokens, each time by a matcher of its own.

    Raises:
        click.ClickException: llguidance gave up.
    """
    taken = []
    for _ in range(rounds):
        matcher = LLMatcher(tokenizer, grammar, log_level=0)
        matcher.consume_tokens(begun)
        start = process_time()
        matcher.compute_bitmask()
        taken.append((process_time() - start) * 1e3)
        if error := matcher.get_error():
            raise click.ClickException(error.splitlines()[0])
    return min(taken)


def _places(spec: Path) -> dict[str, tuple[Any, str]]:
    """Return the grammars to ask, each with what stands before the mask."""
    tools = example_tools()
    turn, whole = (grammar_from("gbnf", text) for text in turn_grammars(spec, tools))
    schema = LLMatcher.grammar_from_json_schema(json.dumps(as_one_schema(tools)))
    begun = f'{{"name": "find_7", "arguments": {{"a_text": "{CONTENT}'
    return {
        "at the beginning": (turn, ""),
        "in a string of a call": (turn, begun_call(spec)),
        "in content": (whole, begun_content(spec)),
        "in a string of its own converter's": (schema, begun),
    }


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("vocabulary", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("names", nargs=-1, required=True)
@click.option("--rounds", type=click.IntRange(min=1), default=9, show_default=True)
def bench(vocabulary: Path, names: tuple[str, ...], rounds: int) -> None:
    """Measure masks over VOCABULARY, a GGUF file, with the grammars of formats: NAMES as in specs/.

    \b
    Example:
      python -m benchmarks.llguidance_masks vocabularies/ggml-vocab-qwen2.gguf qwen3-coder
    """  # noqa: D301
    tokens = _Tokens(Vocabulary.load(vocabulary))
    tokenizer = LLTokenizer(TokenizerWrapper(tokens))
    failed = False
    for name in names:
        spec = _ROOT / "specs" / f"{name}.yaml"
        if not spec.is_file():
            raise click.BadParameter(f"there is no {spec.relative_to(_ROOT)}")
        for place, (grammar, text) in _places(spec).items():
            try:
                cost = first_mask(tokenizer, grammar, tokens(text), rounds)
            except click.ClickException as error:
                failed = True
                click.echo(f"{name}, {place}: {error.message}", err=True)
                continue
            click.echo(f"{name}, {len(tokens.tokens)} tokens, {place}: {cost:.2f} ms")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    bench()
