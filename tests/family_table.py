"""Writes docs/FAMILIES.md: well-known families, each with its specs and a turn that is parsed.

Run with ``make families``. The turn is what the spec's writer writes after the template's own
generation prompt; what it says is what the committed parser reads from it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.generated_formats import committed_format
from turnspec.rendering.conversation import tool_definitions
from turnspec.spec.message import Call, Message
from turnspec.verification.messages import allowed_call
from turnspec.verification.turns import expected_message, written_input

ROOT = Path(__file__).parent.parent
DATA = ROOT / "docs" / "families.yaml"
PAGE = ROOT / "docs" / "FAMILIES.md"
CALL = Call("get_weather", {"city": "Paris", "days": 3}, "abcdef123")
MESSAGE = Message("I will look.", "They ask for the weather.", (CALL,))

HEAD = """\
<!-- Written from families.yaml; write it again with: make families -->

# Families of formats

The families in the documents of llama.cpp's auto-parser, with the format that each is said to have
there and the one that was found here. The mode of tools says where a call's name and its argument
names stand: inside JSON (JSON_NATIVE), the name between tags (TAG_WITH_JSON), or both
(TAG_WITH_TAGGED). Below the table stands one turn of each, as its template renders it behind the
generation prompt, and what the generated parser reads from it.

"""


def page() -> str:
    """Return the page's text."""
    families: list[Mapping[str, Any]] = yaml.safe_load(DATA.read_text(encoding="utf-8"))
    rows = ["| Family | There | Here | Spec | |", "| --- | --- | --- | --- | --- |"]
    rows += [_row(family) for family in families]
    examples = [_example(family["family"], name) for family in families for name in family["specs"]]
    return HEAD + "\n".join(rows) + "\n\n" + "\n".join(examples)


def _row(family: Mapping[str, Any]) -> str:
    specs = [committed_format(name).spec for name in family["specs"]]
    here = {
        f"{spec.tools.mode if spec.tools else 'no tools'}, reasoning {spec.reasoning.mode}"
        for spec in specs
    }
    links = ", ".join(f"[{spec.name}](../specs/{spec.name}.yaml)" for spec in specs)
    cells = (family["family"], family["named"], "; ".join(sorted(here)), links)
    return f"| {' | '.join(cells)} | {family.get('note', '')} |"


def turn_of(name: str) -> tuple[str, dict[str, Any]]:
    """Return what a model writes in a format, and the parser's options for it."""
    spec = committed_format(name).spec
    calls = (allowed_call(spec, CALL),) if spec.tools else ()
    for content in (MESSAGE.content, ""):  # some templates drop a call beside content
        message = expected_message(spec, Message(content, MESSAGE.reasoning, calls))
        given = written_input(spec, message, thinking=True)
        if given is not None and len(message.calls) == len(calls):
            return given.text, {"tools": tool_definitions(calls), "prefill": given.prefill}
    raise AssertionError(f"{name} has no turn behind its prompt")


def _example(family: str, name: str) -> str:
    text, options = turn_of(name)
    message = committed_format(name).module.parse(text, **options)
    assert not message.problems, (name, message.problems)
    said = json.dumps(message.to_dict(), ensure_ascii=False, indent=2)
    fence = "````"
    return f"## {family}: {name}\n\n{fence}text\n{text}\n{fence}\n\n```json\n{said}\n```\n"


def main() -> int:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
