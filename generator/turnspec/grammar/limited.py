"""Binding in processes of their own, which are ended when a request takes too much.

Some schemas take time that no limit on their size foretells: a value of an enumeration is tried on
a pattern, say, which may go back and forth over it without an end.
"""

from __future__ import annotations

import contextlib
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from turnspec.grammar.bound import BoundGrammar, GrammarBinder
from turnspec.grammar.request import GrammarRequest
from turnspec.grammar.schema_limits import TooBigError
from turnspec.rendering.limits import Limits
from turnspec.rendering.starting import end_process, is_ready, set_up_process, start_process
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem

_SECONDS_TO_START = 60.0


class BindingProcesses:
    """Binds one format's grammar within a budget; threads may share it, and none waits for another.

    A process is kept for the next request once it has answered one.
    """

    def __init__(self, spec: Spec, limit: Limits) -> None:
        """Take the format, and each request's budget; the start of a process doesn't count."""
        self._spec, self._limit = spec, limit
        self._idle: list[tuple[BaseProcess, Connection]] = []

    def bind(self, request: GrammarRequest) -> BoundGrammar | list[Problem]:
        """Return the grammar for a request, or all problems that there are with it.

        Raises:
            TooBigError: the request takes more than its budget, or no process starts.
        """
        message = "no process could be started to bind the grammar"
        _, connection = own = self._next()
        with contextlib.suppress(EOFError, OSError):
            if connection.poll(_SECONDS_TO_START) and connection.recv():
                message = f"binding the grammar {self._limit.too_big}"
                connection.send(request)
                if connection.poll(self._limit.seconds):
                    found: BoundGrammar | list[Problem] = connection.recv()
                    self._idle.append(own)
                    return found
                message = f"binding the grammar took longer than {self._limit.seconds:g} s"
        end_process(*own)
        raise TooBigError(message)

    def close(self) -> None:
        """End the processes that wait for a request."""
        while self._idle:
            if is_ready(*(own := self._idle.pop())):
                end_process(*own)

    def _next(self) -> tuple[BaseProcess, Connection]:
        """Return a process that waits for a request, or a new one."""
        while self._idle:
            if is_ready(*(own := self._idle.pop())):
                return own
        return start_process(_serve, self._spec, self._limit.memory, daemon=True)


def _serve(connection: Connection, spec: Spec, memory: int) -> None:
    """Say that it is ready, and answer a request, again and again.

    What can't be answered for want of memory ends the process.
    """
    set_up_process(memory)
    with contextlib.suppress(EOFError, OSError, MemoryError):
        binder = GrammarBinder(spec, remembered=0)
        while True:
            connection.send(True)
            connection.send(binder.bind(connection.recv()))
