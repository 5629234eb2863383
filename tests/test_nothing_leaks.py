"""No marker gets into content or reasoning untold: it is quoted there, or a problem names it.

Quoted is what opens calls where none follows, what closes such a mention, and a marker that stands
behind a quotation mark. A draft is told of as a whole.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from random import Random

import pytest

from tests.generated_formats import FORMATS, KINDS, committed_spec
from tests.marker_texts import MarkerTexts
from turnspec.codegen.facts import FormatFacts, facts_of
from turnspec.codegen.loading import load
from turnspec.codegen.markers import leading_text
from turnspec.codegen.rules import Row
from turnspec.engine.results import Message

#: Roles of what opens calls, which is text where none follows, and of what closes them.
OPENS = {
    *("opening", "inner_opening", "noisy_opening", "call", "other_call", "short_call"),
    *("closed_call", "foreign", "foreign_name", "mention", "object", "code"),
}
CLOSES = {"call_end", "section_end"}
WORDS = (" words ", "and ", "\n", '"quoted" ', "`", "x", '[{"name": "look"}', ', {"name": 5}]')
TEXTS = int(os.environ.get("TURNSPEC_EXAMPLES", "60")) * 2


def anywhere(marker: str) -> re.Pattern[str]:
    """Return an expression for a marker without slots, with any white space in it."""
    text = marker.replace("{{", "{").replace("}}", "}")
    return re.compile(r"\s*".join(map(re.escape, text.split())))


class Leaks:
    """What no text of a format may hold untold."""

    def __init__(self, facts: FormatFacts) -> None:
        rows = facts.tables["IN_TEXT"]
        self.markers = [(row.role, anywhere(row.marker)) for row in rows if is_told_by_itself(row)]
        needed = [re.sub(r" ?\{\?[^{}]*\} ?", "", row.marker) for row in rows if row.role in OPENS]
        opens = {leading_text(marker) for marker in needed}
        self.opens = [anywhere(text) for text in opens if len(text) > 1]

    def of(self, message: Message) -> Iterator[str]:
        """Yield the markers that stand in a message, and are neither quoted nor told of."""
        told = "".join(problem.message for problem in message.problems)
        if any(problem.kind == "draft" for problem in message.problems):
            return
        told = re.sub(r"\s|\\[nrt]", "", told)
        for text in (message.content, message.reasoning_content):
            for role, marker in self.markers:
                for found in marker.finditer(text):
                    is_told = re.sub(r"\s", "", found.group()) in told
                    if not (is_told or self.is_quoted(role, found)):
                        yield found.group()

    def is_quoted(self, role: str, found: re.Match[str]) -> bool:
        before = found.string[: found.start()]
        # Of a longer marker that is quoted it may be the end.
        wholes = (it for _, marker in self.markers for it in marker.finditer(found.string))
        starts = [it.start() for it in wholes if it.start() < found.start() < it.end()]
        if any(before[:at].endswith(('"', "'", "`")) for at in (found.start(), *starts)):
            return True
        heads = (head for opening in self.opens for head in opening.finditer(found.string))
        mentions = [head for head in heads if head.start() <= found.start()]
        closing = (marker for role, marker in self.markers if role in CLOSES and mentions)
        ends = (end for marker in closing for end in marker.finditer(found.string))
        # What begins in one of these is a part of it, whatever it looks like with more text.
        if any(found.start() < head.end() for head in mentions):
            return True
        if any(end.start() < found.start() < end.end() for end in ends):
            return True
        # A message for the user may quote a call's header, whose channel stands behind a name.
        is_channel = role in ("content_start", "reasoning_start")
        if is_channel and any("<" not in before[it.end() :] for it in mentions):
            return True
        if role == "reasoning_end":  # of a block that is in quotes
            return re.search(r"[\"'`]\S", before) is not None
        return role in CLOSES and bool(mentions)


def is_told_by_itself(row: Row) -> bool:
    """Say whether a marker has no slot, and is one whatever follows."""
    text = row.marker.replace("{{", "").replace("}}", "")
    signs = sum(not sign.isalnum() and not sign.isspace() for sign in text)
    return row.role not in OPENS and "{" not in text and not row.if_before and signs > 1


@pytest.mark.parametrize("name", FORMATS if "TURNSPEC_EVERY_FORMAT" in os.environ else KINDS)
def test_no_marker_leaks_untold(name: str) -> None:
    facts = facts_of(committed_spec(name))
    module, leaks, random = load(committed_spec(name)), Leaks(facts), Random(name)
    markers = MarkerTexts(facts, random)

    def parted() -> str:
        """Return a marker with another one in it: what is left where that is taken out."""
        text, inner = markers.any(), markers.any()
        at = random.randint(0, len(text))
        return text[:at] + inner + text[at:]

    writers = (markers.any, lambda: random.choice(WORDS), parted)
    for _ in range(TEXTS):
        kinds = random.choices(writers, k=random.randint(1, 8))
        text = "".join(write() for write in kinds)
        found = list(leaks.of(module.parse(text)))
        assert not found, (text, found)


def test_a_leak_is_seen() -> None:
    leaks = Leaks(facts_of(committed_spec("qwen-qwen3-0-6b")))
    untold = Message("a </think> b", "<|im_end|> c", [], [])
    assert sorted(leaks.of(untold)) == ["</think>", "<|im_end|>"]
    assert not list(leaks.of(Message('"</think>', "<tool_call> and </tool_call>", [], [])))
