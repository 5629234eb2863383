"""The page on safety says what the committed parsers do."""

from __future__ import annotations

import pytest

from tests.generated_formats import KINDS
from tests.safety_table import HEAD, PAGE, line_of, page
from tests.special_pieces import formats_with_calls

LINES = PAGE.read_text(encoding="utf-8").removeprefix(HEAD).splitlines(keepends=True)


@pytest.mark.parametrize("names", [n for n in formats_with_calls() if {*n} & {*KINDS}], ids=min)
def test_what_the_page_says_of_a_format_is_so(names: list[str]) -> None:
    assert line_of(names) in LINES, "run: make safety"


def test_every_format_with_calls_is_on_the_page() -> None:
    shown = [
        ", ".join(f"[{name}](../specs/{name}.yaml)" for name in n) for n in formats_with_calls()
    ]
    assert [line.split(" | ")[0].removeprefix("| ") for line in LINES] == shown, "run: make safety"


@pytest.mark.long
def test_the_page_is_fresh() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: make safety"
