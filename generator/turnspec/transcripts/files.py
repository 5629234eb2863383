"""Files of transcripts, read in batches: lines of JSON, or Parquet by the package pyarrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from turnspec.spec.input_files import file_lines, open_file
from turnspec.spec.problems import Problem
from turnspec.transcripts.rows import Row

#: A batch is at most so many rows, or so many bytes of lines.
BATCH_ROWS = 256
BATCH_BYTES = 1 << 20
JSON_LINES = (".jsonl", ".ndjson")
PARQUET = ".parquet"


@dataclass(frozen=True, slots=True)
class Batch:
    """Some rows, and how far the file is read with them, in the units of its ``size``."""

    rows: Sequence[Row]
    size: int


@dataclass(frozen=True, slots=True)
class JsonLines:
    """A file with an object in each line; blank lines are no rows."""

    path: Path

    @property
    def size(self) -> int:
        """The file's size in bytes."""
        return self.path.stat().st_size

    def batches(self, skip: int) -> Iterator[Batch]:
        """Yield the lines in batches, with their bytes as the size."""
        lines = (line for line in file_lines(self.path) if line.strip())
        passed = sum(map(len, islice(lines, skip)))
        rows: list[bytes] = []
        size = 0
        for line in lines:
            rows.append(line)
            size += len(line)
            if len(rows) == BATCH_ROWS or size >= BATCH_BYTES:
                yield Batch(rows, size + passed)
                rows, size, passed = [], 0, 0
        if rows or passed:
            yield Batch(rows, size + passed)


@dataclass(frozen=True, slots=True)
class Parquet:
    """A file of columns; of these the one with texts is enough where no row is written again."""

    path: Path
    columns: Sequence[str] | None = None

    @property
    def size(self) -> int:
        """The number of rows."""
        count: int = self.open().metadata.num_rows
        return count

    def open(self) -> Any:
        """Return pyarrow's file."""
        from pyarrow.parquet import ParquetFile

        with open_file(self.path):  # which a device isn't
            return ParquetFile(self.path)

    def batches(self, skip: int) -> Iterator[Batch]:
        """Yield the rows in batches, with their number as the size."""
        passed = 0
        for batch in self.open().iter_batches(batch_size=BATCH_ROWS, columns=self.columns):
            left = min(skip - passed, batch.num_rows) if skip > passed else 0
            passed += left
            rows: Sequence[Row] = batch.slice(left).to_pylist()
            yield Batch(rows, batch.num_rows)


#: A file of rows. Its ``size``, for a progress bar, is in units of its own; its ``batches`` begin
#: behind the rows that are skipped, which are counted in the first batch's size.
Source = JsonLines | Parquet


def parquet_problem(path: Path, column: str, result: str) -> Problem | None:
    """Return why a Parquet file can't be used, if it can't."""
    from pyarrow import ArrowException

    try:
        names = Parquet(path).open().schema_arrow.names
    except (ArrowException, OSError) as error:
        return Problem(f"can't be read as Parquet: {str(error).splitlines()[0]}", str(path))
    if column not in names:
        return Problem(f"has no column {column!r}; there are: {', '.join(names)}", str(path))
    if result in names:
        return Problem(f"has a column {result!r} already; name another: --as NAME", str(path))
    return None
