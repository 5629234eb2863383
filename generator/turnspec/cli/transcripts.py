"""The part of `turnspec parse` that is about files of many outputs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from turnspec.cli.console import Fault, Misuse, finish, or_fault, print_error, progress_bar, tell
from turnspec.cli.extras import needs
from turnspec.transcripts import files
from turnspec.transcripts.rows import Counts, Wanted
from turnspec.transcripts.run import Run, all_cores, begun, parse_file


def parse_many(
    module: str,
    path: Path,
    column: str,
    out: Path,
    result: str,
    options: Mapping[str, object],
    jobs: int | None,
) -> None:
    """Parse all rows of a file, and tell what there was."""
    with_row = out.suffix != files.PARQUET
    wanted = Wanted(column, result, options, with_row)
    source = _source(path, wanted, out)
    run = Run(path, source, module, wanted, out, jobs or all_cores())
    counts = or_fault(begun(run))
    if counts.rows:
        print_error(f"{counts.rows} rows are done already; going on")
    before, start = counts.rows, time.monotonic()
    try:
        with progress_bar("parsing", source.size) as advance:
            parse_file(run, counts, advance)
    except BrokenProcessPool:
        raise Fault("a process was ended from outside; run the same again to go on") from None
    speed = (counts.rows - before) / max(time.monotonic() - start, 1e-9)
    print_error(f"wrote {out}: {counts.rows} rows, {speed:,.0f} a second")
    _tell_counts(counts)
    finish((), failed=bool(counts.failed))


def _source(path: Path, wanted: Wanted, out: Path) -> files.Source:
    if path.suffix in files.JSON_LINES:
        if out.suffix not in files.JSON_LINES:
            raise Misuse(f"{out}: what comes from lines of JSON goes into a .jsonl file")
        return files.JsonLines(path)
    if path.suffix != files.PARQUET:
        raise Misuse(f"{path}: with --column a file is .jsonl or .parquet")
    if out.suffix not in (*files.JSON_LINES, files.PARQUET):
        raise Misuse(f"{out}: the file to write is .jsonl or .parquet")
    return _parquet(path, wanted)


@needs("parquet")
def _parquet(path: Path, wanted: Wanted) -> files.Source:
    problem = files.parquet_problem(path, wanted.column, wanted.result)
    if problem is not None:
        raise Fault(str(problem))
    return files.Parquet(path, None if wanted.with_row else [wanted.column])


def _tell_counts(counts: Counts) -> None:
    """Print how many rows failed, and the problems by kind."""
    for kind, count in counts.problems.most_common():
        print_error(f"  {count:>9} {kind}")
    if counts.failed:
        unread = f"{counts.failed} rows can't be read"
        tell([(unread, "red"), ("; they are kept, with the reason", "")])
