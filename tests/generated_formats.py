"""The committed specs with their generated modules, each loaded once.

Some templates share a format, and many formats differ in nothing but the words of their markers.
What holds for every format is tried on one name of each: ``FORMATS``. What takes long is tried on
one of each kind, ``KINDS``: formats whose tables are the same but for the texts of the markers,
with the same slots in them. With ``TURNSPEC_EXAMPLES`` set, as `make test-long` does, every format
is a kind of its own.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Hashable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from turnspec.codegen.loading import load_module
from turnspec.codegen.table import format_table
from turnspec.deviations.turns import Format
from turnspec.pipeline.project import OutputPaths
from turnspec.spec.files import read_spec
from turnspec.spec.fingerprint import fingerprint
from turnspec.spec.model import Spec

ROOT = Path(__file__).parent.parent
_SLOT = re.compile(r"\{\w+\}")
_WORD = re.compile(r"\w+")
#: What of a table is one format's own.
_OWN = ("name", "header", "prompt")


@cache
def committed_spec(name: str) -> Spec:
    """Return a committed spec."""
    spec = read_spec(ROOT / "specs" / f"{name}.yaml")
    assert isinstance(spec, Spec)
    return spec


@cache
def committed_format(name: str) -> Format:
    """Return a committed spec and the module generated from it."""
    source = (ROOT / OutputPaths.in_project(name).module).read_text(encoding="utf-8")
    return Format(committed_spec(name), load_module(source))


def _first_of_each(names: Iterable[str], keys: Mapping[str, Hashable]) -> list[str]:
    """Return the first name for each key."""
    chosen = {keys[name]: name for name in sorted(names, reverse=True)}
    return sorted(chosen.values())


def _shape(value: Any) -> Any:
    """Return a table without the texts of its markers, but for their slots; its words stay."""
    if isinstance(value, dict):
        return {key: _shape(item) for key, item in value.items() if key not in _OWN}
    if isinstance(value, list | tuple):
        return sorted({json.dumps(_shape(item)) for item in value})
    if isinstance(value, str) and not _WORD.fullmatch(value):
        return _SLOT.findall(value)
    return value


def _kind(name: str) -> str:
    return json.dumps(_shape(format_table(committed_spec(name))))


NAMES = sorted(path.stem for path in (ROOT / "specs").glob("*.yaml"))
FORMATS = _first_of_each(NAMES, {name: fingerprint(committed_spec(name)) for name in NAMES})
KINDS = (
    FORMATS
    if "TURNSPEC_EXAMPLES" in os.environ
    else _first_of_each(FORMATS, {name: _kind(name) for name in FORMATS})
)
