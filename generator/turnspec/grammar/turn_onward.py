"""What may stand behind a part of a turn: the next part, or the turn's end."""

from collections.abc import Iterator

from turnspec.codegen.headers import content_has_own_line
from turnspec.codegen.shapes import looks_like_marker
from turnspec.grammar.calls import gap_behind
from turnspec.grammar.text import GAP, WHITE_SPACE, sequence, spelled, trimmed
from turnspec.grammar.turn_parts import (
    TEXT,
    Offer,
    begins_like_call,
    end_of,
    is_run,
    joins_of,
    opening_of,
    parts_of,
)
from turnspec.spec.model import Spec
from turnspec.spec.words import Part

#: What a turn may begin with, reasoning aside.
_AT_START = ((Part.START, Part.CONTENT), (Part.START, Part.CALLS))


def onward(offer: Offer, left: Part) -> list[str]:
    """Return what may stand behind ``left`` and its own end: the next part or the turn's end."""
    spec = offer.spec
    options = [
        lead_in(offer, left, right, join)
        for right in offer.following(left)
        for join in joins_of(spec, left, right)
    ]
    for final in _finals(offer, left) if offer.may_end(left) else ():
        last = end_of(spec, left) + final
        if trimmed(final) or (last.rstrip(WHITE_SPACE) != last and not _is_open(spec, left)):
            ending = spelled(_told_apart(last, trimmed(final)))
            options.append(sequence(_gap_behind(spec, left), ending, GAP))
            # An engine takes the end itself away, and leaves the white space before it.
            options += [GAP] if _gap_behind(spec, left) else []
    return without_repeated(offer, left, options)


def _finals(offer: Offer, left: Part) -> Iterator[str]:
    """Yield the turn's end behind ``left``, and what ends a turn with calls if that differs.

    Where content always follows, but isn't offered, the turn ends as behind content.
    """
    spec = offer.spec
    is_last = spec.end(left) is not None or Part.CONTENT in offer.parts
    yield spec.final(left if is_last else Part.CONTENT)
    parts = parts_of(spec)
    if spec.turn.calls_decide_end and Part.CALLS in parts[: parts.index(left)]:
        yield spec.final(Part.CALLS)
    if left is Part.CALLS and spec.tools and spec.tools.after_first:
        yield spec.tools.after_first.end


def _told_apart(last: str, final: str) -> str:
    """Return what ends a turn, with the white space before it if text may end with its sign.

    ``last`` is what the template writes behind the last part's text.
    """
    before = last.partition(final)[0][-1:] if is_run(final) else ""
    return (before if before.isspace() else "") + final


def lead_in(offer: Offer, left: Part, right: Part, join: str) -> str:
    """Return the join and the start of ``right``, and the rule that goes on inside it."""
    spec, start = offer.spec, opening_of(offer.spec, right)
    if (left, right) in _AT_START and content_has_own_line(spec):
        line_end = spelled("\n") if right is Part.CONTENT else ""
        return sequence(line_end, offer.turn_rule(right))
    between = trimmed(join) if right is Part.CALLS else led(spec, join, right)
    if spec.named_lines and (left, right) == (Part.CONTENT, Part.CALLS):
        between = "\n"
    before = _gap_behind(spec, left) if between or right is Part.CALLS else ""
    told = spec.content.start.isspace() and not looks_like_marker(start)
    if (left, right) == (Part.START, Part.REASONING) and told:
        before = ""  # it would tell of content
    inner = gap_before(spec, right, join) if between else ""
    return sequence(before, spelled(between), inner, offer.turn_rule(right))


def gap_before(spec: Spec, right: Part, join: str) -> str:
    """Return the white space that may stand behind a join; calls bring but their own start."""
    start = opening_of(spec, right)
    spaced = join.rstrip(WHITE_SPACE) != join or start.lstrip(WHITE_SPACE) != start
    return GAP if right is Part.CALLS and spaced else ""


def led(spec: Spec, join: str, right: Part) -> str:
    """Return what is written behind a part as the beginning of reasoning or content."""
    text = join + opening_of(spec, right)
    # Where a call's name could go on, white space behind the start tells the part from a call.
    return text.lstrip(WHITE_SPACE) if begins_like_call(spec) else trimmed(text)


def _is_open(spec: Spec, left: Part) -> bool:
    """Say whether ``left`` is free text without an end of its own, which takes white space too."""
    return left in (Part.REASONING, Part.CONTENT) and not trimmed(end_of(spec, left))


def _gap_behind(spec: Spec, left: Part) -> str:
    if left is Part.CALLS and spec.tools and not any(map(trimmed, spec.tools.section_ends)):
        return gap_behind(spec.tools)
    return "" if _is_open(spec, left) else GAP


def without_repeated(offer: Offer, left: Part, options: list[str]) -> list[str]:
    """Return the options without those that empty content, where it is one of them, allows too."""
    content = offer.turn_rule(Part.CONTENT)
    if content not in options or left is Part.CONTENT or offer.content != TEXT:
        return options
    is_open = _is_open(offer.spec, Part.CONTENT)
    allowed = set(onward(offer, Part.CONTENT)) if is_open else set()
    allowed.add(GAP)
    return [option for option in options if option.removeprefix(f"{GAP} ") not in allowed]
