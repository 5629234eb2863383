"""Processes that bind and render, in servers that fork and in those that are daemons."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.generated_formats import committed_spec
from turnspec.grammar.bound import BoundGrammar, GrammarBinder
from turnspec.grammar.request import GrammarRequest
from turnspec.rendering.conversation import tool_definitions
from turnspec.rendering.limits import Limits
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.message import Call

#: Each worker asks so often, as answers that are mixed up are so by chance.
TIMES = 12

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")


@pytest.fixture
def binder() -> Iterator[GrammarBinder]:
    with closing(GrammarBinder(committed_spec("qwen3-coder"), limit=Limits(20))) as found:
        yield found


def binds(binder: GrammarBinder, name: str) -> bool:
    found = binder.bind(GrammarRequest(tools=tool_definitions((Call(name, {"a": 1}),))))
    return isinstance(found, BoundGrammar) and name in found.grammar


def in_forks(ask: Callable[[str], bool]) -> list[int]:
    """Return how many times each of two forks wasn't answered what it asked for."""
    pids = []
    for number in range(2):
        if pid := os.fork():
            pids.append(pid)
            continue
        failures = 99
        try:
            failures = sum(not ask(f"tool_{number}_{time}") for time in range(TIMES))
        finally:
            os._exit(failures)
    return [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]


def test_forks_of_a_server_bind_what_they_ask_for(binder: GrammarBinder) -> None:
    assert binds(binder, "first")
    assert in_forks(lambda name: binds(binder, name)) == [0, 0]
    assert binds(binder, "last")


def test_forks_of_a_server_render_what_they_ask_for() -> None:
    with RenderWorker() as worker:

        def renders(text: str) -> bool:
            return worker.render("{{ text }}", {"text": text}).text == text

        assert renders("first")
        assert in_forks(renders) == [0, 0]
        assert renders("last")


def _bind_in_daemon(found: multiprocessing.SimpleQueue[bool]) -> None:
    with closing(GrammarBinder(committed_spec("qwen3-coder"), limit=Limits(20))) as binder:
        found.put(binds(binder, "look") and multiprocessing.current_process().daemon)


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_a_daemon_binds(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(Path(__file__).parent.parent), *sys.path])
    context: Any = multiprocessing.get_context(method)
    found = context.SimpleQueue()
    process = context.Process(target=_bind_in_daemon, args=(found,), daemon=True)
    process.start()
    process.join(60)
    assert not found.empty()
    assert found.get()
