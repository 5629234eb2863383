"""Calls that are code: what announces them, how they begin, and what ends them."""

from __future__ import annotations

from dataclasses import replace

from turnspec.codegen.call_plan import CallPlan
from turnspec.codegen.element_plan import NEWLINE, NEWLINE_TEXT
from turnspec.codegen.marker_plan import SPACE, Expression, Follows, Marker, words
from turnspec.spec.model import CodeCall

_METHOD_NAME = Expression("_METHOD_NAME")
_BLANKS = Expression("_BLANKS")


def with_code(plan: CallPlan, code: CodeCall | None, ends: tuple[str, ...]) -> CallPlan:
    """Return the plan for reading calls that may also be code, up to one of ``ends``."""
    if code is None:
        return plan
    expressions = {**plan.expressions, NEWLINE.name: NEWLINE_TEXT}
    starts = []
    if code.method:
        expressions[_METHOD_NAME.name] = r"(?P<name>\w{1,64})"
        starts.append(Marker("method", ((SPACE, _METHOD_NAME, f".{code.method}", SPACE, "("),)))
    if plan.kind == "json":  # the template's own way to give arguments, without a name
        starts.append(Marker("object", ((SPACE, Follows((("{",),))),)))
    sets = {**plan.sets, "_CODE_END": (Marker("end", tuple((NEWLINE, *words(e)) for e in ends)),)}
    if starts:
        sets["_CODE_START"] = tuple(starts)
    start = words(code.start)
    if code.start.endswith("\n"):  # then the line has to end there
        expressions[_BLANKS.name] = r"[^\S\n]{0,9}"
        start = (*start, _BLANKS, "\n")
    return replace(
        plan,
        text=(*plan.text, Marker("code", (start,))),
        sets=sets,
        expressions=expressions,
        code=code,
    )
