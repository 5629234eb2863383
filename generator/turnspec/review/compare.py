"""Two sets of specs compared: what changed in each template, what it does, and a verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from turnspec.codegen.loading import load, load_module
from turnspec.codegen.writer import write_turn
from turnspec.grammar.turn import generate_grammar
from turnspec.review.engines import engine_findings
from turnspec.review.facts import Change, changes
from turnspec.review.reading import Format, Reading, read_turns, written_turns
from turnspec.review.rules import RULES, Finding, Severity, rule_of, worst
from turnspec.review.standing import known_result, rung_findings
from turnspec.review.switches import switch_findings
from turnspec.spec.files import spec_hash
from turnspec.spec.message import Message
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem
from turnspec.spec.results import TemplateResult
from turnspec.verification.messages import sample_messages
from turnspec.verification.turns import written_input


class Status(StrEnum):
    """What became of a template."""

    CHANGED = "changed"
    ADDED = "added"
    REMOVED = "removed"


_OF_STATUS = (RULES["format-added"], RULES["format-removed"])


@dataclass(frozen=True, slots=True)
class Source:
    """A spec, and what there is of it: its parser's text, its grammar's, and its results."""

    spec: Spec
    module: str | None = None
    gbnf: str | None = None
    result: TemplateResult | None = None
    file: str = ""  # where it is, for annotations


@dataclass(frozen=True, slots=True)
class TemplateReview:
    """What changed in one template.

    ``forward`` and ``backward`` are None where only the template's text changed, or there is one
    spec alone, and the latter where there is no old spec.
    """

    name: str
    status: Status
    findings: tuple[Finding, ...] = ()
    changes: tuple[Change, ...] = ()
    forward: Reading | None = None  # the old parser on turns of the new spec
    backward: Reading | None = None  # the new one on turns of the old
    same_turns: bool = False  # whether both specs write them so, behind the same prompts
    modes: str = ""  # of an added format, in a few words
    file: str = ""  # the new spec's, or else the old one's

    @property
    def told(self) -> tuple[Finding, ...]:
        """The findings beyond that a format is new, or gone, which ``status`` says."""
        return tuple(f for f in self.findings if f.rule not in _OF_STATUS)

    @property
    def severity(self) -> Severity:
        """What the change does to those who keep the old parser and the old grammar."""
        return worst([*self.findings, *self.fact_findings()])

    def fact_findings(self) -> Iterator[Finding]:
        """Yield the changed facts as findings."""
        for change in self.changes:
            yield Finding(rule_of(change), change.name)


@dataclass(frozen=True, slots=True)
class Review:
    """All that changed between two sets of specs, which ``old`` and ``new`` name."""

    old: str
    new: str
    templates: tuple[TemplateReview, ...]
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()  # of which templates it can't tell

    def reaches(self, threshold: Severity) -> bool:
        """Tell whether a change is as bad as ``threshold``, or worse."""
        order = list(Severity)
        return any(order.index(it.severity) >= order.index(threshold) for it in self.templates)


def compare_all(
    old: Mapping[str, Source],
    new: Mapping[str, Source],
    on_template: Callable[[], None] = lambda: None,
) -> tuple[TemplateReview, ...]:
    """Compare the specs of two sets by name; those that are equal are left out."""
    reviews: list[TemplateReview] = []
    for name in sorted({*old, *new}):
        before, after = old.get(name), new.get(name)
        found = _compare_one(name, before, after)
        if found is not None:
            reviews.append(found)
            on_template()
    return tuple(reviews)


def _compare_one(name: str, old: Source | None, new: Source | None) -> TemplateReview | None:
    if old and new and old.spec == new.spec:
        return _compare_results(name, old, new)
    if old is None and new is not None:
        found = (Finding(RULES["format-added"], _modes(new)), *_rungs(None, new))
        return TemplateReview(name, Status.ADDED, found, modes=_modes(new), file=new.file)
    if old is None or new is None:  # whoever uses its parser loses it
        removed = Finding(RULES["format-removed"], "")
        return TemplateReview(name, Status.REMOVED, (removed,), file=old.file if old else "")
    return compare_sources(name, old, new)


def _compare_results(name: str, old: Source, new: Source) -> TemplateReview | None:
    """Compare what was found of a spec that is the same; None where that is the same, too."""
    if old.result is None or new.result is None:
        return None
    found = rung_findings(old.result, new.result)
    findings = tuple(finding for finding in found if finding.rule is not RULES["rung-red"])
    if not findings:
        return None
    return TemplateReview(name, Status.CHANGED, findings, same_turns=True, file=new.file)


def _rungs(old: Source | None, new: Source) -> Iterator[Finding]:
    """Yield the rungs that were lost or won, and those that aren't passed.

    What a spec is blind to may change with the template's text: one that is red stays told.
    """
    if new.result is not None:
        before = old.result if old else None
        yield from rung_findings(before or replace(new.result, rungs={}), new.result)


def compare_sources(name: str, old: Source, new: Source) -> TemplateReview:
    """Compare two specs, each by its own parser."""
    facts = changes(old.spec, new.spec)
    known = old.spec
    # The same but for which template it is from.
    same = replace(new.spec, name=known.name, template=known.template, tokens=known.tokens)
    if same.of_template == known.of_template:
        found = tuple(_rungs(old, new))
        return TemplateReview(name, Status.CHANGED, found, facts, same_turns=True, file=new.file)
    before, after = _format(old), _format(new)
    forward, backward = read_turns(before, after), read_turns(after, before)
    results = known_result(before, old.result), known_result(after, new.result)
    findings = (
        *reading_findings(forward),
        *engine_findings(before, after, written_turns(after.spec)),
        *switch_findings(old.spec, new.spec),
        *rung_findings(*results),
    )
    changed = TemplateReview(name, Status.CHANGED, findings, facts, file=new.file)
    is_same = _same_turns(old.spec, new.spec)
    return replace(changed, forward=forward, backward=backward, same_turns=is_same)


def reading_findings(reading: Reading) -> Iterator[Finding]:
    """Yield what the old parser makes of the new format's turns."""
    if not reading.turns:
        yield Finding(RULES["nothing-compared"], "")
        return
    if reading.differing:
        where = f", only behind {reading.only_behind}" if reading.only_behind else ""
        said = f"{reading.differing} of {reading.turns} turns{where}"
        yield Finding(RULES["parser-misreads"], said, reading.example)
    elif reading.with_problems:
        said = f"{reading.with_problems} of {reading.turns} turns: {', '.join(reading.kinds)}"
        yield Finding(RULES["parser-complains"], said, reading.example)
    order = list(Severity)
    if order.index(reading.with_prompt) > order.index(reading.severity):
        yield Finding(RULES["prefill-misread"], f"{reading.with_prompt} for them")
    if reading.unreadable:
        said = f"{reading.unreadable} of {reading.turns} turns"
        yield Finding(RULES["own-parser-misreads"], said, reading.own_example)


def _modes(source: Source) -> str:
    tools = source.spec.tools.mode if source.spec.tools else "none"
    return f"reasoning {source.spec.reasoning.mode}, tools {tools}"


def _same_turns(old: Spec, new: Spec) -> bool:
    prompts = [spec.thinking.prompts for spec in (old, new)]
    given = [*sample_messages(old), *sample_messages(new)]
    return prompts[0] == prompts[1] and all(
        _written(old, message) == _written(new, message) for message in given
    )


def _written(spec: Spec, message: Message) -> tuple[object, ...]:
    """Return what a model writes, and what a later turn looks like: it may count the calls."""
    return (
        *(written_input(spec, message, thinking=enable) for enable in spec.thinking.choices),
        write_turn(spec, message, calls_before=2),
    )


def _format(source: Source) -> Format:
    """Return a spec with its parser and grammar; what isn't the spec's own is made anew."""
    spec, digest = source.spec.of_template, spec_hash(source.spec)
    text, gbnf = source.module, source.gbnf
    is_own = text is not None and digest in text and spec == source.spec
    if gbnf is None or digest not in gbnf or spec != source.spec:
        gbnf = generate_grammar(spec, spec_path="", spec_hash=digest)
    return Format(spec, load_module(text) if text and is_own else load(spec), gbnf)
