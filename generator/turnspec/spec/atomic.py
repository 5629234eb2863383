"""Writing text files so that nobody ever sees a half-written one."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path


def write_atomically(path: Path, text: str) -> bool:
    """Write ``text`` as UTF-8 to ``path`` and return whether the file changed.

    A file that already holds the text stays untouched. Missing folders are made. Raises OSError or
    UnicodeEncodeError; the old file is then as it was, and no temporary file stays behind.
    """
    data = text.encode("utf-8")
    if _holds(path, data):
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):  # which names the temporary file, or none
            error.filename, error.filename2 = str(path), None
        raise
    return True


def write_all_atomically(texts: Mapping[Path, str]) -> None:
    """Write several files, or none: where one can't be written, the others are as they were.

    Raises OSError or UnicodeEncodeError, as `write_atomically` does.
    """
    before = {path: path.read_bytes() if path.exists() else None for path in texts}
    done: list[Path] = []
    try:
        for path, text in texts.items():
            write_atomically(path, text)
            done.append(path)
    except BaseException:
        for path in done:
            _put_back(path, before[path])
        raise


def _put_back(path: Path, data: bytes | None) -> None:
    if data is None:
        path.unlink(missing_ok=True)
    else:
        path.write_bytes(data)


def _holds(path: Path, data: bytes) -> bool:
    try:
        return path.read_bytes() == data
    except FileNotFoundError:
        return False
