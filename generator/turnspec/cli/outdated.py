"""`turnspec outdated`: which pinned templates have a newer text, and what it does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from rich.table import Table

from turnspec.cli.common import JSON, ROOT, TIME_LIMIT, find_project
from turnspec.cli.console import finish, print_error, progress_bar, put_told, say, show
from turnspec.cli.extras import needs
from turnspec.cli.remove import own_entry
from turnspec.rendering.limits import Limits
from turnspec.repository.outdated import UNKNOWN, Newest, find_outdated
from turnspec.review.compare import Review
from turnspec.review.shown import json_data
from turnspec.sources.hub import fetch_model
from turnspec.sources.hub_place import HubModel
from turnspec.sources.hub_settings import hub_settings
from turnspec.sources.index import LOCAL, read_index
from turnspec.spec.problems import Problem
from turnspec.spec.visible import visible

_COLUMNS = ("template", "from", "pinned", "newest", "its format")
_STYLES = {"breaking": "red", "lenient": "yellow", UNKNOWN: "yellow"}


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@JSON
@ROOT
@TIME_LIMIT
@needs("build")
def outdated(names: tuple[str, ...], as_json: bool, root: Path | None, limits: Limits) -> None:
    """Say which pinned templates have a newer text, and whether that changes their formats.

    Asks the hub, and the package indexes that pip asks, for what is pinned there (or for NAME
    alone). A newer text is analysed, and its format compared with the spec that is there, as diff
    does; nothing of the repository is written. Exit code 1 if there is any, or one can't be had.

    \b
    Example:
      turnspec outdated && echo all as pinned
      turnspec outdated my-model --json
    """  # noqa: D301
    project = find_project(root)
    chosen = [own_entry(name, project) for name in names] or read_index(project.root)[0].entries
    pinned = [entry for entry in chosen if entry.origin != LOCAL]
    places = {(entry.origin, entry.repository) for entry in pinned}
    with progress_bar("asking", len(places)) as advance:
        found, problems = find_outdated(project, pinned, _asked, limits, advance)
    if as_json:
        put_told({"pinned": len(pinned), "outdated": [*map(_data, found)]}, problems)
    else:
        _print(found, len(pinned))
    finish(problems, failed=bool(found))


def _asked(model: HubModel) -> Path | Problem:
    settings = hub_settings()
    if settings.offline:  # what is in the cache is no news
        return Problem("the hub isn't asked offline; take HF_HUB_OFFLINE away", str(model))
    return fetch_model(model, settings)


def _data(one: Newest) -> dict[str, object]:
    return {
        "name": one.entry.name,
        "from": one.where,
        "pinned": one.was,
        "newest": one.now,
        "sha256": one.template.sha256,
        "format": one.verdict,
        "review": json_data(Review(one.was, one.now, (one.review,))) if one.review else None,
    }


def _print(found: Sequence[Newest], pinned: int) -> None:
    table = Table(*_COLUMNS)
    for one in found:
        cells = one.entry.name, one.where, one.was[:12], one.now[:12], one.verdict
        table.add_row(*map(visible, cells), style=_STYLES.get(one.verdict, ""))
    if found:
        show(table)
    others = sum(one.review is not None for one in found)
    say(f"{pinned} pinned: {len(found)} with a newer text, {others} of them with another format")
    if found:
        print_error(f"to take one: turnspec add --update {found[0].entry.name}")
