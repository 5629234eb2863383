"""Faults planted in the engine are noticed: a sample of them; all by `make engine-faults`."""

from __future__ import annotations

import ast
from random import Random

import pytest

from tests.engine_faults.noticing import FORMATS, noticed_by
from tests.engine_faults.planting import Fault, faults
from turnspec.codegen.shared import engine_text

ALL = list(faults())
SAMPLE = Random(16).sample(
    [fault for fault in ALL if "do" in fault.title or ":" in fault.title], 24
)


def test_nothing_is_noticed_where_nothing_is_wrong() -> None:
    assert noticed_by(ast.parse(engine_text()), FORMATS[:3]) == ""


@pytest.mark.parametrize("fault", SAMPLE, ids=lambda fault: fault.title)
def test_a_fault_is_noticed(fault: Fault) -> None:
    assert noticed_by(fault.tree) != ""
