"""What all tests share: the reference templates, and a cache of its own for everything else."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from xdist.scheduler import LoadFileScheduling

from tests.fake_hub import FILES, NEW, FakeHub, serving
from tests.few_turns import take_few_turns
from tests.reference.cases import (
    OpenTemplates,
    RecordingWorker,
    rendered_cases,
    tried_templates,
)
from tests.reference.compare import Verdicts, verdicts
from turnspec.rendering.starting import begin_loading
from turnspec.rendering.worker import RenderWorker
from turnspec.sources.cache import CACHE_VARIABLE, cache_folder
from turnspec.sources.fetch import fetch_templates
from turnspec.sources.index import Entry

ROOT = Path(__file__).parent.parent

#: Files that share what takes long to make, by how their names begin: one process tests them.
_TOGETHER = (
    ("test_analysis_", "test_pipeline_build", "test_right_formats", "test_red_is_red"),
    ("test_chat_",),
    # These compile many parsers.
    (
        *("test_committed_files", "test_reading", "test_steps_in_proportion", "test_left_out"),
        *("test_benchmarks", "test_codegen_", "test_compiler"),
    ),
)
#: Files that take long, the longest first, so that no process is left with one of them at the end.
_FIRST = (
    *(start for group in reversed(_TOGETHER) for start in group),
    *("test_public_templates", "test_typescript", "test_mid_stream", "test_deviations"),
    *("test_vendor", "test_engine", "test_catalog", "test_call_signs", "test_live", "test_cli"),
    *("test_review", "test_starter", "test_repository", "test_module_coverage", "test_limits"),
    *("test_witness", "test_drawn_formats", "test_linear_time", "test_pipeline_"),
    *("test_readme", "test_terminal", "test_explain", "test_streams", "test_report"),
    "test_generated_style",
)

_USERS_CACHE = cache_folder()

# The same examples in every run, so that a change breaks what it breaks at once; make test-long
# draws others.
settings.register_profile("stable", derandomize=True, database=None, deadline=None)
if "TURNSPEC_EXAMPLES" not in os.environ:
    settings.load_profile("stable")


class _InFiles(LoadFileScheduling):  # type: ignore[misc]  # it has no types
    """Hands out tests by files, and some files together."""

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        groups = (group[0] for group in _TOGETHER for start in group if f"/{start}" in file)
        return next(groups, file)


@pytest.hookimpl(optionalhook=True)  # without xdist nobody asks
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> _InFiles:
    """Return what hands tests out to processes."""
    return _InFiles(config, log)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return one process more than there are cores, as tests wait for commands that they start."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files first that take long, in their order; their tests stay in order."""

    @cache
    def place_of(file: str) -> int:
        return next((at for at, start in enumerate(_FIRST) if file.startswith(start)), len(_FIRST))

    items.sort(key=lambda item: place_of(item.path.stem))


def pytest_collection_finish() -> None:
    """Keep the garbage collector off what was loaded: going through it took a fifth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 50, 100)


def pytest_sessionfinish() -> None:
    """Collect what is left once: pytest does so five times, through all that there is."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def reference_templates() -> list[Entry]:
    """Return the pinned templates, fetched on the first run and taken from the disk afterwards."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CACHE_VARIABLE, str(_USERS_CACHE))
        result = fetch_templates(ROOT)
    if result.problems:
        pytest.fail("\n".join(map(str, result.problems)), pytrace=False)
    return result.templates


@pytest.fixture(autouse=True)
def hears_ctrl_c() -> None:
    """Have tests, and what they start, end with Ctrl-C.

    What a shell runs in the background ignores it, and so does a command that was interrupted.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the user's download caches, and the hub, out of the tests' reach."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CACHE_VARIABLE, str(tmp_path_factory.mktemp("cache")))
        patch.setenv("HF_HOME", str(tmp_path_factory.mktemp("hub")))
        patch.setenv("HF_HUB_OFFLINE", "1")
        yield


@pytest.fixture(autouse=True, scope="session")
def fork_server() -> None:
    """Load what builds templates once, not in each process that a test has build some.

    The server imports as any Python does that starts here, and passes over what it doesn't find.
    """
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", path.rstrip(os.pathsep))
        begin_loading("tests.loaded_builds")


@pytest.fixture(scope="session")
def worker() -> Iterator[RenderWorker]:
    """Return a process that renders, which starts once; a template's analysis is kept with it."""
    with RenderWorker() as worker:
        yield worker


@pytest.fixture(scope="session")
def templates(reference_templates: list[Entry]) -> Iterator[OpenTemplates]:
    """Return the reference templates and the named formats as apps use them, each opened once."""
    assert reference_templates
    with RecordingWorker() as worker:
        yield OpenTemplates(worker)


@pytest.fixture(scope="session")
def compared(templates: OpenTemplates) -> Verdicts:
    """Return how renderings compare with those of transformers; in the long runs all."""
    return list(verdicts(rendered_cases(templates, tried_templates()), templates.worker))


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    """A hub with a model, which the environment names; and caches of the test's own."""
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    for name in ("HF_HUB_CACHE", "HF_TOKEN", "HF_TOKEN_PATH", "HUGGING_FACE_HUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with serving(FakeHub()) as hub:
        hub.add(NEW, FILES)
        for name, value in hub.environment().items():
            monkeypatch.setenv(name, value)
        yield hub


@pytest.fixture
def few_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try a change of a format on fewer turns and walks than a review has."""
    take_few_turns(monkeypatch)
