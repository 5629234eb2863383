"""Taking templates out of a repository with all that was made from them, and renaming them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, replace

from turnspec.pipeline.project import LIVE, OVERLAYS, RESULTS, TABLE, OutputPaths, Project
from turnspec.pipeline.regenerate import write_table
from turnspec.sources.add import remove_entry
from turnspec.sources.index import INDEX_FILE, Entry
from turnspec.sources.index_edit import with_file
from turnspec.spec.atomic import uninterrupted, write_all_atomically, write_atomically
from turnspec.spec.files import SPEC_SUFFIX
from turnspec.spec.input_files import file_text
from turnspec.spec.live_results import dump_live, read_live
from turnspec.spec.naming import template_name
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
        deleted = delete_files(project, files_of(entry))
        return [INDEX_FILE, *deleted, *_without_results(project, entry.name)]


def delete_files(project: Project, files: Iterable[str]) -> list[str]:
    """Delete those files of a repository that are there; return their paths. Raises OSError."""
    there = [file for file in files if (project.root / file).exists()]
    for file in there:
        (project.root / file).unlink()
    return there


def rename_template(project: Project, entry: Entry, file: str) -> list[str] | Problem:
    """Give a template of the repository another file name; return the paths that changed.

    Its overlay goes with it. What was made from it is deleted, as it holds the name: `turnspec
    regen` makes it anew. Raises OSError.
    """
    old, new = (project.root / each.location for each in (entry, replace(entry, file=file)))
    overlay, other = (project.overlays / f"{template_name(f)}.yaml" for f in (entry.file, file))
    index = with_file(file_text(project.root / INDEX_FILE), entry, file)
    if isinstance(index, Problem):
        return index
    texts = {project.root / INDEX_FILE: index}
    if overlay.exists():
        text, line = file_text(overlay), f"template: {file}"
        texts[other] = re.sub(r"(?m)^template:.*$", lambda _: line, text, count=1)
    with uninterrupted():
        write_all_atomically(texts)
        old.rename(new)
        kept = [path.relative_to(project.root).as_posix() for path in (*texts, new)]
        deleted = delete_files(project, [path for path in files_of(entry) if path not in kept])
        return [*kept, entry.location, *deleted, *_without_results(project, entry.name)]


def _without_results(project: Project, name: str) -> list[str]:
    """Take a template out of the results and the table, if these can be read."""
    results = read_results(project.root / RESULTS)
    live = read_live(project.root / LIVE)
    if isinstance(results, Problem) or isinstance(live, Problem):
        return []
    changed = []
    if name in results:
        kept = {other: result for other, result in results.items() if other != name}
        write_atomically(project.root / RESULTS, dump_results(kept))
        changed.append(RESULTS)
        results = kept
    if name in live.formats:
        kept_turns = {other: found for other, found in live.formats.items() if other != name}
        live = replace(live, formats=kept_turns)
        write_atomically(project.root / LIVE, dump_live(live))
        changed.append(LIVE)
    if (project.root / TABLE).exists() and write_table(project, results, live):
        changed.append(TABLE)
    return changed
