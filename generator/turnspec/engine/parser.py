"""The parser: what it is given, and what it gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from turnspec.engine.format import CompiledFormat
from turnspec.engine.results import Event, Message
from turnspec.engine.text import CallReader, Text, Tools
from turnspec.engine.turn import Turn


class TurnParser:
    """Reads what the model writes after the prompt, in pieces of any size.

    ``tools`` are OpenAI tool definitions: they tell which names are known, and the types of
    arguments. ``prefill`` is the part of the turn that the prompt already holds, by default what
    the template adds for ``enable_thinking``; ``echo`` puts its text into the result.
    ``reasoning="inline"`` leaves the reasoning in the content, with its markers. ``stop`` are
    further texts that end the turn, ``id_prefix`` begins the ids of calls that have none.
    """

    format: ClassVar[CompiledFormat]
    _turn_type: ClassVar[type[Turn]] = Turn

    def __init__(
        self,
        *,
        tools: Sequence[Mapping[str, Any]] | None = None,
        enable_thinking: bool = True,
        prefill: str | None = None,
        reasoning: Literal["extract", "inline"] = "extract",
        echo: bool = False,
        stop: Sequence[str] = (),
        id_prefix: str = "call_",
    ) -> None:
        compiled = self.format.with_ends(stop)
        table = compiled.table
        if prefill is None:
            prefill = table["prompt"]
            if not enable_thinking:
                prefill = table.get("prompt_without_thinking", prefill)
        prefill = prefill.removeprefix(table["header"])
        self._turn = self._turn_type(-len(prefill))
        shown = -len(prefill) if echo else 0
        self._text = Text(self._turn, compiled, inline=reasoning == "inline", shown=shown)
        self._calls = self._make_calls(self._text, tools, id_prefix)
        self._turn.read = self._calls.first if self._calls else self._text.read_text
        if prefill:
            self._read_prefill(prefill, echo)

    def _make_calls(self, text: Text, tools: Tools | None, id_prefix: str) -> CallReader | None:
        """Return what reads calls, put together of the parts that the format needs."""

    def _read_prefill(self, prefill: str, echo: bool) -> None:
        turn = self._turn
        events = turn.feed(prefill)
        turn.events[:0] = events
        if turn.held:
            turn.held.events = len(events)
        if not echo:
            turn.problems.clear()
            if self._calls:
                self._calls.forget()

    def feed(self, text: str) -> list[Event]:
        """Take the next piece of the model's text, and return what it tells."""
        return self._turn.feed(text)

    def finish(self) -> list[Event]:
        """Return what was held back: the model has written all."""
        turn, calls = self._turn, self._calls
        if calls:
            calls.end_of_text()
        turn.final = True
        events = turn.feed("")
        if calls:
            calls.finish()
        self._text.finish()
        turn.position = len(turn.text)
        turn.read = self._text.read_rest
        return events + turn.feed("")

    @property
    def message(self) -> Message:
        """The message as far as it is known."""
        return self._turn.message
