"""`turnspec flags`, and what `make integrations` tries servers' own parsers with."""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.generated_formats import ROOT
from tests.integrations import choosing
from tests.integrations.choosing import Names, choose
from tests.integrations.matrix_page import matrix_page
from tests.integrations.records import write_servers
from tests.specs_for_tests import json_native_spec, plain_spec
from tests.test_cli import run
from tests.test_vendor import checkout, root  # noqa: F401  (fixtures)
from turnspec.pipeline.project import SERVERS
from turnspec.spec.fingerprint import fingerprint
from turnspec.spec.problems import Problem
from turnspec.spec.server_results import (
    ServerRecord,
    ServerResult,
    read_servers,
)

READS = ServerResult(fingerprint(json_native_spec()), 4, 4, 4, (("a", "b"), ("c", "")))
FALLS_SHORT = replace(READS, whole=3, pieces=2, parsers=(("a", ""),), example=("turn", "raises"))
NOTHING = replace(READS, whole=0, pieces=0, parsers=(), example=("turn", "raises"))


def record(result: ServerResult) -> ServerRecord:
    return ServerRecord("package", "1.0", 9, {"json-native": result})


def test_results_are_read_as_they_were_written(tmp_path: Path) -> None:
    records = {"one": record(READS), "two": record(NOTHING)}
    write_servers(tmp_path / "servers.json", records)
    assert read_servers(tmp_path / "servers.json") == records


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"one": {"package": 1}}', "one.package: must be a string"),
        ('{"one": {"package": "", "version": "", "parsers": -1}}', "one.parsers: must be a count"),
    ],
)
def test_what_cannot_be_read_is_told(text: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "servers.json"
    path.write_text(text.replace("1}}", '1, "formats": {}}}'), encoding="utf-8")
    assert told in str(read_servers(path))


def test_a_format_is_found_by_what_it_is() -> None:
    known = record(READS)
    assert known.of("json-native", READS.fingerprint) is READS
    assert known.of("another-name", READS.fingerprint) is READS
    assert known.of("json-native", "of another spec") is READS
    assert known.of("another-name", "of another format") is None


@pytest.fixture
def recorded(root: Path) -> Path:  # noqa: F811
    records = {"vllm": record(READS), "sglang": record(FALLS_SHORT), "llama.cpp": record(NOTHING)}
    write_servers(root / SERVERS, records)
    return root


def test_the_best_parsers_are_told_and_else_the_plugin(recorded: Path) -> None:
    result = run("flags", "json-native", "--root", recorded)
    assert (result.exit_code, result.stderr) == (0, "")
    _, vllm, sglang, llama_cpp = result.stdout.split("\n\n")
    assert vllm.splitlines() == [
        "vllm (package 1.0)",
        "  a + b: 4 of 4 turns come back, whole and in pieces",
        "  as much: c",
        "    vllm serve MODEL --enable-auto-tool-choice --tool-call-parser a --reasoning-parser b",
    ]
    assert sglang.splitlines()[1:5] == [
        "  a: 2 of 4 turns come back, whole and in pieces (3 whole)",
        "    sglang serve --model-path MODEL --tool-call-parser a",
        "  wrong, the shortest: 'turn'",
        "    raises",
    ]
    assert "    turnspec export json-native --to sglang --into ." in sglang.splitlines()
    assert llama_cpp.splitlines()[1] == "  none of its parsers reads any of 4 turns"
    assert (
        "    turnspec export json-native --to llama-cpp-python --into ." in llama_cpp.splitlines()
    )


def test_what_is_told_is_there_as_data(recorded: Path) -> None:
    result = run("flags", "json-native", "--root", recorded, "--json")
    vllm, sglang, llama_cpp = json.loads(result.stdout)["servers"]
    assert vllm["own"]
    assert vllm["parsers"] == [
        {"tools": "a", "reasoning": "b"},
        {"tools": "c", "reasoning": None},
    ]
    assert not sglang["own"]
    assert sglang["fails"] == {"text": "turn", "read": "raises"}
    assert "command" not in llama_cpp


def test_what_was_recorded_of_an_earlier_spec_is_told_as_such(recorded: Path) -> None:
    write_servers(recorded / SERVERS, {"vllm": record(replace(READS, fingerprint="old"))})
    result = run("flags", "json-native", "--root", recorded)
    assert "\n  recorded of an earlier spec of it\n" in result.stdout


def test_nothing_is_said_of_a_format_that_was_not_tried(recorded: Path) -> None:
    result = run("flags", "plain", "--root", recorded)
    assert result.stdout.count("  nothing is recorded of this format") == 3
    assert fingerprint(plain_spec()) != READS.fingerprint


def test_a_new_template_is_analysed_before_it_is_exported(recorded: Path, tmp_path: Path) -> None:
    new = tmp_path / "mine.jinja"
    new.write_text((ROOT / "tests/templates/flat-calls.jinja").read_text("utf-8"), "utf-8")
    told = run("flags", new, "--root", recorded, "--json").stdout
    analyse, export, _ = json.loads(told)["servers"][0]["plugin"]["commands"]
    assert analyse == f"turnspec analyze {new} --into ."
    assert export == "turnspec export mine.yaml --to vllm --into ."


def test_a_plugin_has_the_name_of_the_format_that_a_template_writes(tmp_path: Path) -> None:
    own = tmp_path / "mine.jinja"
    text = (ROOT / "generator/turnspec/chat/named/chatml.jinja").read_text("utf-8")
    own.write_text(text + "{# mine #}", "utf-8")
    told = run("flags", own, "--root", ROOT, "--json").stdout
    export, start = json.loads(told)["servers"][0]["plugin"]["commands"]
    assert export == f"turnspec export {own} --to vllm --into ."
    assert run("export", own, "--root", ROOT, "--to", "vllm", "--into", tmp_path).exit_code == 0
    assert (tmp_path / start.partition("--tool-parser-plugin ")[2].split()[0]).is_file()


def test_the_page_says_what_was_recorded() -> None:
    records = read_servers(ROOT / "specs" / "servers.json")
    assert not isinstance(records, Problem)
    page = (ROOT / "docs" / "MATRIX.md").read_text(encoding="utf-8")
    assert page == matrix_page(records)


def test_a_share_is_whole_or_nothing_only_where_it_is() -> None:
    results = {
        "every": replace(READS, turns=999, pieces=999),
        "most": replace(READS, turns=999, pieces=998),
        "few": replace(READS, turns=999, pieces=1),
        "none": NOTHING,
    }
    page = matrix_page({"one": ServerRecord("package", "1.0", 9, results)})
    rows = dict(line.split(" | ")[:2] for line in page.splitlines() if line.startswith("| "))
    shares = {name.strip("| "): cell.removesuffix(" |") for name, cell in rows.items()}
    assert [shares[name] for name in results] == ["100 % a + b", "99 % a + b", "1 % a + b", "0 %"]


CALL = ["f", {"x": 1}]


def case(text: str, reasoning: str, content: str, *calls: Any) -> dict[str, Any]:
    return {"text": text, "wanted": [reasoning, content, [*calls]], "trims": False}


FORM = {
    "name": "my-model",
    "cases": [case("t", "think", "a"), case("tc", "think", "", CALL), case("c", "", "", CALL)],
}


def read(names: Names, asked: dict[str, Any], size: int) -> Any:
    """Read as parsers do that read, raise, hang, end the process, or lose the last piece."""
    tools, reasoning = names
    if "hangs" in names:
        time.sleep(60)
    if "crashes" in names:
        os._exit(3)
    if "raises" in names:
        raise KeyError("x")
    thought, content, calls = asked["wanted"]
    calls = [[name, json.dumps(found)] for name, found in calls]
    if tools == "whole" and size == 5:
        calls = [["f", '{"x"']] * len(calls)
    return [f" {thought}\n" if reasoning else "", content, calls if tools else []]


def test_the_parsers_that_read_most_are_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choosing, "SECONDS", 1)
    tools = ["raises", "hangs", "crashes", "whole", "reads", "my"]
    found = choose(FORM, tools, ["thinks"], read)
    assert [(f["names"], f["whole"], f["pieces"]) for f in found["pairs"]] == [
        (("my", "thinks"), 3, 3),
        (("reads", "thinks"), 3, 3),
        (("whole", "thinks"), 3, 1),
    ]
    assert found["pairs"][2]["example"] == (
        "c",
        'in pieces of 5: calls [["f", "not JSON: {\\"x\\""]]',
    )
    assert found["parsers"] == 7


def test_what_no_parser_reads_is_told() -> None:
    found = choose(FORM, ["raises"], [], read)
    assert found["pairs"][0]["example"] == ("t", "whole: raises KeyError: 'x'")
