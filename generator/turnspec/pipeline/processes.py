"""Building templates on all cores: a few processes, each with a rendering worker of its own.

A process that ends (out of memory) takes down the one template it was building, and is replaced.
"""

from __future__ import annotations

import contextlib
import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from turnspec.analysis.analyze import TemplateSource
from turnspec.analysis.findings import Finding
from turnspec.pipeline.build import Build, build_template
from turnspec.pipeline.project import OutputPaths
from turnspec.rendering.worker import RenderWorker, process_context
from turnspec.spec.os_reasons import os_message
from turnspec.spec.problems import Problem
from turnspec.spec.recipe import USUAL, Recipe


@dataclass(frozen=True, slots=True)
class Task:
    """One template to build; see `build_template`."""

    source: TemplateSource
    paths: OutputPaths
    messages: int | None
    recipe: Recipe = USUAL
    with_advice: bool = False


@dataclass(slots=True)
class _Builder:
    """A process, the connection to it, and the task that it has."""

    process: BaseProcess
    connection: Connection
    task: Task


def build_in_processes(tasks: Sequence[Task], count: int) -> Iterator[Build]:
    """Build all tasks in up to ``count`` processes and yield each build as it is finished."""
    waiting = list(reversed(tasks))
    builders = [_start(waiting.pop()) for _ in range(min(count, len(waiting)))]
    try:
        while builders:
            ready = wait([builder.connection for builder in builders])
            for builder in [found for found in builders if found.connection in ready]:
                builders.remove(builder)
                build, alive = _receive(builder)
                if waiting:
                    task = waiting.pop()
                    builders.append(_hand_on(builder, task) if alive else _start(task))
                elif alive:
                    _stop(builder)
                yield build
    finally:
        for builder in builders:
            builder.process.kill()
            builder.process.join()


def _start(task: Task) -> _Builder:
    context = process_context()
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,))
    process.start()
    theirs.close()
    return _hand_on(_Builder(process, ours, task), task)


def _hand_on(builder: _Builder, task: Task) -> _Builder:
    builder.connection.send(task)
    return _Builder(builder.process, builder.connection, task)


def _receive(builder: _Builder) -> tuple[Build, bool]:
    """Return the build, and whether the process lives on."""
    try:
        build: Build = builder.connection.recv()
    except (EOFError, OSError):
        builder.process.join()
        message = "the process that built it ended (out of memory?)"
        return failed(builder.task.source, message), False
    return build, True


def _stop(builder: _Builder) -> None:
    builder.connection.send(None)
    builder.process.join()


def _serve(connection: Connection) -> None:
    """Build what comes until there is nothing more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal tells all; the parent ends this one
    receive: Callable[[], Task | None] = connection.recv
    # A parent that was killed leaves a connection that is closed or reset.
    with contextlib.suppress(EOFError, OSError), RenderWorker() as worker:
        for task in iter(receive, None):
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
        )
    except OSError as error:  # a full disk, say
        return failed(task.source, os_message(error))
    except Exception as error:  # a defect of ours must not keep the others from being built
        message = f"internal error: {type(error).__name__}: {error}"
        return failed(task.source, message, Finding("traceback", traceback.format_exc()))


def failed(source: TemplateSource, message: str, *findings: Finding) -> Build:
    """Return a build that came to nothing."""
    problem = Problem(message, file=source.file)
    return Build(source.name, findings=findings, problems=(problem,))
