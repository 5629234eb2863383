"""Tries vLLM's own parsers on formats; runs in an environment that has vLLM, without a GPU.

Standard input: a vocabulary's file, and formats, each with cases and special tokens. Standard
output: the names of all parsers, and what came of each format (`choosing.choose`).
"""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path
from typing import Any

from vllm.reasoning import ReasoningParserManager
from vllm.tokenizers.hf import get_cached_tokenizer
from vllm.tool_parsers import ToolParserManager

from tests.integrations.choosing import Names, choose
from tests.integrations.vllm_run import Reading
from tests.integrations.vocabularies import real_tokenizer


def chosen(form: dict[str, Any], vocabulary: Path) -> Any:
    """Return what vLLM's parsers make of a format's cases."""
    made = real_tokenizer(vocabulary, form["specials"], **form["options"])
    tokenizer = get_cached_tokenizer(made)  # as vLLM itself has it

    def read(names: Names, case: dict[str, Any], size: int) -> Any:
        if not any(names):  # without parsers a turn is all content
            return ["", case["text"], []]
        reading = Reading(names, tokenizer)
        return reading.stream(case, size) if size else reading.whole(case)

    tools, reasoning = ToolParserManager, ReasoningParserManager
    return choose(form, tools.list_registered(), reasoning.list_registered(), read)


def main() -> None:
    """Read all formats, and write what came of them."""
    asked = json.load(sys.stdin)
    logging.disable(logging.CRITICAL)  # they tell of each turn that they can't read
    for manager, get in (
        (ToolParserManager, ToolParserManager.get_tool_parser),
        (ReasoningParserManager, ReasoningParserManager.get_reasoning_parser),
    ):
        for name in manager.list_registered():
            get(name)  # imports it, once for all children
    given = [chosen(form, Path(asked["vocabulary"])) for form in asked["formats"]]
    json.dump(given, sys.stdout)


if __name__ == "__main__":
    main()
