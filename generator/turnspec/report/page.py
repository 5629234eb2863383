"""The page: one HTML file that needs nothing else, with all formats of a checkout."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from turnspec import __version__
from turnspec.catalog.names import PATTERNS
from turnspec.codegen.typescript import Script, script_engine
from turnspec.report.entries import Entry
from turnspec.report.legend import legends
from turnspec.report.packed import packed
from turnspec.spec.visible import visible

_TEMPLATES = Path(__file__).parent / "templates"
#: The modules of the page's script, each behind those that it imports.
_MODULES = ("reading.mjs", "elements.mjs", "names.mjs", "box.mjs", "index.mjs")
_IMPORT = re.compile(r"^import\s[^;]*;\n", re.MULTILINE)


def render_page(entries: Sequence[Entry], *, served: bool = False, root: str | None = None) -> str:
    """Return the page; one that is ``served`` can ask the server what a Python parser does.

    ``root`` leads from the page to the repository, with a slash at its end; without it the names
    of its files lead nowhere.
    """
    style = (_TEMPLATES / "style.css").read_text(encoding="utf-8")
    script = page_script(served=served)
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    more = environment.get_template("more.jinja")
    return environment.get_template("page.jinja").render(
        entries=entries,
        filters=_filters(entries),
        patterns=PATTERNS,
        verified=sum(entry.verified for entry in entries),
        version=__version__,
        served=served,
        root=root,
        legends=legends(),
        # Letters of base64 alone.
        data=Markup(packed(entries, {entry.name: more.render(entry=entry) for entry in entries})),
        policy=_policy(style, script, served=served),
        # Both are the package's own text, nothing of a template.
        style=Markup(style),
        script=Markup(script),
    )


def _shown(value: object) -> object:
    """Return what a template's placeholder stands for; no sign of a text deceives its reader."""
    is_text = isinstance(value, str) and not isinstance(value, Markup)
    return visible(str(value), "\n\t") if is_text else value


def page_script(*, served: bool) -> str:
    """Return the engine and the page's modules as one module, which imports nothing."""
    names = [*_MODULES, "served.mjs"] if served else _MODULES
    modules = ((_TEMPLATES / name).read_text(encoding="utf-8") for name in names)
    own = "\n".join(_IMPORT.sub("", module) for module in modules)
    return f"{script_engine(Script.JAVASCRIPT)}\n{own}"


def _filters(entries: Sequence[Entry]) -> list[tuple[str, str, Sequence[str]]]:
    """Return what narrows the index: the key of each, its label, and what there is to choose."""
    choices = {
        ("calls", "Calls"): [entry.calls for entry in entries],
        ("reasoning", "Reasoning"): [entry.reasoning for entry in entries],
        ("values", "Strings in calls"): [entry.values for entry in entries],
    }
    found = [(*names, sorted(set(values))) for names, values in choices.items()]
    return [*found, ("verified", "Verified", ("yes", "no"))]


def _policy(style: str, script: str, *, served: bool) -> str:
    """Return a content security policy under which nothing but the page's own code runs."""
    return "; ".join(
        (
            "default-src 'none'",
            "img-src data:",
            f"style-src '{_digest(style)}'",
            f"script-src '{_digest(script)}'",
            "connect-src 'self'" if served else "connect-src 'none'",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
