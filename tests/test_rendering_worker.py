"""The worker process: results, errors as values, and limits after which it goes on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection

import pytest

from turnspec.rendering.environment import OUTPUT_LIMIT
from turnspec.rendering.limited import Refused, run_limited
from turnspec.rendering.limits import USUAL_LIMITS
from turnspec.rendering.starting import start_process
from turnspec.rendering.worker import Rendering, RenderWorker

ENDLESS = (
    "{% for a in range(99999) %}{% for b in range(99999) %}{% set c = a %}{% endfor %}{% endfor %}"
)


@pytest.fixture(scope="module")
def worker() -> Iterator[RenderWorker]:
    with RenderWorker() as worker:
        yield worker


def test_renders_with_variables(worker: RenderWorker) -> None:
    assert worker.render("{{ a }}-{{ b.c }}", {"a": "é｜", "b": {"c": [1]}}) == Rendering("é｜-[1]")


def test_takes_turns_with_templates(worker: RenderWorker) -> None:
    texts = [
        worker.render(source, {"x": n}).text
        for n, source in enumerate(("a{{ x }}", "b{{ x }}") * 2)
    ]
    assert texts == ["a0", "b1", "a2", "b3"]


def test_renderings_share_nothing(worker: RenderWorker) -> None:
    source = "{% set _ = seen.append(1) %}{{ seen | length }}"
    seen: list[int] = []
    assert [worker.render(source, {"seen": seen}).text for _ in range(2)] == ["1", "1"]
    assert seen == []


def test_a_syntax_error_has_its_line_and_is_fatal(worker: RenderWorker) -> None:
    rendering = worker.render("a\n{% if %}", {})
    assert rendering.text is None
    assert rendering.error == "syntax error: Expected an expression, got 'end of statement block'"
    assert (rendering.line, rendering.fatal) == (2, True)


def test_an_unknown_tag_is_a_syntax_error(worker: RenderWorker) -> None:
    rendering = worker.render("{% nosuchtag %}", {})
    assert rendering == Rendering(
        None, "syntax error: Encountered unknown tag 'nosuchtag'.", line=1, fatal=True
    )


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("{{ raise_exception('one\n  call at a time') }}", "TemplateError: one call at a time"),
        ("{{ 1 / 0 }}", "ZeroDivisionError: division by zero"),
        ("{{ messages.first.content }}", "UndefinedError: 'messages' is undefined"),
        (
            "{{ '{' | from_json }}",
            "JSONDecodeError: Expecting property name enclosed in double "
            "quotes: line 1 column 2 (char 1)",
        ),
    ],
)
def test_what_a_template_raises_is_one_line(worker: RenderWorker, source: str, error: str) -> None:
    assert worker.render(source, {}) == Rendering(None, error)


def test_an_attribute_escape_is_an_error(worker: RenderWorker) -> None:
    rendering = worker.render("{{ ''.__class__.__mro__ }}", {})
    assert rendering.text is None
    assert rendering.error.startswith("SecurityError: access to attribute '__class__'")


def test_endless_recursion_is_an_error_and_the_worker_goes_on(worker: RenderWorker) -> None:
    rendering = worker.render("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", {})
    assert rendering.text is None
    assert rendering.error.startswith("RecursionError: maximum recursion depth exceeded")
    assert worker.render("{{ 1 + 1 }}", {}) == Rendering("2")


def test_what_is_nested_too_deep_to_be_sent_is_an_error(worker: RenderWorker) -> None:
    deep: list[object] = []
    for _ in range(900):
        deep = [deep]
    told = Rendering(None, "what it is given is nested too deep")
    assert worker.render("{{ deep }}", {"deep": deep}) == told
    assert worker.render("{{ 1 + 1 }}", {}) == Rendering("2")


def test_too_long_an_output_is_an_error(worker: RenderWorker) -> None:
    rendering = worker.render("{% for i in range(90000) %}{{ 'x' * 99 }}{% endfor %}", {})
    assert rendering.error == f"OutputTooLong: rendered more than {OUTPUT_LIMIT} characters"


def test_an_endless_loop_is_ended_and_the_worker_goes_on() -> None:
    with RenderWorker(time_limit=1.0) as worker:
        assert worker.render("warm", {}).text == "warm"
        assert worker.render(ENDLESS, {}) == Rendering(None, "took longer than 1 s", fatal=True)
        assert worker.render("{{ 1 + 1 }}", {}) == Rendering("2")


def test_a_loop_that_runs_while_compiling_is_ended() -> None:
    with RenderWorker(time_limit=1.0) as worker:
        assert worker.render("warm", {}).text == "warm"
        # Jinja folds constant expressions when it compiles.
        rendering = worker.render("{{ 9 ** (9 ** 9) }}", {})
        assert rendering == Rendering(None, "took longer than 1 s", fatal=True)
        assert worker.render("{{ 1 + 1 }}", {}) == Rendering("2")


def test_a_memory_hog_is_stopped_and_the_worker_goes_on(worker: RenderWorker) -> None:
    rendering = worker.render("{% set much = 'x' * (3 * 1024 ** 3) %}{{ much | length }}", {})
    assert (rendering.text, rendering.fatal) == (None, True)
    assert rendering.error == "needs more than 2 GB of memory"
    assert worker.render("{{ 1 + 1 }}", {}) == Rendering("2")


def test_a_worker_that_was_left_can_be_entered_again() -> None:
    worker = RenderWorker()
    for _ in range(2):
        with worker:
            assert worker.render("{{ 1 + 1 }}", {}) == Rendering("2")


def test_threads_take_turns() -> None:
    with RenderWorker() as worker, ThreadPoolExecutor(4) as pool:
        renderings = pool.map(
            lambda word: worker.render(f"{word}{{{{ x }}}}", {"x": 1}), "abcd" * 5
        )
        assert [rendering.text for rendering in renderings] == [f"{w}1" for w in "abcd" * 5]


def test_a_closed_worker_can_be_used_again() -> None:
    worker = RenderWorker()
    assert worker.render("a", {}).text == "a"
    worker.close()
    assert worker.render("b", {}).text == "b"
    worker.close()


def test_a_process_of_ours_begins_no_server_to_start_another() -> None:
    found = run_limited(_childs_parent, limits=USUAL_LIMITS)
    assert not isinstance(found, Refused)
    parent, itself = found
    assert parent == itself


def _childs_parent() -> tuple[int, int]:
    process, connection = start_process(_tell_parent, daemon=True)
    found: int = connection.recv()
    process.join()
    return found, os.getpid()


def _tell_parent(connection: Connection) -> None:
    connection.send(os.getppid())
