"""The second witness: what the template itself says it could render, and no rung has shown.

The rungs write turns from the spec, and share what it is blind to. Here the template's branches
are asked instead. Those that concern answers and that no rendering has taken are tried with other
keys, texts and settings; and a text that shows in an answer then has to be read.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from turnspec.codegen.format_module import FormatModule
from turnspec.rendering.conversation import EXAMPLE_TOOL, USER_TEXT, Chat, JsonObject, user_message
from turnspec.rendering.worker import Rendering
from turnspec.spec.results import Coverage
from turnspec.verification.turns import Renderer
from turnspec.verification.witness_reading import Reader
from turnspec.verification.witness_tries import (
    Try,
    aimed_tries,
    key_tries,
    other_tries,
    plain_tries,
)

#: How many conversations are tried at most, and how many of them for one branch.
_MOST_TRIES = 250
_MOST_AIMED = 60


@dataclass(frozen=True, slots=True)
class Witness:
    """Which branches were rendered; and what an answer shows that the parser loses."""

    coverage: Coverage
    lost: tuple[str, ...] = ()


def ask_template(renderer: Renderer, module: FormatModule) -> Witness:
    """Ask a template what it could render beside all that its worker has rendered so far."""
    search = _Search(renderer.chat)
    reader = Reader(renderer, module)
    for tried in key_tries(renderer.chat):
        _, user, turn = (search.take(tried).text or "").rpartition(USER_TEXT)
        if user:
            reader.read(tried, turn)
    search.try_further()
    lost, told = (tuple(map(": ".join, found.items())) for found in (reader.lost, reader.told))
    return Witness(search.coverage(told), lost)


class _Search:
    """The branches of one template, and what is known of them so far."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._branches = chat.facts.branches
        self._usual = set(chat.worker.taken())
        self._found: dict[int, str] = {}  # what takes those that are not usual
        self._without: dict[str, frozenset[int]] = {}
        self._answers: set[int] = set()
        self._tries = 0
        for tried in plain_tries(chat):
            self._render(tried)
            taken = chat.worker.taken()
            self._usual |= taken
            self._answers |= taken - self._taken_without_answer(tried.variables)

    def take(self, tried: Try) -> Rendering:
        """Render a conversation, and note what it takes."""
        self._tries += 1
        rendering = self._render(tried)
        taken = self._chat.worker.taken()
        new = {number for number in taken if not self._is_taken(number)}
        self._found |= dict.fromkeys(new, tried.words)
        if new and tried.about_answers:
            self._answers |= new - self._taken_without_answer(tried.variables)
        return rendering

    def try_further(self) -> None:
        """Try what is left, for as long as something is open; at last each branch by itself."""
        for tried in other_tries(self._chat):
            if self._tries >= _MOST_TRIES or not any(self._open()):
                return
            self.take(tried)
        for number in list(self._open()):
            aimed = aimed_tries(self._chat, self._conditions(number))
            for tried in itertools.islice(aimed, _MOST_AIMED):
                if self._tries >= _MOST_TRIES or self._is_taken(number):
                    break
                self.take(tried)

    def coverage(self, told: tuple[str, ...]) -> Coverage:
        """Return what was found of each branch."""
        ours = [number for number in range(len(self._branches)) if self._concerns_answers(number)]
        others = [n for n in range(len(self._branches)) if n not in ours and not self._is_taken(n)]
        found = {number: self._found[number] for number in ours if number in self._found}
        left = [number for number in ours if not self._is_taken(number)]
        reasons = {number: self._why_unreachable(number) for number in left}
        named = {number: str(self._branches[number]) for number in ours}
        return Coverage(
            branches=len(ours),
            rendered=len(ours) - len(left),
            others=len(others),
            tried=tuple(f"{named[n]}: {words}" for n, words in found.items()),
            unreachable=tuple(f"{named[n]}: {why}" for n, why in reasons.items() if why),
            unrendered=tuple(named[n] for n, why in reasons.items() if not why),
            told=told,
        )

    def _render(self, tried: Try) -> Rendering:
        chat = self._chat.using(tried.variables)
        return chat.render(tried.messages, tools=[EXAMPLE_TOOL], add_generation_prompt=tried.prompt)

    def _taken_without_answer(self, variables: Mapping[str, object]) -> frozenset[int]:
        key = repr(variables)
        if key not in self._without:
            chat, user = self._chat.using(variables), user_message(USER_TEXT)
            system: JsonObject = {"role": "system", "content": "sysqa"}
            for messages in ([user], [system, user]):
                chat.render(messages)
                chat.render(messages, tools=[EXAMPLE_TOOL])
            self._without[key] = self._chat.worker.taken()
        return self._without[key]

    def _is_taken(self, number: int) -> bool:
        return number in self._usual or number in self._found

    def _open(self) -> Iterator[int]:
        """Yield what concerns answers, may be reached and isn't taken."""
        for number in range(len(self._branches)):
            is_left = not self._is_taken(number) and not self._why_unreachable(number)
            if is_left and self._concerns_answers(number):
                yield number

    def _upwards(self, number: int) -> Iterator[int]:
        """Yield a branch and all that it stands in."""
        at: int | None = number
        while at is not None:
            yield at
            at = self._branches[at].parent

    def _concerns_answers(self, number: int) -> bool:
        """Tell whether only answers get there, or a condition names the role that gives them."""
        return any(
            at in self._answers or "'assistant'" in self._branches[at].condition
            for at in self._upwards(number)
        )

    def _why_unreachable(self, number: int) -> str:
        untaken = (at for at in self._upwards(number) if not self._is_taken(at))
        return next(filter(None, (self._branches[at].unreachable for at in untaken)), "")

    def _conditions(self, number: int) -> str:
        untaken = (at for at in self._upwards(number) if not self._is_taken(at))
        return " ".join(self._branches[at].condition for at in untaken)
