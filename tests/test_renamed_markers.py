"""Templates whose markers have other names, or are made of other signs: all else stays as it was.

So no marker is known by its name, nor has to look like markup.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.generated_formats import EVERY_FORMAT, PARTS, committed_spec
from turnspec.analysis.analyze import analyze_template
from turnspec.analysis.source import TemplateSource
from turnspec.pipeline.project import Project
from turnspec.pipeline.template_sources import read_sources
from turnspec.rendering.worker import RenderWorker
from turnspec.sources.index import Entry
from turnspec.spec.files import dump_spec, load_spec
from turnspec.spec.model import Spec

ROOT = Path(__file__).parent.parent
#: How a marker is written that opens, and one that closes, each by its name; None: as it was.
STYLES = {
    "other names": None,
    "brackets of other scripts": ("⟦%s⟧", "⟦/%s⟧"),
    "two signs": ("@@%s@@", "@@/%s@@"),
    "lines of signs": ("=== %s ===", "=== /%s ==="),
    "colons": ("::%s::", "::/%s::"),
}
#: What ends with the sign with which it begins can't always be told from what stands around it.
SURE = ("other names", "brackets of other scripts")
_MARKER = re.compile(r"<([|｜]?)(/?)([\w▁.:-]+)([|｜]?)>|\[()(/?)([A-Z_]{4,})()\]")
#: What a template makes of a message's role or of a tag's name, and models' usual special tokens.
_KEPT = {"user", "assistant", "system", "tool", "developer", "model", "human", "gpt", "s", "/s"}


def renamed(text: str, style: str, template: str) -> str:
    """Return a text with other markers, where a template has their names in some marker.

    Each name becomes one that says nothing.
    """
    known = {name or other for _, _, name, _, _, _, other, _ in _MARKER.findall(template)}

    def other(found: re.Match[str]) -> str:
        before, slash, name, after = (it for it in found.groups() if it is not None)
        if name.lower() in _KEPT or name not in known:
            return found[0]
        word = "".join("bdfgklmnprtvz"[ord(sign) % 13] + "aeio"[ord(sign) % 4] for sign in name)
        written = STYLES[style]
        closes = slash or (after and not before)
        return written[bool(closes)] % word if written else found[0].replace(name, word)

    return _MARKER.sub(other, text)


def is_tried(name: str) -> bool:
    """Say whether a format has markers of calls or reasoning, and no overlay says which."""
    spec, overlays = committed_spec(name), Project(ROOT).overlays
    return bool(spec.grammar.preserved_tokens) and not (overlays / f"{name}.yaml").exists()


@pytest.fixture(scope="module")
def sources(reference_templates: list[Entry]) -> dict[str, TemplateSource]:
    found, problems = read_sources(Project(ROOT), reference_templates)
    assert problems == []
    return {source.name: replace(source, tokenizer=None) for source in found}


FORMATS = [*filter(is_tried, PARTS)]
SURE_ONES = [(name, style) for name in FORMATS for style in SURE]
REASONS = [name for name in FORMATS if committed_spec(name).reasoning.field]
SIGNS = [(REASONS[0], style) for style in STYLES if style not in SURE]


@pytest.mark.parametrize(
    ("name", "style"), [*(SURE_ONES if EVERY_FORMAT else SURE_ONES[::3]), *SIGNS]
)
def test_other_markers_change_nothing_else(
    name: str, style: str, sources: dict[str, TemplateSource], worker: RenderWorker
) -> None:
    source = sources[name]
    known = source.text + "".join(source.tokens.values())
    tokens = {key: renamed(token, style, known) for key, token in source.tokens.items()}
    other = replace(source, text=renamed(source.text, style, known), tokens=tokens)
    assert other.text != source.text
    given, changed = (analyze_template(it, worker).spec for it in (source, other))
    assert given is not None
    assert changed is not None
    wanted = load_spec(renamed(dump_spec(given), style, known), "renamed.yaml")
    assert isinstance(wanted, Spec)
    assert replace(changed, template=wanted.template) == wanted
