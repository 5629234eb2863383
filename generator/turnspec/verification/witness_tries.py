"""What a template might still render of an answer: conversations made of its own words.

Keys and words are those that the template's syntax tree reads and compares; what comes first shows
most. Nothing here knows what any of them means.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from turnspec.analysis.probes import CONTENT, NAMES, REASONING, probe_message
from turnspec.analysis.text import markers
from turnspec.rendering.conversation import (
    NEXT_USER_TEXT,
    USER_TEXT,
    AbsentContent,
    ArgumentsForm,
    Chat,
    JsonObject,
    result_message,
    user_message,
)
from turnspec.spec.message import Message

#: The texts that are given under each key: this and a number of three digits.
NEEDLE = "witqa"

#: The answers to which something is added.
FORMS = {
    "content": probe_message(content=True),
    "a call": probe_message(calls=1),
    "content and calls": probe_message(content=True, calls=2),
}
_SYSTEM: JsonObject = {"role": "system", "content": "sysqa"}
_USER, _NEXT = user_message(USER_TEXT), user_message(NEXT_USER_TEXT)

#: Keys of messages and calls in which a text of ours would be no further text.
_USUAL = ("role", "content", "tool_calls", "function", "arguments", "name", "id", "type")
#: Of these the ones that hold everything else.
_WHOLE = ("role", "content", "tool_calls", "function")
#: Values of which one may be what a condition asks for.
_VALUES = (NEEDLE, True, False, None, "", [NEEDLE], {"text": NEEDLE}, 1)
#: At most so many settings, and kinds of blocks one by one; no chat template needs more.
_MOST = 30


@dataclass(frozen=True, slots=True)
class Try:
    """A conversation under a setting.

    ``words`` say what is unusual, ``setting`` which switches are. ``form`` is there if all texts of
    the answer, the last message, have to be read; ``keys`` are what it has beside that.
    ``about_answers``: nothing else is new.
    """

    words: str
    variables: Mapping[str, object]
    messages: Sequence[JsonObject]
    setting: str = ""
    form: str = ""
    keys: Mapping[str, object] = field(default_factory=dict)
    about_answers: bool = True
    prompt: bool = False


def plain_tries(chat: Chat) -> Iterator[Try]:
    """Yield answers as the spec knows them: what only these take concerns answers."""
    for reasoning, content, calls in ((True, True, 0), (True, False, 1), (False, True, 2)):
        message = probe_message(reasoning=reasoning, content=content, calls=calls)
        answer = chat.assistant_message(message)
        yield Try("", chat.variables, [_USER, answer])
        yield Try("", chat.variables, [_USER, answer, _NEXT], prompt=True)


def key_tries(chat: Chat) -> Iterator[Try]:
    """Yield answers with all keys that no message had so far, under every setting.

    Then each key has each word that the template compares it to.
    """
    known = (*_USUAL, chat.dialect.reasoning_field, chat.dialect.call_reasoning_field)
    keys = _needles(name for name in chat.facts.attribute_names if name not in known)
    for variables, form in itertools.product(_settings(chat), ("content", "a call")):
        setting = _told(chat, variables)
        messages = [_USER, answer_with(chat, form, keys)]
        words = f"{setting}further keys beside {form}"
        yield Try(words, variables, messages, setting.removesuffix(", "), form, keys)
    for (key, word), form in itertools.product(list(_words(chat))[:_MOST], ("content", "a call")):
        given = {**keys, key: word}
        messages = [_USER, answer_with(chat, form, given)]
        yield Try(f"{key} = {word!r} beside {form}", chat.variables, messages, "", form, given)


def answer_with(chat: Chat, form: str, more: Mapping[str, object]) -> JsonObject:
    """Return an answer with further keys in itself, in its calls and in their functions."""
    answer = {**chat.assistant_message(FORMS[form]), **more}
    inner = {key: value for key, value in more.items() if key not in _WHOLE}
    calls = answer.get("tool_calls")
    if inner and isinstance(calls, list):
        answer["tool_calls"] = [_in_call(call, inner) for call in calls]
    return answer


def _in_call(call: JsonObject, more: Mapping[str, object]) -> JsonObject:
    function = call.get("function")
    inner = {"function": {**function, **more}} if isinstance(function, dict) else {}
    return {**call, **more, **inner}


def other_tries(chat: Chat) -> Iterator[Try]:
    """Yield texts with what the template looks for, other forms of content, whole conversations."""
    yield from _quoting(chat)
    yield from _histories(chat)
    yield from _blocks(chat)
    yield from _dialects(chat)


def aimed_tries(chat: Chat, conditions: str) -> Iterator[Try]:
    """Yield answers with what some conditions name: keys, with the words in them, and switches."""
    named = set(re.findall(r"\w+", conditions))
    words = re.findall(r"'([^']+)'", conditions)
    settings = [chat.variables, *({**chat.variables, **one} for one in _switches(chat, named))]
    for key in chat.facts.attribute_names:
        values = (*words, *chat.facts.attribute_words.get(key, ()), *_VALUES)
        for value in values if key in named and key != "role" else ():
            for variables, form in itertools.product(settings, FORMS):
                answer = answer_with(chat, form, {key: value})
                told = f"{_told(chat, variables)}{key} = {value!r} beside {form}"
                yield Try(told, variables, [_USER, answer, _NEXT, answer])


def _quoting(chat: Chat) -> Iterator[Try]:
    words = chat.facts.searched_words
    texts = [f"{NEEDLE}{word}{NEEDLE}" for word in words]
    texts += [f"{word}{NEEDLE}" for word in words] + [f"{NEEDLE}{word}" for word in words]
    marks = [mark for text in chat.facts.string_constants for mark in markers(text)]
    for text in (
        *texts,
        "".join(words),
        NEEDLE.join(("", *words, "")),
        NEEDLE.join(("", *marks, "")),
    ):
        for message in (
            Message(text),
            Message(text, text),
            Message(text, "", FORMS["a call"].calls),
        ):
            answer = chat.assistant_message(message)
            yield Try(f"the text {text!r}", chat.variables, [_USER, answer, _NEXT, answer])


def _histories(chat: Chat) -> Iterator[Try]:
    """Yield conversations with answers and results in all places, and results of all forms."""
    contents = ("resqa", [NEEDLE], [*_kinds(chat)], {"text": NEEDLE}, '{"text": "resqa"}')
    for variables, reasoning, content in itertools.product(
        (chat.variables, {}), (REASONING, ""), contents
    ):
        calling = Message("", reasoning, FORMS["content and calls"].calls)
        said, both = Message(CONTENT, reasoning), replace(calling, content=CONTENT)
        one, two, three = map(chat.assistant_message, (said, calling, both))
        results = [{**result_message(call), "content": content} for call in calling.calls]
        loop = [_USER, two, *results, three, *results]
        told = _told(chat, variables)
        for messages in ([_SYSTEM, *loop, one, _NEXT, *loop, one], loop, [*loop, _NEXT, one]):
            words = f"{told}a conversation with results"
            yield Try(words, variables, messages, about_answers=False, prompt=True)
        yield Try(f"{told}an earlier answer", variables, [_USER, one, _NEXT, one], prompt=True)


def _blocks(chat: Chat) -> Iterator[Try]:
    """Yield content as a list: of texts, and of mappings of each kind that the template knows."""
    kinds = _kinds(chat)
    for content in ([NEEDLE], kinds, *([kind] for kind in kinds[:_MOST])):
        given = {"content": content}
        answer = answer_with(chat, "content", given)
        yield Try("content as a list", chat.variables, [_USER, answer, _NEXT, answer])
        others = [{**message, **given} for message in (_SYSTEM, _USER)]
        yield Try("all content as a list", chat.variables, [*others, answer], about_answers=False)


def _dialects(chat: Chat) -> Iterator[Try]:
    forms = itertools.product(ArgumentsForm, AbsentContent, (False, True))
    for arguments, absent, flat in forms:
        dialect = replace(chat.dialect, arguments=arguments, absent_content=absent, flat_calls=flat)
        answer = chat.speaking(dialect).assistant_message(FORMS["a call"])
        words = f"arguments as {arguments}, absent content as {absent}"
        yield Try(words, chat.variables, [_USER, answer, _NEXT])


def _kinds(chat: Chat) -> list[JsonObject]:
    """Return a block for each word that may say what a block is, with a text under every key."""
    needles = _needles(chat.facts.attribute_names)
    return [{**needles, key: word} for key, word in _words(chat)]


def _words(chat: Chat) -> Iterator[tuple[str, str]]:
    """Yield each key with each word that it is compared to; roles are no matter of answers."""
    for key, words in chat.facts.attribute_words.items():
        yield from ((key, word) for word in words if key not in _WHOLE)


def _settings(chat: Chat) -> list[Mapping[str, object]]:
    """Return the chat's own variables, none, and each switch with each of its values.

    A switch may also list the names of tools.
    """
    names = chat.facts.switch_values
    switches = [*_switches(chat, {*names}), *({name: [*NAMES]} for name in names)]
    found = [chat.variables, {}, *({**chat.variables, **one} for one in switches)]
    return list({repr(variables): variables for variables in found}.values())[:_MOST]


def _switches(chat: Chat, names: set[str]) -> list[Mapping[str, object]]:
    known = chat.facts.switch_values.items()
    return [{name: value} for name, values in known for value in values if name in names]


def _needles(names: Iterable[str]) -> dict[str, object]:
    return {name: f"{NEEDLE}{number:03}" for number, name in enumerate(names)}


def _told(chat: Chat, variables: Mapping[str, object]) -> str:
    """Say what a setting changes."""
    changed = {k: v for k, v in variables.items() if chat.variables.get(k, ...) != v}
    return "".join(f"{name} = {value!r}, " for name, value in changed.items())
