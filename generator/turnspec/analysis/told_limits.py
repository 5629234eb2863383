"""What is told of a format: which turns can't be read for certain, and why."""

from __future__ import annotations

from collections.abc import Iterator

from turnspec.analysis.facts import Facts
from turnspec.analysis.layout import Layout
from turnspec.analysis.limits import limit
from turnspec.analysis.modes import marks_of_prompt
from turnspec.analysis.probes import probe_message
from turnspec.analysis.thinking import Setting
from turnspec.spec.characters import left_open
from turnspec.spec.model import Limit, Reasoning, Spec
from turnspec.spec.prompt_state import prompt_state
from turnspec.spec.visible import shortened
from turnspec.spec.words import Condition, Part, ReasoningMode, Subject, Verdict


def _told(subject: Subject, reason: str) -> Limit:
    return limit(subject, Verdict.TOLD, reason)


#: Reasoning is part of the format, but the template strips it from every message.
NEVER_RENDERED = limit(Subject.REASONING, Verdict.DROPS, "never rendered in a message")

#: Reasoning has no opening marker, so a turn that has no closing one may be all reasoning.
UNMARKED = Limit(
    Subject.REASONING,
    Verdict.AMBIGUOUS,
    Condition.WITHOUT_REASONING,
    "no marker tells a turn without reasoning from unfinished reasoning",
)

#: A prompt opens reasoning, and nothing in the template says what closes it.
ASSUMED_END = _told(
    Subject.REASONING,
    "a prompt opens it and nothing closes it; its end is assumed, an overlay can say it",
)

#: Where reasoning ends nobody could tell.
READ_AS_CONTENT = _told(
    Subject.REASONING,
    "nothing but white space marks its end, so it is read as content; an overlay can say more",
)

#: Reasoning is stripped up to a marker. Read from the turn's start it would be all of most turns.
_UNOPENED = (
    "the template strips text up to {!r} and nothing shows what opens that, so it is read as "
    "content; an overlay can say more"
)

#: The prompt's own marks are no part of what the model writes.
_PROMPTED = "the prompt ends in {!r}, which no turn shows; what the model writes begins behind it"

#: Models end with what ends a conversation, so behind it they write nothing.
_TAILED = "every prompt ends in {!r}, too, which has to be left out before the model goes on"

#: What a prompt says of reasoning depends on whether tools are given.
PROMPTED_BY_TOOLS = _told(
    Subject.REASONING,
    "without tools the prompt leaves it open or closed otherwise; the prefill has to say it then",
)

#: A call's name is what its id says, which only the tools' names tell.
NAMED_BY_ID = limit(
    Subject.CALL_ID,
    Verdict.AMBIGUOUS,
    "a call shows its id alone; its name is that of the tool that stands in it, or all of it",
)

#: A message with calls may want something that no probe has, or the model calls nothing.
_REFUSED = "a message with some is refused: {}"
_LONGEST_ERROR = 120  # characters

#: Nothing stands before a call's name.
SHOWN_BY_NAME = _told(
    Subject.CALLS,
    "a call begins with its name, and is one only where the parser is given the tools",
)

#: Each call holds what other templates render before all calls.
_WITHIN = "it stands within each call; if that is an object, a parser tells it as an unknown field"
WITHIN_CALLS = (
    (Part.REASONING, _told(Subject.REASONING, _WITHIN)),
    (Part.CONTENT, Limit(Subject.CONTENT, Verdict.AMBIGUOUS, Condition.WITH_CALLS, _WITHIN)),
)

#: A template forgets to close what each of its calls opens.
LEFT_OPEN = _told(
    Subject.CALLS,
    "a call opens a bracket that nothing closes; calls that close it are read as well",
)


def told_of_findings(facts: Facts, layout: Layout, reasoning: Reasoning) -> Iterator[Limit]:
    """Yield what the findings tell; ``layout`` is the spec's, and so is ``reasoning``."""
    yield from _told_of_reasoning(facts, layout, reasoning)
    yield from (limit for part, limit in WITHIN_CALLS if part in facts.within_calls)
    variables = (it for it in (facts.default, facts.on, facts.off) if not it.by_word)
    if any(_is_decided_by_tools(setting, facts, layout) for setting in variables):
        yield PROMPTED_BY_TOOLS
    if tail := facts.chat.dialect.tail:
        yield _told(Subject.CONTENT, _TAILED.format(tail))
    if error := _refusal_of_calls(facts):
        yield _told(Subject.CALLS, _REFUSED.format(error))
    if facts.chat.dialect.named_ids and layout.calls is not None:
        yield NAMED_BY_ID


def _is_decided_by_tools(setting: Setting, facts: Facts, layout: Layout) -> bool:
    """Tell whether a setting's prompt leaves reasoning otherwise where no tools are given."""
    rests = map(layout.prompt_rest, (setting.prompt, setting.bare))
    start, end = facts.reasoning.start, facts.reasoning.end
    return len({prompt_state(rest, start, end) for rest in rests}) > 1


def _refusal_of_calls(facts: Facts) -> str:
    """Return why a template takes no message with calls, be there content or not; "" if it does."""
    beside = (probe_message(calls=1), probe_message(content=True, calls=1))
    shown = [facts.chat.turn(message) for message in beside * (facts.layout.calls is None)]
    is_refused = bool(shown) and all(it.text is None for it in shown)
    return shortened(shown[0].error, _LONGEST_ERROR) if is_refused else ""


def _told_of_reasoning(facts: Facts, layout: Layout, reasoning: Reasoning) -> Iterator[Limit]:
    is_shown = Part.REASONING in layout.order
    if reasoning.mode is not ReasoningMode.NONE and not is_shown:
        yield NEVER_RENDERED
        if reasoning.end.strip() not in facts.chat.source:
            yield ASSUMED_END
    is_open = reasoning.mode is ReasoningMode.DELIMITER and is_shown and not _closes_absent(layout)
    if is_open and not layout.content.start.strip():
        yield UNMARKED
    if facts.is_unended:
        yield READ_AS_CONTENT
    if facts.unopened and reasoning.mode is ReasoningMode.NONE:
        yield _told(Subject.REASONING, _UNOPENED.format(facts.unopened))


def _closes_absent(layout: Layout) -> bool:
    """Tell whether turns without reasoning begin with what closes it."""
    starts = [
        join.text
        for join in layout.joins
        if join.left is Part.START and join.right is not Part.REASONING
    ]
    return bool(starts) and all(layout.reasoning.end.strip() in text for text in starts)


def told_of_spec(spec: Spec) -> Iterator[Limit]:
    """Yield what follows from the spec itself."""
    if spec.named_lines:
        yield SHOWN_BY_NAME
    if own := marks_of_prompt(spec, spec.thinking.default.prompt):
        yield _told(Subject.CONTENT, _PROMPTED.format(own))
    if spec.tools is not None and left_open(spec.tools):
        yield LEFT_OPEN
