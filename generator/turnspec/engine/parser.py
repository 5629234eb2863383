"""The parser: what it is given, and what it gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from turnspec.engine.again import read_again
from turnspec.engine.facts import FORMAT, PROMPTS_ADD_TEXT
from turnspec.engine.input import Input
from turnspec.engine.markers import WHITE_SPACE
from turnspec.engine.options import check_options
from turnspec.engine.rules import rules_for
from turnspec.engine.text import read_turn
from turnspec.engine.turn import Turn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    from turnspec.engine.results import Event, Message


class Parser:
    """Reads what the model writes after the prompt, in pieces of any size.

    `tools` are OpenAI tool definitions. `enable_thinking` says how the prompt was made:
    None is the template's own default. `prefill` is the part of the turn that the prompt
    already holds, by default what the template adds; `echo` puts its text into the
    result. `reasoning="inline"` leaves reasoning in the content, with its markers. `stop`
    are further texts that end the turn, or one, `id_prefix` begins the ids of calls.
    `special_tokens` are those of the tokenizer: a marker that holds one counts only
    where `feed` was given it with `special=True`.
    """

    _is_reading = False  # whether `feed` or `finish` has not come back
    _in_use = "in use by another thread, or an exception ended a call; `message` is what was read"

    def __init__(
        self,
        *,
        tools: Sequence[Mapping[str, Any]] | None = None,
        enable_thinking: bool | None = None,
        prefill: str | None = None,
        reasoning: Literal["extract", "inline"] = "extract",
        echo: bool = False,
        stop: Sequence[str] | None = None,
        id_prefix: str = "call_",
        special_tokens: Sequence[str] | None = None,
    ) -> None:
        self._options: dict[str, Any] = {**locals()}  # all of them, by their names
        del self._options["self"]
        check_options(self._options)
        self._fed: list[str | tuple[str, bool]] = []  # all that `feed` was given
        if PROMPTS_ADD_TEXT:
            ways = {None: "", True: "_with_thinking", False: "_without_thinking"}
            own = FORMAT.get(f"prompt{ways[enable_thinking]}", FORMAT["prompt"])
            prefill = own if prefill is None else prefill
        else:
            prefill = FORMAT["prompt"] if prefill is None else prefill
        # Before the last header stands the conversation.
        header = FORMAT["header"]
        last = prefill.rpartition(header.strip() or header)[2] if header else prefill
        begun = prefill.removeprefix(header) if prefill.startswith(header) else last
        if PROMPTS_ADD_TEXT:
            # A prompt may end without the header: after some messages the turn goes on.
            texts = [FORMAT[key].removeprefix(header) for key in FORMAT if "prompt" in key]
            added = max(filter(prefill.endswith, texts), key=len, default="")
        else:
            added = ""
        opening = last if echo and prefill.startswith(header) else added
        tokens = None if special_tokens is None else tuple(special_tokens)
        ends = (stop,) if isinstance(stop, str) else tuple(stop or ())
        for text in (begun, last, opening):  # the first that leaves the turn open
            self._options["prefill"] = header + text
            self._turn = Turn(Input(-len(text), rules_for(ends, tokens)), self._options)
            self._reading = read_turn(self._turn)
            self._turn.end_prefill(self._read(text, special=True), echo)
            rest = self._turn.after_end
            if not ("".join(rest).strip(WHITE_SPACE) if echo else rest):
                break

    def feed(self, text: str, special: bool = False) -> list[Event]:
        """Take the next piece of the model's text; return the events that are certain.

        `special` says that the piece is a special token of the tokenizer, which is
        never cut; this counts where `special_tokens` are given.

        Raises:
            TypeError, ValueError: `text` is no string, or was finished before.
            RuntimeError: an earlier call is in another thread, or ended by an exception.
        """
        turn = self._turn
        given: Any = text
        if not isinstance(given, str):
            raise TypeError(f"text: {text!r:.99} is not a string")
        if self._is_reading:
            raise RuntimeError(self._in_use)
        if turn.input.final:
            raise ValueError("feed() after finish(): the text is over")
        self._is_reading = True
        self._fed.append((text, True) if special else text)
        flow = None if special else turn.flow
        events = flow(text) if flow and text else None
        if events is None:
            events = self._read(text, special)
        self._is_reading = False
        return events

    def _read(self, text: str, special: bool) -> list[Event]:
        self._turn.flow = None
        if not self._turn.input.add(text, special):
            return []
        next(self._reading)
        return self._turn.take_events()

    def finish(self) -> list[Event]:
        """Return what was held back: the model has written all."""
        if self._is_reading:
            raise RuntimeError(self._in_use)
        self._is_reading = True
        events = self._read("", special=False)  # pieces that were not looked at yet
        while not self._turn.input.final:  # once more if calls were a draft
            self._turn.input.final = True
            events += self._read("", special=False)
        self._is_reading = False
        return events

    @property
    def message(self) -> Message:
        """The message as far as it is known."""
        return self._turn.message

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles read the same pieces again."""
        pieces, final = self._fed[:], self._turn.input.final
        return read_again, (type(self), self._options, pieces, final)


def parse(
    text: str | Iterable[str | tuple[str, bool]],
    *,
    tools: Sequence[Mapping[str, Any]] | None = None,
    enable_thinking: bool | None = None,
    prefill: str | None = None,
    reasoning: Literal["extract", "inline"] = "extract",
    echo: bool = False,
    stop: Sequence[str] | None = None,
    id_prefix: str = "call_",
    special_tokens: Sequence[str] | None = None,
) -> Message:
    """Return the message in a text or in pieces, as `feed` takes them; options as of `Parser`."""
    options: Any = {**locals()}  # all of them, by their names
    del options["text"]
    is_one = isinstance(text, str | bytes) or not hasattr(text, "__iter__")
    return read_again(Parser, options, [text] if is_one else text, final=True).message
