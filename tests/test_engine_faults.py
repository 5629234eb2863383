"""Faults planted in the engine are noticed: here what reads, doing nothing."""

from __future__ import annotations

import pytest

from tests.engine_cases import CASES
from tests.engine_faults import noticing
from tests.engine_faults.noticing import FORMATS, NONE, facts_by_name, noticed_by
from tests.engine_faults.planting import Fault, Kind, faults_of_engine, faults_of_tables
from tests.parser_checks import some
from turnspec.codegen import compiled

ALL = faults_of_engine()
#: Everything that reads on in the text, crippled; here some of it, in the long runs all.
READING = [fault for fault in ALL if ": read_" in fault.title and fault.kind is Kind.CRIPPLED]
TRIED = some(READING, 2)


def test_nothing_is_noticed_where_nothing_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """In some cases: the engine's own tests hold it to all of them."""
    monkeypatch.setattr(noticing, "CASES", dict(some([*CASES.items()], 12)))
    assert noticed_by(NONE, FORMATS[:1]) == ""


@pytest.mark.parametrize("fault", TRIED, ids=lambda fault: fault.title)
def test_a_fault_is_noticed(fault: Fault) -> None:
    assert noticed_by(fault) != ""


def test_exchanged_roles_are_noticed() -> None:
    planted = faults_of_tables([facts_by_name()["qwen3-coder"]])
    [fault] = [
        fault for fault in planted if fault.title == "IN_TEXT: opening and section_end exchanged"
    ]
    assert noticed_by(fault) != ""


def test_a_fault_is_gone_after_it() -> None:
    before = compiled._engine_code()
    assert noticed_by(ALL[0]) != ""
    assert compiled._engine_code() is before
    assert len({fault.title for fault in ALL}) > 0.9 * len(ALL)
