"""No process of ours outlives the one that started it, whatever it is doing when that one goes.

A thread that watches isn't enough: while one expression computes a huge number, no thread of the
interpreter runs. So the system is asked to send a signal when the pipe to the parent closes; what
it does to a process without a handler is to end it.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from multiprocessing.connection import wait

from turnspec.rendering.limits import limit_memory


def set_up_process(memory: int | None = None) -> None:
    """Set up a process of ours, which may take so many bytes of ``memory``.

    It is ended when the one that started it is gone, even if that was killed. An interrupt is for
    the latter alone: a terminal tells all, and the parent ends this one.
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
