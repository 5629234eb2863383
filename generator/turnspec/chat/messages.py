"""Messages as chat APIs have them, read once, and written in the form that a template takes.

What comes in may be told in any of the usual ways: content as text or typed parts, arguments as an
object or as JSON text, name and arguments of a call under ``function`` or beside its id, reasoning
under any of its keys. What comes out is the one way that the template reads.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from turnspec.analysis.insistence import REASONING_FIELDS
from turnspec.chat.form import ASSISTANT, DEVELOPER, SYSTEM, TOOL, USER, MessageForm
from turnspec.rendering.conversation import content_in_blocks
from turnspec.rendering.dialect import Dialect, JsonObject, at_place
from turnspec.spec.message import Call, Message
from turnspec.spec.problems import Problem

#: What chat APIs call the message of a tool's result, the older name second.
_RESULT_ROLES = (TOOL, "function")
_READ = frozenset({"role", "content", "tool_calls", *REASONING_FIELDS})


@dataclass(frozen=True, slots=True)
class Turn:
    """One message, read: ``content`` is text or typed parts, ``extra`` all other keys."""

    role: str
    content: str | tuple[JsonObject, ...] = ""
    reasoning: str = ""
    calls: tuple[Call, ...] = ()
    extra: JsonObject = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The content's text, parts on lines of their own."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(str(part["text"]) for part in self.content if "text" in part)

    @property
    def mixed_parts(self) -> tuple[JsonObject, ...]:
        """The content's parts if one is no text, such as an image; else none."""
        parts = () if isinstance(self.content, str) else self.content
        return parts if any(part["type"] != "text" for part in parts) else ()


def with_text_before(turn: Turn, text: str, between: str = "\n\n") -> Turn:
    """Return the turn with a text before its content; parts that are no text stay."""
    if parts := turn.mixed_parts:
        return replace(turn, content=({"type": "text", "text": text}, *parts))
    return replace(turn, content=f"{text}{between}{turn.text}".strip())


def with_text_behind(turn: Turn, text: str) -> Turn:
    """Return the turn with a text at the end of its content; parts that are no text stay."""
    if parts := turn.mixed_parts:
        return replace(turn, content=(*parts, {"type": "text", "text": text}))
    return replace(turn, content=f"{turn.text} {text}".strip())


def read_messages(messages: Sequence[Mapping[str, object]]) -> list[Turn] | list[Problem]:
    """Return the messages read, or everything that is wrong with them."""
    problems: list[Problem] = []
    turns = [_read_message(it, f"messages[{at}]", problems) for at, it in enumerate(messages)]
    if not messages:
        problems.append(Problem("there are no messages", path="messages"))
    return problems or turns


def _read_message(message: object, place: str, problems: list[Problem]) -> Turn:
    if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
        problems.append(Problem("is no object with a role", path=place))
        return Turn(USER)
    role = str(message["role"])
    found = (message.get(key) for key in REASONING_FIELDS)
    reasoning = next((text for text in found if isinstance(text, str) and text), "")
    calls = message.get("tool_calls") or []
    if not isinstance(calls, list | tuple):
        problems.append(Problem("is no list", path=f"{place}.tool_calls"))
        calls = []
    return Turn(
        role=TOOL if role in _RESULT_ROLES else role,
        content=_read_content(message.get("content"), f"{place}.content", problems),
        reasoning=reasoning,
        calls=tuple(
            _read_call(call, f"{place}.tool_calls[{number}]", problems)
            for number, call in enumerate(calls)
        ),
        extra={str(key): value for key, value in message.items() if key not in _READ},
    )


def _read_content(
    content: object, place: str, problems: list[Problem]
) -> str | tuple[JsonObject, ...]:
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list | tuple):
        problems.append(Problem("is neither text nor a list of parts", path=place))
        return ""
    parts: list[JsonObject] = []
    for number, part in enumerate(content):
        if isinstance(part, str):
            parts.append({"type": "text", "text": part})
        elif _is_part(part):
            parts.append(dict(part))
        else:
            problems.append(Problem("is no part with a type", path=f"{place}[{number}]"))
    return tuple(parts)


def _is_part(part: object) -> bool:
    if not isinstance(part, Mapping) or not isinstance(part.get("type"), str):
        return False
    return part["type"] != "text" or isinstance(part.get("text"), str)


def _read_call(call: object, place: str, problems: list[Problem]) -> Call:
    function = call.get("function", call) if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        problems.append(Problem("is no call with a name", path=place))
        return Call("")
    assert isinstance(call, Mapping)
    arguments = function.get("arguments")
    if isinstance(arguments, str):
        arguments = _loaded(arguments)
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, Mapping):
        message = "are neither an object nor the JSON text of one"
        problems.append(Problem(message, path=f"{place}.arguments"))
        arguments = {}
    return Call(str(function["name"]), dict(arguments), str(call.get("id") or ""))


def _loaded(text: str) -> object:
    """Return what a JSON text holds; no text at all is an empty object."""
    if not text.strip():
        return {}
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def write_messages(
    turns: Sequence[Turn], form: MessageForm
) -> tuple[list[JsonObject], list[Problem]]:
    """Return messages in the form that the template takes, and what can't be said in it."""
    problems: list[Problem] = []
    written: list[JsonObject] = []
    # A template may refuse a conversation that has content now in blocks, now not.
    in_blocks = form.dialect.blocks is not None and any(turn.reasoning for turn in turns)
    for number, turn in enumerate(turns):
        role = _role(turn.role, form)
        message: JsonObject = {"role": role}
        content = _content(turn, role, form, f"messages[{number}].content", problems)
        if turn.role == ASSISTANT:
            message |= _assistant(turn, content, form, in_blocks=in_blocks)
        else:
            message["content"] = content
        written.append({**message, **turn.extra})
    return written, problems


def _role(role: str, form: MessageForm) -> str:
    if role == DEVELOPER and not form.developer_role:
        return SYSTEM
    return form.result_role or role if role == TOOL else role


def _content(
    turn: Turn, role: str, form: MessageForm, place: str, problems: list[Problem]
) -> object:
    if isinstance(turn.content, str):
        parts = [{"type": "text", "text": turn.content}]
        return parts if role in form.only_parts and turn.content else turn.content
    if role in form.takes_parts:
        return [dict(part) for part in turn.content]
    other = [str(part["type"]) for part in turn.content if part["type"] != "text"]
    if other:
        message = f"the template takes text only from {role}, not {', '.join(other)}"
        problems.append(Problem(message, path=place))
    return turn.text


def _assistant(turn: Turn, content: object, form: MessageForm, *, in_blocks: bool) -> JsonObject:
    """Return content, reasoning and calls of an assistant's message."""
    dialect = form.dialect
    result: JsonObject = {"content": content}
    if not content:
        result = dialect.empty_content(beside_calls=bool(turn.calls))
    if in_blocks and dialect.blocks and dialect.reasoning_field:
        message = Message(turn.text, turn.reasoning)
        if message.content or message.reasoning:
            result["content"] = content_in_blocks(dialect.blocks, dialect.reasoning_field, message)
    elif turn.reasoning:
        # A template that reads it nowhere is given it all the same; it does no harm.
        key = dialect.reasoning_key(beside_calls=bool(turn.calls))
        result |= at_place(key or REASONING_FIELDS[0], turn.reasoning)
    if turn.calls and dialect.call_shape:
        result = dialect.with_calls(result, turn.calls, turn.text)
    elif turn.calls:
        result["tool_calls"] = [_call(call, dialect) for call in turn.calls]
    return result


def _call(call: Call, dialect: Dialect) -> JsonObject:
    """Return a call with the id that it has, if it has one."""
    given = replace(dialect, named_ids=False).tool_call(call)
    return {key: value for key, value in given.items() if key != "id" or value}


def with_ids(turns: Sequence[Turn], form: MessageForm) -> list[Turn]:
    """Name the tool in each result as its call does, and give ids where a template needs them."""
    # Nine letters and digits: some templates accept no other length.
    ids = (f"call{number:05}" for number in itertools.count(1))
    waiting: list[Call] = []
    done: list[Turn] = []
    for turn in turns:
        if turn.calls:
            numbered = zip(turn.calls, ids, strict=False)
            needed = form.capabilities.call_id_required
            waiting = [replace(c, id=c.id or new) if needed else c for c, new in numbered]
            turn = replace(turn, calls=tuple(waiting))
        elif turn.role == TOOL:
            turn = _answering(turn, waiting)
        done.append(turn)
    return done


def _answering(turn: Turn, waiting: list[Call]) -> Turn:
    """Return a result with the id and the name of its call: the one it names, or the next."""
    given = turn.extra.get("tool_call_id")
    call = next((call for call in waiting if given and call.id == given), None)
    if call is None and not given and waiting:
        call = waiting[0]
    if call is None:
        return turn
    waiting.remove(call)
    known: JsonObject = {"tool_call_id": call.id} if call.id else {}
    return Turn(turn.role, turn.content, extra={**known, "name": call.name, **turn.extra})


def read_tools(tools: Sequence[Mapping[str, object]]) -> list[JsonObject] | list[Problem]:
    """Return tool definitions in the form of chat APIs, each an object with a ``function``.

    A definition may be the function itself.
    """
    problems: list[Problem] = []
    read: list[JsonObject] = []
    for number, tool in enumerate(tools):
        function = tool.get("function", tool) if isinstance(tool, Mapping) else None
        if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
            problems.append(Problem("is no tool with a name", path=f"tools[{number}]"))
            continue
        kept = dict(tool) if "function" in tool else {"function": dict(function)}
        read.append({"type": "function", **kept})
    return problems or read
