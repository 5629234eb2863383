"""Standard streams that are closed, full, or can't show all text; modules that are no parsers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.git_checkouts import new_repository
from tests.specs_for_tests import plain_spec
from tests.test_cli import run_whole

COMMAND = f"{sys.executable} -m turnspec"
QWEN = ROOT / "generated" / "qwen3_coder.py"
CLOSED = "standard input or output is closed; leave it open, or redirect it"
FULL = "no room is left on the disk; make some and run the same command again"
#: As most users have it: with buffers, which are written out once more when Python ends.
BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
ASCII = {**BUFFERED, "PYTHONIOENCODING": "ascii"}

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="it takes a shell")


def shell(line: str, cwd: Path = ROOT, **options: str) -> subprocess.CompletedProcess[str]:
    """Run a command line, with T for the command."""
    return subprocess.run(
        ["bash", "-c", line.replace("T ", f"{COMMAND} ", 1)],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
        env=ASCII if "encoding" in options else BUFFERED,
        check=False,
    )


@pytest.mark.parametrize(
    ("line", "code", "told"),
    [
        ("T list >&-", 1, CLOSED),
        ("T list --json >&-", 1, CLOSED),
        ("T --help >&- <&-", 1, CLOSED),
        (f"T parse {QWEN} >&- </dev/null", 1, CLOSED),
        (f"T parse {QWEN} <&-", 1, CLOSED),
        ("T render chatml <&-", 1, CLOSED),
        (f"T parse {QWEN} --tools - <&-", 1, CLOSED),
        ("T list --json >/dev/full", 1, FULL),
        ("T nope 2>&-", 2, ""),
        ("T nope >&- 2>&- <&-", 2, ""),
        ("T nope 2>/dev/full", 2, ""),
    ],
)
def test_a_stream_that_takes_or_gives_nothing(line: str, code: int, told: str) -> None:
    done = shell(line)
    assert (done.returncode, done.stdout) == (code, "")
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == (1 if told else 0), done.stderr


def test_what_is_written_without_a_closed_stream() -> None:
    """Its number isn't lent to a file, and what can be done is."""
    done = shell(f"T parse {QWEN} 2>&- <<<'Hello!<|im_end|>'")
    assert (done.returncode, json.loads(done.stdout)["content"]) == (0, "Hello!")


def test_text_where_only_ascii_can_be_shown() -> None:
    text = r"$'h\u00e9\u202e\U0001f600'"
    done = shell(f"T explain qwen3-coder --trace {text}", encoding="ascii")
    assert (done.returncode, done.stderr, done.stdout.isascii()) == (0, "", True)
    assert r"h\xe9\u202E\U0001f600" in done.stdout
    done = shell(f"T parse {QWEN} <<<{text}", encoding="ascii")
    assert (done.returncode, done.stderr, done.stdout.isascii()) == (0, "", True)
    assert json.loads(done.stdout)["content"] == "h\xe9\u202e\U0001f600"
    done = shell(f"T parse {QWEN} $'\\u00e9.txt'", encoding="ascii")
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1)


#: What Python raises for null bytes, by its version.
OF_NULLS = "SyntaxError" if sys.version_info >= (3, 11, 4) else "ValueError"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("\0" * 99, f"{OF_NULLS}: source code string cannot contain null bytes"),
        ("x = 1", "AttributeError: module 'generated_parser' has no attribute 'Parser'"),
        ("def (", "SyntaxError: invalid syntax (generated_parser.py, line 1)"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("Parser = 3", "TypeError: 'int' object is not callable"),
        ("def Parser(**_): raise ValueError('no')", "ValueError: no"),
    ],
)
def test_a_module_that_is_no_parser(text: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text(text, encoding="utf-8")
    done = shell(f"T parse {path} <<<Hello!")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"error: {path}: can't be used as a parser: {told}\n"


@pytest.mark.parametrize("text", ["", "null\n", "\0", "[" * 9999])
def test_a_known_parser_that_was_written_over(text: str, tmp_path: Path) -> None:
    root = new_repository(tmp_path / "own", [plain_spec()])
    (module,) = (root / "generated").glob("*.py")
    module.write_text(text, encoding="utf-8")
    done = run_whole("parse", "plain", cwd=root)
    assert (done.returncode, done.stdout) == (1, "")
    told = "isn't what turnspec generated; run: turnspec regen"
    assert done.stderr == f"error: generated/{module.name}: {told}\n"


def test_a_known_parser_that_was_broken(tmp_path: Path) -> None:
    root = new_repository(tmp_path / "own", [plain_spec()])
    (module,) = (root / "generated").glob("*.py")
    module.write_text(module.read_text(encoding="utf-8") + "\n1 / 0\n", encoding="utf-8")
    done = run_whole("parse", "plain", cwd=root)
    told = "can't be used as a parser: ZeroDivisionError: division by zero"
    assert (done.returncode, done.stderr) == (1, f"error: plain: {told}\n")
