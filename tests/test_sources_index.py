"""The template index: what is read from it, and what is refused with which words."""

from __future__ import annotations

from pathlib import Path

import pytest

from turnspec.sources.index import INDEX_FILE, Entry, Origin, parse_index, read_index

ROOT = Path(__file__).parent.parent
SHA = "0123456789abcdef" * 4

ORIGIN = f"""origins:
  - id: pack
    kind: pypi-sdist
    project: pack
    version: "1.0"
    file: pack-1.0.tar.gz
    sha256: {SHA}
    size: 12
"""
FETCHED = f"""  - file: One.jinja
    origin: pack
    path: templates/One.jinja
    sha256: {SHA}
"""
LOCAL = f"""  - file: Two.jinja
    origin: local
    sha256: {SHA}
    bos_token: <s>
    eos_token: ""
    source: two.gguf
"""


def refused(text: str) -> list[str]:
    """Return the problems of an index, without the file's name in front."""
    return [str(problem).removeprefix(INDEX_FILE) for problem in parse_index(text)[1]]


def test_origins_and_entries_are_read_with_their_lines() -> None:
    index, problems = parse_index(f"{ORIGIN}templates:\n{FETCHED}{LOCAL}")
    assert problems == []
    origin = Origin("pack", "pypi-sdist", "pack", "1.0", "pack-1.0.tar.gz", SHA, 12, line=2)
    assert index.origins == {"pack": origin}
    assert index.entries == (
        Entry("One.jinja", "pack", SHA, "templates/One.jinja", line=10),
        Entry("Two.jinja", "local", SHA, bos_token="<s>", eos_token="", source="two.gguf", line=14),
    )
    assert [entry.name for entry in index.entries] == ["one", "two"]
    assert [entry.location for entry in index.entries] == [
        "templates/fetched/One.jinja",
        "templates/Two.jinja",
    ]


def test_other_names_and_the_command() -> None:
    aliases = f"{FETCHED}    aliases: [first, The First]\n"
    index, problems = parse_index(f"{ORIGIN}regenerate: make it\ntemplates:\n{aliases}")
    assert problems == []
    assert index.entries[0].aliases == ("first", "The First")
    assert index.regenerate == "make it"
    assert parse_index(f"{ORIGIN}templates: []\n")[0].regenerate == "turnspec regen"


def test_the_repositorys_own_index_pins_the_reference_templates() -> None:
    index, problems = read_index(ROOT)
    assert problems == []
    pinned = [entry for entry in index.entries if entry.origin == "llama-cpp-python-0.3.36"]
    assert len(pinned) == 70


def test_a_missing_index_is_one_problem(tmp_path: Path) -> None:
    index, problems = read_index(tmp_path)
    assert index.entries == ()
    assert [str(problem) for problem in problems] == [
        f"{INDEX_FILE}: there is no such file or folder"
    ]


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        pytest.param(
            "origins: [\n",
            [":2: not YAML: did not find expected node content"],
            id="broken YAML",
        ),
        pytest.param("", [": the file is empty"], id="empty"),
        pytest.param(
            "origins: []\n",
            [":1: missing key 'templates'"],
            id="no list",
        ),
        pytest.param(
            f"{ORIGIN}templates:\n{FETCHED}    colour: red\n",
            [
                ":14: templates[0].colour: unknown key 'colour'; allowed: "
                "file, origin, path, repository, commit, pointer, constant, sha256, aliases, "
                "bos_token, eos_token, source, family, packager, accepted, tokenizer"
            ],
            id="unknown key",
        ),
        pytest.param(
            f"{ORIGIN}templates:\n{FETCHED}    origin: pack\n",
            [":14: templates[0].origin: duplicate key 'origin', first in line 11"],
            id="key twice",
        ),
        pytest.param(
            f"{ORIGIN}templates:\n{FETCHED.replace(SHA, 'abc')}",
            [":13: templates[0].sha256: 'abc' doesn't match ^[0-9a-f]{64}$"],
            id="short checksum",
        ),
        pytest.param(
            f"{ORIGIN}templates:\n{FETCHED.replace('One.jinja', '../One.jinja', 1)}",
            [r":10: templates[0].file: '../One.jinja' doesn't match ^[^/\\]+\.jinja$"],
            id="file outside",
        ),
        pytest.param(
            f"{ORIGIN}templates:\n{FETCHED.replace('origin: pack', 'origin: pick')}",
            [":11: templates[0].origin: unknown origin pick; known: hub, local, pack"],
            id="unknown origin",
        ),
        pytest.param(
            f"{ORIGIN}templates:\n{FETCHED.replace('    path: templates/One.jinja', '')}",
            [":10: templates[0]: missing key 'path'"],
            id="no path",
        ),
        pytest.param(
            f"{ORIGIN}templates:\n{LOCAL}    path: a/b\n",
            [":16: templates[0].path: only fetched templates have a path"],
            id="local with a path",
        ),
        pytest.param(
            f"{ORIGIN}templates:\n{FETCHED}{LOCAL.replace('Two', 'one')}",
            [":14: templates[1].file: one.jinja and One.jinja have the same name: one"],
            id="one name twice",
        ),
        pytest.param(
            f"{ORIGIN}templates:\n{FETCHED}    aliases: [other, '?', two]\n{LOCAL}",
            [
                ":14: templates[0].aliases[1]: ?: holds no letter and no digit",
                ":14: templates[0].aliases[2]: two is a name of Two.jinja already",
            ],
            id="aliases",
        ),
        pytest.param(
            f"{ORIGIN}regenerate: ''\ntemplates: []\n",
            [":9: regenerate: '' is too short: 1 at least"],
            id="no command",
        ),
        pytest.param(
            f"{ORIGIN.replace('size: 12', 'size: -1')}templates: []\n",
            [":8: origins[0].size: must be at least 1, not -1"],
            id="size",
        ),
        pytest.param(
            f"{ORIGIN.replace('kind: pypi-sdist', 'kind: git')}templates: []\n",
            [":3: origins[0].kind: 'git' is not one of: pypi-sdist, pypi-wheel"],
            id="kind of origin",
        ),
        pytest.param(
            f"{ORIGIN.replace('pypi-sdist', 'pypi-wheel')}templates: []\n",
            [r":6: origins[0].file: 'pack-1.0.tar.gz' doesn't match ^[^/\\]+\.whl$"],
            id="file of another kind",
        ),
        pytest.param(
            f"{ORIGIN}templates:\n{FETCHED}    pointer: a/b\n",
            [":14: templates[0].pointer: 'a/b' doesn't match ^/"],
            id="no pointer",
        ),
        pytest.param(
            f"{ORIGIN}templates:\n{FETCHED}    pointer: /a\n    constant: A\n",
            [":15: templates[0].constant: a text has a pointer or a constant, not both"],
            id="pointer and constant",
        ),
        pytest.param(
            f"{ORIGIN}templates:\n{LOCAL}    constant: A\n",
            [":16: templates[0].constant: only fetched templates have a constant"],
            id="local with a constant",
        ),
        pytest.param(
            f"{ORIGIN.replace('id: pack', 'id: local')}templates: []\n",
            [":2: origins[0].id: " r"'local' doesn't match ^(?!(?:local|hub)$)[\w.+-]+$"],
            id="origin called local",
        ),
        pytest.param(
            f"{ORIGIN}templates:\n{FETCHED.replace('origin: pack', 'origin: hub')}"
            "    repository: SomeOrg/BrandNew-7B\n",
            [":10: templates[0]: commit: is needed with origin: hub"],
            id="no commit",
        ),
        pytest.param(
            f"{ORIGIN}templates:\n{FETCHED}    commit: {'a' * 40}\n",
            [":10: templates[0]: commit: is for none but origin: hub"],
            id="a commit of a package",
        ),
    ],
)
def test_a_wrong_index_is_refused(text: str, messages: list[str]) -> None:
    assert refused(text) == messages


def test_a_wrong_entry_does_not_take_the_others_with_it() -> None:
    wrong = FETCHED.replace("One", "Three").replace(SHA, "abc")
    index, problems = parse_index(f"{ORIGIN}templates:\n{wrong}{FETCHED}")
    assert [entry.file for entry in index.entries] == ["One.jinja"]
    assert len(problems) == 1


def test_a_wrong_origin_is_told_once_and_drops_its_templates() -> None:
    text = f"{ORIGIN.replace(SHA, 'abc')}templates:\n{FETCHED}{LOCAL}"
    index, problems = parse_index(text)
    assert [entry.file for entry in index.entries] == ["Two.jinja"]
    assert [problem.path for problem in problems] == ["origins[0].sha256"]
