"""What becomes of those who keep an old grammar, old stop strings or old triggers.

The old grammar is asked about new turns, and the old parser reads random walks over the new one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from turnspec.review.reading import Format, WrittenTurn, shortest
from turnspec.review.rules import RULES, Finding
from turnspec.spec.results import Counterexample
from turnspec.spec.turn_end import ends_turn, stop_strings
from turnspec.spec.words import Part
from turnspec.spec.yaml_text import quoted
from turnspec.verification.gbnf_reader import Grammar, read_grammar
from turnspec.verification.grammar_rung import walk_faults
from turnspec.verification.recognizer import Recognizer


def engine_findings(old: Format, new: Format, turns: Iterable[WrittenTurn]) -> Iterator[Finding]:
    """Yield what the old grammar, stop strings and triggers do to turns of the new format."""
    written = list(turns)
    yield from _refused(old, new, written)
    yield from _walks(old, new)
    yield from _stops(old, new, written)
    yield from _triggers(old, new, written)


def _refused(old: Format, new: Format, written: list[WrittenTurn]) -> Iterator[Finding]:
    """Yield the turns that the old grammar refuses, of those that the new one allows."""
    before, after = read_grammar(old.gbnf), read_grammar(new.gbnf)
    if not isinstance(before, Grammar) or not isinstance(after, Grammar):
        return
    ours, theirs = Recognizer(after), Recognizer(before)
    allowed = [one.turn.text for one in written if ours.accepts(one.turn.text)]
    refused = [text for text in allowed if not theirs.accepts(text)]
    if not refused:
        return
    text = min(refused, key=len)
    rest = text[theirs.accepted_length(text) :]
    got = f"it stops before {quoted(rest[:40])}" if rest else "it wants more behind that"
    said = f"it refuses {len(refused)} of {len(allowed)} turns"
    yield Finding(RULES["grammar-refuses"], said, Counterexample(text, "allowed", got))


def _walks(old: Format, new: Format) -> Iterator[Finding]:
    """Yield what the old parser makes of walks over the new grammars, beside the new one."""
    found = list(walk_faults(new.spec, old.module, new.gbnf, reader=old.spec))
    own = list(walk_faults(new.spec, new.module, new.gbnf))
    faults = [fault for fault, ours in zip(found, own, strict=False) if fault and not ours]
    rules = {"parser-misreads-grammar": True, "parser-complains-grammar": False}
    for rule, is_misread in rules.items():
        examples = [fault.example for fault in faults if fault.is_misread is is_misread]
        if examples:
            said = f"{len(examples)} of {len(found)} walks over it"
            yield Finding(RULES[rule], said, shortest(examples))


def _stops(old: Format, new: Format, written: list[WrittenTurn]) -> Iterator[Finding]:
    """Yield where old stop strings don't end new turns, or end them too early."""
    before, after = stop_strings(old.spec), stop_strings(new.spec)
    if set(before) == set(after):
        return
    missed, early = [], []
    for text in dict.fromkeys(one.turn.text for one in written):
        whole = _without_ends_inside(new, text)
        place = min((whole.find(stop) for stop in after if stop in whole), default=-1)
        if place < 0:
            continue
        found = min((whole.find(stop) for stop in before if stop in whole), default=-1)
        if found < 0:
            wanted = f"stopped by {quoted(whole[place:])}"
            missed.append(Counterexample(text, wanted, "not stopped"))
        elif found < place:
            got = f"stopped before {quoted(whole[found:])}"
            early.append(Counterexample(text, "read to its end", got))
    for rule, examples in (("stop-missed", missed), ("stop-early", early)):
        if examples:
            yield Finding(RULES[rule], f"{len(examples)} turns", shortest(examples))


def _without_ends_inside(form: Format, text: str) -> str:
    """Return a turn without what ends it between two calls: no model gets beyond that."""
    for separator in form.spec.tools.separators if form.spec.tools else ():
        if ends_turn(separator, form.spec.final(Part.CALLS)):
            text = text.replace(separator, "\n")
    return text


def _triggers(old: Format, new: Format, written: list[WrittenTurn]) -> Iterator[Finding]:
    """Yield where a lazy grammar with the old triggers never takes hold of a new turn."""
    words = old.spec.grammar.triggers
    calling = [one.turn.text for one in written if one.meant.calls]
    missed = [text for text in calling if not any(word in text for word in words)]
    if words and missed:
        said = f"{len(missed)} of {len(calling)} turns with calls"
        example = Counterexample(min(missed, key=len), f"one of {', '.join(map(quoted, words))}")
        yield Finding(RULES["trigger-missed"], said, example)
