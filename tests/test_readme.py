"""The README: all commands in it print what it says, and its figures are those of the results."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.install_size import MOST_MEGABYTES, MOST_PACKAGES

from tests.conftest import ROOT
from tests.fake_hub import FakeHub, serving
from tests.generated_formats import NAMES
from tests.own_templates import FOLDER
from tests.test_catalog import model_file
from tests.transcripts import put_on_path, transcript
from turnspec.cli.extras import EXTRAS
from turnspec.pipeline.project import Project
from turnspec.sources.index import Entry
from turnspec.spec.files import read_spec
from turnspec.spec.fingerprint import fingerprint
from turnspec.spec.model import Spec
from turnspec.spec.overlay import read_overlay
from turnspec.spec.results import RUNGS, read_results
from turnspec.spec.verdict import rung_title

README = (ROOT / "README.md").read_text(encoding="utf-8")
MOST_LINES = 255
NEW = "unseen-arguments-into"
PROPERTIES = {"city": {"type": "string"}, "days": {"type": "integer"}}
PARAMETERS = {"type": "object", "properties": PROPERTIES}
TOOLS = [{"type": "function", "function": {"name": "get_weather", "parameters": PARAMETERS}}]


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, reference_templates: list[Entry]) -> Path:
    """What somebody has who follows the README, and turnspec on the path."""
    folder = tmp_path_factory.mktemp("readme") / "app"
    folder.mkdir()
    path = next(
        ROOT / found.location for found in reference_templates if found.name == "qwen3-coder"
    )
    model_file(folder / "model.gguf", path.read_text(encoding="utf-8"))
    (folder / "qwen3-coder.jinja").write_bytes(path.read_bytes())
    (folder / "output.txt").write_text("Hello!<|im_end|>", encoding="utf-8")
    (folder / "tools.json").write_text(json.dumps(TOOLS), encoding="utf-8")
    template = (FOLDER / f"{NEW}.jinja").read_text(encoding="utf-8")
    (folder / "my-model.jinja").write_text(template, encoding="utf-8")
    put_on_path(folder.parent / "bin")
    return folder


def test_its_length() -> None:
    assert len(README.splitlines()) <= MOST_LINES


def test_every_command_prints_what_it_says(folder: Path) -> None:
    assert sum(block.count("$ ") for block in blocks("console")) > 8
    hub = FakeHub()
    template = (folder / "qwen3-coder.jinja").read_text(encoding="utf-8")
    hub.add("Qwen/Qwen3-Coder-30B-A3B-Instruct", {"chat_template.jinja": template})
    with serving(hub):
        assert transcript(README, folder, folder.parent / "bin", hub) == README
    formats = sorted(path.name for path in (folder / "formats").glob("*.py"))
    assert formats == ["my_model.py", "qwen3_coder.py"]


def test_what_is_installed_is_there() -> None:
    installed = re.findall(r"pip install '?turnspec(?:\[(\w+)\])?", README)
    assert set(installed) == {"", "build"} <= {"", *EXTRAS}
    packages, megabytes = re.findall(r"(\d+) packages and (\d+) MB", README)[0]
    assert int(packages) <= MOST_PACKAGES
    assert int(megabytes) <= MOST_MEGABYTES


def test_the_example_prints_what_it_says(folder: Path) -> None:
    vendored = "```console\n$ turnspec vendor qwen3-coder --into formats\n```\n"
    transcript(vendored, folder, folder.parent / "bin")
    for code, shown in zip(blocks("python"), blocks("text"), strict=True):
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=60
        )
        assert (done.stdout, done.stderr) == (shown, "")


def test_every_target_of_make_is_there() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE))
    named = set(re.findall(r"`make ([a-z-]+)`", README))
    named |= set(re.findall(r"^make ([a-z-]+)", "\n".join(blocks("sh")), re.MULTILINE))
    assert len(named) > 8
    assert named <= targets


def test_the_figures_are_those_of_the_results() -> None:
    results = read_results(ROOT / "specs" / "verification.json")
    assert isinstance(results, dict)
    for rung in RUNGS:
        passing = sum(result.rungs[rung].is_passed for result in results.values())
        row = re.search(rf"^\| {rung_title(rung)}: .*\| (\d+) \|$", README, re.MULTILINE)
        assert row is not None
        assert int(row.group(1)) == passing


def test_the_other_figures() -> None:
    project = Project(ROOT)
    specs = [read_spec(path) for path in project.specs.glob("*.yaml")]
    distinct = {fingerprint(spec) for spec in specs if isinstance(spec, Spec)}
    overlays = [
        read_overlay(path.read_text(encoding="utf-8"), path.name)
        for path in project.overlays.glob("*.yaml")
    ]
    keys = sum(len(overlay.keys) for overlay in overlays if not isinstance(overlay, list))
    assert (len(specs), len(overlays)) == (len(NAMES), 29)
    text = " ".join(README.split())
    assert f"{len(NAMES)} formats come with it" in text
    assert f"they are {len(distinct)} distinct formats" in text
    assert f"Twenty-nine have an [overlay](docs/fix-an-overlay.md), {keys} keys of data" in text
