"""Shapes of messages beside the usual one: where a template reads a text, or calls, if elsewhere.

A place is written as its keys with dots between them, `[]` for an element of a list, and
`[type=text]` for one that says of itself what it is: ``reasoning_details[type=summary].text``.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from turnspec.rendering.paths import ANY, ELEMENT, Place
from turnspec.spec.message import Call

JsonObject = dict[str, object]

_STEP = re.compile(r"\[(?:(?P<key>[^=\]]+)=(?P<word>[^\]]*))?\]|(?P<name>[^.\[]+)\.?")
#: What a place may say of an element, without a sign that ends it.
WORD = re.compile(r"[\w.:/-]+")


def at_place(place: str, value: object) -> JsonObject:
    """Return a mapping that holds a value at a place, and what its elements say of themselves."""
    for step in reversed([*_STEP.finditer(place)]):
        if (name := step["name"]) is not None:
            value = {name: value}
        elif step["key"]:
            value = [{step["key"]: step["word"], **(value if isinstance(value, dict) else {})}]
        else:
            value = [value]
    return value if isinstance(value, dict) else {}


def inner_places(places: Iterable[Place]) -> list[str]:
    """Return the places of texts within mappings and lists."""
    return [written(place) for place in _inner(list(places))]


def _inner(places: Sequence[Place]) -> Iterator[Place]:
    for place in places:
        goes_on = any(other[: len(place)] == place != other for other in places)
        if len(place) > 1 and not goes_on and ANY not in place:
            yield place


def worded_places(places: Mapping[Place, Sequence[str]]) -> Iterator[str]:
    """Yield the places of texts within mappings and lists, each with every word of its elements.

    The words are those that other keys of the same element are compared with; the first is none.
    """
    for place in _inner(list(places)):
        yield written(place)
        if ELEMENT in place[:-1]:
            end = len(place) - 1 - place[::-1].index(ELEMENT)
            beside = (it for it in places if it[:-1] == place[: end + 1] and it != place)
            named = ((key[-1], word) for key in beside for word in places[key])
            for key, word in ((key, word) for key, word in named if WORD.fullmatch(word)):
                yield f"{written(place[:end])}[{key}={word}].{written(place[end + 1 :])}"


def written(place: Place) -> str:
    """Return a place as a text."""
    return ".".join(place).replace(f".{ELEMENT}", ELEMENT)


def merged(one: JsonObject, other: JsonObject) -> JsonObject:
    """Return two mappings as one, and so what they have under the same key."""
    both = {**one, **other}
    for key in one.keys() & other.keys():
        first, second = one[key], other[key]
        if isinstance(first, dict) and isinstance(second, dict):
            both[key] = merged(first, second)
        elif isinstance(first, list) and isinstance(second, list):
            both[key] = [*first, *second]
    return both


@dataclass(frozen=True, slots=True)
class CallShape:
    """Where a template reads calls: its ``container`` in a message, and what is where in a call.

    A ``container`` that is no list holds one call. ``ids`` are the places for a call's id,
    ``pair`` the keys of an argument's name and its value, where arguments are a list. ``text`` is
    the place of content beside calls, where they are parts of it.
    """

    container: str
    name: str
    arguments: str
    ids: tuple[str, ...] = ("id",)
    pair: tuple[str, str] | None = None
    text: str = ""

    def given(self, calls: Sequence[Call], content: str, *, as_text: bool) -> JsonObject:
        """Return the part of a message that holds calls, and the content if that is beside them."""
        found = at_place(self.text, content) if self.text and content else {}
        is_list = "]" in self.container
        for call in calls if is_list else calls[:1]:
            found = merged(found, self._call(call, as_text))
        return found

    def _call(self, call: Call, as_text: bool) -> JsonObject:
        arguments: object = dict(call.arguments)
        if self.pair is not None:
            key, value = self.pair
            arguments = [{key: name, value: it} for name, it in call.arguments.items()]
        elif as_text:
            arguments = json.dumps(arguments, ensure_ascii=False)
        inner: JsonObject = {} if "=" in self.container else {"type": "function"}
        ids: list[tuple[str, object]] = [(place, call.id) for place in self.ids if call.id]
        for place, given in (*ids, (self.name, call.name), (self.arguments, arguments)):
            inner = merged(inner, at_place(place, given))
        return at_place(self.container, inner)
