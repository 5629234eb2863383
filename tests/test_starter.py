"""What `turnspec init` writes: its hooks and its workflow are run here, as users' machines do."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import ROOT
from tests.git_checkouts import commit, git
from tests.own_checkouts import FEW, change_template, new_checkout, regenerated
from tests.own_templates import FOLDER

STARTER = ROOT / "generator" / "turnspec" / "repository" / "starter"
WORKFLOWS: dict[str, dict[Any, Any]] = {
    name: yaml.safe_load((STARTER / f"{name}.yml").read_text(encoding="utf-8"))
    for name in ("formats", "outdated")
}
STEPS: dict[str, dict[str, Any]] = {
    step["name"]: step
    for name, workflow in WORKFLOWS.items()
    for step in workflow["jobs"][name]["steps"]
    if "name" in step
}
HOOKS: dict[str, dict[str, Any]] = {
    hook["id"]: hook
    for repository in yaml.safe_load(
        (STARTER / "pre-commit-config.yaml").read_text(encoding="utf-8")
    )["repos"]
    for hook in repository["hooks"]
}
CHECK, DIFF = "Specs and generated files are fresh", "What changes in the formats"
COMMENT, VERDICT = "Comment on the pull request", "Nothing breaks, or the label says that it may"
OUTDATED, TAKE = "What is newer", "Take it, and say what it changes"
OPEN = "Open a pull request, or renew it"


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = new_checkout(tmp_path_factory.mktemp("examples") / "checkout")
    regenerated(root)
    git(root, "init", "--quiet", "--initial-branch=main")
    commit(root)
    return root


@pytest.fixture
def root(committed: Path, tmp_path: Path) -> Path:
    return shutil.copytree(committed, tmp_path / "checkout")


@pytest.fixture
def bin_folder(tmp_path: Path) -> Path:
    """Commands as a user has them: turnspec, and a gh that keeps what it is given."""
    folder = tmp_path / "bin"
    folder.mkdir()
    keep = 'echo "$@" > "$SAID"; while [ "$1" != --body-file ]; do shift; done; cat "$2" >> "$SAID"'
    run = f"exec {shlex.quote(sys.executable)} -m turnspec"
    commands = {
        "python": f'exec {shlex.quote(sys.executable)} "$@"',
        "turnspec": f'test "$1" != regen || set -- regen --messages {FEW}\n{run} "$@"',
        "gh": f'case "$*" in auth*) ;; "pr list"*) echo "$NUMBER" ;; *) {keep} ;; esac',
    }
    for name, line in commands.items():
        (folder / name).write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    return folder


def execute(
    command: list[str], root: Path, bin_folder: Path, **variables: object
) -> subprocess.CompletedProcess[str]:
    given = {
        "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'generator'}",
        **{name: str(value) for name, value in variables.items()},
    }
    return subprocess.run(
        command,
        cwd=root,
        capture_output=True,
        text=True,
        timeout=100,
        env={**os.environ, **given},
    )


def run_step(
    name: str, root: Path, bin_folder: Path, **variables: object
) -> subprocess.CompletedProcess[str]:
    """Run a step's script as GitHub does."""
    script = STEPS[name]["run"]
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    needed = set(STEPS[name].get("env", {}))
    assert needed <= set(variables), needed
    return execute(command, root, bin_folder, **variables)


def run_hook(name: str, root: Path, bin_folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a hook's command, as pre-commit splits it."""
    return execute(shlex.split(HOOKS[name]["entry"]), root, bin_folder)


def break_a_format(root: Path) -> None:
    """Change a template so that the old parser doesn't read what it now renders."""
    text = (FOLDER / "plain-content.jinja").read_text(encoding="utf-8")
    assert "<:end:>" in text
    change_template(root, "plain-content", text.replace("<:end:>", "<:over-and-out:>"))


def test_a_workflow_that_does_nothing_dangerous() -> None:
    formats = WORKFLOWS["formats"]
    assert list(formats[True]) == ["pull_request"]  # YAML reads "on" as true
    assert formats["permissions"] == {"contents": "read", "pull-requests": "write"}
    assert list(WORKFLOWS["outdated"][True]) == ["schedule", "workflow_dispatch"]
    for step in STEPS.values():  # what an event holds gets into no script but as a variable
        assert "${{" not in step.get("run", "")


@pytest.mark.long
def test_a_pull_request_that_changes_nothing(root: Path, bin_folder: Path, tmp_path: Path) -> None:
    checked = run_step(CHECK, root, bin_folder)
    assert (checked.returncode, checked.stderr) == (0, "")
    files = {"GITHUB_STEP_SUMMARY": tmp_path / "summary", "GITHUB_OUTPUT": tmp_path / "output"}
    done = run_step(DIFF, root, bin_folder, BASE="HEAD", **files)
    assert (done.returncode, done.stderr) == (0, "")
    assert files["GITHUB_OUTPUT"].read_text(encoding="utf-8") == "status=0\n"
    summary = files["GITHUB_STEP_SUMMARY"].read_text(encoding="utf-8")
    assert summary.startswith("### Output formats: no format changed")
    assert run_step(VERDICT, root, bin_folder, STATUS=0).returncode == 0


def test_a_pull_request_that_breaks_a_format(root: Path, bin_folder: Path, tmp_path: Path) -> None:
    base = git(root, "rev-parse", "HEAD")
    break_a_format(root)
    assert run_step(CHECK, root, bin_folder).returncode == 1
    (tmp_path / "names").write_text("plain-content\n", encoding="utf-8")
    files = {"GITHUB_STEP_SUMMARY": tmp_path / "summary", "GITHUB_OUTPUT": tmp_path / "output"}
    taken = run_step(TAKE, root, bin_folder, RUNNER_TEMP=tmp_path, **files)
    assert (taken.returncode, taken.stderr) == (0, "")
    assert "| plain-content | breaking |" in (tmp_path / "formats.md").read_text(encoding="utf-8")
    commit(root)
    assert run_step(CHECK, root, bin_folder).returncode == 0
    files["GITHUB_STEP_SUMMARY"].unlink()
    done = run_step(DIFF, root, bin_folder, BASE=base, **files)
    assert (done.returncode, done.stderr) == (0, "")
    assert files["GITHUB_OUTPUT"].read_text(encoding="utf-8") == "status=1\n"
    assert "| plain-content | breaking |" in files["GITHUB_STEP_SUMMARY"].read_text("utf-8")
    assert run_step(VERDICT, root, bin_folder, STATUS=1).returncode == 1


def test_a_base_that_is_not_there_fails(root: Path, bin_folder: Path, tmp_path: Path) -> None:
    files = {"GITHUB_STEP_SUMMARY": tmp_path / "summary", "GITHUB_OUTPUT": tmp_path / "output"}
    done = run_step(DIFF, root, bin_folder, BASE="0" * 40, **files)
    assert done.returncode == 1
    assert done.stderr.startswith("error: git knows no revision")


@pytest.mark.parametrize("long", [False, True])
def test_the_comment(root: Path, bin_folder: Path, tmp_path: Path, long: bool) -> None:
    details = "<details>\n" + "x" * (70_000 if long else 10) + "\n</details>\n"
    (root / "formats.md").write_text(f"### Output formats\n\n{details}", encoding="utf-8")
    said = tmp_path / "said"
    given = {"GH_TOKEN": "x", "GH_REPO": "a/b", "PULL_REQUEST": 7, "SAID": said}
    done = run_step(COMMENT, root, bin_folder, **given)
    assert (done.returncode, done.stderr) == (0, "")
    assert said.read_text(encoding="utf-8") == (
        "pr comment 7 --edit-last --create-if-none --body-file formats.md\n"
        f"### Output formats\n\n{'' if long else details}"
    )


@pytest.mark.long
def test_the_hooks(root: Path, bin_folder: Path) -> None:
    assert run_hook("turnspec-check", root, bin_folder).returncode == 0
    assert run_hook("turnspec-diff", root, bin_folder).returncode == 0
    break_a_format(root)
    stale = run_hook("turnspec-check", root, bin_folder)
    assert stale.returncode == 1
    assert stale.stderr.endswith("; run: turnspec regen\n")
    regenerated(root)
    assert run_hook("turnspec-check", root, bin_folder).returncode == 0
    told = run_hook("turnspec-diff", root, bin_folder)
    assert told.returncode == 0
    assert told.stdout.startswith("plain-content: breaking\n")
    assert 'stop string "<:end:>": gone' in told.stdout


def test_a_hook_that_cannot_compare_fails(root: Path, bin_folder: Path) -> None:
    shutil.rmtree(root / ".git")
    assert run_hook("turnspec-diff", root, bin_folder).returncode == 1


def test_a_pull_request_for_what_is_newer(root: Path, bin_folder: Path, tmp_path: Path) -> None:
    git(root, "init", "--quiet", "--bare", str(tmp_path / "origin"))
    git(root, "remote", "add", "origin", str(tmp_path / "origin"))
    (tmp_path / "formats.md").write_text("a verdict\n", encoding="utf-8")
    said = tmp_path / "said"
    given = {"RUNNER_TEMP": tmp_path, "GH_TOKEN": "x", "GH_REPO": "a/b", "SAID": said}
    for number, asked in (
        ("", "pr create --head newer --title "),
        ("12", "pr edit 12 --body-file "),
    ):
        (root / "specs" / "plain-content.yaml").write_text(f"# {number}", encoding="utf-8")
        done = run_step(OPEN, root, bin_folder, BRANCH="newer", NUMBER=number, **given)
        assert (done.returncode, done.stderr) == (0, "")
        assert said.read_text(encoding="utf-8").startswith(asked)
        assert said.read_text(encoding="utf-8").endswith("\na verdict\n")
        shown = git(tmp_path / "origin", "show", "newer:specs/plain-content.yaml")
        assert shown == f"# {number}".strip()
        git(root, "switch", "--quiet", "main")
        git(root, "branch", "--quiet", "-D", "newer")


@pytest.mark.parametrize(
    ("names", "status", "code", "said"),
    [([], 0, 0, ""), (["a", "b"], 1, 0, "found=true\n"), ([], 1, 1, "")],
)
def test_what_is_newer(
    names: list[str],
    status: int,
    code: int,
    said: str,
    root: Path,
    bin_folder: Path,
    tmp_path: Path,
) -> None:
    """The step says whether there is any, and fails where `outdated` had nothing but problems."""
    found = json.dumps({"outdated": [{"name": name} for name in names]})
    script = f"#!/bin/sh\necho {shlex.quote(found)}\nexit {status}\n"
    (bin_folder / "turnspec").write_text(script, encoding="utf-8")
    output = tmp_path / "output"
    output.touch()
    files = {"RUNNER_TEMP": tmp_path, "GITHUB_OUTPUT": output}
    assert run_step(OUTDATED, root, bin_folder, **files).returncode == code
    assert output.read_text(encoding="utf-8") == said
    assert (tmp_path / "names").read_text(encoding="utf-8").split() == names
