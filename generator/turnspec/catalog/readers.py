"""Which formats a model's output may be in: those whose parsers read it without problems.

Nearly every text is plain content to some format. So what counts beside problems is how much of it
a format recognizes: its marks and calls, which is all that isn't told as content or reasoning.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from turnspec.catalog.catalog import Catalog
from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.loading import load


@dataclass(frozen=True, slots=True)
class Reader:
    """A format and how it reads some outputs; ``names`` are those that have it.

    ``problems`` counts the outputs with any, ``example`` is the first; ``recognized`` counts
    characters of the others, ``reasoning``, ``content`` and ``calls`` the outputs that have these.
    """

    names: tuple[str, ...]
    problems: int
    recognized: int
    reasoning: int
    content: int
    calls: int
    example: str = ""

    @property
    def rank(self) -> tuple[int, int, int, str]:
        """What readers are sorted by, the best first."""
        return -self.recognized, self.problems, -self.calls - self.reasoning, self.names[0]


def readers(outputs: Sequence[str], catalog: Catalog) -> Iterator[Reader]:
    """Yield how each distinct format reads some outputs, each as a turn after its own prompt."""
    for (name, spec), *same in catalog.by_fingerprint().values():
        yield _reader((name, *(other for other, _ in same)), load(spec), outputs)


def _reader(names: tuple[str, ...], module: FormatModule, outputs: Iterable[str]) -> Reader:
    problems, example, recognized = 0, "", 0
    reasoning, content, calls = 0, 0, 0
    for output in outputs:
        message = module.parse(output)
        if message.problems:
            problems += 1
            first = message.problems[0]
            example = example or f"{first.kind}: {first.message}"
        else:
            told = message.content + message.reasoning_content
            recognized += _size(output) - _size(told)
        reasoning += bool(message.reasoning_content)
        content += bool(message.content)
        calls += bool(message.tool_calls)
    return Reader(names, problems, recognized, reasoning, content, calls, example)


def _size(text: str) -> int:
    """Return a text's length without white space, which parsers drop around parts."""
    return len("".join(text.split()))


def read_outputs(text: str) -> list[str]:
    """Return the outputs in a file: a JSON string a line, or else the whole text is one."""
    lines = [line for line in text.split("\n") if line.strip()]
    try:
        found = [json.loads(line) for line in lines]
    except (ValueError, RecursionError):
        return [text]
    return found if found and all(isinstance(each, str) for each in found) else [text]
