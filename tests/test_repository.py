"""A repository of one's own: made, added to, edited, taken from."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.own_checkouts import FEW, files_of, new_checkout, regenerated
from tests.own_templates import FOLDER
from tests.test_catalog import model_file
from tests.test_cli import run, run_apart, run_whole
from turnspec import __version__
from turnspec.sources.index import INDEX_FILE, read_index
from turnspec.spec.atomic import write_atomically
from turnspec.spec.live_results import LiveRecord, LiveResult, dump_live, read_live

PLAIN = FOLDER / "plain-content.jinja"
ENDS, ENDS_OTHERWISE = "<:end:>", "<:over-and-out:>"


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = new_checkout(tmp_path_factory.mktemp("own") / "repository")
    regenerated(root)
    return root


@pytest.fixture
def root(fresh: Path, tmp_path: Path) -> Path:
    return shutil.copytree(fresh, tmp_path / "repository")


def edit(root: Path) -> Path:
    """Edit a template of a repository so that its format changes."""
    path = root / "templates" / PLAIN.name
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(ENDS, ENDS_OTHERWISE), encoding="utf-8")
    return path


def test_from_nothing_to_a_parser(tmp_path: Path) -> None:
    made = run_apart("init", "formats", cwd=tmp_path)
    assert (made.returncode, made.stdout.splitlines()) == (
        0,
        [
            "wrote formats/templates/index.yaml",
            "wrote formats/.pre-commit-config.yaml",
            "wrote formats/.github/workflows/formats.yml",
            "wrote formats/.github/workflows/outdated.yml",
            "wrote formats/specs/schema.json",
            "wrote formats/.gitignore",
            "wrote formats/.gitattributes",
        ],
    )
    assert made.stderr == "now run: cd formats && turnspec add SOURCE && turnspec regen\n"
    root = tmp_path / "formats"
    added = run_apart("add", PLAIN, cwd=root)
    assert (added.returncode, added.stderr) == (0, "")
    lines = added.stdout.splitlines()
    assert lines[0] == "added templates/plain-content.jinja from plain-content.jinja"
    assert lines[1].startswith("plain-content: verified, "), "it is tried at once"
    assert lines[-1] == "now run: turnspec regen"
    built = run_apart("regen", "--messages", FEW, cwd=root)
    assert (built.returncode, built.stderr) == (0, "")
    checked = run_apart("check", cwd=root)
    assert checked.stdout == "templates: 1; specs and generated files are fresh\n"
    parsed = run_apart("parse", "plain-content", "/dev/stdin", cwd=root)
    assert json.loads(parsed.stdout) == {"role": "assistant", "content": ""}


def test_files_say_what_holds_in_their_place(root: Path) -> None:
    texts = {path: data.decode() for path, data in files_of(root).items()}
    made = [text for path, text in texts.items() if path.startswith(("specs", "generated"))]
    assert not any("make regen" in text or "$schema" in text for text in made)
    spec = texts["specs/plain-content.yaml"]
    assert spec.startswith(
        "# Written by turnspec from plain-content.jinja; regenerate with: turnspec regen\n"
        "spec_version: 2\nname: "
    )
    assert "# Regenerate: turnspec regen\n" in texts["generated/plain_content.py"]
    assert "# Regenerate: turnspec regen\n" in texts["generated/plain-content.gbnf"]
    assert (
        "<!-- Written by turnspec; regenerate with: turnspec regen -->" in texts["specs/README.md"]
    )


def test_init_writes_over_nothing(tmp_path: Path) -> None:
    (tmp_path / ".pre-commit-config.yaml").write_text("repos: []\n", encoding="utf-8")
    (tmp_path / ".gitignore").write_text("mine\ntemplates/fetched/", encoding="utf-8")
    result = run("init", tmp_path)
    assert result.exit_code == 0
    assert f"left {tmp_path}/.pre-commit-config.yaml as it was\n" in result.stderr
    assert (tmp_path / ".pre-commit-config.yaml").read_text("utf-8") == "repos: []\n"
    assert (tmp_path / ".gitignore").read_text("utf-8") == (
        "mine\ntemplates/fetched/\nbuild/\n.turnspec-state.json\n"
    )
    attributes = (tmp_path / ".gitattributes").read_text("utf-8").splitlines()
    assert attributes[0] == "generated/* linguist-generated"
    workflow = (tmp_path / ".github/workflows/formats.yml").read_text("utf-8")
    assert f"      TURNSPEC: turnspec[build]=={__version__}\n" in workflow
    before = files_of(tmp_path)
    for folder, where in (
        (tmp_path, "is a repository of formats already"),
        (tmp_path / "specs", "lies in one"),
    ):
        again = run("init", folder)
        assert (again.exit_code, again.stdout) == (1, "")
        assert again.stderr == f"error: {folder}: {where}: there is {tmp_path / INDEX_FILE}\n"
    assert files_of(tmp_path) == before


def test_a_model_is_named_as_it_names_itself(root: Path, tmp_path: Path) -> None:
    path = model_file(
        tmp_path / "ggml-model-Q4_K_M.gguf", PLAIN.read_text("utf-8"), "My Model 8B/x"
    )
    result = run("add", path, "--root", root)
    assert result.exit_code == 0
    assert result.stdout.startswith(f"added templates/My-Model-8B-x.jinja from {path.name}\n")
    assert result.stderr == (
        f"notice: {path}: this is the template of plain-content, known already\n"
    )
    hostile = model_file(tmp_path / "up.gguf", "{# up #}" + PLAIN.read_text("utf-8"), "../../..")
    assert "added templates/up.jinja" in run("add", hostile, "--root", root).stdout
    assert sorted(path.name for path in (root / "templates").glob("*.jinja")) == [
        *("My-Model-8B-x.jinja", "bare-json-call.jinja", "plain-content.jinja", "up.jinja")
    ]


def test_what_writes_a_known_format_is_told(root: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.jinja"
    other.write_text("{# mine #}" + PLAIN.read_text("utf-8"), encoding="utf-8")
    result = run("add", other, "--root", root)
    assert (
        result.stderr == f"notice: {other}: it writes the format of plain-content, known already\n"
    )


@pytest.mark.parametrize("verb", ["regen", "check", "diff"])
def test_an_edited_template_is_told(root: Path, verb: str) -> None:
    edit(root)
    told = {
        "diff": "notice: templates/plain-content.jinja: its text isn't the pinned one, "
        "so its spec says nothing of it yet; ",
    }
    pinned = (
        f"error: templates/plain-content.jinja: its text isn't the one that {INDEX_FILE}:3 pins; "
    )
    result = run_whole(verb, cwd=root)
    update = "if the change is wanted, run: turnspec add --update templates/plain-content.jinja\n"
    assert told.get(verb, pinned) + update in result.stderr
    assert result.returncode == (2 if verb == "diff" else 1)  # no git repository is here


def test_an_edited_template_is_pinned_anew(root: Path) -> None:
    before = read_index(root)[0].by_name("plain-content")
    path = edit(root)
    result = run_whole("add", "--update", path.relative_to(root), cwd=root)
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[:2] == ["pinned templates/plain-content.jinja anew", "plain-content: breaking"]
    assert f'    stop string "{ENDS_OTHERWISE}": new' in lines
    assert lines[-1] == "now run: turnspec regen"
    stale = "specs/plain-content.yaml: is of another text than is pinned"
    assert run_whole("diff", cwd=root).stderr.startswith(f"notice: {stale}; run: turnspec regen\n")
    after = read_index(root)[0].by_name("plain-content")
    assert before is not None
    assert after is not None
    assert after.sha256 != before.sha256
    assert (after.source, after.line) == (before.source, before.line)
    assert run_whole("regen", "--messages", FEW, cwd=root).returncode == 0
    again = run_whole("add", "--update", "plain-content", cwd=root)
    assert again.stdout == "templates/plain-content.jinja is there already\n"


def test_an_edit_that_changes_no_format(root: Path) -> None:
    path = root / "templates" / PLAIN.name
    path.write_text("{# mine #}" + path.read_text("utf-8"), encoding="utf-8")
    result = run_whole("add", "--update", "plain-content", cwd=root)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == (
        "pinned templates/plain-content.jinja anew\nits format is as it was\n"
        "now run: turnspec regen\n"
    )


def test_an_edit_of_what_has_no_spec_yet_is_compared_with_nothing(root: Path) -> None:
    (root / "specs/plain-content.yaml").unlink()
    result = run_whole("add", "--update", edit(root), cwd=root)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == (
        "pinned templates/plain-content.jinja anew\n"
        "no spec of it is here yet that its format could be compared with\n"
        "now run: turnspec regen\n"
    )


def test_an_edit_that_breaks_a_template_is_not_pinned(root: Path) -> None:
    path = root / "templates" / PLAIN.name
    path.write_text("{% if %}", encoding="utf-8")
    before = (root / INDEX_FILE).read_text(encoding="utf-8")
    result = run_whole("add", "--update", path, cwd=root)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("error: plain-content.jinja:1: syntax error: ")
    assert (root / INDEX_FILE).read_text(encoding="utf-8") == before


def test_a_newer_model_takes_a_templates_place(root: Path, tmp_path: Path) -> None:
    newer = tmp_path / PLAIN.name
    newer.write_text(PLAIN.read_text("utf-8").replace(ENDS, ENDS_OTHERWISE), encoding="utf-8")
    refused = run("add", newer, "--root", root)
    assert refused.exit_code == 1
    assert refused.stderr.endswith("or --update to have this one take its place\n")
    assert run("add", "--update", newer, "--root", root).exit_code == 0
    assert (root / "templates" / PLAIN.name).read_text("utf-8") == newer.read_text("utf-8")


def test_what_is_fetched_is_not_updated(root: Path, tmp_path: Path) -> None:
    index = root / INDEX_FILE
    text = index.read_text(encoding="utf-8")
    origin = (
        "origins:\n  - {id: pack, kind: pypi-sdist, project: pack, version: '1', "
        f"file: pack-1.tar.gz, sha256: {'a' * 64}, size: 1}}\n"
    )
    fetched = f"  - file: Fetched.jinja\n    origin: pack\n    path: x\n    sha256: {'a' * 64}\n"
    index.write_text(text.replace("origins: []\n", origin) + fetched, encoding="utf-8")
    newer = tmp_path / "Fetched.jinja"
    newer.write_text(PLAIN.read_text("utf-8"), encoding="utf-8")
    result = run("add", "--update", newer, "--root", root)
    assert result.exit_code == 1
    assert "has another template named fetched, which is fetched; pin another text" in result.stderr


def test_remove(root: Path) -> None:
    index = (root / INDEX_FILE).read_text(encoding="utf-8")
    (root / "templates/overlays").mkdir()
    (root / "templates/overlays/plain-content.yaml").write_text("x\n", encoding="utf-8")
    turns = LiveResult("0" * 64, "spec", 4, 0, 0, 0)
    live = {"plain-content": turns, "bare-json-call": turns}
    write_atomically(root / "specs/live.json", dump_live(LiveRecord("0.3.36", 4, live)))
    before = set(files_of(root))
    tried = run("remove", "plain-content", "--dry-run", "--root", root)
    assert (tried.exit_code, set(files_of(root))) == (0, before)
    gone = {
        *("templates/plain-content.jinja", "templates/overlays/plain-content.yaml"),
        *("specs/plain-content.yaml", "generated/plain_content.py"),
        "generated/plain-content.gbnf",
    }
    assert set(tried.stdout.splitlines()) == {f"would delete {file}" for file in gone}
    result = run("remove", "plain-content", "--root", root)
    assert (result.exit_code, result.stderr) == (0, "")
    assert before - set(files_of(root)) == gone
    assert "changed specs/README.md" in result.stdout
    assert read_live(root / "specs/live.json") == LiveRecord("0.3.36", 4, {"bare-json-call": turns})
    assert "plain-content" not in (root / "specs/verification.json").read_text("utf-8")
    assert "plain-content" not in (root / "specs/README.md").read_text("utf-8")
    kept = (root / INDEX_FILE).read_text(encoding="utf-8")
    assert kept == index.replace(
        index[index.index("  - file: plain") : index.index("  - file: bare")], ""
    )
    assert run("check", "--root", root).exit_code == 0
    assert run("remove", "bare-json-call", "--root", root).exit_code == 0
    assert (root / INDEX_FILE).read_text("utf-8").endswith("templates: []\n")
    assert run("add", PLAIN, "--root", root).exit_code == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{{ raise_exception('no') }}", "TemplateError: no"),
        ("{{ messages[0].a.b }}", "UndefinedError: 'dict object' has no attribute 'a'"),
    ],
)
def test_what_cannot_be_rendered_is_not_added(
    root: Path, tmp_path: Path, text: str, words: str
) -> None:
    before = files_of(root)
    source = tmp_path / "bad.jinja"
    source.write_text(text, encoding="utf-8")
    result = run("add", source, "--root", root)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"notice: nothing was added\nerror: {source}: {words}\n"
    assert files_of(root) == before


def test_what_belongs_to_no_template_is_removed(root: Path) -> None:
    for file in ("specs/gone.yaml", "generated/own.py"):
        (root / file).write_text("x\n", encoding="utf-8")
    parser = (root / "generated/plain_content.py").read_text("utf-8")
    (root / "generated/gone.py").write_text(parser, encoding="utf-8")
    before = set(files_of(root))
    told = "notice: generated/own.py isn't what turnspec generated; delete it yourself\n"
    tried = run("remove", "--left-over", "--dry-run", "--root", root)
    assert (tried.exit_code, tried.stderr) == (0, told)
    assert tried.stdout == "would delete specs/gone.yaml\nwould delete generated/gone.py\n"
    assert set(files_of(root)) == before
    result = run("remove", "--left-over", "--root", root)
    assert (result.exit_code, result.stderr) == (0, told)
    assert result.stdout == "deleted specs/gone.yaml\ndeleted generated/gone.py\n"
    assert before - set(files_of(root)) == {"specs/gone.yaml", "generated/gone.py"}
    assert run("remove", "--left-over", "--root", root).stdout == "nothing is left over\n"
    for arguments in ([], ["plain-content", "--left-over"]):
        wrong = run("remove", *arguments, "--root", root)
        assert wrong.exit_code == 2
        assert wrong.stderr == "error: give the NAME of a template or --left-over\n"


def test_rename(root: Path) -> None:
    (root / "templates/overlays").mkdir(exist_ok=True)
    overlay = f"template: {PLAIN.name}\nsha256: x\n"
    (root / "templates/overlays/plain-content.yaml").write_text(overlay, encoding="utf-8")
    index = (root / INDEX_FILE).read_text(encoding="utf-8")
    result = run("rename", "plain-content", "Other-One", "--root", root)
    assert (result.exit_code, result.stderr) == (0, "now run: turnspec regen\n")
    assert "deleted generated/plain_content.py\n" in result.stdout
    assert (root / INDEX_FILE).read_text("utf-8") == index.replace(
        "file: plain-content.jinja", "file: Other-One.jinja"
    )
    assert (root / "templates/Other-One.jinja").read_bytes() == PLAIN.read_bytes()
    moved = root / "templates/overlays/other-one.yaml"
    assert moved.read_text("utf-8") == "template: Other-One.jinja\nsha256: x\n"
    assert not [path for path in files_of(root) if "plain" in path]
    moved.unlink()
    assert run_whole("regen", "--messages", FEW, cwd=root).returncode == 0
    assert run_whole("check", cwd=root).returncode == 0


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("plain-content", "bare_json_call", "a template is named bare-json-call already; choose"),
        ("plain-content", "plain-content", "a template is named plain-content already; choose"),
        ("plain-content", "a/b", "a/b: no name for a template\n"),
        ("plain-content", "con", "con.jinja: Windows keeps this name for a device"),
        ("plain", "other", "plain may be plain-content; give that name\n"),
        ("qwen3-coder", "other", "qwen3-coder is no template of "),
        ("zzz", "other", "no format is known as 'zzz'; turnspec list shows all that are\n"),
    ],
)
def test_what_cannot_be_renamed(root: Path, old: str, new: str, words: str) -> None:
    before = files_of(root)
    result = run("rename", old, new, "--root", root)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"error: {words}")
    assert files_of(root) == before


def test_a_renamed_template_writes_over_nothing(root: Path) -> None:
    (root / "templates/other.jinja").write_text("mine", encoding="utf-8")
    before = files_of(root)
    result = run("rename", "plain-content", "other", "--root", root)
    assert (result.exit_code, result.stderr) == (1, "error: templates/other.jinja is there\n")
    assert files_of(root) == before
    (root / "templates" / PLAIN.name).unlink()
    result = run("rename", "plain-content", "another", "--root", root)
    assert result.stderr == f"error: templates/{PLAIN.name} isn't there\n"


def test_what_cannot_be_removed(root: Path) -> None:
    before = files_of(root)
    for name, words in (
        ("qwen3-coder", f"qwen3-coder is no template of {root}"),
        ("zzz", "no format is known as 'zzz'; turnspec list shows all that are"),
        ("plain", "plain may be plain-content; give that name"),
    ):
        result = run("remove", name, "--root", root)
        assert (result.exit_code, result.stderr) == (2, f"error: {words}\n")
    index = root / INDEX_FILE
    row = f"{{file: plain-content.jinja, origin: local, sha256: {'a' * 64}}}"
    index.write_text(f"origins: []\ntemplates: [{row}]\n", encoding="utf-8")
    result = run("remove", "plain-content", "--root", root)
    assert result.exit_code == 1
    assert "this form of index can't be edited; take its entry out" in result.stderr
    assert files_of(root) == {**before, INDEX_FILE: index.read_bytes()}


def test_what_analyze_writes_refers_to_nothing_that_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "models").mkdir()
    model_file(tmp_path / "models/q4.gguf", PLAIN.read_text("utf-8"), "My One")
    monkeypatch.chdir(tmp_path)
    into = Path("out")
    result = run("analyze", "models/q4.gguf", "--into", into, "--messages", FEW)
    assert result.exit_code == 0
    assert sorted(files_of(into)) == ["My-One.jinja", "my-one.gbnf", "my-one.yaml", "my_one.py"]
    assert (into / "My-One.jinja").read_text("utf-8") == PLAIN.read_text("utf-8")
    command = "turnspec analyze models/q4.gguf --into out"
    head = (into / "my-one.yaml").read_text("utf-8").splitlines()[:3]
    written = "# Written by turnspec from My-One.jinja; regenerate with:"
    assert head == [f"{written} {command}", "spec_version: 2", "name: my-one"]
    for name in ("my_one.py", "my-one.gbnf"):
        assert f"\n# Regenerate: {command}\n" in (into / name).read_text("utf-8")
    (into / "My-One.jinja").write_text("mine", encoding="utf-8")
    again = run("analyze", "models/q4.gguf", "--into", into, "--messages", FEW)
    assert f"left {into / 'My-One.jinja'} as it was\n" in again.stdout
    assert (into / "My-One.jinja").read_text("utf-8") == "mine"
