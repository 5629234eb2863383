"""Where a prompt's example of a call and the rendering of calls disagree."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.golden_specs import golden_spec
from tests.own_templates import FOLDER, given_template
from turnspec.analysis.analyze import analyze_template
from turnspec.analysis.false_witness import find_disagreements, find_misspelling
from turnspec.analysis.instructions import Instructions
from turnspec.codegen.loading import load
from turnspec.pipeline.build import build_template
from turnspec.pipeline.project import OutputPaths
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.calls import Arguments, Literal, Piece, Slot, Tools
from turnspec.spec.overlay import OverlayText
from turnspec.spec.results import RUNGS
from turnspec.spec.words import Encoding, JsonType, SlotKind, ToolMode

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


@pytest.mark.parametrize(
    ("rendered", "told", "expected"),
    [
        ("<:use_it>:>", "as <:use_it:>f</:use_it:>", ("<:use_it>:>", "<:use_it:>")),
        ("[use_it]", "as <use_it>f</use_it>", ("[use_it]", "<use_it>")),
        ("<use_it>", "as <use_it>f</use_it>", None),
        ("<use_it>", "as </use_it>", None),  # which closes it
        ("<use_it>", "as [use_it] or {{use_it}}", None),  # none of which is clear
        ("<use_it>", "as <use>f</use>", None),
        ("[over]", "<:user:>Hi<:over:>", None),  # which ends the turn
    ],
)
def test_how_a_marker_is_spelt(rendered: str, told: str, expected: tuple[str, str] | None) -> None:
    call = (Literal(f"{rendered}\n"), *CALL)
    given = Tools(ToolMode.TAG_WITH_JSON, "", call, "", "", Arguments())
    plain = golden_spec("plain-content")
    assert plain is not None
    ends = tuple(replace(end, final="<:over:>", followed="<:over:>") for end in plain.turn.ends)
    spec = replace(plain, turn=replace(plain.turn, ends=ends))
    found = find_misspelling(spec, given, [Instructions(told, {}, "", tools=True)])
    assert (found and (found.rendered, found.shown)) == expected


MISSPELT = """\
{% if tools %}Call so: <:use:>look<:with:>{"at": "sea"}<:used:>{% endif %}{% for m in messages %}\
{{ '<:' ~ m.role ~ ':>' ~ m.content }}{% for c in m.tool_calls or [] %}\
{{ '<:use>:>' ~ c.function.name ~ '<:with:>' ~ c.function.arguments | tojson ~ '<:used:>' }}\
{% endfor %}<:end:>{% endfor %}{% if add_generation_prompt %}<:assistant:>{% endif %}"""


def test_a_misspelt_marker_is_drafted_as_the_prompt_spells_it(worker: RenderWorker) -> None:
    source, paths = given_template(MISSPELT), OutputPaths.in_folder("given")
    advice = build_template(source, paths, messages=5, worker=worker, with_advice=True).advice
    assert advice is not None
    assert advice.draft is not None
    assert (advice.draft.keys, advice.draft_problems) == (("tools.call",), ())
    mended = replace(source, overlay=OverlayText("the.yaml", advice.draft.text))
    spec = analyze_template(mended, worker).spec
    assert spec is not None
    (call,) = load(spec).parse('<:use:>look<:with:>{"at": "sea"}<:used:><:end:>').tool_calls
    assert (call.name, call.arguments) == ("look", '{"at": "sea"}')


@pytest.mark.parametrize("marker", ["<:use>:>", "<:use:>"])
def test_a_marker_is_read_as_it_is_rendered_and_as_the_prompt_spells_it(
    marker: str, worker: RenderWorker
) -> None:
    spec = analyze_template(given_template(MISSPELT), worker).spec
    assert spec is not None
    told = 'the prompt spells it "<:use:>", which is read as well'
    assert told in [limit.reason for limit in spec.limits]
    message = load(spec).parse(f'{marker}look<:with:>{{"at": "sea"}}<:used:><:end:>')
    (call,) = message.tool_calls
    assert (call.name, call.arguments, message.problems) == ("look", '{"at": "sea"}', [])


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
