"""Taking the pinned templates, and nothing else, out of an sdist."""

from __future__ import annotations

import tarfile
import zlib
from collections.abc import Iterable
from pathlib import Path

from turnspec.sources.index import INDEX_FILE, Entry, Origin
from turnspec.sources.text_files import sha256_of
from turnspec.spec.atomic import write_atomically
from turnspec.spec.os_reasons import os_message
from turnspec.spec.problems import Problem


def extract(archive: Path, origin: Origin, entries: Iterable[Entry], root: Path) -> list[Problem]:
    """Write the templates of ``entries`` below ``root``, each by exact path and checked.

    One that is missing or has another checksum becomes a problem and isn't written.
    """
    top = origin.file.removesuffix(".tar.gz")
    wanted = {f"{top}/{entry.path}": entry for entry in entries}
    problems: list[Problem] = []
    try:
        # As a stream, since an index for random access would need a pass of its own.
        with tarfile.open(archive, "r|gz") as tar:
            for member in tar:
                entry = wanted.pop(member.name, None) if member.isfile() else None
                source = tar.extractfile(member) if entry else None
                if entry and source:
                    problems += _store(source.read(), entry, origin, root)
                if not wanted:
                    break
    except OSError as error:
        return [*problems, Problem(os_message(error), "" if error.filename else str(archive))]
    except (tarfile.TarError, zlib.error, EOFError, UnicodeError) as error:
        return [*problems, Problem(f"cannot be unpacked: {error}", str(archive))]
    missing = [(f"{e.file}: {origin.file} holds no {e.path}", e.line) for e in wanted.values()]
    return problems + [Problem(message, INDEX_FILE, line) for message, line in missing]


def _store(data: bytes, entry: Entry, origin: Origin, root: Path) -> list[Problem]:
    actual = sha256_of(data)
    if actual != entry.sha256:
        message = (
            f"{entry.file}: sha256 in {origin.file} is {actual}, the index pins {entry.sha256}"
        )
        return [Problem(message, INDEX_FILE, entry.line)]
    write_atomically(root / entry.location, data.decode("utf-8"))
    return []
