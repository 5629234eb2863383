"""Faults planted in what compilation does are noticed: here some, in one format of each class."""

from __future__ import annotations

import pytest

from tests.compiler_faults.counting import plant
from tests.compiler_faults.explained import pattern_of, reasons
from tests.compiler_faults.noticing import noticed_by
from tests.compiler_faults.planting import Fault, Kind, faults, right_source, sample

FORM = "openbmb-minicpm5-1b"


@pytest.fixture(scope="module")
def planted() -> list[Fault]:
    """One of each kind, none of those that are known to change nothing: these take all samples."""
    return sample([each for each in faults(FORM) if pattern_of(each.title) is None], len(Kind))


def test_nothing_is_noticed_where_nothing_is_wrong() -> None:
    assert noticed_by(right_source(FORM), FORM, most=2500) == ""


def test_faults_of_each_kind_are_noticed(planted: list[Fault]) -> None:
    assert {fault.kind for fault in planted} == set(Kind)
    outcomes = [plant(fault) for fault in planted]
    assert [outcome.title for outcome in outcomes if not outcome.noticed] == []


def test_a_parser_that_does_not_load_or_end_is_noticed() -> None:
    assert noticed_by("raise OSError", FORM) == "doesn't load: OSError"
    circle = right_source(FORM).replace(
        "def finish(self)", "def finish(self):\n        while True: pass\n    def finis(self)"
    )
    assert noticed_by(circle, FORM).startswith("doesn't end")


def test_what_changes_nothing_has_a_reason() -> None:
    assert all(reason.strip() for reason in reasons().values())
    assert pattern_of("no-such-format: fact: X is True") is None
