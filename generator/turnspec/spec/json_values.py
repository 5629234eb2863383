"""Files of results: JSON that is read with a problem instead of an exception."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from turnspec.spec.input_files import file_text
from turnspec.spec.os_reasons import reason
from turnspec.spec.problems import Problem
from turnspec.spec.records import MisfitError

T = TypeVar("T")


def read_json(path: Path, absent: T, convert: Callable[[object], T]) -> T | Problem:
    """Return what ``convert`` makes of a file; ``absent`` when the file isn't there yet."""
    try:
        return load_json(file_text(path), str(path), convert)
    except FileNotFoundError:
        return absent
    except OSError as error:
        return Problem(reason(error), str(path))
    except UnicodeDecodeError:
        return Problem("not UTF-8", str(path))


def json_in(text: str) -> Any:
    """Read JSON, which may begin with a byte order mark. Raises ValueError and RecursionError."""
    return json.loads(text.removeprefix("\ufeff"))


def load_json(text: str, file: str, convert: Callable[[object], T]) -> T | Problem:
    """Return what ``convert`` makes of the JSON; it may raise a `MisfitError`."""
    try:
        data = json_in(text)
    except json.JSONDecodeError as error:
        return Problem(f"not JSON: {error.msg}", file, error.lineno)
    except (ValueError, RecursionError):  # a number with too many digits; nested too deep
        return Problem("not JSON that can be read", file)
    try:
        return convert(data)
    except MisfitError as misfit:
        return Problem(str(misfit), file, path=misfit.place)
