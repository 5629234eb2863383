"""Reading files that somebody names: none is read without end, and none is waited for in vain.

All that turnspec reads, but for what comes with it, is read here.
"""

from __future__ import annotations

import os
import stat
import sys
from codecs import getincrementaldecoder
from collections.abc import Iterator
from functools import partial
from io import BufferedReader, IncrementalNewlineDecoder
from pathlib import Path
from typing import BinaryIO, cast

#: The most bytes that are read at once: a file, standard input, a line of many outputs.
LARGEST_INPUT = 32 * 2**20
_PIECE = 65536

_NO_WRITER = "a pipe that nobody writes into"
_NO_FILE = "a device or a socket, no file"
_TOO_LARGE = f"larger than {LARGEST_INPUT // 2**20} MB, the most that is read at once"


def open_file(path: Path, *, pipes: bool = False) -> BufferedReader:
    """Open a file for reading; what is none, a device, say, is refused, and opening never waits.

    ``pipes``: a pipe, as shells make it of ``<(command)``, is as good. Raises OSError.
    """
    # Opening a pipe would wait for a writer. Windows has none by such names.
    at_once = getattr(os, "O_NONBLOCK", 0)
    file = open(path, "rb", opener=lambda p, flags: os.open(p, flags | at_once))  # noqa: SIM115
    kind = os.fstat(file.fileno()).st_mode
    is_empty = stat.S_ISCHR(kind) and path.samefile(os.devnull)
    if stat.S_ISREG(kind) or is_empty:
        return file
    if pipes and stat.S_ISFIFO(kind):
        os.set_blocking(file.fileno(), True)
        return file
    file.close()
    raise OSError(0, _NO_FILE if not stat.S_ISFIFO(kind) else "a pipe, no file", str(path))


def file_bytes(path: Path) -> bytes:
    """Return what a file or a pipe holds, at most `LARGEST_INPUT` bytes. Raises OSError."""
    with open_file(path, pipes=True) as file:
        data = _read(file, str(path))
        if not data and stat.S_ISFIFO(os.fstat(file.fileno()).st_mode):
            raise OSError(0, _NO_WRITER, str(path))
        return data


def file_text(path: Path, errors: str = "strict") -> str:
    """Return a file's text in UTF-8, with one line feed at the end of each line.

    ``errors`` is what becomes of other bytes, as in Python. Raises OSError, UnicodeDecodeError.
    """
    return _text(file_bytes(path), errors)


def text_if_there(path: Path) -> str | None:
    """Return the text of a file, None where it can't be read or is no text."""
    try:
        return file_text(path)
    except (OSError, UnicodeDecodeError):
        return None


def standard_input() -> str:
    """Return the text of standard input, as `file_text` does. Raises OSError."""
    return _text(_read(sys.stdin.buffer, "standard input"), "replace")


def standard_input_in_pieces() -> Iterator[str]:
    """Yield the text of standard input as it comes. Raises OSError."""
    decoder = getincrementaldecoder("utf-8")("replace")
    text = IncrementalNewlineDecoder(decoder, translate=True)
    size = 0
    file = cast(BufferedReader, sys.stdin.buffer)
    for data in iter(partial(file.read1, _PIECE), b""):
        size += len(data)
        if size > LARGEST_INPUT:
            raise OSError(0, _TOO_LARGE, "standard input")
        yield text.decode(data)
    yield text.decode(b"", final=True)


def file_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file, of whatever size, with their ends. Raises OSError."""
    with open_file(path) as file:
        for line in iter(partial(file.readline, LARGEST_INPUT + 1), b""):
            if len(line) > LARGEST_INPUT:
                raise OSError(0, f"has a line that is {_TOO_LARGE}", str(path))
            yield line


def _read(file: BinaryIO, name: str) -> bytes:
    data = file.read(LARGEST_INPUT + 1)
    if len(data) > LARGEST_INPUT:
        raise OSError(0, _TOO_LARGE, name)
    return data


def _text(data: bytes, errors: str) -> str:
    return data.decode("utf-8", errors).replace("\r\n", "\n").replace("\r", "\n")
