"""How processes start: cheaply where the platform can, and never by a fork of the user's process.

A fork server loads what they need once; every further process starts in milliseconds.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # not every platform has all of them
    from multiprocessing.context import ForkContext, ForkServerContext, SpawnContext

#: The name of the processes that are ours alone.
_OURS = "turnspec's own"
#: What those load that render templates, and those that build them.
_LOADED = ["turnspec.rendering.worker", "turnspec.pipeline.processes"]


def process_context(*, builds: bool = False) -> ForkContext | ForkServerContext | SpawnContext:
    """Return how this project starts processes; ``builds`` says that they are to build templates.

    What the server loads is decided when it starts. A process that it started doesn't know it, and
    would run another: there a fork does, which is safe, as nobody but us has begun threads in it.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    if multiprocessing.current_process().name == _OURS:
        return multiprocessing.get_context("fork")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_LOADED if builds else _LOADED[:1])
    return context


def begin_loading() -> None:
    """Let the server load what builds templates while this process does something else."""
    if process_context(builds=True).get_start_method() == "forkserver":
        from multiprocessing import forkserver

        forkserver.ensure_running()


def start_process(
    serve: Callable[..., None], *arguments: object, builds: bool = False, daemon: bool = False
) -> tuple[BaseProcess, Connection]:
    """Start a process in which a function serves a connection, and return our end of that.

    ``serve`` gets its own end, and ``arguments``. ``builds`` is as for `process_context`. A
    ``daemon`` ends with the process that started it, and may start none.
    """
    context = process_context(builds=builds)
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs, *arguments), name=_OURS, daemon=daemon)
    process.start()
    theirs.close()
    return process, ours
