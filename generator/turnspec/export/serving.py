"""What exported plugins ask of an installed turnspec: a grammar for a request's tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from turnspec import grammar_binder
from turnspec.export import pair as pairs
from turnspec.export.xgrammar import tag_of_grammar
from turnspec.grammar.bound import BoundGrammar, GrammarBinder
from turnspec.grammar.request import GrammarRequest, chosen_tool
from turnspec.grammar.schema_checks import Schema
from turnspec.rendering.limits import Limits


def bound_grammar(
    spec: Path,
    *,
    tools: Sequence[Mapping[str, Any]],
    tool_choice: str | Mapping[str, Any] | None = None,
    parallel: bool = True,
    thinking: bool | None = None,
    prefill: str | None = None,
    response_format: Mapping[str, Any] | None = None,
    seconds: float | None = None,
) -> tuple[str, bool]:
    """Return a grammar in GBNF, and whether it holds from the first call on only.

    Args:
        spec: the format's file.
        tools: OpenAI tool definitions.
        tool_choice: as chat-completions APIs have it: a word, or an object that names a tool.
        parallel: whether a turn may hold several calls.
        thinking: which prompt it is: with thinking enabled, disabled, or (None) the default one.
        prefill: what the prompt holds of the turn, which says more than ``thinking``; None where
            that isn't known.
        response_format: as chat-completions APIs have it.
        seconds: which binding may take, in a process of its own; None is no limit.

    Raises:
        ValueError: there is no such grammar; says all reasons.
    """
    choice, schema = chosen_tool(tool_choice), _schema(response_format)
    request = GrammarRequest(
        tools, choice, parallel=parallel, thinking=thinking, prefill=prefill, response_schema=schema
    )
    bound, _ = _bound(spec, request, seconds)
    return bound.grammar, bound.lazy


def bound_structural_tag(
    spec: Path,
    *,
    tools: Sequence[Mapping[str, Any]],
    tool_choice: str | Mapping[str, Any] | None = None,
    parallel: bool = True,
    thinking: bool | None = None,
    prefill: str | None = None,
    seconds: float | None = None,
    pair: bool = False,
    behind_reasoning: bool = False,
) -> dict[str, Any]:
    """Return the grammar as xgrammar's structural tag: text is free up to the first call.

    The arguments are those of `bound_grammar`, and so is the error. As one of a ``pair`` the tag
    lets through what a `response_template` reads; it may hold ``behind_reasoning``.
    """
    choice, thinking = chosen_tool(tool_choice), False if behind_reasoning else thinking
    request = GrammarRequest(tools, choice, parallel=parallel, thinking=thinking, prefill=prefill)
    bound, binder = _bound(spec, request, seconds, behind=behind_reasoning)
    return (pairs.pair_tag if pair else tag_of_grammar)(binder.spec, request, bound)


def _bound(
    spec: Path, request: GrammarRequest, seconds: float | None, *, behind: bool = False
) -> tuple[BoundGrammar, GrammarBinder]:
    path = Path(spec)
    binder = _binder(path, path.stat().st_mtime_ns if path.is_file() else 0, seconds, behind)
    bound = binder.bind(request)
    if isinstance(bound, list):
        raise ValueError("; ".join(map(str, bound)))
    return bound, binder


@lru_cache(maxsize=8)
def _binder(spec: Path, changed: int, seconds: float | None, behind: bool) -> GrammarBinder:
    """Read a format once, and again when its file has changed: its requests share the binder.

    If ``behind``, its prompt without thinking is one that closes reasoning.
    """
    limit = None if seconds is None else Limits(seconds)
    binder = grammar_binder(spec, limit=limit)
    return grammar_binder(pairs.behind_reasoning(binder.spec), limit=limit) if behind else binder


def _schema(response_format: Mapping[str, Any] | None) -> Schema | None:
    """Return the schema of an answer; llama-cpp-python has it beside the type, APIs further in."""
    kind = (response_format or {}).get("type", "text")
    if response_format is None or kind == "text":
        return None
    found = response_format.get("schema", response_format.get("json_schema", {}).get("schema"))
    return {"type": "object"} if found is None else found
