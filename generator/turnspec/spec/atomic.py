"""Writing text files so that nobody ever sees a half-written one, or half of several."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path


def write_atomically(path: Path, text: str) -> bool:
    """Write ``text`` as UTF-8 to ``path`` and return whether the file changed.

    A file that already holds the text stays untouched. Missing folders are made. Raises OSError or
    UnicodeEncodeError; the old file is then as it was, and no temporary file stays behind.
    """
    return bool(write_all_atomically({path: text}))


def write_all_atomically(texts: Mapping[Path, str]) -> list[Path]:
    """Write several files, or none: where one can't be written, the others are as they were.

    All texts are on the disk before the first takes its place, so that a disk that is full changes
    nothing. Returns the files that changed. Raises OSError or UnicodeEncodeError, as
    `write_atomically` does.
    """
    changed = {path: data for path, data in _encoded(texts).items() if _held(path) != data}
    before = {path: _held(path) for path in changed}
    ready: dict[Path, Path] = {}
    done: list[Path] = []
    try:
        for path, data in changed.items():
            with _naming(path):
                path.parent.mkdir(parents=True, exist_ok=True)
                ready[path] = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
                ready[path].write_bytes(data)
        for path, temporary in ready.items():
            with _naming(path):
                temporary.replace(path)
            done.append(path)
    except BaseException:
        for temporary in ready.values():
            with contextlib.suppress(OSError):  # a disk that can't be written says so here, too
                temporary.unlink(missing_ok=True)
        for path in done:
            _put_back(path, before[path])
        raise
    return done


def _encoded(texts: Mapping[Path, str]) -> dict[Path, bytes]:
    return {path: text.encode("utf-8") for path, text in texts.items()}


@contextlib.contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Let an error name the file that was wanted: it names the temporary one, or none."""
    try:
        yield
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        raise


def _put_back(path: Path, data: bytes | None) -> None:
    if data is None:
        path.unlink(missing_ok=True)
    else:
        path.write_bytes(data)


def _held(path: Path) -> bytes | None:
    """Return what a file holds; None where there is none."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
