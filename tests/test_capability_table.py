"""The page of what templates take is what is found now."""

from __future__ import annotations

import pytest

from tests.capability_table import IN_USE, TALK, held_steps, naive_steps, page, row_of
from tests.reference.cases import (
    PAGE,
    OpenTemplates,
    rendered_cases,
    template_names,
    tried_templates,
    ways_of_templates,
)
from tests.reference.compare import verdicts


@pytest.mark.parametrize("name", tried_templates())
def test_what_the_page_says_of_a_template_is_found(name: str, templates: OpenTemplates) -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines(keepends=True)
    assert row_of(name, templates) in lines, "run: make capabilities"


def test_every_template_is_on_the_page() -> None:
    assert [*ways_of_templates()] == template_names(), "run: make capabilities"


@pytest.mark.long
def test_the_page_is_fresh(templates: OpenTemplates) -> None:
    found = verdicts(rendered_cases(templates, template_names()), templates.worker)
    assert PAGE.read_text(encoding="utf-8") == page(templates, [*found]), "run: make capabilities"


def test_steps_are_counted_one_by_one(templates: OpenTemplates) -> None:
    every = len(TALK) - 1
    chatml = templates["chatml"]
    assert (naive_steps(chatml), held_steps(chatml, TALK)) == (every, every)
    assert held_steps(chatml, IN_USE) == len(IN_USE) - 1
    # Its last answer ends otherwise than an earlier one, and its reasoning is dropped.
    harmony = templates["openai-gpt-oss-120b"]
    assert naive_steps(harmony) < held_steps(harmony, TALK) == every
