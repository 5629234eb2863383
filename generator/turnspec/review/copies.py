"""A vendored parser compared with the format as it is known now.

A copy holds no spec, so only one way can be tried: the old parser on turns of the new format.
"""

from __future__ import annotations

from pathlib import Path

from turnspec.catalog.catalog import Catalog
from turnspec.catalog.finding import unknown_name
from turnspec.codegen import banner
from turnspec.codegen.loading import load_module
from turnspec.pipeline.vendor import format_of
from turnspec.review.compare import Review, Status, TemplateReview, reading_findings
from turnspec.review.reading import Format, read_turns
from turnspec.spec.input_files import file_text
from turnspec.spec.os_reasons import reason
from turnspec.spec.problems import Problem


def review_copy(path: Path, catalog: Catalog) -> Review | Problem:
    """Compare a vendored parser with the known format that its banner names."""
    try:
        text = file_text(path)
    except OSError as error:
        return Problem(reason(error), str(path))
    except UnicodeDecodeError:
        return Problem("can't be read: not UTF-8", str(path))
    name, _ = banner.named_spec(text)
    if not banner.is_generated(text) or not name:
        return Problem("is no parser that turnspec generated", str(path))
    known = format_of(catalog, name, banner.named_command(text))
    if known is None:
        return unknown_name(name, catalog)
    spec, module, gbnf = known.spec(), known.module(), known.grammar()
    if isinstance(spec, list):
        return spec[0]
    if isinstance(module, Problem):
        return module
    if isinstance(gbnf, Problem):
        return gbnf
    titles = str(path), f"{name} as {'installed' if known.installed else 'it is here'}"
    if banner.is_same(banner.without_warning(text), banner.without_warning(module)):
        return Review(*titles, ())
    try:
        old = load_module(text)
    except (Exception, SystemExit) as error:  # whatever somebody made of it
        return Problem(f"can't be loaded: {type(error).__name__}: {error}", str(path))
    new = Format(spec, load_module(module), gbnf)
    forward = read_turns(Format(spec, old, gbnf), new)
    findings = tuple(reading_findings(forward))
    template = TemplateReview(name, Status.CHANGED, findings, forward=forward)
    return Review(*titles, (template,))
