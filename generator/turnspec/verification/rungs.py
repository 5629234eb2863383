"""Rungs 0, 1, 1b and 2 of the ladder: prediction, round trip, and chunking.

Every rung returns counts and its first failure; none of them raises.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

from turnspec.analysis.thinking import PromptState
from turnspec.codegen.loading import FormatModule
from turnspec.codegen.writer import as_rendered, write_turn
from turnspec.rendering.conversation import tool_definitions
from turnspec.spec.message import Call, Message
from turnspec.spec.model import Part, ReasoningMode, Slot, SlotKind, Spec, Subject, Verdict
from turnspec.spec.results import RungResult
from turnspec.verification.messages import format_markers, sample_messages
from turnspec.verification.random_messages import messages
from turnspec.verification.turns import (
    ParserInput,
    Renderer,
    expected_message,
    is_ambiguous,
    never_renders_calls,
    prompt_leaves,
    written_input,
)

#: Random messages per template unless told otherwise.
DEFAULT_MESSAGES = 50

#: The longest failure that is kept, in characters.
_EXAMPLE_LENGTH = 300


@dataclass(slots=True)
class _Tally:
    """Counts checks and keeps the first failure."""

    passed: int = 0
    failed: int = 0
    example: str = ""
    refused: int = 0
    ambiguous: int = 0

    def add(self, fault: str) -> None:
        """Count one check; an empty fault is a pass."""
        if not fault:
            self.passed += 1
            return
        self.failed += 1
        self.example = self.example or " ".join(fault.split())[:_EXAMPLE_LENGTH]

    def result(self, note: str = "") -> RungResult:
        """Return the counts."""
        counts = {
            "refused by the template": self.refused,
            "ambiguous by the spec": self.ambiguous,
        }
        notes = [f"{count} messages {what}" for what, count in counts.items() if count]
        return RungResult(self.passed, self.failed, self.example, note or "; ".join(notes))


def predict(spec: Spec, renderer: Renderer) -> RungResult:
    """Rung 0: what the writer writes is what the template renders, to the character."""
    tally = _Tally()
    before: str | None = None
    for message in sample_messages(spec):
        if not _shows_anything(spec, message):
            continue
        turn, _ = renderer.turn(message)
        if turn is None:
            tally.refused += 1
            continue
        written = write_turn(spec, message)
        lead = turn.removesuffix(written)
        before = lead if before is None else before
        fits = turn.endswith(written) and lead == before
        tally.add("" if fits else f"rendered {turn!r}, written {written!r}")
    return tally.result()


def _shows_anything(spec: Spec, message: Message) -> bool:
    """Tell whether a message is left at all; some templates skip one of which nothing is."""
    shown = as_rendered(spec, message)
    return bool(shown.reasoning or shown.content or shown.calls)


def round_trip(spec: Spec, renderer: Renderer, module: FormatModule, count: int) -> RungResult:
    """Rung 1: random messages, rendered by the template, come back from the parser."""
    tally = _Tally()

    def check(message: Message) -> None:
        if not _shows_anything(spec, message):
            return
        if is_ambiguous(spec, message):
            tally.ambiguous += 1
            return
        turn, _ = renderer.turn(message)
        if turn is None:
            tally.refused += 1
            return
        given_input = renderer.parser_input(turn)
        if given_input is None:
            tally.add(f"no header in {turn!r}")
            return
        shown = as_rendered(spec, message)
        tally.add(_compare(spec, module, shown, given_input, thinking=True))

    _for_random_messages(spec, count, check)
    return tally.result()


def round_trip_written(spec: Spec, module: FormatModule, count: int) -> RungResult:
    """Rung 1b: the writer's turns, after each real generation prompt, come back."""
    tally = _Tally()

    def check(message: Message) -> None:
        for thinking in (True, False):
            given_input = written_input(spec, message, thinking=thinking)
            if given_input is None:
                tally.refused += 1
                continue
            shown = expected_message(spec, _with_prompt(spec, message, thinking))
            tally.add(_compare(spec, module, shown, given_input, thinking=thinking))

    _for_random_messages(spec, count, check)
    return replace(tally.result(), note="")


def chunking(spec: Spec, module: FormatModule) -> RungResult:
    """Rung 2: every split of sample turns gives the same message; no cut raises or leaks."""
    tally = _Tally()
    markers = format_markers(spec)
    for message in _full_messages(spec):
        given_input = written_input(spec, message, thinking=True)
        if given_input is None:
            continue
        options: dict[str, Any] = {
            "tools": tool_definitions(message.calls),
            "prefill": given_input.prefill,
        }
        whole = module.parse(given_input.text, **options)
        text = given_input.text
        splits = [[text[:cut], text[cut:]] for cut in range(1, len(text))]
        for chunks in [*splits, list(text), _in_threes(text)]:
            tally.add(_same(module, chunks, options, whole))
        for cut in range(len(text)):
            tally.add(_cut_off(module, text[:cut], options, markers))
    return tally.result()


def _for_random_messages(spec: Spec, count: int, check: Callable[[Message], None]) -> None:
    """Run a check on random messages, the same ones in every run; it must not raise."""

    @seed(2026)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(messages(spec))
    def run(message: Message) -> None:
        check(message)

    run()


def _compare(
    spec: Spec, module: FormatModule, expected: Message, given_input: ParserInput, *, thinking: bool
) -> str:
    """Return how the parsed message differs from what its turn shows; "" where it doesn't."""
    parsed = module.parse(
        given_input.text,
        tools=tool_definitions(expected.calls),
        enable_thinking=thinking,
        prefill=given_input.prefill,
    )
    pairs = [
        ("reasoning", expected.reasoning.strip(), parsed.reasoning_content),
        ("content", expected.content.strip(), parsed.content),
        ("problems", "", "; ".join(problem.message for problem in parsed.problems)),
        ("calls", _plain(spec, expected.calls), _parsed(spec, parsed.tool_calls)),
    ]
    for name, wanted, found in pairs:
        if wanted != found:
            return f"{name}: wanted {wanted!r}, got {found!r}, from {given_input.text!r}"
    return ""


def _plain(spec: Spec, calls: Sequence[Call]) -> list[tuple[str, str, str]]:
    trims = _trims_strings(spec)
    return [
        (call.name, _sorted_json(call.arguments, trims), call.id if _shows_id(spec) else "")
        for call in calls
    ]


def _parsed(spec: Spec, calls: Iterable[object]) -> list[tuple[str, str, str]]:
    found: list[tuple[str, str, str]] = []
    for call in calls:
        name, text, complete = (getattr(call, key) for key in ("name", "arguments", "complete"))
        try:
            arguments = _sorted_json(json.loads(text), _trims_strings(spec))
        except ValueError:
            arguments = f"not JSON: {text}"
        identifier = getattr(call, "id", "") if _shows_id(spec) else ""
        found.append((name, arguments if complete else f"incomplete: {arguments}", identifier))
    return found


def _sorted_json(value: object, trims: bool) -> str:
    if trims and isinstance(value, dict):
        value = {k: v.strip() if isinstance(v, str) else v for k, v in value.items()}
    return json.dumps(value, sort_keys=True)


def _trims_strings(spec: Spec) -> bool:
    return any(
        limit.subject is Subject.ARGUMENT_STRING and limit.verdict is Verdict.TRIMS
        for limit in spec.limits
    )


def _shows_id(spec: Spec) -> bool:
    return spec.tools is not None and Slot(SlotKind.ID) in spec.tools.call


def _with_prompt(spec: Spec, message: Message, thinking: bool) -> Message:
    """Return the message without reasoning where the prompt has closed it."""
    closed = prompt_leaves(spec, thinking=thinking) is PromptState.CLOSED
    has_reasoning = spec.reasoning.mode is not ReasoningMode.NONE
    return replace(message, reasoning="") if closed or not has_reasoning else message


def _full_messages(spec: Spec) -> list[Message]:
    """Return the sample messages that show most: all parts, and three calls."""
    samples = list(sample_messages(spec))
    return [samples[-1], samples[-2]] if spec.tools else samples[-1:]


def _in_threes(text: str) -> list[str]:
    return [text[start : start + 3] for start in range(0, len(text), 3)]


def _same(
    module: FormatModule, chunks: Sequence[str], options: dict[str, Any], whole: object
) -> str:
    parser = module.Parser(**options)
    try:
        for chunk in chunks:
            parser.feed(chunk)
        parser.finish()
    except Exception as error:  # a parser never raises: that it did is the result
        return f"{type(error).__name__}: {error}"
    if parser.message == whole:
        return ""
    return f"split {chunks[0]!r}… gives {parser.message!r}, whole {whole!r}"


def _cut_off(module: FormatModule, text: str, options: dict[str, Any], markers: set[str]) -> str:
    try:
        message = module.parse(text, **options)
        texts = [message.content, message.reasoning_content]
        for call in message.tool_calls:
            json.loads(call.arguments)
    except Exception as error:  # a parser never raises: that it did is the result
        return f"cut off after {text[-20:]!r}: {type(error).__name__}: {error}"
    leaked = [marker for marker in markers for shown in texts if marker in shown]
    return f"cut off after {text[-20:]!r}: {leaked[0]!r} leaked" if leaked else ""


def rendered_parts(spec: Spec) -> tuple[Part, ...]:
    """Return the parts that the template itself renders in a turn."""
    shown = {Part.CONTENT}
    if spec.reasoning.field:
        shown.add(Part.REASONING)
    if spec.tools is not None and not never_renders_calls(spec):
        shown.add(Part.CALLS)
    return tuple(part for part in Part if part in shown)
