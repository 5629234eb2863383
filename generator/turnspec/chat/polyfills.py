"""What is done to messages where a template lacks something that they need.

Each polyfill is a function from turns to turns; `polyfilled` applies those that are needed, in an
order in which the later ones see what the earlier ones made, and says which it applied.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum

from turnspec.chat.form import ASSISTANT, DEVELOPER, SYSTEM, TOOL, USER, MessageForm
from turnspec.chat.messages import Turn, with_text_before
from turnspec.chat.tool_syntax import calls_text, tools_description
from turnspec.rendering.dialect import AbsentContent, JsonObject
from turnspec.spec.model import Spec


class Polyfill(StrEnum):
    """What stands in for something that a template lacks."""

    TOOLS = "tools described in the system message"
    CALLS = "calls written into the content"
    RESULTS = "tool results as user messages"
    SINGLE_CALLS = "one message for each of several calls"
    SYSTEM = "the system message merged into the first user message"
    ALTERNATION = "messages of one role in a row merged"
    NULL_CONTENT = "null content as an empty text"


def missing_features(form: MessageForm) -> tuple[Polyfill, ...]:
    """Return the polyfills that a template of this form may need."""
    can = form.capabilities
    needed = {
        Polyfill.TOOLS: not can.tools,
        Polyfill.CALLS: not can.tool_calls,
        Polyfill.RESULTS: form.result_role is None,
        Polyfill.SINGLE_CALLS: can.tool_calls and not can.parallel_calls,
        Polyfill.SYSTEM: not can.system_role,
        Polyfill.ALTERNATION: can.roles_alternate,
        Polyfill.NULL_CONTENT: can.tool_calls
        and form.dialect.absent_content is AbsentContent.EMPTY,
    }
    return tuple(polyfill for polyfill, is_needed in needed.items() if is_needed)


def polyfilled(
    turns: Sequence[Turn], tools: Sequence[JsonObject], form: MessageForm, spec: Callable[[], Spec]
) -> tuple[list[Turn], Sequence[JsonObject], tuple[Polyfill, ...]]:
    """Apply what the messages need; ``spec``, with a syntax for calls, is only asked for then.

    Returns turns as the template can take them, tools that are still to be given, what was applied.
    """
    missing = missing_features(form)
    given = list(turns)
    applied: list[Polyfill] = []
    steps: dict[Polyfill, Callable[[list[Turn]], list[Turn]]] = {
        Polyfill.TOOLS: lambda given: _described(given, tools, form, spec),
        Polyfill.RESULTS: lambda given: [*map(_result_as_user, given)],
        Polyfill.CALLS: lambda given: [_calls_as_content(turn, spec) for turn in given],
        Polyfill.SINGLE_CALLS: _single_calls,
        Polyfill.SYSTEM: _system_in_user,
        Polyfill.ALTERNATION: _alternating,
    }
    for polyfill, step in steps.items():
        changed = step(given) if polyfill in missing else given
        if changed != given:
            given, applied = changed, [*applied, polyfill]
    return given, () if Polyfill.TOOLS in missing else tools, tuple(applied)


def _described(
    turns: list[Turn], tools: Sequence[JsonObject], form: MessageForm, spec: Callable[[], Spec]
) -> list[Turn]:
    if not tools:
        return turns
    text = tools_description(spec(), tools, form.capabilities)
    if turns[0].role in (SYSTEM, DEVELOPER):
        first = replace(turns[0], content=f"{turns[0].text}\n\n{text}".strip())
        return [first, *turns[1:]]
    return [Turn(SYSTEM, text), *turns]


def _result_as_user(turn: Turn) -> Turn:
    if turn.role != TOOL:
        return turn
    name = turn.extra.get("name")
    said = f"Result of {name}:" if name else "Result of the tool:"
    return with_text_before(Turn(USER, turn.content), said, "\n")


def _calls_as_content(turn: Turn, spec: Callable[[], Spec]) -> Turn:
    if not turn.calls:
        return turn
    text = "\n".join(filter(None, (turn.text, calls_text(spec(), turn.calls))))
    return replace(turn, content=text, calls=())


def _single_calls(turns: list[Turn]) -> list[Turn]:
    """Give each of several calls a message of its own, with its result behind it."""
    done: list[Turn] = []
    position = 0
    while position < len(turns):
        turn = turns[position]
        position += 1
        if len(turn.calls) < 2:
            done.append(turn)
            continue
        results: list[Turn] = []
        while position < len(turns) and turns[position].role == TOOL:
            results.append(turns[position])
            position += 1
        done += _split(turn, results)
    return done


def _split(turn: Turn, results: list[Turn]) -> list[Turn]:
    done: list[Turn] = []
    for number, call in enumerate(turn.calls):
        first = replace(turn, calls=(call,))
        done.append(first if not number else Turn(ASSISTANT, calls=(call,)))
        named = [result for result in results if result.extra.get("tool_call_id") == call.id]
        answers = named[:1] if call.id and named else results[:1]
        for answer in answers:
            results.remove(answer)
            done.append(answer)
    return done + results


def _system_in_user(turns: list[Turn]) -> list[Turn]:
    guides = [turn for turn in turns if turn.role in (SYSTEM, DEVELOPER)]
    others = [turn for turn in turns if turn.role not in (SYSTEM, DEVELOPER)]
    if not guides:
        return turns
    text = "\n\n".join(turn.text for turn in guides if turn.text)
    for number, turn in enumerate(others):
        if turn.role == USER:
            others[number] = with_text_before(turn, text)
            return others
    return [Turn(USER, text), *others]


def _alternating(turns: list[Turn]) -> list[Turn]:
    """Merge neighbours of one role that is the user's or, without calls, the assistant's."""
    done: list[Turn] = []
    for turn in turns:
        last = done[-1] if done else None
        mergeable = turn.role == USER or (turn.role == ASSISTANT and not turn.calls)
        if last is None or last.role != turn.role or not mergeable or last.calls:
            done.append(turn)
        else:
            done[-1] = with_text_before(turn, last.text)
    return done
