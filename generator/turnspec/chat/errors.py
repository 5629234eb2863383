"""The one exception of the prompt side, raised at its edge with all that is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from turnspec.spec.problems import Problem


class ChatError(ValueError):
    """A prompt that can't be made: ``problems`` says what is wrong, and where."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        """Take all problems; the message has one on each line."""
        super().__init__("\n".join(map(str, problems)))
        self.problems = tuple(problems)


_T = TypeVar("_T")


def checked(found: list[_T] | list[Problem]) -> list[_T]:
    """Return what was found, or raise a `ChatError` of the problems that were found instead."""
    problems = [item for item in found if isinstance(item, Problem)]
    if problems:
        raise ChatError(problems)
    return [item for item in found if not isinstance(item, Problem)]
