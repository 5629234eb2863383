"""``turnspec mask``: which characters of rendered conversations the model wrote."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

import click

from turnspec.cases.tokens import Vocabulary
from turnspec.chat.errors import ChatError
from turnspec.chat.spans import Transcript
from turnspec.cli.common import HUB_OFFLINE, TOKENIZER, FileText, filename
from turnspec.cli.console import Fault, finish, put_json, say_parts
from turnspec.cli.render import open_chat
from turnspec.spec.problems import Problem


@click.command()
@click.argument("source")
@click.argument("conversations", type=filename, default="-")
@click.option("--thinking/--no-thinking", default=None, help="Turn thinking on or off.")
@click.option("--fetch", is_flag=True, help="Download a known format's template if it isn't here.")
@TOKENIZER
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines on a terminal, too.")
@HUB_OFFLINE
def mask(
    source: str,
    conversations: FileText,
    thinking: bool | None,
    fetch: bool,
    tokenizer: Vocabulary | None,
    as_json: bool,
) -> None:
    """Render conversations, and say which characters of them the model wrote.

    SOURCE is as for turnspec render. CONVERSATIONS (a file or standard input) has a line of JSON
    for each: a list of messages, or an object with messages and tools, as data for training has.
    Each becomes a line with its text and spans: number of the message, start and end. A terminal
    shows the texts, with what the model wrote in colour. With a tokenizer lines also have tokens,
    as input_ids, and 1 for each that the model wrote, as assistant_masks.

    \b
    Example:
      turnspec mask qwen3-coder train.jsonl > masked.jsonl
    """  # noqa: D301
    problems: list[Problem] = []
    try:
        with open_chat(source, fetch=fetch) as chat:
            for number, request in _conversations(conversations):
                try:
                    found = chat.spans(**request, thinking=thinking)
                    _print(found, tokenizer, as_json=as_json)
                except ChatError as error:
                    placed = (replace(p, line=number) for p in error.problems)
                    problems += (replace(p, file=conversations.name) for p in placed)
    except ChatError as error:
        problems += error.problems
    finish(problems)


def _conversations(text: FileText) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the messages and tools of each line, with its number."""
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            given = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise Fault(f"{text.name}:{number}: not JSON: {error}") from None
        request = given if isinstance(given, dict) else {"messages": given}
        messages, tools = request.get("messages"), request.get("tools") or []
        if not isinstance(messages, list) or not isinstance(tools, list):
            raise Fault(f"{text.name}:{number}: no list of messages, nor an object with one")
        yield number, {"messages": messages, "tools": tools}


def _print(found: Transcript, tokenizer: Vocabulary | None, *, as_json: bool) -> None:
    if as_json or tokenizer or not sys.stdout.isatty():
        spans = [asdict(span) for span in found.spans]
        tokens = found.in_tokens(tokenizer.tokenizer) if tokenizer else {}
        put_json({"text": found.text, "spans": spans, **tokens})
        return
    parts, at = [], 0
    for span in found.spans:
        parts += [(found.text[at : span.start], ""), (found.text[span.start : span.end], "green")]
        at = span.end
    say_parts([*parts, (found.text[at:], "")])
