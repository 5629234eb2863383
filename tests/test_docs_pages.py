"""The pages under docs/ show what their commands print."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fake_hub import FakeHub, serving
from tests.generated_formats import ROOT
from tests.own_templates import FOLDER
from tests.transcripts import put_on_path, transcript
from turnspec.cli.main import VERBS
from turnspec.sources.index import INDEX_FILE

VENDORING = "vendor-a-parser.md"
PAGES = (
    "bind-a-grammar.md",
    "flags.md",
    "read-a-spec.md",
    "review-a-change.md",
    VENDORING,
)
OTHER_PAGES = (
    "test-a-parser.md",
    "add-a-template.md",
    "api.md",
    "commands.md",
    "CONFORMANCE.md",
    "export.md",
    "export-llama-cpp-python.md",
    "export-sglang.md",
    "export-vllm.md",
    "parse-transcripts.md",
    "playground.md",
    "EXPORTS.md",
    "FAULTS.md",
    "fix-an-overlay.md",
    "from-the-hub.md",
    "limits.md",
    "MATRIX.md",
    "load-a-format.md",
    "own-repository.md",
    "reference-set.md",
    "report.md",
    "verification.md",
    "versions.md",
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
    put_on_path(tmp_path / "bin")
    return root


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in PAGES if name != VENDORING])
def test_a_page_shows_what_is_printed(name: str, checkout: Path) -> None:
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert "\n$ turnspec " in page
    assert transcript(page, checkout, checkout.parent / "bin") == page


@pytest.mark.long
def test_the_page_on_a_repository_shows_what_is_printed(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "own-repository.md").read_text(encoding="utf-8")
    shutil.copy(FOLDER / "unseen-arguments-into.jinja", tmp_path / "my-model.jinja")
    put_on_path(tmp_path / "bin")
    assert transcript(page, tmp_path, tmp_path / "bin") == page


@pytest.mark.long
def test_the_page_on_the_hub_shows_what_is_printed(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "from-the-hub.md").read_text(encoding="utf-8")
    put_on_path(tmp_path / "bin")
    (tmp_path / "app").mkdir()
    with serving(documented_hub()) as hub:
        assert transcript(page, tmp_path / "app", tmp_path / "bin", hub) == page


def documented_hub() -> FakeHub:
    """Return a hub with the models that the page names."""
    text = (FOLDER / "unseen-arguments-into.jinja").read_text(encoding="utf-8")
    newer = text.replace("<|/ai|>", "<|/bot|>")
    hub = FakeHub()
    first = hub.add("SomeOrg/BrandNew-7B", {"chat_template.jinja": text})
    hub.add("SomeOrg/BrandNew-7B", {"chat_template.jinja": newer}, tags={"v1": first})
    hub.add("SomeOrg/Gated-7B", {"chat_template.jinja": text}, gated=True)
    hub.add("SomeOrg/Base-7B", {"tokenizer_config.json": "{}"})
    return hub


def test_links_lead_somewhere() -> None:
    top = (ROOT / name for name in ("README.md", "CHANGELOG.md", "SECURITY.md"))
    pages = [*top, *(ROOT / "docs" / name for name in (*PAGES, *OTHER_PAGES))]
    for page in pages:
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_all_commands_and_targets_are_listed() -> None:
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    verbs = set(re.findall(r"^\| `turnspec ([a-z-]+)", page, re.MULTILINE))
    assert verbs == {name for table in VERBS.values() for name in table}
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE))
    assert set(re.findall(r"`make ([a-z-]+)`", page)) == targets - {"help"}


@pytest.mark.long
def test_a_vendored_parser_is_used_as_the_page_says(checkout: Path) -> None:
    page = (ROOT / "docs" / VENDORING).read_text(encoding="utf-8")
    assert transcript(page, checkout, checkout.parent / "bin") == page
    (code,) = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=checkout.parent / "my-app",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == ("Hello!\n", "")
