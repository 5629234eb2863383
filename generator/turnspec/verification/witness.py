"""The second witness: what the template itself says it could render, and no rung has shown.

The rungs write turns from the spec, and share what it is blind to. Here the template's branches
are asked instead. Those that concern answers and that no rendering has taken are tried with other
keys, texts and settings; and a text that shows in an answer then has to be read.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

from turnspec.codegen.format_module import FormatModule
from turnspec.rendering.conversation import EXAMPLE_TOOL, USER_TEXT, Chat, user_message
from turnspec.rendering.dialect import JsonObject
from turnspec.spec.model import Spec
from turnspec.spec.results import NEVER_RENDERED, Coverage
from turnspec.spec.visible import shortened
from turnspec.spec.words import Part
from turnspec.verification import witness_tries
from turnspec.verification.prompts import unexplained_prompts
from turnspec.verification.turns import Renderer
from turnspec.verification.witness_reading import Reader
from turnspec.verification.witness_tries import Try

#: How many conversations are tried at most, and how many of them for one branch.
_MOST_TRIES = 250
_MOST_AIMED = 60
_LONGEST = 300  # characters of a line


def ask_template(renderer: Renderer, module: FormatModule) -> tuple[Coverage, tuple[str, ...]]:
    """Ask a template what it could render beside all that its worker has rendered so far.

    Returns which branches are rendered, and what an answer shows that the parser loses.
    """
    chat = renderer.chat
    search, reader = _Search(chat), Reader(renderer, module)
    for tried in witness_tries.key_tries(chat):
        if search.take(tried):
            reader.read(tried)
    reader.read_names()
    reader.read_blocks()
    search.try_further()
    lost, told = (
        tuple(shortened(f"{fault}: {text}", _LONGEST) for fault, text in found.items())
        for found in (reader.lost, reader.told)
    )
    return search.coverage((*_doubtful(renderer.spec, chat), *told)), lost


def _doubtful(spec: Spec, chat: Chat) -> Iterator[str]:
    """Say where reasoning stands behind content, and which prompts hold what no turn shows."""
    order = spec.turn.order
    if spec.reasoning.field and Part.REASONING in order[order.index(Part.CONTENT) :]:
        # A key may hold calls as a text, for instance.
        yield f"reasoning is read from {spec.reasoning.field!r}, which stands behind content"
    for told, may_open in unexplained_prompts(spec, chat):
        if not may_open:  # else sanity fails
            yield f"{told}, which no turn shows"


class _Search:
    """The branches of one template, and what is known of them so far."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._branches = chat.facts.branches
        self._found = dict.fromkeys(chat.worker.taken(), "")  # with what further try, if one
        self._answers: set[int] = set()
        self._without: dict[str, frozenset[int]] = {}
        self._tries = 0
        for tried in witness_tries.plain_tries(chat):
            self.take(tried)

    def take(self, tried: Try) -> str:
        """Render a conversation and note what it takes; "" if it isn't rendered."""
        self._tries += 1
        chat = self._chat.using(tried.variables)
        prompt = not tried.form  # nothing that is to be read
        found = chat.render(tried.messages, tools=[EXAMPLE_TOOL], add_generation_prompt=prompt)
        taken = chat.worker.taken()
        new = taken - self._found.keys()
        self._found |= dict.fromkeys(new, tried.words)
        if tried.is_answer and (new or not tried.words):
            self._answers |= taken - self._taken_without_answer(tried.variables)
        return found.text or ""

    def try_further(self) -> None:
        """Try what is left, for as long as something is open; at last each branch by itself."""
        for tried in witness_tries.other_tries(self._chat):
            if self._tries >= _MOST_TRIES or not self._open():
                return
            self.take(tried)
        for number in self._open():
            conditions = " ".join(self._branches[at].condition for at in self._untaken(number))
            aimed = witness_tries.aimed_tries(self._chat, conditions)
            for tried in itertools.islice(aimed, _MOST_AIMED):
                if self._tries >= _MOST_TRIES or number in self._found:
                    break
                self.take(tried)

    def coverage(self, told: tuple[str, ...]) -> Coverage:
        """Return what was found of each branch."""
        numbers = range(len(self._branches))
        ours = [number for number in numbers if self._concerns_answers(number)]
        others = [n for n in numbers if n not in self._found and n not in ours]
        words = {number: self._words(number) for number in ours}
        lines = (f"{self._branches[n]}: {text}" for n, text in words.items() if text)
        untaken = tuple(shortened(line, _LONGEST) for line in lines)
        rendered = sum(number in self._found for number in ours)
        return Coverage(len(ours), rendered, len(others), untaken, told)

    def _words(self, number: int) -> str:
        """Say what came of a branch; "" if the ladder's messages take it."""
        if number in self._found:
            return self._found[number] and f"rendered with {self._found[number]}"
        reason = self._why_unreachable(number)
        return f"out of reach: {reason}" if reason else NEVER_RENDERED

    def _taken_without_answer(self, variables: Mapping[str, object]) -> frozenset[int]:
        key = repr(variables)
        if key not in self._without:
            chat, user = self._chat.using(variables), user_message(USER_TEXT)
            system: JsonObject = {"role": "system", "content": "sysqa"}
            for messages in ([user], [system, user]):
                chat.render(messages)
                chat.render(messages, tools=[EXAMPLE_TOOL])
            self._without[key] = chat.worker.taken()
        return self._without[key]

    def _open(self) -> list[int]:
        """Return what concerns answers, may be reached and isn't taken."""
        left = [n for n in range(len(self._branches)) if n not in self._found]
        return [n for n in left if self._concerns_answers(n) and not self._why_unreachable(n)]

    def _concerns_answers(self, number: int) -> bool:
        """Tell whether only answers get there, or a condition names the role that gives them."""
        path = self._branches[number].path
        named = any("'assistant'" in self._branches[at].condition for at in path)
        return named or not self._answers.isdisjoint(path)

    def _untaken(self, number: int) -> list[int]:
        return [at for at in self._branches[number].path if at not in self._found]

    def _why_unreachable(self, number: int) -> str:
        reasons = (self._branches[at].unreachable for at in self._untaken(number))
        return next(filter(None, reasons), "")
