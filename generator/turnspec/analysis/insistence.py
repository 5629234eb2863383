"""What a template insists on: without it, no conversation is rendered at all.

Some want a key for reasoning in every assistant's message, empty or not, some want content as a
list of one mapping. What that holds beside its text is looked up in the template's own syntax tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from turnspec.analysis.findings import Derivation
from turnspec.analysis.probes import CONTENT
from turnspec.rendering.conversation import Chat, Dialect
from turnspec.spec.message import Message

#: The keys under which chat APIs hand reasoning to a template, the most usual first.
REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking")

#: Whose content has to be a list: the user's alone, or everybody's.
_BLOCK_ROLES = (("user",), ("user", "assistant", "system", "tool"))


def find_insistence(chat: Chat, derivation: Derivation) -> Dialect:
    """Return the first dialect in which an answer is rendered; the chat's own if there is none."""
    if _answers(chat):
        return chat.dialect
    for dialect in _dialects(chat):
        if _answers(chat.speaking(dialect)):
            needed = (dialect.required_field, dialect.text_block, dialect.block_roles)
            derivation.note("T1", f"it insists on {needed}")
            return dialect
    return chat.dialect


def _answers(chat: Chat) -> bool:
    """Tell whether an answer is rendered, with the tools told or without."""
    untold = chat.speaking(replace(chat.dialect, give_tools=False))
    return any(CONTENT in (c.turn(Message(content=CONTENT)).text or "") for c in (chat, untold))


def _dialects(chat: Chat) -> Iterator[Dialect]:
    for name in dict.fromkeys((*REASONING_FIELDS, *chat.facts.attribute_names)):
        yield replace(chat.dialect, required_field=name)
    names = [name for name in chat.facts.attribute_names if name not in ("role", "content", "text")]
    # A key of the block may have to be one of a table, as the code of a language is.
    fillings = [{}, *(dict.fromkeys(names, word) for word in chat.facts.table_keys)]
    for roles in _BLOCK_ROLES:
        for filling in fillings:
            block = {**filling, "type": "text"}
            yield replace(chat.dialect, text_block=block, block_roles=roles)
