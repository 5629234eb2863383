"""Spec files: golden texts, every kind of bad file with its exact problems, and the round trip."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.specs_for_tests import (
    ALL_SPECS,
    channels_spec,
    json_native_spec,
    plain_spec,
    tag_with_json_spec,
    tagged_spec,
    write_spec,
)
from turnspec.spec.files import (
    dump_spec,
    load_checked_spec,
    load_spec,
    read_spec,
    spec_hash,
)
from turnspec.spec.model import Spec
from turnspec.spec.recipe import Recipe
from turnspec.spec.words import ContentMode

FILE = "specs/x.yaml"
HERE = Recipe("make specs", "../schema.json")


def problems_of(text: str) -> list[str]:
    result = load_checked_spec(text, FILE)
    assert isinstance(result, list), "no problem was found"
    return [str(problem) for problem in result]


def changed(spec: Spec, old: str, new: str) -> str:
    """Return the spec's text with its one occurrence of ``old`` replaced."""
    text = dump_spec(spec, HERE)
    assert text.count(old) == 1, f"{old!r} is there {text.count(old)} times"
    return text.replace(old, new)


@pytest.mark.parametrize("make", ALL_SPECS)
def test_dumped_text(make: Callable[[], Spec], snapshot: SnapshotAssertion) -> None:
    assert dump_spec(make()) == snapshot


@pytest.mark.parametrize("make", ALL_SPECS)
def test_invented_specs_come_back_and_are_possible(make: Callable[[], Spec]) -> None:
    spec = make()
    assert load_checked_spec(dump_spec(spec), FILE) == spec


def test_markers_show_what_cannot_be_seen() -> None:
    header = 'a\tb\n\r\0\x1b \u00a0\u200b\u2028\ufe0f\ufeff\ud800\U000e0001\uff5c▁é"\\'
    spec = replace(plain_spec(), turn=replace(plain_spec().turn, header=header))
    text = dump_spec(spec)
    expected = (
        r'  header: "a\tb\n\r\0\x1B \xA0\u200B\u2028\uFE0F\uFEFF\uD800\U000E0001' '\uff5c▁é\\"\\\\"'
    )
    assert expected in text.splitlines()
    assert load_spec(text, FILE) == spec


def test_a_long_marker_stays_in_one_line() -> None:
    header = "word " * 500
    spec = replace(plain_spec(), turn=replace(plain_spec().turn, header=header))
    assert f'  header: "{header}"' in dump_spec(spec).splitlines()


def test_a_file_name_cannot_leave_the_comment() -> None:
    spec = plain_spec()
    spec = replace(spec, template=replace(spec.template, file="a\nname: b.jinja"))
    assert dump_spec(spec).splitlines()[0] == (
        r"# Written by turnspec from a\nname: b.jinja; regenerate with: turnspec regen"
    )
    assert load_spec(dump_spec(spec), FILE) == spec


def test_hash_depends_on_nothing_but_the_spec() -> None:
    spec = json_native_spec()
    turned = replace(spec, tokens=dict(sorted(spec.tokens.items(), reverse=True)))
    assert spec_hash(turned) == spec_hash(spec)
    assert len(spec_hash(spec)) == 64
    assert spec_hash(replace(spec, name="other")) != spec_hash(spec)


def test_the_hash_leaves_comments_out() -> None:
    spec = json_native_spec()
    here = dump_spec(spec, HERE)
    assert here.splitlines()[:2] == [
        f"# Written by turnspec from {spec.template.file}; regenerate with: make specs",
        "# yaml-language-server: $schema=../schema.json",
    ]
    assert load_spec(here, FILE) == spec
    assert here != dump_spec(spec)
    facts = "".join(line for line in here.splitlines(keepends=True) if not line.startswith("#"))
    assert spec_hash(spec) == hashlib.sha256(facts.encode()).hexdigest()


def test_a_file_without_a_schema_at_hand_names_none() -> None:
    assert "$schema" not in dump_spec(json_native_spec())


def test_words_of_yaml_1_1_are_words() -> None:
    text = changed(plain_spec(), "origin: local", "origin: no")
    spec = load_spec(text, FILE)
    assert isinstance(spec, Spec)
    assert spec.template.origin == "no"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "  header:",
            "  heading: x\n  header:",
            [
                "specs/x.yaml:25: turn.heading: unknown key 'heading'; "
                "allowed: header, order, joins, ends, stop, calls_decide_end"
            ],
        ),
        ("  origin: local\n", "", ["specs/x.yaml:5: template: missing key 'origin'"]),
        (
            "mode: PLAIN",
            "mode: plain",
            [
                "specs/x.yaml:38: content.mode: 'plain' is not one of: "
                "PLAIN, ALWAYS_WRAPPED, WRAPPED_WITH_REASONING"
            ],
        ),
        (
            "  tools: false",
            "  tools: no",
            ["specs/x.yaml:11: capabilities.tools: must be true or false, not a string"],
        ),
        (
            "[content]",
            "content",
            ["specs/x.yaml:26: turn.order: must be a list, not a string"],
        ),
        (
            'header: "### Answer:\\n"',
            "header: 7",
            ["specs/x.yaml:25: turn.header: must be a string, not a whole number"],
        ),
        (
            "name: plain\n",
            "name: Plain\n",
            ["specs/x.yaml:4: name: 'Plain' doesn't match ^[a-z0-9]+(-[a-z0-9]+)*$"],
        ),
        (
            "name: plain\n",
            "name: plain\nname: plain\n",
            ["specs/x.yaml:5: name: duplicate key 'name', first in line 4"],
        ),
        (
            "  header:",
            "\theader:",
            ["specs/x.yaml:25: not YAML: found character that cannot start any token"],
        ),
        (
            'header: "### Answer:\\n"',
            'header: "',
            ["specs/x.yaml:28: not YAML: did not find expected key"],
        ),
        (
            "origin: local",
            "origin: &x local",
            ["specs/x.yaml:8: template.origin: an anchor; write the value out where it is needed"],
        ),
        (
            "origin: local",
            "origin: !!python/name:os.system local",
            ["specs/x.yaml:8: template.origin: a tag: tag:yaml.org,2002:python/name:os.system"],
        ),
        (
            "thinking:",
            'thinking:\n  enabled: {prompt: "", variables: {[1]: 2}}',
            ["specs/x.yaml:22: a key must be a string"],
        ),
        (
            "thinking:",
            'thinking:\n  enabled: {prompt: "", variables: {effort: 1e999}}',
            ["specs/x.yaml:22: thinking.enabled.variables.effort: too large a number"],
        ),
        ("# Written", "---\nx\n---\n# Written", ["specs/x.yaml:6: more than one document"]),
    ],
)
def test_bad_form(old: str, new: str, expected: list[str]) -> None:
    assert problems_of(changed(plain_spec(), old, new)) == expected


def test_all_problems_are_reported_at_once_and_sorted_by_line() -> None:
    text = dump_spec(tag_with_json_spec(), HERE)
    for old, new in (
        ("- slot: ID", "- slot: IDENT"),
        ('separator: ""', 'separator: null\n  seperator: ""'),
        ('final: "</s>"}\n    - {last: calls', 'fine: "</s>"}\n    - {last: calls'),
        ("- slot: NAME", "- {slot: NAME, text: x}"),
        ("name: tag-with-json\n", ""),
    ):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    assert problems_of(text) == [
        "specs/x.yaml:3: missing key 'name'",
        "specs/x.yaml:29: turn.ends[0].fine: unknown key 'fine'; allowed: last, final, followed",
        "specs/x.yaml:29: turn.ends[0]: missing key 'final'",
        "specs/x.yaml:47: tools.call[1]: must have exactly one of: text, slot",
        "specs/x.yaml:49: tools.call[3].slot: 'IDENT' is not one of: "
        "NAME, ID, INDEX, COUNT, ARGUMENTS",
        "specs/x.yaml:52: tools.separator: must be a string, not null",
        "specs/x.yaml:53: tools.seperator: unknown key 'seperator'; allowed: mode, section_start, "
        "call, separator, section_end, arguments, fields, call_id, id_parts, index_base, "
        "index_scope, after_first, empty_call",
    ]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "  call_id:",
            '  after_first: {separator: "", section_end: ""}\n  call_id:',
            ["specs/x.yaml:58: tools.after_first: missing key 'end'"],
        ),
        (
            "  call_id:",
            '  after_first: {separator: "", section_end: "", end: null, final: ""}\n  call_id:',
            [
                "specs/x.yaml:58: tools.after_first.final: unknown key 'final'; "
                "allowed: separator, section_end, end",
                "specs/x.yaml:58: tools.after_first.end: must be a string, not null",
            ],
        ),
        (
            'reason: "no field shows it"',
            'reason: "no field shows it", characters: ["a"]',
            ["specs/x.yaml:61: limits[1].characters: must be a string, not a list"],
        ),
        (
            'reason: "no field shows it"',
            'reason: "no field shows it", character: "a"',
            [
                "specs/x.yaml:61: limits[1].character: unknown key 'character'; "
                "allowed: subject, verdict, when, reason, characters"
            ],
        ),
    ],
)
def test_bad_form_of_calls_and_limits(old: str, new: str, expected: list[str]) -> None:
    assert problems_of(changed(tag_with_json_spec(), old, new)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "specs/x.yaml: the file is empty"),
        ("# nothing\n", "specs/x.yaml: the file is empty"),
        ("null\n", "specs/x.yaml:1: must be a mapping, not null"),
        ("[" * 100_000, "specs/x.yaml:1: nested deeper than 20"),
        ("a: " + "x" * 300_000, "specs/x.yaml: too long: 300003 characters, 300000 at most"),
        ("a: \ud800", "specs/x.yaml:1: not YAML: a lone surrogate"),
        ("name: a\nx: b\0", "specs/x.yaml:2: not YAML: control characters are not allowed"),
    ],
)
def test_hostile_texts(text: str, expected: str) -> None:
    assert problems_of(text) == [expected]


def test_an_alias_bomb_is_refused_without_being_expanded() -> None:
    levels = "".join(f"k{n}: &a{n} [{f'*a{n - 1}, ' * 9}]\n" for n in range(1, 40))
    problems = problems_of("k0: &a0 [x]\n" + levels)
    assert "specs/x.yaml:40: k39[8]: an alias; write the value out" in problems


@pytest.mark.parametrize("spec", [tagged_spec(), channels_spec()])
def test_every_truncation_gives_problems_and_no_exception(spec: Spec) -> None:
    text = dump_spec(spec)
    last_key = text.rindex("preserved_tokens")
    for end in range(0, last_key, 7):
        assert load_spec(text[:end], FILE) != spec


def test_read_and_write(tmp_path: Path) -> None:
    spec = tagged_spec()
    assert write_spec(tmp_path, spec) is True
    assert write_spec(tmp_path, spec) is False
    assert read_spec(tmp_path / "tagged.yaml") == spec


def test_unreadable_files(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_bytes(b"name: a\nx: \xff\n")
    assert [str(p) for p in _problems(tmp_path / "bad.yaml")] == ["specs/y.yaml:2: not UTF-8"]
    assert [str(p) for p in _problems(tmp_path / "none.yaml")] == [
        "specs/y.yaml: there is no such file or folder"
    ]


def _problems(path: Path) -> list[object]:
    result = read_spec(path, "specs/y.yaml")
    assert isinstance(result, list)
    return list(result)


def test_sense_is_checked_only_where_asked() -> None:
    spec = plain_spec()
    odd = replace(spec, content=replace(spec.content, mode=ContentMode.ALWAYS_WRAPPED))
    assert load_spec(dump_spec(odd), FILE) == odd
    assert problems_of(dump_spec(odd, HERE)) == [
        "specs/x.yaml:38: content.mode: is ALWAYS_WRAPPED, but neither start nor end is a marker"
    ]
