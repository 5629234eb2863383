"""`turnspec vendor`: copies of parsers in other projects, and what they are afterwards."""

from __future__ import annotations

import errno
import json
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import black
import pytest

from tests.generated_formats import KINDS, ROOT
from tests.git_checkouts import write_format
from tests.own_checkouts import EMPTY_INDEX, files_of
from tests.specs_for_tests import json_native_spec, plain_spec, tagged_spec, write_results
from tests.test_cli import run, run_whole
from turnspec.codegen.banner import (
    is_generated,
    is_unedited,
    named_engine,
    named_spec,
    sealed,
    with_command,
)
from turnspec.codegen.compiled import BEGINS_COMMON
from turnspec.codegen.text_hash import hash_of
from turnspec.pipeline.project import RESULTS, OutputPaths
from turnspec.sources.index import INDEX_FILE
from turnspec.spec.atomic import write_all_atomically
from turnspec.spec.files import spec_hash
from turnspec.spec.model import Spec
from turnspec.spec.results import RUNGS, RungResult, TemplateResult

ALL = ["json-native.gbnf", "json_native.py", "plain.gbnf", "plain.py"]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("vendor") / "checkout"
    (root / "templates").mkdir(parents=True)
    (root / INDEX_FILE).write_text(EMPTY_INDEX, encoding="utf-8")
    for spec in (json_native_spec(), plain_spec()):
        write_format(root, spec)
    write_results(root / RESULTS, verified(json_native_spec(), plain_spec()))
    return root


def verified(*specs: Spec) -> dict[str, TemplateResult]:
    """Return results by which all rungs passed."""
    passed = dict.fromkeys(RUNGS, RungResult(7, 0))
    return {spec.name: TemplateResult(spec_hash(spec), "1", rungs=passed) for spec in specs}


@pytest.fixture
def root(checkout: Path, tmp_path: Path) -> Path:
    return shutil.copytree(checkout, tmp_path / "checkout")


@pytest.fixture
def into(root: Path, tmp_path: Path) -> Path:
    """A folder with fresh copies."""
    folder = tmp_path / "app" / "formats"
    result = run("vendor", "json-native", "plain", "--into", folder, "--root", root)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.count("wrote ") == 4
    return folder


def states(folder: Path, root: Path) -> dict[str, str]:
    """Return what --check says of each copy."""
    result = run("vendor", "--check", folder, "--root", root, "--json")
    copies = json.loads(result.stdout)["copies"]
    assert result.exit_code == any(copy["state"] != "fresh" for copy in copies)
    return {Path(copy["path"]).name: copy["state"] for copy in copies}


def append(path: Path, text: str) -> None:
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


def replace_in(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def command_in(path: Path) -> str:
    """Return the command that a copy's banner names."""
    found = re.search(r"^\S+ Regenerate: (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert found
    return found[1]


def as_older(text: str) -> str:
    """Return a text as a turnspec wrote it that hashed its lines."""
    new = (" Text hash", " Engine:  ")
    lines = [line for line in text.splitlines(True) if line[1:11] not in new]
    hashed = hash_of("".join(lines))
    return "".join([*lines[:3], f"# Text hash:  {hashed}\n", *lines[3:]])


def test_copies_are_the_generated_files_and_fresh(root: Path, into: Path) -> None:
    assert sorted(files_of(into)) == ALL
    for name in ALL:
        text = (root / "generated" / name).read_text(encoding="utf-8")
        command = command_in(into / name)
        assert (into / name).read_text(encoding="utf-8") == with_command(text, command)
    assert states(into, root) == dict.fromkeys(ALL, "fresh")


MAKING = [
    (("plain", "json-native"), {"plain.py": "plain", "json-native.gbnf": "json-native"}),
    (("plain", "--no-grammar"), {"plain.py": "plain --no-grammar"}),
    (
        ("plain", "--protocol", "--shared-engine"),
        {
            "plain.gbnf": "plain --shared-engine",
            "protocol.py": "--protocol",
            "turnspec_engine.py": "--shared-engine",
        },
    ),
    (
        ("plain", "--javascript", "--shared-engine", "--no-grammar"),
        {
            "plain.d.mts": "plain --shared-engine --no-grammar --language javascript",
            "turnspec-engine.mjs": "--shared-engine --language javascript",
        },
    ),
]


@pytest.mark.parametrize(("given", "told"), MAKING)
def test_copies_name_the_command_that_makes_them(
    root: Path, tmp_path: Path, given: tuple[str, ...], told: dict[str, str]
) -> None:
    where = ("--into", "my app/it's", "--root", "checkout")
    assert run_whole("vendor", *given, *where, cwd=tmp_path).returncode == 0
    into = tmp_path / "my app/it's"
    for name, wanted in told.items():
        expected = f"""turnspec vendor {wanted} --into 'my app/it'"'"'s' --root checkout"""
        assert command_in(into / name) == expected
    for path in into.iterdir():
        again = run_whole(*shlex.split(command_in(path))[1:], cwd=tmp_path)
        assert f"{path.relative_to(tmp_path)} is fresh already\n" in again.stdout
        assert "wrote" not in again.stdout


def test_a_command_stays_on_its_line(root: Path, tmp_path: Path) -> None:
    into = tmp_path / "two\nlines"
    assert run("vendor", "plain", "--into", into, "--root", root).exit_code == 0
    assert "/two lines' --root " in command_in(into / "plain.py")
    assert states(into, root) == {"plain.py": "fresh", "plain.gbnf": "fresh"}


def test_a_copy_of_an_unverified_format_names_force(root: Path, tmp_path: Path) -> None:
    write_results(root / RESULTS, {})
    command = ("vendor", "plain", "--into", tmp_path, "--root", root, "--force")
    assert run(*command).exit_code == 0
    assert command_in(tmp_path / "plain.py").startswith("turnspec vendor plain --force --into ")
    assert run(*shlex.split(command_in(tmp_path / "plain.py"))[1:]).exit_code == 0


#: As they are by default, they change nothing: see test_generated_style.
FORMATTERS = [
    ("black", "--quiet", "--line-length", "60", "--skip-magic-trailing-comma"),
    ("ruff", "format", "--quiet", "--isolated", "--config", "format.quote-style='single'"),
    (
        "ruff",
        "format",
        "--quiet",
        "--isolated",
        "--line-length",
        "60",
        "--config",
        "indent-width=2",
    ),
]


@pytest.mark.parametrize("formatter", FORMATTERS, ids=" ".join)
def test_formatted_copies_are_fresh(root: Path, sharing: Path, formatter: tuple[str, ...]) -> None:
    names = ("json-native", "--no-grammar", "--protocol")
    result = run("vendor", *names, "--into", sharing / "whole", "--root", root)
    assert result.exit_code == 0
    laid_out = sharing / "whole" if "black" in formatter else sharing  # the engine takes it 6 s
    before = files_of(laid_out)
    subprocess.run([sys.executable, "-m", *formatter, str(laid_out)], check=True)
    if "60" in formatter:
        assert all(files_of(laid_out)[name] != text for name, text in before.items())
    for folder in (sharing, sharing / "whole"):
        assert set(states(folder, root).values()) == {"fresh"}
        copy = folder / "json_native.py"
        replace_in(copy, "Reads turns", "Reads all turns")
        assert states(folder, root)["json_native.py"] == "edited"


def test_grammars_and_scripts_in_another_layout_are_fresh(
    root: Path, into: Path, scripts: Path
) -> None:
    replace_in(into / "plain.gbnf", " ::= ", " ::=\n    ")
    for path in scripts.iterdir():
        text = path.read_text(encoding="utf-8")
        spread = re.sub(r"(?m)^((?!\s*\*|.*//).*),$", r"\1 ,", re.sub("(?m)^  ", "\t", text))
        path.write_text(spread, encoding="utf-8")
    assert states(into, root) == dict.fromkeys(ALL, "fresh")
    assert states(scripts, root) == dict.fromkeys(SCRIPTS, "fresh")
    replace_in(into / "plain.gbnf", '"', '" ')
    replace_in(scripts / "plain.ts", "feed", "eat")
    assert states(into, root)["plain.gbnf"] == "edited"
    assert states(scripts, root)["plain.ts"] == "edited"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("### Answer", "### answer"),
        ("def parse(", "def read("),
        ("# Spec hash:  ", "# Spec hash:  0"),
        ("import re\n", "import re\nimport (\n"),
        ("import re\n", "import re  # regular expressions\n"),
    ],
    ids=["a literal", "a name", "the banner", "what can't be parsed", "a comment"],
)
def test_edits_are_told(root: Path, into: Path, old: str, new: str) -> None:
    replace_in(into / "plain.py", old, new)
    assert states(into, root)["plain.py"] == "edited"


def test_what_an_older_turnspec_made_is_no_edit(root: Path, into: Path) -> None:
    for name in ("plain.py", "plain.gbnf"):
        text = (into / name).read_text(encoding="utf-8")
        (into / name).write_text(as_older(text), encoding="utf-8")
    result = run("vendor", "--check", into, "--root", root)
    assert result.exit_code == 1
    assert result.stdout.splitlines()[2:] == [
        f"stale  {into / 'plain.gbnf'}: made by an older turnspec",
        f"stale  {into / 'plain.py'}: made by an older turnspec",
    ]
    assert result.stderr == f"to renew what is stale, run: turnspec vendor --update {into}\n"
    assert run("vendor", "plain", "--into", into, "--root", root).exit_code == 0
    assert states(into, root) == dict.fromkeys(ALL, "fresh")
    older = as_older((into / "plain.py").read_text(encoding="utf-8"))
    (into / "plain.py").write_text(older + "\n# mine\n", encoding="utf-8")
    assert states(into, root)["plain.py"] == "edited"


def test_a_repository_of_an_older_turnspec_is_copied_from(root: Path, tmp_path: Path) -> None:
    module = root / "generated/plain.py"
    module.write_text(as_older(module.read_text(encoding="utf-8")), encoding="utf-8")
    copy = ("vendor", "plain", "--no-grammar", "--into", tmp_path / "app", "--root", root)
    assert run(*copy).exit_code == 0
    assert states(tmp_path / "app", root) == {"plain.py": "fresh"}


def test_another_engine_makes_copies_stale(root: Path, into: Path) -> None:
    path = into / "plain.py"
    text = path.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines(True) if not line.startswith("# Text hash")]
    other = "".join(lines).replace(named_engine(text), "1.0 0123456789ab")
    path.write_text(sealed(other), encoding="utf-8")
    result = run("vendor", "--check", into, "--root", root)
    assert f"stale  {path}: the engine has changed\n" in result.stdout


def test_again_changes_nothing(root: Path, into: Path) -> None:
    result = run("vendor", "plain", "--into", into, "--root", root)
    assert result.exit_code == 0
    assert result.stdout == (
        f"{into / 'plain.py'} is fresh already\n{into / 'plain.gbnf'} is fresh already\n"
    )


def test_a_parser_without_its_grammar(root: Path, tmp_path: Path) -> None:
    result = run("vendor", "plain", "--no-grammar", "--into", tmp_path / "x", "--root", root)
    assert result.exit_code == 0
    assert list(files_of(tmp_path / "x")) == ["plain.py"]


def test_names_as_templates_have_them(root: Path, tmp_path: Path) -> None:
    into = tmp_path / "x"
    assert run("vendor", "JSON_Native.jinja", "--into", into, "--root", root).exit_code == 0
    assert (into / "json_native.py").exists()


def test_an_edited_copy_is_told_and_kept(root: Path, into: Path) -> None:
    append(into / "plain.py", "# mine\n")
    assert states(into, root) == {**dict.fromkeys(ALL, "fresh"), "plain.py": "edited"}
    before = files_of(into)
    result = run("vendor", "plain", "json-native", "--into", into, "--root", root)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        f"error: {into / 'plain.py'}: was edited, or isn't turnspec's; "
        "move it away or give --force\n"
    )
    assert files_of(into) == before
    forced = run("vendor", "plain", "--into", into, "--root", root, "--force")
    assert (forced.exit_code, forced.stderr) == (0, "")
    assert states(into, root) == dict.fromkeys(ALL, "fresh")


def test_somebody_elses_file_is_kept(root: Path, tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text("mine\n", encoding="utf-8")
    result = run("vendor", "plain", "--into", tmp_path, "--root", root)
    assert result.exit_code == 1
    assert (tmp_path / "plain.py").read_text(encoding="utf-8") == "mine\n"
    assert not (tmp_path / "plain.gbnf").exists()


def test_a_changed_spec_makes_copies_stale(root: Path, into: Path) -> None:
    spec = replace(plain_spec(), turn=replace(plain_spec().turn, header="### Says:\n"))
    write_format(root, spec)
    result = run("vendor", "--check", into, "--root", root)
    assert result.exit_code == 1
    assert result.stdout == (
        f"fresh  {into / 'json-native.gbnf'}\n"
        f"fresh  {into / 'json_native.py'}\n"
        f"stale  {into / 'plain.gbnf'}: the spec has changed\n"
        f"stale  {into / 'plain.py'}: the spec has changed\n"
    )
    assert result.stderr == (f"to renew what is stale, run: turnspec vendor --update {into}\n")
    write_results(root / RESULTS, verified(json_native_spec(), spec))
    assert run("vendor", "plain", "--into", into, "--root", root).exit_code == 0
    assert states(into, root) == dict.fromkeys(ALL, "fresh")


def test_another_generator_makes_copies_stale(root: Path, into: Path) -> None:
    module = root / "generated/plain.py"
    lines = module.read_text(encoding="utf-8").splitlines(keepends=True)
    unsealed = "".join(line for line in lines if not line.startswith("# Text hash"))
    module.write_text(sealed(unsealed + "# better\n"), encoding="utf-8")
    result = run("vendor", "--check", into, "--root", root)
    assert f"stale  {into / 'plain.py'}: the generator has changed\n" in result.stdout


def test_a_copy_of_no_template(root: Path, into: Path) -> None:
    write_format(into.parent, tagged_spec())
    shutil.copy(into.parent / "generated/tagged.py", into)
    assert states(into, root) == {**dict.fromkeys(ALL, "fresh"), "tagged.py": "gone"}
    result = run("vendor", "--check", into, "--root", root)
    assert f"gone   {into / 'tagged.py'}: no format is known as 'tagged'; " in result.stdout
    assert result.stdout.count("give its folder: --root DIR\n") == 1


def test_a_spec_in_a_folder_is_a_format_of_its_own(
    into: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_format(tmp_path, tagged_spec(), OutputPaths.in_folder("tagged"))
    monkeypatch.chdir(tmp_path)
    for language in ("python", "typescript"):
        command = ("vendor", "tagged.yaml", "--language", language, "--into", into)
        assert run(*command).exit_code == 0
    copies = {"tagged.py": "fresh", "tagged.gbnf": "fresh", "tagged.ts": "fresh"}
    assert states(into, tmp_path).items() >= copies.items()
    for short in (["--language", "ts"], ["--typescript"]):
        again = run("vendor", "tagged.yaml", *short, "--into", into)
        assert f"{into / 'tagged.ts'} is fresh already\n" in again.stdout
    assert run("grammar", "tagged.yaml").exit_code == 0
    assert run("diff", into / "tagged.py").exit_code == 0
    replace_in(
        tmp_path / "tagged.yaml", "content_beside_calls: true", "content_beside_calls: false"
    )
    refused = run("vendor", "tagged.yaml", "--into", into)
    assert "tagged.py: is of another spec; run: turnspec analyze TEMPLATE" in refused.stderr
    assert states(into, tmp_path)["tagged.py"] == "gone"


@pytest.mark.parametrize("verb", [("parse",), ("grammar",), ("vendor", "--into", "new")])
def test_what_is_wrong_with_a_spec_is_told_before_what_it_lacks(
    verb: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.yaml").write_text("- 1\n", encoding="utf-8")
    result = run(*verb, "own.yaml")
    assert (result.exit_code, result.output) == (
        1,
        "error: own.yaml:1: must be a mapping, not a list\n",
    )


def test_files_beside_their_spec_are_checked_against_it(tmp_path: Path) -> None:
    """As `turnspec analyze` writes them, in a folder that may hold copies of other formats too."""
    template = ROOT / "tests/templates/plain-content.jinja"
    assert run("analyze", template, "--into", tmp_path, "--messages", "3").exit_code == 0
    files = {"plain-content.gbnf", "plain_content.py"}
    assert states(tmp_path, ROOT) == dict.fromkeys(files, "fresh")
    module = tmp_path / "plain_content.py"
    text = module.read_text(encoding="utf-8")
    module.write_text(as_older(text), encoding="utf-8")
    assert states(tmp_path, ROOT)[module.name] == "stale"
    assert run("vendor", "--update", tmp_path).exit_code == 0
    assert module.read_text(encoding="utf-8") == text
    append(module, "# mine\n")
    assert states(tmp_path, ROOT)[module.name] == "edited"
    module.write_text(text, encoding="utf-8")
    replace_in(tmp_path / "plain-content.yaml", "system_role: true", "system_role: false")
    assert states(tmp_path, ROOT) == dict.fromkeys(files, "gone")
    refused = run("vendor", "--update", tmp_path)
    assert "is of another spec; run: turnspec analyze" in refused.stderr
    assert module.read_text(encoding="utf-8") == text


def test_an_export_of_a_spec_in_a_folder_names_that_spec(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_format(tmp_path, tagged_spec(), OutputPaths.in_folder("tagged"))
    monkeypatch.chdir(tmp_path)
    assert run("export", "tagged.yaml", "--to", "sglang", "--into", "plugin").exit_code == 0
    plugins = ("tagged.py", "tagged_sglang.py", "tagged_sglang_server.py")
    for name in plugins:
        again = command_in(tmp_path / "plugin" / name)
        assert again == "turnspec export tagged.yaml --to sglang --into ."
    assert states(Path("plugin"), tmp_path) == dict.fromkeys(plugins, "fresh")


def test_a_file_copied_by_hand_under_another_name(root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "app"
    folder.mkdir()
    (folder / "other.py").write_text("print('not a copy')\n", encoding="utf-8")
    text = (root / "generated/plain.py").read_text(encoding="utf-8")
    (folder / "parser.py").write_text(text, encoding="utf-8", newline="\r\n")
    assert states(folder, root) == {"parser.py": "fresh"}
    spec = replace(plain_spec(), turn=replace(plain_spec().turn, header="### Says:\n"))
    write_format(root, spec)
    result = run("vendor", "--check", folder, "--root", root)
    assert result.stdout == f"stale  {folder / 'parser.py'}: the spec has changed\n"
    assert result.stderr == f"to renew what is stale, run: turnspec vendor --update {folder}\n"


def test_a_banner_without_the_hash_is_an_edited_one(root: Path, into: Path) -> None:
    path = into / "plain.py"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(line for line in lines if "Text hash" not in line), encoding="utf-8")
    assert states(into, root)["plain.py"] == "edited"


def test_a_folder_without_copies(root: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    result = run_whole("vendor", "--check", empty, "--root", root)
    assert (result.returncode, result.stdout) == (1, "")
    none = "holds no parser and no grammar of turnspec's; give the folder that does"
    assert result.stderr == f"error: {empty}: {none}\n"


def test_all_or_nothing(root: Path, tmp_path: Path) -> None:
    result = run("vendor", "plain", "jason-native", "--into", tmp_path / "x", "--root", root)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        "error: no format is known as 'jason-native'; did you mean json-native?\n"
    )
    assert not (tmp_path / "x").exists()


def test_a_name_like_no_other(root: Path, tmp_path: Path) -> None:
    result = run("vendor", "zzz", "--into", tmp_path, "--root", root)
    assert result.stderr == (
        "error: no format is known as 'zzz'; turnspec list shows all that are\n"
    )


def test_a_generated_file_that_was_edited_is_not_copied(root: Path, tmp_path: Path) -> None:
    append(root / "generated/plain.py", "# mine\n")
    result = run("vendor", "plain", "--into", tmp_path, "--root", root)
    assert result.exit_code == 1
    assert result.stderr == (
        "error: generated/plain.py: isn't as it was generated; run: turnspec regen\n"
    )


def test_a_folder_where_a_file_should_be(root: Path, tmp_path: Path) -> None:
    (tmp_path / "plain.gbnf").mkdir()
    result = run("vendor", "plain", "--into", tmp_path, "--root", root)
    assert result.exit_code == 1
    assert result.stderr == (
        f"error: {tmp_path / 'plain.gbnf'}: can't be written: "
        "this is a folder, where a file is wanted\n"
    )
    assert not (tmp_path / "plain.py").exists()


def test_as_json(root: Path, into: Path) -> None:
    append(into / "plain.py", "# mine\n")
    result = run("vendor", "plain", "--into", into, "--root", root, "--force", "--json")
    assert json.loads(result.stdout) == {
        "written": [str(into / "plain.py")],
        "unchanged": [str(into / "plain.gbnf")],
        "unverified": {},
        "problems": [],
    }


@pytest.mark.parametrize(
    "arguments",
    [[], ["plain"], ["--into", "x"], ["--check", ".", "plain"], ["--check", ".", "--into", "x"]],
)
def test_what_cannot_be_meant(root: Path, arguments: list[str]) -> None:
    result = run_whole("vendor", *arguments, cwd=root)
    assert (result.returncode, result.stdout) == (2, "")
    wanted = "error: give formats and --into DIR, or --check DIR or --update DIR alone\n"
    assert result.stderr == wanted


def test_several_files_are_written_or_none(tmp_path: Path) -> None:
    there, new, blocked = tmp_path / "there.txt", tmp_path / "new.txt", tmp_path / "file" / "x.txt"
    there.write_text("old", encoding="utf-8")
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    before = files_of(tmp_path)
    with pytest.raises(OSError, match="file"):
        write_all_atomically({there: "1", new: "2", blocked: "3"})
    assert files_of(tmp_path) == before
    write_all_atomically({there: "1", new: "2"})
    assert (there.read_text(encoding="utf-8"), new.read_text(encoding="utf-8")) == ("1", "2")


def test_a_disk_that_fills_up_between_two_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing that is there is touched before all that is new is on the disk."""
    old = {tmp_path / f"{name}.txt": f"old {name}" for name in "abc"}
    write_all_atomically(old)
    whole, written = Path.write_bytes, []

    def fills_up(self: Path, data: bytes) -> int:
        written.append(self.name)
        if len(written) > 1:  # from then on there is no room, for what is put back neither
            raise OSError(errno.ENOSPC, "No space left on device")
        return whole(self, data)

    monkeypatch.setattr(Path, "write_bytes", fills_up)
    with pytest.raises(OSError, match="No space left") as full:
        write_all_atomically(dict.fromkeys(old, "new"))
    assert full.value.filename == str(tmp_path / "b.txt")
    assert {path: path.read_text() for path in tmp_path.iterdir()} == old


@pytest.mark.parametrize("name", KINDS)
def test_committed_files_are_sealed(name: str) -> None:
    paths = OutputPaths.in_project(name)
    for path in (paths.module, paths.grammar):
        text = (ROOT / path).read_text(encoding="utf-8")
        assert is_generated(text)
        assert is_unedited(text)
        assert named_spec(text)[0] == name
        assert not is_unedited(text + "# mine\n")


def test_the_banner_names_the_spec(root: Path) -> None:
    text = (root / "generated/plain.py").read_text(encoding="utf-8")
    assert named_spec(text) == ("plain", spec_hash(plain_spec()))
    assert not is_generated("import re\n" + text)


#: Turns of parsers that share their engine: what says so in their message.
SHARED_TURNS = [
    (
        "json_native",
        'Hi<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>',
        "ToolCall(",
    ),
    ("plain", "Hi there", "content='Hi there'"),
]


@pytest.fixture
def sharing(root: Path, tmp_path: Path) -> Path:
    """A package of parsers that share their engine."""
    folder = tmp_path / "app" / "formats"
    command = ("vendor", "json-native", "plain", "--shared-engine", "--no-grammar")
    result = run(*command, "--into", folder, "--root", root)
    assert (result.exit_code, result.stderr) == (0, "")
    return folder


def test_parsers_may_share_their_engine(root: Path, sharing: Path) -> None:
    files = ["json_native.py", "plain.py", "turnspec_engine.py"]
    assert sorted(files_of(sharing)) == files
    assert states(sharing, root) == dict.fromkeys(files, "fresh")
    texts = {name: (sharing / name).read_text(encoding="utf-8") for name in files}
    assert all(is_unedited(text) for text in texts.values())
    text = texts["json_native.py"]
    whole = (root / "generated/json_native.py").read_text(encoding="utf-8")
    own, _, common = whole.partition(f"\n\n\n{BEGINS_COMMON}")
    _, own, of_kind = text.partition(own[own.index("class Parser:") :])
    parts = of_kind.strip().split("\n\n\n")  # what parsers of this kind alone have alike
    heads = [part[: part.index("(" if part.startswith("def") else ":")] for part in parts]
    assert (bool(own), heads) == (True, ["class WholeArguments", "def as_object", "class Turn"])
    assert all(f"\n\n\n{part}\n" in common for part in parts)
    for name in files:
        assert black.format_str(texts[name], mode=black.Mode()) == texts[name]
        command = [sys.executable, "-m", "ruff", "check", "--isolated", str(sharing / name)]
        assert subprocess.run(command, check=False).returncode == 0


@pytest.mark.parametrize(("name", "text", "said"), SHARED_TURNS)
def test_parsers_that_share_their_engine_read_alike(
    root: Path, sharing: Path, name: str, text: str, said: str
) -> None:
    code = f"import {name} as m; print(m.parse({text!r}))"
    script = code.replace(f"import {name}", f"from formats import {name}")
    shared, whole = (
        subprocess.check_output([sys.executable, "-c", source], cwd=folder, text=True)
        for source, folder in ((script, sharing.parent), (code, root / "generated"))
    )
    assert shared == whole
    assert said in whole


def test_a_stale_parser_that_shares_its_engine_is_renewed_as_such(
    root: Path, sharing: Path
) -> None:
    write_format(
        root, replace(json_native_spec(), turn=replace(json_native_spec().turn, stop=("<new>",)))
    )
    result = run("vendor", "--check", sharing, "--root", root)
    said = " ".join(result.stderr.split())
    assert f"run: turnspec vendor --update {sharing}" in said


def test_a_shared_engine_that_was_edited_or_is_old_is_told(root: Path, sharing: Path) -> None:
    engine = sharing / "turnspec_engine.py"
    append(engine, "# mine\n")
    assert states(sharing, root)["turnspec_engine.py"] == "edited"
    text = engine.read_text(encoding="utf-8").replace("# mine\n", "# older\n")
    body = "".join(line for line in text.splitlines(True) if " Text hash:  " not in line)
    engine.write_text(sealed(body), encoding="utf-8")
    result = run("vendor", "--check", sharing, "--root", root)
    assert result.exit_code == 1
    assert "stale  " in result.stdout
    assert f"run: turnspec vendor --update {sharing}" in " ".join(result.stderr.split())
    renewed = run("vendor", "--shared-engine", "--into", sharing, "--root", root)
    assert renewed.stdout == f"wrote {engine}\n"
    assert set(states(sharing, root).values()) == {"fresh"}


@pytest.fixture
def scripts(root: Path, tmp_path: Path) -> Path:
    """A folder with fresh copies in TypeScript, and others in JavaScript that share an engine."""
    folder = tmp_path / "app" / "scripts"
    for names in (("plain", "--language", "typescript"), ("json-native", "--javascript")):
        sharing = ("--shared-engine",) if "--javascript" in names else ()
        result = run(
            *("vendor", *names, *sharing, "--no-grammar", "--into", folder, "--root", root)
        )
        assert (result.exit_code, result.stderr) == (0, "")
    return folder


SCRIPTS = [
    *("json-native.d.mts", "json-native.mjs", "plain.ts"),
    *("turnspec-engine.d.mts", "turnspec-engine.mjs"),
]


def test_scripts_are_copied_and_fresh(root: Path, scripts: Path) -> None:
    assert sorted(files_of(scripts)) == SCRIPTS
    assert states(scripts, root) == dict.fromkeys(SCRIPTS, "fresh")
    for path in scripts.iterdir():
        text = path.read_text(encoding="utf-8")
        assert is_generated(text)
        assert is_unedited(text)
        assert "--language" in command_in(path)


def test_stale_scripts_are_renewed_in_their_languages(root: Path, scripts: Path) -> None:
    for spec in (plain_spec(), json_native_spec()):
        changed = replace(spec, turn=replace(spec.turn, header="### Says:\n"))
        write_format(root, changed)
    append(scripts / "turnspec-engine.mjs", "// mine\n")
    result = run("vendor", "--check", scripts, "--root", root)
    assert result.exit_code == 1
    assert result.stdout == (
        f"stale  {scripts / 'json-native.d.mts'}: the spec has changed\n"
        f"stale  {scripts / 'json-native.mjs'}: the spec has changed\n"
        f"stale  {scripts / 'plain.ts'}: the spec has changed\n"
        f"fresh  {scripts / 'turnspec-engine.d.mts'}\n"
        f"edited {scripts / 'turnspec-engine.mjs'}: not as it was generated\n"
    )
    assert " ".join(result.stderr.split()) == (
        f"to renew what is stale, run: turnspec vendor --update {scripts}"
    )


def test_the_protocol_is_pythons(tmp_path: Path) -> None:
    result = run("vendor", "--protocol", "--javascript", "--into", tmp_path)
    assert (result.exit_code, result.stderr) == (
        2,
        "error: --protocol is for parsers in Python; others declare their types themselves\n",
    )


def test_a_script_says_if_its_format_is_not_verified(root: Path, tmp_path: Path) -> None:
    write_results(root / RESULTS, {})
    command = ("vendor", "plain", "--language", "typescript", "--into", tmp_path, "--root", root)
    assert run(*command).exit_code == 1
    assert run(*command, "--force").exit_code == 0
    assert "// Unverified: " in (tmp_path / "plain.ts").read_text(encoding="utf-8")
    assert states(tmp_path, root) == {"plain.ts": "fresh", "plain.gbnf": "fresh"}


# Under another name, and made anew


def test_a_copy_has_the_name_that_its_user_gives_it(root: Path, tmp_path: Path) -> None:
    into = tmp_path / "named"
    result = run("vendor", "plain", "--as", "My_Model 32B", "--into", into, "--root", root)
    assert (result.exit_code, result.stderr) == (0, "")
    assert sorted(path.name for path in into.iterdir()) == ["my-model-32b.gbnf", "my_model_32b.py"]
    assert "vendor plain --as 'My_Model 32B' --into" in (into / "my_model_32b.py").read_text()
    assert set(states(into, root).values()) == {"fresh"}
    options = ("--language", "javascript", "--no-grammar", "--into", into, "--root", root)
    assert run("vendor", "plain", "--as", "my-model", *options).exit_code == 0
    assert {"my-model.mjs", "my-model.d.mts"} <= {path.name for path in into.iterdir()}


@pytest.mark.parametrize("wanted", [("plain", "json-native", "--as", "x"), ("plain", "--as", "!")])
def test_a_name_is_of_one_format(wanted: tuple[str, ...], root: Path, tmp_path: Path) -> None:
    result = run("vendor", *wanted, "--into", tmp_path / "none", "--root", root)
    assert result.exit_code == 2
    assert "--as names the files of one format" in result.stderr


def made_older(path: Path) -> None:
    """Make a copy as an older spec gave it: the spec's hash is another, the text's fits."""
    text = re.sub(r"(Spec hash:  )\S+", r"\g<1>" + "0" * 64, path.read_text("utf-8"), count=1)
    path.write_text(sealed(re.sub(r"\S+ Text hash:.*\n", "", text, count=1)), encoding="utf-8")


def test_copies_are_made_anew_as_they_were_made(root: Path, tmp_path: Path) -> None:
    into = tmp_path / "app"
    for wanted in (
        ("plain", "--as", "mine", "--no-grammar"),
        ("json-native", "--without", "special-tokens", "--no-grammar"),
        ("json-native", "--language", "typescript", "--shared-engine", "--no-grammar"),
        ("plain", "--javascript", "--without", "special-tokens,other-syntax", "--no-grammar"),
    ):
        assert run("vendor", *wanted, "--into", into, "--root", root).exit_code == 0
    before = files_of(into)
    shutil.move(into / "mine.py", into / "moved_by_hand.py")
    before["moved_by_hand.py"] = before.pop("mine.py")
    for name in ("moved_by_hand.py", "json_native.py", "json-native.ts", "plain.mjs"):
        made_older(into / name)
    result = run("vendor", "--check", into, "--root", root)
    assert f"run: turnspec vendor --update {into}\n" in result.stderr
    done = run("vendor", "--update", into, "--root", root)
    assert (done.exit_code, done.stderr, done.stdout.count("wrote ")) == (0, "", 4)
    assert files_of(into) == before


def test_an_edited_copy_is_made_anew_only_by_force(into: Path, root: Path) -> None:
    before = files_of(into)
    (into / "plain.py").write_text((into / "plain.py").read_text("utf-8") + "x = 1\n", "utf-8")
    made_older(into / "json_native.py")
    there = files_of(into)
    refused = run("vendor", "--update", into, "--root", root)
    assert refused.exit_code == 1
    assert f"{into / 'plain.py'}: was edited" in refused.stderr
    assert files_of(into) == there
    assert run("vendor", "--update", into, "--root", root, "--force").exit_code == 0
    assert files_of(into) == before


def test_what_is_of_no_known_format_is_not_made_anew(into: Path, root: Path) -> None:
    (root / "specs/plain.yaml").unlink()
    made_older(into / "json_native.py")
    there = files_of(into)
    refused = run("vendor", "--update", into, "--root", root)
    assert refused.exit_code == 1
    assert "no format is known as 'plain'" in refused.stderr
    assert files_of(into) == there


@pytest.mark.parametrize("target", ["vllm", "sglang", "llama-cpp-python", "renderers", "pair"])
def test_an_export_is_checked_as_what_it_is_and_made_anew_as_a_whole(
    target: str, root: Path, tmp_path: Path
) -> None:
    into = tmp_path / "a server"
    export = ("export", "json-native", "--to", target, "--into", into)
    assert run(*export, "--root", root).exit_code == 0
    plugin = into / f"json_native_{target.replace('-', '_')}.py"
    update = ("vendor", "--update", into, "--root", root)
    assert {plugin.name: "fresh"}.items() <= states(into, root).items()
    assert set(states(into, root).values()) == {"fresh"}
    before = files_of(into)
    assert run(*update).exit_code == 0
    assert files_of(into) == before
    made_older(plugin)
    there, command = files_of(into), shlex.join(["turnspec", *map(str, export)])
    checked = run("vendor", "--check", into, "--root", root)
    assert f"stale  {plugin}: the spec has changed\n" in checked.stdout
    assert checked.stderr == f"to renew what is stale, run: {command}\n"
    for forced in ((), ("--force",)):
        refused = run(*update, *forced)
        assert refused.exit_code == 1
        told = f"error: {plugin}: the spec has changed; to make it anew, run: {command}\n"
        assert refused.stderr == told
        assert files_of(into) == there
    assert run(*export, "--root", root).exit_code == 0
    assert files_of(into) == before
