"""The state diagrams: read off the generated parsers, true of what they do, and legible."""

from __future__ import annotations

import itertools
import re
from xml.etree import ElementTree

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.generated_formats import KINDS, committed_spec, table_of
from tests.test_explain_trace import TOOLS, texts
from turnspec.codegen.loading import load
from turnspec.explain.trace import trace
from turnspec.report.diagram import draw
from turnspec.report.states import Machine, State, Transition, read_machine


def machine_of(name: str) -> Machine:
    return read_machine(table_of(name))


@pytest.mark.parametrize(
    "name", ["qwen3-coder", "qwen-qwen3-0-6b", "minimax-m3", "openai-gpt-oss-120b"]
)
def test_a_machine(name: str, snapshot: SnapshotAssertion) -> None:
    machine = machine_of(name)
    states = [f"{state.name}: {state.about}" for state in machine.states]
    leads = [
        f"{found.source} -> {found.target}: {', '.join(found.markers)}"
        + ("; anything else" if found.otherwise else "")
        for found in machine.transitions
    ]
    assert "\n".join([*states, "", *leads]) == snapshot


@pytest.mark.parametrize("name", KINDS)
def test_what_a_parser_does_is_in_its_diagram(name: str) -> None:
    """Every change of state that a trace shows is a transition, and every state is named."""
    module, machine = load(committed_spec(name)), machine_of(name)
    known = {(found.source, found.target) for found in machine.transitions}
    states = {state.name for state in machine.states}
    for text in texts(name):
        for options in ({}, {"prefill": ""}, {"tools": TOOLS}):
            for step in trace(module, text, options).steps:
                if step.state:
                    assert {step.state, step.next_state} <= states
                    changed = step.state != step.next_state
                    assert not changed or (step.state, step.next_state) in known


@pytest.mark.parametrize("name", KINDS)
def test_every_state_is_reached_and_the_last_is_the_rest(name: str) -> None:
    machine = machine_of(name)
    reached = {machine.states[0].name, *(found.target for found in machine.transitions)}
    assert reached == {state.name for state in machine.states}
    assert machine.states[-1].name == "rest"
    assert all(found.source != "rest" for found in machine.transitions)


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
