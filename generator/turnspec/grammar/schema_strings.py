"""Strings of a JSON Schema as grammar: lengths, patterns and formats."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from turnspec.grammar.characters import AddRule, Strings
from turnspec.grammar.digit_ranges import repeat
from turnspec.grammar.patterns import MOST_REPEATS, Expression, pattern_expression
from turnspec.grammar.schema_checks import Place
from turnspec.grammar.schema_parts import given
from turnspec.grammar.text import sequence
from turnspec.spec.problems import Problem

_DAY = "0[1-9]|[12][0-9]"
_DATE = (
    rf"[0-9]{{4}}-(?:(?:0[13578]|1[02])-(?:{_DAY}|3[01])|(?:0[469]|11)-(?:{_DAY}|30)|02-(?:{_DAY}))"
)
_CLOCK = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]"
_TIME = rf"{_CLOCK}:[0-5][0-9](?:\.[0-9]+)?(?:Z|[+-]{_CLOCK})"
#: The formats that are enforced, as regular expressions. February always has 29 days.
FORMATS = {
    "date": _DATE,
    "time": _TIME,
    "date-time": f"{_DATE}T{_TIME}",
    "uuid": r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
}


@dataclass(frozen=True, slots=True)
class Remarks:
    """What is to be said about a schema: why there is no grammar, and where it differs.

    ``loosen`` is whether what can't be expressed is left out.
    """

    loosen: bool = False
    problems: list[Problem] = field(default_factory=list)
    notices: list[Problem] = field(default_factory=list)

    def notice(self, message: str, path: str) -> None:
        """Add something that the grammar doesn't say as the schema does."""
        self.notices.append(Problem(message, path=path))

    def left_out(self, message: str, path: str, instead: str) -> None:
        """Add a reason why there is no grammar, or, to loosen it, what there is instead."""
        if self.loosen:
            self.notice(f"{message}; {instead}", path)
        else:
            self.problems.append(Problem(message, path=path))


def string_text(parts: list[Place], strings: Strings, remarks: Remarks, add: AddRule) -> str | None:
    """Return a string for which all schemas hold, None if none; ``add`` makes a rule of a text."""
    least = max(map(int, given(parts, "minLength")), default=0)
    most = min(map(int, given(parts, "maxLength")), default=None)
    expression = _expression(parts, strings, remarks, add)
    if most is not None and least > most:
        return None
    if expression is not None:
        _tell_lengths(parts, expression, (least, most), remarks)
        inside = "" if expression.text == '""' else expression.text
        return strings.enclosed(inside) or '""'
    if not least and most is None and not strings.never_first.ranges:
        return strings.text
    if most == 0:
        return strings.enclosed("") or '""'
    _tell_narrowed(parts, strings, "maxLength" if most is not None else "minLength", remarks)
    least, most = limited(parts, ("minLength", "maxLength"), (least, most), remarks)
    if not strings.never_first.ranges:
        return strings.enclosed(f"{strings.any_character()}{repeat(least, most)}")
    rest = repeat(max(least - 1, 0), None if most is None else most - 1)
    others = "" if most == 1 else f"{strings.any_character()}{rest}"
    inside = sequence(strings.first_character(), others)
    return strings.enclosed(inside if least else f"( {inside} )?")


def limited(
    parts: list[Place], words: tuple[str, str], bounds: tuple[int, int | None], remarks: Remarks
) -> tuple[int, int | None]:
    """Return the bounds of a repeat as far as engines count; ``words`` are their keywords."""
    least, most = bounds
    if least > MOST_REPEATS:
        message = f"{words[0]} is loosened from {least} to {MOST_REPEATS}"
        remarks.notice(message, path_of(parts, words[0]))
    if most is not None and most > MOST_REPEATS:
        remarks.notice(f"{words[1]} {most} is not enforced", path_of(parts, words[1]))
        most = None
    return min(least, MOST_REPEATS), most


def path_of(parts: list[Place], keyword: str) -> str:
    """Return the path of a keyword in the first of the schemas that has it."""
    return next(part.at(keyword) for part in parts if keyword in part.keywords)


def _expression(
    parts: list[Place], strings: Strings, remarks: Remarks, add: AddRule
) -> Expression | None:
    patterns = dict.fromkeys(given(parts, "pattern"))
    known = dict.fromkeys(word for word in given(parts, "format") if word in FORMATS)
    if len(patterns) > 1:
        path = path_of(parts[::-1], "pattern")
        message = "several patterns for one string do not combine"
        remarks.left_out(message, path, "the first one is enforced")
    if len(known) > (0 if patterns else 1):
        message = "format is not enforced beside a pattern or another format"
        remarks.notice(message, path_of(parts[::-1], "format"))
    keyword, wanted = "pattern", next(iter(patterns), None)
    if wanted is None:
        keyword, wanted = "format", next((f"^{FORMATS[word]}$" for word in known), None)
    if wanted is None:
        return None
    found = pattern_expression(wanted, strings, add)
    if isinstance(found, str):
        message = f"the pattern is beyond a grammar: {found}"
        remarks.left_out(message, path_of(parts, keyword), "it is not enforced")
        return None
    if found.loosened:
        message = f"repeats beyond {MOST_REPEATS} are not counted"
        remarks.notice(message, path_of(parts, keyword))
    if found.narrowed:
        _tell_narrowed(parts, strings, keyword, remarks)
    return found


def _tell_lengths(
    parts: list[Place], expression: Expression, bounds: tuple[int, int | None], remarks: Remarks
) -> None:
    least, most = bounds
    longer = most is not None and (expression.most is None or expression.most > most)
    for keyword, loose in (("minLength", expression.least < least), ("maxLength", longer)):
        if loose:
            message = f"{keyword} is not enforced beside the pattern or format"
            remarks.notice(message, path_of(parts, keyword))


def _tell_narrowed(parts: list[Place], strings: Strings, keyword: str, remarks: Remarks) -> None:
    ranges = strings.unwritable().ranges
    firsts = (strings.never_first - strings.unwritable()).ranges
    path = next((p.at(keyword) for p in parts if keyword in p.keywords), parts[0].path)
    if ranges:
        remarks.notice(f"the string is written without {_listed(ranges)}", path)
    if firsts:
        message = f"the string doesn't begin with {_listed(firsts)}"
        remarks.notice(f"{message}, as a value of another type may", path)


def _listed(ranges: Iterable[tuple[int, int]]) -> str:
    ends = ((repr(chr(low)), repr(chr(high))) for low, high in ranges)
    return ", ".join(one if one == other else f"{one} to {other}" for one, other in ends)
