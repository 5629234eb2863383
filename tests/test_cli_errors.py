"""What goes wrong outside of turnspec reaches its users as one line; nothing is half-written."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import click
import pytest
from click.shell_completion import ShellComplete

from tests.conftest import ROOT
from tests.git_checkouts import git, new_repository
from tests.own_checkouts import files_of, new_checkout
from tests.specs_for_tests import plain_spec
from tests.test_cli import run
from turnspec.cli import main as command_line
from turnspec.cli.extras import EXTRAS
from turnspec.spec.atomic import write_atomically

COMMAND = [sys.executable, "-m", "turnspec"]
FULL = Path("/dev/full")
QWEN = ROOT / "generated" / "qwen3_coder.py"


def told(
    error: BaseException, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[object, str]:
    """Return the exit code and the words of a program in which something is raised."""

    def fail(**_: object) -> NoReturn:
        raise error

    monkeypatch.setattr(command_line.turnspec, "main", fail)
    with pytest.raises(SystemExit) as left:
        command_line.main()
    return left.value.code, capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (
            OSError(errno.ENOSPC, "No space left on device", "a/b.py"),
            "a/b.py: no room is left on the disk; make some and run the same command again",
        ),
        (
            OSError(errno.EROFS, "Read-only file system", "b.py"),
            "b.py: the disk can't be written to; choose a folder on another one",
        ),
        (
            PermissionError(errno.EACCES, "Permission denied", "b.py"),
            "b.py: you may not read or write here; "
            "look at the permissions, or choose another place",
        ),
        (FileNotFoundError(errno.ENOENT, "x", "b"), "b: there is no such file or folder"),
        (
            OSError(errno.EIO, "Input/output error", b"b.py"),
            "b.py: Input/output error",
        ),
        (OSError("no number at all"), "no number at all"),
    ],
)
def test_what_the_system_refuses(
    error: OSError,
    line: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert told(error, monkeypatch, capsys) == (1, f"error: {line}\n")


@pytest.mark.parametrize("error", [KeyboardInterrupt(), click.Abort()])
def test_an_interruption(
    error: BaseException, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    line = "interrupted; files already written are whole\n"
    assert told(error, monkeypatch, capsys) == (130, line)


def test_a_module_that_an_extra_brings(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for extra, modules in EXTRAS.items():
        error = ModuleNotFoundError("No module", name=f"{modules[0]}.inner")
        assert told(error, monkeypatch, capsys) == (
            1,
            f"error: this needs {modules[0]}, which isn't installed; to install it, run: "
            f"pip install 'turnspec[{extra}]'\n",
        )
    code, words = told(ModuleNotFoundError("No module x", name="x"), monkeypatch, capsys)
    assert (code, words.splitlines()[0]) == (1, "internal error: ModuleNotFoundError: No module x")


def test_a_defect_names_the_way_to_its_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert told(ValueError("[odd]"), monkeypatch, capsys) == (
        1,
        "internal error: ValueError: [odd]\n(run with -v for the traceback)\n",
    )


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["nope"], "no command is called 'nope'; see: turnspec --help"),
        (["vend"], "no command is called 'vend' (did you mean vendor?); see: turnspec --help"),
        (["parse"], "Missing argument 'FORMAT'; see: turnspec parse --help"),
        (["vendor", "--zzz"], "No such option '--zzz'; see: turnspec vendor --help"),
        (["list", "--mode"], "Option '--mode' requires an argument; see: turnspec list --help"),
    ],
)
def test_a_wrong_usage(arguments: list[str], line: str) -> None:
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"error: {line}\n")


@pytest.mark.skipif(not FULL.exists(), reason="only Linux has a device that is always full")
def test_output_that_finds_no_room() -> None:
    with FULL.open("w") as output:
        done = subprocess.run(
            [*COMMAND, "parse", str(QWEN)],
            input="Hello!",
            stdout=output,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )
    assert done.returncode == 1
    assert done.stderr == (
        "error: no room is left on the disk; make some and run the same command again\n"
    )


@pytest.mark.parametrize("verb", ["--help", "list"])
def test_a_reader_that_has_seen_enough(verb: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*COMMAND, verb], stdout=writing, stderr=subprocess.PIPE, text=True, timeout=60
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize(
    "arguments",
    [
        ["vendor", "nope", "--into", "d"],
        ["export", "nope", "--to", "vllm"],
        ["grammar", "nope"],
        ["parse", "nope", os.devnull],
        ["explain", "nope"],
        ["tokens", "nope"],
        ["flags", "nope"],
        ["identify", "nope"],
        ["render", "nope"],
        ["diff", "nope", "nope"],
        ["diff", "nope", "nope", "--format", "json"],
        ["identify", "--turn", os.devnull],
        ["parse", "qwen3-coder", "nope"],
    ],
    ids=lambda arguments: str(arguments[0]),
)
def test_what_goes_wrong_is_in_the_document_too(arguments: list[str]) -> None:
    result = run(*arguments, "--json")
    assert result.exit_code != 0
    problems = json.loads(result.stdout)["problems"]
    assert result.stderr == "".join(f"error: {problem}\n" for problem in problems) != ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["grammar", "qwen3-coder", "--tools"],
        ["grammar", "qwen3-coder", "--response-schema"],
        ["grammar", "qwen3-coder", "--grammar"],
        ["parse", "qwen3-coder"],
        ["parse", "qwen3-coder", os.devnull, "--tools"],
        ["export", "qwen3-coder", "--to", "xgrammar", "--tools"],
        ["render", "chatml"],
        ["render", "chatml", "--grammar"],
        ["mask", "chatml"],
        ["identify", "--turn"],
        ["identify"],
    ],
    ids=" ".join,
)
def test_a_file_that_is_not_there_is_told_alike(arguments: list[str], tmp_path: Path) -> None:
    """Whatever it is for: in the same words, and with the exit code for files."""
    nowhere = tmp_path / "none.json"
    done = run(*arguments, nowhere)
    assert (done.exit_code, done.output) == (
        1,
        f"error: {nowhere}: there is no such file or folder\n",
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["analyze"],
        ["add"],
        ["vendor", "qwen3-coder", "--into"],
        ["export", "qwen3-coder", "--to", "vllm", "--into"],
    ],
    ids=" ".join,
)
def test_an_empty_path_is_not_this_folder(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is what a shell makes of a variable that isn't set."""
    monkeypatch.chdir(tmp_path)
    done = run(*arguments, "")
    assert done.exit_code == 2
    assert "is empty; . is this folder" in done.output
    assert [*tmp_path.iterdir()] == []


def test_a_command_to_copy_quotes_a_strangers_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a shell reads it, it is one word; so is the folder of a new repository."""
    monkeypatch.chdir(tmp_path)
    name = "an owl's; $(touch x).jinja"
    shutil.copy(ROOT / "tests/templates/unseen-arguments-into.jinja", name)
    assert run("init", "a nest").exit_code == 0
    shutil.copy(name, Path("a nest/templates", name))
    for arguments in (["identify", name], ["parse", name], ["check", "--root", "a nest"]):
        told = run(*arguments).stderr
        command = told[told.index(": turnspec ") + 2 :].splitlines()[0]
        assert Path(shlex.split(command)[2]).name == name, told
    told = run("init", "an eyrie").stderr
    assert "cd 'an eyrie' && turnspec add " in told


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["grammar", "qwen3-coder", "--tools"], '[{"name": "look"}]'),
        (["grammar", "qwen3-coder", "--response-schema"], '{"type": "boolean"}'),
        (["parse", "qwen3-coder", os.devnull, "--tools"], '[{"name": "look"}]'),
        (["render", "chatml"], '[{"role": "user", "content": "Look!"}]'),
    ],
    ids=["tools", "schema", "tools-of-parser", "messages"],
)
def test_json_may_have_a_byte_order_mark(arguments: list[str], text: str, tmp_path: Path) -> None:
    """Windows' shell writes one."""
    path = tmp_path / "marked.json"
    path.write_text(text, encoding="utf-8-sig")
    done = run(*arguments, path)
    assert (done.exit_code, done.stderr) == (0, "")


def test_a_disk_that_fills_up_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text("old", encoding="utf-8")
    whole = Path.write_bytes

    def half(self: Path, data: bytes) -> int:
        whole(self, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", half)
    with pytest.raises(OSError, match="No space left on device") as full:
        write_atomically(path, "new text")
    assert full.value.filename == str(path)
    assert [(found.name, found.read_text()) for found in tmp_path.iterdir()] == [
        ("spec.yaml", "old")
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
@pytest.mark.parametrize(
    ("arguments", "module"),
    [
        (["regen", "--messages", "2"], "generated/plain_content.py"),
        (["analyze", "templates/plain-content.jinja", "--messages", "2", "--into", "out"], "out/"),
        (["vendor", "qwen3-coder", "--into", "out"], "out/qwen3_coder.py"),
    ],
    ids=["regen", "analyze", "vendor"],
)
def test_a_spec_is_never_without_its_parser(
    tmp_path: Path, arguments: list[str], module: str
) -> None:
    """The spec and the grammar find room, and the parser doesn't."""
    import resource

    root = new_checkout(tmp_path / "checkout", ("plain-content",))
    before = files_of(root)
    done = subprocess.run(
        [*COMMAND, *arguments],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)),
    )
    assert done.returncode == 1
    assert module in done.stderr
    assert done.stderr.endswith(
        "too large for a file here; look at the limits of this system (ulimit -f)\n"
    )
    assert len(done.stderr.splitlines()) == 1
    assert files_of(root) == before


def interrupted(
    command: list[str], cwd: Path, ready: Callable[[], bool], times: int
) -> tuple[int, str, str]:
    """Start a command, press Ctrl-C in its terminal once it is ready, and return what it says."""
    process = subprocess.Popen(
        command,
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    end = time.monotonic() + 60
    while not ready() and time.monotonic() < end:
        time.sleep(0.02)
    for _ in range(times):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.02)
    output, error = process.communicate(timeout=60)
    return process.returncode, output, error


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no process groups")
@pytest.mark.parametrize("times", [1, 4])
def test_ctrl_c_in_the_middle_of_the_work(times: int, tmp_path: Path) -> None:
    slow = ("nested-elements", "json-array-with-ids", "channels", "blocks-in-container")
    root = new_checkout(tmp_path / "checkout", ("plain-content", *slow))
    first = root / "specs" / "plain-content.yaml"
    command = [*COMMAND, "regen", "--messages", "5"]
    code, output, error = interrupted(command, root, first.exists, times)
    assert code == 130
    assert output == ""
    assert error.strip() == "interrupted; files already written are whole"
    assert first.read_text(encoding="utf-8").startswith("# Written by turnspec")
    assert not list(root.rglob("*tmp"))


def test_a_repository_that_git_does_not_trust(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = new_repository(tmp_path / "other", [plain_spec()])
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    done = subprocess.run([*COMMAND, "diff"], cwd=root, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"error: git doesn't trust {root}, as it is another user's; to trust it: "
        f"git config --global --add safe.directory {root}\n"
    )


def test_a_repository_that_git_cannot_read(tmp_path: Path) -> None:
    root = new_repository(tmp_path / "other", [plain_spec()])
    git(root, "config", "core.repositoryformatversion", "99")
    done = subprocess.run([*COMMAND, "diff"], cwd=root, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"error: git can't be used in {root}: fatal: ")


def test_the_table_shows_only_what_ran(tmp_path: Path) -> None:
    """Offline and with an empty cache nothing ran, whatever the last results say."""
    root = tmp_path / "checkout"
    for name in ("templates/index.yaml", "specs/verification.json", "specs/qwen3-coder.yaml"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes((ROOT / name).read_bytes())
    done = subprocess.run(
        [*COMMAND, "regen", "--offline"], cwd=root, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert "pass" not in done.stdout
    assert "0 built, 0 unchanged" in done.stdout
    assert done.stderr.startswith("error: templates/index.yaml:")
    assert "cannot fetch llama_cpp_python-0.3.36.tar.gz: working offline" in done.stderr


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        (("vend",), ["vendor"]),
        (("identify", "qwen3-cod"), ["qwen3-coder"]),
        (("render", "qwen3-cod"), ["qwen3-coder"]),
        (("export", "qwen3-coder", "--to", "v"), ["vllm"]),
        (("identify", "mod"), ["file"]),
        (("diff", "formats/x"), ["file"]),
        (("parse", "qwen3-coder", "--tools", "t"), ["file"]),
    ],
)
def test_shells_complete_names_targets_and_files(
    words: tuple[str, ...], completed: list[str]
) -> None:
    found = ShellComplete(command_line.turnspec, {}, "turnspec", "").get_completions(
        [*words[:-1]], words[-1]
    )
    assert [item.value if item.type == "plain" else item.type for item in found] == completed


def test_what_needs_no_messages_does_not_wait_for_any() -> None:
    source, sink = os.pipe()  # which nobody writes to, and nobody closes
    command = [*COMMAND, "render", "chatml", "--capabilities"]
    done = subprocess.run(command, stdin=source, capture_output=True, text=True, timeout=60)
    os.close(source)
    os.close(sink)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "typed"),
    [(["parse", "qwen3-coder"], "Hello!\n"), (["render", "chatml"], "[]\n")],
)
def test_a_command_says_that_it_waits_for_what_is_typed(arguments: list[str], typed: str) -> None:
    master, terminal = os.openpty()
    os.write(master, f"{typed}\x04".encode())
    command = [*COMMAND, *arguments]
    done = subprocess.run(command, stdin=terminal, capture_output=True, text=True, timeout=60)
    os.close(master)
    os.close(terminal)
    assert done.stderr.startswith("notice: reading standard input; Ctrl+D ends it\n")
