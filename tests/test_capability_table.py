"""The page of what templates take is what is found now."""

from __future__ import annotations

from tests.capability_table import IN_USE, PAGE, TALK, held_steps, naive_steps, page
from tests.reference.cases import OpenTemplates
from tests.reference.compare import Verdicts


def test_the_page_is_fresh(templates: OpenTemplates, compared: Verdicts) -> None:
    assert PAGE.read_text(encoding="utf-8") == page(templates, compared), "run: make capabilities"


def test_steps_are_counted_one_by_one(templates: OpenTemplates) -> None:
    every = len(TALK) - 1
    chatml = templates["chatml"]
    assert (naive_steps(chatml), held_steps(chatml, TALK)) == (every, every)
    assert held_steps(chatml, IN_USE) == len(IN_USE) - 1
    # Its last answer ends otherwise than an earlier one, and its reasoning is dropped.
    harmony = templates["openai-gpt-oss-120b"]
    assert naive_steps(harmony) < held_steps(harmony, TALK) == every
