"""Rungs 0, 1 and 1b of the ladder: prediction, and the round trips of messages.

Every rung returns counts and its shortest failure; none of them raises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.writer import as_rendered, write_turn
from turnspec.spec.conditions import parts_of_message
from turnspec.spec.message import Message
from turnspec.spec.model import Spec, ThinkingState
from turnspec.spec.results import Counterexample, RungResult
from turnspec.spec.words import Part
from turnspec.verification import turns
from turnspec.verification.comparing import Turn, as_meant, as_read, difference
from turnspec.verification.messages import sample_messages
from turnspec.verification.shrinking import smallest
from turnspec.verification.tally import Tally

#: Random messages per template unless told otherwise.
DEFAULT_MESSAGES = 50


#: What came of checking a message: None if it is as it should be, a text why it isn't checked.
Outcome = Counterexample | str | None

_REFUSED = "messages refused by the template"
_AMBIGUOUS = "messages ambiguous by the spec"
_NO_PLACE = "messages that the prompt leaves no place for"
_OTHERWISE = "messages with calls that the model writes otherwise, by an overlay"
_NOTHING_SHOWN = "messages of which the template shows nothing"
_NAMELESS = (
    "the template renders no name for a call, so no parser can know one: say in an overlay, under "
    "the key tools, how the model writes calls"
)


def check_messages(
    given: Iterable[Message], check: Callable[[Message], Outcome], tally: Tally
) -> None:
    """Check messages, and make the smallest one that fails smaller still."""
    failing: list[Message] = []
    for message in given:
        outcome = check(message)
        if isinstance(outcome, str):
            tally.left_out[outcome] += 1
            continue
        tally.add(outcome)
        if outcome is not None:
            failing.append(message)
    if failing:
        first = min(failing, key=lambda message: len(repr(message)))
        found = smallest(first, lambda message: isinstance(check(message), Counterexample))
        outcome = check(found)
        if isinstance(outcome, Counterexample):
            tally.example = outcome


def predict(spec: Spec, renderer: turns.Renderer, given: Sequence[Message] = ()) -> RungResult:
    """Rung 0: what the writer writes is what the template renders, to the character."""
    lead: str | None = None
    nameless = False

    def check(message: Message) -> Outcome:
        nonlocal lead, nameless
        if _writes_otherwise(spec, renderer, message):
            return _OTHERWISE
        if turns.is_within_calls(spec, message):
            return _AMBIGUOUS
        turn, _ = renderer.turn(message)
        if not _shows_anything(spec, message):
            shown = [text for text in _texts(message) if turn is not None and text in turn]
            wanted = "the template shows nothing of it"
            return Counterexample(shown[0], wanted, turn or "") if shown else _NOTHING_SHOWN
        if turn is None:
            return _REFUSED
        written = write_turn(spec, message)
        if turn.endswith(written):
            before = turn.removesuffix(written)
            lead = before if lead is None else lead
            if lead == before or (spec.turn.header.strip() and lead.split() == before.split()):
                return None
        nameless = nameless or (spec.tools is None and _is_nameless(renderer, message))
        return Counterexample(f"{lead or ''}{written}", "the template renders it so", turn)

    tally = Tally()
    check_messages([*sample_messages(spec), *given], check, tally)
    found = tally.result("the template renders none of the messages")
    note = "; ".join(filter(None, (_NAMELESS, found.note)))
    return replace(found, note=note) if nameless else found


def _writes_otherwise(spec: Spec, renderer: turns.Renderer, message: Message) -> bool:
    """Tell whether a message's calls are written by an overlay, and rendered in another way."""
    if not message.calls:
        return False
    is_told = turns.never_renders_calls(spec) and _is_nameless(renderer, message)
    return turns.writes_calls_otherwise(spec) or is_told


def _is_nameless(renderer: turns.Renderer, message: Message) -> bool:
    """Tell whether calls leave something in a turn that is the same whatever they are called."""
    renamed = tuple(replace(call, name=f"{call.name}_") for call in message.calls)
    ways = (message.calls, renamed, ())
    turn, other, bare = (renderer.turn(replace(message, calls=calls))[0] for calls in ways)
    return turn == other and len(turn or "") > len(bare or "")


def _shows_anything(spec: Spec, message: Message) -> bool:
    """Tell whether a message is left at all; some templates skip one of which nothing is."""
    return bool(parts_of_message(as_rendered(spec, message)))


def _texts(message: Message) -> list[str]:
    """Return texts by which it shows that a message is rendered."""
    texts = (message.content, message.reasoning, *(call.name for call in message.calls))
    return [text for text in texts if len(text) > 3]


def round_trip(
    spec: Spec, renderer: turns.Renderer, module: FormatModule, given: Sequence[Message]
) -> RungResult:
    """Rung 1: messages, rendered by the template, come back from the parser."""

    def check(message: Message) -> Outcome:
        if _writes_otherwise(spec, renderer, message):
            return _OTHERWISE
        if not _shows_anything(spec, message):
            return _NOTHING_SHOWN
        if turns.is_ambiguous(spec, message):
            return _AMBIGUOUS
        turn, _ = renderer.turn(message)
        if turn is None:
            return _REFUSED
        shown = as_rendered(spec, message)
        found = renderer.parser_input(turn, shown.calls)
        if found is None:
            return Counterexample(turn, f"the header {spec.turn.header!r}", "no such header")
        return _read_back(spec, module, shown, found)

    tally = Tally()
    check_messages([*sample_messages(spec), *given], check, tally)
    return tally.result("no message is rendered so that it can be read back")


def round_trip_written(spec: Spec, module: FormatModule, given: Sequence[Message]) -> RungResult:
    """Rung 1b: the writer's turns, after each real generation prompt, come back."""

    def check(message: Message, form: Spec, thinking: bool | None) -> Outcome:
        found = turns.written_input(form, message, thinking=thinking)
        if found is None:
            return _NO_PLACE
        shown = turns.expected_behind(form, message, thinking)
        # The parser is to know the prompt by what is asked for; what else may be set it is told.
        given = replace(found, prefill=None) if form is spec else found
        return _read_back(form, module, shown, given)

    tally = Tally()
    for thinking in spec.thinking.choices:
        check_messages(given, partial(check, form=spec, thinking=thinking), tally)
    for state in spec.thinking.others:
        check_messages(given, partial(check, form=_in_state(spec, state), thinking=None), tally)
    return tally.result(turns.no_place(spec, "any message"))


def _in_state(spec: Spec, state: ThinkingState) -> Spec:
    """Return the spec in a state of thinking, which may open reasoning by other marks."""
    known = ((marks.fixed_start, marks.end) for marks in spec.alternatives.marks)
    own = (spec.reasoning.start, spec.reasoning.end)
    opened = ((start, end) for start, end in known if start and state.prompt.endswith(start))
    start, end = next(opened, own)
    reasoning = replace(spec.reasoning, start=start, end=end)
    return replace(spec, thinking=replace(spec.thinking, default=state), reasoning=reasoning)


def _read_back(spec: Spec, module: FormatModule, shown: Message, turn: Turn) -> Outcome:
    return difference(as_meant(spec, shown), as_read(spec, module, turn), turn.text)


def rendered_parts(spec: Spec) -> tuple[Part, ...]:
    """Return the parts that the template itself renders in a turn."""
    shown = {Part.CONTENT}
    if spec.reasoning.field:
        shown.add(Part.REASONING)
    if spec.tools is not None and not turns.never_renders_calls(spec):
        shown.add(Part.CALLS)
    return tuple(part for part in Part if part in shown)
