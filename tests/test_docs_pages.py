"""The pages under docs/ show what their commands print."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.generated_formats import ROOT
from turnspec.sources.index import INDEX_FILE

PAGES = (
    "bind-a-grammar.md",
    "read-a-spec.md",
    "review-a-change.md",
    "vendor-a-parser.md",
)
OTHER_PAGES = (
    "test-a-parser.md",
    "add-a-template.md",
    "api.md",
    "fix-an-overlay.md",
    "write-a-value-encoding.md",
)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with committed specs and parsers, our templates, and a turnspec on the path."""
    root = tmp_path / "checkout"
    (root / "templates").mkdir(parents=True)
    shutil.copy(ROOT / INDEX_FILE, root / INDEX_FILE)
    for folder in ("specs", "generated", "tests/templates"):
        shutil.copytree(ROOT / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"))
    command = tmp_path / "bin" / "turnspec"
    command.parent.mkdir()
    line = f'exec {shlex.quote(sys.executable)} -m turnspec "$@"'
    command.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
    command.chmod(0o755)
    return root


def transcript(page: str, checkout: Path) -> str:
    """Return a page with what its commands print now."""

    def printed(block: re.Match[str]) -> str:
        commands = [line for line in block.group(1).splitlines() if line.startswith("$ ")]
        return "```console\n" + "".join(map(run, commands)) + "```\n"

    def run(line: str) -> str:
        done = subprocess.run(
            ["sh", "-c", f"{line.removeprefix('$ ')} 2>&1"],
            cwd=checkout,
            capture_output=True,
            text=True,
            timeout=100,
            env={"PATH": f"{checkout.parent / 'bin'}:/usr/bin:/bin", "PYTHONPATH": str(ROOT)},
        )
        return f"{line}\n{done.stdout}"

    return re.sub(r"^```console\n(.*?)^```\n", printed, page, flags=re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_what_is_printed(name: str, checkout: Path) -> None:
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert "\n$ turnspec " in page
    assert transcript(page, checkout) == page


def test_links_lead_somewhere() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs" / name for name in (*PAGES, *OTHER_PAGES))]
    for page in pages:
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_a_vendored_parser_is_used_as_the_page_says(checkout: Path) -> None:
    page = (ROOT / "docs/vendor-a-parser.md").read_text(encoding="utf-8")
    transcript(page, checkout)
    (code,) = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=checkout.parent / "my-app",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == ("Hello!\n", "")
