"""The table of families is what the committed parsers read, and every turn shows its call."""

from __future__ import annotations

import json

import pytest
import yaml

from tests.family_table import CALL, DATA, PAGE, page, turn_of
from tests.generated_formats import committed_format

NAMES = [name for family in yaml.safe_load(DATA.read_text("utf-8")) for name in family["specs"]]


def test_the_page_is_fresh() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: make families"


@pytest.mark.parametrize("name", NAMES)
def test_the_turn_is_parsed(name: str) -> None:
    text, options = turn_of(name)
    form = committed_format(name)
    message = form.module.parse(text, **options)
    calls = [(call.name, json.loads(call.arguments)) for call in message.tool_calls]
    assert calls == ([(CALL.name, CALL.arguments)] if form.spec.tools else [])
    assert message.problems == []
