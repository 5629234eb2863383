"""Overlays: read, checked against their template, put over a spec, and what follows from them."""

from __future__ import annotations

import hashlib

import pytest

from tests.specs_for_tests import json_native_spec, plain_spec
from turnspec.analysis.overlaid import overlaid
from turnspec.spec.calls import Slot
from turnspec.spec.model import Spec
from turnspec.spec.overlay import Overlay, OverlayText, read_overlay
from turnspec.spec.problems import Problem
from turnspec.spec.words import Condition, Part, SlotKind, Subject, Verdict

TEMPLATE = "Write a call between <call> and </call>."
HEAD = f"template: plain.jinja\nsha256: {hashlib.sha256(TEMPLATE.encode()).hexdigest()}\nkeys:\n"
TOOLS = """\
  - key: tools
    value:
      mode: JSON_NATIVE
      section_start: ""
      call:
        - text: "<call>{\\"name\\": \\""
        - slot: NAME
        - text: "\\", \\"arguments\\": "
        - slot: ARGUMENTS
        - text: "}</call>"
      separator: ""
      section_end: ""
      arguments: {syntax: {encoding: JSON}}
      fields: {name: [name], arguments: [arguments]}
      call_id: NONE
    reason: "The template renders no calls."
    source: "the template's own text"
    quote: "between <call> and </call>"
"""


def put(keys: str, spec: Spec | None = None, template: str = TEMPLATE) -> Spec | list[Problem]:
    """Put an overlay with these keys over a spec."""
    given = OverlayText("overlays/plain.yaml", HEAD + keys)
    return overlaid(spec or plain_spec(), given, "plain.jinja", template)


def key(name: str, value: str, more: str = "") -> str:
    """Return one key of an overlay."""
    return f"  - {{key: {name}, value: {value}, reason: r, source: s{more}}}\n"


def shown(found: Spec | list[Problem]) -> list[str]:
    assert isinstance(found, list)
    return [str(problem) for problem in found]


def test_calls_join_the_turn() -> None:
    before = plain_spec()
    spec = put(TOOLS, before)
    assert isinstance(spec, Spec), spec
    assert spec.tools is not None
    assert Slot(SlotKind.NAME) in spec.tools.call
    assert spec.turn.order == (*before.turn.order, Part.CALLS)
    assert spec.final(Part.CALLS) == before.final(Part.CONTENT) != ""
    assert spec.grammar.triggers == ("<call>",)
    assert spec.overlay == ("tools",)
    never = [limit for limit in spec.limits if limit.subject is Subject.CALLS]
    assert [(limit.verdict, limit.when) for limit in never] == [(Verdict.DROPS, Condition.ALWAYS)]


def test_reasoning_joins_the_turn() -> None:
    spec = put(key("reasoning", '{mode: TAG_BASED, start: "<t>", end: "</t>", scope: none}'))
    assert isinstance(spec, Spec), spec
    assert spec.turn.order[0] is Part.REASONING
    assert "<t>" in spec.grammar.preserved_tokens


def test_a_grammar_that_is_given_is_kept() -> None:
    given = key("grammar.triggers", '["<call>{"]')
    spec = put(TOOLS + given)
    assert isinstance(spec, Spec), spec
    assert spec.grammar.triggers == ("<call>{",)


def test_an_end_that_is_known_is_kept() -> None:
    spec = put(key("alternatives.stop", '["<halt>"]'), json_native_spec())
    assert isinstance(spec, Spec), spec
    assert spec.turn == json_native_spec().turn


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (
            key("tols", "1"),
            "overlays/plain.yaml:4: tols: unknown key 'tols'; allowed: spec_version, name, tem",
        ),
        (key("turn.header", "1"), "overlays/plain.yaml:4: turn.header: must be a string, not a w"),
        (key("name", '"X Y"'), "overlays/plain.yaml:4: name: 'X Y' doesn't match "),
        (key("name.first", '"x"'), "overlays/plain.yaml:4: keys[0].key: name has no keys below it"),
        (
            key("content.mode", "PLAIN"),
            "overlays/plain.yaml:4: keys[0].key: the template shows this already; take the key out",
        ),
        (
            key("content.mode", "ALWAYS_WRAPPED"),
            "overlays/plain.yaml:4: content.mode: is ALWAYS_WRAPPED, but neither start nor end is ",
        ),
        (
            key("turn.header", '"a"') + key("turn", "{}"),
            "overlays/plain.yaml:5: keys[1].key: overlaps the key turn.header",
        ),
        (
            key("turn.header", '"a"', ", quote: nowhere"),
            "overlays/plain.yaml:4: keys[0].quote: plain.jinja doesn't say this",
        ),
        ("  - {key: turn.header}\n", "overlays/plain.yaml:4: keys[0]: missing key 'value'"),
        ("  - a: [\n", "overlays/plain.yaml:5: not YAML: "),
    ],
)
def test_what_is_wrong_is_told_with_its_line(keys: str, message: str) -> None:
    assert any(line.startswith(message) for line in shown(put(keys))), shown(put(keys))


def test_another_template_is_told() -> None:
    other = OverlayText("o.yaml", HEAD + key("turn.header", '"a"'))
    found = shown(overlaid(plain_spec(), other, "other.jinja", "another text"))
    digest = hashlib.sha256(b"another text").hexdigest()
    assert found == [
        "o.yaml:1: template: the template here is other.jinja",
        "o.yaml:2: sha256: for another text of other.jinja; look at its keys again, "
        f"then set this to {digest}",
    ]


def test_an_overlay_without_keys_is_read() -> None:
    overlay = read_overlay(HEAD.replace("keys:", "keys: []"), "o.yaml")
    assert isinstance(overlay, Overlay)
    assert overlay.keys == ()
