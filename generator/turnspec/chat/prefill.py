"""The part of the assistant's turn that a prompt holds: a header, a message being continued."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from turnspec.analysis.probes import CONTENT, REASONING
from turnspec.chat.messages import Turn
from turnspec.chat.prepared import in_context
from turnspec.spec.message import Message
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem
from turnspec.spec.words import ReasoningMode
from turnspec.verification.turns import written_input


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
