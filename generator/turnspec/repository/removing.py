"""Taking a template out of a repository, with all that was made from it."""

from __future__ import annotations

from dataclasses import asdict, replace

from turnspec.pipeline.project import OVERLAYS, OutputPaths, Project
from turnspec.pipeline.regenerate import write_table
from turnspec.sources.add import remove_entry
from turnspec.sources.index import INDEX_FILE, Entry
from turnspec.spec.atomic import uninterrupted, write_atomically
from turnspec.spec.files import SPEC_SUFFIX
from turnspec.spec.live_results import read_live, write_live
from turnspec.spec.problems import Problem
from turnspec.spec.results import dump_results, read_results


def files_of(entry: Entry) -> list[str]:
    """Return the paths of all that belongs to a template, whether there or not."""
    made = asdict(OutputPaths.in_project(entry.name)).values()
    return [entry.location, f"{OVERLAYS}/{entry.name}{SPEC_SUFFIX}", *made]


def remove_template(project: Project, entry: Entry) -> list[str] | Problem:
    """Delete a template with its files and results; return the paths that changed. Raises OSError.

    The index goes first: what it doesn't list any more is told by `turnspec check` if it stays.
    """
    with uninterrupted():
        problem = remove_entry(entry, project.root)
        if problem is not None:
            return problem
        changed = [INDEX_FILE]
        for file in files_of(entry):
            if (project.root / file).exists():
                (project.root / file).unlink()
                changed.append(file)
        return changed + _without_results(project, entry.name)


def _without_results(project: Project, name: str) -> list[str]:
    """Take a template out of the results and the table, if these can be read."""
    results = read_results(project.results)
    live = read_live(project.live)
    if isinstance(results, Problem) or isinstance(live, Problem):
        return []
    changed = []
    if name in results:
        kept = {other: result for other, result in results.items() if other != name}
        write_atomically(project.results, dump_results(kept))
        changed.append("specs/verification.json")
        results = kept
    if name in live.formats:
        kept_turns = {other: found for other, found in live.formats.items() if other != name}
        live = replace(live, formats=kept_turns)
        write_live(project.live, live)
        changed.append("specs/live.json")
    if project.table.exists() and write_table(project, results, live):
        changed.append("specs/README.md")
    return changed
