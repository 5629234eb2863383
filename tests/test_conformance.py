"""What `make conformance` makes of a suite's outcomes; the suite itself isn't asked here."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

import tests.conformance.__main__ as command
from tests.conformance import page as pages
from tests.conformance.explained import (
    Explanation,
    outdated,
    read_explanations,
    unexplained,
)
from tests.conformance.formats import NOT_READ, READ_AS
from tests.conformance.outcomes import Counts, Outcome, Status
from tests.conformance.published import Published, published, snapshot
from tests.conformance.running import Failed, Run, read_run
from tests.generated_formats import NAMES, ROOT
from turnspec.spec.problems import Problem

DESCRIPTION = """\
Some words, and the matrix from the 2026-01-02 snapshot.

| Engine | Version | Fixtures it supports | Pass | Soft pass | Fail | Bugs |
|---|---|---:|---:|---:|---:|---:|
| One | 1.2 | 10 | 7 | 2 | 1 | 4 |
| Two | `abc` | 9 | 9 | 0 | 0 | 0 |

| Another | table |
|---|---|
| x | y |
"""
GEMMA = "google/gemma-4-31B-it"
DEEPSEEK_V4_1 = "deepseek-ai/DeepSeek-V4.1-Flash"


def outcome(name: str, status: Status, model: str = GEMMA, incomplete: str = "") -> Outcome:
    """Return a made-up case's outcome, as `replay.py` would tell of it."""
    found = {
        "id": f"made-up/{name}",
        "family": "made-up",
        "model": model,
        "format": READ_AS[model].format if model in READ_AS else "",
        "source": f"https://example.org/{name}",
        "status": status,
        "checks": ["expected_match"] if status is not Status.PASS else [],
        "details": ["expected_match (one): content: expected None, got 'x'"],
        "shown": [["text", "'x'"]],
        "with_incomplete_calls": incomplete or None,
    }
    return Outcome.of(json.loads(json.dumps(found)))


PASSED = outcome("passed", Status.PASS, incomplete="pass")
CUT_OFF = outcome("cut-off", Status.PASS, incomplete="fail")
SOFT = outcome("soft", Status.SOFT_PASS, incomplete="soft_pass")
FAILED = outcome("failed", Status.FAIL, incomplete="fail")
OTHER = outcome("other", Status.FAIL, "openai/gpt-oss-20b", incomplete="fail")
UNREAD = outcome("unread", Status.UNSUPPORTED, DEEPSEEK_V4_1)
ALL = (PASSED, CUT_OFF, SOFT, FAILED, OTHER, UNREAD)
EXPLAINED = (
    Explanation(Status.FAIL, "It is a riddle.", (FAILED.id, OTHER.id)),
    Explanation(Status.SOFT_PASS, "It is white space.", (SOFT.id,)),
)


def run_of(*outcomes: Outcome, description: str = DESCRIPTION) -> Run:
    return Run("9.9", "0123456789abcdef0123", 8, description, outcomes)


def test_the_page(snapshot: SnapshotAssertion) -> None:
    assert pages.page(run_of(*ALL), EXPLAINED) == snapshot


def test_the_page_says_what_is_missing() -> None:
    text = pages.page(run_of(PASSED, FAILED, description="no table"), ())
    assert "isn't in this\nversion of the package" in text
    assert "Not explained.\n\n- [made-up/failed]" in text
    assert "## Soft passes\n\nNone.\n" in text


def test_cases_are_counted_once() -> None:
    assert Counts.of(ALL) == Counts(read=5, passed=2, soft=1, failed=2, unread=1)
    error = outcome("error", Status.ERROR)
    assert Counts.of([error]) == Counts(read=1, passed=0, soft=0, failed=1, unread=0)
    assert [o.id for o in (*ALL, error) if o.hangs_on_completeness] == [CUT_OFF.id]
    assert pages.summary(ALL) == (
        "5 cases read: 2 pass, 1 pass softly, 2 fail; 1 have no format here"
    )


def test_published_results_are_read_from_the_description() -> None:
    assert published(DESCRIPTION) == [
        Published("One", "1.2", 10, 7, 2, 1),
        Published("Two", "abc", 9, 9, 0, 0),
    ]
    assert snapshot(DESCRIPTION) == "2026-01-02"
    assert (published("| Engine | Pass |\n|---|---|\n| One | 3 |"), snapshot("")) == ([], "")


def test_what_nobody_explained_is_found() -> None:
    assert unexplained(ALL, EXPLAINED) == []
    assert unexplained(ALL, EXPLAINED[:1]) == [SOFT]
    worse = outcome("soft", Status.FAIL)
    assert unexplained([worse], EXPLAINED) == [worse], "explained as a soft pass alone"
    error = outcome("failed", Status.ERROR)
    assert unexplained([error], EXPLAINED) == [error]


def test_what_explains_nothing_is_found() -> None:
    assert outdated(ALL, EXPLAINED) == []
    explained = (Explanation(Status.FAIL, "Why.", (PASSED.id, UNREAD.id, "made-up/gone")),)
    assert outdated(ALL, explained) == [
        "explained.yaml: made-up/passed: it passes; take it out",
        "explained.yaml: made-up/unread: there is no format to read it by; take it out",
        "explained.yaml: made-up/gone: there is no such case; take it out",
    ]


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("a: b", ["bad.yaml: must be a list of explanations"]),
        (
            "- {status: fail, reason: why}",
            ["bad.yaml: [0]: must have exactly the keys cases, reason, status"],
        ),
        (
            "- {status: error, reason: '', cases: x}",
            [
                "bad.yaml: [0]: status must be fail or soft_pass",
                "bad.yaml: [0]: reason must be a sentence",
                "bad.yaml: [0]: cases must be a list of ids",
            ],
        ),
        (
            "- {status: fail, reason: why, cases: [a, b]}\n"
            "- {status: soft_pass, reason: why, cases: [b]}",
            ["bad.yaml: b stands there twice"],
        ),
    ],
)
def test_bad_explanations_are_refused(text: str, problems: list[str], tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text, encoding="utf-8")
    found = read_explanations(path)
    assert isinstance(found, list)
    assert [str(problem) for problem in found] == problems


def test_the_committed_page_shows_what_is_explained() -> None:
    explanations = read_explanations()
    assert isinstance(explanations, tuple)
    text = pages.PAGE.read_text(encoding="utf-8")
    assert "Not explained." not in text
    _, failures, softs = re.split("^## (?:Failures|Soft passes)$", text, flags=re.MULTILINE)
    softs = softs[: softs.index("\n## ")]
    for status, part in ((Status.FAIL, failures), (Status.SOFT_PASS, softs)):
        chosen = [e for e in explanations if e.status is status]
        shown = set(re.findall(r"^- \[([^]]+)\]", part, re.MULTILINE))
        assert shown == {case for e in chosen for case in e.cases}, "run: make conformance"
        assert all(e.reason in part for e in chosen), "run: make conformance"


def test_models_are_read_by_formats_that_are_there() -> None:
    assert {reading.format for reading in READ_AS.values()} <= set(NAMES)
    assert all(reading.reason for reading in READ_AS.values())
    assert not set(READ_AS) & set(NOT_READ)


def test_the_page_counts_only_what_no_format_here_reads_as_unread() -> None:
    """Llama 4's calls of Python and Magistral's turns are read by formats of others' templates."""
    text = pages.PAGE.read_text(encoding="utf-8")
    unread = re.findall(r"^\| (\S+/\S+) \| \d+ \| [^|]+ \|$", text, re.MULTILINE)
    assert unread == list(NOT_READ) == [DEEPSEEK_V4_1]


def lines(*outcomes: dict[str, object], total: int) -> list[str]:
    head = {"total": total, "version": "9.9", "digest": "abc", "ways": 8, "description": ""}
    return [json.dumps(found) for found in (head, *outcomes)]


def test_a_run_that_broke_off_is_none() -> None:
    found: dict[str, object] = {
        **{name: name for name in ("id", "family", "model", "format", "source")},
        **{"status": "pass", "checks": [], "details": []},
    }
    run = read_run(lines(found, total=1))
    assert run is not None
    assert [case.status for case in run.outcomes] == [Status.PASS]
    assert read_run(lines(found, total=2)) is None
    assert read_run([]) is None


@pytest.fixture
def judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """The command with made-up outcomes: exit code, output and errors."""
    monkeypatch.setattr(command, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(command, "prepared", lambda folder: Path("python"))
    monkeypatch.setattr(command, "read_explanations", lambda: EXPLAINED)

    def run(outcomes: Sequence[Outcome], *arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(command, "replayed", lambda python, cases: run_of(*outcomes))
        return (command.main(arguments), *capsys.readouterr())

    return run


def test_all_explained(judged: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    code, told, errors = judged(ALL)
    assert (code, errors) == (0, "")
    assert told == f"{pages.table(ALL)}\n{pages.summary(ALL)}\n"
    assert (tmp_path / "page.md").read_text("utf-8") == pages.page(run_of(*ALL), EXPLAINED)


def test_red_is_red(judged: Callable[..., tuple[int, str, str]]) -> None:
    worse = outcome("soft", Status.FAIL)
    code, _, errors = judged((PASSED, FAILED, OTHER, worse))
    assert code == 1
    assert errors == (
        "not explained: made-up/soft: fail, read as google-gemma-4-31b-it\n"
        "    expected_match (one): content: expected None, got 'x'\n"
        "    text    'x'\n"
    )
    better = outcome("soft", Status.PASS)
    code, _, errors = judged((PASSED, FAILED, OTHER, better))
    assert (code, errors) == (1, "explained.yaml: made-up/soft: it passes; take it out\n")


def test_chosen_cases_are_shown(
    judged: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    code, told, errors = judged((PASSED, FAILED), "made-up")
    assert (code, errors) == (0, ""), "explanations of others aren't asked for"
    assert told.startswith("made-up/failed: fail, read as google-gemma-4-31b-it\n    expected")
    assert not (tmp_path / "page.md").exists()


def test_json(judged: Callable[..., tuple[int, str, str]]) -> None:
    code, told, _ = judged(ALL, "--json")
    cases = json.loads(told)["cases"]
    assert code == 0
    assert [case["status"] for case in cases] == [o.status.value for o in ALL]
    assert cases[3]["explanation"] == "It is a riddle."


def test_what_cannot_be_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "prepared", lambda folder: Problem("no index"))
    assert (command.main([]), *capsys.readouterr()) == (1, "", "error: no index\n")

    def failing(python: Path, cases: Sequence[str]) -> Run:
        raise Failed(2)

    monkeypatch.setattr(command, "prepared", lambda folder: Path("python"))
    monkeypatch.setattr(command, "replayed", failing)
    assert command.main(["nothing"]) == 2


def test_the_target_is_listed() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(r"^conformance:.*## .*docs/CONFORMANCE\.md", makefile, re.MULTILINE)
    assert "`make conformance`" in (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
