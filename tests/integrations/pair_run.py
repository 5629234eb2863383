"""Asks xgrammar's matcher and transformers' parser about turns, in an environment that has both.

Standard input: ``formats``, each with a template, tags, and cases (the numbers of its tag and of
the tag that isn't narrowed, prefix, text, tools). Standard output: for each format and case whether
the tag lets the text through ("narrowed": only the other one does; or why the engine can't read
it), the message that the template gives, and whether pieces give the same.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from xgrammar import GrammarCompiler, TokenizerInfo

from tests.integrations.response_template_run import read
from tests.integrations.xgrammar_run import END, TOKENS, accepts


def compiled(compiler: Any, tag: dict[str, Any]) -> Any:
    try:
        return compiler.compile_structural_tag(json.dumps(tag))
    except (RuntimeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"[:300]


def asked(tag: Any, text: str) -> Any:
    return tag if isinstance(tag, str) else accepts(tag, text)


def outcomes(compiler: Any, given: dict[str, Any]) -> list[dict[str, Any]]:
    tags = [compiled(compiler, tag) for tag in given["tags"]]
    found = []
    for case in given["cases"]:
        taken = asked(tags[case["tag"]], case["text"])
        if taken is False and asked(tags[case["plain"]], case["text"]) is True:
            taken = "narrowed"
        text = case["text"]
        whole = read(given["template"], case, [text])
        threes = [text[start : start + 3] for start in range(0, len(text), 3)]
        same = read(given["template"], case, threes) == whole
        found.append({"message": whole, "same": same, "taken": taken})
    return found


if __name__ == "__main__":
    information = TokenizerInfo(TOKENS, stop_token_ids=[END])
    engine = GrammarCompiler(information, max_threads=1, cache_enabled=False)
    forms = json.load(sys.stdin)["formats"]
    json.dump([outcomes(engine, given) for given in forms], sys.stdout)
