"""Reading text files with a problem instead of an exception, and checksums."""

from __future__ import annotations

import hashlib
from pathlib import Path

from turnspec.spec.input_files import file_bytes, open_file
from turnspec.spec.os_reasons import reason
from turnspec.spec.problems import Problem


def sha256_of(data: bytes) -> str:
    """Return the sha256 of some bytes as 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def file_sha256(path: Path) -> str:
    """Return the sha256 of a file, however large. Raises OSError."""
    with open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def found_sha256(path: Path) -> str | None:
    """Return the sha256 of a file that is small, None where it can't be read."""
    try:
        return sha256_of(file_bytes(path))
    except OSError:
        return None


def read_text(path: Path, shown: str) -> tuple[str, list[Problem]]:
    """Return a UTF-8 file's text, line ends untouched. ``shown`` is what problems call the file."""
    try:
        return file_bytes(path).decode("utf-8"), []
    except OSError as error:
        return "", [Problem(reason(error), shown)]
    except UnicodeDecodeError as error:
        wrong = f"byte 0x{error.object[error.start]:02x} at offset {error.start}"
        return "", [Problem(f"is not UTF-8 text: {wrong}", shown)]
