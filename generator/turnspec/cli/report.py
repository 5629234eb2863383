"""The command that writes or serves the page of all formats."""

from __future__ import annotations

import os
from contextlib import nullcontext
from pathlib import Path

import click

from turnspec.catalog.catalog import installed_formats
from turnspec.cli.common import ROOT
from turnspec.cli.console import Fault, Misuse, finish, progress_bar, say
from turnspec.pipeline.project import Project
from turnspec.report.entries import read_entries
from turnspec.report.page import render_page
from turnspec.report.server import ReportServer, Site
from turnspec.spec.atomic import write_atomically

_OUTPUT = Path("build/report.html")
_PORT = 8017


@click.command()
@click.option(
    "--into",
    "output",
    type=click.Path(path_type=Path, dir_okay=False),
    help=f"Where to write the page (default: {_OUTPUT} of the repository, or {_OUTPUT.name}).",
)
@click.option("--serve", is_flag=True, help="Serve the page on this machine instead.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=_PORT,
    help="The port to serve it on; 0 is any that is free.",
)
@ROOT
def report(output: Path | None, serve: bool, port: int, root: Path | None) -> None:
    """Write a page that shows all formats: turns, states, markers, grammars and results.

    The formats are those of the repository here; where there is none, those of turnspec.
    It is one HTML file that needs no network, with boxes in which a pasted output is parsed. With
    --serve a format's own parser does that; only this machine can reach it.

    \b
    Example:
      turnspec report
      turnspec report --serve
    """  # noqa: D301
    if serve and output is not None:
        raise Misuse("give --into or --serve, not both")
    own = Project.find((root or Path.cwd()).resolve())
    project = own or installed_formats()
    if project is None:
        raise Fault("no formats came with turnspec; go to a repository or name one with --root")
    # The port is taken before the work, which would be lost where it can't be had.
    with _server_at(port) if serve else nullcontext() as server:
        with progress_bar("reading", None):
            entries, problems = read_entries(project)
            if not entries:
                finish(problems)
                raise Fault(f"no specs here; run: {project.recipe.command}")
            path = output or (own.root / _OUTPUT if own else Path(_OUTPUT.name))
            if server is not None:
                server.site = Site.of(entries)
            else:
                way = _way_to(own.root, path) if own else None
                write_atomically(path, render_page(entries, root=way))
        if server is not None:
            _serve(server)
        else:
            say(f"wrote {path}")
    finish(problems)


def _way_to(root: Path, page: Path) -> str | None:
    """Return how links of a page lead to a repository; None from another drive."""
    try:
        way = os.path.relpath(root, page.resolve().parent)
    except ValueError:
        return None
    return f"{Path(way).as_posix()}/"


def _server_at(port: int) -> ReportServer:
    try:
        return ReportServer(port)
    except OSError as error:
        reason = error.strerror or str(error)
        raise Fault(f"port {port} can't be used ({reason}); give another one with --port") from None


def _serve(server: ReportServer) -> None:
    """Serve until somebody ends it."""
    say(f"serving {server.address} (Ctrl-C ends it)")
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        say("ended")
