"""`turnspec parse --column`: files of many outputs, whole, interrupted, and with rows that fail."""

from __future__ import annotations

import importlib.util
import json
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from tests.generated_formats import ROOT, committed_format
from tests.test_cli import run
from turnspec.spec.problems import Problem
from turnspec.transcripts.files import Batch, JsonLines
from turnspec.transcripts.rows import Counts, Wanted
from turnspec.transcripts.run import Run, _in_order, begun, parse_file

NAME = "qwen-qwen3-0-6b"
CALL = '<tool_call>\n{"name": "add", "arguments": {"x": 1}}\n</tool_call>'
TEXTS = ["Hello!<|im_end|>", f"<think>\nHm.\n</think>\n\n{CALL}", "<tool_call>\n{", "é\u2028"]
ROWS = [{"id": number, "text": TEXTS[number % len(TEXTS)]} for number in range(520)]
FAULTY = {
    b"{bad": "not JSON: Expecting property name enclosed in double quotes at offset 1",
    b'{"text": "\xff"}': "not UTF-8: byte 0xff at offset 10",
    b"[1]": "is JSON, but not an object",
    b'{"text": 7}': "has no text in 'text': int instead",
    b"{}": "has no text in 'text': no such column",
    b'{"text": "", "parsed": 1}': "has a column 'parsed' already",
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file of good rows, and blank lines, which are none."""
    path = tmp_path / "in.jsonl"
    lines = (json.dumps(row, ensure_ascii=False) for row in ROWS)
    path.write_text("\n\n".join(lines), encoding="utf-8")
    return path


def a_run(path: Path, processes: int = 1) -> Run:
    module = (ROOT / "generated" / "qwen_qwen3_0_6b.py").read_text(encoding="utf-8")
    wanted = Wanted("text", "parsed", {})
    return Run(path, JsonLines(path), module, wanted, path.with_name("out.jsonl"), processes)


def rows_of(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


@pytest.mark.parametrize("processes", [1, 2])
def test_rows_come_back_in_order_with_what_was_read(path: Path, processes: int) -> None:
    counts = Counts()
    this = a_run(path, processes)
    parse_file(this, counts)
    parse = committed_format(NAME).module.parse
    messages = [parse(text) for text in TEXTS]
    found = rows_of(this.out)
    assert [row["id"] for row in found] == [row["id"] for row in ROWS]
    assert [row["parsed"]["message"] for row in found[:4]] == [m.to_dict() for m in messages]
    assert found[6]["parsed"]["problems"] == [
        {"offset": p.offset, "kind": p.kind, "message": p.message} for p in messages[2].problems
    ]
    kinds = {p.kind: 130 for p in messages[2].problems}
    assert (counts.rows, counts.failed, dict(counts.problems)) == (520, 0, kinds)
    assert sorted(path.parent.iterdir()) == [path, this.out]


def test_rows_that_fail_are_kept_and_told(tmp_path: Path) -> None:
    path, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    path.write_bytes(b"\n".join([*FAULTY, b'{"text": "Hello!"}']))
    result = run(
        "parse", NAME, path, "--column", "text", "--into", out, "--jobs", 1, "--root", ROOT
    )
    assert result.exit_code == 1
    assert f"wrote {out}: 7 rows, " in result.stderr
    assert "6 rows can't be read; they are kept, with the reason\n" in result.stderr
    *failed, good = rows_of(out)
    assert [row["parsed"]["error"] for row in failed] == [*FAULTY.values()]
    assert failed[1]["parsed"]["line"] == '{"text": "\\xff"}'
    assert good == {
        "text": "Hello!",
        "parsed": {"message": {"role": "assistant", "content": "Hello!"}, "problems": []},
    }


def test_an_interrupted_run_goes_on(path: Path) -> None:
    this = a_run(path)
    parse_file(this, Counts())
    whole = this.out.read_bytes()
    this.out.unlink()

    class InterruptedHereError(Exception):
        pass

    def interrupt(size: int) -> None:
        raise InterruptedHereError

    with pytest.raises(InterruptedHereError):
        parse_file(this, Counts(), interrupt)
    done = this.part.read_bytes()
    assert whole.startswith(done)
    this.part.write_bytes(done + b'{"id": 256, "pars')
    counts = begun(this)
    assert isinstance(counts, Counts)
    assert counts.rows == done.count(b"\n") > 0
    sizes: list[int] = []
    parse_file(this, counts, sizes.append)
    assert this.out.read_bytes() == whole
    assert (counts.rows, sum(sizes)) == (520, len(path.read_bytes().replace(b"\n\n", b"\n")))


def test_what_is_there_is_not_written_over(path: Path) -> None:
    this = a_run(path)
    this.part.write_text("", encoding="utf-8")
    told = "is of another run; delete it to begin anew"
    assert begun(this) == Problem(told, str(this.part))
    this.note.write_text(this.identity().replace('"text"', '"texts"'), encoding="utf-8")
    assert begun(this) == Problem(told, str(this.part))
    this.note.write_text(this.identity(), encoding="utf-8")
    assert begun(this) == Counts()
    this.out.write_text("", encoding="utf-8")
    assert begun(this) == Problem("is there already; delete it, or name another", str(this.out))


def test_only_so_many_batches_are_under_way() -> None:
    given: list[Future[Any]] = []

    def give(batch: Batch) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(([], Counts()))
        given.append(done)
        return done

    yielded = 0
    for _ in _in_order((Batch([], 1) for _ in range(100)), give, 2):
        yielded += 1
        assert len(given) - yielded < 6
    assert yielded == 100


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (("in.jsonl", "--column", "text"), "give --column and --into together"),
        (
            ("in.jsonl", "--column", "text", "--into", "out.jsonl", "--json"),
            "give one of --column, --events and --json",
        ),
        (
            ("in.jsonl", "--column", "text", "--into", "out.parquet"),
            "out.parquet: what comes from lines of JSON goes into a .jsonl file",
        ),
        (
            ("in.txt", "--column", "text", "--into", "out.jsonl"),
            "in.txt: with --column a file is .jsonl or .parquet",
        ),
    ],
)
def test_misuse(
    arguments: tuple[str, ...], wanted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / arguments[0]).write_text("", encoding="utf-8")
    result = run("parse", NAME, *arguments, "--root", ROOT)
    assert (result.exit_code, result.stderr) == (2, f"error: {wanted}\n")


def test_parquet_needs_an_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "pyarrow" else find(name)
    )
    path = tmp_path / "in.parquet"
    path.write_bytes(b"PAR1")
    out = tmp_path / "out.parquet"
    result = run("parse", NAME, path, "--column", "text", "--into", out, "--root", ROOT)
    message = "this needs pyarrow, which isn't installed; to install it, run: "
    wanted = f"error: {message}pip install 'turnspec[parquet]'\n"
    assert (result.exit_code, result.stderr) == (1, wanted)
    assert [*tmp_path.iterdir()] == [path]
