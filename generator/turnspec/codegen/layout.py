"""Statements -> the same as parsers have them: laid out by ruff or by black, which agree."""

from __future__ import annotations

import re
import subprocess
from contextlib import suppress
from functools import lru_cache

#: As long as a line is at most: what black and ruff take if nobody says otherwise.
LINE_LENGTH = 88
_RUFF = (
    *("format", "--isolated", "--no-cache", "--target-version", "py310"),
    *("--line-length", str(LINE_LENGTH), "--stdin-filename", "parser.py", "-"),
)


def laid_out(source: str) -> str:
    """Return statements as ruff lays them out, or black, where no ruff runs: in a browser.

    An install that has neither gives them as they are: the layout differs, the syntax tree doesn't.
    """
    inside = re.sub(r"\n\n\n+(?= )", "\n\n", source.strip("\n"))
    text = re.sub(r"\n\n\n\n+", "\n\n\n", inside) + "\n"
    for lay_out in (_by_ruff, _by_black):
        with suppress(ImportError):
            return _closer(lay_out(text))
    return _closer(text)


#: What functions and classes begin with, and comments that may stand before them.
_DEFINED = ("def ", "class ", "@")


def _closer(text: str) -> str:
    """Leave one empty line of two, but around functions and classes."""
    first, *blocks = text.split("\n\n\n")
    closer, before = first, first
    for block in blocks:
        code = re.sub(r"(#.*\n?)+", "", block).lstrip("\n")
        is_apart = not code or any(it.startswith(_DEFINED) for it in (before, code))
        closer += ("\n\n\n" if is_apart else "\n\n") + block
        before = code
    return closer


def _by_ruff(text: str) -> str:
    from ruff import find_ruff_bin  # type: ignore[import-untyped]

    command = [find_ruff_bin(), *_RUFF]
    done = subprocess.run(command, input=text.encode(), capture_output=True, check=True)
    return done.stdout.decode()


def _by_black(text: str) -> str:
    return "\n\n\n".join(_block(block).strip("\n") for block in text.split("\n\n\n")) + "\n"


@lru_cache(4096)
def _block(source: str) -> str:
    import black
    from black.mode import TargetVersion

    mode = black.Mode(line_length=LINE_LENGTH, target_versions={TargetVersion.PY310})
    return black.format_str(source, mode=mode)
