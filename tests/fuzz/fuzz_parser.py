"""An atheris target: the fuzzer's bytes choose a parser, its options, the text and its chunks.

    python -m tests.fuzz parser [NAME ...] [-runs=N] [-max_total_time=SECONDS] [CORPUS FOLDER]

Names are those of specs; without any all parsers are fuzzed. What begins with ``-`` or is a folder
is libFuzzer's. A failure is raised with the parser's name, the options and the chunks in its text.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.fuzz.fuzzing import atheris
from tests.marker_soup import TOOL_LISTS, marker_pieces, own_markers, plain_pieces
from tests.parser_checks import added_up, stream, summary
from turnspec.codegen.format_module import FormatModule
from turnspec.pipeline.project import OutputPaths
from turnspec.spec.files import read_spec
from turnspec.spec.model import Spec

ROOT = Path(__file__).parent.parent.parent
NAMES = tuple(sorted(path.stem for path in (ROOT / "specs").glob("*.yaml")))

#: No text has more pieces, so that runs stay short.
_MOST_PIECES = 24

#: Inputs may be as long as a text of that many pieces needs from the first run on.
_FUZZER_DEFAULTS = ("-len_control=0", "-max_len=200")


@dataclass(frozen=True, slots=True)
class Target:
    """A parser to fuzz: its module, and the pieces that texts for it are made of."""

    name: str
    module: FormatModule
    header: str
    markers: tuple[str, ...]
    pieces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Attempt:
    """What one run does: a text in chunks, and the parser's options."""

    target: Target
    chunks: tuple[str, ...]
    options: dict[str, Any]


@cache
def load_target(name: str) -> Target:
    """Import a parser: when it is first chosen, as it takes minutes to have all instrumented."""
    spec = read_spec(ROOT / "specs" / f"{name}.yaml")
    assert isinstance(spec, Spec), spec
    path = OutputPaths.in_project(name).module
    module = importlib.import_module(path.removesuffix(".py").replace("/", "."))
    pieces = (*marker_pieces(spec), *plain_pieces())
    return Target(name, module, spec.turn.header, tuple(own_markers(spec)), pieces)


def read_attempt(names: Sequence[str], data: bytes) -> Attempt:
    """Return what the fuzzer's bytes stand for."""
    provider = atheris.FuzzedDataProvider(data)
    target = load_target(names[provider.ConsumeIntInRange(0, len(names) - 1)])
    options: dict[str, Any] = {
        "tools": TOOL_LISTS[provider.ConsumeIntInRange(0, len(TOOL_LISTS) - 1)],
        "enable_thinking": (None, True, False)[provider.ConsumeIntInRange(0, 2)],
        "echo": provider.ConsumeBool(),
        "reasoning": "inline" if provider.ConsumeIntInRange(0, 3) == 0 else "extract",
        "prefill": _read_prefill(provider, target),
    }
    chunks: list[str] = []
    while provider.remaining_bytes() and len(chunks) < _MOST_PIECES:
        piece = _read_piece(provider, target)
        if provider.ConsumeBool():
            chunks.append(piece)
        else:
            chunks += list(piece)
    return Attempt(target, tuple(chunks), options)


def _read_prefill(provider: Any, target: Target) -> str | None:
    kind = provider.ConsumeIntInRange(0, 4)
    if kind < 2:
        return None
    pieces = [_read_piece(provider, target) for _ in range(kind - 2)]
    return target.header + "".join(pieces)


def _read_piece(provider: Any, target: Target) -> str:
    kind = provider.ConsumeIntInRange(0, 4)
    if kind == 0:
        return str(provider.ConsumeUnicode(provider.ConsumeIntInRange(0, 4)))
    choices = target.pieces if kind == 1 else target.markers
    position: int = provider.ConsumeIntInRange(0, len(choices) - 1)
    return choices[position]


def check(attempt: Attempt) -> None:
    """Parse in chunks and as a whole; raise where a promise isn't kept."""
    module, options = attempt.target.module, attempt.options
    whole = module.parse("".join(attempt.chunks), **options)
    message, events = stream(module, attempt.chunks, **options)
    assert message == whole, f"the whole text gives {whole}, the chunks {message}"
    assert added_up(events) == summary(whole), f"the events don't add up to {whole}: {events}"
    for call in whole.tool_calls:
        if call.complete and not whole.problems:
            assert isinstance(json.loads(call.arguments), dict), f"these don't load: {call}"


def run(names: Sequence[str], data: bytes) -> None:
    """Make one attempt; a failure tells what was attempted."""
    attempt = read_attempt(names, data)
    try:
        check(attempt)
    except Exception as error:
        told = f"{attempt.target.name}, options {attempt.options!r}, chunks {attempt.chunks!r}"
        raise AssertionError(f"{told}: {type(error).__name__}: {error}") from error


def main(arguments: Sequence[str]) -> None:
    """Fuzz the parsers named, or all; the fuzzer ends the process itself."""
    names = [name for name in arguments if name in NAMES] or NAMES
    others = [argument for argument in arguments if argument not in NAMES]
    atheris.Setup([sys.argv[0], *_FUZZER_DEFAULTS, *others], lambda data: run(names, data))
    atheris.Fuzz()
