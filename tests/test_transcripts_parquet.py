"""`turnspec parse --column` with Parquet files: whole, interrupted, and with rows that fail."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow.parquet import read_table, write_table

from tests.generated_formats import ROOT, committed_format
from tests.test_cli import run
from tests.test_transcripts import NAME, TEXTS
from turnspec.transcripts.files import Parquet
from turnspec.transcripts.rows import Counts, Wanted
from turnspec.transcripts.run import Run, begun, parse_file

COUNT = 600
ANSWERS = [TEXTS[number % len(TEXTS)] for number in range(COUNT)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file whose groups of rows end elsewhere than the batches that are parsed."""
    path = tmp_path / "in.parquet"
    columns = {
        "id": pa.array(range(COUNT), pa.int16()),
        "answer": pa.array(ANSWERS, pa.large_string()),
        "scores": pa.array([[0.5, None]] * COUNT, pa.list_(pa.float32())),
    }
    write_table(pa.table(columns), path, row_group_size=170)
    return path


def parsed(path: Path, out: Path, *more: object) -> Any:
    return run("parse", NAME, path, "--column", "answer", "--into", out, *more, "--root", ROOT)


def wanted(texts: Sequence[str]) -> list[dict[str, Any]]:
    """Return what the parser itself makes of some texts, as a row of the output has it."""
    messages = map(committed_format(NAME).module.parse, texts)
    return [
        {
            "message": message.to_dict(),
            "problems": [
                {"offset": p.offset, "kind": p.kind, "message": p.message} for p in message.problems
            ],
        }
        for message in messages
    ]


@pytest.mark.parametrize("jobs", [1, 2])
def test_columns_stay_and_one_is_added(path: Path, jobs: int) -> None:
    out = path.with_name("out.parquet")
    result = parsed(path, out, "--as", "read", "--jobs", jobs)
    assert result.exit_code == 0, result.stderr
    assert f"wrote {out}: {COUNT} rows, " in result.stderr
    given, found = read_table(path), read_table(out)
    assert found.schema == given.schema.append(pa.field("read", pa.string()))
    assert found.drop_columns(["read"]) == given
    assert [json.loads(text) for text in found["read"].to_pylist()] == wanted(ANSWERS)
    assert sorted(path.parent.iterdir()) == [path, out]


def test_rows_can_go_into_lines_of_json(path: Path) -> None:
    out = path.with_name("out.jsonl")
    assert parsed(path, out, "--jobs", 1).exit_code == 0
    rows = [json.loads(line) for line in out.read_bytes().splitlines()]
    assert [row.pop("parsed") for row in rows] == wanted(ANSWERS)
    assert rows == read_table(path).to_pylist()


def test_an_interrupted_run_goes_on_within_a_batch(path: Path) -> None:
    module = (ROOT / "generated" / "qwen_qwen3_0_6b.py").read_text(encoding="utf-8")
    to_do = Wanted("answer", "parsed", {}, with_row=False)
    this = Run(path, Parquet(path, ["answer"]), module, to_do, path.with_name("out.parquet"))
    parse_file(this, Counts())
    whole = read_table(this.out)
    this.out.unlink()

    class InterruptedHereError(Exception):
        pass

    def interrupt(size: int) -> None:
        raise InterruptedHereError

    with pytest.raises(InterruptedHereError):
        parse_file(this, Counts(), interrupt)
    assert not this.out.exists()
    lines = this.part.read_bytes().splitlines(keepends=True)
    this.part.write_bytes(b"".join(lines[:100]) + lines[100][:9])
    counts = begun(this)
    assert isinstance(counts, Counts)
    assert (counts.rows, len(lines) > 100) == (100, True)
    parse_file(this, counts)
    assert counts.rows == COUNT
    assert read_table(this.out) == whole
    assert not this.part.exists()


def test_rows_that_fail_are_kept_and_told(tmp_path: Path) -> None:
    path, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    write_table(pa.table({"answer": ["Hello!", None, TEXTS[1]]}), path)
    result = parsed(path, out, "--jobs", 1)
    assert result.exit_code == 1
    assert "1 rows can't be read; they are kept, with the reason\n" in result.stderr
    table = read_table(out)
    assert table["answer"].to_pylist() == ["Hello!", None, TEXTS[1]]
    first, failed, last = map(json.loads, table["parsed"].to_pylist())
    assert failed == {"error": "has no text in 'answer': NoneType instead"}
    assert [first, last] == wanted(["Hello!", TEXTS[1]])


def test_a_file_that_cannot_be_used_is_told(path: Path) -> None:
    out = path.with_name("out.parquet")
    for option, told in (
        (("--as", "id"), "has a column 'id' already; name another: --as NAME"),
        (("--column", "text"), "has no column 'text'; there are: id, answer, scores"),
    ):
        result = parsed(path, out, *option)
        assert (result.exit_code, result.stderr) == (1, f"error: {path}: {told}\n")
    path.write_bytes(path.read_bytes()[:-8])
    result = parsed(path, out)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"error: {path}: can't be read as Parquet: ")
    assert [*path.parent.iterdir()] == [path]
