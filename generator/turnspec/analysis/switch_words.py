"""R2 in the text of messages: words that switch thinking where a system or user message holds them.

Every text that the template looks for in other texts is put at the end of a message. It is judged
by what is rendered then: another generation prompt, or the rest of the prompt as under the other
setting of the template's variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from turnspec.analysis.findings import Derivation
from turnspec.analysis.layout import Layout
from turnspec.analysis.parts import Wrapping
from turnspec.analysis.thinking import Setting
from turnspec.rendering.conversation import USER_TEXT, Chat
from turnspec.spec.model import SwitchWord
from turnspec.spec.prompt_state import PromptState, prompt_state
from turnspec.spec.words import Switch

#: The roles whose messages a client writes, in the order of a conversation.
ROLES = ("system", "user")

_SYSTEM_TEXT = "sysqa"


@dataclass(frozen=True, slots=True)
class _Prompt:
    """What is rendered before the text of the user's message and behind it."""

    before: str
    behind: str


@dataclass(frozen=True, slots=True)
class _Circumstance:
    """What is set already: the template's variables, and words in messages by their role."""

    variables: Mapping[str, object]
    words: Mapping[str, str] = field(default_factory=dict)


def word_settings(chat: Chat, default: Setting) -> list[Setting]:
    """Return the settings that words give whose generation prompt is another than the default's."""
    found: dict[str, Setting] = {}
    neutral = {role: _render(chat, _Circumstance({}), role) for role in ROLES}
    for word in chat.facts.searched_words:
        for role in ROLES:
            plain, worded = neutral[role], _render(chat, _Circumstance({}), role, word)
            if plain is None or worded is None or worded.behind.endswith(plain.behind):
                continue
            setting = Setting({}, worded.behind, default.shows_reasoning, by_word=True)
            found.setdefault(setting.prompt, setting)
    return list(found.values())


@dataclass(frozen=True, slots=True)
class WordFinder:
    """Judges words, once it is known what marks reasoning and which variables switch it."""

    chat: Chat
    layout: Layout
    reasoning: Wrapping
    on: Mapping[str, object]
    off: Mapping[str, object]

    def find(self, derivation: Derivation) -> tuple[SwitchWord, ...]:
        """Return the words that switch thinking, each with the roles that may say it."""
        found: dict[tuple[str, Switch, str], list[str]] = {}
        words = self.chat.facts.searched_words
        settings = [_Circumstance(self.on)]
        if self.off != self.on:
            settings.append(_Circumstance(self.off))
        for word, role, switch in self._judge(words, settings, ROLES):
            found.setdefault((word, switch, self._prompt(word, role)), []).append(role)
        # A word can also take back what an earlier message has said.
        said = [_Circumstance(self.on, {"system": word}) for word, _, _ in found]
        for word, role, switch in self._judge(words, said, ROLES[1:]):
            found.setdefault((word, switch, self._prompt(word, role)), []).append(role)
        switches = [
            SwitchWord(word, switch, tuple(dict.fromkeys(roles)), prompt)
            for (word, switch, prompt), roles in found.items()
        ]
        for known in switches:
            roles = " or ".join(known.roles)
            derivation.note("R2", f"{known.word!r} in a {roles} message: {known.switches}")
        return tuple(known for known in switches if not _says_another(known, switches))

    def _judge(
        self, words: Sequence[str], given: Sequence[_Circumstance], roles: Sequence[str]
    ) -> Iterator[tuple[str, str, Switch]]:
        for circumstance in given:
            for word in words:
                for role in roles:
                    switch = self._switch(circumstance, word, role)
                    if switch is not None:
                        yield word, role, switch

    def _switch(self, given: _Circumstance, word: str, role: str) -> Switch | None:
        """Return what a word in a message changes, if it changes anything."""
        plain, worded = _render(self.chat, given, role), _render(self.chat, given, role, word)
        if plain is None or worded is None:
            return None
        before, after = self._state(plain), self._state(worded)
        if before is not after:
            return Switch.ENABLED if after > before else Switch.DISABLED
        if self.on == self.off or given.words or _same_text(plain.before, worded.before):
            return None
        other = self.on if given.variables == self.off else self.off
        wanted = _render(self.chat, _Circumstance(other), role)
        if wanted is None or not _same_text(wanted.before, worded.before):
            return None
        return Switch.ENABLED if other == self.on else Switch.DISABLED

    def _state(self, prompt: _Prompt) -> PromptState:
        rest = self.layout.prompt_rest(prompt.behind)
        return prompt_state(rest, self.reasoning.start, self.reasoning.end)

    def _prompt(self, word: str, role: str) -> str:
        """Return the generation prompt that a word gives where nothing else is set."""
        prompt = _render(self.chat, _Circumstance(self.on), role, word)
        return self.layout.generation_prompt(prompt.behind) if prompt else ""


def _says_another(known: SwitchWord, others: Sequence[SwitchWord]) -> bool:
    """Tell whether a word works only because another one that does the same stands in it."""
    return any(
        other.word != known.word and other.word in known.word and other.switches is known.switches
        for other in others
    )


def _same_text(one: str, other: str) -> bool:
    return one.split() == other.split()


def _render(chat: Chat, given: _Circumstance, role: str, word: str = "") -> _Prompt | None:
    """Render a prompt with a word in the message of a role; a system message only if it is needed.

    The word is taken off again where it shows behind the user's text.
    """
    words = {**given.words, role: word}
    texts = {"system": _SYSTEM_TEXT, "user": USER_TEXT}
    messages: list[dict[str, object]] = [
        {"role": name, "content": f"{texts[name]} {words.get(name, '')}".rstrip()}
        for name in ROLES
        if name in words or name == "user"
    ]
    rendering = chat.using(given.variables).render(messages, add_generation_prompt=True)
    before, found, behind = (rendering.text or "").rpartition(USER_TEXT)
    if not found:
        return None
    return _Prompt(before, behind.removeprefix(f" {words.get('user', '')}".rstrip()))
