"""What used to pass unnoticed, from the command line: it is red now with an example, or read.

The templates are in ``tests/templates/red``.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import turnspec
from tests.own_templates import FOLDER, given_template, own_template, spec_of
from tests.test_cli import run
from turnspec.codegen.loading import load
from turnspec.codegen.markers import SLOTS
from turnspec.grammar.turn import generate_grammar
from turnspec.pipeline.build import Build, build_template
from turnspec.pipeline.project import OutputPaths
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.files import load_checked_spec
from turnspec.spec.model import Spec
from turnspec.spec.results import RUNGS, SANITY
from turnspec.spec.words import Part, ReasoningMode
from turnspec.verification.grammar_rung import agreement
from turnspec.verification.sanity_parsed import leaks
from turnspec.verification.sanity_spec import switches
from turnspec.verification.sanity_view import View

RED = FOLDER / "red"
CALL = '<|acts|>[{"tool": "look", "with": {}}]<|end_acts|><|over|>'
#: Random messages: what fails here fails with any.
FEW = 20


def built(name: str, *replaced: tuple[str, str]) -> Build:
    text = (RED / f"{name}.jinja").read_text(encoding="utf-8")
    for old, new in replaced:
        text = text.replace(old, new)
    return build_template(given_template(text, name), OutputPaths.in_folder(name), messages=FEW)


def spec_in(build: Build) -> Spec:
    text = build.files[OutputPaths.in_folder(build.name).spec]
    spec = load_checked_spec(text, "the.yaml")
    assert isinstance(spec, Spec)
    return spec


@pytest.mark.long
def test_raw_values_that_become_json_break_the_old_parser(tmp_path: Path) -> None:
    """It gives strings their quotes; the verdict counts every turn."""
    analyzed = run(
        "analyze", RED / "raw-values.jinja", RED / "json-values.jinja", "--into", tmp_path
    )
    assert analyzed.exit_code == 0
    result = run("diff", tmp_path / "raw-values.yaml", tmp_path / "json-values.yaml")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[0] == "raw-values → json-values: breaking"
    assert "could be compared" not in lines[1]
    assert "prove nothing" not in lines[1], "the new parser reads all of its own turns"
    at = next(n for n, line in enumerate(lines) if line.startswith("  parser-misreads: "))
    assert r'"\n[call=get_weather][city]\"Paris\"[/city][/call]<|end|>\n"' in lines[at + 1]
    assert lines[at + 2].endswith(r'wanted: calls ["get_weather({\"city\": \"Paris\"})"]')
    assert lines[at + 3].endswith(r'got: calls ["get_weather({\"city\": \"\\\"Paris\\\"\"})"]')


def test_tags_named_by_the_key_are_read_now() -> None:
    """What a key may hold says where a closing tag isn't an opening one."""
    build = built("key-tags")
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values())
    module = load(spec_in(build))
    (call,) = module.parse('<call=f><city>"Paris"</city></call>').tool_calls
    assert (call.name, call.arguments) == ("f", '{"city": "Paris"}')


def test_a_failing_format_is_told_with_an_example_everywhere(tmp_path: Path) -> None:
    template = FOLDER / "not-yet/parts-in-json.jinja"
    result = run("analyze", template, "--into", tmp_path)
    assert result.exit_code == 1
    assert "parts-in-json: rung 1 (rendered messages come back from the parser): " in result.stdout
    for word in ("written:", "wanted:", "got:"):
        assert word in result.stdout
    assert result.stderr.splitlines()[-1].startswith("error: parts-in-json: not verified: rung 1: ")
    root = tmp_path / "checkout"
    (root / "templates").mkdir(parents=True)
    (root / "templates/index.yaml").write_text("origins: []\ntemplates: []\n", encoding="utf-8")
    added = run("add", template, "--root", root)
    assert added.exit_code == 1
    assert "wanted:" in added.stdout
    assert run("regen", "--root", root).exit_code == 1
    parser = root / "generated/parts_in_json.py"
    for written in (parser, root / "generated/parts-in-json.gbnf"):
        assert "# Unverified: rung 1: " in written.read_text(encoding="utf-8")
    for loaded in (parser, tmp_path / "parts_in_json.py", tmp_path / "parts-in-json.yaml"):
        with pytest.warns(UserWarning, match=r": not verified: rung 1: ") as told:
            turnspec.load(loaded)
        assert told[0].filename == __file__
    checked = run("check", "--root", root)
    assert checked.exit_code == 1
    assert "stale" not in checked.stdout + checked.stderr
    assert "parts-in-json: not verified: rung 1: " in checked.stderr
    assert "if the analysis errs: turnspec report-problem parts-in-json\n" in checked.stderr
    explained = run("explain", "parts-in-json", "--root", root)
    assert "verification: failed" in explained.stdout
    refused = run("vendor", "parts-in-json", "--into", tmp_path / "app", "--root", root)
    assert refused.exit_code == 1
    assert "give --force to copy it all the same" in refused.stderr
    assert not (tmp_path / "app").exists()
    forced = run("vendor", "parts-in-json", "--into", tmp_path / "app", "--force", "--root", root)
    assert forced.exit_code == 0
    copy = (tmp_path / "app/parts_in_json.py").read_text(encoding="utf-8")
    assert "# Unverified: rung 1: " in copy
    table = (root / "specs/README.md").read_text(encoding="utf-8")
    assert "## Not passed" in table
    assert "  - wanted: " in table


def test_an_id_that_swallows_what_follows_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The grammar lets the line end be missing; a parser whose ids hold brackets loses arguments.

    Parser and grammar have one definition of an id now, so the wider one is put in by hand.
    """
    build = built("id-on-a-line")
    paths = OutputPaths.in_folder("id-on-a-line")
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values())
    spec = spec_in(build)
    text = "\n<call get_weather>\nabc[city]Paris[/]\n[days]3[/]\n</call><|end|>"
    (read,) = load(spec).parse(text).tool_calls
    assert (read.id, read.arguments) == ("abc", '{"city": "Paris", "days": "3"}')
    monkeypatch.setitem(SLOTS, "id", "[^ \t\r\n<]{0,256}")
    wide = load(spec)
    found = agreement(spec, wide, build.files[paths.grammar])
    assert found.failed > 0
    assert found.example is not None
    assert "[" in found.example.got.removeprefix("calls ["), "the id holds what follows it"
    (read,) = wide.parse(text).tool_calls
    assert read.arguments == '{"days": "3"}', "the city is lost, and nobody says so"


def test_a_closed_block_that_no_part_explains_is_told() -> None:
    """Its prompt closes thoughts, and no turn shows any."""
    build = built("closed-block")
    assert build.result is not None
    rungs = build.result.rungs
    assert {name for name in RUNGS if not rungs[name].is_passed} == {"2", SANITY}
    assert rungs["2"].total == 0
    assert "no prompt leaves a place for a sample turn" in rungs["2"].note
    assert [f"{problem.path}: {problem.message}" for problem in build.objections] == [
        'thinking.default.prompt: no part explains the marker "<thought>" in it',
        'thinking.default.prompt: no part explains the marker "</thought>" in it',
    ]


def test_reasoning_beside_calls_is_no_part_of_their_start() -> None:
    """A key that is shown beside calls only; without one its markers stand around nothing."""
    paths = OutputPaths.in_folder("plan-beside-calls")
    build = build_template(own_template("plan-beside-calls"), paths, messages=FEW)
    assert (build.objections, build.result is not None) == ((), True)
    spec = spec_in(build)
    assert (spec.reasoning.mode, spec.reasoning.field) == (ReasoningMode.TOOLS_ONLY, "plan")
    planned = "<|plan|>First look.<|end_plan|>" + CALL
    message = load(spec).parse(planned)
    assert (message.reasoning_content, message.content) == ("First look.", "")
    assert [call.name for call in message.tool_calls] == ["look"]


def test_an_empty_block_before_calls_that_costs_them_is_told() -> None:
    """What analysis made of such a template before: every rung was green."""
    with RenderWorker() as worker:
        spec = spec_of("plan-beside-calls", worker)
    assert spec.tools is not None
    frozen = replace(
        spec,
        turn=replace(spec.turn, order=(Part.CONTENT, Part.CALLS), joins=()),
        reasoning=replace(spec.reasoning, mode=ReasoningMode.NONE, start="", end="", field=None),
        tools=replace(spec.tools, section_start="<|plan|><|end_plan|><|acts|>["),
    )
    lost = load(frozen).parse("<|plan|>First look.<|end_plan|>" + CALL)
    assert (lost.tool_calls, "First look." in lost.content) == ([], True)
    view = View(frozen, None, None, load(frozen), "")  # type: ignore[arg-type]
    assert [path for path, _ in leaks(view)] == ["tools.section_start"]
    view = View(spec, None, None, load(spec), "")  # type: ignore[arg-type]
    assert [*leaks(view)] == []


def exchanged(spec: Spec) -> Spec:
    """Return a spec with thinking on and off exchanged, in every respect."""
    given = spec.thinking
    thinking = replace(given, enabled=given.disabled, disabled=given.enabled)
    return replace(spec, thinking=thinking)


@pytest.mark.parametrize("name", ["thinking-switch", "switch-words"])
def test_thinking_on_and_off_exchanged_is_told(name: str) -> None:
    with RenderWorker() as worker:
        spec = spec_of(name, worker)
    assert spec.reasoning.mode is not ReasoningMode.NONE

    def told(given: Spec) -> list[str]:
        view = View(given, None, None, None, "")  # type: ignore[arg-type]
        return [path for path, _ in switches(view)]

    assert told(spec) == []
    assert {"thinking.enabled.prompt", "thinking.disabled.prompt"} & {*told(exchanged(spec))}


@pytest.mark.parametrize(("start", "end"), [("{A}", "{/A}"), ("[a[", "]a]")])
def test_a_turn_ends_by_what_begins_as_an_object_or_closes_an_array(start: str, end: str) -> None:
    build = built("odd-marks", ("{A}", start), ("{/A}", end))
    assert build.result is not None
    assert {rung for rung, found in build.result.rungs.items() if not found.is_passed} == set()
    call = '~>call{"tool": "look", "args": {}}<~'
    message = load(spec_in(build)).parse(f"%%So.%/%\nIt is.\n{call}\n{call}{end}")
    assert (message.reasoning_content, message.content) == ("So.", "It is.")
    assert ([call.name for call in message.tool_calls], message.problems) == (["look"] * 2, [])


def test_what_begins_as_a_call_is_written_on_purpose(monkeypatch: pytest.MonkeyPatch) -> None:
    """Random walks would hardly come to it."""
    spec = spec_in(built("odd-marks"))
    monkeypatch.setattr("turnspec.grammar.turn_text._beginnings_of_markers", lambda spec: ["{A}"])
    grammar = generate_grammar(spec, spec_path="the.yaml", spec_hash="0")
    found = agreement(spec, load(spec), grammar)
    assert found.example is not None
    assert found.example.written == "x ~>call{{/A}{/A}"
