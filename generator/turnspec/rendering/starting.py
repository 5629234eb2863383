"""How processes start: cheaply where the platform can, and never by a fork of the user's process.

A fork server loads what they need once; every further process starts in milliseconds. None runs the
user's script, as processes of multiprocessing do, so that a script needs no ``__main__`` for ours.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import spawn
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING
from weakref import WeakSet

from turnspec.rendering.limits import limit_memory

if TYPE_CHECKING:  # not every platform has all of them
    from multiprocessing.context import ForkContext, ForkServerContext, SpawnContext

#: The name of the processes that are ours alone.
_OURS = "turnspec's own"
_SAFE_PATH = "PYTHONSAFEPATH"
_STARTING = threading.Lock()
_CONNECTIONS: WeakSet[Connection] = WeakSet()
_LOADED_BY = os.getpid()
_preparation = spawn.get_preparation_data


def process_context(module: str) -> ForkContext | ForkServerContext | SpawnContext:
    """Return how this project starts processes that run a function of a module.

    The server loads the module of those that are started first. A process that it started doesn't
    know it, and would run another: there a fork does, which is safe, as nobody but us has begun
    threads in it. A process that a fork made of the user's can't use the server.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    if multiprocessing.current_process().name == _OURS:
        return multiprocessing.get_context("fork")
    if os.getpid() != _LOADED_BY:
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([module])
    return context


def begin_loading(module: str) -> None:
    """Let the server load a module while this process does something else."""
    if process_context(module).get_start_method() == "forkserver":
        from multiprocessing import forkserver, resource_tracker

        # Ctrl-C is for the user's process alone; with that one the server ends. What the server
        # needs is started before, as that lets signals through again.
        with _safe_path():
            resource_tracker.ensure_running()
            before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            forkserver.ensure_running()
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _safe_path() -> Iterator[None]:
    """Have interpreters that start import nothing from the current folder, maybe a stranger's."""
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        os.environ.pop(_SAFE_PATH, None)
        os.environ.update({_SAFE_PATH: before} if before is not None else {})


def start_process(
    serve: Callable[..., None], *arguments: object, daemon: bool = False
) -> tuple[BaseProcess, Connection]:
    """Start a process in which a function serves a connection, and return our end of that.

    ``serve`` gets its own end, and ``arguments``. A ``daemon`` ends with the process that started
    it, and may start none. One that a program started may start ours all the same: none of them
    outlives the one that started it.
    """
    context = process_context(serve.__module__)
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs, *arguments), name=_OURS, daemon=daemon)
    own = multiprocessing.current_process()
    with _STARTING:
        was_daemon = own.daemon
        if was_daemon:
            own.daemon = False  # just as long: multiprocessing lets no daemon start any
        spawn.get_preparation_data = _without_script
        try:
            with _safe_path():
                process.start()
        finally:
            spawn.get_preparation_data = _preparation
            if was_daemon:
                own.daemon = True
    theirs.close()
    _CONNECTIONS.add(ours)
    return process, ours


def _without_script(name: str) -> dict[str, object]:
    """Return what a new process is told of this one: ours not which script to run once more."""
    told: dict[str, object] = _preparation(name)
    return {key: told[key] for key in told if name != _OURS or not key.startswith("init_main")}


def end_process(process: BaseProcess, connection: Connection) -> None:
    """End a process at once, and close the connection to it."""
    process.kill()
    process.join()
    connection.close()


def is_ready(process: BaseProcess | None, connection: Connection | None) -> bool:
    """Say whether a process still serves a connection, and serves it to this process."""
    if process is None or connection is None or connection.closed:
        return False
    return process.is_alive()


def _leave_to_parent() -> None:
    """Close connections in a process that a fork made: what they answer is the other one's."""
    for connection in _CONNECTIONS:
        connection.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)


def set_up_process(memory: int | None = None) -> None:
    """Set up a process of ours, which may take so many bytes of ``memory``.

    It is ended when the one that started it is gone, even if that was killed. A thread that watches
    isn't enough: none runs while an expression computes a huge number. So the system is asked for a
    signal when the pipe to the parent closes, which ends a process that has no handler for it.

    An interrupt is for the parent alone: a terminal tells all, and the parent ends this one.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if memory is not None:
        limit_memory(memory)
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    with contextlib.suppress(ImportError, AttributeError, OSError):  # not on every platform
        _ask_for_signal(parent.sentinel)
    threading.Thread(target=_watch, args=(parent.sentinel,), daemon=True).start()


def _ask_for_signal(pipe: int) -> None:
    import fcntl

    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())
    flags = fcntl.fcntl(pipe, fcntl.F_GETFL)
    fcntl.fcntl(pipe, fcntl.F_SETFL, flags | os.O_ASYNC)


def _watch(pipe: int) -> None:
    """End the process once the parent is gone; it may have been gone before anybody asked."""
    wait([pipe])
    os._exit(1)
