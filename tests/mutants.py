"""Documents with one field changed: to another type, to nothing, to what only looks right."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from enum import Enum
from typing import Any

from turnspec.codegen.loading import load
from turnspec.grammar.turn import generate_grammar
from turnspec.pipeline.samples import sample_turns
from turnspec.spec.files import dump_spec, load_spec
from turnspec.spec.model import Spec
from turnspec.spec.yaml_document import YamlPath


class Change(Enum):
    """What is done to a field beside giving it another value."""

    REMOVED = "removed"
    DOUBLED = "doubled"


_NAME_TWICE = [
    {"slot": "NAME"},
    {"text": "x"},
    {"slot": "NAME"},
    {"text": "y"},
    {"slot": "ARGUMENTS"},
]
#: What a field is changed to. A surrogate can't be written to a file as text.
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 10**30, 1.5),
    *("", " ", "\n", "x", '"', "'", "\\", "\0", "{", "}", "<", "[", "]", ":", "a b", "x" * 400),
    *([], {}, [[]], ["x", "x"], [""], {"x": 1}, "NAME", "KEY", [{"slot": "NAME"}], _NAME_TWICE),
    *Change,
)


def places(data: Any, path: YamlPath = ()) -> Iterator[YamlPath]:
    """Yield the path of everything in a document."""
    yield path
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from places(value, (*path, key))


def mutant(data: Any, path: YamlPath, value: Any) -> str:
    """Return a document as YAML with one of its fields changed."""
    return json.dumps(changed(copy.deepcopy(data), path, value))


def changed(data: Any, path: YamlPath, value: Any) -> Any:
    """Return plain data in which one field is another; the data itself is changed."""
    if not path:
        return None if isinstance(value, Change) else value
    around = data
    for step in path[:-1]:
        around = around[step]
    last: Any = path[-1]
    if value is Change.REMOVED:
        del around[last]
    elif value is Change.DOUBLED and isinstance(around, list):
        around.insert(last, copy.deepcopy(around[last]))
    elif value is Change.DOUBLED:
        around[f"{last}x"] = around[last]
    else:
        around[last] = value
    return data


def use_spec(spec: Spec) -> None:
    """Do with a spec what is done with one."""
    assert load_spec(dump_spec(spec), "again.yaml") == spec
    generate_grammar(spec, spec_path="specs/x.yaml", spec_hash="0")
    module = load(spec)
    for turn in sample_turns(spec):
        module.parse(turn)
