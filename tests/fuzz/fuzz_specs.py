"""The fuzzer's bytes change fields of a committed spec: it is refused in words, or it works."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.fuzz.fuzzing import Choices, Target
from tests.mutants import VALUES, changed, places, use_spec
from turnspec.spec.files import load_checked_spec
from turnspec.spec.model import Spec
from turnspec.spec.yaml_document import YamlPath, read_document

ROOT = Path(__file__).parent.parent.parent
NAMES = tuple(sorted(path.stem for path in (ROOT / "specs").glob("*.yaml")))
_MOST_CHANGES = 3


@dataclass(frozen=True, slots=True)
class Mutant:
    """A spec with some of its fields changed."""

    name: str
    changes: tuple[tuple[YamlPath, Any], ...]

    def text(self) -> str:
        """Return it as YAML."""
        data = copy.deepcopy(_document(self.name)[0])
        for path, value in self.changes:
            with suppress(KeyError, IndexError, TypeError):  # another change took its place away
                data = changed(data, path, copy.deepcopy(value))
        return json.dumps(data)


@cache
def _document(name: str) -> tuple[Any, tuple[YamlPath, ...]]:
    read, _ = read_document((ROOT / "specs" / f"{name}.yaml").read_text("utf-8"), name)
    assert read is not None
    return read.data, tuple(places(read.data))


def attempt(data: bytes) -> Mutant:
    """Return what the fuzzer's bytes stand for."""
    choices = Choices(data)
    name = choices.one_of(NAMES)
    _, paths = _document(name)
    changes = []
    for _ in range(1 + choices.number(_MOST_CHANGES - 1)):
        path = choices.one_of(paths)
        value = choices.value() if choices.flag() else choices.one_of(VALUES)
        changes.append((path, value))
    return Mutant(name, tuple(changes))


def check(mutant: Mutant) -> None:
    """Read the spec, and use it if it can be."""
    found = load_checked_spec(mutant.text(), "x.yaml")
    if isinstance(found, Spec):
        use_spec(found)
    else:
        assert found
        assert all(problem.message and "\n" not in str(problem) for problem in found)


TARGET = Target(attempt, check)
