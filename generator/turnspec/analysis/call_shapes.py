"""Calls that stand elsewhere in a message than chat APIs have them, or whose parts do.

Where that may be is what the template reads: whatever holds two texts may hold a name and
arguments. Each such pair is tried, and what shows both is a shape.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from turnspec.analysis.probes import CONTENT, KEYS, NAMES, probe_message
from turnspec.rendering.conversation import Chat
from turnspec.rendering.paths import ANY, ELEMENT, Place
from turnspec.rendering.shapes import WORD, CallShape, at_place, written

#: How many shapes are tried at most, how many texts a call has, and how deep they lie in it.
_MOST, _MOST_PARTS, _DEEPEST = 150, 8, 3


def call_shapes(chat: Chat) -> Iterator[Chat]:
    """Yield a template's chat in each shape of calls that shows a name and a key of arguments."""
    tried = (
        chat.speaking(replace(chat.dialect, call_shape=shape))
        for shape in itertools.islice(_shapes(chat), _MOST)
    )
    for speaking in tried:
        for content in (False, True):
            text = speaking.turn(probe_message(content=content, calls=1)).text or ""
            if NAMES[0] in text and KEYS[0] in text:
                yield speaking
                break


def _shapes(chat: Chat) -> Iterator[CallShape]:
    places = chat.facts.message_places
    for container, leaves in _containers(list(places)).items():
        keys = {key: words for key in leaves if (words := places[(*container, *key)])}
        plain = [leaf for leaf in leaves if leaf not in keys][:_MOST_PARTS]
        said = [(key, word) for key, words in keys.items() for word in words]
        kinds = [f"[{'.'.join(key)}={word}]" for key, word in said if WORD.fullmatch(word)]
        is_content = container[0] == "content"
        whole = written(container)
        listed = container[-1] == ELEMENT
        ends = [whole[:-2] + kind for kind in kinds] if listed else []
        for end in ends if is_content else (whole, *ends):
            text = _text_place(chat, whole, keys, plain) if is_content else ""
            for name, arguments in itertools.permutations(plain, 2):
                if text in (f"{end}.{written(it)}" for it in (name, arguments)):
                    continue  # that is content
                others = [written(it) for it in plain if it not in (name, arguments)]
                for ids in dict.fromkeys((tuple(others), ("id",))):
                    shape = CallShape(end, written(name), written(arguments), ids, text=text)
                    yield shape
                    yield from _in_pairs(shape, [*places], (*container, *arguments))


def _in_pairs(shape: CallShape, places: Sequence[Place], arguments: Place) -> Iterator[CallShape]:
    """Yield the shape with arguments as a list of names and values, if its elements are read."""
    size, element = len(arguments) + 1, (*arguments, ELEMENT)
    keys = [place[-1] for place in places if place[:size] == element and len(place) == size + 1]
    for pair in itertools.permutations([key for key in keys if key != ANY], 2):
        yield replace(shape, pair=pair)


def _containers(places: Sequence[Place]) -> dict[Place, list[Place]]:
    """Return what may hold a call, with the places of the texts in it."""
    found: dict[Place, list[Place]] = {}
    holders = {place[:end]: None for place in places for end in range(1, len(place))}
    for holder in holders:
        if holder[-1] == ANY or holder.count(ELEMENT) > 1:
            continue
        inner = [place[len(holder) :] for place in places if place[: len(holder)] == holder]
        ends = [
            place
            for place in inner
            if 0 < len(place) <= _DEEPEST and not {ELEMENT, ANY} & {*place}
            if not any(other[: len(place)] == place and _goes_on(other, place) for other in inner)
        ]
        if len(ends) > 1:
            found[holder] = ends
    return found


def _goes_on(place: Place, start: Place) -> bool:
    """Tell whether a place is a key within another; what an argument holds is the argument's."""
    return len(place) > len(start) and place[len(start)] not in (ELEMENT, ANY)


def _text_place(
    chat: Chat, container: str, keys: dict[Place, Sequence[str]], plain: Sequence[Place]
) -> str:
    """Return the place of a text among the parts of content that is rendered as content is."""
    usual = chat.answer(CONTENT).text
    tried = (
        f"{container[:-2]}[{'.'.join(key)}={word}].{written(leaf)}"
        for key, words in keys.items()
        for word in filter(WORD.fullmatch, words)
        for leaf in plain
    )
    others = (f"{container}.{written(leaf)}" for leaf in plain)
    for place in itertools.chain(tried, others):
        if chat.answer(at_place(place, CONTENT).get("content")).text == usual:
            return place
    return ""
