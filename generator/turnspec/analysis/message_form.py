"""The whole form of messages in which a template shows all it can: its dialect with reasoning.

That may be a block of content: ``[{"type": "…", "…": text}, …]`` instead of a message's key. Which
words say what a block is, and which keys hold texts, stands in the template's own syntax tree. Each
word is tried in a block that has every key, each with a needle of its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from turnspec.analysis.dialect import (
    find_both_fields,
    find_dialect,
    find_inner_place,
    find_other_field,
    find_reasoning_field,
    show_thought_calls,
)
from turnspec.analysis.findings import Derivation
from turnspec.analysis.insistence import REASONING_FIELDS, find_insistence
from turnspec.analysis.probes import CONTENT, REASONING, probe_message
from turnspec.rendering.conversation import Chat, content_in_blocks
from turnspec.rendering.dialect import Dialect, JsonObject, at_place, inner_places, merged
from turnspec.rendering.paths import ELEMENT
from turnspec.spec.message import Message
from turnspec.spec.model import ContentBlocks


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


#: How many words are tried as a block's type at most; no chat template has as many.
_MOST_WORDS = 100
#: Where the elements of content stand.
_PARTS = ("content", ELEMENT)


@dataclass(frozen=True, slots=True)
class _Block:
    """A block that a template renders: what says its type, and the key its text stands under.

    ``before`` is what is rendered before that text, from the user's message on, ``after`` what
    behind it.
    """

    container: str
    type_key: str
    word: str
    text_key: str
    before: str
    after: str


def find_content_blocks(chats: Iterable[Chat]) -> tuple[str, ContentBlocks] | None:
    """Return the key of a block's text that is reasoning, and the form of such content.

    ``chats`` are one template under several settings. Content is a block that renders as a plain
    text does; where the first setting has none, no other is tried.
    """
    for chat in chats:
        plain = chat.turn(Message(content=CONTENT)).text or ""
        before, _, after = plain.partition(CONTENT)
        shown = list(_shown_blocks(chat))
        contents = [block for block in shown if (block.before, block.after) == (before, after)]
        if not contents:
            return None
        for content, block in itertools.product(contents, shown):
            blocks = _form(block, content)
            if blocks is not None and _gives_reasoning(chat, block.text_key, blocks):
                return block.text_key, blocks
    return None


def _form(reasoning: _Block, content: _Block) -> ContentBlocks | None:
    """Return the form that has both blocks, if they are of one form and marked differently."""
    key = reasoning.type_key
    if (reasoning.container, key) != (content.container, content.type_key):
        return None
    if reasoning.before.strip() == content.before.strip():
        return None
    return ContentBlocks(
        reasoning_type=reasoning.word,
        content_type=content.word,
        content_key=content.text_key,
        type_key=key,
        container=reasoning.container,
    )


def _shown_blocks(chat: Chat) -> Iterator[_Block]:
    """Yield every block of which the template renders one text, and that once."""
    names = chat.facts.attribute_names
    needles = {name: f"blk{number}qz" for number, name in enumerate(names)}
    found_words = chat.facts.attribute_words.items()
    # A text may be what is left over: messages of the usual form say "text".
    words = [(key, word) for key, known in found_words for word in dict.fromkeys((*known, "text"))]
    for key, word in words[:_MOST_WORDS]:
        block = {**needles, key: word}
        for content in ([block], {name: [block] for name in names}):
            text = chat.answer(content).text or ""
            found = [name for name in names if name != key and needles[name] in text]
            if len(found) != 1 or text.count(needles[found[0]]) != 1:
                continue
            before, _, after = text.partition(needles[found[0]])
            small = [{key: word, found[0]: needles[found[0]]}]
            container = _container(chat, small, text) if isinstance(content, dict) else ""
            if container is not None:
                yield _Block(container, key, word, found[0], before, after)
        yield from _inner_blocks(chat, key, word)


def _inner_blocks(chat: Chat, key: str, word: str) -> Iterator[_Block]:
    """Yield the block of a list whose one text stands within a mapping or a list of its own.

    Where several texts show, as those of a call do, none is content by itself.
    """
    places = [place[2:] for place in chat.facts.message_places if place[:2] == _PARTS]
    inner = {place: f"blkin{number}qz" for number, place in enumerate(inner_places(places))}
    block: JsonObject = {key: word}
    for place, needle in inner.items():
        block = merged(block, at_place(place, needle))
    text = chat.answer([block]).text or "" if inner else ""
    found = [(place, needle) for place, needle in inner.items() if needle in text]
    if len(found) == 1 and text.count(found[0][1]) == 1:
        before, _, after = text.partition(found[0][1])
        yield _Block("", key, word, found[0][0], before, after)


def _container(chat: Chat, blocks: list[dict[str, str]], text: str) -> str | None:
    """Return the key under which a list of blocks gives ``text``; None where no single one does."""
    for name in chat.facts.attribute_names:
        if chat.answer({name: blocks}).text == text:
            return name
    return None


def _gives_reasoning(chat: Chat, field: str, blocks: ContentBlocks) -> bool:
    """Tell whether an assistant's message renders both texts, and no user's renders reasoning."""
    both = content_in_blocks(blocks, field, probe_message(reasoning=True, content=True))
    text = chat.answer(both).text or ""
    if not 0 <= text.find(REASONING) < text.find(CONTENT):
        return False
    # One way to print parts may serve all roles.
    if {field, blocks.reasoning_type} & {*REASONING_FIELDS}:
        return True
    alone = content_in_blocks(blocks, field, probe_message(reasoning=True))
    as_user: dict[str, object] = {"role": "user", "content": alone}
    # A template that prints a user's content as it is shows the blocks themselves.
    return REASONING not in (chat.render([as_user]).text or "").replace(str(alone), "")
