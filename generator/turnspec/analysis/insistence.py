"""What a template insists on: without it, no conversation is rendered at all.

Some want a key for reasoning in every assistant's message, empty or not, or another key in every
message, which may have to say something; some want a system message first, or content as a list
of one mapping, or as a mapping. What that holds beside its text, and where the text is, is looked
up in the template's own syntax tree.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace

from turnspec.analysis.findings import Derivation
from turnspec.analysis.probes import CONTENT, VALUES, probe_message
from turnspec.analysis.text import whole_suffix
from turnspec.rendering.conversation import NEXT_USER_TEXT, Chat, Following, user_message
from turnspec.rendering.dialect import Dialect, inner_places
from turnspec.spec.message import Message

#: The keys under which chat APIs hand reasoning to a template, the most usual first.
REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking")

#: What a block's keys say where no table tells: such keys name languages.
_WORD = "en"
#: A template that compares a key with more words than these has no roles in it.
_MOST_ROLES = 10
_USUAL = {name: name for name in ("role", "content", "assistant", "user")}
_ALL_ROLES = ("user", "assistant", "system", "tool")
#: Whose content has to be a list: the user's alone, or everybody's.
_BLOCK_ROLES = (("user",), _ALL_ROLES)


def find_insistence(chat: Chat, derivation: Derivation) -> Dialect:
    """Return the first dialect in which an answer is rendered; the chat's own if there is none."""
    if names := _own_names(chat):
        derivation.note("T1", f"it has names of its own: {names}")
        chat = chat.speaking(replace(chat.dialect, renamed=names))
    if _answers(chat):
        return chat.dialect
    for dialect in _dialects(chat):
        if _answers(chat.speaking(dialect)):
            plain = chat.dialect
            needed = {k: v for k, v in asdict(dialect).items() if v != getattr(plain, k)}
            derivation.note("T1", f"it insists on {needed}")
            return dialect
    return chat.dialect


def _own_names(chat: Chat) -> dict[str, str]:
    """Return a template's own names for roles and for the keys of messages, if they show more.

    Keys are those that it reads where it doesn't read the usual one, and roles what it compares
    those with where the assistant's isn't among them.
    """
    places = chat.facts.message_places
    keys = [place[0] for place in places if len(place) == 1]
    compared = [key for key in keys if places[key,]]
    roles = ["role"] if "role" in keys else compared
    contents = ["content"]
    if "content" not in keys:
        inner = itertools.islice(inner_places(places), _MOST_ROLES)
        contents = [*(key for key in keys if key not in roles), *inner]
    tried = [
        {"role": role, "content": content, "assistant": own, "user": user}
        for role, content in itertools.product(roles, contents)
        if len(words := places[role,]) <= _MOST_ROLES
        for own, user in _roles(words, is_usual=role == "role")
    ]
    if chat.dialect.renamed or all(names == _USUAL for names in tried):
        return {}
    best, most = {}, (usual := _shown(chat, {}))
    for names in tried:
        is_tried = names["user"] == "user" or not usual[0]
        if is_tried and (shown := _shown(chat, names)) > most and shown[1]:
            best, most = names, shown
    return {name: own for name, own in best.items() if name != own}


def _roles(words: Sequence[str], *, is_usual: bool) -> Iterator[tuple[str, str]]:
    """Yield what the assistant's and the user's roles may be called, by the words for roles.

    Where even the key of roles has another name, the assistant's may be anything else.
    """
    owns = ("assistant",) if "assistant" in words else ("assistant", *words)
    users = ("user",) if "user" in words else ("user", *words)
    for own, user in itertools.product(owns, users):
        is_known = own in words or user == "user" or not is_usual
        if own != user and is_known:
            yield own, user


def _shown(chat: Chat, names: Mapping[str, str]) -> tuple[bool, bool, bool]:
    """Tell whether a template with these names shows an answer, behind its prompt, and a call."""
    chat = chat.speaking(replace(chat.dialect, renamed=names))
    turn = chat.turn(Message(content=CONTENT)).text or ""
    if CONTENT not in turn:
        return False, False, False
    prompt, bare = (chat.prompt(add_generation_prompt=it).text or "" for it in (True, False))
    call = chat.turn(probe_message(calls=1)).text or ""
    is_prompted = prompt != bare and turn.startswith(prompt)
    return True, is_prompted, VALUES[0] in call


def _answers(chat: Chat) -> bool:
    """Tell whether an answer is rendered, with the tools told or without."""
    untold = chat.speaking(replace(chat.dialect, give_tools=False))
    return any(CONTENT in (c.turn(Message(content=CONTENT)).text or "") for c in (chat, untold))


def _dialects(chat: Chat) -> Iterator[Dialect]:
    if chat.render([user_message(NEXT_USER_TEXT)]).text is None:
        yield replace(chat.dialect, needs_system=True)
    fields = dict.fromkeys((*REASONING_FIELDS, *chat.facts.attribute_names))
    role_sets = (chat.dialect.required_roles, _ALL_ROLES)
    for filled, roles, name in itertools.product((False, True), role_sets, fields):
        if not (filled and name in REASONING_FIELDS):  # which would be said by nobody
            yield replace(
                chat.dialect, required_field=name, required_roles=roles, required_filled=filled
            )
    names = [name for name in chat.facts.attribute_names if name not in ("role", "content", "text")]
    # A key of the block may have to be there, or be one of a table, as the code of a language is.
    words = (*chat.facts.table_keys, _WORD)
    fillings = [{}, *(dict.fromkeys(names, word) for word in words)]
    for roles in _BLOCK_ROLES:
        for filling in fillings:
            block = {**filling, "type": "text"}
            yield replace(chat.dialect, text_block=block, block_roles=roles)
    for roles, name in itertools.product(_BLOCK_ROLES, ("text", *names)):
        yield replace(chat.dialect, text_key=name, block_roles=roles)
    # What stands before a user's message, be it the first or behind an answer.
    first = chat.render([user_message(NEXT_USER_TEXT)]).text or ""
    later = chat.turn(Message(content=CONTENT), following=Following.USER).text or ""
    header = whole_suffix([first.partition(NEXT_USER_TEXT)[0], later])
    yield replace(chat.dialect, next_header=header)
