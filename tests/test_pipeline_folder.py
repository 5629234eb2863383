"""Analysing templates into a folder, from Python."""

from __future__ import annotations

from pathlib import Path

from tests.own_templates import FOLDER
from turnspec.pipeline.folder import analyze_into


def test_good_sources_are_written_and_bad_ones_told(tmp_path: Path) -> None:
    broken = tmp_path / "broken.jinja"
    broken.write_text("{% if %}", encoding="utf-8")
    good = FOLDER / "plain-content.jinja"
    result = analyze_into([broken, good, tmp_path / "none.jinja"], tmp_path / "out", messages=5)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "plain-content.gbnf",
        "plain-content.yaml",
        "plain_content.py",
    ]
    assert sorted(str(problem).removeprefix(f"{tmp_path}/") for problem in result.problems) == [
        "broken.jinja:1: syntax error: Expected an expression, got 'end of statement block'",
        "none.jinja: there is no such file or folder",
    ]


def test_without_a_folder_nothing_is_written(tmp_path: Path) -> None:
    result = analyze_into([FOLDER / "plain-content.jinja"], None, messages=None)
    assert result.written == []
    assert sorted(result.builds[0].files) == [
        "plain-content.gbnf",
        "plain-content.yaml",
        "plain_content.py",
    ]


def test_a_template_without_any_mark_is_read_rightly(tmp_path: Path) -> None:
    bare = tmp_path / "bare.jinja"
    bare.write_text("{% for m in messages %}{{ m.content }}{% endfor %}", encoding="utf-8")
    (build,) = analyze_into([bare], tmp_path / "out", messages=5).builds
    assert build.result is not None
    failed = [name for name, rung in build.result.rungs.items() if not rung.is_passed]
    assert (failed, build.objections) == ([], ())


def test_a_file_of_others_is_not_written_over(tmp_path: Path) -> None:
    own = tmp_path / "plain_content.py"
    own.write_text("mine = 1\n", encoding="utf-8")
    good = FOLDER / "plain-content.jinja"
    result = analyze_into([good], tmp_path, messages=None)
    told = "isn't turnspec's; move it away or choose another folder"
    assert [*map(str, result.problems)] == [f"{own}: {told}"]
    assert ([*tmp_path.iterdir()], own.read_text("utf-8")) == ([own], "mine = 1\n")
    own.unlink()
    for _ in range(2):
        assert len(analyze_into([good], tmp_path, messages=None).written) == 3
