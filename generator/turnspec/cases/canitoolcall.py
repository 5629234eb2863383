"""The generated parsers as an engine of canitoolcall, in the way that it asks of adapters.

    canitoolcall run --engine turnspec.cases.canitoolcall:Turnspec --python PYTHON_WITH_TURNSPEC

What the parsers raise isn't caught, as canitoolcall would have it: ours promise never to raise, so
that is an error of the run and no way to pass a case.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache
from typing import Any, ClassVar

from canitoolcall.adapters.base import Adapter, ReplayInput, Support, ToolSpec
from canitoolcall.results import ParsedToolCall, ParseResult, StreamAccumulator

import turnspec
from turnspec.cases.forms import OWN_MODELS
from turnspec.codegen.format_module import FormatModule
from turnspec.library import load_format, spec_of
from turnspec.verification.messages import format_markers


class Turnspec(Adapter):  # type: ignore[misc]  # its type isn't known where types are checked
    """Reads a case by the parser of its model's format, found as `turnspec.load` finds it.

    A unit is a character, where engines have tokens: there is no vocabulary here, and smaller
    pieces ask more. The special ones are those of the format's markers.
    """

    name = "turnspec"
    pinned_version = turnspec.__version__
    tokens_per_step = "many"  # so that every way to cut the text counts
    #: Whether calls count as returned that aren't complete, which nobody should run.
    with_incomplete_calls: ClassVar[bool] = False

    def format_of(self, model: str) -> str:
        """Return what `turnspec.load` takes for a model."""
        return model.removeprefix(OWN_MODELS)

    def module_of(self, model: str) -> FormatModule:
        """Return the parser of a model's format; raises ValueError where none is known."""
        return _loaded(self.format_of(model))

    def version(self) -> str:
        """Return turnspec's version."""
        return str(self.pinned_version)

    def supports(self, family: str, model: str) -> Support:
        """Tell whether there is a format to read a model's cases by."""
        try:
            self.module_of(model)
        except ValueError as error:
            return Support(False, str(error))
        return Support(True)

    def parser_config(self, raw: ReplayInput) -> dict[str, Any]:
        """Return the format and the options beside the tools."""
        return {"format": self.format_of(raw.model), **_options(raw)}

    def units(self, raw: ReplayInput) -> list[int]:
        """Return the places of the characters."""
        return list(range(len(raw.text)))

    def special_token_ids(self, raw: ReplayInput) -> Collection[int]:
        """Return the places of all characters that belong to markers."""
        found = _markers(self.format_of(raw.model)).finditer(raw.text)
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
        parser = self.module_of(raw.model).Parser(tools=list(tools), **_options(raw))
        added = StreamAccumulator()
        pieces = (str(raw.text[chunk[0] : chunk[-1] + 1]) for chunk in chunks)
        events = [event for piece in pieces for event in parser.feed(piece)]
        for event in [*events, *parser.finish()]:
            added.add_openai_delta(event.to_delta() or {})
        return self._returned(added.result(), parser.message)

    def message(self, raw: ReplayInput, tools: Sequence[ToolSpec]) -> Any:
        """Return the message that the parser reads from the whole text."""
        return self.module_of(raw.model).parse(raw.text, tools=list(tools), **_options(raw))

    def _returned(self, result: ParseResult, message: Any) -> ParseResult:
        """Return the result with those calls alone that count as returned."""
        pairs = zip(result.tool_calls, message.tool_calls, strict=True)
        calls = tuple(call for call, read in pairs if read.complete or self.with_incomplete_calls)
        return ParseResult(result.content or None, result.reasoning_content or None, calls)


_loaded = cache(load_format)


@cache
def _markers(fmt: str) -> re.Pattern[str]:
    spec = spec_of(fmt)
    markers = {*format_markers(spec), *spec.grammar.preserved_tokens}
    return re.compile("|".join(map(re.escape, sorted(markers, key=len, reverse=True))) or r"(?!)")


def _options(raw: ReplayInput) -> dict[str, Any]:
    """Return a parser's options: what a server knows of the prompt."""
    given = {"prefill": raw.generation_prompt, "enable_thinking": raw.thinking}
    return {name: value for name, value in given.items() if value is not None}
