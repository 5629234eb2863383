"""Tries SGLang's own parsers on formats; runs in an environment that has SGLang, without a GPU.

Standard input: a vocabulary's file, and formats, each with its chat template, cases and special
tokens. Standard output: what came of each format (`choosing.choose`).
"""

from __future__ import annotations

import json
import logging
import sys
from functools import cache
from pathlib import Path
from typing import Any

from tests.integrations.choosing import Names, choose
from tests.integrations.sglang_run import Options, Server, detected

# What SGLang imports of others has to be stood in for first, which that module does.
from sglang.srt.entrypoints.openai import serving_chat  # isort: skip
from sglang.srt.function_call.function_call_parser import FunctionCallParser  # isort: skip
from sglang.srt.parser.reasoning_parser import ReasoningParser  # isort: skip
from tests.integrations.vocabularies import real_tokenizer, texts_of


def chosen(form: dict[str, Any], vocabulary: Path) -> Any:
    """Return what SGLang's parsers make of a format's cases."""
    tokenizer = real_tokenizer(vocabulary, form["specials"])
    known = tokenizer.get_vocab()
    tokenizer.get_vocab = lambda: known  # each parser asks for it, and it takes long to make
    detected(form["template"], tokenizer)  # once for all children
    server = cache(lambda names: Server(names, form, tokenizer))

    def read(names: Names, case: dict[str, Any], size: int) -> Any:
        if not size:
            return server(names).whole(case)
        tokens = tokenizer.encode(case["text"])
        groups = [tokens[place : place + size] for place in range(0, len(tokens), size)]
        return server(names).stream(case, list(texts_of(tokenizer, groups)) or [""])

    tools, reasoning = FunctionCallParser.ToolCallParserEnum, ReasoningParser.DetectorMap
    return choose(form, [*tools], [*reasoning], read)


def main() -> None:
    """Read all formats, and write what came of them."""
    asked = json.load(sys.stdin)
    logging.disable(logging.CRITICAL)  # they tell of each turn that they can't read
    serving_chat.get_serving = Options
    given = [chosen(form, Path(asked["vocabulary"])) for form in asked["formats"]]
    json.dump(given, sys.stdout)


if __name__ == "__main__":
    main()
