"""A fingerprint is of the format alone; what has one fingerprint has one parser and one grammar."""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Callable
from dataclasses import fields, replace
from itertools import combinations
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.generated_formats import FORMATS, NAMES
from tests.specs_for_tests import ALL_SPECS, json_native_spec, plain_spec
from turnspec.codegen.banner import named_spec
from turnspec.pipeline.project import OutputPaths
from turnspec.spec.files import read_spec
from turnspec.spec.fingerprint import fingerprint, same_formats
from turnspec.spec.model import Spec, TemplateIdentity, ThinkingState, Token, Tokenizer
from turnspec.spec.words import PrefixStep, TokenSource

_FACTS = re.compile(r"^FORMAT = (\{.*?\})$", re.MULTILINE | re.DOTALL)


def committed() -> list[Spec]:
    found = [read_spec(path) for path in sorted((ROOT / "specs").glob("*.yaml"))]
    return [spec for spec in found if isinstance(spec, Spec)]


@pytest.mark.parametrize("make", ALL_SPECS)
def test_names_and_origin_do_not_count(make: Callable[[], Spec]) -> None:
    spec = make()
    other = replace(
        spec,
        name="other",
        template=TemplateIdentity("Other.jinja", "0" * 64, "somewhere"),
        tokens={n: Token(t.text, TokenSource.ASSUMED) for n, t in spec.tokens.items()},
        capabilities=replace(
            spec.capabilities,
            tools=not spec.capabilities.tools,
            prefix_broken_by=PrefixStep.USER,
        ),
        overlay=("tools",),
        tokenizer=Tokenizer("tokenizer_config.json", ("<s>",), ("</s>",)),
    )
    assert fingerprint(other) == fingerprint(spec)


def test_what_is_written_counts() -> None:
    spec = json_native_spec()
    changed = [
        replace(spec, turn=replace(spec.turn, header="<other>")),
        replace(spec, tokens={"eos_token": Token("<other>", TokenSource.GIVEN)}),
        replace(spec, thinking=replace(spec.thinking, default=ThinkingState("<other>"))),
        replace(spec, content=replace(spec.content, start="<other>")),
        replace(spec, tools=None),
        replace(spec, limits=()) if spec.limits else plain_spec(),
    ]
    assert len({fingerprint(found) for found in [spec, *changed]}) == len(changed) + 1
    assert len(fields(Spec)) == 14, "does the new field belong to the fingerprint?"


def test_the_distinct_formats_of_the_reference_set() -> None:
    specs = committed()
    assert len({fingerprint(spec) for spec in specs}) == len(FORMATS)
    assert ("ibm-granite-granite-4-0", "ibm-granite-granite-4-1") in same_formats(specs)


def test_one_fingerprint_is_one_parser_and_one_grammar() -> None:
    """But for what a tokenizer's list adds, which stands beside the template."""
    tokenizers = {spec.name: spec.tokenizer for spec in committed()}
    pairs = [pair for group in same_formats(committed()) for pair in combinations(group, 2)]
    compared = [pair for pair in pairs if len({repr(tokenizers[name]) for name in pair}) == 1]
    for first, second in compared:
        assert generated(first) == generated(second)


def generated(name: str) -> list[list[str]]:
    """Return the lines of a format's files, but for what names it.

    Its facts are one line: how they are broken depends on how long the name is.
    """
    paths = OutputPaths.in_project(name)
    texts = [(ROOT / path).read_text(encoding="utf-8") for path in (paths.module, paths.grammar)]
    assert all(named_spec(text)[0] == name for text in texts)
    texts = [
        _FACTS.sub(lambda found: repr({**literal_eval(found[1]), "name": ""}), text)
        for text in texts
    ]
    return [
        [line for line in text.splitlines() if not line.startswith("# ") and name not in line]
        for text in texts
    ]


def test_the_table_tells_of_them() -> None:
    table = Path(ROOT / "specs" / "README.md").read_text(encoding="utf-8")
    assert f"{len(FORMATS)} distinct formats among {len(NAMES)} templates.\n" in table
    for group in same_formats(committed()):
        assert f"- {', '.join(f'[{name}]({name}.yaml)' for name in group)}\n" in table
