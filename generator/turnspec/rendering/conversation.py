"""Conversations with one assistant turn in them, in the form that a template wants.

Templates differ in what they take: arguments as an object or as a JSON string, null content or an
empty one, reasoning under one key or another. A `Dialect` records what `capabilities` found out by
rendering; a `Chat` speaks to one template in its dialect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import chain

from turnspec.rendering.dialect import Dialect, JsonObject, at_place, ids_in
from turnspec.rendering.variables import TemplateFacts
from turnspec.rendering.worker import Rendering, RenderWorker
from turnspec.spec.encoding import json_type
from turnspec.spec.message import Call, Message
from turnspec.spec.model import ContentBlocks

#: Texts of the messages around the turn; a template that renders them shows where the turn is.
USER_TEXT = "usrqa"
NEXT_USER_TEXT = "usrqz"
RESULT_TEXT = "resqa"


class Following(StrEnum):
    """What comes after the assistant's turn."""

    NOTHING = "nothing"
    USER = "user"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Chat:
    """One template with the tokens it refers to, its dialect, and its variables' values."""

    worker: RenderWorker
    source: str
    tokens: Mapping[str, str]
    dialect: Dialect = field(default_factory=Dialect)
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
        self, messages: Sequence[JsonObject], tools: Sequence[JsonObject], prompt: bool
    ) -> Rendering:
        """Render messages with the ids that the template takes; return it with their own."""
        plain = replace(self.dialect, id_lead="", ids_are_numbers=False)
        given = [*map(self.dialect.with_ids, messages)]
        rendering = self.speaking(plain).render(given, tools=tools, add_generation_prompt=prompt)
        text = rendering.text
        if text is None:
            return rendering
        for call_id in chain.from_iterable(map(ids_in, messages)):
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
    parameters = {
        name: {key: _parameter(values, only_strings) for key, values in known.items()}
        for name, known in given.items()
    }
    return [_tool_definition(name, found) for name, found in parameters.items()]


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


def schema_of(values: Sequence[object]) -> dict[str, object]:
    """Return a schema that allows these values, down to what is inside of arrays and objects."""
    by_type: dict[str, list[object]] = {}
    for value in values:
        by_type.setdefault(json_type(value).value, []).append(value)
    schemas = [_typed(name, found) for name, found in by_type.items()]
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _typed(name: str, values: Sequence[object]) -> dict[str, object]:
    """Return the schema of values that are all of one type."""
    schema: dict[str, object] = {"type": name}
    items = [item for value in values if isinstance(value, list | tuple) for item in value]
    if items:
        schema["items"] = schema_of(items)
    members: dict[str, list[object]] = {}
    for value in values:
        for key, member in value.items() if isinstance(value, Mapping) else ():
            members.setdefault(str(key), []).append(member)
    if members:
        schema["properties"] = {key: schema_of(found) for key, found in members.items()}
    return schema
