"""Whether the engine's tests notice a fault: its own cases, then the deviations of some formats."""

from __future__ import annotations

import ast
import signal
import sys
from collections.abc import Iterator
from functools import partial
from types import FrameType, ModuleType
from typing import Any

from tests.engine_cases import CASES, TABLES, case_failures
from tests.generated_formats import committed_format, table_of
from tests.test_deviations import failures_of
from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.loading import LoadedFormat
from turnspec.codegen.parts import Join, join_parts
from turnspec.deviations.table import DEVIATIONS
from turnspec.deviations.turns import Format

#: Formats that need all parts of the engine together.
FORMATS = (
    "qwen-qwen3-0-6b",
    "qwen3-coder",
    "openai-gpt-oss-120b",
    "minimax-m3",
    "kimi-k2-instruct",
    "google-gemma-4-31b-it",
    "lfm2-5-8b-a1b",
    "meta-llama-llama-3-1-8b-instruct",
    "glm-4-6",
    "apriel-1-6-15b-thinker-fixed",
    "mistralai-mistral-nemo-instruct-2407",
    "google-gemma-2-2b-it",
)
_LONGEST = 20  # seconds; a fault that makes the engine go round in a circle is noticed


class _TooLongError(Exception):
    """The engine doesn't come to an end."""


def noticed_by(tree: ast.Module, formats: tuple[str, ...] = FORMATS) -> str:
    """Return what notices that something is wrong with the engine; "" if nothing does."""
    before = signal.signal(signal.SIGALRM, _stop)
    signal.alarm(_LONGEST)
    try:
        return next(_failures(_loaded(tree), formats), "")
    except Exception as error:  # parsers never raise
        return f"raises {type(error).__name__}"
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise _TooLongError


def _loaded(tree: ast.Module) -> ModuleType:
    engine = ModuleType("faulty_engine")
    sys.modules[engine.__name__] = engine  # dataclasses look their module up
    exec(compile(tree, "faulty_engine.py", "exec"), vars(engine))
    return engine


def _failures(engine: ModuleType, formats: tuple[str, ...]) -> Iterator[str]:
    for name, table in TABLES.items():
        form = _joined(engine, table)
        for title, own in CASES.items():
            if own[0] == name and any(case_failures(form, own)):
                yield f"case: {title}"
    for name in formats:
        spec = committed_format(name).spec
        form = _joined(engine, table_of(name))
        faulty = Format(spec, form)
        for title, build in DEVIATIONS.items():
            for case in build(committed_format(name)):
                if any(failures_of(faulty, case)):
                    yield f"deviation: {title}"


def _joined(engine: ModuleType, table: Any) -> FormatModule:
    """Return a format that is read by an engine of one's own, as `load_table` joins it."""
    join = join_parts(table)
    members: dict[str, Any] = {"format": engine.CompiledFormat(table)}
    if join:
        maker = _maker(engine, join)
        members["_make_calls"] = lambda _self, text, tools, prefix: maker(text, tools, prefix)
    return LoadedFormat(table, type("Parser", (engine.TurnParser,), members))


def _maker(engine: ModuleType, join: Join) -> Any:
    used = {name: _maker(engine, other) for name, other in join.uses.items()}
    return partial(getattr(engine, join.name), **used)
