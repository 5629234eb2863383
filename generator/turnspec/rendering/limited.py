"""Calling a function in a process of its own that is ended when it takes too much.

For what works on a template outside of the rendering worker: comparing what was rendered, or
making a parser or a grammar of it, can be sent astray by a hostile template as well.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from turnspec.rendering.limits import Limits
from turnspec.rendering.starting import end_process, set_up_process, start_process
from turnspec.rendering.worker import ENDED, RenderWorker

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Refused:
    """The function came to no end within its limits; ``reason`` is a line that says which."""

    reason: str


def run_limited(
    function: Callable[..., Found], *arguments: object, limits: Limits
) -> Found | Refused:
    """Return what a function of a module returns for ``arguments``, or why it was stopped.

    Raises:
        Exception: what the function raises.
    """
    process, ours = start_process(_serve, function, arguments, limits)
    try:
        if not ours.poll(limits.wait):
            return Refused(limits.too_slow)
        outcome, found = ours.recv()
    except (EOFError, OSError):
        return Refused(ENDED)
    finally:
        end_process(process, ours)
    if outcome == "raised":
        raise found
    return Refused(limits.too_big) if outcome == "memory" else found


def run_rendering(
    function: Callable[..., Found], *arguments: object, limits: Limits
) -> Found | Refused:
    """Do the same with a function that is given a rendering worker before its ``arguments``."""
    return run_limited(_with_worker, function, arguments, limits=limits)


def _with_worker(function: Callable[..., Any], arguments: tuple[object, ...]) -> Any:
    with RenderWorker() as worker:
        return function(worker, *arguments)


def _serve(
    connection: Connection,
    function: Callable[..., Any],
    arguments: tuple[object, ...],
    limits: Limits,
) -> None:
    set_up_process(limits.memory)
    try:
        answer = ("returned", function(*arguments))
    except MemoryError:
        answer = ("memory", None)
    except Exception as error:  # the caller's to handle
        answer = ("raised", error)
    with contextlib.suppress(OSError):
        connection.send(answer)
