"""A call in the reasoning that breaks off swallows neither the answer nor the call behind it."""

from __future__ import annotations

import pytest

from tests.generated_formats import FORMATS, committed_format, in_memory

#: Strings in which the draft's ends where the next call's begins: so the draft is whole.
ENDS_IN_THE_NEXT = ("lfm2-5-", "liquidai-", "minimax-m3")


@pytest.mark.parametrize("is_section_begun", [True, False])
def test_a_draft_that_breaks_off(is_section_begun: bool) -> None:
    wrong = {name for name in FORMATS if not is_read(name, is_section_begun)}
    assert all(name.startswith(ENDS_IN_THE_NEXT) for name in wrong), wrong


def is_read(name: str, is_section_begun: bool) -> bool:
    """Say whether a turn is read whose reasoning holds the beginning of its call."""
    form = committed_format(name)
    if form.spec.tools is None or not form.reasons or not form.call.arguments:
        return True
    message = form.message
    draft, _, _ = form.call_text(form.call).partition(city := str(form.call.arguments["city"]))
    draft = form.tools.section_start * is_section_begun + draft + city[:2]
    text = form.write(message).replace(message.reasoning, f"Maybe {draft} or not.", 1)
    found = in_memory(name).parse(text, **form.options)
    calls = [(call.name, call.complete) for call in found.tool_calls]
    is_same = found.reasoning_content.split() == f"Maybe {draft} or not.".split()
    return is_same and calls == [(call.name, True) for call in message.calls]
