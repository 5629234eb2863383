"""Edits of templates' sources: some change what a turn looks like, and some change nothing.

Which of the two an edit does is decided by rendering, not by what it was made for: a template and
its edit are asked for the same turns and prompts.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from turnspec.analysis.analyze import ASSUMED_TOKENS, analyze_template
from turnspec.analysis.source import TemplateSource
from turnspec.rendering.conversation import Chat, Following
from turnspec.rendering.dialect import ArgumentsForm
from turnspec.rendering.limits import Limits
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.fingerprint import fingerprint
from turnspec.spec.model import Spec
from turnspec.verification.messages import format_markers, sample_messages
from turnspec.verification.turns import Renderer

_TAG = re.compile(r"""\{#.*?#\}|\{[%{](?:'[^']*'|"[^"]*"|[^'"])*?[%}]\}""", re.DOTALL)
_TOKEN = re.compile(r"""'[^'\\]*'|"[^"\\]*"|(?P<name>(?<![\w.|])[a-zA-Z_]\w*)|\s+|.""", re.DOTALL)
_BRANCHES = re.compile(
    r"(\{%-? *)if ((?:'[^']*'|[^'%])*?)( *-?%\})((?:(?!\{%).)*)"
    r"(\{%-? *)else( *-?%\})((?:(?!\{%).)*)(\{%-? *)endif( *-?%\})",
    re.DOTALL,
)
_SET = re.compile(r"\{%-? *(?:set|for) +(\w+)")
_STRING = re.compile(r"'([^'\"\\]*)'")
_KEY = re.compile(r"\b(message|m|msg|call)\.(content|role|reasoning_content|tool_calls|function)\b")

#: Time is no sign of anything here.
PATIENT = Limits(seconds=600)

#: An edit of a source, with what may be changed in a format of which the markers are given.
Edit = Callable[[str, list[str], random.Random], str]


@dataclass(frozen=True, slots=True)
class Known:
    """A template and what is known of it."""

    source: TemplateSource
    spec: Spec
    renderer: Renderer

    @classmethod
    def of(cls, source: TemplateSource, worker: RenderWorker) -> Known | None:
        """Analyse a template; None if it has no format."""
        analysis = analyze_template(source, worker, PATIENT)
        if analysis.spec is None:
            return None
        tokens = {**ASSUMED_TOKENS, **source.tokens}
        chat = Chat(worker, source.text, tokens, analysis.dialect)
        return cls(source, analysis.spec, Renderer.create(analysis.spec, chat))

    def renderings(self, text: str) -> list[str | None]:
        """Return the turns and prompts that another source renders as this one is asked to."""
        return self._renderings(replace(self.renderer.chat, source=text))

    def is_changed(self, text: str) -> bool:
        """Tell whether another source renders others, also if it is given arguments as a text.

        One that takes them so, and no longer as an object, has turns of the same format.
        """
        chat, own = self.renderer.chat, self.renderings(self.source.text)
        texts = chat.speaking(replace(chat.dialect, arguments=ArgumentsForm.STRING))
        return all(self._renderings(replace(it, source=text)) != own for it in (chat, texts))

    def _renderings(self, chat: Chat) -> list[str | None]:
        plain = replace(chat, variables={})
        found = [
            chat.turn(message, following=following).text
            for message in sample_messages(self.spec)
            for following in (Following.NOTHING, Following.USER)
        ]
        thinking = self.spec.thinking
        states = (thinking.default, thinking.enabled, thinking.disabled, *thinking.others)
        return found + [plain.using(state.variables).prompt().text for state in states]

    def told(self, text: str, worker: RenderWorker) -> bool:
        """Tell whether the format of an edited source is another one, or can't be found."""
        analysis = analyze_template(replace(self.source, text=text), worker, PATIENT)
        return analysis.spec is None or fingerprint(analysis.spec) != fingerprint(self.spec)


def edits(known: Known, chance: random.Random) -> Iterator[tuple[str, str]]:
    """Yield edited sources that render anything, each with the name of its edit, without end."""
    text = known.source.text
    markers = sorted(marker for marker in format_markers(known.spec) if marker in text)
    while True:
        for name, edit in {**HARMLESS, **CHANGING}.items():
            yield name, edit(text, markers, chance)


def _renamed_variable(text: str, markers: list[str], chance: random.Random) -> str:
    names = sorted({*_SET.findall(text)})
    return (
        _in_tags(text, _renaming(chance.choice(names), f"v{chance.randrange(100)}"))
        if names
        else text
    )


def _renaming(old: str, new: str) -> Callable[[str], str]:
    def renamed(tag: str) -> str:
        return _TOKEN.sub(lambda found: new if found["name"] == old else found.group(), tag)

    return renamed


def _comment(text: str, markers: list[str], chance: random.Random) -> str:
    tags = [tag for tag in _TAG.finditer(text) if tag.group()[:2] == "{%"]
    if not tags:
        return text
    tag = chance.choice(tags)
    dash = "-" if tag.group()[2] == "-" else ""
    return f"{text[: tag.start()]}{{#{dash} a <note> #}}{text[tag.start() :]}"


def _white_space(text: str, markers: list[str], chance: random.Random) -> str:
    def spaced(tag: str) -> str:
        return _TOKEN.sub(lambda found: "  " if found.group().isspace() else found.group(), tag)

    return _in_tags(text, spaced)


def _quotes(text: str, markers: list[str], chance: random.Random) -> str:
    return _in_tags(text, lambda tag: _STRING.sub(r'"\1"', tag) if '"' not in tag else tag)


def _keys(text: str, markers: list[str], chance: random.Random) -> str:
    return _in_tags(text, lambda tag: _KEY.sub(r"\1['\2']", tag) if '"' not in tag else tag)


def _branches(text: str, markers: list[str], chance: random.Random) -> str:
    found = [*_BRANCHES.finditer(text)]
    if not found:
        return text
    one = chance.choice(found)
    opening, condition, right, first, middle, middle_right, second, last, end = one.groups()
    swapped = (
        f"{opening}if not ({condition}){middle_right}{second}{last.replace('endif', '')}else"
        f"{right}{first}{middle}endif{end}"
    )
    return text[: one.start()] + swapped + text[one.end() :]


def _renamed_marker(text: str, markers: list[str], chance: random.Random) -> str:
    if not markers:
        return text
    old = chance.choice(markers)
    new = re.sub(r"\w+", lambda word: word.group() + "_two", old, count=1)
    return text.replace(old, new if new != old else f"{old}{old}")


def _removed_marker(text: str, markers: list[str], chance: random.Random) -> str:
    return text.replace(chance.choice(markers), "") if markers else text


def _added_marker(text: str, markers: list[str], chance: random.Random) -> str:
    if not markers:
        return text
    old, new = chance.choice(markers), chance.choice(("<extra>", "[NEW]", "<|more|>"))
    return text.replace(old, chance.choice((f"{old}{new}", f"{new}{old}")))


def _encoding(text: str, markers: list[str], chance: random.Random) -> str:
    others = (
        "| tojson(indent=2)",
        "| string",
        "| tojson | tojson",
        "| tojson | replace(': ', ':')",
    )
    return re.sub(r"\| *tojson", chance.choice(others), text)


def _in_tags(text: str, change: Callable[[str], str]) -> str:
    def changed(tag: re.Match[str]) -> str:
        return tag.group() if tag.group().startswith("{#") else change(tag.group())

    return _TAG.sub(changed, text)


#: Edits that leave what is rendered alone, and those that mean to change it.
HARMLESS: dict[str, Edit] = {
    "a variable renamed": _renamed_variable,
    "a comment": _comment,
    "white space in tags": _white_space,
    "other quotes": _quotes,
    "keys in brackets": _keys,
    "branches the other way round": _branches,
}
CHANGING: dict[str, Edit] = {
    "a marker renamed": _renamed_marker,
    "a marker removed": _removed_marker,
    "a marker added": _added_marker,
    "another encoding": _encoding,
}
