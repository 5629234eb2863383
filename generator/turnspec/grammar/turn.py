"""The grammar of a spec: every turn that the model may write, as GBNF text.

The grammar takes any tool name and any arguments. What a call holds is written by `call_body`,
which gets the rules for the name and the arguments as text, so that real tools can replace them.
"""

from __future__ import annotations

from collections.abc import Iterator
from sys import maxunicode

from turnspec.codegen.banner import banner, sealed
from turnspec.grammar.calls import argument_rules, call_rules
from turnspec.grammar.in_string import in_string
from turnspec.grammar.text import GAP, Rule, group, literal, reachable, sequence, spelled, trimmed
from turnspec.grammar.turn_markers import in_turn_order
from turnspec.grammar.turn_onward import begun_rules, onward, root_rule
from turnspec.grammar.turn_parts import (
    CONTENT_ONLY,
    ENTRIES,
    REQUIRED_CALLS,
    ROOT,
    TOOL_CALLS,
    Offer,
    calls_of,
    end_of,
    opening_of,
    parts_of,
    whole_end,
)
from turnspec.grammar.turn_text import shared_rules
from turnspec.spec.model import Spec
from turnspec.spec.recipe import REGENERATE
from turnspec.spec.turn_end import may_repeat_calls, with_stop_at_end
from turnspec.spec.words import ContentMode, Part

_ROOT_COMMENT = (
    "the turn, as the model writes it after the prompt; "
    "a marker beside free text is spelled out, so that no engine takes its beginning for the whole"
)


def generate_grammar(
    spec: Spec, *, spec_path: str, spec_hash: str, command: str = REGENERATE
) -> str:
    """Return the grammar of ``spec`` as GBNF text.

    Args:
        spec: the format.
        spec_path: the spec's file as the banner names it.
        spec_hash: the spec's hash as the banner gives it.
        command: what makes the grammar again, for the banner.
    """
    ended = with_stop_at_end(spec)
    calls = calls_of(ended, parallel=may_repeat_calls(spec))
    turns = [rule for offer in _offers(ended) for rule in turn_rules(offer)]
    turns += begun_rules(Offer(ended, parts_of(ended), ended.thinking.prompts), calls)
    rules = [
        *in_turn_order(turns, ended.turn.order, ENTRIES),
        *((*call_rules(calls), *argument_rules(calls.tools)) if calls else ()),
        *shared_rules(ended, known=False),
    ]
    if calls and calls.tools.arguments.syntax.in_string:
        rules = in_string(rules, ["arguments"])
    entries = [rule for entry in ENTRIES for rule in rules if rule.name == entry]
    body = "".join(str(rule) for rule in reachable([*entries, *rules], ENTRIES))
    head = banner(spec_path, spec_hash, command=command, engine=())
    return sealed(f"{head.rstrip()}\n{_raw_signs(body)}{body}")


def _raw_signs(body: str) -> str:
    """Return a comment that tells the signs that nobody sees, and engines read no escape of."""
    raw = sorted({sign for sign in body if not sign.isprintable()} - {"\n", chr(maxunicode)})
    told = ", ".join(f"U+{ord(sign):04X}" for sign in raw)
    comment = f"\n# not visible in what follows, as engines have no common escape: {told}\n"
    return comment if raw else ""


def _offers(spec: Spec) -> Iterator[Offer]:
    """Yield the turns that the generated grammar has entries for, in any way the prompt begins."""
    prompts = ("", *spec.thinking.prompts)
    parts = parts_of(spec)
    yield Offer(spec, parts, prompts)
    if spec.tools is not None:
        without = tuple(part for part in parts if part is not Part.CALLS)
        yield Offer(spec, parts, prompts, entry=REQUIRED_CALLS, needed=Part.CALLS)
        yield Offer(spec, without, prompts, entry=CONTENT_ONLY)


def turn_rules(offer: Offer) -> tuple[Rule, ...]:
    """Return the rules for a turn as far as they aren't about calls, the entry first."""
    comments = {
        ROOT: _ROOT_COMMENT,
        REQUIRED_CALLS: "a turn that calls tools",
        CONTENT_ONLY: "a turn that calls no tools",
    }
    entry = Rule(offer.entry, root_rule(offer), comments.get(offer.entry, ""))
    return (entry, *(_turn_rule(offer, part) for part in offer.parts))


def _turn_rule(offer: Offer, part: Part) -> Rule:
    """Return the rule for the rest of the turn from inside ``part`` on."""
    spec, name = offer.spec, offer.turn_rule(part)
    behind = onward(offer, part)
    # Content without a marker of its own may be empty, and white space too: no need for a "?".
    open_ended = {offer.turn_rule(Part.CONTENT), GAP} & set(behind)
    more = group(behind, "" if open_ended or not offer.may_end(part) else "?")
    # The rules for other entries stand right after those of the root.
    inside = "from" if part is Part.CALLS else "from inside"
    comment = f"{inside} the {part.value} on" if offer.entry == ROOT else ""
    if part is Part.CALLS:
        return Rule(name, sequence(TOOL_CALLS, more), comment)
    end = end_of(spec, part)
    if not trimmed(end):
        return Rule(name, sequence(offer.text(part), more), comment)
    closing = spelled(whole_end(end, opening_of(spec, part)))
    if part is Part.CONTENT and spec.content.mode is ContentMode.WRAPPED_WITH_REASONING:
        closing = f"( {closing} )?"
    comment += f", which ends with {literal(end)}" if comment else ""
    return Rule(name, sequence(offer.text(part), closing, more), comment)
