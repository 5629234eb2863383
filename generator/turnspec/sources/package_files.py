"""Taking the pinned templates, and nothing else, out of a package: an sdist or a wheel.

A package is a stranger's: nothing of it is run, built or unpacked to the disk, and only so much of
it is read.
"""

from __future__ import annotations

import gzip
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import IO, cast

from turnspec.sources.index import INDEX_FILE, SDIST, Entry, Origin
from turnspec.sources.text_files import sha256_of
from turnspec.sources.text_within import NoTextError, text_within
from turnspec.spec.atomic import write_atomically
from turnspec.spec.os_reasons import os_message
from turnspec.spec.problems import Problem

#: How large a file with templates may be, and all files of an sdist together, in bytes.
LARGEST_FILE = 2 * 2**20
LARGEST_SDIST = 2**30

_Found = tuple[str, bytes]
#: What reading a package may raise.
UNREADABLE = (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError, UnicodeError)


def extract(
    archive: Path,
    origin: Origin,
    entries: Iterable[Entry],
    root: Path,
    *,
    is_pinned: bool = True,
    largest_file: int = LARGEST_FILE,
    largest_sdist: int = LARGEST_SDIST,
) -> list[Problem]:
    """Write the templates of ``entries`` below ``root``, each by exact path and checked.

    One that is missing or has another checksum becomes a problem and isn't written. The limits
    are in bytes, unpacked. Without ``is_pinned`` it is another package, whose texts aren't known.
    """
    wanted: dict[str, list[Entry]] = {}
    for entry in entries:
        wanted.setdefault(entry.path, []).append(entry)
    problems: list[Problem] = []
    members = sdist_files if origin.kind == SDIST else _wheel_files
    try:
        for path, data in members(archive, origin, wanted, (largest_file, largest_sdist)):
            for entry in wanted.pop(path):
                problems += _store(data, entry, origin, root, is_pinned=is_pinned)
    # Encrypted files of a wheel are a RuntimeError, other ways to pack them a NotImplementedError.
    except (*UNREADABLE, RuntimeError) as error:
        if isinstance(error, OSError) and error.filename:  # a template that can't be written
            return [*problems, Problem(os_message(error))]
        return [*problems, Problem(f"cannot be unpacked: {error}", str(archive))]
    missing = [entry for left in wanted.values() for entry in left]
    return problems + [
        Problem(f"{e.file}: {origin.file} holds no {e.path}", INDEX_FILE, e.line) for e in missing
    ]


def sdist_files(
    archive: Path, origin: Origin, wanted: Collection[str], limits: tuple[int, int]
) -> Iterator[_Found]:
    """Yield the wanted files below the top folder, and read no further than the last of them.

    Who takes one takes its path out of ``wanted``. The limits are on each file and on all that is
    unpacked, in bytes. Raises what is `UNREADABLE`.
    """
    largest_file, largest_sdist = limits
    top = f"{origin.file.removesuffix('.tar.gz')}/"
    with gzip.open(archive) as packed:
        file = cast("IO[bytes]", _Bounded(packed.read, largest_sdist))
        # As a stream, since an index for random access would need a pass of its own.
        with tarfile.open(fileobj=file, mode="r|") as tar:
            for member in tar:
                path = member.name.removeprefix(top)
                named = path in wanted and member.name.startswith(top)
                source = tar.extractfile(member) if named and member.isfile() else None
                if source:
                    _check_size(path, member.size, largest_file)
                    yield path, source.read()
                if not wanted:
                    return


def _wheel_files(
    archive: Path, _origin: Origin, wanted: Collection[str], limits: tuple[int, int]
) -> Iterator[_Found]:
    largest_file, _ = limits
    with zipfile.ZipFile(archive) as wheel:
        names = set(wheel.namelist())
        for path in [path for path in wanted if path in names]:
            with wheel.open(path) as file:
                # What a wheel says of a file's size needn't be so.
                data = file.read(largest_file + 1)
            _check_size(path, len(data), largest_file)
            yield path, data


class _Bounded:
    """A file that is read up to a limit; behind it is an error."""

    def __init__(self, read: Callable[[int], bytes], limit: int) -> None:
        self._read, self._limit, self._left = read, limit, limit

    def read(self, size: int) -> bytes:
        data = self._read(size)
        self._left -= len(data)
        if self._left < 0:
            raise OSError(f"unpacks to more than {self._limit} bytes")
        return data


def _check_size(path: str, size: int, largest: int) -> None:
    if size > largest:
        raise OSError(f"{path} has more than {largest} bytes")


def _store(
    data: bytes, entry: Entry, origin: Origin, root: Path, *, is_pinned: bool
) -> list[Problem]:
    try:
        text = text_within(data, entry)
        actual = sha256_of(text.encode("utf-8"))
    except (NoTextError, UnicodeError) as error:
        wrong = f"{origin.file}: {entry.path}: {error}"
        return [Problem(f"{entry.file}: {wrong}", INDEX_FILE, entry.line)]
    if is_pinned and actual != entry.sha256:
        wrong = f"sha256 in {origin.file} is {actual}, the index pins {entry.sha256}"
        return [Problem(f"{entry.file}: {wrong}", INDEX_FILE, entry.line)]
    write_atomically(root / entry.location, text)
    return []
