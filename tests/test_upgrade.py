"""`turnspec upgrade`: specs of an older form in today's, and the schema beside a repository's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.specs_for_tests import json_native_spec, write_spec
from turnspec.cli.main import turnspec
from turnspec.pipeline.freshness import check_freshness
from turnspec.pipeline.project import SCHEMA, Project
from turnspec.repository.starting import start_repository
from turnspec.spec.files import dump_spec, read_spec


def run(*arguments: object) -> Result:
    return CliRunner().invoke(turnspec, [str(argument) for argument in arguments])


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A spec of version 1, with a comment of its own before it."""
    file = tmp_path / "json-native.yaml"
    text = dump_spec(json_native_spec()).replace("spec_version: 2\n", "")
    before, _, rest = text.partition("thinking:\n")
    behind = rest[rest.index("\nturn:") :]
    prompts = "  on: {}\n  off: {}\n  prompt_on: a\n  prompt_off: a"
    file.write_text(f"# mine\n{before}thinking:\n{prompts}{behind}", encoding="utf-8")
    return file


def test_a_spec_is_written_in_todays_form(old: Path) -> None:
    was = read_spec(old)
    result = run("upgrade", old)
    assert (result.exit_code, result.stdout) == (0, f"wrote {old}\n")
    assert read_spec(old) == was
    head = old.read_text(encoding="utf-8").splitlines()
    assert head[0] == "# mine"
    assert "spec_version: 2" in head[:3]
    assert run("upgrade", old).stdout == "all specs are of version 2 already\n"


def test_nothing_is_written_where_one_cannot_be_used(old: Path) -> None:
    bad = old.with_name("bad.yaml")
    bad.write_text("spec_version: 99\n", encoding="utf-8")
    before = old.read_bytes()
    result = run("upgrade", old, bad)
    assert result.exit_code == 1
    assert f"{bad}:1: spec_version: 99 is newer than this turnspec" in result.stderr
    assert old.read_bytes() == before


def test_a_repository_has_the_schema_that_its_specs_name(tmp_path: Path) -> None:
    start_repository(tmp_path)
    project = Project(tmp_path)
    assert project.recipe.schema == "schema.json"
    assert "spec_version" in json.loads((project.root / SCHEMA).read_text("utf-8"))["properties"]
    assert check_freshness(project, []) == ([], [])
    (project.root / SCHEMA).write_text("{}", encoding="utf-8")
    (problem,) = check_freshness(project, [])[1]
    assert str(problem) == "specs/schema.json: is of another turnspec; run: turnspec upgrade"
    assert run("upgrade", "--root", tmp_path).stdout == f"wrote {project.root / SCHEMA}\n"
    assert check_freshness(project, []) == ([], [])


def test_specs_of_a_repository_from_before_get_the_line(tmp_path: Path) -> None:
    start_repository(tmp_path)
    project = Project(tmp_path)
    (project.root / SCHEMA).unlink()
    write_spec(project.specs, json_native_spec())
    run("upgrade", "--root", tmp_path)
    text = (project.specs / "json-native.yaml").read_text(encoding="utf-8")
    assert text.splitlines()[1] == "# yaml-language-server: $schema=schema.json"
