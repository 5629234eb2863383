"""The committed modules look as if written by hand, to black: what they say alone, and the engine.

What follows the table is the same text in all modules that need the same parts of the engine, which
are files that `make lint` looks at. So black reads one module whole, with the most parts, and of
others what stands before the engine. In the long runs it reads all of them whole. ruff takes the
little time that it needs for all in any case (`make lint`), and test_protocol has mypy look at one
of each class.
"""

from __future__ import annotations

import black
import pytest
from black.mode import TargetVersion

from tests.generated_formats import (
    EVERY_FORMAT,
    FORMATS,
    KINDS,
    NAMES,
    module_source,
    parted,
    parts_of,
)

MODE = black.Mode(line_length=100, target_versions={TargetVersion.PY310})
WHOLE = NAMES if EVERY_FORMAT else [max(FORMATS, key=lambda name: len(parts_of(name)))]


def test_modules_with_the_same_parts_have_the_same_engine() -> None:
    engines = {(parts_of(name), parted(module_source(name))[1]) for name in NAMES}
    assert len(engines) == len({parts for parts, _ in engines})


@pytest.mark.parametrize("name", WHOLE)
def test_a_module_is_formatted(name: str) -> None:
    source = module_source(name)
    assert black.format_str(source, mode=MODE) == source


@pytest.mark.parametrize("name", KINDS)
def test_what_a_module_says_of_its_format_is_formatted(name: str) -> None:
    head, _ = parted(module_source(name))
    assert black.format_str(head, mode=MODE) == head
