"""A run over a file of transcripts: batches go to processes, and what comes back is kept in order.

What is done is kept beside the output, in OUT.part, with a note of what the run is: the same run
goes on from there. OUT itself appears when all is done.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from turnspec.codegen.loading import load_module
from turnspec.rendering.starting import process_context, set_up_process
from turnspec.spec.atomic import replacing, write_atomically
from turnspec.spec.input_files import file_text, open_file
from turnspec.spec.problems import Problem
from turnspec.transcripts.files import PARQUET, Batch, Parquet, Source
from turnspec.transcripts.rows import Counts, Wanted, json_line, parse_rows

#: So many batches wait for each process, so that none is idle and memory stays bounded.
_AHEAD = 3

_Done = tuple[list[str], Counts]
OnBatch = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Run:
    """A file of transcripts, the parser's text, what to do with rows, and where they go."""

    path: Path
    source: Source
    module: str
    wanted: Wanted
    out: Path
    processes: int = 1

    @property
    def part(self) -> Path:
        """Where what is done is kept meanwhile."""
        return self.out.with_name(f"{self.out.name}.part")

    @property
    def note(self) -> Path:
        """What says of which run that is."""
        return self.out.with_name(f"{self.out.name}.part.json")

    def identity(self) -> str:
        """Return what makes a run the same, as text."""
        status = self.path.stat()
        wanted = self.wanted
        told = {
            "file": self.path.name,
            "size": status.st_size,
            "modified": status.st_mtime_ns,
            "parser": hashlib.sha256(self.module.encode()).hexdigest(),
            "column": wanted.column,
            "as": wanted.result,
            "options": dict(wanted.options),
        }
        return json.dumps(told, indent=2, sort_keys=True) + "\n"


def begun(run: Run) -> Counts | Problem:
    """Return what an earlier run has done already, or why this one can't begin.

    A line that was being written when that ended is cut off.
    """
    with open_file(run.path):  # or nothing begins
        pass
    if run.out.exists():
        return Problem("is there already; delete it, or name another", str(run.out))
    if not run.part.exists():
        return Counts()
    if not run.note.exists() or file_text(run.note) != run.identity():
        return Problem("is of another run; delete it to begin anew", str(run.part))
    counts = Counts()
    with run.part.open("rb+") as file:
        whole = 0
        for line in file:
            if not line.endswith(b"\n"):
                break
            counts.count(json.loads(line)[run.wanted.result])
            whole += len(line)
        file.truncate(whole)
    return counts


def parse_file(run: Run, counts: Counts, on_batch: OnBatch = lambda size: None) -> None:
    """Parse all rows behind those that are counted already, add to the counts, and write the file.

    ``on_batch`` is told how far the source is read, in its units. Raises OSError, and
    BrokenProcessPool if a process was ended from outside.
    """
    write_atomically(run.note, run.identity())
    with run.part.open("ab") as part, _pool(run) as give:
        for (lines, found), size in _in_order(run.source.batches(counts.rows), give, run.processes):
            part.write("".join(f"{line}\n" for line in lines).encode())
            part.flush()
            counts.add(found)
            on_batch(size)
    if run.out.suffix == PARQUET:
        _write_parquet(run)
        run.part.unlink()
    else:
        run.part.replace(run.out)
    run.note.unlink()


def _in_order(
    batches: Iterator[Batch], give: Callable[[Batch], Future[_Done]], processes: int
) -> Iterator[tuple[_Done, int]]:
    """Yield what came of each batch and its size, with only so many of them under way."""
    waiting: deque[tuple[Future[_Done], int]] = deque()
    for batch in batches:
        waiting.append((give(batch), batch.size))
        if len(waiting) >= _AHEAD * processes:
            done, size = waiting.popleft()
            yield done.result(), size
    for done, size in waiting:
        yield done.result(), size


@contextmanager
def _pool(run: Run) -> Iterator[Callable[[Batch], Future[_Done]]]:
    """Yield what has a batch parsed, in processes if there are to be several."""
    if run.processes == 1:
        module = load_module(run.module)
        yield lambda batch: _at_once(parse_rows(batch.rows, module, run.wanted))
        return
    pool = ProcessPoolExecutor(run.processes, process_context(__name__), initializer=set_up_process)
    try:
        yield lambda batch: pool.submit(_parse, batch, run.module, run.wanted)
    finally:
        pool.shutdown(cancel_futures=True)


def _at_once(done: _Done) -> Future[_Done]:
    future: Future[_Done] = Future()
    future.set_result(done)
    return future


def _parse(batch: Batch, module: str, wanted: Wanted) -> _Done:
    return parse_rows(batch.rows, _loaded(module), wanted)


_loaded = cache(load_module)  # in each process


def _write_parquet(run: Run) -> None:
    """Write the rows of the source with what was read as one more column of JSON texts."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    source = Parquet(run.path).open()
    schema = source.schema_arrow.append(pa.field(run.wanted.result, pa.string()))
    with (
        replacing(run.out) as temporary,
        run.part.open(encoding="utf-8") as lines,
        ParquetWriter(temporary, schema) as writer,
    ):
        for batch in source.iter_batches():
            rows = (json.loads(next(lines)) for _ in range(batch.num_rows))
            texts = [json_line(row[run.wanted.result]) for row in rows]
            column = pa.array(texts, pa.string())
            writer.write_batch(pa.RecordBatch.from_arrays([*batch.columns, column], schema=schema))


def all_cores() -> int:
    """Return how many processes may run at once, as far as the platform tells."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
