"""When a lazy grammar takes hold: words of the format, and patterns that leave reasoning alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from turnspec.grammar.text import trimmed
from turnspec.grammar.turn_onward import opens_reasoning
from turnspec.spec.calls import Piece
from turnspec.spec.model import Spec
from turnspec.spec.words import Condition, Subject, Verdict

# How a call begins that is JSON and nothing else, so that text may quote one.
_BARE_JSON = re.compile(r'[\[{\s]+"')

# What ECMAScript's regular expressions, which llama.cpp uses, give a meaning to.
_SPECIAL = re.compile(r"[\\^$.|?*+()\[\]{}]")


def trigger_patterns(spec: Spec, extra: str) -> tuple[str, ...]:
    r"""Return regular expressions, to be searched for in all that the model has written.

    The grammar begins where the group of a match does. They are in the syntax of ECMAScript, as
    llama.cpp reads them, and of Python, too. (llama.cpp's regular expressions overflow its stack
    on some 40,000 characters between reasoning, or the beginning, and a call; a request whose
    grammar isn't to be lazy needs none.)

    Args:
        spec: the format.
        extra: what the prompt holds of the turn behind its header.
    """
    words = spec.grammar.triggers
    if not words:
        return ()
    group = f"({_before(spec)}{either(map(escaped, words))})"
    start, end = trimmed(spec.reasoning.start), trimmed(spec.reasoning.end)
    has_reasoning = end not in ("", start)
    if begins_turn(spec):
        begins = "^" if not has_reasoning else rf"(?:^|{escaped(end)})"
        begins = escaped(end) if opens_reasoning(spec, extra) else begins
        lead = "".join(f"(?:{escaped(text)})?" for text in before_words(spec))
        return (rf"{begins}\s*{lead}{group}",)
    if not has_reasoning:
        return (group,)
    if opens_reasoning(spec, extra):
        return (rf"{escaped(end)}[\s\S]*?{group}",)
    if not start:
        return (group,)
    return (rf"(?:^|{escaped(end)})(?:(?!{escaped(start)})[\s\S])*?{group}",)


def begins_turn(spec: Spec) -> bool:
    """Tell whether calls are mere JSON and stand alone, so that only a turn's beginning is one."""
    alone = any(
        (limit.subject, limit.verdict) == (Subject.CONTENT, Verdict.DROPS)
        and limit.when in (Condition.WITH_CALLS, Condition.ALWAYS)
        for limit in spec.limits
    )
    words = spec.grammar.triggers
    return alone and bool(words) and all(map(_BARE_JSON.match, words))


def before_words(spec: Spec) -> tuple[str, ...]:
    """Return what other ways to write a call have before a trigger, in one text with it."""
    firsts = [pieces[0] for pieces in spec.alternatives.calls]
    texts = [piece.text for piece in firsts]
    found = [text.partition(word)[0] for word in spec.grammar.triggers for text in texts]
    return tuple(dict.fromkeys(text for text in found if text and text not in texts))


def before_trigger(pieces: Sequence[Piece], triggers: Sequence[str]) -> Sequence[Piece]:
    """Return the pieces before the one that holds a trigger; none where the first one does."""
    for number, piece in enumerate(pieces):
        if any(trigger in piece.text for trigger in triggers):
            return pieces[:number]
    return ()


def _before(spec: Spec) -> str:
    """Return what may stand before the trigger in other ways to write a call."""
    befores = [before_trigger(pieces, spec.grammar.triggers) for pieces in spec.alternatives.calls]
    written = (
        "".join(r"\s*[\w-]*\s*" if piece.kind else escaped(piece.text) for piece in before)
        for before in befores
        if before
    )
    options = tuple(dict.fromkeys(written))
    return f"(?:{'|'.join(options)})?" if options else ""


def either(expressions: Iterable[str]) -> str:
    """Return an expression for any of some, each once, those that come first being preferred."""
    given = tuple(dict.fromkeys(expressions))
    return given[0] if len(given) == 1 else f"(?:{'|'.join(given)})"


def escaped(text: str) -> str:
    """Return an expression for a text."""
    return _SPECIAL.sub(r"\\\g<0>", text)
