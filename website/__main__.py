"""Write the site: `make site`, or `python -m website --into DIR`.

Where issues are filed is told by TURNSPEC_REPOSITORY, such as https://github.com/OWNER/NAME.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

from tests.typescript.toolchain import ToolError

from turnspec.pipeline.project import Project
from turnspec.report.entries import read_entries
from turnspec.report.page import render_page
from website.bundle import ROOT
from website.docs import DocsError, write_docs
from website.format_pages import format_pages
from website.playground_files import write_offline, write_playground

#: The way from the gallery, which is a page by itself otherwise, to the others.
_PLACES = (
    '<p><a href="../index.html">turnspec</a> · <a href="../playground/index.html">Playground</a> · '
    '<a href="../formats/index.html">Formats as pages</a></p>'
)


def main(arguments: list[str]) -> int:
    """Write it, and return the exit code."""
    parser = argparse.ArgumentParser(prog="website", description="Write the site.")
    parser.add_argument("--into", type=Path, default=ROOT / "build/site")
    parser.add_argument("--only-playground", action="store_true")
    options = parser.parse_args(arguments)
    into: Path = options.into
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir(parents=True)
    repository = os.environ.get("TURNSPEC_REPOSITORY", "")
    try:
        if not options.only_playground:
            _write_pages(into, repository)
        write_playground(into, repository)
    except (ToolError, DocsError) as error:
        print(f"make: {error}", file=sys.stderr)
        return 1
    write_offline(into)
    size = sum(path.stat().st_size for path in into.rglob("*") if path.is_file())
    print(f"wrote {into} ({size / 1e6:.1f} MB)")
    return 0


def _write_pages(into: Path, repository: str) -> None:
    """Write docs, formats and gallery."""
    project = Project(ROOT)
    entries, problems = read_entries(project)
    if problems:
        raise DocsError("\n".join(map(str, problems)))
    write_docs(into, format_pages(entries, project), repository)
    gallery = into / "gallery/index.html"
    gallery.parent.mkdir()
    root = f"{repository}/blob/HEAD/" if repository else None
    page = render_page(entries, root=root)
    gallery.write_text(page.replace("<header>\n", f"<header>\n{_PLACES}\n", 1), "utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
