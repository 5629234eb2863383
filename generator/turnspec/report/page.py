"""The page: one HTML file that needs nothing else, with all formats of a checkout."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from turnspec import __version__
from turnspec.explain.samples import SAMPLE_TOOLS
from turnspec.report.entries import Entry

_TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True, slots=True)
class Filter:
    """A choice by which the index is narrowed."""

    key: str
    label: str
    choices: tuple[str, ...]


def render_page(entries: Sequence[Entry], *, served: bool = False) -> str:
    """Return the page; one that is ``served`` can ask the server to parse a text."""
    style, script = (
        (_TEMPLATES / name).read_text(encoding="utf-8") for name in ("style.css", "script.js")
    )
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.jinja").render(
        entries=entries,
        filters=_filters(entries),
        verified=sum(entry.verified for entry in entries),
        version=__version__,
        served=served,
        tools=json.dumps(SAMPLE_TOOLS, indent=1),
        policy=_policy(style, script, served=served),
        # Both are the package's own text, nothing of a template.
        style=Markup(style),
        script=Markup(script),
    )


def _filters(entries: Sequence[Entry]) -> tuple[Filter, ...]:
    choices = {
        ("calls", "Calls"): [entry.calls for entry in entries],
        ("reasoning", "Reasoning"): [entry.reasoning for entry in entries],
        ("values", "Strings in calls"): [entry.values for entry in entries],
    }
    found = [Filter(*names, tuple(sorted(set(values)))) for names, values in choices.items()]
    return (*found, Filter("verified", "Verified", ("yes", "no")))


def _policy(style: str, script: str, *, served: bool) -> str:
    """Return a content security policy under which nothing but the page's own code runs."""
    return "; ".join(
        (
            "default-src 'none'",
            "img-src data:",
            f"style-src '{_digest(style)}'",
            f"script-src '{_digest(script)}'",
            f"connect-src {_own(served)}",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _own(served: bool) -> str:
    return "'self'" if served else "'none'"


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
