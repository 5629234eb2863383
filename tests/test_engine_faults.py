"""Faults planted in the engine are noticed: here states that do nothing."""

from __future__ import annotations

import ast

import pytest

from tests.engine_faults.noticing import FORMATS, noticed_by
from tests.engine_faults.planting import Fault, Kind, faults
from tests.parser_checks import some
from turnspec.codegen.shared import engine_text

ALL = faults()
#: Every state of the engine, crippled; here some of them, in the long runs all.
STATES = [fault for fault in ALL if ".read_" in fault.title.split(" does nothing")[0]]
TRIED = some([fault for fault in STATES if fault.kind is Kind.CRIPPLED], 1)


@pytest.mark.long
def test_nothing_is_noticed_where_nothing_is_wrong() -> None:
    assert noticed_by(ast.parse(engine_text()), FORMATS[:1]) == ""


@pytest.mark.parametrize("fault", TRIED, ids=lambda fault: fault.title)
def test_a_fault_is_noticed(fault: Fault) -> None:
    assert noticed_by(fault.tree) != ""
