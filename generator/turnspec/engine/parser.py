"""The parser: what it is given, and what it gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal

from turnspec.engine.format import CompiledFormat
from turnspec.engine.results import Event, Message
from turnspec.engine.special import SpecialFormat
from turnspec.engine.text import CallReader, Text
from turnspec.engine.tools import Tools, parameters_by_name
from turnspec.engine.turn import Turn


class TurnParser:
    """Reads what the model writes after the prompt, in pieces of any size.

    ``tools`` are OpenAI tool definitions: they tell which names are known, and the types of
    arguments. ``prefill`` is the part of the turn that the prompt already holds, by default what
    the template adds where thinking is enabled, disabled, or (None) left to the template, as
    ``enable_thinking`` says; ``echo`` puts its text into the result.
    ``reasoning="inline"`` leaves the reasoning in the content, with its markers. ``stop`` are
    further texts that end the turn, ``id_prefix`` begins the ids of calls that have none.
    ``special_tokens`` are those of the tokenizer, of which `feed` is to be told: a marker that
    holds one is text unless that came as a special piece.
    """

    format: ClassVar[CompiledFormat]
    _turn_type: ClassVar[type[Turn]] = Turn

    def __init__(
        self,
        *,
        tools: Sequence[Mapping[str, Any]] | None = None,
        enable_thinking: bool | None = None,
        prefill: str | None = None,
        reasoning: Literal["extract", "inline"] = "extract",
        echo: bool = False,
        stop: Sequence[str] = (),
        id_prefix: str = "call_",
        special_tokens: Sequence[str] | None = None,
    ) -> None:
        compiled = self._format_with(tuple(stop), special_tokens)
        table = compiled.table
        if prefill is None:
            prefill = table["prompt"]
            if enable_thinking:
                prefill = table.get("prompt_with_thinking", prefill)
            elif enable_thinking is not None:
                prefill = table.get("prompt_without_thinking", prefill)
        prefill = prefill.removeprefix(table["header"])
        self._turn = self._turn_type(-len(prefill))
        shown = -len(prefill) if echo else 0
        self._text = Text(self._turn, compiled, inline=reasoning == "inline", shown=shown)
        self._calls = self._make_calls(self._text, tools, id_prefix)
        self._turn.read = self._calls.first if self._calls else self._text.read_text
        self._options: dict[str, Any] = {"tools": tools, "reasoning": reasoning, "stop": stop}
        self._options |= {"id_prefix": id_prefix, "special_tokens": special_tokens, "prefill": ""}
        self._tokens = compiled.tokens if isinstance(compiled, SpecialFormat) else None
        self._draft: TurnParser | None = None  # reads what may be a draft
        self._drafted: list[str] = []  # what it has read
        self._draft_events: list[Event] = []
        if prefill:
            self._read_prefill(prefill, echo)

    @classmethod
    def _format_with(cls, stop: tuple[str, ...], tokens: Sequence[str] | None) -> CompiledFormat:
        """Return the format with further ends and special tokens; it is kept for other parsers."""
        if tokens is None:
            return cls.format.variant((stop,), lambda own: own.with_ends(stop))
        for token in tokens:
            if not isinstance(token, str):
                raise ValueError(f"special_tokens: {token!r} is no text")
        key = (stop, tuple(tokens))
        return cls.format.variant(key, lambda own: SpecialFormat(own.with_ends(stop).table, tokens))

    def _make_calls(self, text: Text, tools: Tools | None, id_prefix: str) -> CallReader | None:
        """Return what reads calls, put together of the parts that the format needs."""
        if tools is not None:
            parameters_by_name(tools)  # wrong tools are told where there are no calls as well
        return None

    def _read_prefill(self, prefill: str, echo: bool) -> None:
        turn = self._turn
        events = self.feed(prefill, special=True)
        turn.events[:0], turn.flow = events, None
        if turn.held:
            turn.held.events = len(events)
        if not echo:
            self._forget()

    def _forget(self) -> None:
        """Leave out what the prompt holds, but for a call that the model continues."""
        self._turn.problems.clear()
        if self._calls:
            self._calls.forget()
        if self._draft:
            self._draft._forget()
            self._draft_events.clear()

    def feed(self, text: str, special: bool = False) -> list[Event]:
        """Take the next piece of the model's text, and return what it tells.

        ``special`` says that the piece is a special token of the tokenizer's, which is never cut;
        this counts where ``special_tokens`` are given.
        """
        if special and self._tokens:
            turn = self._draft._turn if self._draft else self._turn
            turn.tokens += self._tokens.find(text, turn.offset + len(turn.text))
            turn.flow = None  # text that passes through is no token
        if self._draft is None:
            events = self._turn.feed(text)
            return events if self._text.draft_start is None else self._decide(events)
        self._drafted.append(text)
        return self._decide(self._draft.feed(text))

    def _decide(self, events: list[Event]) -> list[Event]:
        """Read a call in open reasoning aside, until what follows it says what it is."""
        turn, text = self._turn, self._text
        told: list[Event] = []
        while True:
            if self._draft is None:
                told += events
                if text.draft_start is None:
                    return told
                self._drafted = [turn.text]
                self._draft = self._begin_draft()
                self._draft_events = []
                events = self._draft.feed(turn.text)
            self._draft_events += events
            end = self._draft._text.draft_end
            if end is None:
                is_over = self._draft._turn.read == self._draft._text.read_rest
                return told + (self._adopt(self._draft) if is_over else [])
            events = self._go_back(end)

    def _begin_draft(self) -> TurnParser:
        draft = type(self)(**self._options)
        draft._turn.offset, draft._turn.tokens = self._turn.offset, self._turn.tokens
        draft._turn.calls = self._turn.calls[:]
        draft._text.is_draft, draft._text.thinking = True, False
        self._text.draft_start = None
        return draft

    def _go_back(self, end: int) -> list[Event]:
        """What was read aside is reasoning, up to where something else follows."""
        turn = self._turn
        self._draft = None
        turn.text = "".join(self._drafted)
        turn.problem("draft", "a call in the reasoning, which goes on behind it")
        self._text.write(max(end - turn.offset, 1))
        return turn.feed("")

    def _adopt(self, draft: TurnParser) -> list[Event]:
        """What was read aside are calls."""
        turn, text, read = self._turn, self._text, draft._turn
        turn.problem("unclosed", "a call inside the reasoning")
        turn.problems += read.problems
        turn.calls, turn.offset, turn.text = read.calls, read.offset, read.text
        text.follow(draft._text)
        self._draft = None
        return self._draft_events

    def _end_draft(self) -> list[Event]:
        """Decide what is read aside, as all text has come."""
        events: list[Event] = []
        while draft := self._draft:
            self._draft_events += draft.finish()
            end = draft._text.draft_end
            events += self._adopt(draft) if end is None else self._decide(self._go_back(end))
        return events

    def finish(self) -> list[Event]:
        """Return what was held back: the model has written all."""
        turn, calls = self._turn, self._calls
        events = self._end_draft()
        if calls:
            calls.end_of_text()
        turn.final = True
        events += turn.feed("")
        while self._text.draft_start is not None:
            events += self._decide([]) + self._end_draft()
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


def pieces_of(text: str | Iterable[tuple[str, bool]]) -> Iterable[tuple[str, bool]]:
    """Return a text as pieces, each with a flag: whether it is a special token."""
    return [(text, False)] if isinstance(text, str) else text
