"""The committed specs with their generated modules, each loaded once.

Some templates share a format, and many formats differ in nothing but the words of their markers.
``FORMATS`` has one name of each format, and ``CODES`` one of each parser that differs in more than
its markers and tables, where each is read beside the engine. ``KINDS`` are a few that have
together all that any format has: each fact and each role of a rule, which is all that the engine
reads, and each mode of the spec. What holds for every format is tried on these. What takes longer
is tried on ``PARTS``, which have together each common part of modules and each form of calls and
arguments; and on ``FORMS``, one format for each form, where no module is read, but the engine or a
grammar. The engine itself is tried on tables of its own, and `regen` verifies every template.
With ``TURNSPEC_EVERY_FORMAT`` set, as `make test-every-format` does, all are all formats, as they
are with ``TURNSPEC_EXAMPLES``, which `make test-long` sets.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Hashable, Iterable, Mapping, Set
from functools import cache
from pathlib import Path
from typing import cast

from turnspec.codegen.compiled import BEGINS_COMMON
from turnspec.codegen.facts import FormatFacts, facts_of, roles_in
from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.loading import load
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
    return Format(committed_spec(name), installed_module(name))


@cache
def in_memory(name: str) -> FormatModule:
    """Return a committed format in memory: the engine, with the spec's facts."""
    return load(committed_spec(name))


def installed_module(name: str) -> FormatModule:
    """Return a committed module as whoever installs it imports it: it can be pickled."""
    path = OutputPaths.in_project(name).module
    module = importlib.import_module(path.removesuffix(".py").replace("/", "."))
    return cast(FormatModule, module)


@cache
def facts_of_format(name: str) -> FormatFacts:
    """Return the facts of a committed spec."""
    return facts_of(committed_spec(name))


def module_source(name: str) -> str:
    """Return the text of a committed module."""
    return (ROOT / OutputPaths.in_project(name).module).read_text(encoding="utf-8")


def common_part(name: str) -> str:
    """Return the part of a committed module that is the same in every parser of its class."""
    return module_source(name).partition(BEGINS_COMMON)[2]


def code(name: str) -> str:
    """Return what a committed module does with its markers and tables."""
    return module_source(name).partition(BEGINS_CODE)[2]


def first_of_each(names: Iterable[str], keys: Mapping[str, Hashable]) -> list[str]:
    """Return the first name for each key."""
    chosen = {keys[name]: name for name in sorted(names, reverse=True)}
    return sorted(chosen.values())


def modes(spec: Spec) -> set[str]:
    """Return how a spec says that reasoning, content, calls, ids and arguments are shown."""
    found = {f"reasoning: {spec.reasoning.mode}", f"content: {spec.content.mode}"}
    if spec.tools is not None:
        found |= {f"tools: {spec.tools.mode}", f"ids: {spec.tools.call_id}"}
        found.add(f"encoding: {spec.tools.arguments.syntax.encoding}")
    return found


def traits(name: str) -> set[str]:
    """Return what a format has, of all that formats can have."""
    facts = facts_of_format(name)
    choices = {f"{name}: {value}" for name, value in facts.values.items() if name not in _TEXTS}
    named = {*facts.format, *facts.markers, *(name for name, data in facts.data.items() if data)}
    styles = {f"{name}: {bool(value)}" for name, value in facts.style.items()}
    return choices | named | styles | roles_in(facts) | modes(committed_spec(name))


#: What begins a module's code, behind its markers and tables.
BEGINS_CODE = "# The parser: what it is given, and what it gives."
#: Facts that are texts of one format's own.
_TEXTS = (
    *("NAME_KEY", "ARGUMENTS_KEY", "ID_KEY", "OTHER_MEMBERS", "OTHER_MEMBER_VALUES"),
    *("ELEMENT_KEY", "ELEMENT_SEPARATOR", "CODE_TOOL", "CODE_ARGUMENT"),
)


def parts_of(name: str) -> tuple[Hashable, ...]:
    """Return which kinds of calls and arguments a format has."""
    values = facts_of_format(name).values
    kinds = ("CALLS_ARE_OBJECTS", "HAS_OTHER_VALUES", "HAS_ELEMENTS", "HAS_CODE")
    return (values.get("ARGUMENTS"), *(values[kind] for kind in kinds))


def covering(having: Mapping[str, Set[Hashable]]) -> list[str]:
    """Return a few names that have together what all have: each time the one that adds most."""
    left: set[Hashable] = set().union(*having.values())
    chosen: list[str] = []
    while left:
        chosen.append(max(sorted(having), key=lambda name: len(having[name] & left)))
        left -= having[chosen[-1]]
    return sorted(chosen)


_LONG_RUNS = {"TURNSPEC_EVERY_FORMAT", "TURNSPEC_EXAMPLES"}
EVERY_FORMAT = bool(_LONG_RUNS & os.environ.keys())
NAMES = sorted(path.stem for path in (ROOT / "specs").glob("*.yaml"))
FORMATS = first_of_each(NAMES, {name: fingerprint(committed_spec(name)) for name in NAMES})
CODES = KINDS = PARTS = FORMS = FORMATS
if not EVERY_FORMAT:
    CODES = first_of_each(FORMATS, {name: code(name) for name in FORMATS})
    KINDS = covering({name: traits(name) for name in FORMATS})
    PARTS = covering({name: {parts_of(name), common_part(name)} for name in FORMATS})
    FORMS = first_of_each(FORMATS, {name: parts_of(name) for name in FORMATS})
