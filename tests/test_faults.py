"""A slice of `make faults`: faults planted in small formats of our own, nearly all noticed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.faults.counting import plant
from tests.faults.grammar_faults import grammar_faults
from tests.faults.noticing import Format, is_the_same, noticed_by
from tests.faults.spec_faults import spec_faults
from tests.own_templates import own_template
from turnspec.rendering.worker import RenderWorker

NAMES = ("json-in-tags", "tagged-parameters", "thinking-switch")
#: Of so many faults one is planted here.
STEP = 13


@pytest.fixture(scope="module")
def worker() -> Iterator[RenderWorker]:
    with RenderWorker() as worker:
        yield worker


@pytest.fixture(scope="module")
def formats(worker: RenderWorker) -> dict[str, Format]:
    return {name: Format.of(own_template(name), worker) for name in NAMES}


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_the_format_as_it_is_has_nothing_to_notice(name: str, formats: dict[str, Format]) -> None:
    form = formats[name]
    assert noticed_by(form, form.spec) == ""
    assert is_the_same(form, form.spec)


@pytest.mark.parametrize("name", NAMES)
def test_faults_in_specs_are_noticed(name: str, formats: dict[str, Format]) -> None:
    form = formats[name]
    planted = [plant(form, fault) for fault in list(spec_faults(form.spec))[::STEP]]
    assert len(planted) > 5
    assert [str(outcome) for outcome in planted if outcome.is_survivor] == []
    assert any(outcome.noticed.startswith("rung") for outcome in planted)


@pytest.mark.long
def test_a_grammar_that_is_looser_is_noticed(formats: dict[str, Format]) -> None:
    form = formats["json-in-tags"]
    faults = [fault for fault in grammar_faults(form.spec) if "<" in fault.change][:6]
    assert len(faults) == 6
    noticed = [plant(form, fault).noticed for fault in faults]
    assert sum(map(bool, noticed)) >= 5


def test_every_kind_of_fact_can_be_wrong(formats: dict[str, Format]) -> None:
    kinds = {fault.kind for form in formats.values() for fault in spec_faults(form.spec)}
    assert {"marker", "join", "turn end", "stop string", "switch", "slot", "encoding"} <= kinds
