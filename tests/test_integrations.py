"""What `make integrations` is made of: its page, its pins, and how formats are shared out.

The programs themselves are run by that target alone.
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.generated_formats import NAMES, committed_spec
from tests.integrations import environments
from tests.integrations.page import exports_page
from tests.integrations.records import (
    formats_without,
    joined,
    joined_servers,
    servers_without,
)
from tests.integrations.response_template_suite import Asked, Reading, reading_of
from tests.integrations.served_turns import read_on_all_cores
from tests.integrations.turns import Case
from turnspec.export.exporting import Loss
from turnspec.export.response_arguments import SENTINELS
from turnspec.spec.files import spec_hash
from turnspec.spec.fingerprint import fingerprint
from turnspec.spec.integration_results import (
    ExportState,
    IntegrationResult,
    TargetRecord,
)
from turnspec.spec.server_results import ServerRecord, ServerResult
from turnspec.verification.comparing import Said

WHOLE = IntegrationResult("", ExportState.EXPORTED, 8, 8)
LOOSE = IntegrationResult("", ExportState.LOOSENED, 8, 8, loosely=2, losses=("null: stays text",))
FAILING = IntegrationResult("", ExportState.EXPORTED, 8, 5, example="got '|'")
REFUSED = IntegrationResult("", ExportState.REFUSED, losses=("tools: there are none",))
REFLECT = """
import json, os, sys
asked = json.load(sys.stdin)
print(json.dumps([f"{asked['beside']} {form} {os.environ['WORD']}" for form in asked["formats"]]))
"""


def page_of(**targets: dict[str, IntegrationResult]) -> str:
    records = {name: TargetRecord({"program": "1.0"}, found) for name, found in targets.items()}
    return exports_page(records)


def test_new_results_stand_beside_those_of_the_same_spec_and_packages() -> None:
    first, second, *_ = NAMES
    mine = replace(WHOLE, spec_hash=spec_hash(committed_spec(first)))
    known = TargetRecord({"program": "1.0"}, {first: mine, second: WHOLE, "gone": WHOLE})
    assert formats_without(known) == [name for name in NAMES if name != first]
    new = TargetRecord({"program": "1.0"}, {second: FAILING})
    assert joined(known, new).formats == {first: mine, second: FAILING}
    assert joined(TargetRecord(), new) == new
    with pytest.raises(SystemExit, match="run all formats, without NEW"):
        joined(known, replace(new, packages={"program": "1.1"}))


def test_a_servers_new_results_stand_beside_those_of_formats_that_are() -> None:
    first, second, *_ = NAMES
    mine = ServerResult(fingerprint(committed_spec(first)), 8, 8, 8)
    known = ServerRecord(
        "server", "1.0", 3, {"renamed": mine, "gone": replace(mine, fingerprint="")}
    )
    assert servers_without(known, [first, second]) == [second]
    assert servers_without(None, [first, second]) == [first, second]
    new = replace(known, formats={second: replace(mine, turns=9)})
    assert joined_servers(known, new).formats == {"renamed": mine, **new.formats}
    assert joined_servers(None, new) == new
    with pytest.raises(SystemExit, match="run all formats, without NEW"):
        joined_servers(known, replace(new, version="1.1"))


def test_formats_that_fare_the_same_share_a_row() -> None:
    page = page_of(
        one={"a": WHOLE, "b": LOOSE, "c": WHOLE, "d": FAILING},
        two={"a": WHOLE, "b": REFUSED, "c": WHOLE},
    )
    rows = [line for line in page.splitlines() if line.startswith("|")]
    assert rows == [
        "|  | one | two | formats |",
        "| --- | --- | --- | --- |",
        "| 2 | exported | exported | a, c |",
        "| 1 | loosened | refused | b |",
        "| 1 | exported, 3 of 8 fail | - | d |",
    ]


def test_the_page_tells_what_is_lost_and_what_fails() -> None:
    page = page_of(one={"a": WHOLE, "b": LOOSE, "c": FAILING, "d": REFUSED})
    told = page.partition("## one\n\n")[2].splitlines()
    assert told == [
        "With program 1.0: 2 exported, 1 loosened, 1 refused. Of 24 turns 21 came back.",
        "In 2 of these something came back as the losses say.",
        "",
        "Loosened:",
        "",
        "- null: stays text (b)",
        "",
        "Refused:",
        "",
        "- tools: there are none (d)",
        "",
        "Not read:",
        "",
        "- c: 3 of 8, the shortest: ``` got '|' ```",
    ]


@pytest.mark.parametrize("count", [1, 5])
def test_formats_come_back_in_order_from_several_processes(count: int) -> None:
    question = {"beside": "x", "formats": NAMES[:count]}
    told = read_on_all_cores([sys.executable, "-c", REFLECT], question, {"WORD": "y"})
    assert told == [f"x {name} y" for name in NAMES[:count]]


def test_a_process_that_fails_fails_all() -> None:
    with pytest.raises(subprocess.CalledProcessError):
        read_on_all_cores([sys.executable, "-c", "1/0"], {"formats": [1, 2]}, {})


def test_every_package_of_every_environment_is_pinned() -> None:
    wanted = {
        "llama-cpp-server",
        "renderers",
        "sglang",
        "transcripts",
        "transformers",
        "vllm",
        "xgrammar",
    }
    assert {path.stem for path in environments.PINS.iterdir()} == wanted
    for path in environments.PINS.iterdir():
        lines = path.read_text(encoding="utf-8").splitlines()
        odd = [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.]+", line)]
        assert not odd, path


def test_an_environment_is_made_anew_when_its_pins_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[list[str]] = []

    def run(command: list[str | Path], **_: object) -> subprocess.CompletedProcess[str]:
        ran.append([*map(str, command)])
        (tmp_path / "made" / "one").mkdir(parents=True, exist_ok=True)
        return subprocess.CompletedProcess(command, 0, "torch==2.0+cpu\n", "")

    monkeypatch.setattr(environments, "FOLDER", tmp_path / "made")
    monkeypatch.setattr(environments, "PINS", tmp_path)
    monkeypatch.setattr(subprocess, "run", run)
    pins, commands = tmp_path / "one.txt", []
    for renewed in (None, "torch==2.1\n"):
        if renewed:
            pins.write_text(renewed, encoding="utf-8")
        for _ in range(2):
            ran.clear()
            environments.environment("one", [["torch"]])
            commands.append([command[-1] for command in ran])
        pinned = pins.read_text(encoding="utf-8")
        assert pinned == (renewed or "torch==2.0\n")
    made = str(tmp_path / "made" / "one")
    assert commands == [[made, "torch", "freeze"], [], [made, "torch"], []]


@pytest.mark.parametrize(
    ("text", "losses", "reading"),
    [
        ("a \x01", (Loss(SENTINELS, "raises"),), Reading.LOOSE),
        ("a", (Loss(SENTINELS, "raises"),), Reading.WRONG),
        ("a \x01", (), Reading.WRONG),
    ],
)
def test_what_raises_is_wrong_unless_the_losses_say_so(
    text: str, losses: tuple[Loss, ...], reading: Reading
) -> None:
    case = Case("1b", "", text, [], True, Said("", "", ()))
    asked = Asked(committed_spec("qwen3-coder"), {}, losses, [case])
    assert reading_of(asked, case, "ValueError: json: reserved") is reading
