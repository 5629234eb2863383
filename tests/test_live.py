"""`turnspec live`: llama.cpp really runs, and what it writes is streamed into the parsers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from gguf import GGUFWriter
from syrupy.assertion import SnapshotAssertion

from tests.generated_formats import FORMS, ROOT, committed_format
from tests.git_checkouts import write_format
from tests.own_checkouts import EMPTY_INDEX
from tests.own_templates import FOLDER
from tests.specs_for_tests import (
    ALL_SPECS,
    channels_spec,
    json_native_spec,
    plain_spec,
    tagged_spec,
)
from tests.test_cli import run
from turnspec.analysis.source import TemplateSource
from turnspec.cli.live_output import print_events, print_part, print_verdict
from turnspec.codegen.module import generate_module
from turnspec.live.checks import StreamedTurn, stream_faults, turn_faults
from turnspec.live.model import LiveModel, load_model
from turnspec.live.offers import TOOLS
from turnspec.live.prompts import PromptSource
from turnspec.live.record import failure_line
from turnspec.live.runs import FormatRuns, LiveTurn, Outcome, run_format
from turnspec.live.sampling import Sampler
from turnspec.live.tiny_model import cached_model, special_tokens, write_model
from turnspec.live.user_model import UserFormat, UserTurn, read_model_template
from turnspec.live.writing import Ending, TurnWriter
from turnspec.pipeline.project import Project
from turnspec.pipeline.template_sources import read_sources
from turnspec.rendering.worker import RenderWorker
from turnspec.sources.index import INDEX_FILE, Entry
from turnspec.spec.files import spec_hash
from turnspec.spec.live_results import (
    LiveRecord,
    LiveResult,
    dump_live,
    read_live,
)
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem
from turnspec.spec.table import index_table
from turnspec.testing import parser_of
from turnspec.verification import llama_cpp_library
from turnspec.verification.vocabulary import add_vocabulary, write_vocabulary

SEEDS = 2
MARKERS = ("<:begin:>", "<:end:>", "<ponder>", "</ponder>", "<use_tool>", "</use_tool>")
OWN = "json-in-tags"


@pytest.fixture(scope="module")
def worker() -> Iterator[RenderWorker]:
    with RenderWorker() as worker:
        yield worker


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def templates(reference_templates: list[Entry]) -> dict[str, TemplateSource]:
    sources, problems = read_sources(Project(ROOT), reference_templates)
    assert problems == []
    return {source.name: source for source in sources}


@pytest.fixture(scope="module")
def own_model(models: Path) -> Path:
    """A tiny model that carries a template of our own."""
    path = models / "own.gguf"
    template = (FOLDER / f"{OWN}.jinja").read_text(encoding="utf-8")
    write_model(path, MARKERS, template=template)
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout with two formats whose templates aren't there."""
    folder = tmp_path / "checkout"
    (folder / "templates").mkdir(parents=True)
    (folder / INDEX_FILE).write_text(EMPTY_INDEX, encoding="utf-8")
    for spec in (json_native_spec(), plain_spec()):
        write_format(folder, spec)
    return folder


def write_hollow_model(path: Path) -> None:
    """Write a model without weights."""
    writer = GGUFWriter(path, "llama")
    add_vocabulary(writer)
    writer.add_chat_template((FOLDER / f"{OWN}.jinja").read_text(encoding="utf-8"))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


def loaded(path: Path) -> LiveModel:
    model = load_model(path)
    assert isinstance(model, LiveModel)
    return model


def without_template(
    spec: Spec, parser_for: Spec, worker: RenderWorker, models: Path
) -> FormatRuns:
    module = parser_of(parser_for)
    return run_format(spec, module, None, worker=worker, seeds=SEEDS, folder=models)


@pytest.mark.parametrize("name", FORMS)
def test_each_format_lives(
    name: str, templates: dict[str, TemplateSource], worker: RenderWorker, models: Path
) -> None:
    fmt = committed_format(name)
    runs = run_format(
        fmt.spec, fmt.module, templates[name], worker=worker, seeds=SEEDS, folder=models
    )
    assert runs.problems == []
    assert runs.prompt is PromptSource.TEMPLATE
    assert [failure_line(turn) for turn in runs.turns if turn.faults] == []
    seeds = max(SEEDS, len(fmt.spec.thinking.choices))
    assert len(runs.turns) == (3 * seeds if fmt.spec.tools else seeds)
    assert runs.count(Outcome.PARSED) >= 1
    called = {turn.choice for turn in runs.turns if turn.calls}
    assert called == ({"auto", "required"} if fmt.spec.tools else set())


@pytest.mark.parametrize("make", [json_native_spec, plain_spec, tagged_spec])
def test_a_format_without_its_template_lives_on_its_own_prompt(
    make: Callable[[], Spec], worker: RenderWorker, models: Path
) -> None:
    spec = make()
    runs = without_template(spec, spec, worker, models)
    assert runs.prompt is PromptSource.SPEC
    assert runs.problems == []
    assert [failure_line(turn) for turn in runs.turns if turn.faults] == []


def test_a_parser_of_another_format_fails(worker: RenderWorker, models: Path) -> None:
    runs = without_template(tagged_spec(), json_native_spec(), worker, models)
    required = [turn for turn in runs.turns if turn.choice == "required"]
    assert required
    assert {turn.outcome for turn in required} == {Outcome.FAILED}


def test_equal_seeds_write_equal_turns(worker: RenderWorker, models: Path) -> None:
    once, again = (
        without_template(json_native_spec(), json_native_spec(), worker, models) for _ in range(2)
    )
    assert once.turns == again.turns
    assert len({turn.text for turn in once.turns}) > 1


def test_the_tiny_model_is_small_and_always_the_same(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_model(tmp_path / name, MARKERS)
    data = (tmp_path / "one").read_bytes()
    assert data == (tmp_path / "two").read_bytes()
    assert len(data) < 500_000


def test_the_tiny_model_is_written_once(tmp_path: Path) -> None:
    path = cached_model(MARKERS, tmp_path)
    path.write_bytes(b"as it was")
    assert cached_model(MARKERS, tmp_path) == path
    assert cached_model(MARKERS[:2], tmp_path) != path
    assert path.read_bytes() == b"as it was"


def test_special_tokens_are_those_of_the_spec_and_what_looks_like_one() -> None:
    spec = channels_spec()
    spec = replace(
        spec, turn=replace(spec.turn, stop=("<|return|>", "<|end|><|start|>", "\nUser:"))
    )
    assert special_tokens(spec) == (
        "<|channel|>",
        "<|message|>",
        "<|start|>",
        "<|end|>",
        "<|call|>",
        "<|return|>",
    )


def test_a_model_reads_and_goes_back(own_model: Path) -> None:
    with loaded(own_model) as model:
        assert model.open(64, threads=1) is None
        text = "é<use_tool>"
        tokens = model.tokens(text)
        assert len(tokens) == 3  # two bytes and a marker
        assert b"".join(map(model.piece, tokens)).decode() == text
        assert model.start_from(tokens) is None
        first = model.logits()
        assert model.read(model.tokens("more")) is None
        assert model.start_from(tokens) is None
        assert model.known == tokens
        assert model.logits() == pytest.approx(first, abs=1e-4)


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        (
            '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome", "days": 3}}\n'
            "</tool_call><|stop|>",
            [],
        ),
        (
            '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome", "days": 99}}\n'
            "</tool_call><|stop|>",
            ["get_weather: $.days: 99 is greater than the maximum of 14"],
        ),
        (
            '<tool_call>\n{"name": "look", "arguments": {}}\n</tool_call><|stop|>',
            ["unknown_tool: there is no tool 'look'", "there is no tool look"],
        ),
        (
            '<tool_call>\n{"name": "now", "arguments": {',
            ["cut_off: an unfinished call", "now is not complete"],
        ),
    ],
)
def test_what_is_wrong_with_a_turn(text: str, faults: list[str]) -> None:
    spec = json_native_spec()
    turn = StreamedTurn.start(parser_of(spec), tools=list(TOOLS))
    for at in range(0, len(text), 3):
        turn.feed(text[at : at + 3])
    turn.finish()
    assert list(stream_faults(turn)) == []
    assert turn_faults(spec, turn, TOOLS) == faults


def test_a_lost_word_and_a_changed_message_are_told() -> None:
    spec = plain_spec()
    turn = StreamedTurn.start(parser_of(spec))
    turn.feed("Some words")
    turn.finish()
    turn.pieces.append((" vanished", False))
    assert turn_faults(spec, turn, ()) == ["lost: vanished"]
    streamed, whole, _ = "".join(stream_faults(turn)).partition("but as a whole")
    assert streamed.startswith("streamed Message(content='Some words'")
    assert whole
    del turn.pieces[1:], turn.events[:]
    assert "".join(stream_faults(turn)).startswith("the events add up to ('', '', [])")


def test_a_quote_that_is_a_word_is_none_of_the_text() -> None:
    spec = committed_format("google-functiongemma-270m-it").spec
    turn = StreamedTurn.start(parser_of(spec))
    turn.feed("<start_function_call>call:f{a:<escape>Some words<escape>}<end_function_call>")
    turn.finish()
    tool = {"name": "f", "parameters": {"properties": {"a": {"type": "string"}}}}
    assert turn_faults(spec, turn, [{"type": "function", "function": tool}]) == []


def test_what_ends_as_a_marker_begins_is_text_if_the_end_of_the_turn_tells() -> None:
    spec = committed_format("google-gemma-4-31b-it-interleaved").spec
    turn = StreamedTurn.start(parser_of(spec), tools=list(TOOLS))
    turn.feed('<|tool_call>call:get_weather{city:<|"|>Rome<|"|>,days:1}<tool_call|><turn')
    turn.finish()
    assert [problem.kind for problem in turn.message.problems] == ["cut_off"]
    assert turn_faults(spec, turn, TOOLS) == []


RECORD = LiveRecord(
    "0.3.36",
    4,
    {
        "tagged": LiveResult(spec_hash(tagged_spec()), "template", 12, 9, 1, 2, "auto: lost"),
        "json-native": LiveResult(spec_hash(json_native_spec()), "spec", 12, 8, 0, 0),
        "plain": LiveResult(spec_hash(plain_spec()), "spec", 4, 0, 4, 0),
    },
)


def test_the_record_comes_back(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    path = tmp_path / "live.json"
    assert read_live(path) == LiveRecord()
    path.write_text(dump_live(RECORD))
    assert read_live(path) == RECORD
    assert dump_live(RECORD) == snapshot


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "live.json:1: not JSON: Expecting property name enclosed in double quotes"),
        ("{}", "live.json: formats: must be an object"),
        (
            '{"llama-cpp-python": "1", "seeds": -1, "formats": {}}',
            "live.json: seeds: must be a count",
        ),
        (
            '{"llama-cpp-python": "1", "seeds": 1,'
            ' "formats": {"a": {"spec_hash": "", "prompt": "", "turns": 1}}}',
            "live.json: formats.a.calls: must be a count",
        ),
    ],
)
def test_a_record_that_cannot_be_understood(text: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "live.json"
    path.write_text(text, encoding="utf-8")
    assert str(read_live(path)) == f"{tmp_path}/{problem}"


def test_the_index_table_shows_the_live_rung() -> None:
    specs = [make() for make in ALL_SPECS]
    text = index_table(specs, {}, live=RECORD.formats)
    rows = {
        line.split("]")[0]: line.split(" | ")[-3] for line in text.splitlines() if "| [" in line
    }
    assert rows == {
        "| [channels": "-",
        "| [json-native": "12",
        "| [plain": "none",
        "| [tag-with-json": "-",
        "| [tagged": "9/11",
    }
    assert "rung 4: 1 of 3." in text
    assert "- [tagged](tagged.yaml), rung 4: 2 of 11 failed\n  - written: `auto: lost`\n" in text


def test_the_index_table_ignores_live_runs_of_another_spec() -> None:
    stale = {"plain": LiveResult("0" * 64, "spec", 4, 0, 0, 4)}
    assert index_table([plain_spec()], {}, live=stale) == index_table([plain_spec()], {})


def test_a_failure_can_be_come_by_again() -> None:
    turn = LiveTurn("auto", True, 3, "a\nb", 0, Outcome.FAILED, ("lost: word", "more"))
    assert failure_line(turn) == "auto, thinking, seed 3: lost: word in 'a\\nb'"


def test_the_command_prints_figures(root: Path) -> None:
    result = run("live", "plain", "--seeds", SEEDS, "--root", root)
    assert (result.exit_code, result.stderr) == (0, "")
    row = next(line for line in result.stdout.splitlines() if "plain" in line)
    assert [cell.strip() for cell in row.strip("│").split("│")] == [
        "plain", "2", "0", "2", "0", "0", "spec",
    ]  # fmt: skip
    assert not (root / "specs/live.json").exists()


def test_the_command_keeps_a_record_on_demand(root: Path) -> None:
    result = run("live", "--seeds", SEEDS, "--record", "--json", "--root", root)
    assert (result.exit_code, result.stderr) == (0, "")
    text = (root / "specs/live.json").read_text(encoding="utf-8")
    assert result.stdout == text
    record = read_live(root / "specs/live.json")
    assert isinstance(record, LiveRecord)
    assert {name: (r.turns, r.failed) for name, r in record.formats.items()} == {
        "json-native": (6, 0),
        "plain": (2, 0),
    }
    table = (root / "specs/README.md").read_text(encoding="utf-8")
    assert "rung 4: 2 of 2." in table
    assert run("regen", "--root", root).exit_code == 0
    assert (root / "specs/README.md").read_text(encoding="utf-8") == table


def test_a_failing_format_fails_the_command(root: Path) -> None:
    other = generate_module(tagged_spec(), spec_path="", spec_hash="")
    (root / "generated/json_native.py").write_text(other, encoding="utf-8")
    result = run("live", "json-native", "--seeds", 1, "--root", root)
    assert result.exit_code == 1
    assert "json-native: auto, thinking by default, seed 0: other_syntax: " in result.stderr


def test_a_damaged_record_is_told_by_check_and_regen(root: Path) -> None:
    (root / "specs/live.json").write_text("[]", encoding="utf-8")
    for command in ("check", "regen"):
        result = run(command, "--root", root)
        assert result.exit_code == 1
        assert "specs/live.json: must be an object" in result.stderr


def test_a_users_model_under_its_grammar(own_model: Path, tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps(TOOLS), encoding="utf-8")
    result = run(
        "live",
        "--model",
        own_model,
        "--prompt",
        "Rain?",
        "--tools",
        tools,
        "--max-tokens",
        20,
        "--threads",
        1,
    )
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[:5] == [
        "format: own (analysed just now)",
        "grammar: waits for '<use_tool>'",
        "<:begin:>user",
        "Rain?<:end:>",
        "<:begin:>assistant",
    ]
    assert lines[-1].startswith("seed 0: ")


def test_a_users_model_without_a_grammar(own_model: Path) -> None:
    result = run(
        "live",
        "--model",
        own_model,
        "--free",
        "--seeds",
        3,
        "--max-tokens",
        20,
        "--threads",
        1,
        "--json",
    )
    assert (result.exit_code, result.stderr) == (0, "")
    page = json.loads(result.stdout)
    assert page["format"] == "own"
    assert [turn["seed"] for turn in page["turns"]] == [0, 1, 2]
    assert page["kept"] == sum(turn["kept"] for turn in page["turns"])
    for turn in page["turns"]:
        assert turn["cut"] == (turn["ended_by"] == "limit") == (turn["tokens"] == 20)
        assert turn["kept"] == (not turn["cut"] and turn["faults"] == [])
    shown = run(
        "live", "--model", own_model, "--free", "--seeds", 3, "--max-tokens", 20, "--threads", 1
    )
    assert f"kept to its format in {page['kept']} of 3 turns" in shown.stdout.splitlines()[-1]


def test_a_template_of_the_checkout_is_known_by_its_hash(
    root: Path, own_model: Path, tmp_path: Path
) -> None:
    template = (FOLDER / f"{OWN}.jinja").read_text(encoding="utf-8")
    (root / "templates" / "ours.jinja").write_text(template, encoding="utf-8")
    assert run("add", root / "templates/ours.jinja", "--root", root).exit_code == 0
    assert run("regen", "--messages", 2, "--root", root).exit_code == 0
    result = run("live", "--model", own_model, "--max-tokens", 4, "--threads", 1, "--root", root)
    assert result.stdout.splitlines()[0] == "format: ours (specs)"


def test_a_turn_is_shown_as_it_comes(capsys: pytest.CaptureFixture[str]) -> None:
    call = '<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>'
    turn = StreamedTurn.start(parser_of(json_native_spec()), tools=list(TOOLS))
    events = [
        event
        for piece in f"<think>\nHm, well.\n</think>\n\nLet's see.{call}\n{call}<|stop|>"
        for event in turn.feed(piece)
    ]
    print_events([*events, *turn.finish()])
    shown = "Hm, well.\nLet's see.\nnow {}\nnow {}\n"
    assert capsys.readouterr().out == shown


@pytest.mark.parametrize(
    ("ending", "faults", "out", "err"),
    [
        (Ending.TOKEN, [], "seed 7: kept to its format (0 tokens, 1 call)\n", ""),
        (
            Ending.LIMIT,
            [],
            "seed 7: cut off by the limit of tokens (--max-tokens) (0 tokens, 1 call)\n",
            "",
        ),
        (
            Ending.STOP_STRING,
            ["lost: word", "more"],
            "seed 7: left its format (0 tokens, 1 call)\n",
            "  lost: word\n  more\n",
        ),
    ],
)
def test_the_verdict_on_a_turn(
    ending: Ending,
    faults: list[str],
    out: str,
    err: str,
    own_model: Path,
    worker: RenderWorker,
    capsys: pytest.CaptureFixture[str],
) -> None:
    template = read_model_template(own_model, with_tools=True)
    assert isinstance(template, TemplateSource)
    fmt = UserFormat(json_native_spec(), parser_of(json_native_spec()), template, committed=True)
    with loaded(own_model) as model:
        sampler = Sampler.start(model, None, 7)
        writer = TurnWriter(model, sampler, (), 1, ending=ending)
        streamed = StreamedTurn.start(fmt.module, tools=list(TOOLS))
        streamed.feed('<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>')
        turn = UserTurn(fmt, 7, writer, streamed)
        print_verdict(turn, faults)
        sampler.close()
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == (out, err)


def test_controls_do_not_reach_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    print_part("a\x1b[2Jb\nc", "content")
    assert capsys.readouterr().out == "a\\x1B[2Jb\nc"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            ["nobody"],
            2,
            "error: no format is known as 'nobody'; turnspec list shows all that are\n",
        ),
        (
            ["plain", "--record"],
            2,
            "error: --record keeps the figures of all formats: give no names\n",
        ),
        (["--free"], 2, "error: --prompt, --tools, --free and --thinking go with --model\n"),
        (
            ["--model", "m.gguf", "plain"],
            2,
            "error: --model goes without names, --record and --real-vocabularies\n",
        ),
        (["--model", "m.gguf"], 1, "error: m.gguf: there is no such file or folder\n"),
        (["--model", "folder"], 1, "error: folder: is a folder; give a .gguf file\n"),
        (
            ["--model", "text.gguf"],
            1,
            "error: text.gguf: not a GGUF file, or a truncated one: it doesn't begin with GGUF\n",
        ),
        (
            ["--model", "bare.gguf"],
            1,
            "error: bare.gguf: holds no chat template (tokenizer.chat_template)\n",
        ),
        (["--model", "own.gguf", "--tools", "text.gguf"], 1, "error: text.gguf: not JSON: "),
        (
            ["--model", "own.gguf", "--tools", "object.json"],
            1,
            "error: object.json: give a JSON list of tool definitions\n",
        ),
        (
            ["--model", "own.gguf", "--tools", "numbers.json"],
            1,
            "error: numbers.json: tool 0 has no name\n",
        ),
        (["--model", "half.gguf"], 1, "error: half.gguf: llama.cpp cannot load it: "),
        (["--model", "empty.gguf"], 1, "error: empty.gguf: llama.cpp cannot load it: "),
        (
            ["--model", "own.gguf", "--prompt", "x" * 40_000],
            1,
            "error: the prompt's 40019 tokens don't fit into the model's 32768\n",
        ),
    ],
)
def test_errors(
    arguments: list[str],
    code: int,
    message: str,
    root: Path,
    own_model: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(root)
    (root / "folder").mkdir()
    (root / "own.gguf").symlink_to(own_model)
    (root / "text.gguf").write_text("hello", encoding="utf-8")
    (root / "object.json").write_text("{}", encoding="utf-8")
    (root / "numbers.json").write_text("[1]", encoding="utf-8")
    (root / "half.gguf").write_bytes(own_model.read_bytes()[:200_000])
    write_vocabulary(root / "bare.gguf")
    write_hollow_model(root / "empty.gguf")
    result = run("live", *arguments)
    assert (result.exit_code, result.stdout) == (code, "")
    assert result.stderr.startswith(message)
    assert result.stderr.count("\n") == 1


def test_without_llama_cpp(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unloaded = llama_cpp_library.llama_library.__wrapped__
    monkeypatch.setattr(llama_cpp_library, "find_spec", lambda name: None)
    monkeypatch.setattr(llama_cpp_library, "llama_library", unloaded)
    result = run("live", "--root", root)
    assert result.exit_code == 1
    assert result.stderr == (
        "error: llama.cpp is not installed; to have it: pip install 'turnspec[live]'\n"
    )
    assert isinstance(unloaded(), Problem)
