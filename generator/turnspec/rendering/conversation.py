"""Conversations with one assistant turn in them, in the form that a template wants.

Templates differ in what they take: arguments as an object or as a JSON string, null content or an
empty one, reasoning under one key or another. A `Dialect` records what `capabilities` found out by
rendering; a `Chat` speaks to one template in its dialect.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import chain
from zlib import crc32

from turnspec.rendering.shapes import CallShape, at_place, merged
from turnspec.rendering.value_schemas import schema_of
from turnspec.rendering.variables import TemplateFacts
from turnspec.rendering.worker import Rendering, RenderWorker
from turnspec.spec.encoding import json_type
from turnspec.spec.message import Call, Message
from turnspec.spec.model import ContentBlocks

#: Texts of the messages around the turn; a template that renders them shows where the turn is.
USER_TEXT = "usrqa"
NEXT_USER_TEXT = "usrqz"
RESULT_TEXT = "resqa"

JsonObject = dict[str, object]


class ArgumentsForm(StrEnum):
    """How a call's arguments are handed to the template."""

    OBJECT = "object"
    STRING = "string"


class AbsentContent(StrEnum):
    """How a message without content is handed to the template."""

    NULL = "null"
    EMPTY = "empty"
    MISSING = "missing"


class Following(StrEnum):
    """What comes after the assistant's turn."""

    NOTHING = "nothing"
    USER = "user"
    TOOL = "tool"


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


@dataclass(frozen=True, slots=True)
class Chat:
    """One template with the tokens it refers to, its dialect, and its variables' values."""

    worker: RenderWorker
    source: str
    tokens: Mapping[str, str]
    dialect: Dialect = Dialect()
    variables: Mapping[str, object] = field(default_factory=dict)

    def speaking(self, dialect: Dialect) -> Chat:
        """Return the same chat in another dialect."""
        return replace(self, dialect=dialect)

    def using(self, variables: Mapping[str, object]) -> Chat:
        """Return the same chat with other values of the template's variables."""
        return replace(self, variables=dict(variables))

    @property
    def facts(self) -> TemplateFacts:
        """What the template's source says of itself."""
        return self.worker.facts(self.source)

    def render(
        self,
        messages: Sequence[JsonObject],
        *,
        tools: Sequence[JsonObject] = (),
        add_generation_prompt: bool = False,
    ) -> Rendering:
        """Render plain messages.

        Without tools the template is told that there are none, as chat libraries do; a few
        templates fail then, and take it only where nothing is said of tools.
        """
        roles = [message.get("role") for message in messages[:1]]
        if self.dialect.needs_system and roles != ["system"]:
            messages = [_SYSTEM_MESSAGE, *messages]
        if self.dialect.id_lead or self.dialect.ids_are_numbers:
            return self._with_other_ids(messages, tools, add_generation_prompt)
        context: JsonObject = {
            **self.tokens,
            "messages": [self.dialect.insisted(message) for message in messages],
            "add_generation_prompt": add_generation_prompt,
            **self.variables,
        }
        if tools and self.dialect.give_tools:
            return self.worker.render(self.source, {**context, "tools": list(tools)})
        rendering = self.worker.render(self.source, {"tools": None, **context})
        if rendering.text is None and not rendering.fatal:
            return self.worker.render(self.source, context)
        return rendering

    def _with_other_ids(
        self, messages: Sequence[JsonObject], tools: Sequence[JsonObject], add_prompt: bool
    ) -> Rendering:
        """Render messages with the ids that the template takes; return it with their own."""
        plain = replace(self.dialect, id_lead="", ids_are_numbers=False)
        given = [*map(self.dialect.with_ids, messages)]
        rendering = self.speaking(plain).render(
            given, tools=tools, add_generation_prompt=add_prompt
        )
        text = rendering.text
        if text is None:
            return rendering
        for call_id in chain.from_iterable(map(_ids_in, messages)):
            text = text.replace(self.dialect.given_id(call_id), call_id)
        return replace(rendering, text=text)

    def prompt(self, *, add_generation_prompt: bool = True) -> Rendering:
        """Render a user's message alone; the text returned begins after that message's text."""
        messages = [user_message(USER_TEXT)]
        found = self._behind_user(messages, [EXAMPLE_TOOL], prompt=add_generation_prompt)
        text, tail = found.text, self.dialect.tail
        return Rendering(text.removesuffix(tail)) if text is not None and tail else found

    def turn(
        self,
        message: Message,
        *,
        following: Following = Following.NOTHING,
        earlier: Sequence[Message] = (),
    ) -> Rendering:
        """Render a user's message and the assistant's answer.

        The text returned runs from the end of the user's text to the end of the rendering or to
        the text of the message that follows.
        """
        if following is Following.NOTHING and self.dialect.next_header is not None:
            whole = self.turn(message, following=Following.USER, earlier=earlier)
            end = self.dialect.next_header
            return whole if whole.text is None else Rendering(whole.text.removesuffix(end))
        messages: list[JsonObject] = []
        for past in earlier:
            messages += [user_message(NEXT_USER_TEXT), self.assistant_message(past)]
            messages += [result_message(call) for call in past.calls]
            if past.calls:
                messages.append(self.assistant_message(Message(content=RESULT_TEXT)))
        messages += [user_message(USER_TEXT), self.assistant_message(message)]
        if following is Following.USER:
            messages.append(user_message(NEXT_USER_TEXT))
        if following is Following.TOOL:
            calls = message.calls or (Call("toolqa", {}, "callqa001"),)
            messages += [result_message(call) for call in calls]
        calls = tuple(call for past in (*earlier, message) for call in past.calls)
        rendering = self._behind_user(messages, tool_definitions(calls) or [EXAMPLE_TOOL])
        if rendering.text is None and calls and not rendering.fatal:
            # Some templates know few types of parameters; which they are given is no matter here.
            rendering = self._behind_user(messages, tool_definitions(calls, only_strings=True))
        return _until_next(rendering, following)

    def answer(self, content: object) -> Rendering:
        """Render a user's message and an answer with any content, from the user's text on."""
        return self.continued({"role": "assistant", "content": content})

    def continued(self, message: JsonObject) -> Rendering:
        """Render a user's message and any other one behind it, from the user's text on."""
        return self._behind_user([user_message(USER_TEXT), message], [EXAMPLE_TOOL])

    def _behind_user(
        self, messages: Sequence[JsonObject], tools: Sequence[JsonObject], *, prompt: bool = False
    ) -> Rendering:
        """Render messages; return what stands behind the user's text, but for a list of tools.

        It may stand there, or behind all messages.
        """
        rendering = _after_user(self.render(messages, tools=tools, add_generation_prompt=prompt))
        if rendering.text is None or not self.dialect.lists_tools:
            return rendering
        user = [user_message(USER_TEXT)]
        told, bare = (_after_user(self.render(user, tools=some)).text or "" for some in (tools, ()))
        pairs = enumerate(zip(told, bare, strict=False))
        start = next((at for at, (one, other) in pairs if one != other), len(bare))
        listed = told[start:].removesuffix(bare[start:])
        rest = rendering.text[start:]
        if not rest.startswith(listed):
            return Rendering(rendering.text.removesuffix(listed))
        return Rendering(rendering.text[:start] + rest.removeprefix(listed))

    def assistant_message(self, message: Message) -> JsonObject:
        """Return an assistant's message as the template wants it."""
        result: JsonObject = {"role": "assistant"}
        blocks = self.dialect.blocks
        field = self.dialect.reasoning_key(beside_calls=bool(message.calls))
        if blocks and field and (message.content or message.reasoning):
            result["content"] = content_in_blocks(blocks, field, message)
        elif message.content:
            result["content"] = message.content
        else:
            result |= self.dialect.empty_content(beside_calls=bool(message.calls))
        if message.reasoning and field and not blocks:
            result |= at_place(field, message.reasoning)
        if message.calls:
            result = self.dialect.with_calls(result, message.calls, message.content)
        return result


def content_in_blocks(blocks: ContentBlocks, reasoning_field: str, message: Message) -> object:
    """Return a message's reasoning and content as blocks, each left out where it is empty."""
    texts = (
        (blocks.reasoning_type, reasoning_field, message.reasoning),
        (blocks.content_type, blocks.content_key, message.content),
    )
    found = [{blocks.type_key: kind, **at_place(key, text)} for kind, key, text in texts if text]
    return {blocks.container: found} if blocks.container else found


#: For templates that want one first; what it says stands before all that is looked at.
_SYSTEM_MESSAGE: JsonObject = {"role": "system", "content": "Be brief."}


def user_message(text: str) -> JsonObject:
    """Return a user's message."""
    return {"role": "user", "content": text}


def result_message(call: Call) -> JsonObject:
    """Return a tool's answer to a call."""
    return {"role": "tool", "content": RESULT_TEXT, "tool_call_id": call.id, "name": call.name}


def tool_definitions(calls: Sequence[Call], *, only_strings: bool = False) -> list[JsonObject]:
    """Return a tool definition for each name called.

    Its parameters are typed as the arguments are, or all of them as strings.
    """
    given: dict[str, dict[str, list[object]]] = {}
    for call in calls:
        known = given.setdefault(call.name, {})
        for key, value in call.arguments.items():
            known.setdefault(key, []).append(value)
    return [
        _tool_definition(
            name, {key: _parameter(values, only_strings) for key, values in known.items()}
        )
        for name, known in given.items()
    ]


def _parameter(values: Sequence[object], only_strings: bool) -> dict[str, object]:
    """Return a parameter's schema; where the values' types differ, the last one's counts."""
    if only_strings:
        return {"type": "string", "description": "An argument."}
    kind = json_type(values[-1])
    schema = schema_of([value for value in values if json_type(value) is kind])
    return {"type": kind.value, "description": "An argument.", **schema}


def _tool_definition(name: str, properties: Mapping[str, object]) -> JsonObject:
    parameters = {"type": "object", "properties": dict(properties), "required": list(properties)}
    function = {"name": name, "description": "A tool.", "parameters": parameters}
    return {"type": "function", "function": function}


#: The tool that is offered where no call needs another.
EXAMPLE_TOOL_NAME = "toolqa"
EXAMPLE_TOOL = _tool_definition(
    EXAMPLE_TOOL_NAME, {"keyqa": {"type": "string", "description": "A key."}}
)


def _ids_in(message: JsonObject) -> list[str]:
    """Return the ids of a message's calls, or of the call whose result it is."""
    calls, result_id = message.get("tool_calls"), message.get("tool_call_id")
    ids = [call["id"] for call in calls if "id" in call] if isinstance(calls, list) else []
    return [*ids, result_id] if isinstance(result_id, str) else ids


def _after_user(rendering: Rendering) -> Rendering:
    if rendering.text is None:
        return rendering
    _, found, after = rendering.text.rpartition(USER_TEXT)
    if not found:
        return Rendering(None, "the user's message is not rendered")
    return Rendering(after)


def _until_next(rendering: Rendering, following: Following) -> Rendering:
    needles = {Following.USER: NEXT_USER_TEXT, Following.TOOL: RESULT_TEXT}
    if rendering.text is None or following not in needles:
        return rendering
    before, found, _ = rendering.text.partition(needles[following])
    if not found:
        return Rendering(None, "the message that follows is not rendered")
    return Rendering(before)
