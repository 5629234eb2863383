"""Which characters don't come back, of those that programs take for something else than text."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.own_templates import kinds, spec_of
from turnspec.analysis.limits import (
    SPECIAL_CHARACTERS,
    ComesBack,
    altered_characters,
    character_limits,
)
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.model import Limit
from turnspec.spec.words import Condition, Subject, Verdict

LINE_ENDS = "\n\x0b\x0c\r\x1c\x1d\x1e\x85\u2028\u2029"


def rendered_by(render: Callable[[str], str]) -> ComesBack:
    return lambda text: text in f"<a>{render(text)}</a>"


def test_the_special_characters_are_all_controls_and_line_ends_and_each_once() -> None:
    controls = {chr(code) for code in range(0x110000) if not chr(code).isprintable()}
    latin = {character for character in controls if ord(character) < 0x100}
    assert latin - {"\xad"} <= set(SPECIAL_CHARACTERS)
    ends = {chr(code) for code in range(0x110000) if len(f"a{chr(code)}b".splitlines()) > 1}
    assert ends == set(LINE_ENDS)
    assert ends < set(SPECIAL_CHARACTERS)
    assert len(set(SPECIAL_CHARACTERS)) == len(SPECIAL_CHARACTERS)


@pytest.mark.parametrize(
    ("render", "altered"),
    [
        (lambda text: text, ""),
        (lambda text: "\n    ".join(text.splitlines()), LINE_ENDS),
        (lambda text: text.replace("\x00", ""), "\x00"),
        (lambda text: text.replace("&", "&amp;").replace("<", "&lt;"), "<&"),
        (lambda text: text.encode("ascii", "ignore").decode(), "".join(
            sorted(character for character in SPECIAL_CHARACTERS if ord(character) > 0x7F)
        )),
        (lambda text: " ".join(text.split(" ")), ""),
        (lambda text: text.replace("\n\n", "\n"), "\n"),
        (lambda text: text.replace("  ", " "), " "),
        (lambda text: text if len(text) < 99 else "too long", ""),
        (lambda text: "the same", ""),
    ],
)  # fmt: skip
def test_altered_characters(render: Callable[[str], str], altered: str) -> None:
    assert set(altered_characters(rendered_by(render))) == set(altered)


def test_what_is_refused_is_not_altered() -> None:
    def comes_back(text: str) -> bool | None:
        return None if "\x00" in text else "\x01" not in text

    assert altered_characters(comes_back) == "\x01"


def test_few_renderings_where_all_is_well() -> None:
    asked: list[str] = []

    def comes_back(text: str) -> bool:
        asked.append(text)
        return True

    assert altered_characters(comes_back) == ""
    assert len(asked) == 2


def test_character_limits() -> None:
    def lost(text: str) -> bool:
        return "\x85" not in text

    reason = "rendered as something else"
    expected = Limit(Subject.CONTENT, Verdict.AMBIGUOUS, Condition.ALWAYS, reason, "\x85")
    assert character_limits(Subject.CONTENT, lost) == (expected,)
    assert character_limits(Subject.CONTENT, lambda text: True) == ()


def test_each_part_has_its_own_characters(worker: RenderWorker) -> None:
    limits = spec_of("rare-line-ends", worker).limits
    assert {limit.subject: set(limit.characters) for limit in limits} == {
        Subject.CONTENT: set(LINE_ENDS) - {"\n"},
        Subject.REASONING: {"\ufeff"},
        Subject.ARGUMENT_STRING: set("\x85\u2028\u2029"),
    }


def test_quotes_that_are_not_escaped_are_ambiguous(worker: RenderWorker) -> None:
    (limit,) = [each for each in spec_of("unescaped-quotes", worker).limits if each.characters]
    assert (limit.subject, limit.verdict) == (Subject.ARGUMENT_STRING, Verdict.AMBIGUOUS)
    assert (limit.characters, limit.reason) == ("'", "quotes in it are not escaped")


@pytest.mark.parametrize("name", sorted({*kinds()} - {"rare-line-ends", "unescaped-quotes"}))
def test_other_templates_render_all_characters(name: str, worker: RenderWorker) -> None:
    found = [limit.characters for limit in spec_of(name, worker).limits if limit.characters]
    # There strings stand in quotes that nothing escapes.
    assert found == (['"'] if name == "keyed-quoted-in-list" else [])
