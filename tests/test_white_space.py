"""White space between a call's tags changes nothing, where the template writes none as well."""

from __future__ import annotations

import re

import pytest

from tests.damaged_turns import as_written, written_turn
from tests.generated_formats import FORMATS, committed_format, committed_spec
from turnspec.rendering.conversation import tool_definitions

NAMES = [name for name in FORMATS if committed_spec(name).tools]
#: Where a tag ends and another one begins, or JSON does.
BETWEEN_TAGS = re.compile(r"(?<=[>\]])(?=[<\[\]{])|(?<=\})(?=[<\[])")


@pytest.mark.parametrize("name", NAMES)
def test_line_breaks_between_tags_change_no_call(name: str) -> None:
    form = committed_format(name)
    text, message = written_turn(form)
    options = {"tools": tool_definitions(message.calls), "prefill": form.spec.turn.header}
    wanted = as_written(form.module.parse(text, **options).tool_calls)
    places = [found.start() for found in BETWEEN_TAGS.finditer(text)]
    texts = [f"{text[:at]}\n{text[at:]}" for at in places]
    for spaced in (*texts, BETWEEN_TAGS.sub("\n  ", text)):
        read = form.module.parse(spaced, **options).tool_calls
        assert as_written([call for call in read if call.complete]) == wanted, spaced


def test_most_formats_have_tags_with_nothing_between_them() -> None:
    texts = [written_turn(committed_format(name))[0] for name in NAMES]
    assert sum(BETWEEN_TAGS.search(text) is not None for text in texts) > len(texts) / 2
