"""Renders exported cases with transformers; runs in an environment that has it, and nothing else.

``make reference`` exports the cases with this project's own environment and runs this in another:

    python -m tests.reference.compare export build/cases.json
    build/reference/bin/python tests/reference/record.py build/cases.json RESULTS.json
"""

from __future__ import annotations

import datetime
import hashlib
import importlib
import json
import sys
from pathlib import Path
from typing import Any


def main(cases_file: str, results_file: str) -> int:
    """Render each case and write what became of it."""
    transformers = importlib.import_module("transformers")
    utilities = importlib.import_module("transformers.utils.chat_template_utils")
    exported = json.loads(Path(cases_file).read_text(encoding="utf-8"))
    pinned = datetime.datetime.fromisoformat(exported["now"])

    class Clock(datetime.datetime):
        """A clock that stands still."""

        @classmethod
        def now(cls, tz: Any = None) -> datetime.datetime:  # type: ignore[override]
            return pinned

    setattr(utilities, "datetime", Clock)  # noqa: B010 (a module that type checkers don't know)
    results: dict[str, dict[str, list[str]]] = {}
    for case in exported["cases"]:
        found = [_rendered(utilities, case["source"], case[given]) for given in ("form", "plain")]
        results.setdefault(case["template"], {})[case["name"]] = found
    recorded = {"transformers": transformers.__version__, "renderings": results}
    text = json.dumps(recorded, indent=1, ensure_ascii=False, sort_keys=True)
    Path(results_file).write_text(text + "\n", encoding="utf-8")
    return 0


def _rendered(utilities: Any, source: str, given: dict[str, Any]) -> str:
    """Return a hash of the text, or the error."""
    variables = dict(given)
    messages = variables.pop("messages")
    tools = variables.pop("tools", None)
    try:
        texts, _ = utilities.render_jinja_template(
            [messages], tools=tools, chat_template=source, **variables
        )
    except Exception as error:  # a template may raise anything
        return f"error: {type(error).__name__}: {' '.join(str(error).split())}"[:120]
    return hashlib.sha256(texts[0].encode()).hexdigest()[:16]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
