"""Conversations rendered piece by piece: what to add to the text that a model has read already.

Subtracting one rendering from the next is not enough. A template may end the last message in a way
of its own, drop earlier reasoning, put tools before the last question, or trim. So a conversation
remembers the text it gave out and compares it with each new rendering; and of a message that may
still be rendered otherwise it first gives only what stays, whatever follows.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from turnspec.analysis.text import common_prefix, whole_prefix
from turnspec.chat.errors import ChatError, checked
from turnspec.chat.form import ASSISTANT, TOOL, USER
from turnspec.chat.messages import read_messages

if TYPE_CHECKING:
    from turnspec.chat.request import Prompt

_Message = Mapping[str, object]
#: Texts that no template has; messages with them show what stays when others follow.
_NEXT = ("nextqa", "nextqz")
#: Nine letters and digits: some templates accept no other length.
_NEXT_ID = "nextqa001"
#: How much of a text is quoted where it changed.
_QUOTED = 24
#: How long a marker is at most.
_WINDOW = 200


@dataclass(frozen=True, slots=True)
class Increment:
    """How the text of a conversation went on.

    The first ``kept`` characters of the text so far stay, ``dropped`` characters behind them don't
    hold any longer, and ``text`` is what follows. Where something was dropped, ``reason`` says
    which message is rendered otherwise now.
    """

    kept: int
    text: str
    dropped: int = 0
    reason: str = ""

    @property
    def appended(self) -> bool:
        """Whether the text so far is a prefix of the new one, so that nothing is read again."""
        return self.dropped == 0


class Conversation:
    r"""Renders a growing conversation and says what each step adds to the text.

    The time stands still in it, so that a template that writes the date doesn't change its
    beginning at midnight. ``text`` is what was given out so far: all increments put together.
    ``last_prompt`` is the whole prompt that `prompt` gave last, for the parser of its answer.

    Example:
        >>> conversation = chat.conversation()
        >>> conversation.add({"role": "user", "content": "Hello!"}).text
        '<|im_start|>user\nHello!<|im_end|>\n<|im_start|>'
        >>> conversation.prompt().text
        'assistant\n'
    """

    def __init__(
        self,
        render: Callable[..., Prompt],
        *,
        tools: Sequence[_Message] = (),
        thinking: bool | None = None,
        variables: Mapping[str, object] | None = None,
        now: datetime.datetime | None = None,
    ) -> None:
        """Take `ChatTemplate.render`, and the options that hold for the whole conversation."""
        now = now or datetime.datetime.now()
        self._render = partial(render, tools=tools, thinking=thinking, variables=variables, now=now)
        self._messages: list[_Message] = []
        self._ends: list[int] = []  # where each message's text ended when it was given
        self.text = ""
        self.last_prompt: Prompt | None = None

    @property
    def messages(self) -> tuple[_Message, ...]:
        """The messages so far."""
        return tuple(self._messages)

    def add(self, message: _Message) -> Increment:
        """Add a message; the increment holds what stays of it, whatever message follows.

        Raises:
            ChatError: it is in no usual form.
        """
        checked(read_messages([*self._messages, message]))
        self._messages.append(message)
        increment = self._go_on(self._settled())
        self._ends.append(len(self.text))
        return increment

    def prompt(self) -> Increment:
        """Render all messages with the generation prompt.

        Afterwards `text` is the whole prompt, to the character.

        Raises:
            ChatError: the template refuses the messages.
        """
        prompt = self.last_prompt = self._render(self._messages)
        increment = self._go_on(prompt.text, whole=True)
        self._ends[-1:] = [len(prompt.text) - len(prompt.prefill)]  # nothing is held back now
        return increment

    def answered(self, message: _Message, written: str) -> None:
        """Take a model's answer: the message that was parsed, and the text that it wrote.

        The model has read its own text already, so the next increment is compared with it.
        """
        self._messages.append(message)
        self.text += written
        self._ends.append(len(self.text))

    def _settled(self) -> str:
        """Return the beginning that all renderings share, without and with one more message."""
        texts = list(self._renderings())
        if not texts:
            return self.text
        shared = common_prefix(texts)
        # Only around the end can a marker be cut, and the texts may be long.
        start = max(0, len(shared) - _WINDOW)
        around = [text[start : len(shared) + _WINDOW] for text in texts]
        return shared[:start] + whole_prefix(around)

    def _renderings(self) -> Iterator[str]:
        """Yield what the messages are rendered as: alone, followed by each kind, prompted."""
        for more in ([], *_followers(self._messages[-1].get("role"))):
            with suppress(ChatError):  # not every template takes every message in every place
                yield self._render([*self._messages, *more], add_generation_prompt=False).text
        with suppress(ChatError):
            yield self._render(self._messages).text

    def _go_on(self, target: str, *, whole: bool = False) -> Increment:
        """Move the text on to ``target``, which may be shorter unless it is the whole."""
        kept = len(common_prefix([self.text, target]))
        if kept == len(target) and not whole:  # what was given already goes further
            return Increment(len(self.text), "")
        dropped = self.text[kept:]
        reason = self._reason(kept, dropped, target[kept:]) if dropped else ""
        self.text = target
        self._ends = [min(end, len(target)) for end in self._ends]
        return Increment(kept, target[kept:], len(dropped), reason)

    def _reason(self, kept: int, dropped: str, text: str) -> str:
        """Say which message is rendered otherwise now."""
        number = next((i for i, end in enumerate(self._ends) if end > kept), len(self._ends))
        role = self._messages[number].get("role") if number < len(self._messages) else None
        where = f"message {number} ({role})" if role else "the generation prompt"
        was, now = dropped[:_QUOTED], text[:_QUOTED]
        return f"{where} is rendered otherwise now: {was!r} became {now!r}"


def _followers(role: object) -> Iterator[list[_Message]]:
    """Yield what may follow a message of that role, each kind in two wordings.

    What both wordings share holds nothing of either.
    """
    for word in _NEXT:
        yield [{"role": USER, "content": word}]
        yield [{"role": ASSISTANT, "content": word}]
        if role in (ASSISTANT, TOOL):
            yield [{"role": TOOL, "content": word}]
        if role == USER:
            call = {"id": _NEXT_ID, "function": {"name": word, "arguments": {word: word}}}
            yield [{"role": ASSISTANT, "content": None, "tool_calls": [call]}]
