"""A format's states and what leads from one to another, read off the turns that it writes.

A state is a part that the model fills in: its reasoning, a call's name, a value. What stands
between two of them in a turn is the marker that leads from the one to the other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations, product

from turnspec.explain.annotate import Kind, annotated_turn
from turnspec.spec.message import Call, Message
from turnspec.spec.model import Spec
from turnspec.spec.visible import visible
from turnspec.verification.messages import allowed_call

#: The states that formats can have, in the order of a turn, and what each is.
_STATES = {
    "turn": "Behind the assistant's header; the prompt may hold the first marker already.",
    Kind.REASONING: "What the model thinks.",
    Kind.CONTENT: "What it answers.",
    Kind.NAME: "The name of the tool that is called.",
    Kind.KEY: "An argument's name.",
    Kind.VALUE: "An argument's value.",
    Kind.ARGUMENTS: "All arguments of a call, as one value.",
    "end": "The turn is over.",
}
#: Slots that no state is made of; a marker that holds one has its name in capitals.
_WITHIN = frozenset({Kind.ID, Kind.NUMBER, Kind.TYPE})
_SAID_AGAIN = frozenset({Kind.NAME, Kind.KEY})
_CALLS = (
    Call("get_weather", {"city": "Paris", "unit": "K"}, "abcdef123"),
    Call("get_time", {}, "ghijkl456"),
)


@dataclass(frozen=True, slots=True)
class State:
    """A state, and what it is."""

    name: str
    about: str


@dataclass(frozen=True, slots=True)
class Transition:
    """What leads from a state to another: the markers, of which "" is that nothing is between."""

    source: str
    target: str
    markers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Machine:
    """A format's states, the turn's beginning first and its end last, and its transitions."""

    states: tuple[State, ...]
    transitions: tuple[Transition, ...]


def read_machine(spec: Spec) -> Machine:
    """Return the states of a format, and every transition that its turns show."""
    found: defaultdict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for message in _messages(spec):
        for source, target, marker in steps(spec, message):
            found[source, target][marker] = None
    names = {name for pair in found for name in pair}
    order = [*_STATES]
    pairs = sorted(found, key=lambda pair: [*map(order.index, pair)])
    return Machine(
        tuple(State(str(name), about) for name, about in _STATES.items() if name in names),
        tuple(Transition(*pair, tuple(found[pair])) for pair in pairs),
    )


def steps(spec: Spec, message: Message) -> Iterator[tuple[str, str, str]]:
    """Yield the steps of a message's turn: from which state, to which, and by what marker.

    A name or a key that is said once more, as in a closing tag, is part of a marker.
    """
    source, marker = "turn", ""
    said: dict[str, str] = {}
    _, *segments = annotated_turn(spec, message)
    for segment in segments:
        kind, text = segment.kind, segment.text
        if kind is Kind.END or kind not in {*_STATES, *_WITHIN}:
            marker += text
        elif kind in _WITHIN or (kind in _SAID_AGAIN and said.get(kind) == text):
            marker += kind.upper()
        else:
            yield source, kind.value, visible(marker)
            source, marker = kind.value, ""
            said[kind] = text
    yield source, "end", visible(marker)


def _messages(spec: Spec) -> Iterator[Message]:
    """Yield messages with and without each part; calls have several arguments, or none."""
    calls = [allowed_call(spec, call) for call in _CALLS] if spec.tools else []
    for thought, answer in product(("", "Hm."), ("", "Well.")):
        for chosen in ((), *permutations(calls, 1), *permutations(calls, 2)):
            if thought or answer or chosen:
                yield Message(answer, thought, chosen)
