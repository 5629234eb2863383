"""What hostile templates may take: time, memory, renderings, lengths, and names."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.own_templates import given_template, own_template
from tests.test_cli import run
from turnspec.analysis.analyze import analyze_limited
from turnspec.pipeline.processes import Task, build_in_processes
from turnspec.pipeline.project import OutputPaths
from turnspec.rendering.limited import Refused, run_limited
from turnspec.rendering.limits import Limits
from turnspec.rendering.worker import RenderWorker

TALK = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
#: No thread of the interpreter runs while it computes this.
ENDLESS = "{% if x == 9 ** (9 ** 9) %}{% endif %}"


@pytest.mark.parametrize(
    "constant", ["'a' * 3000000000", "'a' | center(3000000000)", "[0] * 300000000"]
)
def test_constants_are_computed_in_the_worker(constant: str) -> None:
    analysis = analyze_limited(given_template("{% if x == CONSTANT %}{% endif %}" + TALK))
    assert analysis.spec is not None
    source = f"{{% if x == {constant} %}}{{% endif %}}{TALK}"
    analysis = analyze_limited(given_template(source))
    assert analysis.spec is None
    assert [str(problem) for problem in analysis.problems] == [
        "given.jinja: needs more than 2 GB of memory"
    ]


def test_an_endless_constant_is_ended_while_variables_are_looked_for() -> None:
    with RenderWorker(time_limit=1.0) as worker:
        assert worker.facts(TALK).error is None
        facts = worker.facts(ENDLESS + TALK)
        assert (facts.error, facts.switch_values) == ("took longer than 1 s", {})
        failure = worker.failure(ENDLESS + TALK)
        assert failure is not None
        assert failure.error == "took longer than 1 s"


def test_a_function_is_ended_that_takes_too_long() -> None:
    limits = Limits(seconds=0.5)
    refused = run_limited(time.sleep, 60, limits=limits)
    assert refused == Refused("took longer than 0.5 s (--time-limit allows more)")


def test_a_function_is_ended_that_takes_too_much_memory() -> None:
    refused = run_limited(bytearray, 3 * 1024**3, limits=Limits(memory=1024**3))
    assert refused == Refused("needs more than 1 GB of memory")


def test_what_a_function_returns_or_raises_comes_back() -> None:
    assert run_limited(divmod, 7, 2, limits=Limits()) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        run_limited(divmod, 7, 0, limits=Limits())


def test_renderings_are_counted() -> None:
    comparisons = "".join(f"{{% if x == 'w{n}' %}}{{% endif %}}" for n in range(400))
    analysis = analyze_limited(given_template(comparisons + TALK), Limits(renderings=300))
    assert [str(problem) for problem in analysis.problems] == [
        "given.jinja: needs more than 300 renderings to be analysed"
    ]


def test_a_busy_machine_gets_more_time(monkeypatch: pytest.MonkeyPatch) -> None:
    cores = os.cpu_count() or 1
    monkeypatch.setattr("turnspec.rendering.limits._running", lambda: 4.0 * cores)
    assert Limits(seconds=30).wait == 120
    monkeypatch.setattr("turnspec.rendering.limits._running", lambda: 0.0)
    assert Limits(seconds=30).wait == 30


def test_a_build_that_takes_too_long_is_ended_and_the_next_one_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("turnspec.rendering.limits._running", lambda: 0.0)
    slow = own_template("json-in-tags")
    tasks = [
        Task(slow, OutputPaths.in_folder(slow.name), 50, limits=Limits(seconds=0.2)),
        Task(own_template("plain-content"), OutputPaths.in_folder("plain-content"), None),
    ]
    ended, made = build_in_processes(tasks, 1)
    assert [str(problem) for problem in ended.problems] == [
        f"{slow.file}: took longer than 0.2 s (--time-limit allows more)"
    ]
    assert made.files
    assert not made.problems


def test_more_messages_get_more_time() -> None:
    task = Task(own_template("plain-content"), OutputPaths.in_folder("plain-content"), 1000)
    assert task.budget.seconds == 600.0


@pytest.mark.parametrize("text", ["<" + "t" * 5000 + ">", "<|" + "x>" * 300_000 + "|>"])
def test_markers_of_pages_are_refused_by_name(tmp_path: Path, text: str) -> None:
    source = tmp_path / "given.jinja"
    source.write_text(TALK.replace("<|end|>", text), encoding="utf-8")
    result = run("analyze", str(source), "--into", str(tmp_path / "out"))
    assert result.exit_code == 1
    assert (
        f"given.jinja: turn.ends[0].final: is {len(text)} characters long; 500 at most"
        in result.stderr
    )
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("verb", ["analyze", "identify", "explain"])
def test_the_time_limit_is_told_as_one_line(tmp_path: Path, verb: str) -> None:
    source = tmp_path / "given.jinja"
    source.write_text(ENDLESS + TALK, encoding="utf-8")
    result = run(verb, str(source), "--time-limit", "1")
    assert result.exit_code == 1
    assert result.stderr.endswith("took longer than 1 s (--time-limit allows more)\n")
    assert len(result.stderr.splitlines()) == 1


def test_a_module_hides_none_of_its_neighbours(tmp_path: Path) -> None:
    names = ("json", "re", "dataclasses", "class", "typing")
    for name in names:
        (tmp_path / f"{name}.jinja").write_text(TALK, encoding="utf-8")
    sources = [tmp_path / f"{name}.jinja" for name in names]
    result = run("analyze", *sources, "--into", tmp_path)
    assert result.exit_code == 0, result.stderr
    for name in names:
        code = f"import {name}_ as fmt; print(fmt.parse('Hi<|end|>').content)"
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.stdout == "Hi\n", done.stderr


WORK = f"""
from turnspec.rendering.limited import run_limited
from turnspec.rendering.limits import Limits
from turnspec.rendering.worker import RenderWorker

def work():
    with RenderWorker() as worker:
        worker.render("warm", {{}})
        print(worker._process.pid, flush=True)
        worker.render({ENDLESS!r}, {{}})
"""


@pytest.mark.parametrize("start", ["work()", "run_limited(work, limits=Limits())"])
def test_a_worker_does_not_outlive_its_parent(start: str, tmp_path: Path) -> None:
    (tmp_path / "work.py").write_text(WORK, encoding="utf-8")
    script = tmp_path / "script.py"  # which no process of ours runs once more
    script.write_text(f"from work import *\n{start}\n", encoding="utf-8")
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        time.sleep(0.5)  # the worker is computing now
        assert is_running(worker)
        os.kill(parent.pid, signal.SIGKILL)
    for _ in range(50):
        if not is_running(worker):
            return
        time.sleep(0.1)
    os.kill(worker, signal.SIGKILL)
    pytest.fail("the worker outlived its parent")


def is_running(process: int) -> bool:
    """Tell whether a process is there, and not only waiting to be forgotten."""
    found = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True, check=False
    )
    return bool(found.stdout.strip()) and not found.stdout.strip().startswith("Z")
