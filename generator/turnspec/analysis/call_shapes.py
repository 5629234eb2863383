"""Calls that stand elsewhere in a message than chat APIs have them, or whose parts do.

Where that may be is what the template reads: whatever holds two texts may hold a name and
arguments. Each such pair is tried, and what shows both is a shape.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from turnspec.analysis.probes import CONTENT, KEYS, NAMES, probe_message
from turnspec.rendering.conversation import Chat
from turnspec.rendering.dialect import (
    WORD,
    ArgumentsForm,
    CallShape,
    JsonObject,
    at_place,
    inner_places,
    merged,
    worded_places,
    written,
)
from turnspec.rendering.paths import ANY, ELEMENT, Place

#: How many shapes are tried at most, how many texts a call has, and how deep they lie in it.
_MOST, _MOST_PARTS, _DEEPEST = 150, 8, 3
#: An object within quotes that would have to be another text there.
_QUOTED = re.compile(rf""" "\{{['"]{KEYS[0]}""", re.VERBOSE)
#: A call as APIs have it, and how JSON writes one.
_CALL = {"name": NAMES[0], "arguments": {KEYS[0]: ""}}
_WRITTEN_CALL = re.compile(rf'"name": ?"{NAMES[0]}"')
#: Where the parts of content stand: those that are calls say so.
_PARTS = ("content", ELEMENT)


def call_shapes(chat: Chat) -> Iterator[Chat]:
    """Yield a template's chat in each shape of calls that shows a name and a key of arguments."""
    tried = (
        chat.speaking(replace(chat.dialect, call_shape=shape))
        for shape in itertools.islice(_shapes(chat), _MOST)
    )
    forms = tuple(itertools.product(ArgumentsForm, (False, True)))
    for speaking in tried:
        for arguments, content in forms:
            as_form = speaking.speaking(replace(speaking.dialect, arguments=arguments))
            text = as_form.turn(probe_message(content=content, calls=1)).text or ""
            # A text in quotes that isn't written as one stands where a name does.
            if NAMES[0] in text and KEYS[0] in text and not _QUOTED.search(text):
                yield speaking
                break


def _shapes(chat: Chat) -> Iterator[CallShape]:
    places = chat.facts.message_places
    for key in [key for key, *within in places if not within and key != "content"]:
        # What is written whole, as JSON, may be a call as APIs have it.
        text = chat.continued({"role": "assistant", "content": "", key: _CALL}).text
        if _WRITTEN_CALL.search(text or ""):
            yield CallShape(key, "name", "arguments", ())
    for container, leaves in _containers(list(places)).items():
        keys = {key: words for key in leaves if (words := places[(*container, *key)])}
        plain = [leaf for leaf in leaves if leaf not in keys]
        said = [(key, word) for key, words in keys.items() for word in words]
        kinds = [f"[{'.'.join(key)}={word}]" for key, word in said if WORD.fullmatch(word)]
        whole = written(container)
        ends = [whole[:-2] + kind for kind in kinds] if container[-1] == ELEMENT else []
        is_content = container[0] == "content"
        text = _text_place(chat) if is_content else ""
        for end in ends if container == _PARTS else (whole, *ends):
            shown = _shown_parts(chat, end, [*map(written, plain)])
            for name, arguments in itertools.permutations(shown[:_MOST_PARTS], 2):
                if text in (f"{end}.{name}", f"{end}.{arguments}"):
                    continue  # that is content
                others = tuple(it for it in shown if it not in (name, arguments))
                for ids in dict.fromkeys((others, ("id",))):
                    shape = CallShape(end, name, arguments, ids, text=text)
                    yield shape
                    yield from _in_pairs(shape, [*places], (*container, *arguments.split(".")))


def _shown_parts(chat: Chat, container: str, plain: Sequence[str]) -> list[str]:
    """Return the places in a call of which something is rendered; all, if none can be told.

    What is an id by its key comes last: the first one shown is taken for the name.
    """
    plain = sorted(plain, key=lambda place: place.lower().endswith("id"))
    needles = {place: f"prtqa{number:02}" for number, place in enumerate(plain)}
    for is_mapping in (False, True):
        inner: JsonObject = {}
        for place, needle in needles.items():
            inner = merged(inner, at_place(place, {needle: needle} if is_mapping else needle))
        message: JsonObject = {"role": "assistant", "content": "", **at_place(container, inner)}
        text = chat.continued(message).text or ""
        if shown := [place for place, needle in needles.items() if needle in text]:
            return shown
    return plain


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


def _text_place(chat: Chat) -> str:
    """Return the place of a text among the parts of content that is rendered as content is."""
    places, usual = chat.facts.message_places, chat.answer(CONTENT).text
    leaves = [place for place in inner_places(places) if place.startswith("content[].")]
    for place in sorted(worded_places(places), key=lambda place: "=" not in place):
        is_part = place in leaves or (place.startswith("content[") and "=" in place)
        if is_part and chat.answer(at_place(place, CONTENT).get("content")).text == usual:
            return place
    return ""
