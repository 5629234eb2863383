"""Files of results: JSON that is read with a problem instead of an exception."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from turnspec.spec.input_files import file_text
from turnspec.spec.problems import Problem

T = TypeVar("T")


class MisfitError(Exception):
    """A value that isn't what it should be."""

    def __init__(self, place: str, wanted: str) -> None:
        """Take where the value is and what it must be."""
        super().__init__(f"must be {wanted}")
        self.place = place


def read_json(path: Path, absent: T, load: Callable[[str, str], T | Problem]) -> T | Problem:
    """Return what ``load`` makes of a file's text; ``absent`` when the file isn't there yet."""
    try:
        return load(file_text(path), str(path))
    except FileNotFoundError:
        return absent
    except OSError as error:
        return Problem(f"can't be read: {error.strerror}", str(path))
    except UnicodeDecodeError:
        return Problem("not UTF-8", str(path))


def load_json(text: str, file: str, convert: Callable[[object], T]) -> T | Problem:
    """Return what ``convert`` makes of the JSON; it may raise a `MisfitError`."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        return Problem(f"not JSON: {error.msg}", file, error.lineno)
    except (ValueError, RecursionError):  # a number with too many digits; nested too deep
        return Problem("not JSON that can be read", file)
    try:
        return convert(data)
    except MisfitError as misfit:
        return Problem(str(misfit), file, path=misfit.place)


def mapping(data: object, place: str) -> dict[str, object]:
    """Return an object's members."""
    if not isinstance(data, dict):
        raise MisfitError(place, "an object")
    return data


def text(data: object, place: str) -> str:
    """Return a string."""
    if not isinstance(data, str):
        raise MisfitError(place, "a string")
    return data


def texts(data: object, place: str) -> tuple[str, ...]:
    """Return a list of strings."""
    if not isinstance(data, list):
        raise MisfitError(place, "a list")
    return tuple(text(item, f"{place}[{number}]") for number, item in enumerate(data))


def count(data: object, place: str) -> int:
    """Return a whole number that isn't negative."""
    if type(data) is not int or data < 0:
        raise MisfitError(place, "a count")
    return data
