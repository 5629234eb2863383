"""What the checks of a whole spec look at, and what several of them ask of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.writer import as_rendered, write_parts
from turnspec.grammar.turn import generate_grammar
from turnspec.rendering.conversation import Chat
from turnspec.spec.message import Message
from turnspec.spec.model import Spec, Thinking
from turnspec.spec.results import Coverage
from turnspec.spec.words import Part, ReasoningMode
from turnspec.spec.yaml_text import quoted
from turnspec.verification.gbnf_reader import Grammar, read_grammar
from turnspec.verification.messages import sample_messages
from turnspec.verification.recognizer import Recognizer
from turnspec.verification.turns import Renderer, expected_message, is_in_content
from turnspec.verification.witness import ask_template

#: Where a check objects, as a path in the spec, and why.
Finding = tuple[str, str]


def listed(texts: Iterable[str]) -> str:
    """Return texts as one, each in quotes."""
    return ", ".join(map(quoted, texts)) or "none"


@dataclass(frozen=True)
class View:
    """A spec with its template, its parser and its grammar; ``chat`` has no settings."""

    spec: Spec
    chat: Chat
    renderer: Renderer
    module: FormatModule
    gbnf: str

    @cached_property
    def witness(self) -> tuple[Coverage, tuple[str, ...]]:
        """What the template itself says of all that was rendered till then, asked once."""
        return ask_template(self.renderer, self.module)

    def turns(self) -> Iterator[tuple[Message, str]]:
        """Yield the sample messages as a model writes them, and the turns behind the header."""
        for message in sample_messages(self.spec):
            shown = expected_message(self.spec, message)
            if self.spec.reasoning.mode is ReasoningMode.NONE:
                shown = replace(shown, reasoning="")
            if shown.reasoning or shown.content or shown.calls:
                yield shown, write_parts(self.spec, shown, Part.START)

    def rendered(self) -> Iterator[tuple[Message, str]]:
        """Yield the sample messages as the template renders them, and these turns as a whole."""
        for message in sample_messages(self.spec):
            shown = as_rendered(self.spec, message)
            turn, _ = self.renderer.turn(message)
            if turn is not None and (shown.reasoning or shown.content or shown.calls):
                yield message, turn

    def allows(self, text: str) -> bool:
        """Tell whether the grammar for any tools allows a turn."""
        return self._recognizer.accepts(text)

    @cached_property
    def _recognizer(self) -> Recognizer:
        grammar = read_grammar(self._grammar())
        assert isinstance(grammar, Grammar), grammar
        return Recognizer(grammar)

    def _grammar(self) -> str:
        """Return the grammar of turns behind the header: in begun content any text may stand."""
        thinking = self.spec.thinking
        if not any(is_in_content(self.spec, prompt) for prompt in thinking.prompts):
            return self.gbnf
        default, enabled, disabled = (
            thinking.default if is_in_content(self.spec, state.prompt) else state
            for state in (thinking.default, thinking.enabled, thinking.disabled)
        )
        behind = replace(self.spec, thinking=Thinking(default, enabled, disabled))
        return generate_grammar(behind, spec_path="", spec_hash="")
