"""What a prompt tells the model: what tools, a switch, a word or no system message bring in.

The same prompt is rendered with and without them, and what the two have in common at both ends is
taken off. How the tools themselves are listed is taken out too: two tools that differ in their
needles only are listed in the same words, so all that surrounds both names alike is the listing.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from turnspec.analysis.text import splits_marker
from turnspec.rendering.conversation import USER_TEXT, Chat, user_message
from turnspec.rendering.dialect import JsonObject
from turnspec.spec.yaml_text import quoted

#: Stands where tools were listed.
LISTED = "…"

#: The text of a system message.
SYSTEM_TEXT = "sysqa"

_FIRST, _SECOND = "qb", "qc"
#: After a line, and after a sentence or a colon within a line.
_UNIT_END = re.compile(r"(?<=\n)|(?<=[.!?:] )")


@dataclass(frozen=True, slots=True)
class Instructions:
    """A stretch of a prompt, and what brings it in: values of variables, and tools or no system.

    A ``word`` in a system message may bring it in, too. ``without`` holds the prompts that it was
    compared with.
    """

    text: str
    variables: Mapping[str, object]
    without: str
    tools: bool = False
    word: str = ""

    @property
    def setting(self) -> str:
        """The setting in words."""
        if self.word:
            return f"{quoted(self.word)} in a system message"
        values = [f"{name}={json.dumps(value)}" for name, value in self.variables.items()]
        return " and ".join(["tools" if self.tools else "no system message", *values])


def tool_instructions(chat: Chat) -> list[Instructions]:
    """Return what the prompt says when there are tools, the default setting first.

    The last is the whole prompt: some templates speak of calls whether there are tools or not.
    """
    found = [
        Instructions(_without_listing(difference(plain, text)), variables, plain, tools=True)
        for using, variables in _settings(chat)
        for plain, text in _with_tools(using)
        if plain != text
    ]
    whole = [text for _, text in _with_tools(chat)][:1]
    found += [Instructions(_without_listing(text), {}, "", tools=True) for text in whole]
    return _distinct(found)


def plain_instructions(chat: Chat) -> list[Instructions]:
    """Return what the prompt says without tools where nobody gave a system message.

    Where a system message changes nothing, that is all of the prompt. Behind that stands what it
    says where a system message has one of the words that the template looks for.
    """
    given = _prompt(chat, [_system_message(), user_message(USER_TEXT)], []) or ""
    found = []
    for using, variables in _settings(chat):
        text = _prompt(using, [user_message(USER_TEXT)], [])
        if text is not None:
            without = "" if text == given else given
            found.append(Instructions(difference(without, text), variables, without))
    for word in chat.facts.searched_words:
        text = _prompt(chat, [_system_message(f" {word}"), user_message(USER_TEXT)], [])
        if text is not None and text.replace(f" {word}", "") != given.replace(f" {word}", ""):
            found.append(Instructions(difference(given, text), {}, given + word, word=word))
    return _distinct(found)


def difference(without: str, text: str) -> str:
    """Return what ``text`` has and ``without`` hasn't: one stretch of whole sentences and lines."""
    old, new = _UNIT_END.split(without), _UNIT_END.split(text)
    start = _alike(old, new)
    end = len(new) - _alike(old[start:][::-1], new[start:][::-1])
    return "".join(new[start:end])


def _settings(chat: Chat) -> Iterator[tuple[Chat, Mapping[str, object]]]:
    """Yield the chat as it is, and under each value of each of the template's own switches."""
    yield chat, {}
    for name, values in chat.facts.switch_values.items():
        for value in values:
            yield chat.using({**chat.variables, name: value}), {name: value}


def _with_tools(chat: Chat) -> Iterator[tuple[str, str]]:
    """Yield a prompt without and with tools, each without and with a system message."""
    tools = [_tool(_FIRST), _tool(_SECOND)]
    for messages in ([user_message(USER_TEXT)], [_system_message(), user_message(USER_TEXT)]):
        plain, text = _prompt(chat, messages, []), _prompt(chat, messages, tools)
        if text is not None:
            yield plain or "", text


def _prompt(chat: Chat, messages: list[JsonObject], tools: list[JsonObject]) -> str | None:
    return chat.render(messages, tools=tools, add_generation_prompt=True).text


def _system_message(more: str = "") -> JsonObject:
    return {"role": "system", "content": SYSTEM_TEXT + more}


def _tool(suffix: str) -> JsonObject:
    """Return a tool that differs from the other one in two letters of each of its words only."""
    key = {"type": "string", "description": f"keydesc{suffix}"}
    function = {
        "name": f"tool{suffix}",
        "description": f"tooldesc{suffix}",
        "parameters": {
            "type": "object",
            "properties": {f"key{suffix}": key},
            "required": [f"key{suffix}"],
        },
    }
    return {"type": "function", "function": function}


def _without_listing(text: str) -> str:
    """Replace the stretches in which the tools are listed."""
    alike = re.sub(rf"(tool|key|desc){_SECOND}\b", rf"\1{_FIRST}", text)
    places = [
        [match.start() for match in re.finditer(f"tool{suffix}", text)]
        for suffix in (_FIRST, _SECOND)
    ]
    spans = [_listing(text, alike, *pair) for pair in zip(*places, strict=False)]
    result, position = "", 0
    for start, end in sorted(spans):
        if start >= position:
            result += text[position:start] + LISTED
        position = max(position, end)
    return result + text[position:]


def _listing(text: str, alike: str, first: int, second: int) -> tuple[int, int]:
    """Return where two tools are listed, from what surrounds their names in the same words."""
    before = _alike(alike[:first][::-1], alike[:second][::-1])
    after = _alike(alike[first:], alike[second:])
    while before and any(splits_marker(text, place - before) for place in (first, second)):
        before -= 1
    while after and any(splits_marker(text, place + after) for place in (first, second)):
        after -= 1
    return first - before, second + after


def _alike(left: Sequence[str], right: Sequence[str]) -> int:
    """Return how many units or characters two texts begin with alike."""
    pairs = zip(left, right, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def _distinct(found: list[Instructions]) -> list[Instructions]:
    """Return the instructions that say something, each text once."""
    by_text: dict[str, Instructions] = {}
    for instructions in found:
        if instructions.text.strip():
            first = by_text.setdefault(instructions.text, instructions)
            if first is not instructions:
                both = first.without + instructions.without
                by_text[instructions.text] = replace(first, without=both)
    return list(by_text.values())
