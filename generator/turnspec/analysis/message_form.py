"""The whole form of messages in which a template shows all it can: its dialect with reasoning."""

from collections.abc import Mapping
from dataclasses import replace

from turnspec.analysis.blocks import find_content_blocks
from turnspec.analysis.dialect import (
    find_both_fields,
    find_dialect,
    find_inner_place,
    find_other_field,
    find_reasoning_field,
    show_thought_calls,
)
from turnspec.analysis.findings import Derivation
from turnspec.analysis.insistence import find_insistence
from turnspec.rendering.conversation import Chat
from turnspec.rendering.dialect import Dialect


def find_message_form(chat: Chat, derivation: Derivation) -> Dialect:
    """Return the dialect of a template, and from where it reads reasoning under any setting."""
    chat = chat.speaking(find_insistence(chat, derivation))
    dialect = find_dialect(chat, derivation)
    chat = chat.speaking(dialect)
    settings: list[Mapping[str, object]] = [{}]
    for name, values in chat.facts.switch_values.items():
        settings += [{name: value} for value in values]
    chats = [chat.using(variables) for variables in settings]
    finders = (find_reasoning_field, find_other_field)
    found_fields = (find(chat) for find in finders for chat in chats)
    field = next(filter(None, found_fields), None)
    if field is None and (found := find_content_blocks(chats)) is not None:
        field, blocks = found
        derivation.note("R1", f"reasoning is read from {field}, in content of the form {blocks}")
        return replace(dialect, reasoning_field=field, blocks=blocks)
    if field is None:
        field = next(filter(None, map(find_inner_place, chats)), None)
    if field is not None:
        derivation.note("R1", f"reasoning is read from {field}")
        field, call_field = find_both_fields(chats, field)
        if call_field:
            derivation.note("R1", f"from {field}, and beside calls from {call_field}")
        form = replace(dialect, reasoning_field=field, call_reasoning_field=call_field)
        return show_thought_calls(chats, form)
    derivation.note("R1", "reasoning is read from None")
    return dialect
