"""The state diagrams: a format's turns are paths in them, and they are legible."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.generated_formats import KINDS, committed_spec
from turnspec.report.diagram import draw
from turnspec.report.states import Machine, State, Transition, read_machine, steps
from turnspec.verification.messages import sample_messages


def machine_of(name: str) -> Machine:
    return read_machine(committed_spec(name))


@pytest.mark.parametrize(
    "name", ["qwen3-coder", "qwen-qwen3-0-6b", "minimax-m3", "openai-gpt-oss-120b"]
)
def test_a_machine(name: str, snapshot: SnapshotAssertion) -> None:
    machine = machine_of(name)
    states = [f"{state.name}: {state.about}" for state in machine.states]
    leads = [
        f"{found.source} -> {found.target}: {' | '.join(found.markers)}"
        for found in machine.transitions
    ]
    assert "\n".join([*states, "", *leads]) == snapshot


@pytest.mark.parametrize("name", KINDS)
def test_turns_that_it_was_not_read_from_are_in_its_diagram(name: str) -> None:
    machine, spec = machine_of(name), committed_spec(name)
    known = {(found.source, found.target): found.markers for found in machine.transitions}
    messages = (m for m in sample_messages(spec) if spec.tools or not m.calls)
    for message in messages:
        flat = [replace(call, arguments={"a": "x", "b": "y"}) for call in message.calls[:2]]
        turn = [*steps(spec, replace(message, calls=tuple(flat)))]
        assert [(turn[0][0], turn[-1][1])] == [("turn", "end")]
        for source, target, marker in turn:
            assert marker in known.get((source, target), ()), (source, target, marker)


@pytest.mark.parametrize("name", KINDS)
def test_every_state_is_reached_and_the_last_is_the_end(name: str) -> None:
    machine = machine_of(name)
    assert {"turn", *(found.target for found in machine.transitions)} == {
        state.name for state in machine.states
    }
    assert (machine.states[0].name, machine.states[-1].name) == ("turn", "end")
    assert not [found for found in machine.transitions if found.source == "end"]


@pytest.mark.parametrize("name", KINDS)
def test_a_diagram_is_legible(name: str) -> None:
    """All numbers are there, apart from each other, off the states, and inside the picture."""
    machine = machine_of(name)
    picture = ElementTree.fromstring(str(draw(machine, name)))
    *_, width, height = map(float, picture.attrib["viewBox"].split())
    badges = [
        (float(found.attrib["cx"]), float(found.attrib["cy"])) for found in picture.iter("circle")
    ]
    boxes = [
        tuple(float(found.attrib[key]) for key in ("x", "y", "width", "height"))
        for found in picture.iter("rect")
    ]
    numbers = [found.text for found in picture.iter("text") if found.attrib["class"] == "number"]
    assert sorted(map(int, filter(None, numbers))) == list(range(1, len(machine.transitions) + 1))
    assert len(boxes) == len(machine.states)
    for (x, y), (other_x, other_y) in itertools.combinations(badges, 2):
        assert abs(x - other_x) >= 20 or abs(y - other_y) >= 19
    for x, y in badges:
        assert 10 <= x <= width - 10
        assert 10 <= y <= height - 10
        assert all(not (left - 10 < x < left + wide + 10) for left, _, wide, _ in boxes)
    for path in picture.iter("path"):
        if path.attrib["class"] == "line":
            found = [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", path.attrib["d"])]
            assert all(0 <= number <= max(width, height) for number in found)


def test_a_diagram_is_drawn_alike(snapshot: SnapshotAssertion) -> None:
    states = (State("text", ""), State("value", ""), State("rest", ""))
    leads = (
        Transition("text", "text", ("<a>",)),
        Transition("text", "value", ("<b>",)),
        Transition("value", "text", ()),
        Transition("text", "rest", ("<end>",)),
    )
    assert str(draw(Machine(states, leads), "some-name")).replace("><", ">\n<") == snapshot


def test_names_are_escaped() -> None:
    text = str(draw(Machine((State('<b>"', ""),), ()), '"><script>'))
    assert "<b>" not in text
    assert "<script>" not in text
