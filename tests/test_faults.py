"""A slice of `make faults`: faults planted in small formats of our own, nearly all noticed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.faults.counting import plant
from tests.faults.grammar_faults import grammar_faults
from tests.faults.noticing import Format, is_the_same, noticed_by
from tests.faults.spec_faults import spec_faults
from tests.own_templates import own_template
from turnspec.codegen.loading import load
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.model import Limit
from turnspec.spec.words import Condition, Subject, Verdict
from turnspec.verification.sanity_rendered import header
from turnspec.verification.sanity_view import View
from turnspec.verification.turns import Renderer

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


def test_strings_that_are_called_trimmed_and_come_back_whole_are_noticed(
    formats: dict[str, Format],
) -> None:
    form = formats["tagged-parameters"]
    trimmed = Limit(Subject.ARGUMENT_STRING, Verdict.TRIMS, Condition.ALWAYS, "it is said")
    spec = replace(form.spec, limits=(*form.spec.limits, trimmed))
    assert noticed_by(form, spec) == "sanity: what is called ambiguous or trimmed is"


@pytest.mark.parametrize("name", NAMES)
def test_a_header_that_is_left_out_is_noticed(name: str, formats: dict[str, Format]) -> None:
    form = formats[name]
    spec = replace(form.spec, turn=replace(form.spec.turn, header=""))
    renderer = Renderer.create(spec, form.chat)
    found = list(header(View(spec, form.chat, renderer, load(spec), "")))
    assert [path for path, _ in found] == ["turn.header"]
    assert "is empty, but turns and prompts begin with" in found[0][1]


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
