"""Something happens in the midst of what a parser does: an exception, or another thread's call.

A step is where a function of the parser's module begins, or one of Python's own comes back to it.
There, and in no other place of straight code, Python looks for signals and lets other threads run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import CO_GENERATOR
from types import FrameType
from typing import Any

from turnspec.codegen.format_module import FormatModule


@dataclass(slots=True)
class Steps:
    """How many steps there were."""

    count: int = 0


@contextmanager
def at_step(
    module: FormatModule, number: int, action: Callable[[], object] | None = None
) -> Iterator[Steps]:
    """Have something done at a step, of which the first is 1; and count the steps up to that."""
    names, steps = vars(module), Steps()

    def look(frame: FrameType, event: str, _arg: Any) -> None:
        if event not in ("call", "c_return") or frame.f_globals is not names:
            return
        if event == "call" and frame.f_code.co_flags & CO_GENERATOR:
            return  # it may be on the way out, where no exception gets through
        steps.count += 1
        if steps.count == number and action:
            sys.setprofile(None)
            action()

    sys.setprofile(look)
    try:
        yield steps
    finally:
        sys.setprofile(None)


def steps_of(module: FormatModule, call: Callable[[], object]) -> int:
    """Return how many steps a call takes."""
    with at_step(module, 0) as steps:
        call()
    return steps.count
