"""Building templates on all cores: a few processes, each with a rendering worker of its own.

A process that ends, or is ended because its template takes too long, takes down the one template
it was building, and is replaced.
"""

from __future__ import annotations

import contextlib
import gc
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from turnspec.analysis.findings import Finding
from turnspec.analysis.source import TemplateSource
from turnspec.pipeline.build import Build, build_template
from turnspec.pipeline.project import OutputPaths
from turnspec.rendering.limits import USUAL_LIMITS, Limits, limit_memory
from turnspec.rendering.starting import set_up_process, start_process
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.os_reasons import os_message
from turnspec.spec.problems import Problem
from turnspec.spec.recipe import USUAL, Recipe
from turnspec.verification.rungs import DEFAULT_MESSAGES


@dataclass(frozen=True, slots=True)
class Task:
    """One template to build; see `build_template`."""

    source: TemplateSource
    paths: OutputPaths
    messages: int | None
    recipe: Recipe = USUAL
    with_advice: bool = False
    limits: Limits = USUAL_LIMITS

    @property
    def budget(self) -> Limits:
        """The limits with more time for more messages than is usual."""
        times = max(1.0, (self.messages or 0) / DEFAULT_MESSAGES)
        return replace(self.limits, seconds=self.limits.seconds * times)


@dataclass(slots=True)
class _Builder:
    """A process, the connection to it, the task that it has, and until when."""

    process: BaseProcess
    connection: Connection
    task: Task
    ends: float = 0.0


def build_in_processes(tasks: Sequence[Task], count: int) -> Iterator[Build]:
    """Build all tasks in up to ``count`` processes and yield each build as it is finished."""
    waiting = list(reversed(tasks))
    builders = [_start(waiting.pop()) for _ in range(min(count, len(waiting)))]
    try:
        while builders:
            left = min(builder.ends for builder in builders) - time.monotonic()
            ready = wait([builder.connection for builder in builders], max(left, 0))
            now = time.monotonic()  # who has no answer had its time
            for builder in [it for it in builders if it.connection in ready or it.ends <= now]:
                builders.remove(builder)
                build, alive = _receive(builder)
                if waiting:
                    task = waiting.pop()
                    builders.append(_hand_on(builder, task) if alive else _start(task))
                elif alive:
                    builder.connection.send(None)
                    builder.process.join()
                yield build
    finally:
        for builder in builders:
            builder.process.kill()
            builder.process.join()


def _start(task: Task) -> _Builder:
    process, connection = start_process(_serve)
    return _hand_on(_Builder(process, connection, task), task)


def _hand_on(builder: _Builder, task: Task) -> _Builder:
    with contextlib.suppress(OSError):  # it ended already, which is told when it is asked
        builder.connection.send(task)
    ends = time.monotonic() + task.budget.wait
    return _Builder(builder.process, builder.connection, task, ends)


def _receive(builder: _Builder) -> tuple[Build, bool]:
    """Return the build, and whether the process lives on."""
    try:
        if not builder.connection.poll():
            builder.process.kill()
            builder.process.join()
            return failed(builder.task.source, builder.task.budget.too_slow), False
        build: Build = builder.connection.recv()
    except (EOFError, OSError):
        builder.process.join()
        message = "the process that built it ended (out of memory?)"
        return failed(builder.task.source, message), False
    return build, True


def _serve(connection: Connection) -> None:
    """Build what comes until there is nothing more."""
    set_up_process()
    gc.set_threshold(100_000)  # syntax trees hold no cycles, and looking for some takes a fifth
    receive: Callable[[], Task | None] = connection.recv
    # A parent that was killed leaves a connection that is closed or reset.
    with contextlib.suppress(EOFError, OSError), RenderWorker() as worker:
        for task in iter(receive, None):
            limit_memory(task.limits.memory)
            connection.send(_build(task, worker))


def _build(task: Task, worker: RenderWorker) -> Build:
    try:
        return build_template(
            task.source,
            task.paths,
            recipe=task.recipe,
            messages=task.messages,
            worker=worker,
            with_advice=task.with_advice,
            limits=task.budget,
        )
    except MemoryError:
        return failed(task.source, task.limits.too_big)
    except OSError as error:  # a full disk, say
        return failed(task.source, os_message(error))
    except Exception as error:  # a defect of ours must not keep the others from being built
        message = f"internal error: {type(error).__name__}: {error}"
        return failed(task.source, message, Finding("traceback", traceback.format_exc()))


def failed(source: TemplateSource, message: str, *findings: Finding) -> Build:
    """Return a build that came to nothing."""
    problem = Problem(message, file=source.file)
    return Build(source.name, findings=findings, problems=(problem,))
