"""The command that binds a format's grammar to tools and to the form of an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from turnspec.cli import common
from turnspec.cli.console import Fault, Misuse, json_text, print_notice, put, put_json
from turnspec.cli.formats import catalog_of, find, format_names, spec_of, tell_unverified
from turnspec.grammar.bound import BoundGrammar, bind_grammar
from turnspec.grammar.request import GrammarRequest, ToolChoice
from turnspec.spec.json_values import json_in
from turnspec.spec.model import Spec

TOOL_CHOICE = click.option(
    "--tool-choice",
    default=ToolChoice.AUTO.value,
    metavar="auto|required|none|TOOL",
    help="Whether a turn calls tools, or which one it has to call.",
)
PARALLEL = click.option("--parallel", is_flag=True, help="Let a turn hold several calls.")


@click.command()
@click.argument("fmt", metavar="FORMAT", shell_complete=format_names)
@common.TOOLS
@TOOL_CHOICE
@PARALLEL
@common.THINKING
@common.PREFILL
@click.option("--response-schema", type=common.filename, help="A JSON Schema for the content.")
@click.option("--grammar", "own", type=common.filename, help="A GBNF grammar to be used as it is.")
@click.option("--whole-turn", is_flag=True, help="Hold the whole turn, without a trigger.")
@click.option(
    "--loosen",
    is_flag=True,
    help="Leave out what no grammar can say of a schema (uniqueItems, not), each with a notice.",
)
@common.JSON
@common.HUB_OFFLINE
@common.ROOT
def grammar(
    fmt: str,
    tools: common.FileText | None,
    tool_choice: str,
    parallel: bool,
    thinking: bool | None,
    prefill: str | None,
    response_schema: common.FileText | None,
    own: str | None,
    whole_turn: bool,
    loosen: bool,
    as_json: bool,
    root: Path | None,
) -> None:
    """Print a format's grammar for real tools: what it lets through, its parser reads.

    FORMAT is a name or an alias (see turnspec list), a model on the hub (ORG/MODEL), a template (a
    .jinja file, a model folder, a GGUF file), or the path of a spec. The grammar begins where the
    prompt ends, or, if it is lazy, with the first call; its comments (or --json) name the triggers,
    the tokens that have to be seen as text, and the stop strings.

    \b
    Example:
      turnspec grammar qwen3-coder --tools tools.json --parallel > tools.gbnf
      turnspec grammar qwen3-coder --tools tools.json --loosen > tools.gbnf
      turnspec grammar glm-4-6 --response-schema answer.json --json
    """  # noqa: D301
    known = find(fmt, catalog_of(root))
    spec = spec_of(known)
    tell_unverified(known)
    request = GrammarRequest(
        tools=common.tool_definitions(tools) or (),
        tool_choice=tool_choice,
        parallel=parallel,
        thinking=thinking,
        response_schema=_schema(response_schema) if response_schema is not None else None,
        own_grammar=own,
        loosen=loosen,
        lazy=not whole_turn,
        prefill=prefill,
    )
    bound = bind_grammar(spec, request)
    given = {"tools": tools, "response schema": response_schema}
    files = {part: text.name for part, text in given.items() if text is not None}
    if isinstance(bound, list):
        # What is wrong in no file is wrong with the command.
        error = Fault if all(problem.file for problem in bound) else Misuse
        raise error(*(str(replace(p, file=files.get(p.file, p.file))) for p in bound))
    for notice in bound.notices:
        print_notice(str(replace(notice, file=files.get(notice.file, notice.file))))
    if as_json:
        put_json(_as_json(bound), indent=2)
    else:
        put(commented(spec, bound), end="\n")


def commented(spec: Spec, bound: BoundGrammar) -> str:
    """Return the grammar with what belongs to it as comments, which every engine passes over."""
    begins = "with the first call (lazy)" if bound.lazy else "where the prompt ends"
    lists = {
        "trigger words": bound.trigger_words,
        "trigger patterns": bound.trigger_patterns,
        "preserved tokens": bound.preserved_tokens,
        "stop strings": bound.stop,
    }
    lines = [f"# {spec.name}: begins {begins}"]
    lines += [f"# {title}: {json_text(texts)}" for title, texts in lists.items() if texts]
    return "\n".join([*lines, "", bound.grammar.rstrip("\n")])


def _as_json(bound: BoundGrammar) -> dict[str, object]:
    return {
        "grammar": bound.grammar,
        "root": "root",
        "lazy": bound.lazy,
        "triggers": {"words": bound.trigger_words, "patterns": bound.trigger_patterns},
        "preserved_tokens": bound.preserved_tokens,
        "stop": bound.stop,
        "notices": [str(notice) for notice in bound.notices],
    }


def _schema(text: common.FileText) -> Any:
    try:
        found = json_in(text)
    except (ValueError, RecursionError) as error:
        raise Fault(f"{text.name}: not JSON: {error}") from None
    if not isinstance(found, Mapping | bool):
        raise Fault(f"{text.name}: a JSON Schema is an object, true or false")
    return found
