"""Faults planted in the engine are noticed: here each state that does nothing."""

from __future__ import annotations

import ast

import pytest

from tests.engine_faults.noticing import FORMATS, noticed_by
from tests.engine_faults.planting import Fault, Kind, faults
from turnspec.codegen.shared import engine_text

ALL = list(faults())
#: Every state of the engine, crippled.
STATES = [fault for fault in faults() if ".read_" in fault.title.split(" does nothing")[0]]
STATES = [fault for fault in STATES if fault.kind is Kind.CRIPPLED]


def test_nothing_is_noticed_where_nothing_is_wrong() -> None:
    assert noticed_by(ast.parse(engine_text()), FORMATS[:3]) == ""


@pytest.mark.parametrize("fault", STATES, ids=lambda fault: fault.title)
def test_a_fault_is_noticed(fault: Fault) -> None:
    assert noticed_by(fault.tree) != ""
