"""What the fuzz targets share: a target, how it is run, and the values that bytes stand for."""

from __future__ import annotations

import importlib
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: It has neither types nor wheels for every Python, so that a type checker can't follow an import.
atheris: Any = importlib.import_module("atheris")

#: Signs and words that mean something to Python, YAML, GBNF, expressions, Jinja or a terminal.
NASTY = (
    *("\\", '"', "'", '"""', "'''", "`", "#", "{", "}", "[", "]", "<", ">", "(", ")", "|", "^"),
    *("\\x", "\\u00", "\\N{", "\\0", "%s", "{}", "{0}", "(?", "*", "+", ".", ",", ":", "/", "-"),
    *(" ", "  ", "\n", "\t", "\r", "\0", "\x1b[31m", "\x7f", "\x85", "\u2028", "\u202e", "\ufeff"),
    *(
        "é",
        "ﬁ",
        "０",
        "日",
        "😀",
        "\u0301",
        "{name}",
        "{{",
        "}}",
        "{before ",
        "::=",
        "root",
        "None",
    ),
    *("\x1bA", "\x9bc", "\u200b", "\u2066", "\u061c", "\U000e0001", "m" * 480),
    *("name", "arguments", "0", "1e9", "x", "end", "x" * 60, "\\" * 40, "<|", "|>", "</", "/>"),
)
#: Beside them, constants that JSON's types allow and few expect.
SCALARS: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 7, 1000, 2**31, 2**63, -(2**63), 10**30, 10**400),
    *(0.5, -0.0, 1e-7, 1e300, 1e-300, float("nan"), float("inf")),
)


class Choices:
    """The fuzzer's bytes as choices: each takes some of them, and none is left at their end."""

    def __init__(self, data: bytes) -> None:
        self._provider = atheris.FuzzedDataProvider(data)

    def left(self) -> int:
        """Return how many bytes are left."""
        return int(self._provider.remaining_bytes())

    def number(self, most: int) -> int:
        """Return a number from 0 to ``most``."""
        return int(self._provider.ConsumeIntInRange(0, most))

    def flag(self) -> bool:
        return bool(self._provider.ConsumeBool())

    def one_of(self, values: Sequence[Any]) -> Any:
        return values[self.number(len(values) - 1)]

    def text(self, most: int = 6) -> str:
        """Return a text of a few pieces."""
        pieces = (
            self.one_of(NASTY) if self.number(3) else self._provider.ConsumeUnicode(self.number(4))
            for _ in range(self.number(most))
        )
        return "".join(pieces).encode("utf-8", "replace").decode("utf-8")

    def value(self, depth: int = 3) -> Any:
        """Return something that JSON can hold, or nearly."""
        kind = self.number(3 if depth else 1)
        if kind == 0:
            return self.one_of(SCALARS)
        if kind == 1:
            return self.text()
        items = range(self.number(3))
        if kind == 2:
            return [self.value(depth - 1) for _ in items]
        return {self.text(3): self.value(depth - 1) for _ in items}


@dataclass(frozen=True, slots=True)
class Target:
    """What is fuzzed: ``check`` raises where a promise isn't kept for what ``attempt`` made.

    ``seeds`` begin the corpus; ``found`` are attempts that broke a promise once.
    """

    attempt: Callable[[bytes], Any]
    check: Callable[[Any], None]
    seeds: tuple[bytes, ...] = ()
    found: tuple[Any, ...] = ()
    longest: int = 200


@dataclass(slots=True)
class _Worst:
    """The slowest input so far, told as it is found: the fuzzer ends the process itself."""

    runs: int = 0
    seconds: float = 0.1

    def tell(self, seconds: float, attempt: object) -> None:
        self.runs += 1
        if seconds > 1.2 * self.seconds:
            self.seconds = seconds
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
            shown = repr(attempt)[:300]
            print(f"slowest of {self.runs}: {seconds:.2f} s, {memory} MB: {shown}", flush=True)


def run(target: Target, data: bytes, worst: _Worst | None = None) -> None:
    """Make one attempt; a failure tells what was attempted."""
    attempt = target.attempt(data)
    started = time.perf_counter()
    try:
        target.check(attempt)
    except Exception as error:
        told = f"{attempt!r}: {type(error).__name__}: {error}"
        raise AssertionError(told) from error
    if worst is not None:
        worst.tell(time.perf_counter() - started, attempt)


def fuzz(target: Target, arguments: Sequence[str]) -> None:
    """Fuzz; the arguments are libFuzzer's, and the fuzzer ends the process itself."""
    worst = _Worst()
    defaults = (
        "-len_control=0",
        f"-max_len={target.longest}",
        "-timeout=120",
        "-rss_limit_mb=3000",
    )
    corpus = tempfile.mkdtemp(prefix="turnspec-fuzz-")
    for number, seed in enumerate(target.seeds):
        Path(corpus, str(number)).write_bytes(seed)
    command = [sys.argv[0], *defaults, *arguments, corpus]
    atheris.Setup(command, lambda data: run(target, data, worst))
    for attempt in target.found:
        target.check(attempt)
    atheris.Fuzz()
