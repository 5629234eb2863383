"""What we render is what Hugging Face transformers rendered, wherever both render."""

from __future__ import annotations

import json
from collections import Counter

from syrupy.assertion import SnapshotAssertion

from tests.reference.cases import (
    CASES,
    OpenTemplates,
    a_few_templates,
    rendered_cases,
    template_names,
    tried_templates,
)
from tests.reference.compare import FAILURES, RECORDED, UNEXPLAINED, Verdicts, exported


def test_every_template_was_rendered_by_transformers() -> None:
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))["renderings"]
    assert sorted(recorded) == sorted(template_names()), "run: make reference"


def test_every_template_is_compared(compared: Verdicts) -> None:
    assert len(compared) == len(tried_templates()) * len(CASES)


def test_messages_in_the_templates_form_are_rendered_alike(compared: Verdicts) -> None:
    unlike = [
        (case.template, case.name, verdict)
        for case, verdict, _ in compared
        if verdict.startswith(UNEXPLAINED)
    ]
    assert unlike == []


def test_plain_messages_are_rendered_otherwise_for_a_reason(compared: Verdicts) -> None:
    unlike = [
        (case.template, case.name, verdict)
        for case, _, verdict in compared
        if verdict.startswith(UNEXPLAINED)
    ]
    assert unlike == []


def test_everything_is_rendered(compared: Verdicts) -> None:
    assert [(case.template, case.name, case.error) for case, _, _ in compared if case.error] == []


def test_the_agreement_in_numbers(compared: Verdicts, snapshot: SnapshotAssertion) -> None:
    """Of a few templates; those of all stand in docs/CAPABILITIES.md."""
    names = a_few_templates()
    few = [row for row in compared if row[0].template in names]
    counts = {
        what: dict(sorted(Counter(str(row[number]) for row in few).items()))
        for number, what in ((1, "in form"), (2, "plain"))
    }
    assert counts == snapshot


def test_a_failure_of_transformers_is_only_explained_if_it_is_known(compared: Verdicts) -> None:
    assert {verdict for _, verdict, _ in compared} <= {"equal", *FAILURES.values()}


def test_the_export_holds_what_templates_are_given(templates: OpenTemplates) -> None:
    case = next(rendered_cases(templates, ["chatml"]))
    text = exported([case])
    assert '"add_generation_prompt": true' in text
    assert "strftime" not in text
