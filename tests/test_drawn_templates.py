"""Templates drawn at random: what is verified is read rightly, and most are verified."""

from __future__ import annotations

import json
import os

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.drawn_formats import formats, messages, tools_of
from tests.drawn_templates import HEADER, can_be_rendered, template_of
from tests.own_templates import given_template
from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.loading import load
from turnspec.codegen.writer import write_turn
from turnspec.pipeline.build import Build, build_template
from turnspec.pipeline.project import OutputPaths
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.files import load_checked_spec
from turnspec.spec.message import Message
from turnspec.spec.model import Spec

_PATHS = OutputPaths.in_folder("drawn")
_EXAMPLES = int(os.environ.get("TURNSPEC_EXAMPLES", "4"))
_MESSAGES, _TURNS = 2, 8
#: How many of ten have to be verified at least; the others are told, as some with marks like `§a§`.
_AT_LEAST = 7


@pytest.mark.timeout(300 + 10 * _EXAMPLES)
def test_what_is_verified_reads_what_the_template_writes(worker: RenderWorker) -> None:
    verified: list[bool] = []

    @given(formats().filter(can_be_rendered), st.data())
    @settings(
        max_examples=_EXAMPLES,
        deadline=None,
        phases=[Phase.generate],  # a build takes seconds, so that to shrink one takes minutes
        suppress_health_check=list(HealthCheck),
    )
    def built(spec: Spec, data: st.DataObject) -> None:
        source = given_template(template_of(spec), "drawn")
        build = build_template(source, _PATHS, messages=_MESSAGES, worker=worker)
        verified.append(is_verified(build))
        if verified[-1]:
            form = load(spec_in(build))
            for turn in data.draw(st.lists(messages(spec), min_size=_TURNS, max_size=_TURNS)):
                assert read(form, spec, turn) == said(turn), (
                    f"{source.text}\n{write_turn(spec, turn)}"
                )

    built()
    assert sum(verified) * 10 >= len(verified) * _AT_LEAST


def is_verified(build: Build) -> bool:
    """Say whether each rung is passed; what is refused has a problem."""
    assert build.result or build.problems
    return bool(build.result and all(it.is_passed for it in build.result.rungs.values()))


def spec_in(build: Build) -> Spec:
    spec = load_checked_spec(build.files[_PATHS.spec], "drawn.yaml")
    assert isinstance(spec, Spec)
    return spec


def read(form: FormatModule, spec: Spec, turn: Message) -> tuple[object, ...]:
    """Return what the parser says of a turn as the drawn format writes it."""
    message = form.parse(write_turn(spec, turn), tools=tools_of(turn), prefill=HEADER)
    calls = [(call.name, json.loads(call.arguments), call.complete) for call in message.tool_calls]
    return message.content, message.reasoning_content, calls, message.problems


def said(turn: Message) -> tuple[object, ...]:
    return turn.content, turn.reasoning, [(it.name, it.arguments, True) for it in turn.calls], []
