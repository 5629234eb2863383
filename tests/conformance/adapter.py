"""The generated parsers as an engine of canitoolcall, in the way that it asks of adapters.

Its own command can run them too, from the root of a checkout:

    canitoolcall run --engine tests.conformance.adapter:Turnspec --env PYTHONPATH=$PWD

What the parsers raise isn't caught, as canitoolcall would have it: ours promise never to raise, so
that is an error of the run and no way to pass a case.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Collection, Sequence
from functools import cache
from typing import Any, ClassVar

from canitoolcall.adapters.base import Adapter, ReplayInput, Support, ToolSpec
from canitoolcall.fixtures import load_families
from canitoolcall.results import ParsedToolCall, ParseResult, StreamAccumulator

from tests.conformance.formats import NOT_READ, READ_AS


class Turnspec(Adapter):  # type: ignore[misc]  # its type isn't known where types are checked
    """Reads a case by the parser of its model's format.

    A unit is a character, where engines have tokens: there is no vocabulary here, and smaller
    pieces ask more. The special ones are those of the family's markers.
    """

    name = "turnspec"
    pinned_version = "checkout"
    tokens_per_step = "many"  # so that every way to cut the text counts
    #: Whether calls count as returned that aren't complete, which nobody should run.
    with_incomplete_calls: ClassVar[bool] = False

    def version(self) -> str:
        """Return that the parsers are those of the checkout."""
        return "checkout"

    def supports(self, family: str, model: str) -> Support:
        """Tell whether there is a format to read a model's cases by."""
        if model in READ_AS:
            return Support(True)
        return Support(False, NOT_READ[model])

    def parser_config(self, raw: ReplayInput) -> dict[str, Any]:
        """Return the format and the options beside the tools."""
        return {"format": READ_AS[raw.model].format, **_options(raw)}

    def units(self, raw: ReplayInput) -> list[int]:
        """Return the places of the characters."""
        return list(range(len(raw.text)))

    def special_token_ids(self, raw: ReplayInput) -> Collection[int]:
        """Return the places of all characters that belong to markers."""
        found = _markers(raw.family).finditer(raw.text)
        return {place for marker in found for place in range(*marker.span())}

    def parse(self, raw: ReplayInput, tools: Sequence[ToolSpec]) -> ParseResult:
        """Read the whole text."""
        message = self.message(raw, tools)
        calls = tuple(ParsedToolCall(call.name, call.arguments) for call in message.tool_calls)
        result = ParseResult(message.content, message.reasoning_content, calls)
        return self._returned(result, message)

    def parse_stream(
        self, raw: ReplayInput, chunks: Sequence[Sequence[int]], tools: Sequence[ToolSpec]
    ) -> ParseResult:
        """Read the text in pieces, and add up the deltas as clients do."""
        parser = _parsers(raw.model).Parser(tools=list(tools), **_options(raw))
        added = StreamAccumulator()
        events = [event for chunk in chunks for event in parser.feed(_text(raw, chunk))]
        for event in [*events, *parser.finish()]:
            added.add_openai_delta(event.to_delta() or {})
        return self._returned(added.result(), parser.message)

    def message(self, raw: ReplayInput, tools: Sequence[ToolSpec]) -> Any:
        """Return the message that the parser reads from the whole text."""
        return _parsers(raw.model).parse(raw.text, tools=list(tools), **_options(raw))

    def _returned(self, result: ParseResult, message: Any) -> ParseResult:
        """Return the result with those calls alone that count as returned."""
        pairs = zip(result.tool_calls, message.tool_calls, strict=True)
        calls = tuple(call for call, read in pairs if read.complete or self.with_incomplete_calls)
        return ParseResult(result.content or None, result.reasoning_content or None, calls)


class TurnspecWithIncompleteCalls(Turnspec):
    """The same, with calls that were cut off or couldn't be read to their end."""

    with_incomplete_calls = True


def _parsers(model: str) -> Any:
    return importlib.import_module("generated." + READ_AS[model].format.replace("-", "_"))


def _options(raw: ReplayInput) -> dict[str, Any]:
    """Return a parser's options: what a server knows of the prompt."""
    given = {"prefill": raw.generation_prompt, "enable_thinking": raw.thinking}
    return {name: value for name, value in given.items() if value is not None}


def _text(raw: ReplayInput, chunk: Sequence[int]) -> str:
    return str(raw.text[chunk[0] : chunk[-1] + 1])


@cache
def _markers(family: str) -> re.Pattern[str]:
    markers = sorted(load_families()[family].markers, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, markers)))
