"""Verification results, the index table and atomic writing."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.integrations.records import write_integrations
from tests.specs_for_tests import (
    ALL_SPECS,
    json_native_spec,
    plain_spec,
    tagged_spec,
    write_results,
)
from turnspec.spec.atomic import write_atomically
from turnspec.spec.engine_results import EngineResult, read_engines
from turnspec.spec.files import spec_hash
from turnspec.spec.integration_results import (
    ExportState,
    IntegrationResult,
    TargetRecord,
    read_integrations,
)
from turnspec.spec.model import Limit, Spec
from turnspec.spec.overlay import Overlay, read_overlay
from turnspec.spec.problems import Problem
from turnspec.spec.results import (
    Counterexample,
    Coverage,
    RungResult,
    TemplateResult,
    dump_results,
    load_results,
    read_results,
)
from turnspec.spec.table import index_table
from turnspec.spec.words import Condition, Part, Subject, Verdict

ALL_PARTS = (Part.REASONING, Part.CONTENT, Part.CALLS)


def result(spec: Spec, coverage: Coverage | None = None, **rungs: RungResult) -> TemplateResult:
    """Return the result of a spec; rungs are named r0, r1, r1b and r2."""
    named = {name.removeprefix("r"): rung for name, rung in rungs.items()}
    return TemplateResult(spec_hash(spec), "0.1.0", spec.turn.order, named, coverage)


RESULTS = {
    "tagged": result(
        tagged_spec(),
        Coverage(9, 7, 2, ("line 1, a: never rendered",), ("a text is lost",)),
        r0=RungResult(12, 0),
        r1=RungResult(48, 2, Counterexample("a `b` | c\nd", "", "x"), "only *newlines*"),
        r1b=RungResult(50, 0),
        r2=RungResult(0, 0, note="no sample"),
    ),
    "json-native": result(json_native_spec(), r0=RungResult(12, 0), r1=RungResult(50, 0)),
}


def test_results_come_back(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    path = tmp_path / "verification.json"
    assert write_results(path, RESULTS) is True
    assert write_results(path, dict(reversed(RESULTS.items()))) is False
    assert read_results(path) == RESULTS
    assert path.read_text(encoding="utf-8") == snapshot


def test_results_that_are_not_there_yet(tmp_path: Path) -> None:
    assert read_results(tmp_path / "verification.json") == {}


def test_any_example_can_be_written(tmp_path: Path) -> None:
    example = Counterexample("\ud800\0\u2028")
    odd = {"a": TemplateResult("x", "1", (), {"1": RungResult(0, 1, example)})}
    write_results(tmp_path / "v.json", odd)
    assert read_results(tmp_path / "v.json") == odd


def test_a_rung_counts_its_total() -> None:
    assert RungResult(3, 2).total == 5


GOOD = {"spec_hash": "x", "generator": "1", "parts": [], "rungs": {}}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ([], "v.json: must be an object"),
        ({"a": 1}, "v.json: a: must be an object"),
        ({"a": {**GOOD, "spec_hash": None}}, "v.json: a.spec_hash: must be a string"),
        ({"a": {**GOOD, "generator": 1}}, "v.json: a.generator: must be a string"),
        (
            {"a": {**GOOD, "parts": ["end"]}},
            "v.json: a.parts: must be a list of reasoning, content, calls",
        ),
        ({"a": {**GOOD, "rungs": []}}, "v.json: a.rungs: must be an object"),
        ({"a": {**GOOD, "rungs": {"1b": 3}}}, "v.json: a.rungs.1b: must be an object"),
        (
            {"a": {**GOOD, "rungs": {"0": {"passed": True, "failed": 0}}}},
            "v.json: a.rungs.0.passed: must be a count",
        ),
        (
            {"a": {**GOOD, "rungs": {"0": {"passed": 1, "failed": -1}}}},
            "v.json: a.rungs.0.failed: must be a count",
        ),
        (
            {"a": {**GOOD, "rungs": {"0": {"passed": 1, "failed": 0, "note": 1}}}},
            "v.json: a.rungs.0.note: must be a string",
        ),
        ({"a": {**GOOD, "coverage": 1}}, "v.json: a.coverage: must be an object"),
        (
            {"a": {**GOOD, "coverage": {"branches": "1"}}},
            "v.json: a.coverage.branches: must be a count",
        ),
        ({"a": {**GOOD, "coverage": {"told": ""}}}, "v.json: a.coverage.told: must be a list"),
        (
            {"a": {**GOOD, "coverage": {"told": [1]}}},
            "v.json: a.coverage.told[0]: must be a string",
        ),
    ],
)
def test_bad_results(data: object, expected: str) -> None:
    assert str(load_results(json.dumps(data), "v.json")) == expected


def test_broken_results(tmp_path: Path) -> None:
    text = dump_results(RESULTS)
    assert str(load_results(text[:40], "v.json")).startswith("v.json:3: not JSON: ")
    assert str(load_results("[" * 100_000, "v.json")) == "v.json: not JSON that can be read"
    assert str(load_results("9" * 5_000, "v.json")) == "v.json: not JSON that can be read"
    for end in range(len(text) - 2):
        assert isinstance(load_results(text[:end], "v.json"), Problem)
    path = tmp_path / "v.json"
    path.write_bytes(b"\xff")
    assert str(read_results(path)) == f"{path}: not UTF-8"
    assert str(read_results(tmp_path)) == f"{tmp_path}: this is a folder, where a file is wanted"


OVERLAY = """\
template: plain.jinja
sha256: "0000000000000000000000000000000000000000000000000000000000000000"
keys:
  - key: reasoning.start
    value: "<aside>"
    reason: "No message shows it."
    source: "the template's own text"
    quote: |-
      between <aside> and
      </aside>
  - key: alternatives.stop
    value: ["<halt>"]
    reason: "The model stops there, too."
    source: "its maker's manual, https://example.org/manual"
"""


def test_index_table(snapshot: SnapshotAssertion) -> None:
    specs = [make() for make in ALL_SPECS]
    overlay = read_overlay(OVERLAY, "plain.yaml")
    assert isinstance(overlay, Overlay)
    assert index_table(specs, RESULTS, [overlay]) == snapshot


def test_index_table_shows_families_and_what_is_the_same_together() -> None:
    plain = plain_spec()
    specs = [replace(plain, name=name) for name in ("c", "b", "a")] + [json_native_spec()]
    families = {"c": "One_two", "a": "One_two", json_native_spec().name: "One_two"}
    rows = index_table(specs, {}, families=families).splitlines()
    shown = [row.split(" | ")[:3:2] for row in rows if row.startswith(("| [", "| **"))]
    assert shown == [
        ["| [b](b.yaml)", "NONE"],
        [r"| **One_two**", ""],
        ["| [a](a.yaml)", "NONE"],
        ["| [c](c.yaml)", "as above"],
        ["| [json-native](json-native.yaml)", "TAG_BASED"],
    ]


def test_index_table_ignores_results_for_another_spec() -> None:
    spec = plain_spec()
    stale = {"plain": TemplateResult("0" * 64, "0.1.0", ALL_PARTS, {"0": RungResult(0, 9)})}
    assert index_table([spec], stale) == index_table([spec], {})
    assert "rung 0: 0 of 0" in index_table([spec], stale)


def test_index_table_escapes_what_would_break_a_row() -> None:
    spec = plain_spec()
    spec = replace(spec, template=replace(spec.template, file="a|`b``c.jinja"))
    rows = [line for line in index_table([spec], {}).splitlines() if line.startswith("| [")]
    assert len(rows) == 1
    assert r"| ```a\|`b``c.jinja``` |" in rows[0]


@pytest.mark.parametrize(
    ("characters", "shown"),
    [
        ("\x85", "U+0085"),
        ("\u2028\x85\u2029", "U+0085, U+2028, U+2029"),
        ("\x0b\x0c\r\x1c\x1d\x85", "U+000B to U+000D, U+001C, U+001D, U+0085"),
        ("|*\n\U0001f389", "U+000A, U+002A, U+007C, U+1F389"),
    ],
)
def test_index_table_shows_characters_by_their_code_points(characters: str, shown: str) -> None:
    limits = (
        Limit(Subject.CONTENT, Verdict.TRIMS, Condition.ALWAYS, ""),
        Limit(Subject.ARGUMENT_STRING, Verdict.AMBIGUOUS, Condition.ALWAYS, "", characters),
        Limit(Subject.ARGUMENT_NULL, Verdict.AMBIGUOUS, Condition.ALWAYS, ""),
    )
    text = index_table([replace(plain_spec(), limits=limits)], {})
    assert f"| trims content; ambiguous string ({shown}), null |" in text


def test_index_table_names_what_did_not_pass_and_only_then() -> None:
    spec = plain_spec()

    def table(rung: RungResult) -> str:
        result = TemplateResult(spec_hash(spec), "0.1.0", ALL_PARTS, {"1": rung})
        return index_table([spec], {"plain": result})

    assert "Not passed" not in table(RungResult(50, 0))
    assert table(RungResult(50, 0)).endswith(" | - | 50" + " | -" * 9 + " | 0 |\n")
    assert table(RungResult(49, 1, Counterexample("why"))).endswith(
        "\n## Not passed\n\n- [plain](plain.yaml), rung 1: 1 of 50 failed\n  - written: `why`\n"
    )


def test_index_table_of_nothing() -> None:
    text = index_table([], {})
    assert "0 templates, 0 verified; rendered: 0 reasoning, 0 content, 0 calls.\n" in text


def test_writing_leaves_an_equal_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "a.txt"
    assert write_atomically(path, "é\r\n") is True
    assert path.read_bytes() == "é\r\n".encode()
    before = path.stat()
    assert write_atomically(path, "é\r\n") is False
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
    assert write_atomically(path, "b") is True
    assert path.read_text(encoding="utf-8") == "b"


def _disk_full(self: Path, data: bytes) -> int:
    with self.open("wb") as file:
        file.write(data[:3])
    raise OSError(28, "No space left on device")


def _not_allowed(self: Path, target: Path) -> Path:
    raise PermissionError(13, "Permission denied", str(target))


@pytest.mark.parametrize(
    ("method", "failure"), [("write_bytes", _disk_full), ("replace", _not_allowed)]
)
def test_a_failed_write_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, failure: Callable[..., object]
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old", encoding="utf-8")
    monkeypatch.setattr(Path, method, failure)
    with pytest.raises(OSError, match=r"No space left|Permission denied"):
        write_atomically(path, "something new")
    monkeypatch.undo()
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]
    assert path.read_text(encoding="utf-8") == "old"


def test_text_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(UnicodeEncodeError):
        write_atomically(tmp_path / "a.txt", "\ud800")
    assert list(tmp_path.iterdir()) == []


def test_index_table_shows_what_engines_said() -> None:
    spec = plain_spec()

    def cells(**changes: int | str) -> list[str]:
        figures: dict[str, Any] = {"strings": 9, "agreed": 9, "turns": 5, "valid": 5}
        result = EngineResult(**({"spec_hash": spec_hash(spec)} | figures | changes))
        row = index_table([spec], {}, engines={"plain": result}).splitlines()[-1]
        return row.split(" | ")[-5:-3]

    assert cells() == ["9", "5"]
    assert cells(agreed=8, valid=3) == ["8/9", "3/5"]
    assert cells(spec_hash="another") == ["-", "-"]


def test_engine_results_are_read(tmp_path: Path) -> None:
    path = tmp_path / "engines.json"
    assert read_engines(path) == {}
    figures = {"spec_hash": "1", "strings": 9, "agreed": 9, "accepted": 4, "turns": 5, "valid": 5}
    path.write_text(json.dumps({"engines": {}, "formats": {"plain": figures}}), encoding="utf-8")
    assert read_engines(path) == {"plain": EngineResult("1", 9, 9, 5, 5)}
    path.write_text('{"formats": {"plain": {"spec_hash": "1", "strings": -1}}}', encoding="utf-8")
    assert str(read_engines(path)) == f"{path}: formats.plain.strings: must be a count"


def test_integrations_are_written_and_read(tmp_path: Path) -> None:
    path = tmp_path / "integrations.json"
    assert read_integrations(path) == {}
    good = IntegrationResult(
        "1", ExportState.LOOSENED, 9, 8, losses=("null: it is text",), example="wrote …"
    )
    refused = IntegrationResult("2", ExportState.REFUSED, losses=("calls: none",))
    records = {"xgrammar": TargetRecord({"xgrammar": "0.2.8"}, {"a": good, "b": refused})}
    assert write_integrations(path, records)
    assert read_integrations(path) == records
    path.write_text(path.read_text(encoding="utf-8").replace("loosened", "lost"), encoding="utf-8")
    wanted = "xgrammar.formats.a.state: must be one of exported, loosened, refused"
    assert str(read_integrations(path)) == f"{path}: {wanted}"


def test_the_table_counts_targets_whose_program_reads_all() -> None:
    spec = plain_spec()
    digest = spec_hash(spec)
    results = {
        "read": IntegrationResult(digest, ExportState.EXPORTED, 5, 5),
        "failing": IntegrationResult(digest, ExportState.EXPORTED, 5, 4),
        "refused": IntegrationResult(digest, ExportState.REFUSED),
        "stale": IntegrationResult("another", ExportState.EXPORTED, 5, 5),
    }
    records = {target: TargetRecord({}, {"plain": found}) for target, found in results.items()}
    text = index_table([spec], {}, integrations=records)
    row = next(line for line in text.splitlines() if line.startswith("| [plain]"))
    assert row.split(" | ")[-2:] == ["1/3", "0 |"]
