"""Files that are none, files without end, and what is left where a command is ended."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.own_checkouts import files_of, new_checkout
from tests.test_cli import run_whole
from turnspec.spec import atomic, input_files
from turnspec.spec.atomic import replacing, write_all_atomically, write_atomically
from turnspec.spec.input_files import file_bytes, file_lines, file_text, open_file

COMMAND = [sys.executable, "-m", "turnspec"]
QWEN = str(ROOT / "generated" / "qwen3_coder.py")
SPEC = str(ROOT / "specs" / "qwen3-coder.yaml")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")

#: Every way in which a command reads a file, with FILE where it is named.
READING = {
    "identify": ("jinja", ["identify", "FILE"]),
    "identify a GGUF": ("gguf", ["identify", "FILE"]),
    "analyze": ("jinja", ["analyze", "FILE"]),
    "explain": ("jinja", ["explain", "FILE"]),
    "render": ("jinja", ["render", "FILE"]),
    "messages": ("json", ["render", "chatml", "FILE"]),
    "parse": ("txt", ["parse", QWEN, "FILE"]),
    "a parser": ("py", ["parse", "FILE", "-"]),
    "many": ("jsonl", ["parse", QWEN, "FILE", "--column", "text", "--into", "out.jsonl"]),
    "tools": ("json", ["parse", QWEN, "-", "--tools", "FILE"]),
    "tools of a grammar": ("json", ["grammar", SPEC, "--tools", "FILE"]),
    "a spec": ("yaml", ["grammar", "FILE"]),
    "two specs": ("yaml", ["diff", "FILE", SPEC]),
    "a copy": ("py", ["diff", "FILE"]),
    "a trace": ("txt", ["explain", "qwen3-coder", "--trace-file", "FILE"]),
}


@contextmanager
def soon() -> Iterator[None]:
    """End a test that waits for a pipe."""

    def give_up(*_: object) -> None:
        raise AssertionError("it waits for a pipe")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(60)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("what", READING)
def test_what_is_no_file_is_told(what: str, tmp_path: Path) -> None:
    suffix, arguments = READING[what]
    device, pipe = tmp_path / f"device.{suffix}", tmp_path / f"pipe.{suffix}"
    device.symlink_to("/dev/zero")  # as good as one without end, and harmless if it is read
    os.mkfifo(pipe)
    for path, told in ((device, "a device or a socket, no file"), (pipe, "a pipe")):
        given = [str(path) if word == "FILE" else word for word in arguments]
        with soon():
            done = run_whole(*given, cwd=tmp_path)
        assert done.returncode in (1, 2)
        assert len(done.stderr.splitlines()) == 1, done.stderr
        assert f"{path}: " in done.stderr, done.stderr
        assert told in done.stderr, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted((device.name, pipe.name))


def test_no_file_takes_the_place_of_a_device(tmp_path: Path) -> None:
    """A terminal of the test's own, as what fails here would write over the machine's devices."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    ends = os.openpty()
    for path in (pipe, Path(os.ttyname(ends[1]))):
        with soon(), pytest.raises(OSError, match="a device or a pipe; name a file"):
            write_atomically(path, "text")
    for end in ends:
        os.close(end)


def test_a_pipe_that_somebody_writes_into_is_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)  # so that the writer finds one
    pipe.write_bytes("é\r\nb".encode())
    assert file_text(pipe) == "é\nb"
    os.close(reader)
    with pytest.raises(OSError, match="a pipe, no file"):
        open_file(pipe)


def test_how_much_is_read_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_files, "LARGEST_INPUT", 10)
    path = tmp_path / "ten"
    path.write_bytes(b"123456789\n" * 3)
    assert [*file_lines(path)] == [b"123456789\n"] * 3
    with pytest.raises(OSError, match="larger than 32 MB, the most that is read at once"):
        file_bytes(path)
    path.write_bytes(b"12345678901\n")
    with pytest.raises(OSError, match="has a line that is larger than 32 MB"):
        [*file_lines(path)]
    path.write_bytes(b"1234567890")
    assert file_bytes(path) == b"1234567890"


def test_input_without_end_is_told() -> None:
    with Path("/dev/zero").open("rb") as endless:
        for arguments in (["parse", QWEN], ["render", "chatml"], ["parse", QWEN, "--tools", "-"]):
            done = subprocess.run(
                [*COMMAND, *arguments], stdin=endless, capture_output=True, timeout=60, check=False
            )
            assert done.returncode in (1, 2)
            assert b"standard input: larger than 32 MB, the most that is read" in done.stderr


#: What reads only what came with turnspec, or what it knows to be a file.
OWN = {
    *("chat/sources", "codegen/banner", "codegen/compiled", "codegen/printer/script"),
    *(
        "export/plugin",
        "export/plugins/pair",
        "export/plugins/vllm",
        "live/real_vocabulary",
        "pipeline/state",
        "pipeline/vendored_texts",
    ),
    *("report/legend", "report/page", "repository/starting", "spec/atomic", "spec/schema"),
}


def test_all_other_files_are_read_in_one_place() -> None:
    """Whatever opens a file otherwise could be given a device."""
    folder = ROOT / "generator" / "turnspec"
    reading = re.compile(
        r"\.read_text\(|\.read_bytes\(|path\.open\(|[^.\w]open\(\w*path|click.File"
    )
    found = {
        path.relative_to(folder).with_suffix("").as_posix()
        for path in folder.rglob("*.py")
        if reading.search(path.read_text(encoding="utf-8"))
    }
    assert found - OWN == {"spec/input_files"}


@contextmanager
def pressed(monkeypatch: pytest.MonkeyPatch, times: int) -> Iterator[list[Path]]:
    """Have Ctrl-C pressed after each of the first files that takes its place."""
    taken: list[Path] = []
    whole = Path.replace

    def replace(self: Path, target: Path) -> Path:
        found = whole(self, target)
        taken.append(target)
        if len(taken) <= times:
            signal.raise_signal(signal.SIGINT)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", replace)
        yield taken


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_between_two_files_waits_for_the_last(
    times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [tmp_path / name for name in "abc"]
    write_all_atomically(dict.fromkeys(paths, "old"))
    with pressed(monkeypatch, times) as taken, pytest.raises(KeyboardInterrupt):
        write_all_atomically(dict.fromkeys(paths, "new"))
    assert taken == paths
    assert {path: path.read_text() for path in tmp_path.iterdir()} == dict.fromkeys(paths, "new")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_while_old_files_are_put_back_cuts_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [tmp_path / name for name in "abc"]
    write_all_atomically(dict.fromkeys(paths, "old"))
    whole = Path.replace

    def replace(self: Path, target: Path) -> Path:
        signal.raise_signal(signal.SIGINT)
        if target.name == "c":
            raise PermissionError(13, "Permission denied", str(target))
        return whole(self, target)

    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises(KeyboardInterrupt):
        write_all_atomically(dict.fromkeys(paths, "new"))
    assert {path: path.read_text() for path in tmp_path.iterdir()} == dict.fromkeys(paths, "old")


def test_a_template_is_taken_out_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C, wherever it comes, doesn't leave half of it."""
    root = new_checkout(tmp_path / "checkout", ("plain-content",))
    assert run_whole("regen", "--messages", "2", cwd=root).returncode == 0
    assert any("plain_content" in path for path in files_of(root))
    whole = Path.unlink

    def unlink(self: Path, missing_ok: bool = False) -> None:
        signal.raise_signal(signal.SIGINT)
        whole(self, missing_ok)

    monkeypatch.setattr(Path, "unlink", unlink)
    assert run_whole("remove", "plain-content", cwd=root).returncode == 130
    texts = files_of(root)
    assert not any("plain_content" in path for path in texts)
    assert "plain-content" not in str([t for path, t in texts.items() if path.startswith("specs")])


def test_what_a_kill_left_behind_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    program = (
        "import os, pathlib\n"
        "pathlib.Path.replace = lambda *_: os.kill(os.getpid(), 9)\n"
        "from turnspec.spec.atomic import write_atomically\n"
        f"write_atomically(pathlib.Path({str(path)!r}), 'new')"
    )
    subprocess.run([sys.executable, "-c", program], check=False, timeout=60)
    (left,) = tmp_path.iterdir()
    mine = tmp_path / ".notes.tmp"
    mine.write_text("mine")
    write_atomically(path, "new")
    assert left.exists(), "it may be of a command that runs"
    past = time.time() - atomic._LEFT_BEHIND - 1
    for old in (left, mine):
        os.utime(old, (past, past))
    write_atomically(path, "new")
    assert sorted(tmp_path.iterdir()) == [mine, path]


def test_what_others_write_takes_its_place_whole(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "model.gguf"
    with suppress(ValueError), replacing(path) as half:
        half.write_text("half", encoding="utf-8")
        raise ValueError
    assert [*path.parent.iterdir()] == []
    with replacing(path) as whole:
        whole.write_text("whole", encoding="utf-8")
    assert [found.read_text() for found in path.parent.iterdir()] == ["whole"]
