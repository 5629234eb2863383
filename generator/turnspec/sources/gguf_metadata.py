"""A GGUF file's metadata: a small reader that believes no size that the file has no room for.

Behind a header stand pairs of a key and a value; nothing but where each value lies is read at
first, and what a caller asks for is decoded then. Tensors, which follow, are never looked at.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from turnspec.spec.input_files import open_file

Scalar = int | float | bool | str

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)  # 1 has counts of another width; llama.cpp reads it no more
_STRING, _ARRAY = 8, 9
#: The numbers of types, with how `struct` calls them.
_NUMBERS = {
    **{0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i"},
    **{6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"},
}
_DEEPEST = 4


class DamagedFileError(ValueError):
    """What is there can't be a GGUF file's metadata; the message says why."""


class TruncatedFileError(DamagedFileError):
    """The metadata goes on behind the file's end, at least up to ``end``."""

    def __init__(self, size: int, end: int) -> None:
        super().__init__(f"the file ends at {size}, in the middle of its metadata")
        self.end = end


@dataclass(frozen=True, slots=True)
class _Value:
    """Where a value lies: its type, and its first byte; of an array, that of the first element."""

    kind: int
    start: int
    count: int = 1
    is_array: bool = False


class Metadata:
    """The pairs of a GGUF file. Keys that the file doesn't have give None."""

    def __init__(self, data: mmap.mmap | bytes) -> None:
        """Find all pairs. Raises DamagedFileError."""
        self._data = data
        self._size = len(data)
        self._order = "<"
        self._values: dict[str, _Value] = {}
        self._read_pairs(self._read_header())

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys, in the file's order."""
        return tuple(self._values)

    def scalar(self, key: str) -> Scalar | None:
        """Return a number, a flag or a text; None for an array, too."""
        value = self._values.get(key)
        if value is None or value.is_array:
            return None
        if value.kind == _STRING:
            return self._string(value.start)
        found: tuple[Scalar] = self._unpacked(_NUMBERS[value.kind], value.start)
        return found[0]

    def text(self, key: str) -> str | None:
        """Return a text; None for a value of another type, too."""
        found = self.scalar(key)
        return found if isinstance(found, str) else None

    def texts(self, key: str) -> Iterator[str]:
        """Yield the elements of an array of texts; none for a value of another type."""
        value = self._values.get(key)
        if value is None or not value.is_array or value.kind != _STRING:
            return
        position = value.start
        for _ in range(value.count):
            yield self._string(position)
            position = self._after(_STRING, position)

    def numbers(self, key: str) -> tuple[int | float, ...]:
        """Return the elements of an array of numbers; none for a value of another type."""
        value = self._values.get(key)
        if value is None or not value.is_array or value.kind not in _NUMBERS:
            return ()
        return self._unpacked(f"{value.count}{_NUMBERS[value.kind]}", value.start)

    def typed(self, key: str) -> tuple[Any, int, int | None]:
        """Return a value with GGUF's number for its type, and that for an array's elements."""
        value = self._values[key]
        if not value.is_array:
            return self.scalar(key), value.kind, None
        return [*self.texts(key), *self.numbers(key)], _ARRAY, value.kind

    def _read_header(self) -> int:
        """Return how many pairs there are."""
        if self._bytes(0, 4) != _MAGIC:
            raise DamagedFileError("it doesn't begin with GGUF")
        version = self._number("I", 4)
        if version & 0xFFFF == 0:  # the other byte order
            self._order = ">"
            version = self._number("I", 4)
        if version not in _VERSIONS:
            raise DamagedFileError(f"version {version} of the format can't be read")
        return self._number("Q", 16)

    def _read_pairs(self, count: int) -> None:
        position = 24
        for _ in range(count):
            key = self._string(position)
            position = self._after(_STRING, position)
            kind = self._number("I", position)
            position += 4
            if kind == _ARRAY:
                kind, elements = self._number("I", position), self._number("Q", position + 4)
                position += 12
                self._values[key] = _Value(kind, position, elements, is_array=True)
                position = self._after_elements(kind, elements, position, 1)
            else:
                self._values[key] = _Value(kind, position)
                position = self._after(kind, position)

    def _after_elements(self, kind: int, count: int, position: int, depth: int) -> int:
        """Return where an array ends whose first element lies at a position."""
        if kind in _NUMBERS:
            return self._checked(position, count * struct.calcsize(_NUMBERS[kind]))
        for _ in range(count):  # each has at least the bytes of its length, so this ends
            if kind == _ARRAY:
                if depth == _DEEPEST:
                    raise DamagedFileError("arrays are nested too deep")
                inner, elements = self._number("I", position), self._number("Q", position + 4)
                position = self._after_elements(inner, elements, position + 12, depth + 1)
            else:
                position = self._after(kind, position)
        return position

    def _after(self, kind: int, position: int) -> int:
        """Return where a value that is no array ends."""
        if kind == _STRING:
            return self._checked(position + 8, self._number("Q", position))
        if kind not in _NUMBERS:
            raise DamagedFileError(f"there is no type {kind} of values")
        return self._checked(position, struct.calcsize(_NUMBERS[kind]))

    def _unpacked(self, code: str, position: int) -> tuple[Any, ...]:
        return struct.unpack_from(self._order + code, self._data, position)

    def _string(self, position: int) -> str:
        length = self._number("Q", position)
        try:
            return self._bytes(position + 8, length).decode("utf-8")
        except UnicodeDecodeError as error:
            raise DamagedFileError(f"a text isn't UTF-8: {error.reason}") from None

    def _number(self, code: str, position: int) -> int:
        self._checked(position, struct.calcsize(code))
        return int(self._unpacked(code, position)[0])

    def _bytes(self, position: int, length: int) -> bytes:
        return bytes(self._data[position : self._checked(position, length)])

    def _checked(self, position: int, length: int) -> int:
        """Return where so many bytes end, which the file has to have."""
        end = position + length
        if end > self._size:
            raise TruncatedFileError(self._size, end)
        return end


def metadata_end(data: bytes) -> int:
    """Return where the metadata in a file's beginning ends, as far as that tells; 0: within it.

    What can't be metadata isn't waited for, either.
    """
    try:
        Metadata(data)
    except DamagedFileError as error:
        return error.end if isinstance(error, TruncatedFileError) else 0
    return 0


@contextmanager
def open_metadata(path: Path) -> Iterator[Metadata]:
    """Open a file's metadata. Raises OSError and DamagedFileError."""
    with open_file(path) as file:
        if not path.stat().st_size:
            raise DamagedFileError("it is empty")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield Metadata(data)
