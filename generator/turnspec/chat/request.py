"""One rendering: from messages that were read to a prompt."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from turnspec.analysis.probes import CONTENT, REASONING
from turnspec.chat.errors import ChatError
from turnspec.chat.form import ASSISTANT
from turnspec.chat.messages import Turn, with_ids, with_text_behind, write_messages
from turnspec.chat.polyfills import Polyfill, polyfilled
from turnspec.chat.prepared import PreparedTemplate, in_context
from turnspec.chat.sources import SpecialTokens
from turnspec.rendering.dialect import JsonObject
from turnspec.spec.message import Message
from turnspec.spec.model import Spec, SwitchWord
from turnspec.spec.problems import Problem
from turnspec.spec.words import ReasoningMode, Switch
from turnspec.verification.turns import written_input


@dataclass(frozen=True, slots=True)
class Prompt:
    """A rendered prompt.

    ``text`` is what the model is given. ``prefill`` is the part of the assistant's turn that it
    holds already, which the parser has to know. ``polyfills`` stand in for what the template
    lacks, ``notes`` say what else was done or assumed.
    """

    text: str
    prefill: str
    polyfills: tuple[Polyfill, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class Request:
    """One rendering on its way: what is to be rendered, and with what."""

    prepared: PreparedTemplate
    turns: list[Turn]
    tools: list[JsonObject]
    variables: dict[str, object]
    now: datetime.datetime
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Connect results with their calls; say which variables the template doesn't read."""
        known = self.prepared.variables
        self.turns = with_ids(self.turns, self.prepared.form)
        for name in self.variables:
            if name not in known:
                shown = ", ".join(known) or "none"
                self.notes.append(f"the template reads no variable {name}; it reads {shown}")

    def take_last(self) -> Turn:
        """Take the message that is to be continued off the conversation."""
        if self.turns[-1].role != ASSISTANT or len(self.turns) < 2:
            message = "isn't an assistant's message behind another one, so it can't be continued"
            raise ChatError([Problem(message, path="messages[-1]")])
        return self.turns.pop()

    def switch(self, *, thinking: bool) -> None:
        """Turn thinking on or off, by variables or by a word at the end of a message."""
        known = self.prepared.spec.thinking
        if known.enabled.variables != known.disabled.variables:
            self.variables = {**known.state(thinking).variables, **self.variables}
            return
        wanted = Switch.ENABLED if thinking else Switch.DISABLED
        for word in known.words:
            if word.switches is wanted and self._say(word):
                return
        if known.enabled.prompt == known.disabled.prompt:
            wanted_word = "on" if thinking else "off"
            self.notes.append(f"nothing turns thinking {wanted_word} in this template")

    def _say(self, word: SwitchWord) -> bool:
        """Put a word at the end of the last message that the template looks into."""
        for number in reversed(range(len(self.turns))):
            turn = self.turns[number]
            if turn.role in word.roles:
                self.turns[number] = with_text_behind(turn, word.word)
                return True
        return False

    def render(self, *, add_generation_prompt: bool) -> Prompt:
        """Render with polyfills, in the template's form."""
        prepared = self.prepared
        turns, tools, applied = polyfilled(
            self.turns, self.tools, prepared.form, lambda: prepared.answer_spec
        )
        messages, problems = write_messages(turns, prepared.form)
        if problems:
            raise ChatError(problems)

        def rendered(*, prompted: bool) -> str:
            return self.prepared.render(
                messages,
                tools,
                add_generation_prompt=prompted,
                variables=self.variables,
                now=self.now,
            )

        text = rendered(prompted=add_generation_prompt)
        prefill = ""
        if add_generation_prompt:
            prefill = prompt_part(self._spec(), text, lambda: rendered(prompted=False))
        return Prompt(text, prefill, applied, tuple(self.notes))

    def _spec(self) -> Spec | None:
        """Return the spec; a template that can't be analysed can be rendered all the same."""
        try:
            return self.prepared.spec
        except ChatError as error:
            self.notes.append(f"its answers can't be read: {error}")
            return None

    def continued(self, prompt: Prompt, last: Turn) -> Prompt:
        """Return a prompt with the beginning of the answer behind it."""
        begun = continuation(self.prepared.spec, prompt.prefill, last)
        if isinstance(begun, Problem):
            raise ChatError([begun])
        return replace(prompt, text=prompt.text + begun, prefill=prompt.prefill + begun)


def without_added(prompt: Prompt, tokens: SpecialTokens) -> Prompt:
    """Leave out the tokens that the tokenizer adds itself, and a second one at the beginning."""
    text, bos, eos = prompt.text, tokens.bos or "", tokens.eos or ""
    count = 0
    while bos and text.startswith(bos * (count + 1)):
        count += 1
    kept = 0 if tokens.adds_bos else min(count, 1)
    text = text[len(bos) * (count - kept) :]
    if tokens.adds_eos and eos:
        text = text.removesuffix(eos)
    return replace(prompt, text=text)


def prompt_part(spec: Spec | None, text: str, bare_prompt: Callable[[], str]) -> str:
    """Return the part of the turn at the end of a prompt, "" where it holds none.

    ``bare_prompt`` gives the same prompt without the generation prompt, and is only asked for
    where the text ends with none that the spec, if there is one, knows.
    """
    known = spec.thinking.prompts if spec else ()
    longest = max((prompt for prompt in known if text.endswith(prompt)), key=len, default="")
    if longest:
        return longest
    bare = bare_prompt()
    if not text.startswith(bare):
        return ""
    # The header may be what the last message ends with; one further back is an earlier turn's.
    header = spec.turn.header if spec else ""
    start = text.rfind(header) if header else -1
    return text[start if start >= 0 and start + len(header) >= len(bare) else len(bare) :]


def continuation(spec: Spec, prefill: str, turn: Turn) -> str | Problem:
    """Return what stands between a prompt and the place where an unfinished message goes on.

    ``prefill`` is the part of the turn that the prompt holds. The text that is continued is the
    content, or the reasoning where there is no content yet.
    """
    place = "messages[-1]"
    if turn.calls:
        return Problem("a message with calls can't be continued", path=place)
    if spec.reasoning.mode is ReasoningMode.NONE:  # as in any earlier message, it isn't shown
        turn = replace(turn, reasoning="")
    if not turn.text and not turn.reasoning:
        return ""
    # Words in the place of the texts: what is continued must come out to the last white space.
    message = Message(CONTENT if turn.text else "", REASONING if turn.reasoning else "")
    given = written_input(in_context(spec, prefill), message, thinking=None)
    written = given.text if given else (CONTENT if turn.text else "")
    last = CONTENT if turn.text else REASONING
    if last not in written or (turn.reasoning and REASONING not in written):
        return Problem("the prompt leaves no place for the message's reasoning", path=place)
    cut = written[: written.rindex(last)]
    return cut.replace(REASONING, turn.reasoning) + (turn.text or turn.reasoning)
