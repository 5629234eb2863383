"""A model's tokenizer_config.json as a place for an export: read, and held to be the right one's.

Nothing is put into the file of another model: its chat template has to be the format's own, or one
that writes the same turns.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from turnspec.analysis.analyze import analyze_limited
from turnspec.analysis.source import TemplateSource
from turnspec.rendering.limits import USUAL_LIMITS
from turnspec.sources.reading import read_config_templates
from turnspec.sources.text_files import sha256_of
from turnspec.spec.fingerprint import fingerprint
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem

_SHOWN_DIGITS = 12


def read_tokenizer_config(path: Path, spec: Spec) -> Mapping[str, Any] | Problem:
    """Return what the file holds, or why a spec's export doesn't belong there."""
    config, texts, problems = read_config_templates(path)
    if problems:
        return problems[0]
    if not texts:
        return Problem("holds no chat template, so nobody can tell whose it is", str(path))
    digests = {sha256_of(text.encode("utf-8")) for text in texts.values()}
    alike = (_writes_the_same(text, spec) for text in texts.values())
    if spec.template.sha256 in digests or any(alike):
        return config
    found, wanted = min(digests)[:_SHOWN_DIGITS], spec.template.sha256[:_SHOWN_DIGITS]
    return Problem(
        f"is of another model: its template (sha256 {found}…) isn't that of {spec.name} "
        f"({wanted}…), and writes other turns",
        str(path),
    )


def _writes_the_same(text: str, spec: Spec) -> bool:
    source = TemplateSource(spec.name, text, spec.template.file, "local", {})
    analysis = analyze_limited(source, USUAL_LIMITS)
    return analysis.spec is not None and fingerprint(analysis.spec) == fingerprint(spec)
