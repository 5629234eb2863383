"""Random texts that a grammar allows, and the same with a fault in them."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from turnspec.verification.gbnf_reader import Grammar
from turnspec.verification.walks import (
    LONGEST,
    ODD_CHARACTERS,
    ORDINARY_CHARACTERS,
    random_walk,
)


def random_turn(
    grammar: Grammar, random: Random, *, entry: str = "root", longest: int = LONGEST
) -> str:
    """Return a text that the rule ``entry`` allows; past ``longest`` characters it ends soon."""
    return random_walk(grammar, random, entry=entry, longest=longest).text


def mutated(text: str, random: Random, fragments: Sequence[str] = ()) -> str:
    """Return the text with one small fault; ``fragments`` are markers to cut pieces from.

    The fault may leave a text that the grammar allows: which one it is, the engines have to say.
    """
    place = random.randrange(len(text) + 1)
    before, char, after = text[:place], text[place : place + 1], text[place + 1 :]
    follower = after[:1]
    faults = (
        before + after,
        before + char + char + after,
        before + follower + char + after[1:],
        before + random.choice(ORDINARY_CHARACTERS + ODD_CHARACTERS) + after,
        before,
        before + _fragment(fragments or [text], random) + char + after,
    )
    return random.choice(faults)


def _fragment(markers: Sequence[str], random: Random) -> str:
    """Return a marker or its beginning, its end or a piece of it."""
    marker = random.choice(markers)
    if not marker or random.random() < 0.3:
        return marker
    ends = sorted((random.randrange(len(marker) + 1), random.randrange(len(marker) + 1)))
    return marker[ends[0] : ends[1]] or marker[0]
