"""The page on safety says what the committed parsers do."""

from __future__ import annotations

from tests.safety_table import PAGE, page


def test_the_page_is_fresh() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: make safety"
