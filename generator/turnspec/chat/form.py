"""In which form a template takes messages: what was found by rendering, beyond the spec."""

from __future__ import annotations

from dataclasses import dataclass, replace

from turnspec.analysis.dialect import call_limit, probe_capabilities
from turnspec.analysis.findings import Derivation
from turnspec.analysis.message_form import find_message_form
from turnspec.analysis.probes import probe_call, probe_message
from turnspec.rendering.conversation import (
    RESULT_TEXT,
    USER_TEXT,
    Chat,
    result_message,
    user_message,
)
from turnspec.rendering.dialect import AbsentContent, Dialect, JsonObject
from turnspec.spec.model import Capabilities

#: What the roles of chat APIs are called.
SYSTEM, DEVELOPER, USER, ASSISTANT, TOOL = "system", "developer", "user", "assistant", "tool"
_API_ROLES = frozenset({SYSTEM, DEVELOPER, USER, ASSISTANT, TOOL})
_TEXT = "textqa"


@dataclass(frozen=True, slots=True)
class MessageForm:
    """How one template takes messages.

    ``result_role`` is the role under which it shows a tool's result, None where it shows none.
    ``takes_parts`` are the roles whose content may be a list of typed parts, ``only_parts`` those
    whose content must be one. ``developer_role``: it knows a role of that name.
    """

    dialect: Dialect
    capabilities: Capabilities
    result_role: str | None
    developer_role: bool
    takes_parts: frozenset[str]
    only_parts: frozenset[str]


def find_form(chat: Chat, capabilities: Capabilities | None = None) -> MessageForm:
    """Find a template's form by rendering; known ``capabilities`` aren't looked for again."""
    chat = chat.speaking(_followed(chat, find_message_form(chat, Derivation())))
    words = chat.facts.attribute_words.get("role", [])
    known = (TOOL, *(word for word in words if word not in _API_ROLES))
    # The first role whose message is shown after a call: ``tool``, or one of its own.
    result_role = next((role for role in known if _shows_result(chat, role)), None)
    roles = (SYSTEM, USER, ASSISTANT, *((result_role,) if result_role else ()))
    return MessageForm(
        dialect=chat.dialect,
        capabilities=capabilities or probe_capabilities(chat, call_limit(chat)),
        result_role=result_role,
        developer_role=DEVELOPER in words and _shows_text(chat, DEVELOPER, _TEXT),
        takes_parts=frozenset(role for role in roles if _takes_parts(chat, role)),
        only_parts=frozenset(role for role in roles if not _shows_text(chat, role, _TEXT)),
    )


def _followed(chat: Chat, dialect: Dialect) -> Dialect:
    """Return the dialect with absent content in a form that works in any place.

    Null content may be fine in the last message and an error in an earlier one.
    """
    if dialect.absent_content is not AbsentContent.NULL:
        return dialect
    called = chat.speaking(dialect).assistant_message(probe_message(calls=1))
    messages = [user_message(USER_TEXT), called, result_message(probe_call(0))]
    if chat.render([*messages, user_message(_TEXT)]).text is not None:
        return dialect
    return replace(dialect, absent_content=AbsentContent.EMPTY)


def _shows_result(chat: Chat, role: str) -> bool:
    """Tell whether a result is shown, and marked otherwise than a message of no known role."""
    text = _behind_call(chat, {**result_message(probe_call(0)), "role": role})
    users = _behind_call(chat, user_message(RESULT_TEXT))
    return RESULT_TEXT in text and (role == TOOL or _marks(text) != _marks(users))


def _behind_call(chat: Chat, message: JsonObject) -> str:
    """Return what a conversation with a message behind a call looks like."""
    called = chat.assistant_message(probe_message(calls=1))
    return chat.render([user_message(USER_TEXT), called, message]).text or ""


def _marks(text: str) -> str:
    return text.rpartition(USER_TEXT)[2].partition(RESULT_TEXT)[0]


def _takes_parts(chat: Chat, role: str) -> bool:
    """Tell whether parts of text are shown as the text itself is, or the text isn't shown."""
    parts = _with_content(chat, role, [{"type": "text", "text": _TEXT}])
    plain = _with_content(chat, role, _TEXT)
    return _TEXT in parts and (parts == plain or _TEXT not in plain) and "'text'" not in parts


def _shows_text(chat: Chat, role: str, content: object) -> bool:
    """Tell whether content is shown; where no form of it is, text is the form to give."""
    if _TEXT in _with_content(chat, role, content):
        return True
    return _TEXT not in _with_content(chat, role, [{"type": "text", "text": _TEXT}])


def _with_content(chat: Chat, role: str, content: object) -> str:
    user = user_message(USER_TEXT)
    given: JsonObject = {"role": role, "content": content}
    # What is asked is whether it is taken as it is.
    others = tuple(other for other in chat.dialect.block_roles if other != role)
    chat = chat.speaking(replace(chat.dialect, block_roles=others))
    if role in (SYSTEM, DEVELOPER):
        messages = [given, user]
    elif role == USER:
        messages = [given]
    elif role == ASSISTANT:
        messages = [user, given]
    else:
        return _behind_call(chat, {**result_message(probe_call(0)), **given})
    return chat.render(messages).text or ""
