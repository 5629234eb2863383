"""Cases of a format, drawn by a seed: turns that keep to it, and such as deviate from it.

A message is what was written, never what a parser reads: of a clean case it was drawn before its
turn was written, and a deviation says itself what has to come out of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from random import Random
from typing import Any

from turnspec.codegen.format_module import FormatModule
from turnspec.deviations.table import DEVIATIONS, Deviation
from turnspec.deviations.turns import Case, Format
from turnspec.spec.model import Spec
from turnspec.spec.turn_end import stop_strings
from turnspec.verification.comparing import has_ids, loaded
from turnspec.verification.random_messages import random_messages
from turnspec.verification.turns import expected_behind, written_input

#: The longest piece of a text, in characters.
_LONGEST = 12
#: How many messages are drawn for each case that is wanted: a suite may have no word for some.
_TRIES = 20


@dataclass(frozen=True, slots=True)
class DrawnCase:
    """A case, the deviation that it shows ("" if it is clean), and how its text comes in pieces."""

    case: Case
    deviation: str
    pieces: tuple[str, ...]
    token_ids: tuple[int, ...] = ()


#: Cuts a text into pieces, with their tokens' ids; None: its tokens don't stand for that text.
Cut = Callable[[str], tuple[tuple[str, ...], tuple[int, ...]] | None]
#: Returns a case as a suite has it, None if it can't have such a case.
Fit = Callable[[Case], Case | None]


def draw_cases(
    form: Format, count: int, seed: int, fit: Fit = lambda case: case, cut: Cut | None = None
) -> list[DrawnCase]:
    """Return a format's cases, always the same: half of them deviate, or as many as there are.

    Args:
        form: the format.
        count: how many are wanted; where the format can't show so many there are fewer.
        seed: another one gives other cases.
        fit: what becomes of a case before it counts.
        cut: cuts texts into tokens; by default pieces are of any length.
    """
    random = Random(seed)

    def fitting(cases: Iterator[tuple[str, Case]]) -> Iterator[DrawnCase]:
        for deviation, case in cases:
            fitted = fit(case)
            found = fitted and (cut(fitted.text) if cut else (_pieces(fitted.text, random), ()))
            if fitted and found:
                yield DrawnCase(fitted, deviation, *found)

    deviating = list(_deviating_cases(form))
    random.shuffle(deviating)
    chosen = list(islice(fitting(iter(deviating)), count // 2))
    clean = (("", case) for case in _clean_cases(form.spec, count * _TRIES, seed))
    chosen += islice(fitting(clean), count - len(chosen))
    random.shuffle(chosen)
    return chosen


def _clean_cases(spec: Spec, count: int, seed: int) -> Iterator[Case]:
    """Yield turns that keep to the format, behind each of its prompts."""
    random, shows_ids = Random(seed), has_ids(spec)
    for message in random_messages(spec, count, seed):
        thinking = random.choice(spec.thinking.choices)
        found = written_input(spec, message, thinking=thinking)
        if found is None:
            continue
        shown = expected_behind(spec, message, thinking)
        options = {"tools": found.tools, "prefill": found.prefill}
        yield Case(
            found.text,
            shown.content,
            shown.reasoning,
            tuple((call.name, call.arguments) for call in shown.calls),
            options={**options, "enable_thinking": thinking},
            ids=tuple(call.id for call in shown.calls) if shows_ids else (),
        )


def _deviating_cases(form: Format) -> Iterator[tuple[str, Case]]:
    """Yield each deviation's distinct cases."""
    for name, build in DEVIATIONS.items():
        found = {(case.text, case.options["prefill"]): case for case in built(build, form)}
        yield from ((name, _with_prompt(form.spec, case)) for case in found.values())


def _with_prompt(spec: Spec, case: Case) -> Case:
    """Return a case that says which prompt it follows where that is the template's own."""
    if case.options["prefill"] is not None:
        return case
    prompt = spec.thinking.state(case.options.get("enable_thinking")).prompt
    return replace(case, options={**case.options, "prefill": prompt})


def built(build: Deviation, form: Format) -> list[Case]:
    """Return the cases of a deviation, none where it can't be made of a format.

    They were written with the committed formats in mind; a strange one is shown without them.
    """
    try:
        return list(build(form))
    except (AssertionError, LookupError, ValueError):
        return []


def _pieces(text: str, random: Random) -> tuple[str, ...]:
    pieces, at = [], 0
    while at < len(text):
        size = random.randint(1, _LONGEST)
        pieces.append(text[at : at + size])
        at += size
    return tuple(pieces)


def differences(module: FormatModule, case: Case, pieces: Sequence[str] = ()) -> Iterator[str]:
    """Yield how a parser reads a case otherwise than it was written, whole or in pieces."""
    whole = module.parse(case.text, **case.options)
    calls = tuple((call.name, loaded(call.arguments)) for call in whole.tool_calls)
    pairs: list[tuple[str, Any, Any]] = [
        ("content", case.content, whole.content),
        ("reasoning", case.reasoning, whole.reasoning_content),
        ("calls", case.calls, calls),
        ("problems", set(case.told), {problem.kind for problem in whole.problems}),
        ("complete", case.complete, all(call.complete for call in whole.tool_calls)),
    ]
    if case.ids:
        pairs.append(("ids", case.ids, tuple(call.id for call in whole.tool_calls)))
    for what, wanted, found in pairs:
        if wanted != found:
            yield f"{what}: wanted {wanted!r}, found {found!r}"
    if pieces:
        parser = module.Parser(**case.options)
        for piece in pieces:
            parser.feed(piece)
        parser.finish()
        if parser.message != whole:
            yield f"in pieces: {parser.message!r}, whole {whole!r}"


def without_stop(spec: Spec, text: str) -> str | None:
    """Return a turn up to what stopped the model; None if it goes on behind that."""
    found = ((text.find(stop), -len(stop), stop) for stop in stop_strings(spec) if stop in text)
    at, _, stop = min(found, default=(len(text), 0, ""))
    ends = (end for ends in spec.turn.ends for end in (ends.final, ends.followed))
    tails = {end.partition(stop)[2].strip() for end in ends if stop and stop in end}
    return text[:at] if text[at + len(stop) :].strip() in {"", *tails} else None
