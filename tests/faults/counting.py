"""Plants all faults of some formats, in two processes or more, and says what came of each."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache

from tests.faults.explained import explanation
from tests.faults.grammar_faults import GrammarFault, grammar_faults
from tests.faults.noticing import Format, grammar_noticed_by, is_the_same, noticed_by
from tests.faults.spec_faults import SpecFault, spec_faults
from tests.generated_formats import ROOT, committed_format
from turnspec.pipeline.project import Project
from turnspec.pipeline.template_sources import read_sources
from turnspec.rendering.starting import process_context
from turnspec.rendering.worker import RenderWorker
from turnspec.sources.fetch import fetch_templates

#: How many faults a process takes at a time.
_SLICE = 20


@dataclass(frozen=True, slots=True)
class Outcome:
    """A fault that was planted in a format, and the check that noticed it, "" if none did.

    Nothing needs to notice a fault after which everything that is made from the spec is the same.
    """

    format: str
    number: int
    kind: str
    fault: str
    noticed: str
    is_same: bool = False

    @property
    def is_survivor(self) -> bool:
        """Whether it makes a difference that nothing notices."""
        return not self.noticed and not self.is_same

    @property
    def explanation(self) -> str:
        """Why nothing can notice it, "" if nobody knows."""
        return explanation(self.format, self.fault)

    def __str__(self) -> str:
        """Return one line."""
        return f"{self.format}: {self.fault}: {self.explanation or 'NOT EXPLAINED'}"


def count_faults(names: Sequence[str]) -> tuple[int, Iterator[Outcome]]:
    """Return how many faults the named formats can have, and what comes of each, as it is known."""
    slices = [(name, start) for name in names for start in range(0, len(_faults(name)), _SLICE)]
    total = sum(len(_faults(name)) for name in names)
    return total, _in_processes(slices)


def _in_processes(slices: Sequence[tuple[str, int]]) -> Iterator[Outcome]:
    with ProcessPoolExecutor(os.cpu_count(), process_context(__name__)) as pool:
        for outcomes in pool.map(_planted, slices):
            yield from outcomes


def _planted(asked: tuple[str, int]) -> list[Outcome]:
    name, start = asked
    faults = _faults(name)[start : start + _SLICE]
    return [plant(_format(name), fault, start + at) for at, fault in enumerate(faults)]


def plant(form: Format, fault: SpecFault | GrammarFault, number: int = 0) -> Outcome:
    """Return what notices a fault, and whether there is anything to notice."""
    if isinstance(fault, GrammarFault):
        noticed, is_same = grammar_noticed_by(form, fault.gbnf, fault.bind), False
    else:
        noticed = noticed_by(form, fault.spec)
        is_same = not noticed and is_the_same(form, fault.spec)
    return Outcome(form.name, number, fault.kind, str(fault), noticed, is_same)


@cache
def _faults(name: str) -> list[SpecFault | GrammarFault]:
    spec = committed_format(name).spec
    return [*spec_faults(spec), *grammar_faults(spec)]


@cache
def _format(name: str) -> Format:
    templates = [found for found in fetch_templates(ROOT).templates if found.name == name]
    sources, problems = read_sources(Project(ROOT), templates)
    assert sources, [f"no template {name}", *map(str, problems)]
    return Format.of(sources[0], RenderWorker().__enter__())
