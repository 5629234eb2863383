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
from turnspec.rendering import conversation
from turnspec.rendering.conversation import USER_TEXT, Chat, result_message, user_message
from turnspec.rendering.dialect import JsonObject
from turnspec.spec.message import Message

#: The texts that are given under each key: this and a number of three digits.
NEEDLE = "witqa"

#: The answers to which something is added.
FORMS = {"content": probe_message(content=True), "a call": probe_message(calls=1)}
_SYSTEM: JsonObject = {"role": "system", "content": "sysqa"}
_USER, _NEXT = user_message(USER_TEXT), user_message(conversation.NEXT_USER_TEXT)

#: Keys that hold everything else, and those in which a text of ours would be no further text.
_WHOLE = ("role", "content", "tool_calls", "function")
_USUAL = (*_WHOLE, "arguments", "name", "id", "type")
#: Values of which one may be what a condition asks for.
_VALUES = (NEEDLE, True, False, None, "", [NEEDLE], {"text": NEEDLE}, 1)
#: At most so many settings, words and kinds of blocks; no chat template needs more.
_MOST = 30


@dataclass(frozen=True, slots=True)
class Try:
    """A conversation under a setting; ``words`` say what is unusual."""

    words: str
    variables: Mapping[str, object]
    messages: Sequence[JsonObject]
    form: str = ""  # if all texts of the answer, the last message, have to be read
    keys: Mapping[str, object] = field(default_factory=dict)  # what the answer has beside that
    is_answer: bool = True  # whether nothing but answers is new in it


def plain_tries(chat: Chat) -> Iterator[Try]:
    """Yield answers as the spec knows them: what only these take concerns answers."""
    for reasoning, content, calls in ((True, True, 0), (True, False, 1), (False, True, 2)):
        message = probe_message(reasoning=reasoning, content=content, calls=calls)
        for following in ([], [_NEXT]):
            messages = [_USER, chat.assistant_message(message), *following]
            yield Try("", chat.variables, messages)


def key_tries(chat: Chat) -> Iterator[Try]:
    """Yield answers with all keys that no message had so far, under every setting.

    Then each key has each word that the template compares it to.
    """
    dialect = chat.dialect
    known = {*_USUAL, dialect.reasoning_field, dialect.call_reasoning_field}
    known |= {*dialect.renamed.values()}
    keys = _needles(name for name in chat.facts.attribute_names if name not in known)
    settings = [(variables, keys, "further keys") for variables in _settings(chat)]
    words, of_calls = list(_words(chat))[:_MOST], _types_of_calls(chat)
    settings += [(chat.variables, {**keys, key: w}, f"{key} = {w!r}") for key, w in words]
    for (variables, given, words_), form in itertools.product(settings, FORMS):
        if FORMS[form].calls and given.get("type", "function") not in ("function", *of_calls):
            continue  # a word for what a block of content is
        told = ", ".join(filter(None, (changed(chat, variables), f"{words_} beside {form}")))
        yield Try(told, variables, [_USER, answer_with(chat, form, given)], form, given)


def _types_of_calls(chat: Chat) -> set[str]:
    """Return the words that conditions on calls look for as a type: not all are functions'."""
    branches = chat.facts.branches
    return {
        word
        for branch in branches
        if any("tool_calls" in branches[at].condition for at in branch.path[:-1])
        for word in re.findall(r"\btype == '([^']+)'", branch.condition)
    }


def named_tries(chat: Chat) -> Iterator[str]:
    """Yield names of tools that the template may look for, whole or in a part of them."""
    words = (*chat.facts.attribute_words.get("name", ()), *chat.facts.searched_words)
    for word in [it for it in dict.fromkeys(words) if re.fullmatch(r"[\w.-]+", it)][:_MOST]:
        yield from (word, word + NEEDLE, NEEDLE + word)


def named_arguments(chat: Chat) -> dict[str, object]:
    """Return an argument of each key that the template may look for where it knows the tool."""
    read = (name for name in chat.facts.attribute_names if name not in _USUAL)
    words = (word for word in chat.facts.searched_words if re.fullmatch(r"\w+", word))
    return _needles(list(dict.fromkeys((*read, *words)))[:_MOST])


def other_tries(chat: Chat) -> Iterator[Try]:
    """Yield calls of the other form, texts with what is looked for, and further conversations."""
    other = chat.speaking(replace(chat.dialect, flat_calls=not chat.dialect.flat_calls))
    calling = [_USER, other.assistant_message(probe_message(calls=1))]
    yield Try("name and arguments on another level", chat.variables, calling)
    yield from _quoting(chat)
    yield from _histories(chat)
    yield from _blocks(chat)


def aimed_tries(chat: Chat, conditions: str) -> Iterator[Try]:
    """Yield answers with what some conditions name: keys, with the words in them, and switches."""
    named = set(re.findall(r"\w+", conditions))
    words = re.findall(r"'([^']+)'", conditions)
    settings = [chat.variables, *_switched(chat, named)]
    for key in chat.facts.attribute_names:
        values = (*words, *chat.facts.attribute_words.get(key, ()), *_VALUES)
        tried = values if key in named and key != "role" else ()
        for value, variables, form in itertools.product(tried, settings, FORMS):
            answer = answer_with(chat, form, {key: value})
            told = (changed(chat, variables), f"{key} = {value!r} beside {form}")
            messages = [_USER, answer, _NEXT, answer]
            yield Try(", ".join(filter(None, told)), variables, messages)


def answer_with(chat: Chat, form: str, more: Mapping[str, object]) -> JsonObject:
    """Return an answer with further keys in itself, in its calls and in their functions."""
    answer = {**chat.assistant_message(FORMS[form]), **more}
    inner = {key: value for key, value in more.items() if key not in _WHOLE}
    calls = answer.get("tool_calls")
    if inner and isinstance(calls, list):
        answer["tool_calls"] = [_in_call(call, inner) for call in calls]
    return answer


def changed(chat: Chat, variables: Mapping[str, object]) -> str:
    """Say what a setting changes."""
    new = {k: v for k, v in variables.items() if chat.variables.get(k, ...) != v}
    return ", ".join(f"{name} = {value!r}" for name, value in new.items())


def _in_call(call: JsonObject, more: Mapping[str, object]) -> JsonObject:
    function = call.get("function")
    inner = {"function": {**function, **more}} if isinstance(function, dict) else {}
    return {**call, **more, **inner}


def _quoting(chat: Chat) -> Iterator[Try]:
    words = chat.facts.searched_words
    marks = [mark for text in chat.facts.string_constants for mark in markers(text)]
    texts = [
        f"{a}{word}{b}" for word in words for a, b in itertools.product(("", NEEDLE), repeat=2)
    ]
    joined = (NEEDLE.join(("", *all_, "")) for all_ in (words, marks))
    for text in (*texts, "".join(words), *joined):
        for message in (Message(text), Message(text, text), replace(FORMS["a call"], content=text)):
            answer = chat.assistant_message(message)
            yield Try(f"the text {text!r}", chat.variables, [_USER, answer, _NEXT, answer])


def _histories(chat: Chat) -> Iterator[Try]:
    """Yield conversations with answers and results in all places, and results of all forms."""
    contents = ("resqa", [NEEDLE], [*kinds_of_blocks(chat)], {"text": NEEDLE})
    for reasoning, content in itertools.product((REASONING, ""), contents):
        calling = probe_message(calls=2)
        said, two = Message(CONTENT, reasoning), replace(calling, reasoning=reasoning)
        messages = (said, two, replace(two, content=CONTENT))
        one, *others = map(chat.assistant_message, messages)
        results = [{**result_message(call), "content": content} for call in calling.calls]
        loop = [_USER, *(message for other in others for message in (other, *results))]
        for whole in ([_SYSTEM, *loop, one, _NEXT, *loop, one], loop, [*loop, _NEXT, one]):
            yield Try("a conversation with results", chat.variables, whole, is_answer=False)
        yield Try("an earlier answer", chat.variables, [_USER, one, _NEXT, one])


def _blocks(chat: Chat) -> Iterator[Try]:
    """Yield content as a list: of texts, and of mappings of each kind that the template knows."""
    kinds = kinds_of_blocks(chat)
    for content in ([NEEDLE], kinds, *([kind] for kind in kinds[:_MOST])):
        given = {"content": content}
        answer = answer_with(chat, "content", given)
        yield Try("content as a list", chat.variables, [_USER, answer, _NEXT, answer])
        others = [{**message, **given} for message in (_SYSTEM, _USER)]
        yield Try("all content as a list", chat.variables, [*others, answer], is_answer=False)


def kinds_of_blocks(chat: Chat) -> list[JsonObject]:
    """Return a block for each word that may say what a block is, with a text under every key."""
    needles = _needles(chat.facts.attribute_names)
    return [{**needles, key: word} for key, word in _words(chat)]


def _words(chat: Chat) -> Iterator[tuple[str, str]]:
    """Yield each key with each word that it is compared to; roles are no matter of answers."""
    for key, words in chat.facts.attribute_words.items():
        yield from ((key, word) for word in words if key not in _WHOLE)


def _settings(chat: Chat) -> list[Mapping[str, object]]:
    """Return the chat's own variables, none, and each switch with each of its values."""
    found = [chat.variables, {}, *_switched(chat, {*chat.facts.switch_values})]
    return list({repr(variables): variables for variables in found}.values())[:_MOST]


def _switched(chat: Chat, names: Iterable[str]) -> Iterator[Mapping[str, object]]:
    """Yield the chat's variables with other values of some switches, which may list tools.

    The first value of each comes before any second one.
    """
    switches = chat.facts.switch_values.items()
    listed = [[(name, value) for value in (*all_, [*NAMES])] for name, all_ in switches]
    for round_ in itertools.zip_longest(*(pairs for pairs in listed if pairs[0][0] in names)):
        for name, value in filter(None, round_):
            yield {**chat.variables, name: value}


def _needles(names: Iterable[str]) -> dict[str, object]:
    return {name: f"{NEEDLE}{number:03}" for number, name in enumerate(names)}
