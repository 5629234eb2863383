"""Whether the engine's tests notice a fault: its own cases, then deviations of some formats."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import FrameType
from unittest.mock import patch

from tests.engine_cases import CASES, case_failures
from tests.engine_faults.planting import Fault, Kind, changed_rows
from tests.engine_options import checks
from tests.generated_formats import committed_format, committed_spec
from tests.small_formats import FORMATS as SMALL
from tests.test_deviations import failures_of
from turnspec.codegen import compiled
from turnspec.codegen.facts import FormatFacts, facts_of
from turnspec.deviations.table import DEVIATIONS
from turnspec.deviations.turns import Format

#: Formats that need all of the engine together.
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
    "apertus-8b-instruct",
    "muse-glimmer",
    "upstage-solar-open-100b",
)
#: Nothing is wrong.
NONE = Fault("none", Kind.NOTHING)
_LONGEST = 10  # seconds for a case; a fault that makes the engine go round in a circle is noticed


class _TooLongError(Exception):
    """The engine doesn't come to an end."""


@cache
def facts_by_name() -> dict[str, FormatFacts]:
    """Return the facts of the formats written by hand, and of those that are committed."""
    specs = {**SMALL, **{name: committed_spec(name) for name in FORMATS}}
    return {name: facts_of(spec) for name, spec in specs.items()}


def noticed_by(fault: Fault, formats: tuple[str, ...] = FORMATS) -> str:
    """Return what notices that something is wrong with the engine; "" if nothing does."""
    before = signal.signal(signal.SIGALRM, _stop)
    try:
        with _planted(fault):
            return next(_failures(fault, formats), "")
    except Exception as error:  # parsers never raise
        return f"raises {type(error).__name__}"
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise _TooLongError


@contextmanager
def _planted(fault: Fault) -> Iterator[None]:
    """Have formats in memory run an engine with a fault."""
    head, bodies = compiled._engine()
    compile_engine: Callable[[], object] = compiled._engine_code.__wrapped__
    with patch.object(compiled, "_engine", lambda: (head, fault.bodies(bodies))):
        code = compile_engine()
    with patch.object(compiled, "_engine_code", lambda: code):
        yield


def _failures(fault: Fault, formats: tuple[str, ...]) -> Iterator[str]:
    for name in SMALL:
        if not _is_of_interest(fault, name):
            continue
        form = compiled.run_engine(fault.facts(facts_by_name()[name]))
        for title, own in CASES.items():
            signal.alarm(_LONGEST)
            if own[0] == name and any(case_failures(form, own)):
                yield f"case: {title}"
        for title, (table, failures) in checks().items():
            signal.alarm(_LONGEST)
            if table == name and any(failures(form)):
                yield f"case: {title}"
    for name in formats:
        if _is_of_interest(fault, name):
            yield from _deviating(fault, name)


def _deviating(fault: Fault, name: str) -> Iterator[str]:
    form = compiled.run_engine(fault.facts(facts_by_name()[name]))
    faulty = Format(committed_format(name).spec, form)
    for title, build in DEVIATIONS.items():
        for case in build(committed_format(name)):
            signal.alarm(_LONGEST)
            if any(failures_of(faulty, case)):
                yield f"deviation: {title}"


def _is_of_interest(fault: Fault, name: str) -> bool:
    """Tell whether a fault can make a difference to a format."""
    return fault.kind is not Kind.EXCHANGED or any(changed_rows(fault, facts_by_name()[name]))
