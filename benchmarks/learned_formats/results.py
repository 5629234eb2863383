"""What came of the runs: a JSON record, and the page that shows it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from turnspec.spec.atomic import write_all_atomically

FOLDER = Path(__file__).parent
RECORD, PAGE = FOLDER / "results.json", FOLDER / "RESULTS.md"

_ABOUT = """\
# Models that have learnt a format

Written by `make learned-formats`. For each format a small llama ({weights} weights, its own
vocabulary with the format's special tokens) was trained on {samples} turns that were written from
the spec, and then answered {questions} other questions in llama.cpp at temperature {temperature}:
free, and with the same seeds under the lazy grammar that is bound to the tools. *Early* is after
{early} steps of training, when a model makes mistakes; *trained* after {trained}. What it writes
goes token by token into the generated parser.

"""
_COLUMNS = {
    "stopped": "stopped by itself",
    "parsed": "no problems",
    "triggered": "trigger seen",
    "calling": "with calls",
    "as_asked": "calls as asked",
    "as_whole": "streamed = whole",
    "without_stop": "same without stop",
}
_LEGEND = """
*No problems*: turns that came to their end and of which the parser had nothing to tell. *Calls as
asked*: turns with the very calls that answer the question (none, for a greeting). *Valid* calls are
of a tool that there is, with arguments by its schema. *Streamed = whole*: the pieces and the whole
text give the same message. *Same without stop*: so does the text without its last token, the stop.
"""


def write_results(record: Mapping[str, Any]) -> None:
    """Write the record and the page."""
    text = json.dumps(record, indent=2) + "\n"
    write_all_atomically({RECORD: text, PAGE: page_of(record)})


def page_of(record: Mapping[str, Any]) -> str:
    """Return the page for a record."""
    return _ABOUT.format(**record["settings"]) + "\n".join(_table(record)) + "\n" + _LEGEND


def _table(record: Mapping[str, Any]) -> Iterator[str]:
    columns = ["format", "model", "grammar", "turns", *_COLUMNS.values(), "valid calls"]
    yield f"| {' | '.join(columns)} |"
    yield f"|{' --- |' * len(columns)}"
    for name, stages in record["formats"].items():
        for stage, modes in stages.items():
            for mode, counts in modes.items():
                shown = [str(counts[column]) for column in ("turns", *_COLUMNS)]
                valid = f"{counts['valid']} of {counts['calls']}"
                yield f"| {' | '.join((name, stage, mode, *shown, valid))} |"
