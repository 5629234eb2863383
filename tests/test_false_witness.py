"""Where a prompt's example of a call and the rendering of calls disagree."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.own_templates import FOLDER, given_template
from turnspec.analysis.false_witness import find_disagreements
from turnspec.analysis.instructions import Instructions
from turnspec.pipeline.build import build_template
from turnspec.pipeline.project import OutputPaths
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.model import (
    Arguments,
    Encoding,
    JsonType,
    Literal,
    Piece,
    Slot,
    SlotKind,
    ToolMode,
    Tools,
)
from turnspec.spec.overlay import OverlayText
from turnspec.spec.results import RUNGS

KEY, VALUE = Slot(SlotKind.KEY), Slot(SlotKind.VALUE)
CALL = (Slot(SlotKind.NAME), Literal("("), Slot(SlotKind.ARGUMENTS), Literal(")"))


def tools(*item: Piece, separator: str, string: Encoding) -> Tools:
    arguments = Arguments(item=item, separator=separator, values={JsonType.STRING: string})
    return Tools(ToolMode.TAG_WITH_TAGGED, "", CALL, "", "", arguments)


JSON = tools(KEY, Literal("="), VALUE, separator=", ", string=Encoding.JSON)
RAW = tools(KEY, Literal("="), VALUE, separator="", string=Encoding.RAW)
QUOTED = tools(KEY, Literal('="'), VALUE, Literal('"'), separator=", ", string=Encoding.RAW)
OBJECT = Tools(ToolMode.TAG_WITH_JSON, "", CALL, "", "", Arguments())


@pytest.mark.parametrize(
    ("text", "given", "expected"),
    [
        ("as in [f(a=1, b=2)]", JSON, {}),
        ("as in [f(a=x1, b=x2...)]", RAW, {"tools.arguments.separator": ", "}),
        (
            "as in f(a='x', b='y')",
            RAW,
            {"tools.arguments.separator": ", ", "tools.arguments.values.string": "PYTHON"},
        ),
        ('as in f(a="x"; b="y")', QUOTED, {"tools.arguments.separator": "; "}),
        ("as in f(a=1)", RAW, {}),
        ("a=1, b=2", RAW, {}),
        ("as in f(a=1, b=2)", OBJECT, {}),
    ],
)
def test_what_an_example_contradicts(text: str, given: Tools, expected: dict[str, str]) -> None:
    found = find_disagreements(given, [Instructions(text, {}, "", tools=True)])
    assert {one.key: one.value for one in found} == expected


def test_a_draft_says_what_the_model_writes_and_passes_every_rung() -> None:
    path = FOLDER / "red" / "separator-lost.jinja"
    source = given_template(path.read_text(encoding="utf-8"), path.stem)
    paths = OutputPaths.in_folder(path.stem)
    with RenderWorker() as worker:
        plain = build_template(source, paths, messages=30, worker=worker, with_advice=True)
        assert plain.result is not None
        assert not plain.result.rungs["1"].is_passed
        assert plain.advice is not None
        assert plain.advice.draft is not None
        assert plain.advice.draft.keys == (
            "tools.arguments.separator",
            "tools.arguments.values.string",
        )
        assert plain.advice.draft_problems == ()
        overlay = OverlayText("the.yaml", plain.advice.draft.text)
        mended = build_template(replace(source, overlay=overlay), paths, messages=30, worker=worker)
    assert mended.result is not None
    assert [rung for rung in RUNGS if not mended.result.rungs[rung].is_passed] == []
    assert [part.value for part in mended.result.parts] == ["content"]
