"""Every deviation in all committed formats: right and told, and in pieces in those of all kinds."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.generated_formats import EVERY_FORMAT, FORMATS, KINDS, committed_format, committed_spec
from tests.parser_checks import added_up, some, stream, summary
from turnspec.cases.drawing import differences
from turnspec.codegen.loading import load
from turnspec.deviations.table import DEVIATIONS
from turnspec.deviations.turns import Case, Format


@pytest.mark.parametrize("deviation", DEVIATIONS)
def test_deviation_is_read_and_told(deviation: str) -> None:
    failures = [
        f"{name}: {failure}\n    from {case.text!r}"
        for name in FORMATS
        for form in [committed_format(name)]
        for case in DEVIATIONS[deviation](form)
        for failure in failures_of(form, case, in_pieces=name in KINDS)
    ]
    assert not failures, "\n".join(failures[:10])


@pytest.mark.long
def test_deviations_apply_to_as_many_formats_as_before(snapshot: SnapshotAssertion) -> None:
    forms = [Format(committed_spec(name), load(committed_spec(name))) for name in FORMATS]
    applied = {
        deviation: sum(any(True for _ in build(form)) for form in forms)
        for deviation, build in DEVIATIONS.items()
    }
    assert applied == snapshot


def failures_of(form: Format, case: Case, *, in_pieces: bool = True) -> Iterator[str]:
    """Yield how what is parsed differs from what a case wants, and pieces from the whole text."""
    yield from differences(form.module, case)
    whole = form.module.parse(case.text, **case.options)
    sizes = (1, 2, 3, 7) if EVERY_FORMAT else (1, 3)
    for size in sizes if in_pieces else ():
        pieces = [case.text[at : at + size] for at in range(0, len(case.text), size)]
        message, events = stream(form.module, pieces, **case.options)
        if message != whole or added_up(events) != summary(whole):
            yield f"in pieces of {size}: {message!r}, whole {whole!r}"


@pytest.mark.parametrize("deviation", DEVIATIONS)
def test_a_deviation_cut_off_anywhere_is_read_as_far_as_it_goes(deviation: str) -> None:
    failures = [
        f"{name}: {failure}"
        for name in KINDS
        for case in list(DEVIATIONS[deviation](committed_format(name)))[: 2 if EVERY_FORMAT else 1]
        for cut in some(range(len(case.text)))
        for failure in _cut_failures(committed_format(name), case, cut)
    ]
    assert not failures, "\n".join(failures[:10])


def _cut_failures(form: Format, case: Case, cut: int) -> Iterator[str]:
    """Yield what is wrong with a text that breaks off: calls are as far as they go, and load."""
    text = case.text[:cut]
    message = form.module.parse(text, **case.options)
    wanted = [name for name, _ in case.calls]
    found = [call.name for call in message.tool_calls]
    if found != wanted[: len(found)] and "draft" not in case.told:  # cut off it is a call
        yield f"calls {found!r} in {text!r}"
    for call in message.tool_calls:
        is_object = isinstance(json.loads(call.arguments), dict)
        if not is_object and "not_an_object" not in case.told:
            yield f"arguments {call.arguments!r} in {text!r}"
    if case.complete and not all(call.complete for call in message.tool_calls[:-1]):
        yield f"an earlier call is not complete in {text!r}"
