"""The kinds of change that a review tells, each with a name, a severity and what it means."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from turnspec.review.facts import Area, Change
from turnspec.spec.results import Counterexample
from turnspec.spec.words import ReasoningMode


class Severity(StrEnum):
    """What a change does to those who keep the old parser and the old grammar, best first."""

    COMPATIBLE = "compatible"  # nothing
    LENIENT = "lenient"  # what was meant is still read, but something is worse
    BREAKING = "breaking"  # something else is read, or can't be written any more


@dataclass(frozen=True, slots=True)
class Rule:
    """A kind of change: its name, how bad it is, and what it means in a sentence."""

    id: str
    severity: Severity
    meaning: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A change of a kind: what it is in a line, and the shortest example where there is one."""

    rule: Rule
    text: str
    example: Counterexample | None = None


def worst(findings: Iterable[Finding]) -> Severity:
    """Return the severity of the worst finding; without any a change is compatible."""
    order = list(Severity)
    found = (finding.rule.severity for finding in findings)
    return max(found, key=order.index, default=Severity.COMPATIBLE)


_BREAKING, _LENIENT, _COMPATIBLE = Severity.BREAKING, Severity.LENIENT, Severity.COMPATIBLE
_RULES = (
    ("format-removed", _BREAKING, "a format is gone, and its parser with it"),
    ("format-added", _COMPATIBLE, "a format is new"),
    ("parser-misreads", _BREAKING, "the old parser reads something else than was meant"),
    ("parser-complains", _LENIENT, "the old parser reads what was meant, with problems"),
    (
        "prefill-misread",
        _LENIENT,
        "who gives the old parser the real prompt as prefill gets something else, or problems",
    ),
    ("own-parser-misreads", _BREAKING, "the new parser doesn't read what its own spec writes"),
    ("nothing-compared", _BREAKING, "the new spec writes no turn that could be compared"),
    ("grammar-refuses", _BREAKING, "the old grammar doesn't allow a turn of the new format"),
    (
        "parser-misreads-grammar",
        _BREAKING,
        "the old parser reads something else in what the new grammar lets through",
    ),
    (
        "parser-complains-grammar",
        _LENIENT,
        "the old parser tells of problems in what the new grammar lets through",
    ),
    ("stop-missed", _BREAKING, "no old stop string stands at the end of a new turn"),
    ("stop-early", _BREAKING, "an old stop string stands inside of a new turn"),
    ("trigger-missed", _BREAKING, "no old trigger stands in a new turn with calls"),
    ("thinking-default-flipped", _BREAKING, "who sets nothing gets thinking, or loses it"),
    ("thinking-switch-flipped", _BREAKING, "what gave thinking, or none, doesn't now"),
    ("rung-lost", _BREAKING, "a rung of the verification passed, and doesn't any more"),
    ("rung-red", _LENIENT, "a rung of the verification isn't passed"),
    ("rung-won", _COMPATIBLE, "a rung of the verification passes now"),
    ("capability-lost", _LENIENT, "the template doesn't accept something any more"),
    ("capability-won", _COMPATIBLE, "the template accepts something more"),
    (
        "reasoning-lost",
        _LENIENT,
        "the template doesn't show reasoning any more, and its new parser doesn't read it",
    ),
    ("requirement-added", _LENIENT, "the template demands something more of messages"),
    ("requirement-dropped", _COMPATIBLE, "the template demands something less"),
    ("limit-added", _LENIENT, "something doesn't come back faithfully any more"),
    ("limit-removed", _COMPATIBLE, "something comes back faithfully now"),
    ("mode-changed", _COMPATIBLE, "a mode, or the order of the parts, is another"),
    ("marker-changed", _COMPATIBLE, "a marker is another"),
    ("turn-end-changed", _COMPATIBLE, "a turn's end, or a stop string, is another"),
    ("thinking-changed", _COMPATIBLE, "a switch of thinking, or a prompt, is another"),
    ("arguments-changed", _COMPATIBLE, "values are written in another way"),
    ("alternative-changed", _COMPATIBLE, "what a parser reads beside the template's way"),
    ("grammar-hints-changed", _COMPATIBLE, "triggers or tokens to keep are others"),
    ("overlay-changed", _COMPATIBLE, "other keys come from an overlay"),
    ("template-changed", _COMPATIBLE, "the template's text is another"),
)
#: Every rule, by its name.
RULES = {name: Rule(name, severity, meaning) for name, severity, meaning in _RULES}

_OF_AREAS = {
    Area.MODE: "mode-changed",
    Area.MARKER: "marker-changed",
    Area.TURN_END: "turn-end-changed",
    Area.THINKING: "thinking-changed",
    Area.ARGUMENTS: "arguments-changed",
    Area.ALTERNATIVE: "alternative-changed",
    Area.GRAMMAR: "grammar-hints-changed",
    Area.OVERLAY: "overlay-changed",
    Area.TEMPLATE: "template-changed",
}


def rule_of(change: Change) -> Rule:
    """Return the kind of a changed fact."""
    match change.area:
        case Area.LIMIT:
            return RULES["limit-removed" if change.after is None else "limit-added"]
        case Area.CAPABILITY:
            return RULES["capability-lost" if change.after == "no" else "capability-won"]
        case Area.REQUIREMENT:
            return RULES["requirement-added" if change.after == "yes" else "requirement-dropped"]
        case Area.MODE if change.name == "reasoning" and change.after == ReasoningMode.NONE:
            return RULES["reasoning-lost"]
    return RULES[_OF_AREAS[change.area]]
