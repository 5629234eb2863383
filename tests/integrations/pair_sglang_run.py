"""Reads a pair's turns with SGLang's own detectors of templates, and asks its plugin for tags.

Runs in SGLang's environment, without a GPU. Standard input and output: as for vLLM, in
`pair_vllm_run`, but for the folder of the plugins and a vocabulary's file beside ``formats``; the
tags are of turns behind reasoning.
"""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path
from typing import Any

import xgrammar
import xgrammar.testing
from sglang.srt.entrypoints.openai.protocol import ChatCompletionRequest
from sglang.srt.function_call.function_call_parser import FunctionCallParser
from sglang.srt.plugins import load_plugins

from tests.integrations.sglang_run import Options, Server, attempt, by_characters
from tests.integrations.vocabularies import real_tokenizer

# What SGLang imports of others has to be stood in for first, which that module does.
from sglang.srt.entrypoints.openai import serving_chat  # isort: skip

TEMPLATES = "response_template"


def required(form: dict[str, Any], tokenizer: Any, case: dict[str, Any]) -> Any:
    """Say whether the tag of a request that has to call lets a turn through."""
    asked = {"messages": [{"role": "user", "content": "?"}], "model": "any", "tools": case["tools"]}
    tools = ChatCompletionRequest(**asked).tools
    kind, tag = FunctionCallParser(tools, form["name"], tokenizer).get_structure_constraint(
        "required"
    )
    assert kind == "structural_tag", kind
    grammar = xgrammar.Grammar.from_structural_tag(json.dumps(tag.model_dump()))
    return xgrammar.testing._is_grammar_accept_string(grammar, case["behind"])


def ended(cases: Any) -> Any:
    """Return cases without what ends their turns, as SGLang keeps that to itself."""
    return [{**case, "text": case["ended"]} for case in cases]


def outcomes(form: dict[str, Any], vocabulary: Path) -> dict[str, Any]:
    tokenizer = real_tokenizer(vocabulary, form["specials"])
    tokenizer.response_template = form["response_template"]
    names = (TEMPLATES, TEMPLATES if form["reasons"] else None)
    read = attempt(lambda: by_characters(Server(names, form, tokenizer), ended(form["cases"])))
    told = [attempt(required, form, tokenizer, case) for case in form["calling"]]
    if isinstance(read, str):
        return {"messages": [[read]] * len(form["cases"]), "required": told}
    return {**read, "required": told}


if __name__ == "__main__":
    given = json.load(sys.stdin)
    sys.path.insert(0, given["folder"])
    load_plugins()
    logging.disable(logging.ERROR)
    serving_chat.get_serving = Options
    told = [outcomes(form, Path(given["vocabulary"])) for form in given["formats"]]
    json.dump(told, sys.stdout)
