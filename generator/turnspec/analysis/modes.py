"""The modes of reasoning and content, read off what the comparisons found."""

from __future__ import annotations

from collections.abc import Sequence

from turnspec.analysis.text import markers
from turnspec.spec.model import Join, Limit, Spec
from turnspec.spec.prompt_state import PromptState
from turnspec.spec.words import Condition, ContentMode, Part, ReasoningMode, Subject, Verdict


def reasoning_mode(
    start: str, end: str, on: PromptState, off_prompt: str, limits: Sequence[Limit], *, shown: bool
) -> ReasoningMode:
    """Return the mode of reasoning between two markers.

    ``on`` is where the generation prompt leaves reasoning while thinking is on, ``off_prompt``
    what it adds after the header while thinking is off. Where reasoning is ``shown``, what leads to
    the next part ends it at least.
    """
    if not start.strip():
        return ReasoningMode.DELIMITER if end.strip() or shown else ReasoningMode.NONE
    if on is PromptState.OPEN:
        # Behind the start, as that may hold the end: "```thinking" and "```".
        _, opened, behind = off_prompt.partition(start.strip())
        is_closed = opened and end.strip() in behind
        return ReasoningMode.FORCED_CLOSED if is_closed else ReasoningMode.FORCED_OPEN
    only_with_calls = any(
        limit.subject is Subject.REASONING
        and limit.verdict is Verdict.DROPS
        and limit.when is Condition.WITHOUT_CALLS
        for limit in limits
    )
    return ReasoningMode.TOOLS_ONLY if only_with_calls else ReasoningMode.TAG_BASED


def content_mode(start: str, end: str, joins: Sequence[Join], header: str) -> ContentMode:
    """Return the mode of content, from its own marks and what stands between it and reasoning.

    What stands there marks reasoning's end where nothing else does. It is no wrapping if it stands
    before any content without reasoning, too, or if it is another message's header.
    """
    shown = [join for join in joins if join.right is Part.CONTENT]
    before = {
        (join.left, join.text.strip())
        for join in shown
        if join.left is not Part.START or join.when is Condition.ALWAYS
    }
    behind = {text for left, text in before if left is Part.REASONING}
    only_behind = behind - {text for left, text in before if left is Part.START}
    only_behind -= {"", header.strip()}
    if not start.strip() and only_behind and end.strip():
        return ContentMode.WRAPPED_WITH_REASONING
    return ContentMode.ALWAYS_WRAPPED if (start + end).strip() else ContentMode.PLAIN


def marks_of_prompt(spec: Spec, prompt: str) -> str:
    """Return the markers that are all a prompt adds to the header, if no turn shows any of them.

    They open no reasoning, so what the model writes begins behind them.
    """
    rest = prompt.removeprefix(spec.turn.header)
    found = markers(rest)
    shown = [join.text for join in spec.turn.joins] + [spec.content.start, spec.content.end]
    if spec.tools is not None:
        shown += [spec.tools.section_start, *(piece.text for piece in spec.tools.call)]
    is_all = prompt.startswith(spec.turn.header) and "".join(found) == "".join(rest.split())
    is_known = any(marker in text for marker in found for text in shown)
    is_own = is_all and not is_known and spec.reasoning.mode is ReasoningMode.NONE
    return rest.strip() if is_own else ""
