"""`turnspec tokens`: what a format's markers are in a model's tokens."""

from __future__ import annotations

from pathlib import Path

import click

from turnspec.cases.tokens import Vocabulary
from turnspec.cli.common import HUB_OFFLINE, JSON, ROOT, TOKENIZER
from turnspec.cli.console import Misuse, put_json, say
from turnspec.cli.formats import catalog_of, find, format_names, spec_of
from turnspec.spec.yaml_text import quoted


@click.command()
@click.argument("fmt", metavar="FORMAT", shell_complete=format_names)
@TOKENIZER
@JSON
@HUB_OFFLINE
@ROOT
def tokens(fmt: str, tokenizer: Vocabulary | None, as_json: bool, root: Path | None) -> None:
    """Say which tokens, or pieces, a format's markers are: stops, ends of reasoning, all others.

    A marker that is no token of its own is several pieces, which a model may write otherwise.

    \b
    Example:
      turnspec tokens qwen3-coder --tokenizer model/tokenizer.json
    """  # noqa: D301
    if tokenizer is None:
        raise Misuse("whose tokens? Give the model's file: --tokenizer tokenizer.json")
    found = tokenizer.of_format(spec_of(find(fmt, catalog_of(root))))
    if as_json:
        rows = [
            {"role": role, "text": text, "ids": ids, "token": text in tokenizer.added}
            for role, markers in found.items()
            for text, ids in markers
        ]
        put_json(rows, indent=2)
        return
    for role, markers in found.items():
        for text, ids in markers:
            told = "token" if text in tokenizer.added else "pieces"
            say(f"{role:18}{quoted(text)} {told} {' '.join(map(str, ids))}")
