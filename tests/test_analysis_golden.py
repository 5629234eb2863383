"""The specs of all our own templates: as text, and as what writes turns that were never seen."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.own_templates import NAMES, analysis_of, kinds, own_template, spec_of
from turnspec.analysis.analyze import ASSUMED_TOKENS
from turnspec.codegen.loading import load
from turnspec.rendering.conversation import Chat
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.checks import check_spec
from turnspec.spec.files import dump_spec, load_checked_spec
from turnspec.verification.quoted_calls import with_open_limits
from turnspec.verification.random_messages import random_messages
from turnspec.verification.rungs import predict, round_trip, round_trip_written
from turnspec.verification.turns import Renderer

#: Random messages for each, beside the samples.
MESSAGES = 5
#: Of this one only the samples are predicted; the whole ladder says why (test_pipeline_build).
NOT_PREDICTED = "invented-nesting"


@pytest.mark.parametrize("name", NAMES)
def test_spec(name: str, worker: RenderWorker, snapshot: SnapshotAssertion) -> None:
    analysis = analysis_of(name, worker)
    assert analysis.problems == ()
    assert analysis.spec is not None
    assert dump_spec(analysis.spec) == snapshot


@pytest.mark.parametrize("name", NAMES)
def test_spec_makes_sense_and_can_be_read_back(name: str, worker: RenderWorker) -> None:
    spec = spec_of(name, worker)
    assert check_spec(spec, spec.template.file) == []
    assert load_checked_spec(dump_spec(spec), "the.yaml") == spec


@pytest.mark.parametrize("name", kinds())
def test_spec_predicts_every_rendering_and_every_rendering_is_read_back(
    name: str, worker: RenderWorker
) -> None:
    analysis = analysis_of(name, worker)
    assert analysis.spec is not None
    spec = with_open_limits(analysis.spec)
    chat = Chat(worker, own_template(name).text, ASSUMED_TOKENS, analysis.dialect)
    renderer, module = Renderer.create(spec, chat), load(spec)
    given = [*random_messages(spec, MESSAGES)]
    for result in (
        predict(spec, renderer, [] if name == NOT_PREDICTED else given),
        round_trip(spec, renderer, module, given),
        round_trip_written(spec, module, given),
    ):
        assert (result.failed, result.example) == (0, None)
        assert result.passed > 0


@pytest.mark.parametrize("name", NAMES)
def test_generation_prompt_begins_with_the_header(name: str, worker: RenderWorker) -> None:
    spec = spec_of(name, worker)
    dialect = analysis_of(name, worker).dialect
    chat = Chat(worker, own_template(name).text, ASSUMED_TOKENS, dialect)
    by_word = {word.prompt for word in spec.thinking.words}
    for enable in (None, True, False):
        state = spec.thinking.state(enable)
        rendered = chat.using(state.variables).prompt().text
        assert rendered is not None
        assert rendered.endswith(state.prompt) or state.prompt in by_word
        assert state.prompt.startswith(spec.turn.header)
