"""What GitHub and pre-commit run of this repository: the commands are there, and checked here."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sysconfig
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tests.conftest import ROOT
from turnspec.cli.main import VERBS
from turnspec.repository.starting import start_repository

WORKFLOWS = ROOT / ".github" / "workflows"
STARTER = ROOT / "generator" / "turnspec" / "repository" / "starter"
VERB_NAMES = {name for verbs in VERBS.values() for name in verbs}


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def steps(workflow: Path) -> Iterator[dict[str, Any]]:
    for job in read(workflow)["jobs"].values():
        yield from job.get("steps", [])


def test_what_workflows_run_is_there() -> None:
    """Each step that isn't an action is a target of make, or a script: so it runs anywhere."""
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    ran = set()
    for step in (step for path in WORKFLOWS.iterdir() for step in steps(path) if "run" in step):
        found = re.fullmatch(r"(make|python) ([\w/.-]+)( TAG=.*)?", step["run"])
        assert found is not None, step
        assert found[2] in targets if found[1] == "make" else (ROOT / found[2]).exists(), step
        ran.add(found[2])
    assert ran >= {"test", "check", "dist", "outdated"}


def test_all_promised_pythons_and_nodes_are_tried() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    matrix = read(WORKFLOWS / "tests.yml")["jobs"]["test"]["strategy"]["matrix"]["include"]
    assert [row["python"] for row in matrix] == found
    page = (ROOT / "docs" / "versions.md").read_text(encoding="utf-8")
    promised = re.search(r"Node (\d+(?:, \d+)*) and (\d+)", page)
    assert promised is not None
    assert {row["node"] for row in matrix} == {*promised[1].split(", "), promised[2]}


def test_an_action_has_one_commit_everywhere() -> None:
    """And the action of this repository does what the workflow of `init` does, which is tried."""
    files = [*WORKFLOWS.iterdir(), *STARTER.glob("*.yml")]
    used = {step["uses"] for path in files for step in steps(path) if "uses" in step} - {"./"}
    assert len({action.partition("@")[0] for action in used}) == len(used)
    own = {step["name"]: step["run"] for step in read(ROOT / "action.yml")["runs"]["steps"]}
    tried = {step["name"]: step["run"] for step in steps(STARTER / "formats.yml") if "run" in step}
    assert own.keys() == {*tried, "Copies of parsers are fresh"}
    assert all(own[name] == text for name, text in tried.items() if name != "Install turnspec")


def test_hooks_and_forms_name_commands_that_there_are() -> None:
    hooks = read(ROOT / ".pre-commit-hooks.yaml")
    forms = (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*t.yml")
    texts = [hook["entry"] for hook in hooks] + [path.read_text("utf-8") for path in forms]
    named = {verb for text in texts for verb in re.findall(r"turnspec ([a-z-]+)", text)}
    assert {"check", "diff", "vendor"} <= named <= VERB_NAMES


def test_the_linter_finds_nothing_in_what_init_writes(tmp_path: Path) -> None:
    start_repository(tmp_path)
    places = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    linter = shutil.which("zizmor", path=places)
    assert linter is not None, "it is in requirements.lock"
    lint = [linter, "--offline", "--quiet", "--no-progress", "."]
    told = subprocess.run(lint, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (told.returncode, told.stderr) == (0, ""), told.stdout
    workflow = tmp_path / ".github" / "workflows" / "outdated.yml"
    workflow.write_text(workflow.read_text("utf-8").replace("@de0fac2e4500dabe000", "@v"), "utf-8")
    assert subprocess.run(lint, cwd=tmp_path, capture_output=True, timeout=60).returncode != 0
