"""What a template wants its messages to look like: `Dialect`, and the forms that are in it.

Where a template reads a text, or calls, elsewhere than usual, that place is written as its keys
with dots between them, `[]` for an element of a list, and `[type=text]` for one that says of itself
what it is: ``reasoning_details[type=summary].text``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from zlib import crc32

from turnspec.rendering.paths import ANY, ELEMENT, Place
from turnspec.spec.message import Call
from turnspec.spec.model import ContentBlocks

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
        # Calls in a list say what they are by a type, or by another word; one under a key doesn't.
        has_type = "[]" in self.container and "=" not in self.container
        inner: JsonObject = {"type": "function"} if has_type else {}
        ids: list[tuple[str, object]] = [(place, call.id) for place in self.ids if call.id]
        for place, given in (*ids, (self.name, call.name), (self.arguments, arguments)):
            inner = merged(inner, at_place(place, given))
        return at_place(self.container, inner)


class ArgumentsForm(StrEnum):
    """How a call's arguments are handed to the template."""

    OBJECT = "object"
    STRING = "string"


class AbsentContent(StrEnum):
    """How a message without content is handed to the template."""

    NULL = "null"
    EMPTY = "empty"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a template wants its messages to look like.

    ``reasoning_field`` is a key of the message or, with ``blocks``, of a block of its content;
    ``call_reasoning_field`` is that of a message with calls, where it is another one.
    ``next_header`` is given for a template that renders the last message as one to be continued:
    turns are then rendered before another user's message, which this header precedes.
    ``tail`` stands behind every conversation, also behind one that the model is to go on with.
    ``lists_tools``: tools are listed behind the user's text, or behind all messages, and no part of
    the assistant's turn.
    ``flat_calls``: a call's name and arguments stand in the call itself, not under ``function``.
    ``named_ids``: only a call's id is rendered, and not its name; then the name is given as the id.
    ``required_field`` is a key without which no message of ``required_roles`` is taken; it is empty
    where there is nothing to give, or ``required_filled``, with the role. ``text_block`` is what a
    text is put into, under ``text``, where content has to be a list: that of the messages of
    ``block_roles``. With a ``text_key`` it has to be one mapping, with the text under that key.
    ``needs_system``: no conversation is taken that begins with no system message.
    ``call_shape`` says where calls are read from, if they have another form than these.
    ``renamed`` has the names that a template has for roles and for the keys of messages.
    ``id_lead`` stands before ids, and with ``ids_are_numbers`` a number in the place of each, where
    no others are taken; renderings show what was given to the chat all the same.
    """

    arguments: ArgumentsForm = ArgumentsForm.OBJECT
    absent_content: AbsentContent = AbsentContent.NULL
    reasoning_field: str | None = None
    blocks: ContentBlocks | None = None
    give_tools: bool = True
    lists_tools: bool = False
    next_header: str | None = None
    tail: str = ""
    flat_calls: bool = False
    named_ids: bool = False
    call_reasoning_field: str | None = None
    required_field: str | None = None
    required_roles: tuple[str, ...] = ("assistant",)
    required_filled: bool = False
    text_block: Mapping[str, str] = field(default_factory=dict)
    block_roles: tuple[str, ...] = ()
    text_key: str | None = None
    needs_system: bool = False
    call_shape: CallShape | None = None
    renamed: Mapping[str, str] = field(default_factory=dict)
    id_lead: str = ""
    ids_are_numbers: bool = False

    def given_id(self, call_id: str) -> str:
        """Return what a template is given as a call's id."""
        is_number = self.ids_are_numbers
        return str(crc32(call_id.encode()) + 10**9) if is_number else self.id_lead + call_id

    def with_ids(self, message: JsonObject) -> JsonObject:
        """Return a message with the ids that the template takes."""
        calls, result_id = message.get("tool_calls"), message.get("tool_call_id")
        if isinstance(calls, list):
            given = [{**it, "id": self.given_id(it["id"])} if "id" in it else it for it in calls]
            message = {**message, "tool_calls": given}
        if isinstance(result_id, str):
            message = {**message, "tool_call_id": self.given_id(result_id)}
        return message

    def insisted(self, message: JsonObject) -> JsonObject:
        """Return a message with all that the template insists on."""
        role, content = message.get("role"), message.get("content")
        if role in self.required_roles and self.required_field:
            message = {self.required_field: role if self.required_filled else "", **message}
        if role in self.block_roles and isinstance(content, str):
            block = {**self.text_block, self.text_key or "text": content}
            message = {**message, "content": block if self.text_key else [block]}
        if self.renamed:
            usual = {**message, "role": self.renamed.get(str(role), role)}
            message = {key: value for key, value in usual.items() if key not in self.renamed}
            for key in usual.keys() & self.renamed.keys():
                place = self.renamed[key]
                given = at_place(place, usual[key])
                # Of parts, content comes first; of keys, it is none that anybody else gave.
                message = merged(given, message) if "[" in place else merged(message, given)
        return message

    def empty_content(self, *, beside_calls: bool) -> JsonObject:
        """Return what a message without content has in its place."""
        if beside_calls and self.absent_content is AbsentContent.MISSING:
            return {}
        is_null = beside_calls and self.absent_content is AbsentContent.NULL
        return {"content": None if is_null else ""}

    def tool_call(self, call: Call) -> JsonObject:
        """Return a call as the template wants it."""
        arguments: object = dict(call.arguments)
        if self.arguments is ArgumentsForm.STRING:
            arguments = json.dumps(arguments, ensure_ascii=False)
        function: JsonObject = {"name": call.name, "arguments": arguments}
        head = {"id": call.name if self.named_ids else call.id, "type": "function"}
        return {**head, **(function if self.flat_calls else {"function": function})}

    def with_calls(self, message: JsonObject, calls: Sequence[Call], content: str) -> JsonObject:
        """Return a message with calls; ``content`` is its text, if it has one."""
        shape = self.call_shape
        if shape is None:
            return {**message, "tool_calls": [*map(self.tool_call, calls)]}
        as_text = self.arguments is ArgumentsForm.STRING
        given = shape.given(calls, content, as_text=as_text)
        beside = message.get("content")
        if "content" in given and not isinstance(beside, list):
            message = {key: value for key, value in message.items() if key != "content"}
        elif shape.text and isinstance(beside, list):  # blocks already, the text among them
            given = shape.given(calls, "", as_text=as_text)
        return merged(message, given)

    def reasoning_key(self, *, beside_calls: bool) -> str | None:
        """Return the key for the reasoning of a message with or without calls."""
        return (beside_calls and self.call_reasoning_field) or self.reasoning_field


def ids_in(message: JsonObject) -> list[str]:
    """Return the ids of a message's calls, or of the call whose result it is."""
    calls, result_id = message.get("tool_calls"), message.get("tool_call_id")
    ids = [call["id"] for call in calls if "id" in call] if isinstance(calls, list) else []
    return [*ids, result_id] if isinstance(result_id, str) else ids
