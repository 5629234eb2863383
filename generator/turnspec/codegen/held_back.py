"""What a format's parser holds back, by its facts: how much of a text no event tells of yet."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from turnspec.codegen.facts import OTHER_SYNTAX, FormatFacts
from turnspec.codegen.rules import Marker
from turnspec.engine.markers import BLANKS


def held_back(facts: FormatFacts) -> str:
    """Return sentences on what a parser holds back till more of the text comes."""
    slots = {it: _longest_slot(steps) for it, steps in {**facts.slots, **BLANKS}.items()}
    end = max((_longest(end, slots) for end in facts.turn_ends), default=0)
    slots |= dict.fromkeys(("{stop}", "{stop 2}", "{stop 3}"), end)
    rows = [(row.marker, row.if_before) for table in facts.tables.values() for row in table]
    markers: tuple[Marker, ...] = (*rows, *facts.turn_ends)
    longest = max([1, *(_longest(marker, slots) for marker in markers)]) - 1
    has_names = any("{1,256}" in step for steps in facts.slots.values() for step in steps)
    names = "a name or a key may have 256, " if has_names else ""
    text = (
        f"White space, till more text follows; and what may become a marker, of at most {longest} "
        f"characters ({names}each run of blanks 99). A longer `stop` text can raise that."
    )
    return text + "".join(f" {told}" for told, is_so in _held_calls(facts).items() if is_so)


def _held_calls(facts: FormatFacts) -> dict[str, object]:
    """Return what is held back of calls without limit, each with whether a format has it."""
    has, calls = facts.values, facts.values["HAS_CALLS"]
    is_text = calls and has["ARGUMENTS"] == "text"
    in_string = calls and has["ARGUMENTS_IN_STRING"]
    return {
        "An argument that is no string by its tool's schema, until it ends.": is_text,
        "A call's arguments, until they end.": in_string,
        "A number, true, false or null in arguments, until it ends.": calls
        and not (is_text or in_string),
        "A call's object, until its name is known.": has["CALLS_ARE_OBJECTS"],
        "A call in another syntax, until it ends.": any(map(facts.rows, OTHER_SYNTAX)),
        "A call in open reasoning, until the turn ends (then it counts), or text or the end of "
        "reasoning comes (then it is reasoning).": has["HAS_DRAFTS"],
    }


def _longest_slot(steps: Sequence[str]) -> int:
    """Return how many characters a slot takes at most: what its expressions are bounded to."""
    counts = (re.findall(r"\{\d+,(\d+)\}|(\?)", re.sub(r"\(\?[:P=!]", "(", step)) for step in steps)
    return sum(int(most or 1) for found in counts for most, _ in found)


def _longest(marker: Marker, slots: Mapping[str, int]) -> int:
    """Return how many characters a marker has at most, with what has to follow it."""
    text, following = (marker, ()) if isinstance(marker, str) else marker
    parts = re.findall(r"\{\{|\}\}|\{[^{}]+\}|[\s\S]", text)
    own = sum(slots.get(part, len(part) - 3 if part[:2] == "{?" else 1) for part in parts)
    return own + max((_longest(other, slots) for other in following), default=0)
