"""The templates of known formats: from the disk, from a package downloaded before, or fetched."""

from __future__ import annotations

from pathlib import Path

from tests.fake_index import FILE, TEMPLATES, FakeIndex
from tests.test_sources_fetch import SDIST, index, index_text, root, sha256
from turnspec.analysis.source import TemplateSource
from turnspec.catalog.catalog import Catalog
from turnspec.catalog.known import KnownFormat
from turnspec.catalog.templates import template_source
from turnspec.pipeline.project import Project
from turnspec.sources.index import FETCHED_FOLDER, INDEX_FILE
from turnspec.spec.problems import Problem

__all__ = ["index", "root"]  # fixtures: a repository with an index of two templates, and a server


def known(root: Path) -> KnownFormat:
    return Catalog.around(root).formats["one"]


def test_from_where_a_repository_keeps_it(root: Path) -> None:
    path = root / FETCHED_FOLDER / "One.jinja"
    path.parent.mkdir(parents=True)
    path.write_text(TEMPLATES["One.jinja"], encoding="utf-8", newline="")
    source = template_source(known(root))
    assert isinstance(source, TemplateSource)
    assert (source.name, source.text, source.origin) == ("one", TEMPLATES["One.jinja"], "pack")


def test_from_a_package_in_the_cache(root: Path) -> None:
    (root / "cache").mkdir()
    (root / "cache" / FILE).write_bytes(SDIST)
    source = template_source(known(root))
    assert isinstance(source, TemplateSource)
    assert source.text == TEMPLATES["One.jinja"]
    kept = root / "cache" / FETCHED_FOLDER / "One.jinja"
    assert kept.read_bytes().decode() == TEMPLATES["One.jinja"]
    (root / "cache" / FILE).unlink()
    assert template_source(known(root)) == source
    assert not (root / FETCHED_FOLDER).exists()


def test_a_package_that_is_not_the_pinned_one(root: Path) -> None:
    (root / "cache").mkdir()
    (root / "cache" / FILE).write_bytes(b"x" * len(SDIST))
    assert isinstance(template_source(known(root)), Problem)


def test_fetched_only_if_that_is_wanted(root: Path, index: FakeIndex) -> None:
    assert str(template_source(known(root))) == (
        "its template isn't here, as turnspec ships none (a download of 0 MB)"
    )
    assert index.ranges == []
    source = template_source(known(root), fetch=True)
    assert isinstance(source, TemplateSource)
    assert source.text == TEMPLATES["One.jinja"]
    assert index.ranges == [None]


def test_what_cannot_be_had(root: Path, index: FakeIndex) -> None:
    index.bodies = [b"another"]
    problem = template_source(known(root), fetch=True)
    assert isinstance(problem, Problem)
    assert str(problem).startswith(f"cannot fetch {FILE}: ")


def test_a_local_template_that_was_edited(root: Path) -> None:
    entry = f"  - file: Mine.jinja\n    origin: local\n    sha256: {sha256('mine')}\n"
    (root / INDEX_FILE).write_text(index_text() + entry, encoding="utf-8")
    path = root / "templates" / "Mine.jinja"
    path.write_text("mine", encoding="utf-8")
    mine = Catalog.around(root).formats["mine"]
    assert isinstance(template_source(mine), TemplateSource)
    path.write_text("edited", encoding="utf-8")
    assert str(template_source(mine)) == (
        f"templates/Mine.jinja: isn't as {INDEX_FILE} pins it; run: turnspec regen"
    )


def test_a_format_that_no_index_lists(root: Path) -> None:
    (root / "specs").mkdir()
    (root / "specs/gone.yaml").write_text("", encoding="utf-8")
    gone = Catalog.around(root).formats["gone"]
    assert str(template_source(gone)) == "gone: its template is in no index; run: turnspec regen"


def test_a_spec_in_no_repository(tmp_path: Path) -> None:
    path = tmp_path / "loose.yaml"
    path.write_text("", encoding="utf-8")
    loose = KnownFormat("loose", Project(tmp_path), None, None, spec_file=path)
    assert str(template_source(loose)) == (
        f"{path}: its template is in no index; give the template itself instead of its spec"
    )
