"""Reads a pair's turns with vLLM's own parser of templates, and asks its plugin for tags.

Runs in vLLM's environment, without a GPU. Standard input: ``formats``, each with a template, a
plugin's file, whether it reasons, special tokens, cases (prefill, text, tools, variables), and
turns that call and nothing else, if there are any. Standard output: for each format the messages
of the cases (whole, by a token), and whether the tag of a request that has to call takes the turns.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import xgrammar
import xgrammar.testing
from vllm.tool_parsers import ToolParserManager

from tests.integrations.vllm_run import (
    BEFORE,
    Characters,
    Reading,
    attempt,
    parser_class,
    request_of,
)


def tokenizer_of(form: dict[str, Any]) -> Characters:
    tokenizer = Characters(form["specials"])
    tokenizer.response_template = form["response_template"]  # type: ignore[attr-defined]
    return tokenizer


def required(form: dict[str, Any], tokenizer: Characters, case: dict[str, Any]) -> Any:
    """Say whether the tag of a request that has to call lets a turn through."""
    names = (form["name"], form["name"] if form["reasons"] else None)
    asked = request_of(case)
    asked.tool_choice = "required"
    parser = parser_class(names, tokenizer)(
        tokenizer, asked.tools, chat_template_kwargs=case["variables"]
    )
    parser.set_prompt_token_ids(tokenizer.encode(BEFORE + case["prefill"]))
    tag = parser.adjust_request(request=asked).structured_outputs.structural_tag
    grammar = xgrammar.Grammar.from_structural_tag(tag)
    return xgrammar.testing._is_grammar_accept_string(grammar, case["text"])


def outcomes(form: dict[str, Any]) -> dict[str, Any]:
    tokenizer = tokenizer_of(form)
    ToolParserManager.import_tool_parser(form["plugin"])
    reading = attempt(Reading, ("hf", "hf" if form["reasons"] else None), tokenizer)
    if isinstance(reading, str):
        return {"messages": [[reading]] * len(form["cases"]), "required": []}
    return {
        "messages": [
            [attempt(reading.whole, case), attempt(reading.stream, case, 1)]
            for case in form["cases"]
        ],
        "required": [attempt(required, form, tokenizer, case) for case in form["calling"]],
    }


if __name__ == "__main__":
    json.dump([outcomes(form) for form in json.load(sys.stdin)["formats"]], sys.stdout)
