"""Names: from a template's file to the names of its spec, its grammar and its module."""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Iterable
from pathlib import PurePath

TEMPLATE_SUFFIX = ".jinja"

_PORTS = (f"{port}{number}" for port in ("com", "lpt") for number in range(10))
_DEVICES = {"con", "prn", "aux", "nul", *_PORTS}
_NOT_A_NAME = re.compile(r"[^a-z0-9]+")


def template_name(file: str) -> str:
    """Return the name that a template's file gives: ``Some_Model-2.jinja`` -> ``some-model-2``.

    Folders and the suffix don't count. The result is empty when the file's name holds neither an
    ASCII letter nor a digit.
    """
    stem = PurePath(file).name.removesuffix(TEMPLATE_SUFFIX)
    return _NOT_A_NAME.sub("-", stem.lower()).strip("-")


def module_name(name: str) -> str:
    """Return the module's name for a template's name or file: ``4x-mini`` -> ``_4x_mini``.

    A word of Python's, or the name of a module of its library, gets ``_`` behind it: ``json_``.
    Beside a module named ``json`` nothing could import the library's any more.
    """
    module = template_name(name).replace("-", "_")
    if keyword.iskeyword(module) or module in sys.stdlib_module_names:
        return f"{module}_"
    return f"_{module}" if module[:1].isdigit() else module


def naming_faults(files: Iterable[str]) -> dict[int, str]:
    """Return what is wrong with the files' names, by position.

    A file is at fault when it gives no name, the same name as one before it, or one that Windows
    keeps for a device, whatever stands behind a dot.
    """
    owners: dict[str, str] = {}
    faults: dict[int, str] = {}
    for position, file in enumerate(files):
        name = template_name(file)
        if not name:
            faults[position] = f"{file}: the file's name holds no letter and no digit"
        elif {name, PurePath(file).name.partition(".")[0].lower()} & _DEVICES:
            faults[position] = f"{file}: Windows keeps this name for a device; choose another"
        elif name in owners:
            faults[position] = f"{file} and {owners[name]} have the same name: {name}"
        else:
            owners[name] = file
    return faults
