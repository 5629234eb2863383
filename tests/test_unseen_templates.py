"""Templates that the analysis had never seen when they were committed.

``unseen-*`` came through at first go, and no rule was made or changed for them; templates that
needed a mend are called ``invented-*``. Those in ``not-yet`` show what is still missing.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.own_templates import FOLDER, NAMES, given_template, own_template
from turnspec.pipeline.build import Build, build_template
from turnspec.pipeline.project import OutputPaths
from turnspec.spec.files import load_checked_spec
from turnspec.spec.model import Spec, Verdict
from turnspec.spec.results import RUNGS

UNSEEN = tuple(name for name in NAMES if name.startswith("unseen-"))
MESSAGES = 50

#: What becomes of the templates in ``not-yet``: a problem, or the rungs that fail.
NOT_YET = {
    "columnar-batch": "0, 1",  # the calls of a turn can't be told apart
    "fields-in-capitals": "3",
    "name-after-tagged-arguments": "0, 1, 1b, 3, sanity",
    "requests": "1, 1b, 2, 3, sanity",
    "shell-session": (
        "reasoning.start: '# ' could stand in any text; "
        "parsers can't tell by it where reasoning begins"
    ),
    "typed-lines": "1, 1b, 3, sanity",
}


def _build(path: Path) -> Build:
    source = given_template(path.read_text(encoding="utf-8"), path.stem)
    return build_template(source, OutputPaths.in_folder(path.stem), messages=MESSAGES)


def _spec(build: Build) -> Spec:
    found = load_checked_spec(build.files[OutputPaths.in_folder(build.name).spec], "the.yaml")
    assert isinstance(found, Spec)
    return found


def test_there_are_ten() -> None:
    assert len(UNSEEN) == 10


@pytest.mark.long  # `make test` climbs the ladder with a few kinds of templates
@pytest.mark.parametrize("name", UNSEEN)
def test_unseen_templates_pass_every_rung_and_leave_nothing_ambiguous(name: str) -> None:
    build = build_template(own_template(name), OutputPaths.in_folder(name), messages=MESSAGES)
    assert build.problems == ()
    assert build.result is not None
    found = {rung: (result.failed, result.example) for rung, result in build.result.rungs.items()}
    assert found == dict.fromkeys(RUNGS, (0, None))
    assert all(result.passed for result in build.result.rungs.values())
    verdicts = {limit.verdict for limit in _spec(build).limits}
    assert not verdicts & {Verdict.AMBIGUOUS, Verdict.DROPS}


@pytest.mark.long
@pytest.mark.parametrize("path", sorted((FOLDER / "not-yet").glob("*.jinja")), ids=lambda p: p.stem)
def test_what_is_not_read_yet(path: Path) -> None:
    build = _build(path)
    if build.result is None:
        problems = "; ".join(str(problem) for problem in build.problems)
        assert problems == f"{path.stem}.jinja: {NOT_YET[path.stem]}"
        return
    failed = [rung for rung, result in build.result.rungs.items() if result.failed]
    assert ", ".join(failed) == NOT_YET[path.stem]
