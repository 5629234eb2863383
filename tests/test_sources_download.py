"""Downloading the pinned sdist: cache, resuming, checksums, broken indexes, offline."""

from __future__ import annotations

import errno
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from tests.fake_index import FILE, MOST_SENT, TEMPLATES, FakeIndex, origin_of, sdist_of, serving
from turnspec.sources.cache import CACHE_VARIABLE, cache_folder
from turnspec.sources.download import obtain
from turnspec.sources.pip_settings import PipSettings
from turnspec.spec.problems import Problem

SDIST = sdist_of(TEMPLATES)
ORIGIN = origin_of(SDIST)
HALF = len(SDIST) // 2


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv(CACHE_VARIABLE, str(folder))
    return folder


@pytest.fixture
def index() -> Iterator[FakeIndex]:
    with serving(FakeIndex([SDIST])) as index:
        yield index


def obtained(*sources: str, links: tuple[str, ...] = ()) -> Path | str:
    settings = PipSettings(index_urls=sources, find_links=links, timeout=10)
    return path_or_reason(obtain(ORIGIN, settings=settings, pause=0))


def path_or_reason(found: Path | Problem) -> Path | str:
    return found if isinstance(found, Path) else str(found).removeprefix(f"cannot fetch {FILE}: ")


def by_hand(cache: Path) -> str:
    return (
        f"; to do it by hand, take {FILE} from https://pypi.org/project/pack/1.0/#files "
        f"and put the file at {cache / FILE}"
    )


def test_the_file_is_downloaded_once_and_then_taken_from_the_cache(
    cache: Path, index: FakeIndex
) -> None:
    for _ in range(2):
        assert obtained(index.url) == cache / FILE
    assert (cache / FILE).read_bytes() == SDIST
    assert index.ranges == [None]
    assert not list(cache.glob("*.part"))


def test_an_interrupted_download_goes_on_where_it_stopped(cache: Path, index: FakeIndex) -> None:
    index.break_offs = [HALF, 1000]
    assert obtained(index.url) == cache / FILE
    assert (cache / FILE).read_bytes() == SDIST
    assert index.ranges == [None, f"bytes={HALF}-", f"bytes={HALF + 1000}-"]


def test_the_next_run_goes_on_too(cache: Path, index: FakeIndex) -> None:
    index.break_offs = [HALF, 0, 0, 0]
    failed = obtained(index.url)
    assert isinstance(failed, str)
    assert "peer closed connection" in failed
    assert failed.endswith(by_hand(cache))
    assert len(index.ranges) == 4
    assert obtained(index.url) == cache / FILE
    assert index.ranges[4:] == [f"bytes={HALF}-"]


def test_a_server_that_cannot_resume_sends_all_again(cache: Path, index: FakeIndex) -> None:
    index.resumable = False
    index.break_offs = [HALF]
    assert obtained(index.url) == cache / FILE
    assert (cache / FILE).read_bytes() == SDIST


def test_a_changed_part_is_thrown_away_and_fetched_anew(cache: Path, index: FakeIndex) -> None:
    cache.mkdir()
    (cache / f"{FILE}.part").write_bytes(b"x" * HALF)
    assert obtained(index.url) == cache / FILE
    assert index.ranges == [f"bytes={HALF}-", None]


def test_a_changed_file_in_the_cache_is_replaced(cache: Path, index: FakeIndex) -> None:
    cache.mkdir()
    (cache / FILE).write_bytes(b"x" * len(SDIST))
    assert obtained(index.url) == cache / FILE
    assert (cache / FILE).read_bytes() == SDIST


def test_a_file_with_another_checksum_is_tried_twice_and_refused(
    cache: Path, index: FakeIndex
) -> None:
    other = sdist_of({"One.jinja": "changed"})
    index.bodies = [other]
    url = index.url.replace("simple/", f"files/{FILE}")
    assert obtained(index.url) == (
        f"{url}: sent a file with sha256 {origin_of(other).sha256}, pinned is {ORIGIN.sha256}"
        + by_hand(cache)
    )
    assert index.ranges == [None, None]
    assert [path.name for path in cache.iterdir()] == [f"{FILE}.lock"]


def test_a_download_stops_at_the_pinned_size(cache: Path, index: FakeIndex) -> None:
    index.endless = True
    url = index.url.replace("simple/", f"files/{FILE}")
    assert obtained(index.url) == (
        f"{url}: sent more than the {len(SDIST)} bytes that are pinned{by_hand(cache)}"
    )
    assert index.sent < MOST_SENT // 10  # what connections hold by themselves
    assert [path.name for path in cache.iterdir()] == [f"{FILE}.lock"]


def test_a_full_disk_names_the_file_that_was_fetched(
    cache: Path, index: FakeIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("turnspec.sources.download._attempt", full)
    reason = (
        f"{cache / FILE}: no room is left on the disk; make some and run the same command again"
    )
    assert obtained(index.url) == reason + by_hand(cache)


def test_a_wrong_file_is_followed_by_a_right_one(cache: Path, index: FakeIndex) -> None:
    index.bodies = [b"<html>sign in first</html>", SDIST]
    assert obtained(index.url) == cache / FILE


def test_broken_indexes_do_not_hide_one_that_has_the_file(
    cache: Path, index: FakeIndex, tmp_path: Path
) -> None:
    broken = ("http://127.0.0.1:9/simple/", (tmp_path / "absent").as_uri())
    assert obtained(*broken, index.url, links=("absent-folder",)) == cache / FILE


def test_a_folder_of_files_serves_as_well(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "wheels").mkdir()
    (tmp_path / "wheels" / FILE).write_bytes(SDIST)
    assert obtained(links=(str(tmp_path / "wheels"),)) == cache / FILE


def test_a_file_index_serves_as_well(cache: Path, tmp_path: Path) -> None:
    page = tmp_path / "simple" / "pack"
    page.mkdir(parents=True)
    (page / FILE).write_bytes(SDIST)
    (page / "index.html").write_text(f'<a href="{FILE}">{FILE}</a>')
    assert obtained((tmp_path / "simple").as_uri()) == cache / FILE


def test_without_a_network_the_reason_says_what_to_do(cache: Path) -> None:
    assert obtained("http://127.0.0.1:9/simple/") == (
        f"http://127.0.0.1:9/simple/: [Errno {errno.ECONNREFUSED}] Connection refused"
        + by_hand(cache)
    )


def test_an_index_without_the_file_is_named(cache: Path, index: FakeIndex) -> None:
    url = index.url.replace("simple", "other")
    assert obtained(url) == (
        f"{url}: Failed to collect links from {url}pack/: Client Error(404): Not Found"
        + by_hand(cache)
    )


def test_a_password_is_not_shown(cache: Path) -> None:
    reason = str(obtained("http://user:secret@127.0.0.1:9/simple/"))
    assert reason.startswith("http://***@127.0.0.1:9/simple/: ")
    assert "secret" not in reason


def test_no_index_at_all(cache: Path) -> None:
    assert obtained() == "no package index is set (pip's no-index)" + by_hand(cache)


def test_offline_takes_the_cached_file(cache: Path) -> None:
    cache.mkdir()
    (cache / FILE).write_bytes(SDIST)
    assert obtain(ORIGIN, offline=True) == cache / FILE


@pytest.mark.parametrize(
    ("content", "state"), [(None, "is not there"), (b"other", "has another checksum")]
)
def test_offline_without_the_file_is_refused(
    cache: Path, content: bytes | None, state: str
) -> None:
    cache.mkdir()
    if content:
        (cache / FILE).write_bytes(content)
    reason = f"working offline and {cache / FILE} {state}{by_hand(cache)}"
    assert path_or_reason(obtain(ORIGIN, offline=True)) == reason


def test_a_terminal_gets_a_progress_bar_and_a_pipe_nothing(cache: Path, index: FakeIndex) -> None:
    settings = PipSettings(index_urls=(index.url,))
    shown: dict[bool, str] = {}
    for terminal in (True, False):
        console = Console(file=io.StringIO(), force_terminal=terminal, width=80)
        (cache / FILE).unlink(missing_ok=True)
        assert obtain(ORIGIN, console=console, settings=settings) == cache / FILE
        assert isinstance(console.file, io.StringIO)
        shown[terminal] = console.file.getvalue()
    assert FILE in shown[True]
    assert shown[False] == ""


def test_the_cache_follows_the_users_choice(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "mine"))
    assert cache_folder() == tmp_path / "mine"
    monkeypatch.delenv(CACHE_VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder().name == "turnspec"
