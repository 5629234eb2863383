"""What is known of the formats of a checkout: their results, and which failures are accepted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from turnspec.pipeline.project import RESULTS, Project
from turnspec.sources.index import INDEX_FILE, read_index
from turnspec.spec.problems import Problem
from turnspec.spec.results import TemplateResult, read_results
from turnspec.spec.verdict import Judgement, judge, unneeded

#: The reasons for accepted failures, by template and rung.
Accepted = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Standings:
    """The results of a checkout with what is accepted of them."""

    results: Mapping[str, TemplateResult] = field(default_factory=dict)
    accepted: Accepted = field(default_factory=dict)

    @classmethod
    def read(cls, project: Project) -> Standings:
        """Read them; a file that can't be read says nothing of any format."""
        results = read_results(project.root / RESULTS)
        known = {} if isinstance(results, Problem) else results
        return cls(known, accepted_failures(project))

    def of(self, name: str, digest: str) -> Judgement:
        """Return what is known of the spec of this name and hash."""
        return judge(self.results.get(name), digest, self.accepted.get(name))


def accepted_failures(project: Project) -> dict[str, dict[str, str]]:
    """Return the reasons for accepted failures, as the index has them."""
    index, _ = read_index(project.root)
    return {entry.name: entry.accepted_failures for entry in index.entries if entry.accepted}


def standing_problems(
    results: Mapping[str, TemplateResult], accepted: Accepted
) -> Iterator[Problem]:
    """Return a problem for each format that fails, and for what is accepted without need."""
    for name, result in sorted(results.items()):
        reasons = accepted.get(name, {})
        judgement = judge(result, result.spec_hash, reasons)
        if judgement.is_red:
            remedy = (
                "write an overlay if the spec is wrong, or accept it with a reason in "
                f"{INDEX_FILE} (docs/verification.md); if the analysis errs: "
                f"turnspec report-problem {name}"
            )
            yield Problem(f"{judgement}; {remedy}", name)
        for rung in unneeded(result, reasons):
            message = f"rung {rung} of {name} passes; its failure need not be accepted any more"
            yield Problem(message, INDEX_FILE)
