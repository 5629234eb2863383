"""The rungs of the verification before and after a change."""

from __future__ import annotations

from collections.abc import Iterator

from turnspec import __version__
from turnspec.review.reading import RANDOM_MESSAGES, Format
from turnspec.review.rules import RULES, Finding
from turnspec.spec.files import spec_hash
from turnspec.spec.results import RungResult, TemplateResult
from turnspec.spec.verdict import rung_title
from turnspec.verification.grammar_rung import agreement
from turnspec.verification.random_messages import random_messages
from turnspec.verification.rungs import round_trip_written


def known_result(form: Format, stored: TemplateResult | None) -> TemplateResult:
    """Return the stored result of a spec, with the rungs that need no template.

    Of a template that is analysed for the comparison rung 0 alone is known.
    """
    digest = spec_hash(form.spec)
    own = stored.rungs if stored is not None and stored.spec_hash == digest else {}
    if stored is not None and "3" in own:
        return stored
    given = list(random_messages(form.spec, RANDOM_MESSAGES))
    rungs = {
        **own,
        "1b": round_trip_written(form.spec, form.module, given),
        "3": agreement(form.spec, form.module, form.gbnf),
    }
    return TemplateResult(digest, __version__, form.spec.turn.order, rungs)


def rung_findings(before: TemplateResult, after: TemplateResult) -> Iterator[Finding]:
    """Yield which rungs were lost or won, and which aren't passed before and after."""
    for rung, now in after.rungs.items():
        then = before.rungs.get(rung)
        rule = _rule(then, now)
        if rule:
            figures = f"{then}, now {now}" if then else f"{now}"
            yield Finding(RULES[rule], f"{rung_title(rung)}: {figures}", now.example)


def _rule(then: RungResult | None, now: RungResult) -> str:
    passed = then is not None and then.is_passed
    if now.is_passed:
        return "rung-won" if then is not None and not passed else ""
    return "rung-lost" if passed else "rung-red"
