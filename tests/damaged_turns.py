"""Turns of which one sign of the format is damaged: none of a name, a key or a value.

What is damaged is deleted, doubled, misspelt, halved, in the other case, moved, or another marker
of the format stands in its place.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from turnspec.codegen.writer import write_parts
from turnspec.deviations.turns import Format
from turnspec.spec.message import Call, Message
from turnspec.spec.words import Part
from turnspec.verification.messages import allowed_call, format_markers

#: Calls whose words stand in no marker, so that what isn't one of them is the format's.
CALLS = (
    Call("qvlook", {"qvcity": "qvparis qvnorth", "qvdays": 3141}, "id0000001"),
    Call(
        "qvsend", {"qvto": "qvann", "qvtags": ["qvnew", 2718], "qvtext": "qvone qvtwo"}, "qvid00002"
    ),
)


@dataclass(frozen=True, slots=True)
class Damage:
    """A turn with a damaged sign: which sign, and what was done to it."""

    kind: str
    sign: str
    text: str


def written_turn(form: Format) -> tuple[str, Message]:
    """Return a turn with two calls, or one where a format has no more, and what it says."""
    calls = tuple(allowed_call(form.spec, call) for call in CALLS[: len(form.calls)])
    message = Message(calls=calls)
    return write_parts(form.spec, message, Part.START), message


def signs_of(form: Format, text: str, calls: Sequence[Call]) -> list[tuple[int, int]]:
    """Return where the format's own signs begin and end in a turn."""
    written = [json.dumps([call.name, call.id, call.arguments]) for call in calls]
    words = sorted(set(re.findall(r"\w+(?: qv\w+)*", " ".join(written))), key=len, reverse=True)
    own = sorted(format_markers(form.spec), key=len, reverse=True)
    value = "|".join(map(re.escape, words))
    sign = "|".join([*map(re.escape, own), r"</?[^<>\s]+>?", r"\w+", r"[^\w\s]"])
    found = re.finditer(f"(?P<value>{value})|{sign}", text)
    return [it.span() for it in found if not it["value"] and not re.search("qv|id0", it[0])]


def damages(form: Format, text: str, calls: Sequence[Call], random: Random) -> Iterator[Damage]:
    """Yield damaged turns without an end."""
    signs, markers = signs_of(form, text, calls), sorted(format_markers(form.spec))
    while True:
        start, end = random.choice(signs)
        sign, kind = text[start:end], random.choice(KINDS_OF_DAMAGE)
        before, after = text[:start], text[end:]
        if kind == "moved":
            # Not into a value: to where another sign follows one.
            places = [b for (_, a), (b, _) in itertools.pairwise(signs) if not text[a:b].strip()]
            rest, at = before + after, random.choice(places or [0])
            at -= len(sign) if at > start else 0
            yield Damage(kind, sign, rest[:at] + sign + rest[at:])
        else:
            yield Damage(kind, sign, before + damaged(sign, kind, markers, random) + after)


KINDS_OF_DAMAGE = (
    *("deleted", "doubled", "without a sign", "with another sign", "swapped"),
    *("halved", "with space in it", "in the other case", "another marker", "moved"),
)


def damaged(sign: str, kind: str, markers: Sequence[str], random: Random) -> str:
    """Return a sign, or several, as a model may write it that means it."""
    at = random.randrange(len(sign))
    match kind:
        case "doubled":
            return sign * 2
        case "without a sign":
            return sign[:at] + sign[at + 1 :]
        case "with another sign":
            return sign[:at] + random.choice('xe<>/_|"{}') + sign[at + 1 :]
        case "swapped":
            return sign[:at] + sign[at : at + 2][::-1] + sign[at + 2 :]
        case "halved":
            return sign[: len(sign) // 2]
        case "with space in it":
            return sign[:at] + random.choice(" \n") + sign[at:]
        case "in the other case":
            return sign.swapcase()
        case "another marker":
            return random.choice(markers)
    return ""


def as_written(calls: Sequence[Any]) -> list[tuple[str, Any]]:
    """Return the names of calls, and their arguments but for white space around what they hold."""
    return [(call.name, trimmed(json.loads(call.arguments))) for call in calls]


def trimmed(value: Any) -> Any:
    """Return a value without white space at the ends of its texts."""
    if isinstance(value, dict):
        return {key.strip(): trimmed(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [trimmed(inner) for inner in value]
    return value.strip() if isinstance(value, str) else value
