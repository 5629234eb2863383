"""The kinds of change that a review tells, each with a name, a severity and what it means."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from turnspec.review.facts import Area, Change
from turnspec.spec.results import Counterexample


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


def _rules() -> Iterator[Rule]:
    breaking, lenient, compatible = Severity.BREAKING, Severity.LENIENT, Severity.COMPATIBLE
    yield Rule("format-removed", breaking, "a format is gone, and its parser with it")
    yield Rule("format-added", compatible, "a format is new")
    yield Rule("parser-misreads", breaking, "the old parser reads something else than was meant")
    yield Rule("parser-complains", lenient, "the old parser reads what was meant, with problems")
    yield Rule(
        "own-parser-misreads", breaking, "the new parser doesn't read what its own spec writes"
    )
    yield Rule("nothing-compared", breaking, "the new spec writes no turn that could be compared")
    yield Rule(
        "grammar-refuses", breaking, "the old grammar doesn't allow a turn of the new format"
    )
    yield Rule(
        "parser-misreads-grammar",
        breaking,
        "the old parser reads something else in what the new grammar lets through",
    )
    yield Rule(
        "parser-complains-grammar",
        lenient,
        "the old parser tells of problems in what the new grammar lets through",
    )
    yield Rule("stop-missed", breaking, "no old stop string stands at the end of a new turn")
    yield Rule("stop-early", breaking, "an old stop string stands inside of a new turn")
    yield Rule("trigger-missed", breaking, "no old trigger stands in a new turn with calls")
    yield Rule("thinking-default-flipped", breaking, "who sets nothing gets thinking, or loses it")
    yield Rule("thinking-switch-flipped", breaking, "what gave thinking, or none, doesn't now")
    yield Rule("rung-lost", breaking, "a rung of the verification passed, and doesn't any more")
    yield Rule("rung-red", lenient, "a rung of the verification didn't pass, and still doesn't")
    yield Rule("rung-won", compatible, "a rung of the verification passes now")
    yield Rule("capability-lost", lenient, "the template doesn't accept something any more")
    yield Rule("capability-won", compatible, "the template accepts something more")
    yield Rule("requirement-added", lenient, "the template demands something more of messages")
    yield Rule("requirement-dropped", compatible, "the template demands something less")
    yield Rule("limit-added", lenient, "something doesn't come back faithfully any more")
    yield Rule("limit-removed", compatible, "something comes back faithfully now")
    yield Rule("mode-changed", compatible, "a mode, or the order of the parts, is another")
    yield Rule("marker-changed", compatible, "a marker is another")
    yield Rule("turn-end-changed", compatible, "a turn's end, or a stop string, is another")
    yield Rule("thinking-changed", compatible, "a switch of thinking, or a prompt, is another")
    yield Rule("arguments-changed", compatible, "values are written in another way")
    yield Rule("alternative-changed", compatible, "what a parser reads beside the template's way")
    yield Rule("grammar-hints-changed", compatible, "triggers or tokens to keep are others")
    yield Rule("overlay-changed", compatible, "other keys come from an overlay")
    yield Rule("template-changed", compatible, "the template's text is another")


#: Every rule, by its name.
RULES = {rule.id: rule for rule in _rules()}

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
    return RULES[_OF_AREAS[change.area]]
