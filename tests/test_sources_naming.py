"""Names of templates, specs and modules."""

from __future__ import annotations

import pytest

from turnspec.spec.naming import module_name, naming_faults, template_name
from turnspec.spec.problems import Problem


@pytest.mark.parametrize(
    ("file", "name", "module"),
    [
        ("Qwen3-Coder.jinja", "qwen3-coder", "qwen3_coder"),
        ("Model-3.1_8B.jinja", "model-3-1-8b", "model_3_1_8b"),
        ("a--b__c.jinja", "a-b-c", "a_b_c"),
        ("-edge-.jinja", "edge", "edge"),
        ("4x Mini.jinja", "4x-mini", "_4x_mini"),
        ("fetched/Deep.jinja", "deep", "deep"),
        ("model.v2.jinja", "model-v2", "model_v2"),
        ("Größe.jinja", "gr-e", "gr_e"),
        ("模型.jinja", "", ""),
        ("json.jinja", "json", "json_"),
        ("Class.jinja", "class", "class_"),
        ("dataclasses.jinja", "dataclasses", "dataclasses_"),
    ],
)
def test_names_follow_from_the_file(file: str, name: str, module: str) -> None:
    assert template_name(file) == name
    assert module_name(file) == module


def test_a_name_is_its_own_name() -> None:
    assert template_name("qwen3-coder") == "qwen3-coder"
    assert module_name("4x-mini") == "_4x_mini"


def test_two_files_with_one_name_are_named_both() -> None:
    assert naming_faults(["A-b.jinja", "c.jinja", "a_B.jinja", "模型.jinja"]) == {
        2: "a_B.jinja and A-b.jinja have the same name: a-b",
        3: "模型.jinja: the file's name holds no letter and no digit",
    }


@pytest.mark.parametrize("file", ["con.jinja", "AUX.jinja", "lpt1.v2.jinja", "-nul-.jinja"])
def test_what_windows_keeps_for_devices_is_no_name(file: str) -> None:
    told = f"{file}: Windows keeps this name for a device; choose another"
    assert naming_faults([file, "console.jinja", "com10.jinja", "my-con.jinja"]) == {0: told}


@pytest.mark.parametrize(
    ("problem", "text"),
    [
        (Problem("is wrong"), "is wrong"),
        (Problem("is wrong", "a.yaml"), "a.yaml: is wrong"),
        (Problem("is wrong", "a.yaml", 3), "a.yaml:3: is wrong"),
        (Problem("is wrong", "a.yaml", 3, "turn.stop"), "a.yaml:3: turn.stop: is wrong"),
        (Problem("is wrong", line=3), "is wrong"),
    ],
)
def test_a_problem_shows_what_is_known_of_its_place(problem: Problem, text: str) -> None:
    assert str(problem) == text
