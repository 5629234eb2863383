"""Which characters of a rendered conversation the model wrote: the mask of a training loss.

A turn of the model begins behind its prompt, and ends with what stops the model. Where it stands in
a rendering is found by rendering the conversation again with other words in its place: templates
that leave earlier reasoning out, or have other ends before a tool's result, are read as they are.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from turnspec.analysis.text import common_prefix, common_suffix, whole_prefix
from turnspec.chat.errors import ChatError
from turnspec.chat.form import ASSISTANT
from turnspec.grammar.text import WHITE_SPACE, trimmed
from turnspec.rendering.environment import GENERATION_MARKS
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem
from turnspec.spec.turn_end import stop_strings

Message = Mapping[str, object]
#: Renders messages, with the generation prompt or without, and with further variables: the text,
#: and the prompt's prefill.
Render = Callable[[Sequence[Message], bool, Mapping[str, object]], tuple[str, str]]
#: Words that no text holds, for what a message says.
_WORDS = ("nextqa", "nextqz")
#: How many characters behind a part its end is looked for: an id may stand between.
_CLOSERS = 64
#: What else may stand there: the brackets and quotes of arguments, and white space.
_BRACKETS = WHITE_SPACE + "}])'\""


@dataclass(frozen=True, slots=True)
class Span:
    """What the model wrote for a message: the characters from ``start`` to before ``end``."""

    message: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Transcript:
    """A rendered conversation, and what of it the model wrote."""

    text: str
    spans: tuple[Span, ...]

    def mask(self, offsets: Sequence[tuple[int, int]]) -> list[int]:
        """Return 1 for each token that the model wrote, else 0.

        Args:
            offsets: the characters of each token, as a fast tokenizer's ``offset_mapping`` has
                them. A token without characters is none of the model's.
        """
        written = bytearray(len(self.text) + 1)
        for span in self.spans:
            written[span.start : span.end] = b"\1" * (span.end - span.start)
        return [int(start < end and all(written[start:end])) for start, end in offsets]

    def in_tokens(self, tokenizer: Any) -> dict[str, list[int]]:
        """Return the text's tokens, as ``input_ids``, and their mask, as ``assistant_masks``.

        Args:
            tokenizer: a fast tokenizer of transformers, or a `tokenizers.Tokenizer`.
        """
        if callable(tokenizer):
            found = tokenizer(self.text, return_offsets_mapping=True, add_special_tokens=False)
            ids, offsets = found["input_ids"], found["offset_mapping"]
        else:
            encoded = tokenizer.encode(self.text, add_special_tokens=False)
            ids, offsets = encoded.ids, encoded.offsets
        return {"input_ids": [*ids], "assistant_masks": self.mask(offsets)}


def find_spans(spec: Spec, messages: Sequence[Message], render: Render) -> Transcript:
    """Render a conversation, and find what the model wrote of it.

    Args:
        spec: the format.
        messages: the conversation, as chat APIs have it.
        render: renders messages with the template, always with the same options.

    Raises:
        ChatError: the template refuses the conversation, or shows nothing of an answer in it.
    """
    text, _ = render(messages, False, {})
    spoken = [at for at, message in enumerate(messages) if message.get("role") == ASSISTANT]
    spans = _tagged(text, messages, spoken, render)
    if not spans:
        finder = _Finder(spec, messages, render, text)
        for number in spoken:
            spans.append(finder.find(number, spans[-1].end if spans else 0))
    return Transcript(text, tuple(spans))


def _tagged(
    text: str, messages: Sequence[Message], spoken: Sequence[int], render: Render
) -> list[Span]:
    """Return what the template itself says by ``{% generation %}``; nothing if it doesn't."""
    marks = tuple(f"\ue000{secrets.token_hex(8)}\ue001" for _ in range(2))
    marked, _ = render(messages, False, {GENERATION_MARKS: marks})
    pieces = re.split("|".join(marks), marked)
    if "".join(pieces) != text or len(pieces) != 2 * len(spoken) + 1:
        return []
    ends = list(accumulate(map(len, pieces)))
    return [Span(number, *ends[2 * at : 2 * at + 2]) for at, number in enumerate(spoken)]


@dataclass(frozen=True, slots=True)
class _Finder:
    """A conversation, and the text that it is rendered as."""

    spec: Spec
    messages: Sequence[Message]
    render: Render
    text: str

    def find(self, number: int, after: int) -> Span:
        """Return what the model wrote for a message, behind a position.

        Where a template writes content behind a call's result, the model has stopped before that.
        """
        before, behind = self.messages[:number], self.messages[number + 1 :]
        found: list[Span] = []
        for others in _in_its_place(self.messages[number]):
            try:
                texts = [self.render([*before, x, *behind], False, {})[0] for x in others]
            except ChatError:  # a result without its call, say
                continue
            if texts[0] == texts[1]:
                continue
            start = self._start(number, after, len(common_prefix([*texts, self.text])))
            left = len(common_suffix([*texts, self.text]))
            closings = self._closings(with_calls="tool_calls" in others[0])
            end, is_stop = self._turn_end(closings, max(start, len(self.text) - left))
            found.append(Span(number, start, end))
            if is_stop:
                return found[-1]
        if not found:
            path = f"messages[{number}]"
            raise ChatError([Problem("the template shows nothing of it", path=path)])
        return found[0]

    @property
    def _stops(self) -> list[str]:
        return [stop for stop in map(trimmed, stop_strings(self.spec)) if stop]

    def _start(self, number: int, after: int, at: int) -> int:
        """Return where the model began to write: behind what its prompt holds of the turn."""
        header = self.spec.turn.header
        since = max(after, self._behind_question(number))
        begun = self.text.rfind(header, since, at) if header.strip() else -1
        between = self.text[begun + len(header) : at]
        if begun < 0 or any(stop in between for stop in self._stops):  # it is another turn's
            return max(after, at)
        _, prefill = self.render(self.messages[:number], True, {})
        return begun + len(whole_prefix([prefill, self.text[begun : begun + len(prefill) + 9]]))

    def _own_part(self, stop: str) -> str:
        """Return what of a stop string is the turn's: not the header that follows its end."""
        ends = [text for end in self.spec.turn.ends for text in (end.final, end.followed)]
        ends += [*self._closings(with_calls=False), *self._closings(with_calls=True)]
        own = (end for end in map(trimmed, ends) if end and stop.startswith(end))
        return max(own, key=len, default=stop)

    def _closings(self, *, with_calls: bool) -> tuple[str, ...]:
        """Return what the format writes behind the arguments of calls, or behind content."""
        tools = self.spec.tools
        if not with_calls or tools is None:
            return (self.spec.content.end,)
        return (tools.call[-1].text, tools.section_end)

    def _behind_question(self, number: int) -> int:
        """Return where the message before one ends, which may quote the header of turns."""
        if number == 0 or (asked := self.messages[number - 1]).get("role") == ASSISTANT:
            return 0
        before, behind = self.messages[: number - 1], self.messages[number:]
        others = [[*before, {**asked, "content": word}, *behind] for word in _WORDS]
        try:
            texts = [self.render(other, False, {})[0] for other in others]
        except ChatError:
            return 0
        if texts[0] == texts[1]:
            return 0
        return len(self.text) - len(common_suffix([*texts, self.text]))

    def _turn_end(self, closings: Sequence[str], at: int) -> tuple[int, bool]:
        """Return where a part ends, or the turn if that does, too, and whether it does.

        The place may lie within the turn's end, where other turns of the format end otherwise.
        """
        own = map(self._own_part, self._stops)
        found = [(self.text.find(stop, max(0, at - len(stop) + 1)), stop) for stop in own]
        stop_at, stop = min((pair for pair in found if pair[0] >= 0), default=(len(self.text), ""))
        behind = stop_at + len(stop)
        for closing in filter(None, map(trimmed, closings)):
            place = self.text.find(closing, at, min(behind, at + _CLOSERS + len(closing)))
            at = place + len(closing) if place >= 0 else at
        is_stop = bool(stop) and not self.text[at:stop_at].strip(_BRACKETS)
        return (max(at, behind) if is_stop else at), is_stop


def _in_its_place(message: Message) -> Iterator[list[Message]]:
    """Yield pairs of messages that could stand in a message's place.

    They have other calls, other calls beside other content, or no calls.
    """
    calls = message.get("tool_calls")
    if calls and isinstance(calls, Sequence):
        other = [{"tool_calls": [_with_word(call, word) for call in calls]} for word in _WORDS]
        yield [{**message, **calling} for calling in other]
        if message.get("content"):
            beside = zip(other, _WORDS, strict=True)
            yield [{**message, **calling, "content": word} for calling, word in beside]
    yield [{"role": ASSISTANT, "content": word} for word in _WORDS]


def _with_word(call: object, word: str) -> object:
    if not isinstance(call, Mapping):
        return call
    function = call.get("function")
    if isinstance(function, Mapping):
        return {**call, "function": {**function, "arguments": {word: word}}}
    return {**call, "arguments": {word: word}}
