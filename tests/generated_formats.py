"""The committed specs with their generated modules, each loaded once.

Some templates share a format, and many formats differ in nothing but the words of their markers.
What holds for every format is tried on one name of each: ``FORMATS``. What takes longer is tried on
one of each kind, ``KINDS``: formats that show reasoning, content, calls, arguments and ids in the
same way, so that the same parts of the engine read them. The engine itself is tried on tables of
its own, and `regen` verifies every template. With ``TURNSPEC_EVERY_FORMAT`` set, as
`make test-every-format` does, every format is a kind of its own, as it is with
``TURNSPEC_EXAMPLES``, which `make test-long` sets.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping
from functools import cache
from pathlib import Path

from turnspec.codegen.loading import load_module
from turnspec.deviations.turns import Format
from turnspec.pipeline.project import OutputPaths
from turnspec.spec.files import read_spec
from turnspec.spec.fingerprint import fingerprint
from turnspec.spec.model import Spec

ROOT = Path(__file__).parent.parent


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


def _kind(name: str) -> Hashable:
    spec = committed_spec(name)
    shown = (spec.reasoning.mode, spec.content.mode)
    if spec.tools is None:
        return shown
    syntax = spec.tools.arguments.syntax
    return (*shown, spec.tools.mode, spec.tools.call_id, syntax.encoding)


_EVERY_FORMAT = {"TURNSPEC_EVERY_FORMAT", "TURNSPEC_EXAMPLES"}
NAMES = sorted(path.stem for path in (ROOT / "specs").glob("*.yaml"))
FORMATS = _first_of_each(NAMES, {name: fingerprint(committed_spec(name)) for name in NAMES})
KINDS = (
    FORMATS
    if _EVERY_FORMAT & os.environ.keys()
    else _first_of_each(FORMATS, {name: _kind(name) for name in FORMATS})
)
