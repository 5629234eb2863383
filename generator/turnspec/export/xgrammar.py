"""xgrammar's structural tag: the grammar for real tools, as one format of its JSON."""

from __future__ import annotations

import json

from turnspec.export.exporting import Exported, ExportOptions, Refusal
from turnspec.grammar.bound import bind_grammar
from turnspec.spec.model import Spec

FILE = "structural_tag.json"


def export_xgrammar(spec: Spec, options: ExportOptions) -> Exported | Refusal:
    """Return a structural tag for the request's tools and answer."""
    bound = bind_grammar(spec, options.request)
    if isinstance(bound, list):
        return Refusal("the request", "; ".join(map(str, bound)))
    tag = {"type": "structural_tag", "format": {"type": "grammar", "grammar": bound.grammar}}
    return Exported({FILE: json.dumps(tag, indent=2, ensure_ascii=False) + "\n"})
