"""How a turn goes on behind a prompt, which may hold its beginning."""

import re
from collections.abc import Iterator

from turnspec.codegen.headers import content_has_own_line
from turnspec.grammar.calls import Calls, begun_calls
from turnspec.grammar.text import GAP, WHITE_SPACE, Rule, choice, group, sequence, spelled, trimmed
from turnspec.grammar.turn_onward import gap_before, lead_in, led, onward, without_repeated
from turnspec.grammar.turn_parts import Offer, begins_like_call, calls_of, joins_of, parts_of
from turnspec.spec.model import Spec
from turnspec.spec.prompt_state import PromptState, state_in
from turnspec.spec.words import ContentMode, Part, ReasoningMode

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
