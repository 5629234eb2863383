"""Fetching the pinned templates into a repository, and what is said of missing ones."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fake_index import FILE, TEMPLATES, FakeIndex, origin_of, sdist_of, serving
from tests.generated_formats import NAMES, ROOT
from turnspec.sources.cache import CACHE_VARIABLE
from turnspec.sources.fetch import FetchResult, fetch_templates
from turnspec.sources.index import FETCHED_FOLDER, INDEX_FILE, Entry, read_index

SDIST = sdist_of(TEMPLATES)


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def index_text(sdist: bytes = SDIST, **checksums: str) -> str:
    origin = origin_of(sdist)
    lines = ["origins:", "  - id: pack", "    kind: pypi-sdist", "    project: pack"]
    lines += ['    version: "1.0"', f"    file: {FILE}", f"    sha256: {origin.sha256}"]
    lines += [f"    size: {origin.size}", "templates:"]
    for file, text in TEMPLATES.items():
        checksum = checksums.get(file.removesuffix(".jinja"), sha256(text))
        lines += [f"  - file: {file}", "    origin: pack", f"    path: templates/{file}"]
        lines += [f'    sha256: "{checksum}"']
    return "\n".join(lines) + "\n"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository with an index of two templates, and a cache that holds nothing."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    (tmp_path / "templates").mkdir()
    (tmp_path / INDEX_FILE).write_text(index_text())
    return tmp_path


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeIndex]:
    """Serve the templates' sdist, as the only index that pip is set to."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    with serving(FakeIndex([SDIST])) as served:
        monkeypatch.setenv("PIP_INDEX_URL", served.url)
        yield served


def messages(result: FetchResult) -> list[str]:
    return [str(problem) for problem in result.problems]


def test_templates_are_fetched_once_and_byte_for_byte(root: Path, index: FakeIndex) -> None:
    first, second = fetch_templates(root), fetch_templates(root)
    assert first.problems == []
    assert first == second
    assert first.templates == [*read_index(root)[0].entries]
    for template in first.templates:
        assert (root / template.location).read_bytes().decode() == TEMPLATES[template.file]
    assert sorted(path.name for path in (root / FETCHED_FOLDER).iterdir()) == sorted(TEMPLATES)
    assert index.ranges == [None]


def test_a_template_changed_on_the_disk_is_taken_from_the_cache_again(
    root: Path, index: FakeIndex
) -> None:
    first = fetch_templates(root)
    assert first.notices == []
    (changed,) = [t for t in first.templates if t.name == "one"]
    (root / changed.location).write_text("edited")
    result = fetch_templates(root, offline=True)
    assert result.problems == []
    assert [str(notice) for notice in result.notices] == [
        f"templates/fetched/One.jinja: wasn't the text that {INDEX_FILE}:10 pins, "
        "and was fetched again"
    ]
    assert (root / changed.location).read_text() == TEMPLATES["One.jinja"]


def test_a_changed_checksum_is_refused_and_the_others_are_fetched(
    root: Path, index: FakeIndex
) -> None:
    (root / INDEX_FILE).write_text(index_text(One="0" * 64))
    result = fetch_templates(root)
    assert [template.name for template in result.templates] == ["two"]
    assert messages(result) == [
        f"{INDEX_FILE}:10: One.jinja: sha256 in {FILE} is {sha256(TEMPLATES['One.jinja'])}, "
        f"the index pins {'0' * 64}"
    ]
    assert not (root / FETCHED_FOLDER / "One.jinja").exists()


def test_a_path_that_the_sdist_does_not_hold_is_refused(root: Path, index: FakeIndex) -> None:
    text = index_text().replace("templates/One.jinja", "templates/None.jinja")
    (root / INDEX_FILE).write_text(text)
    result = fetch_templates(root)
    assert [template.name for template in result.templates] == ["two"]
    assert messages(result) == [f"{INDEX_FILE}:10: One.jinja: {FILE} holds no templates/None.jinja"]


def test_an_sdist_that_is_no_archive_is_refused(root: Path, index: FakeIndex) -> None:
    index.bodies = [b"no archive"]
    (root / INDEX_FILE).write_text(index_text(b"no archive"))
    result = fetch_templates(root)
    assert result.templates == []
    assert messages(result) == [
        f"{root / 'cache' / FILE}: cannot be unpacked: Not a gzipped file (b'no')"
    ]


def test_offline_names_the_file_and_what_to_do(root: Path) -> None:
    result = fetch_templates(root, offline=True)
    cached = root / "cache" / FILE
    assert result.templates == []
    assert messages(result) == [
        f"{INDEX_FILE}:2: cannot fetch {FILE}: working offline and {cached} is not there; "
        f"to do it by hand, take {FILE} from https://pypi.org/project/pack/1.0/#files "
        f"and put the file at {cached}"
    ]


def test_local_templates_are_checked_and_need_no_network(root: Path) -> None:
    text = "{{ messages }}"
    lines = [f"  - file: {name}.jinja\n    origin: local\n" for name in ("Mine", "Other", "Gone")]
    entries = "".join(f"{line}    sha256: {sha256(text)}\n    bos_token: <s>\n" for line in lines)
    (root / INDEX_FILE).write_text(f"origins: []\ntemplates:\n{entries}")
    (root / "templates/Mine.jinja").write_text(text)
    (root / "templates/Other.jinja").write_text("edited")
    (root / "templates/New.jinja").write_text("new")
    result = fetch_templates(root)
    assert [(t.name, t.origin, t.bos_token, t.location) for t in result.templates] == [
        ("mine", "local", "<s>", "templates/Mine.jinja")
    ]
    assert messages(result) == [
        f"templates/Other.jinja: its text isn't the one that {INDEX_FILE}:7 pins; "
        "if the change is wanted, run: turnspec add --update templates/Other.jinja",
        f"templates/Gone.jinja: is missing, but {INDEX_FILE}:11 lists it",
        "templates/New.jinja: is not in the index; add it: turnspec add templates/New.jinja",
    ]
    broken = entries.replace("origin: local", "original: local", 1)  # it may have been New's
    (root / INDEX_FILE).write_text(f"origins: []\ntemplates:\n{broken}")
    assert not any("is not in the index" in message for message in messages(fetch_templates(root)))


def test_the_networks_libraries_are_not_loaded_when_everything_is_there() -> None:
    code = "import sys, turnspec.sources.fetch; print('unearth' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_the_reference_templates_are_there(reference_templates: list[Entry]) -> None:
    fetched = [template for template in reference_templates if template.origin != "local"]
    assert len(fetched) == len(NAMES)
    for template in fetched:
        assert (
            hashlib.sha256((ROOT / template.location).read_bytes()).hexdigest() == template.sha256
        )
