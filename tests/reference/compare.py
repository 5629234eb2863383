"""Compares our renderings with those recorded from transformers, and explains each difference.

Run ``make reference`` to record them anew; it prints the figures.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.reference.cases import (
    CASES,
    NOW,
    Case,
    OpenTemplates,
    RecordingWorker,
    rendered_cases,
    template_names,
)
from turnspec.rendering.dialect import AbsentContent, ArgumentsForm
from turnspec.rendering.worker import RenderWorker

#: Cases, each with how it compares in the template's form, and as plain messages.
Verdicts = list[tuple[Case, str, str]]

RECORDED = Path(__file__).parent / "transformers.json"
#: What transformers gives its templates itself.
_OWN_VARIABLES = ("strftime_now", "datetime")
EQUAL = "equal"
UNEXPLAINED = "unexplained"
_NO_TOOLS = "transformers gives tools=None, not nothing"

#: Why a template that renders here fails in transformers, by what it says then.
FAILURES = {
    "TypeError: 'NoneType' object is not iterable": _NO_TOOLS,
    "UndefinedError: 'functions' is undefined": "transformers has no variable functions",
    "SecurityError: access to attribute 'append'": "transformers forbids list.append",
    "TypeError: Object of type generator is not JSON": "transformers' tojson takes no generator",
}


def exported(cases: Iterable[Case]) -> str:
    """Return cases as JSON, for a process that has transformers."""
    rows = [
        {
            "template": case.template,
            "name": case.name,
            "source": case.source,
            "form": _without_own(case.variables),
            "plain": _without_own(case.plain),
        }
        for case in cases
    ]
    return json.dumps({"now": NOW.isoformat(), "cases": rows})


def _without_own(variables: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in variables.items() if name not in _OWN_VARIABLES}


def verdicts(cases: Iterable[Case], worker: RenderWorker) -> Iterator[tuple[Case, str, str]]:
    """Yield each case with how it compares in the template's form, and as plain messages.

    Either is `EQUAL`, an explanation, or `UNEXPLAINED` with what transformers made of it.
    """
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))["renderings"]
    for case in cases:
        form, plain = recorded[case.template][case.name]
        text = case.text if case.text is not None else f"error: {case.error}"
        ours = _hash(text)
        in_form = EQUAL if form == ours else _failure(form) or _given_none(case, form, worker)
        as_plain = EQUAL if plain == ours else _failure(plain) or _reason(case)
        as_plain = as_plain or _given_none(case, plain, worker)
        yield case, in_form or f"{UNEXPLAINED}: {form}", as_plain or f"{UNEXPLAINED}: {plain}"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _given_none(case: Case, theirs: str, worker: RenderWorker) -> str:
    """Return why theirs differs, where giving tools=None makes that of ours; else ""."""
    if case.variables.get("tools") is not None:
        return ""
    given = worker.render(case.source, {**case.variables, "tools": None})
    if given.text is None:  # each names the exception in its own way
        return _NO_TOOLS if case.text is not None and theirs.startswith("error: TypeError") else ""
    return _NO_TOOLS if _hash(given.text) == theirs else ""


def _failure(theirs: str) -> str:
    return next((why for error, why in FAILURES.items() if f"error: {error}" in theirs), "")


def _reason(case: Case) -> str:
    """Return what we do to plain messages of this case that changes their text, "" if nothing."""
    messages = CASES[case.name]["messages"]
    dialect = case.form.dialect
    has = {key: any(message.get(key) for message in messages) for key in ("tool_calls",)}
    null = any(message["content"] is None for message in messages)
    thoughtful = any("reasoning_content" in message for message in messages)
    reasons = {
        "a polyfill is needed": bool(case.polyfills),
        "content in parts is no text for the template": case.name == "parts"
        and "user" not in case.form.takes_parts,
        "arguments are wanted as a string": has["tool_calls"]
        and dialect.arguments is ArgumentsForm.STRING,
        "null content is printed, or fails": null
        and dialect.absent_content is not AbsentContent.NULL,
        "reasoning is wanted elsewhere": thoughtful
        and dialect.reasoning_field != "reasoning_content",
        "a key of its own is wanted in each answer": _has_more_keys(case.variables, case.plain),
        "a word in a message turns thinking off": case.name == "without thinking"
        and case.variables["messages"] != case.plain["messages"],
        "a result shows its call's name": _names(case.variables) != _names(case.plain),
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def _names(variables: Mapping[str, Any]) -> list[str | None]:
    """Return the names that results of tools have."""
    return [message.get("name") for message in variables["messages"] if message["role"] == "tool"]


def _has_more_keys(given: Mapping[str, Any], plain: Mapping[str, Any]) -> bool:
    """Say whether a message has a key that the plain one hasn't."""
    pairs = zip(given["messages"], plain["messages"], strict=False)
    return any(set(one) - set(other) for one, other in pairs)


def main(arguments: list[str]) -> int:
    """Export the cases, or print the figures."""
    with RecordingWorker() as worker:
        return _run(rendered_cases(OpenTemplates(worker), template_names()), worker, arguments)


def _run(cases: Iterable[Case], worker: RenderWorker, arguments: list[str]) -> int:
    if arguments[:1] == ["export"]:
        Path(arguments[1]).write_text(exported(cases), encoding="utf-8")
        return 0
    found = list(verdicts(cases, worker))
    for number, what in ((1, "messages in the template's form"), (2, "plain messages")):
        print(f"{what}, {len(found)} renderings:")
        for verdict, count in Counter(str(row[number]) for row in found).most_common():
            print(f"  {count:4} {verdict}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
