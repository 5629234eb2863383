"""Known formats for live runs, and the figures that are kept of these."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

from turnspec.catalog.known import KnownFormat
from turnspec.codegen.loading import load_module
from turnspec.deviations.turns import Format
from turnspec.live.runs import FormatRuns, LiveTurn, Outcome
from turnspec.pipeline.project import LIVE, RESULTS, Project
from turnspec.pipeline.regenerate import write_table
from turnspec.spec.atomic import write_atomically
from turnspec.spec.files import spec_hash
from turnspec.spec.live_results import LiveRecord, LiveResult, dump_live
from turnspec.spec.os_reasons import reason
from turnspec.spec.problems import Problem
from turnspec.spec.results import read_results
from turnspec.spec.visible import shortened

_LONGEST_EXAMPLE = 400


def read_format(known: KnownFormat) -> Format | list[Problem]:
    """Read a known format, or say all that is wrong with its files."""
    spec, text = known.spec(), known.module()
    if isinstance(spec, list):
        return spec
    if isinstance(text, Problem):
        return [text]
    return Format(spec, load_module(text))


def live_record(runs: Sequence[FormatRuns], seeds: int) -> LiveRecord:
    """Return the figures of runs."""
    formats = {run.spec.name: _result(run) for run in runs}
    return LiveRecord(version("llama-cpp-python"), seeds, formats)


def keep_record(project: Project, record: LiveRecord) -> list[Problem]:
    """Write the record and the index table, which shows it; return what went wrong."""
    try:
        write_atomically(project.root / LIVE, dump_live(record))
        results = read_results(project.root / RESULTS)
        if isinstance(results, Problem):
            return [results]
        write_table(project, results, record)
    except OSError as error:
        return [Problem(f"can't be written: {reason(error)}", str(error.filename))]
    return []


def failure_line(turn: LiveTurn) -> str:
    """Return what is wrong with a turn, and how to come by it again, in one line."""
    names = {None: "thinking by default", True: "thinking", False: "no thinking"}
    thinking = names[turn.thinking]
    line = f"{turn.choice}, {thinking}, seed {turn.seed}: {turn.faults[0]} in {turn.text!r}"
    return shortened(line, _LONGEST_EXAMPLE)


def _result(runs: FormatRuns) -> LiveResult:
    failed = [turn for turn in runs.turns if turn.outcome is Outcome.FAILED]
    return LiveResult(
        spec_hash=spec_hash(runs.spec),
        prompt=runs.prompt,
        turns=len(runs.turns),
        calls=sum(turn.calls for turn in runs.turns),
        cut=runs.count(Outcome.CUT),
        failed=len(failed),
        example=failure_line(failed[0]) if failed else "",
    )
