"""Regenerating a checkout: what is written, what is left alone, and what is reported."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import pytest

from tests.golden_specs import TWO
from tests.own_checkouts import (
    add_text,
    change_template,
    files_of,
    new_checkout,
    regenerated,
)
from tests.own_templates import FOLDER
from turnspec.pipeline.freshness import check_freshness
from turnspec.pipeline.project import STATE, OutputPaths, Project
from turnspec.pipeline.regenerate import Regeneration
from turnspec.pipeline.template_sources import read_sources
from turnspec.sources.fetch import fetch_templates
from turnspec.spec.files import read_spec, spec_hash
from turnspec.spec.problems import Problem
from turnspec.spec.results import RUNGS, read_results

FILES = [
    "generated/bare-json-call.gbnf",
    "generated/bare_json_call.py",
    "generated/plain-content.gbnf",
    "generated/plain_content.py",
    "specs/README.md",
    "specs/bare-json-call.yaml",
    "specs/plain-content.yaml",
    "specs/verification.json",
]


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Regeneration]:
    """Return a checkout that was regenerated once; tests work on copies of it."""
    root = new_checkout(tmp_path_factory.mktemp("fresh") / "checkout")
    return root, regenerated(root)


@pytest.fixture
def root(fresh: tuple[Path, Regeneration], tmp_path: Path) -> Path:
    return shutil.copytree(fresh[0], tmp_path / "checkout")


def written(root: Path) -> dict[str, bytes]:
    """Return all that regenerating writes."""
    return {path: data for path, data in files_of(root).items() if path in FILES}


def built(done: Regeneration) -> list[str]:
    return sorted(build.name for build in done.built)


def messages(done: Regeneration) -> list[str]:
    return [str(problem) for problem in done.problems]


def test_regenerating_writes_all_files(fresh: tuple[Path, Regeneration]) -> None:
    root, done = fresh
    assert done.problems == []
    assert built(done) == sorted(TWO)
    assert sorted(done.changed_files) == FILES
    assert sorted(written(root)) == FILES


def test_results_belong_to_the_specs(fresh: tuple[Path, Regeneration]) -> None:
    root, done = fresh
    results = read_results(root / "specs/verification.json")
    assert results == done.results
    assert not isinstance(results, Problem)
    for name in TWO:
        spec = read_spec(root / f"specs/{name}.yaml")
        assert not isinstance(spec, list)
        assert results[name].spec_hash == spec_hash(spec)
        assert tuple(results[name].rungs) == tuple(RUNGS)


def test_the_index_table_lists_all_templates(fresh: tuple[Path, Regeneration]) -> None:
    table = (fresh[0] / "specs/README.md").read_text(encoding="utf-8")
    assert all(name in table for name in TWO)


def test_nothing_of_this_machine_is_written(fresh: tuple[Path, Regeneration]) -> None:
    root, _ = fresh
    for path, data in written(root).items():
        assert str(root).encode() not in data, path


def test_a_second_run_rebuilds_nothing_and_is_quick(root: Path) -> None:
    before = files_of(root)
    start = time.monotonic()
    done = regenerated(root)
    assert time.monotonic() - start < 3
    assert (done.built, done.changed_files, done.problems) == ([], [], [])
    assert sorted(done.unchanged) == sorted(TWO)
    assert sorted(done.results) == sorted(TWO)
    assert files_of(root) == before


def test_regenerating_everything_gives_the_same_files(root: Path) -> None:
    before = files_of(root)
    done = regenerated(root, everything=True)
    assert built(done) == sorted(TWO)
    assert done.changed_files == []
    assert files_of(root) == before


def test_without_the_state_everything_is_built_again(root: Path) -> None:
    (root / STATE).write_text("{ damaged", encoding="utf-8")
    done = regenerated(root)
    assert built(done) == sorted(TWO)
    assert done.changed_files == []


def test_a_changed_template_rebuilds_just_that_one(root: Path) -> None:
    text = (FOLDER / "plain-content.jinja").read_text(encoding="utf-8")
    change_template(root, "plain-content", text.replace("<:end:>", "<:finis:>"))
    done = regenerated(root)
    assert built(done) == ["plain-content"]
    assert done.unchanged == ["bare-json-call"]
    assert done.problems == []
    spec = (root / "specs/plain-content.yaml").read_text(encoding="utf-8")
    assert "<:finis:>" in spec
    assert "<:end:>" not in spec
    assert check(root) == ([], [])


@pytest.mark.parametrize("path", ["specs/plain-content.yaml", "generated/plain_content.py"])
def test_a_missing_or_edited_file_is_made_again(root: Path, path: str) -> None:
    before = written(root)
    (root / path).unlink()
    done = regenerated(root)
    assert (built(done), done.changed_files) == (["plain-content"], [path])
    assert written(root) == before


def test_an_edited_module_is_written_again(root: Path) -> None:
    before = written(root)
    path = root / "generated/plain_content.py"
    path.write_text(path.read_text(encoding="utf-8") + "# mine\n", encoding="utf-8")
    done = regenerated(root)
    assert done.changed_files == ["generated/plain_content.py"]
    assert written(root) == before


BROKEN = {
    "unread": (
        "a\n{% if %}",
        "unread.jinja:2: syntax error: Expected an expression, got 'end of statement block'",
    ),
    "silent": ("{# nothing #}", "silent.jinja: the user's message is not rendered"),
    "raising": ("{{ raise_exception('no') }}", "raising.jinja: TemplateError: no"),
}


def test_bad_templates_are_named_by_each_run_and_the_others_are_built(tmp_path: Path) -> None:
    root = new_checkout(tmp_path / "checkout")
    for name, (text, _) in BROKEN.items():
        add_text(root, name, text)
    done = regenerated(root)
    assert sorted(messages(done)) == sorted(message for _, message in BROKEN.values())
    assert sorted(written(root)) == FILES
    assert not [path for name in BROKEN for path in root.rglob(f"{name}.yaml")]
    assert sorted(done.results) == sorted(TWO)
    assert sorted(messages(regenerated(root))) == sorted(messages(done))


def test_what_could_not_be_built_again_keeps_its_results(root: Path) -> None:
    before = files_of(root)
    (root / "templates/plain-content.jinja").unlink()
    done = regenerated(root)
    assert [problem.file for problem in done.problems] == ["templates/plain-content.jinja"]
    assert (done.changed_files, done.left_over) == ([], [])
    after = files_of(root)
    assert {path for path in before if before[path] != after.get(path)} == {
        "templates/plain-content.jinja"
    }


def test_an_index_that_cannot_be_read_spoils_nothing(root: Path) -> None:
    (root / "templates/index.yaml").write_text("origins: [", encoding="utf-8")
    before = files_of(root)
    done = regenerated(root)
    assert done.problems
    assert done.changed_files == []
    assert files_of(root) == before


def test_a_wrong_checksum_is_named_and_the_others_are_built(root: Path) -> None:
    path = root / "templates/plain-content.jinja"
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    change_template(root, "bare-json-call", (FOLDER / "name-as-key.jinja").read_text("utf-8"))
    done = regenerated(root)
    assert built(done) == ["bare-json-call"]
    assert len(done.problems) == 1
    assert messages(done)[0].startswith("templates/plain-content.jinja: its text isn't the one ")


IMPOSSIBLE = {
    "an unknown key": ("content:\n", "content:\n  colour: red\n", "colour"),
    "an unknown mode": ("mode: PLAIN", "mode: PLAIM", "PLAIM"),
    "no YAML": ("turn:\n", "turn: [\n", ""),
}


@pytest.mark.parametrize("case", IMPOSSIBLE)
def test_an_impossible_spec_is_reported_and_left(root: Path, case: str) -> None:
    old, new, word = IMPOSSIBLE[case]
    path = root / "specs/plain-content.yaml"
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    edited = text.replace(old, new)
    path.write_text(edited, encoding="utf-8")
    (root / "generated/bare_json_call.py").unlink()
    done = regenerated(root)
    assert done.problems
    for problem in done.problems:
        assert problem.file == "specs/plain-content.yaml"
        assert problem.line is not None
        assert word in str(problem)
    assert path.read_text(encoding="utf-8") == edited
    assert built(done) == ["bare-json-call"]
    assert (root / "generated/bare_json_call.py").exists()


def test_a_spec_edited_to_something_possible_is_written_again(root: Path) -> None:
    before = written(root)
    path = root / "specs/plain-content.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("<:begin:>", "<:start:>"), encoding="utf-8")
    assert regenerated(root).changed_files == ["specs/plain-content.yaml"]
    assert written(root) == before


def check(root: Path) -> tuple[list[str], list[str]]:
    """Return the paths that aren't fresh, and the problems."""
    sources, problems = read_sources(Project(root), fetch_templates(root, offline=True).templates)
    differences, found = check_freshness(Project(root), sources)
    return [difference.path for difference in differences], [*map(str, problems), *map(str, found)]


def test_check_is_clean_after_regenerating(root: Path) -> None:
    before = files_of(root)
    assert check(root) == ([], [])
    assert files_of(root) == before


def test_check_finds_an_edited_and_a_missing_file_and_writes_nothing(root: Path) -> None:
    edited = root / "generated/plain_content.py"
    edited.write_text(edited.read_text(encoding="utf-8") + "# mine\n", encoding="utf-8")
    (root / "generated/bare-json-call.gbnf").unlink()
    before = files_of(root)
    differences, problems = check(root)
    assert differences == ["generated/bare-json-call.gbnf", "generated/plain_content.py"]
    assert problems == []
    assert files_of(root) == before


def test_check_finds_left_over_files(root: Path) -> None:
    names = ["specs/gone.yaml", "generated/gone.py", "generated/gone.gbnf", "generated/_2gone.py"]
    for name in names:
        (root / name).write_text("", encoding="utf-8")
    (root / "generated/__init__.py").write_text("", encoding="utf-8")
    assert check(root) == (sorted(names), [])


def test_check_finds_results_of_another_spec_or_generator(root: Path) -> None:
    path = root / "specs/verification.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    data["plain-content"]["spec_hash"] = "0" * 64
    data["bare-json-call"]["generator"] = "0.0.0"
    path.write_text(json.dumps(data), encoding="utf-8")
    assert check(root) == (
        [],
        [
            "specs/verification.json: no result for plain-content as it is now",
            "specs/verification.json: the result for bare-json-call is of generator 0.0.0",
        ],
    )


def test_check_of_a_template_that_was_never_regenerated(tmp_path: Path) -> None:
    root = new_checkout(tmp_path / "checkout", ["plain-content"])
    differences, problems = check(root)
    assert differences == [
        "generated/plain-content.gbnf",
        "generated/plain_content.py",
        "specs/plain-content.yaml",
    ]
    assert not (root / "specs").exists()
    assert not (root / "generated").exists()
    assert problems == []


def test_project_is_found_from_inside(root: Path) -> None:
    assert Project.find(root / "templates") == Project(root)
    assert Project.find(root.parent) is None


def test_paths_of_a_name_that_begins_with_a_digit() -> None:
    assert OutputPaths.in_project("2-model") == OutputPaths(
        "specs/2-model.yaml", "generated/_2_model.py", "generated/2-model.gbnf"
    )
    assert OutputPaths.in_folder("my-model") == OutputPaths(
        "my-model.yaml", "my_model.py", "my-model.gbnf"
    )
