"""The state diagrams: read off the tables of rules, true of what parsers do, and legible."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree

import pytest
from syrupy.assertion import SnapshotAssertion

from tests import engine_cases
from tests.generated_formats import KINDS, committed_spec, table_of
from turnspec.codegen.format import Format
from turnspec.codegen.loading import load
from turnspec.explain.trace import Step, trace
from turnspec.report.diagram import draw
from turnspec.report.states import Machine, State, Transition, read_machine, written
from turnspec.report.texts import texts_to_try

#: Tables that are looked at within a state.
WITHIN = {
    **dict.fromkeys(("before content", "content headers", "after call"), "in text"),
    **{"left out if last": "in text", "first argument": "in arguments"},
    **{"at closing": "after bare text"},
    **dict.fromkeys(("at raw start", "at raw end"), "argument value"),
}
#: States that a marker may end without being taken, and those in which it may be text.
UNREAD = (
    *("in value", "in guarded value", "in elements", "in arguments", "after bare text"),
    *("at call end", "at code end"),
)
OF_TEXT = ("in text", "in value", "in elements")


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
    machine, spec = machine_of(name), committed_spec(name)
    for offered in texts_to_try(spec, load(spec)):
        options = {"tools": offered.tools, "prefill": offered.prefill}
        check_steps(machine, table_of(name), offered.text, options)


@pytest.mark.parametrize("name", engine_cases.TABLES)
def test_so_is_what_it_does_with_texts_that_deviate(name: str) -> None:
    table = engine_cases.TABLES[name]
    machine = read_machine(table)
    for other, text, *_ in engine_cases.CASES.values():
        if other == name:
            for options in ({}, {"tools": engine_cases.TOOLS}):
                check_steps(machine, table, text, options)


def check_steps(machine: Machine, table: Format, text: str, options: Mapping[str, Any]) -> None:
    """Check that each rule leads to the state of the next one that takes something."""
    states = {state.name for state in machine.states}
    steps = [step for step in trace(table, text, options).steps if step.role]
    assert {state_of(step) for step in steps} <= states
    for step, following in itertools.pairwise(steps):
        assert state_of(following) in targets(machine, step), (text, step, following)


def state_of(step: Step) -> str:
    return WITHIN.get(step.state, step.state)


def targets(machine: Machine, step: Step) -> set[str]:
    """Return the states to which a rule leads, and those to which these do without a text."""
    source, marker = state_of(step), written(step.marker)
    found = {source} if source in OF_TEXT else set()
    for lead in machine.transitions:
        if lead.source == source and (marker in lead.markers or not (marker and lead.markers)):
            found.add(lead.target)
    silent = [
        lead
        for lead in machine.transitions
        if not lead.markers or lead.otherwise or lead.source in UNREAD
    ]
    while more := {lead.target for lead in silent if lead.source in found} - found:
        found |= more
    return found


@pytest.mark.parametrize("name", KINDS)
def test_every_state_is_reached_and_the_last_is_the_rest(name: str) -> None:
    machine = machine_of(name)
    reached = {machine.states[0].name, *(found.target for found in machine.transitions)}
    assert reached == {state.name for state in machine.states}
    assert machine.states[-1].name == "after turn"
    leads = [found.target for found in machine.transitions if found.source == "after turn"]
    assert set(leads) <= {"after turn"}


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
