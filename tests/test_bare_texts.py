"""A text without quotes, or a key with one inside: what leaves doubt does so in any pieces."""

from __future__ import annotations

import pytest

from tests.parser_checks import stream
from tests.small_formats import FORMATS
from turnspec.codegen.loading import load


@pytest.mark.parametrize(
    "value",
    ["one f(two", "one two[", "it's two", "one f (two", "{'f(='g': 1}", "{'a': {'f(='g': h}}"],
)
def test_what_leaves_doubt_may_be_cut(value: str) -> None:
    module = load(FORMATS["python"])
    text = f"<call>add(b={value}, a=1)</call>"
    whole = module.parse(text)
    for size in (1, 2, 3):
        message, _ = stream(module, [text[at : at + size] for at in range(0, len(text), size)])
        assert message == whole
