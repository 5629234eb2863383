"""Every field of a spec and of an index changed in turn: a problem is told, or it works."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from tests.generated_formats import EVERY_FORMAT, ROOT
from tests.mutants import VALUES, mutant, places, use_spec
from turnspec.sources.index import parse_index
from turnspec.spec.files import load_checked_spec
from turnspec.spec.model import Spec
from turnspec.spec.yaml_document import YamlPath, read_document

#: Between them they have every part of a spec; each is changed in so many ways.
SPECS = ("minimax-m3", "meta-llama-llama-3-3-70b-instruct", "kimi-k3", "google-gemma-4-31b-it")
MUTANTS = 700 if EVERY_FORMAT else 60


def document(path: str) -> Any:
    read, problems = read_document((ROOT / path).read_text(encoding="utf-8"), path)
    assert read is not None
    assert not problems
    return read.data


def mutants(data: Any) -> Iterator[tuple[YamlPath, Any]]:
    for path in places(data):
        for value in VALUES:
            yield path, value


@pytest.mark.parametrize("name", SPECS)
def test_a_changed_spec_is_refused_or_works(name: str) -> None:
    data = document(f"specs/{name}.yaml")
    chosen = Random(name).sample(list(mutants(data)), MUTANTS)
    works = 0
    for path, value in chosen:
        found = load_checked_spec(mutant(data, path, value), "x.yaml")
        if isinstance(found, Spec):
            works += 1
            use_spec(found)
        else:
            assert all(problem.message and "\n" not in str(problem) for problem in found)
    assert MUTANTS // 35 < works < MUTANTS - MUTANTS // 35


INDEX: Any = {
    "origins": [
        {
            "id": "pack-1.0",
            "kind": "pypi-sdist",
            "project": "pack",
            "version": "1.0",
            "file": "pack-1.0.tar.gz",
            "sha256": "0" * 64,
            "size": 7,
        }
    ],
    "templates": [
        {"file": "one.jinja", "origin": "pack-1.0", "path": "a/one.jinja", "sha256": "1" * 64},
        {
            "file": "three.jinja",
            "origin": "pack-1.0",
            "path": "a/three.json",
            "pointer": "/0/text",
            "sha256": "3" * 64,
        },
        {
            "file": "four.jinja",
            "origin": "pack-1.0",
            "path": "a/four.py",
            "constant": "FOUR",
            "sha256": "4" * 64,
        },
        {
            "file": "two.jinja",
            "origin": "local",
            "sha256": "2" * 64,
            "aliases": ["zwei"],
            "bos_token": "<s>",
            "source": "two.gguf",
            "accepted": [{"rung": "1", "reason": "it drops names"}],
        },
    ],
    "regenerate": "make regen",
}


def test_every_change_of_an_index_is_told_or_works() -> None:
    works = 0
    for path, value in mutants(INDEX):
        index, problems = parse_index(mutant(INDEX, path, value))
        works += not problems
        assert all(problem.message for problem in problems)
        for entry in index.entries:
            assert entry.name
            assert isinstance(entry.accepted_failures, dict)
        assert all(origin.size > 0 for origin in index.origins.values())
    assert works > 20


ELEMENTS = ("tools", "arguments", "elements")
QUOTE = ("tools", "arguments", "syntax", "quote")


@pytest.mark.parametrize(
    ("name", "path", "value", "message"),
    [
        *(
            ("minimax-m3", (*ELEMENTS, "member", 0, "text"), blank, "no text stands at its")
            for blank in (" ", "\n")
        ),
        *(
            ("minimax-m3", ("turn", "stop", 0), blank, "a stop string can't be made of blanks")
            for blank in (" ", "\n")
        ),
        *(
            ("google-gemma-4-31b-it", QUOTE, quote, "can't be told from what stands around")
            for quote in ("", " ", "{", "1", "a", ",")
        ),
    ],
)
def test_what_once_raised_or_never_ended(
    name: str, path: YamlPath, value: str, message: str
) -> None:
    found = load_checked_spec(mutant(document(f"specs/{name}.yaml"), path, value), "x.yaml")
    assert isinstance(found, list)
    assert any(problem.message.startswith(message) for problem in found), found


ESCAPES = ("tools", "arguments", "escapes")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ((*ESCAPES, '"'), "", "tools.arguments.escapes.\": '' is too short: 1 at least"),
        (ESCAPES, {"ab": "x"}, "tools.arguments.escapes: 'ab' is too long: 1 at most"),
        (ESCAPES, {"": "x"}, "tools.arguments.escapes: '' is too short: 1 at least"),
    ],
)
def test_what_is_too_short_or_too_long(path: YamlPath, value: Any, message: str) -> None:
    found = load_checked_spec(mutant(document("specs/kimi-k3.yaml"), path, value), "x.yaml")
    assert isinstance(found, list)
    assert [str(problem).partition(": ")[2] for problem in found] == [message]


def test_a_name_with_a_line_end_is_told_in_one_line() -> None:
    data = document("specs/minimax-m3.yaml")
    found = load_checked_spec(mutant(data, ("capabilities",), {"a\nb\x1b": 1}), "x\r.yaml")
    assert isinstance(found, list)
    assert all(str(problem).isprintable() for problem in found)
    assert any(r"capabilities.a\nb\x1B: " in str(problem) for problem in found), found


def test_an_origin_without_a_proper_name() -> None:
    values: list[Any] = [None, [], {"x": 1}]
    for value in values:
        _, problems = parse_index(mutant(INDEX, ("origins", 0, "id"), value))
        assert problems
