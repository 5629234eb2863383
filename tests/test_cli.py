"""The commands: what they print, what they write, and their exit codes."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
from hashlib import sha256
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.conftest import ROOT
from tests.golden_specs import TWO
from tests.own_checkouts import FEW, add_text, files_of, new_checkout, regenerated
from tests.own_templates import FOLDER
from turnspec import __version__
from turnspec.cli.main import VERBS, main, turnspec
from turnspec.codegen.banner import named_engine
from turnspec.engine import ENGINE_VERSION
from turnspec.spec.versions import SPEC_VERSION

COMMANDS = [name for verbs in VERBS.values() for name in verbs]


def run(*arguments: object, given: str | None = None) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(turnspec, [str(argument) for argument in arguments], input=given)


def run_whole(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command as `run_apart` does, from its first line to its exit code, in this process."""
    words = ["turnspec", *map(str, arguments)]
    streams = {name: TextIOWrapper(BytesIO(), encoding="utf-8") for name in ("stdout", "stderr")}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(cwd or Path.cwd())
        patch.setattr(sys, "argv", words)
        patch.setattr(sys, "stdin", TextIOWrapper(BytesIO(), encoding="utf-8"))
        for name, stream in streams.items():
            patch.setattr(sys, name, stream)
        interrupt = signal.getsignal(signal.SIGINT)  # which a command leaves ignored as it ends
        with pytest.raises(SystemExit) as left:
            main()
        signal.signal(signal.SIGINT, interrupt)
    assert isinstance(left.value.code, int)
    texts = (stream.detach().getvalue().decode() for stream in streams.values())
    return subprocess.CompletedProcess(words, left.value.code, *texts)


def run_apart(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command as its user would, in a process of its own."""
    command = [sys.executable, "-m", "turnspec", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=120)


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = new_checkout(tmp_path_factory.mktemp("fresh") / "checkout")
    regenerated(root)
    return root


@pytest.fixture
def root(fresh: Path, tmp_path: Path) -> Path:
    return shutil.copytree(fresh, tmp_path / "checkout")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(command: str) -> None:
    result = run(command, "--help")
    assert result.exit_code == 0
    assert re.search(rf"Example:\n +.*turnspec {command}", result.stdout)
    assert "  -v, --verbose" in result.stdout


def test_help_lists_all_commands() -> None:
    result = run("--help")
    assert result.exit_code == 0
    assert "Example:" in result.stdout
    assert set(COMMANDS) == {
        *("add", "analyze", "cases", "check", "diff", "explain", "export", "flags", "grammar"),
        *("identify", "init", "list", "live", "mask", "outdated", "parse", "regen", "remove"),
        *("rename", "render", "report", "report-problem", "tokens", "upgrade", "vendor"),
    }
    for command in COMMANDS:
        assert re.search(rf"^  {command} ", result.stdout, re.MULTILINE)


@pytest.mark.parametrize("width", ["40", "80", "200"])
def test_summaries_are_whole_sentences(width: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", width)
    said = " ".join(run("--help").stdout.split())
    for table in VERBS.values():
        for name, sentence in table.items():
            assert f"{name} {sentence}" in said
            assert sentence[0].isupper()
            assert sentence.endswith(".")


def test_version() -> None:
    engine = rf"{re.escape(ENGINE_VERSION)} [0-9a-f]{{12}}"
    lines = run("--version").stdout.splitlines()
    assert lines[:2] == [f"turnspec, version {__version__}", f"specs, version {SPEC_VERSION}"]
    assert re.fullmatch(rf"engine, version {engine}", lines[2])
    assert re.fullmatch(rf"engine in TypeScript, version {engine}", lines[3])
    parsers = (ROOT / "generated" / "qwen3_coder.py").read_text(encoding="utf-8")
    assert lines[2].removeprefix("engine, version ") == named_engine(parsers)


def test_regen_writes_files_and_a_summary(tmp_path: Path) -> None:
    root = new_checkout(tmp_path / "checkout")
    result = run("regen", "--root", root, "--messages", FEW)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "2 built, 0 unchanged, 8 files written" in result.stdout
    assert "2 templates" in result.stdout
    assert (root / "generated/plain_content.py").exists()


def test_regen_again_writes_nothing(root: Path) -> None:
    before = files_of(root)
    result = run("regen", "--root", root, "--messages", FEW)
    assert result.exit_code == 0
    assert "0 built, 2 unchanged, 0 files written" in result.stdout
    assert files_of(root) == before


def test_regen_as_json(root: Path) -> None:
    result = run("regen", "--root", root, "--messages", FEW, "--all", "--json")
    assert result.exit_code == 0
    summary = json.loads(result.stdout)
    assert summary["built"] == sorted(TWO)
    assert (summary["unchanged"], summary["changed_files"], summary["problems"]) == ([], [], [])


def test_tables_in_a_pipe_are_whole(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    result = run_apart("regen", "--root", root, "-v", "--messages", FEW)
    rows = [line for line in result.stdout.splitlines() if line.startswith("│")]
    assert {row.count("│") for row in rows} == {8}
    assert "…" not in result.stdout


def test_regen_from_a_folder_inside(root: Path) -> None:
    result = run_whole("regen", "--messages", FEW, cwd=root / "templates")
    assert (result.returncode, result.stderr) == (0, "")
    assert "0 built, 2 unchanged" in result.stdout


def test_regen_of_a_bad_template_is_one_line_of_error_and_exit_code_1(root: Path) -> None:
    add_text(root, "broken", "a\n{% if %}")
    result = run("regen", "--root", root, "--messages", FEW)
    assert result.exit_code == 1
    assert result.stderr == (
        "error: broken.jinja:2: syntax error: Expected an expression, "
        "got 'end of statement block'\n"
    )
    assert "0 built, 2 unchanged, 0 files written" in result.stdout


def test_regen_of_an_impossible_spec(root: Path) -> None:
    path = root / "specs/plain-content.yaml"
    text = path.read_text(encoding="utf-8")
    line = text[: text.index("mode: PLAIN")].count("\n") + 1
    path.write_text(text.replace("mode: PLAIN", "mode: NICE"), encoding="utf-8")
    result = run("regen", "--root", root, "--messages", FEW)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"error: specs/plain-content.yaml:{line}: content.mode: ")
    assert result.stderr.count("\n") == 1


def test_regen_outside_a_checkout(tmp_path: Path) -> None:
    result = run_whole("regen", cwd=tmp_path)
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr == (
        "error: no templates/index.yaml here or above; go to a repository of formats, "
        "name one with --root, or make one: turnspec init\n"
    )


def test_check_is_clean_after_regen(root: Path) -> None:
    result = run("check", "--root", root)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "templates: 2; specs and generated files are fresh\n"


def test_check_prints_a_diff_of_specs_alone_and_writes_nothing(root: Path) -> None:
    path = root / "generated/plain-content.gbnf"
    path.write_text(path.read_text(encoding="utf-8") + "# mine\n", encoding="utf-8")
    (root / "generated/bare_json_call.py").unlink()
    (root / "specs/gone.yaml").write_text("", encoding="utf-8")
    spec = root / "specs/plain-content.yaml"
    text = spec.read_text(encoding="utf-8")
    spec.write_text(text.replace("<:end:>", "<:stop:>", 1), encoding="utf-8")
    before = files_of(root)
    result = run("check", "--root", root)
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[:3] == [
        "missing: generated/bare_json_call.py",
        "stale: generated/plain-content.gbnf",
        "belongs to no template: specs/gone.yaml",
    ]
    assert lines[3:6] == [
        "stale: specs/plain-content.yaml",
        "--- a/specs/plain-content.yaml",
        "+++ b/specs/plain-content.yaml",
    ]
    assert [line for line in lines if line.startswith("-") and "<:stop:>" in line]
    assert "files that are not fresh: 3; run: turnspec regen\n" in result.stderr
    remedy = "files that belong to no template: 1; run: turnspec remove --left-over\n"
    assert remedy in result.stderr
    assert files_of(root) == before


def test_check_as_json(root: Path) -> None:
    files: dict[str, list[str]] = {"stale": [], "missing": [], "left_over": [], "problems": []}
    result = run("check", "--root", root, "--json")
    assert (result.exit_code, json.loads(result.stdout)) == (
        0,
        {"templates": [*sorted(TWO)], **files},
    )
    (root / "generated/bare_json_call.py").unlink()
    (root / "specs/gone.yaml").write_text("", encoding="utf-8")
    with (root / "generated/plain-content.gbnf").open("a") as grammar:
        grammar.write("# mine\n")
    result = run("check", "--root", root, "--json")
    found = json.loads(result.stdout)
    assert (result.exit_code, found["missing"]) == (1, ["generated/bare_json_call.py"])
    assert found["stale"] == ["generated/plain-content.gbnf"]
    assert found["left_over"] == ["specs/gone.yaml"]


def test_add_as_json(root: Path) -> None:
    result = run("add", FOLDER / "name-as-key.jinja", "--root", root, "--json")
    found = json.loads(result.stdout)
    assert (result.exit_code, found["added"], found["problems"]) == (
        0,
        ["templates/name-as-key.jinja"],
        [],
    )
    assert [(tried["name"], tried["verified"]) for tried in found["templates"]] == [
        ("name-as-key", True)
    ]
    again = run("add", FOLDER / "name-as-key.jinja", "--root", root, "--json")
    assert json.loads(again.stdout)["unchanged"] == found["added"]
    edited = root / "templates/name-as-key.jinja"
    edited.write_text(edited.read_text("utf-8") + "{# mine #}", "utf-8")
    again = run("add", "--update", edited, "--root", root, "--json")
    told = json.loads(again.stdout)
    assert (again.exit_code, told["updated"], told["review"]) == (0, found["added"], None)
    wrong = run("add", root / "none.jinja", "--root", root, "--json")
    told = json.loads(wrong.stdout)
    assert (wrong.exit_code, told["added"], len(told["problems"])) == (1, [], 1)


def test_upgrade_as_json(root: Path) -> None:
    spec = root / "specs/plain-content.yaml"
    new = spec.read_text("utf-8")
    spec.write_text(new.replace(f"spec_version: {SPEC_VERSION}", "spec_version: 1"), "utf-8")
    for wanted in ([str(spec)], []):
        found = json.loads(run("upgrade", spec, "--json").stdout)
        assert found == {"spec_version": SPEC_VERSION, "written": wanted, "problems": []}
    spec.write_text("spec_version: 99\n", "utf-8")
    result = run("upgrade", spec, "--json")
    assert (result.exit_code, len(json.loads(result.stdout)["problems"])) == (1, 1)


def test_analyze_as_json(tmp_path: Path) -> None:
    template, into = FOLDER / "bare-json-call.jinja", tmp_path / "out"
    given = ("analyze", template, "--messages", FEW, "--json")
    found = json.loads(run(*given, "--into", into).stdout)
    assert [(one["name"], one["verified"]) for one in found["templates"]] == [
        ("bare-json-call", True)
    ]
    assert sorted(found["written"]) == sorted(map(str, into.iterdir()))
    told = json.loads(run(*given).stdout)
    written = (into / "bare-json-call.yaml").read_text("utf-8")
    printed = written.replace(" --into out\n", " --into .\n", 1)
    assert told["specs"] == {"bare-json-call.yaml": printed}
    broken = tmp_path / "broken.jinja"
    broken.write_text("{% if %}", "utf-8")
    result = run(*given, broken)
    told = json.loads(result.stdout)
    assert (result.exit_code, len(told["templates"]), len(told["problems"])) == (1, 1, 1)


def test_check_cuts_long_differences(root: Path) -> None:
    spec = root / "specs/plain-content.yaml"
    spec.write_text("".join(f"# {n}\n" for n in range(500)) + spec.read_text("utf-8"), "utf-8")
    lines = run("check", "--root", root).stdout.splitlines()
    at = lines.index("stale: specs/plain-content.yaml")
    assert lines[at + 41].endswith(" more lines")
    assert len(lines) == at + 42


def test_check_prints_markers_as_they_are(root: Path) -> None:
    """What looks like the name of an emoji stays as it is."""
    path = root / "specs/plain-content.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("<:end:>", "<:over:>"), encoding="utf-8")
    lines = run("check", "--root", root).stdout.splitlines()
    assert '-    - "<:over:>"' in lines
    assert '+    - "<:end:>"' in lines


def test_check_names_a_file_that_is_missing(root: Path) -> None:
    (root / "generated/plain-content.gbnf").unlink()
    result = run("check", "--root", root)
    assert result.exit_code == 1
    assert result.stdout == "missing: generated/plain-content.gbnf\n"


def test_add(root: Path) -> None:
    result = run("add", FOLDER / "name-as-key.jinja", "--root", root)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "added templates/name-as-key.jinja from " in result.stdout
    assert "now run: turnspec regen" in result.stdout
    again = run("add", FOLDER / "name-as-key.jinja", "--root", root)
    assert again.exit_code == 0
    assert again.stdout == "templates/name-as-key.jinja is there already\n"


def test_add_of_what_is_not_there(root: Path, tmp_path: Path) -> None:
    result = run("add", tmp_path / "none.jinja", "--root", root)
    assert result.exit_code == 1
    assert result.stderr.startswith("error: ")
    assert "none.jinja" in result.stderr
    assert result.stderr.count("\n") == 1


def test_analyze_goes_on_past_a_bad_file(tmp_path: Path) -> None:
    bad = tmp_path / "bad.jinja"
    bad.write_text("{% if %}", encoding="utf-8")
    missing = tmp_path / "missing.jinja"
    good = [FOLDER / f"{name}.jinja" for name in TWO]
    before = files_of(tmp_path)
    into = tmp_path / "a" / "b"
    result = run("analyze", good[0], bad, missing, good[1], "--into", into, "--messages", FEW)
    assert result.exit_code == 1
    errors = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 2
    assert "missing.jinja" in errors[0]
    assert errors[1].startswith("error: bad.jinja:1: syntax error: ")
    names = [f"{name}.{suffix}" for name in TWO for suffix in ("yaml", "gbnf")]
    modules = ["plain_content.py", "bare_json_call.py"]
    assert sorted(files_of(into)) == sorted([*names, *modules])
    assert {
        path: data for path, data in files_of(tmp_path).items() if not path.startswith("a/")
    } == before
    assert all(f"wrote {into / name}" in result.stdout for name in names)


def test_analyze_writes_what_regen_writes_but_for_the_paths(fresh: Path, tmp_path: Path) -> None:
    into = tmp_path / "formats"
    result = run("analyze", FOLDER / "plain-content.jinja", "--into", into, "--messages", FEW)
    assert result.exit_code == 0
    here, there = (
        (folder / "plain-content.yaml").read_text(encoding="utf-8").splitlines()
        for folder in (into, fresh / "specs")
    )
    source = "# Written by turnspec from plain-content.jinja; regenerate with: turnspec"
    assert here == [f"{source} analyze plain-content.jinja --into formats", *there[1:]]
    assert there[0] == f"{source} regen"


def test_analyze_without_a_folder_prints_the_spec(tmp_path: Path) -> None:
    result = run("analyze", FOLDER / "plain-content.jinja", "--messages", FEW)
    assert result.exit_code == 0
    assert "name: plain-content\n" in result.stdout
    assert files_of(tmp_path) == {}


def test_analyze_says_what_it_did_not_find() -> None:
    result = run("analyze", FOLDER / "plain-content.jinja", "--messages", FEW)
    assert result.stderr == "plain-content: not found: reasoning markers, calls\n"


def test_analyze_with_v_shows_the_findings() -> None:
    result = run("analyze", FOLDER / "plain-content.jinja", "--messages", FEW, "-v")
    assert result.exit_code == 0
    assert re.search(r"^C1: header ", result.stderr, re.MULTILINE)


def test_analyze_of_two_templates_with_one_name(tmp_path: Path) -> None:
    other = tmp_path / "Plain Content.jinja"
    other.write_text("x", encoding="utf-8")
    result = run("analyze", FOLDER / "plain-content.jinja", other, "--messages", FEW)
    assert result.exit_code == 1
    assert result.stderr.endswith(f"\nerror: {other}: a second template named plain-content\n")


DESCRIBED = FOLDER / "calls-only-described.jinja"
DRAFT = "calls-only-described.overlay-draft.yaml"


def test_analyze_drafts_an_overlay(tmp_path: Path) -> None:
    result = run("analyze", DESCRIBED, "--into", tmp_path, "--messages", FEW)
    assert result.exit_code == 0
    assert result.stderr == (
        "calls-only-described: not found: reasoning markers, calls\n"
        "calls-only-described: with tools, its prompt also says:\n"
        "  + [guide]These helpers stand by:…Ask one of them like this:\n"
        "  + <call>\n"
        '  + {"helper": <its name>, "input": <an object>}\n'
        "  + </call>\n"
        "  + Then wait for what it says.[/guide]\n"
        "calls-only-described: to accept the draft, look at it, complete it, try it with "
        "--overlay, move it to templates/overlays/calls-only-described.yaml, and run: "
        "turnspec regen\n"
    )
    assert f"wrote {tmp_path / DRAFT}" in result.stdout
    assert "key: tools\n" in (tmp_path / DRAFT).read_text(encoding="utf-8")


def test_analyze_without_a_folder_prints_the_draft() -> None:
    result = run("analyze", DESCRIBED, "--messages", FEW)
    assert "key: tools\n" in result.stderr
    assert "key: tools\n" not in result.stdout


def test_analyze_leaves_a_draft_that_is_there(tmp_path: Path) -> None:
    (tmp_path / DRAFT).write_text("mine\n", encoding="utf-8")
    result = run("analyze", DESCRIBED, "--into", tmp_path, "--messages", FEW)
    assert result.exit_code == 0
    assert f"left {tmp_path / DRAFT} as it was\n" in result.stdout
    assert (tmp_path / DRAFT).read_text(encoding="utf-8") == "mine\n"


def test_analyze_with_an_overlay(tmp_path: Path) -> None:
    run("analyze", DESCRIBED, "--into", tmp_path, "--messages", FEW)
    into = tmp_path / "again"
    options = ("--overlay", tmp_path / DRAFT, "--into", into, "--messages", FEW)
    result = run("analyze", DESCRIBED, *options)
    assert result.exit_code == 0
    assert result.stderr == (
        "calls-only-described: not found: reasoning markers, calls in a rendered message\n"
        f"to start a server with it: turnspec flags {into / 'calls-only-described.yaml'}\n"
    )
    spec = (into / "calls-only-described.yaml").read_text(encoding="utf-8")
    assert spec.endswith("overlay:\n  - tools\n")
    said = '<call>\n{"helper": "look_up", "input": {}}\n</call>[over]'
    parsed = run("parse", into / "calls_only_described.py", given=said)
    assert json.loads(parsed.stdout)["tool_calls"][0]["function"]["name"] == "look_up"


NAMELESS = """\
{%- for message in messages -%}
[{{ message.role }}]{{ message.content or "" }}
{%- for call in message.tool_calls or [] -%}
<call>{{ call.function.arguments | tojson }}</call>
{%- endfor -%}
[end]
{%- endfor -%}
{%- if add_generation_prompt -%}[assistant]{%- endif -%}
"""

NAMED = """\
template: nameless.jinja
sha256: {digest}
keys:
- key: tools
  value:
    mode: JSON_NATIVE
    section_start: ""
    call:
    - {{text: '<call>{{"name": "'}}
    - {{slot: NAME}}
    - {{text: '", "arguments": '}}
    - {{slot: ARGUMENTS}}
    - {{text: "}}</call>"}}
    separator: ""
    section_end: ""
    arguments: {{syntax: {{encoding: JSON}}}}
    fields: {{name: [name], arguments: [arguments]}}
    call_id: NONE
  reason: The template renders calls without their name.
  source: tried
"""


def test_a_call_without_its_name_says_so_and_what_to_do_helps(tmp_path: Path) -> None:
    template, overlay = tmp_path / "nameless.jinja", tmp_path / "overlay.yaml"
    template.write_text(NAMELESS, encoding="utf-8")
    overlay.write_text(NAMED.format(digest=sha256(NAMELESS.encode()).hexdigest()))
    given = ("analyze", template, "--into", tmp_path / "out", "--messages", FEW)
    result = run(*given)
    assert result.exit_code == 1
    assert (
        "the template renders no name for a call, so no parser can know one: say in an overlay, "
        "under the key tools, how the model writes calls"
    ) in result.stdout
    result = run(*given, "--overlay", overlay)
    assert (result.exit_code, "nameless: verified" in result.stdout) == (0, True), result.output


def test_analyze_takes_an_overlay_for_one_template_only(tmp_path: Path) -> None:
    overlay = tmp_path / "mine.yaml"
    overlay.write_text("", encoding="utf-8")
    other = FOLDER / "plain-content.jinja"
    result = run("analyze", DESCRIBED, other, "--overlay", overlay)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"error: {overlay}: an overlay belongs to one template; there are 2\n"


def test_analyze_with_an_overlay_that_is_not_there(tmp_path: Path) -> None:
    overlay = tmp_path / "mine.yaml"
    result = run("analyze", DESCRIBED, "--overlay", overlay)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"error: {overlay}: there is no such file or folder\n"


def test_analyze_with_a_bad_overlay(tmp_path: Path) -> None:
    overlay = tmp_path / "mine.yaml"
    overlay.write_text("template: calls-only-described.jinja\nkeys: 5\n", encoding="utf-8")
    result = run("analyze", DESCRIBED, "--overlay", overlay)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        f"error: {overlay}:1: missing key 'sha256'\n"
        f"error: {overlay}:2: keys: must be a list, not a whole number\n"
    )


TOOLS = json.dumps([{"type": "function", "function": {"name": "look_up", "parameters": {}}}])


def test_parse_prints_a_message(root: Path, tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text(TOOLS, encoding="utf-8")
    text = '{"name": "look_up", "parameters": {"word": "é"}}<:over:>'
    result = run("parse", "bare-json-call", "--root", root, "--tools", tools, given=text)
    assert (result.exit_code, result.stderr) == (0, "")
    message = json.loads(result.stdout)
    assert message["tool_calls"][0]["function"] == {
        "name": "look_up",
        "arguments": '{"word": "é"}',
    }
    assert "é" in result.stdout


def test_parse_a_file_with_a_module_by_its_path(root: Path, tmp_path: Path) -> None:
    output = tmp_path / "output.txt"
    output.write_text("Hello!<:end:>\n", encoding="utf-8")
    result = run("parse", root / "generated/plain_content.py", output)
    assert json.loads(result.stdout) == {"role": "assistant", "content": "Hello!"}


def test_parse_prints_events(root: Path) -> None:
    result = run("parse", "plain-content", "--root", root, "--events", given="Hello!<:end:>")
    deltas = [json.loads(line) for line in result.stdout.splitlines()]
    assert deltas.pop() == {"finish_reason": "stop"}
    assert "".join(delta.get("content", "") for delta in deltas) == "Hello!"


def test_parse_prints_problems(root: Path) -> None:
    result = run("parse", "plain-content", "--root", root, given="Hello!<:end:>more")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["content"] == "Hello!"
    assert "more" in result.stderr


def test_parse_with_an_unknown_name(root: Path) -> None:
    result = run_whole("parse", "nothing", "--root", root)
    assert result.returncode == 2
    assert result.stderr == (
        "error: no format is known as 'nothing'; turnspec list shows all that are\n"
    )


def test_parse_with_tools_that_are_not_json(root: Path, tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text("{", encoding="utf-8")
    result = run_whole("parse", "plain-content", "--root", root, "--tools", tools)
    assert result.returncode == 1
    assert result.stderr.startswith(f"error: {tools}: not JSON: ")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("5", "give a JSON list of tool definitions"),
        ("{}", "give a JSON list of tool definitions"),
        ("[1]", "tool 0 has no name"),
        ("[{}]", "tool 0 has no name"),
        ('[{"name": ""}]', "tool 0 has no name"),
        ('[{"name": "a"}, {"function": {"name": 5}}]', "tool 1 has no name"),
    ],
)
def test_parse_with_tools_that_are_no_tools(
    root: Path, tmp_path: Path, text: str, message: str
) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text(text, encoding="utf-8")
    result = run_whole("parse", "plain-content", "--root", root, "--tools", tools)
    assert (result.returncode, result.stderr) == (1, f"error: {tools}: {message}\n")


def test_parse_of_bytes_that_are_no_text(root: Path, tmp_path: Path) -> None:
    said = tmp_path / "said.txt"
    said.write_bytes(b"so \xff it is<:end:>")
    result = run_whole("parse", "plain-content", said, "--root", root)
    assert (result.returncode, result.stderr) == (0, "")
    assert json.loads(result.stdout)["content"] == "so \ufffd it is"


@pytest.mark.parametrize(
    "arguments", [["nosuchcommand"], ["analyze"], ["regen", "--messages", "0"], ["regen", "--x"]]
)
def test_wrong_use_is_exit_code_2_without_traceback(arguments: list[str]) -> None:
    result = run_whole(*arguments)
    assert result.returncode == 2
    assert result.stderr != ""
    assert "Traceback" not in result.stderr


def test_an_unexpected_error_is_one_line_unless_v_is_given(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("turnspec.cli.parse.catalog_of", lambda *_: 1 / 0)
    result = run_whole("parse", "plain-content", "--root", root)
    assert result.returncode == 1
    assert result.stderr.startswith("internal error: ZeroDivisionError: division by zero\n")
    assert "Traceback" not in result.stderr
    loud = run_whole("parse", "plain-content", "--root", root, "-v")
    assert loud.returncode == 1
    assert "Traceback" in loud.stderr


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["analyze", "no-such-file.jinja"], 1),
        (["check", "--no-such-option"], 2),
        (["parse", "no-such-template", "--root", "."], 2),
        (["--help"], 0),
    ],
)
def test_exit_codes_reach_the_shell(arguments: list[str], code: int, tmp_path: Path) -> None:
    assert run_apart(*arguments, cwd=tmp_path).returncode == code
