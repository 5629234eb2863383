"""The committed parsers: how long they are, and of which class."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from benchmarks import module_limits as limits
from benchmarks.statements import is_docstring, statements_in
from turnspec.codegen.compiled import BEGINS_COMMON
from turnspec.codegen.text_marks import marks_of
from turnspec.pipeline.project import OutputPaths
from turnspec.spec.files import SPEC_SUFFIX, read_spec
from turnspec.spec.model import Spec

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Module:
    """A committed parser."""

    name: str
    kind: str
    source: str

    @cached_property
    def lines(self) -> int:
        """How many lines it has."""
        return self.source.count("\n")

    @cached_property
    def lines_above(self) -> int:
        """How many come before what all parsers of its class have alike."""
        return self.source.partition(f"{BEGINS_COMMON}\n")[0].count("\n")

    @cached_property
    def common(self) -> str:
        """What all parsers of its class have alike."""
        return self.source.partition(f"{BEGINS_COMMON}\n")[2]

    @cached_property
    def statements(self) -> int:
        """How many statements it has, without docstrings."""
        own = self.source.partition(f"{BEGINS_COMMON}\n")[0]
        return _statements(own) + _statements(self.common)


@cache
def _statements(source: str) -> int:
    return sum(not is_docstring(each) for each in statements_in(ast.parse(source)))


def class_of(spec: Spec) -> str:
    """Return the class of a format's parser."""
    marks = marks_of(spec)
    if marks.are_objects:
        return limits.OBJECTS
    heads = {
        "": limits.CONTENT,
        "text": limits.TAGGED,
        "json": limits.JSON_HEADS,
        "values": limits.VALUE_HEADS,
    }
    return heads[marks.arguments.form]


def read_modules(root: Path = ROOT) -> Iterator[Module]:
    """Yield the committed parsers by name; a spec that can't be read is an error."""
    for path in sorted((root / "specs").glob(f"*{SPEC_SUFFIX}")):
        spec = read_spec(path)
        if not isinstance(spec, Spec):
            raise ValueError(str(spec[0]))
        source = (root / OutputPaths.in_project(spec.name).module).read_text(encoding="utf-8")
        yield Module(spec.name, class_of(spec), source)
