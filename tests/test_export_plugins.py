"""Exported plugins as text: the facts of a format, and what is the same for all, verbatim."""

from __future__ import annotations

import ast
from importlib import resources

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.exported_plugins import exported
from tests.generated_formats import KINDS, committed_format
from turnspec.codegen.banner import is_unedited
from turnspec.export import plugins
from turnspec.export.plugin import plugin_name
from turnspec.spec.files import load_spec
from turnspec.spec.naming import module_name

COMMON = "# What follows is the same for every format.\n"
TARGETS = ("llama-cpp-python", "sglang", "vllm")
#: A further file, and what makes a folder an installed package, where programs want these.
OTHERS = {
    "sglang": lambda module: [
        f"{module}_sglang_server.py",
        *(f"turnspec_{module}-0.dist-info/{file}" for file in ("METADATA", "entry_points.txt")),
    ]
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["qwen-qwen3-0-6b", "meta-llama-llama-3-1-8b-instruct"])
def test_the_facts_of_a_format(name: str, target: str, snapshot: SnapshotAssertion) -> None:
    spec = committed_format(name).spec
    text = exported(name, target)[plugin_name(spec, target)]
    facts = text.partition(COMMON)[0]
    lines = (line for line in facts.splitlines() if " hash: " not in line)
    assert "\n".join(lines) == snapshot


@pytest.mark.parametrize("target", TARGETS)
def test_what_follows_is_verbatim(target: str) -> None:
    source = resources.files(plugins).joinpath(f"{module_name(target)}.py").read_text("utf-8")
    for name in KINDS[::3]:
        spec, files = committed_format(name).spec, exported(name, target)
        text = files[plugin_name(spec, target)]
        ast.parse(text)
        assert is_unedited(text)
        assert text.endswith(source.partition(COMMON)[2])
        parts = [f"{module_name(name)}.py", f"{name}.yaml", plugin_name(spec, target)]
        assert [*files][:3] == parts
        assert [*files][3:] == OTHERS.get(target, lambda _: [])(module_name(name))
        assert load_spec(files[f"{name}.yaml"], "") == spec
