"""What templates, errors and file names hold does nothing to the terminal that shows it."""

from __future__ import annotations

import ast
import io
import json
import os
import pty
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import click
import pytest
from rich.table import Table

from tests.git_checkouts import new_repository
from tests.own_checkouts import new_checkout
from tests.specs_for_tests import plain_spec
from tests.test_cli import run, run_apart
from turnspec.cli import console
from turnspec.cli.console import (
    LONGEST_LINE,
    LONGEST_MESSAGE,
    Fault,
    Terminal,
    finish,
    json_text,
    print_notice,
    say,
)
from turnspec.spec.problems import Problem
from turnspec.spec.visible import visible

#: A colour, a title, a beep, C1's beginning of a sequence, DEL, reversed writing, a line end.
NASTY = "\x1b[31m\x1b]0;owned\x07\x9b2J\x7f\u202eevil\u2066\u2028\r\n::"
SHOWN = r"\e[31m\e]0;owned\a\x9B2J\x7F\u202Eevil\u2066\u2028\r\n::".replace(r"\e", r"\x1B")
SHOWN = SHOWN.replace(r"\a", r"\x07")
COMMANDING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
TALK = (
    "{% for m in messages %}<|{{ m.role }}|>MARK{{ m.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>MARK{% endif %}"
)


def commands_in(text: str) -> list[str]:
    """Return what a terminal would obey."""
    return COMMANDING.findall(text)


def test_text_is_shown_with_escapes(capsys: pytest.CaptureFixture[str]) -> None:
    assert visible(NASTY) == SHOWN
    say(f"a\tb\n{NASTY}")
    print_notice(NASTY)
    Fault(NASTY).show()
    with pytest.raises(click.exceptions.Exit):
        finish([Problem(NASTY, file=f"{NASTY}.jinja")])
    told = capsys.readouterr()
    assert told.out == f"a       b\n{SHOWN[:-4]}\n::\n"
    assert told.err.splitlines() == [
        f"notice: {SHOWN}",
        f"error: {SHOWN}",
        f"error: {SHOWN}.jinja: {SHOWN}",
    ]


def test_half_a_character_can_be_printed() -> None:
    given = json.dumps([{"role": "user", "content": "\ud800"}])
    assert "user\n\\ud800<|im_end|>" in run("render", "chatml", given=given).stdout


def test_a_table_is_shown_with_escapes() -> None:
    terminal = Terminal(file=io.StringIO(), width=200)
    table = Table("name")
    table.add_row(NASTY.replace("[", "("))
    terminal.print(table)
    assert isinstance(terminal.file, io.StringIO)
    shown = terminal.file.getvalue()
    assert commands_in(shown) == []
    assert r"\x1B(31m" in shown


def test_json_stays_what_it_is() -> None:
    text = json_text({"text": f"{NASTY}\ud800é"})
    assert commands_in(text) == []
    assert json.loads(text) == {"text": f"{NASTY}\ud800é"}
    assert "é" in text


def test_messages_of_a_megabyte_are_cut(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(click.exceptions.Exit):
        finish([Problem("x" * 1_000_000, file="a.jinja")])
    say("y" * 1_000_000)
    told = capsys.readouterr()
    assert told.err.endswith("x… (998,010 more characters)\n")
    assert len(told.err) < LONGEST_MESSAGE + 50
    assert told.out.endswith("y… (980,000 more characters)\n")
    assert len(told.out) < LONGEST_LINE + 50


def test_commands_print_through_one_place() -> None:
    """No module of cli/ but that one writes to a stream or a console by itself."""
    folder = Path(console.__file__).parent
    others = [path for path in folder.glob("*.py") if path.name != "console.py"]
    assert len(others) > 20
    for path in others:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            direct = re.fullmatch(r"print|.*\b(secho|echo|print_exc|write|print)", called)
            assert not direct, f"{path.name}:{getattr(node, 'lineno', 0)}: {called}"


@pytest.fixture(scope="module")
def nasty_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A template whose markers hold what terminals obey, in a file whose name does, too."""
    path = tmp_path_factory.mktemp("nasty") / "na\x1b[31msty\u202e\x9b.jinja"
    mark = "\x1b]0;x\x07\u202e\x9b1m\x7f"
    path.write_text(TALK.replace("MARK", mark), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "command",
    [
        ["analyze", "FILE"],
        ["analyze", "FILE", "-v", "--into", "OUT"],
        ["explain", "FILE", "--verbose"],
        ["explain", "FILE", "--json"],
        ["explain", "FILE", "--trace", NASTY],
        ["identify", "FILE"],
        ["identify", "FILE.gone"],
        ["render", "FILE", "OUT/none"],
        ["vendor", "FILE", "--into", "OUT"],
        ["grammar", "FILE"],
        ["parse", NASTY],
        ["list", "--root", NASTY],
    ],
    ids=" ".join,
)
def test_what_commands_say_of_a_nasty_template(
    nasty_template: Path, tmp_path: Path, command: list[str]
) -> None:
    places = {"FILE": str(nasty_template), "OUT": str(tmp_path)}
    given = [part.replace("FILE", places["FILE"]).replace("OUT", places["OUT"]) for part in command]
    result = run(*given)
    assert result.stdout or result.stderr or result.exit_code
    assert commands_in(result.stdout) == []
    assert commands_in(result.stderr) == []


def test_a_repository_of_nasty_templates(nasty_template: Path, tmp_path: Path) -> None:
    root = new_checkout(tmp_path / "checkout", ())
    steps = [
        ["add", nasty_template, "--root", root],
        ["regen", "--messages", "2", "--root", root, "-v"],
        ["check", "--root", root],
        ["list", "--root", root],
    ]
    for step in steps:
        result = run(*step)
        assert result.stdout
        assert commands_in(result.stdout + result.stderr) == [], step


def test_a_wrong_usage_repeats_no_command_to_the_terminal() -> None:
    done = run_apart("parse", f"--{NASTY}")
    assert done.returncode == 2
    assert commands_in(done.stderr) == []
    assert len(done.stderr.splitlines()) == 1


def test_a_change_of_nasty_markers(tmp_path: Path) -> None:
    old = plain_spec()
    ends = tuple(replace(end, final=f"<{NASTY}>", followed=f"<{NASTY}>") for end in old.turn.ends)
    new = replace(old, turn=replace(old.turn, ends=ends, stop=(f"<{NASTY}>",)))
    root = new_repository(tmp_path / "other", [new])
    new_repository(tmp_path / "old", [old])
    for form in ("text", "markdown", "json", "github"):
        result = run(
            "diff", tmp_path / "old/specs/plain.yaml", root / "specs/plain.yaml", "--format", form
        )
        assert result.exit_code == 1, result.stderr
        assert commands_in(result.stdout + result.stderr) == []


def on_a_terminal(*command: object) -> str:
    """Return what a command writes to a terminal, without its colours."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "dumb", "NO_COLOR": "1"}
    full = [sys.executable, "-m", "turnspec", *map(str, command)]
    with subprocess.Popen(full, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        text = b""
        while piece := _read(ours):
            text += piece
        process.wait(60)
    os.close(ours)
    return text.decode("utf-8").replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # Linux says so that the other end is closed
        return b""


def test_a_prompt_is_raw_in_a_pipe_and_shown_on_a_terminal(tmp_path: Path) -> None:
    messages = tmp_path / "messages.json"
    messages.write_text(json.dumps([{"role": "user", "content": f"é\t{NASTY}"}]), "utf-8")
    piped = run("render", "chatml", messages)
    assert f"<|im_start|>user\né\t{NASTY}<|im_end|>" in piped.stdout_bytes.decode("utf-8")
    shown = on_a_terminal("render", "chatml", messages)
    assert f"<|im_start|>user\né\t{SHOWN[:-4]}\n::<|im_end|>" in shown
    assert commands_in(shown) == []
