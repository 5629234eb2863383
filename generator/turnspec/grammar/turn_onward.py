"""How a turn goes on: behind a part, and behind a prompt, which may hold its beginning."""

from __future__ import annotations

import re
from collections.abc import Iterator

from turnspec.codegen.headers import content_has_own_line
from turnspec.codegen.shapes import looks_like_marker
from turnspec.grammar.calls import Calls, begun_calls, gap_behind
from turnspec.grammar.text import GAP, WHITE_SPACE, Rule, choice, group, sequence, spelled, trimmed
from turnspec.grammar.turn_parts import (
    TEXT,
    Offer,
    begins_like_call,
    calls_of,
    end_of,
    is_run,
    joins_of,
    opening_of,
    parts_of,
)
from turnspec.spec.model import Spec
from turnspec.spec.prompt_state import PromptState, state_in
from turnspec.spec.words import ContentMode, Part, ReasoningMode

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


BEGUN_CALLS = "begun-calls-turn"
_OPEN_TAG = re.compile(r"[<\[][^<>\[\]]*$")


def root_rule(offer: Offer) -> str:
    """Return all ways to begin behind the prompts."""
    extras = dict.fromkeys(prompt_extra(offer.spec, prompt) for prompt in offer.prompts)
    options = [option for extra in extras for option in _beginnings(offer, extra)]
    options = without_repeated(offer, Part.START, options)
    header = trimmed(offer.spec.unprompted_header)
    return f"( {spelled(header)} {GAP} )? {group(options)}" if header else choice(options)


def _beginnings(offer: Offer, extra: str) -> list[str]:
    """Return the ways to begin where the prompt holds ``extra`` behind the header."""
    spec = offer.spec
    if opens_reasoning(spec, extra) and Part.REASONING in offer.parts:
        return [offer.turn_rule(Part.REASONING)]
    continued = list(_continuation(offer, extra)) if extra else []
    if continued:
        return continued
    if Part.CONTENT in offer.parts and holds_content(spec, extra):
        return [offer.turn_rule(Part.CONTENT)]
    begun = [
        lead_in(offer, Part.START, part, join)
        for part in offer.following(Part.START)
        for join in joins_of(spec, Part.START, part)
        if not _is_covered(offer, join)
    ]
    may_answer = Part.CONTENT in offer.following(Part.START)
    bare = spec.content.mode is not ContentMode.ALWAYS_WRAPPED and may_answer
    bare = bare and not content_has_own_line(spec)
    return [*begun, *([offer.turn_rule(Part.CONTENT)] if bare else [])]


def _is_covered(offer: Offer, join: str) -> bool:
    """Say whether a join is a reasoning block without text, which reasoning's own rule covers."""
    if Part.REASONING not in offer.parts:
        return False
    spec = offer.spec
    start, end, text = (trimmed(spec.reasoning.start), trimmed(spec.reasoning.end), trimmed(join))
    if not (start and end and text.startswith(start) and text.endswith(end)):
        return False
    return not trimmed(text[len(start) : len(text) - len(end)])


def _continuation(offer: Offer, extra: str) -> Iterator[str]:
    """Yield the ways to go on where the prompt holds ``extra`` behind the header."""
    spec = offer.spec
    beginnings = (
        (right, join)
        for right in offer.following(Part.START)
        for join in joins_of(spec, Part.START, right)
    )
    for right, join in beginnings:
        opening = trimmed(join) if right is Part.CALLS else led(spec, join, right)
        if opening.startswith(extra) and not _is_covered(offer, join):
            after = opening.removeprefix(extra)
            rest = after if begins_like_call(spec) else trimmed(after)
            is_apart = after[:1].isspace() or not _OPEN_TAG.search(extra)
            before = GAP if rest == trimmed(rest) != "" and is_apart else ""
            inner = gap_before(spec, right, join) if rest else ""
            yield sequence(before, spelled(rest), inner, offer.turn_rule(right))
    close = trimmed(spec.reasoning.end)
    if Part.REASONING in parts_of(spec) and close and extra.endswith(close):
        parts = offer.following(Part.REASONING)
        yield from (
            lead_in(offer, Part.REASONING, part, join)
            for part in parts
            for join in joins_of(spec, Part.REASONING, part)
        )
    if Part.CALLS in offer.parts and begins_call(spec, extra):
        yield BEGUN_CALLS


def opens_reasoning(spec: Spec, extra: str) -> bool:
    """Say whether what the prompt holds behind the header leaves the turn inside reasoning."""
    reasoning = spec.reasoning
    if reasoning.mode is ReasoningMode.NONE:
        return False
    absent = spec.join(Part.START, Part.CONTENT)
    if not extra and reasoning.mode is ReasoningMode.DELIMITER and not trimmed(reasoning.start):
        # Without a start of its own reasoning is where a turn begins that a prompt begins so.
        extra = prompt_extra(spec, spec.thinking.enabled.prompt)
    return state_in(spec, extra, absent) is PromptState.OPEN


def holds_content(spec: Spec, extra: str) -> bool:
    """Say whether what the prompt holds behind the header is the beginning of content."""
    begun = _continuation(Offer(spec, parts_of(spec), ()), extra)
    return extra != "" and not opens_reasoning(spec, extra) and next(begun, None) is None


def begins_call(spec: Spec, extra: str) -> bool:
    """Say whether what the prompt holds behind the header is the beginning of a call alone."""
    return _begun(spec, calls_of(spec, parallel=True), extra) is not None


def prompt_extra(spec: Spec, prompt: str) -> str:
    """Return what a generation prompt holds behind the header."""
    header = spec.turn.header
    return trimmed(prompt.removeprefix(header)) if prompt.startswith(header) else ""


def begun_rules(offer: Offer, calls: Calls | None) -> tuple[Rule, ...]:
    """Return the rules for a turn of calls whose first one the prompt has begun, if it has."""
    for prompt in offer.prompts:
        extra = prompt_extra(offer.spec, prompt)
        # The blank that the prompt ends in is none that the model writes.
        behind = prompt.removeprefix(prompt.rstrip(WHITE_SPACE))
        begun = _begun(offer.spec, calls, extra + behind) or _begun(offer.spec, calls, extra)
        if begun is not None:
            more = group(onward(offer, Part.CALLS), "?")
            return (Rule(BEGUN_CALLS, sequence(begun[0], more)), *begun[1])
    return ()


def _begun(spec: Spec, calls: Calls | None, extra: str) -> tuple[str, tuple[Rule, ...]] | None:
    join = trimmed(spec.join(Part.START, Part.CALLS))
    if calls is None or not extra.startswith(join):
        return None
    return begun_calls(calls, extra.removeprefix(join).lstrip(WHITE_SPACE))
