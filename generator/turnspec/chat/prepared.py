"""One template made ready: its form, its spec, and rendering in its own process."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from turnspec.analysis.analyze import ASSUMED_TOKENS, analyze_limited
from turnspec.analysis.source import TemplateSource
from turnspec.chat.errors import ChatError
from turnspec.chat.form import MessageForm, find_form
from turnspec.chat.sources import SpecialTokens
from turnspec.chat.tool_syntax import with_tools
from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.loading import load
from turnspec.rendering.conversation import Chat
from turnspec.rendering.dialect import JsonObject
from turnspec.rendering.limits import USUAL_LIMITS
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.model import Spec, Thinking, ThinkingState
from turnspec.spec.problems import Problem


class PreparedTemplate:
    """A template with what is known of it; what takes a while is found when first asked for."""

    def __init__(
        self,
        name: str,
        text: str,
        tokens: SpecialTokens,
        worker: RenderWorker,
        specs: Sequence[Spec] = (),
    ) -> None:
        self.name = name
        self.text = text
        self._worker = worker
        self._given = tokens.texts()
        self._modules: dict[bool, FormatModule] = {}
        self._known = next((spec for spec in specs if self._is_own(spec)), None)

    @property
    def tokens(self) -> dict[str, str]:
        """What the template knows under ``bos_token`` and ``eos_token``."""
        return {**ASSUMED_TOKENS, **self._given}

    @cached_property
    def form(self) -> MessageForm:
        """In which form the template takes messages."""
        chat = Chat(self._worker, self.text, self.tokens)
        with self._worker.within(USUAL_LIMITS):
            return find_form(chat, self._known.capabilities if self._known else None)

    @cached_property
    def spec(self) -> Spec:
        """The spec: the one that was given, or the template analysed.

        Raises:
            ChatError: the template can't be analysed.
        """
        if self._known is not None:
            return self._known
        source = TemplateSource(self.name, self.text, self.name, "local", self._given)
        found = analyze_limited(source)
        if found.spec is None:
            raise ChatError(found.problems or [Problem("can't be analysed", self.name)])
        return found.spec

    @cached_property
    def answer_spec(self) -> Spec:
        """The spec of answers, with a syntax for calls even where the template has none."""
        return with_tools(self.spec)

    def parser_module(self, *, with_tools: bool) -> FormatModule:
        """Return the parser of answers, made from the spec.

        Raises:
            ChatError: the template can't be analysed.
        """
        if with_tools not in self._modules:
            self._modules[with_tools] = load(self.answer_spec if with_tools else self.spec)
        return self._modules[with_tools]

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The names of the template's own variables."""
        return tuple(self._worker.facts(self.text).switch_values)

    def render(
        self,
        messages: Sequence[JsonObject],
        tools: Sequence[JsonObject],
        *,
        add_generation_prompt: bool,
        variables: Mapping[str, object],
        now: datetime.datetime,
    ) -> str:
        """Render messages that are in the template's form already.

        Raises:
            ChatError: the template itself refuses them, or can't be rendered.
        """
        # What a user's text has to be put into, or beside, only the user knows.
        dialect = replace(self.form.dialect, required_filled=False)
        dialect = dialect if dialect.text_key else replace(dialect, block_roles=())
        chat = Chat(self._worker, self.text, self.tokens, dialect)
        today = {"strftime_now": now.strftime, "datetime": now.strftime("%Y-%m-%d")}
        rendering = chat.using({**today, **variables}).render(
            messages, tools=tools, add_generation_prompt=add_generation_prompt
        )
        if rendering.text is None:
            raise ChatError([Problem(rendering.error, self.name, rendering.line)])
        return rendering.text

    def _is_own(self, spec: Spec) -> bool:
        """Tell whether a spec is of this text, with these tokens."""
        if spec.template.sha256 != hashlib.sha256(self.text.encode()).hexdigest():
            return False
        return all(self.tokens.get(name) == token.text for name, token in spec.tokens.items())


def in_context(spec: Spec, prefill: str) -> Spec:
    """Return the spec as it is behind a prompt that holds ``prefill`` of the turn.

    Some prompts hold no header: behind a tool's result the turn may just go on.
    """
    header = spec.turn.header if prefill.startswith(spec.turn.header) else ""
    state = ThinkingState(prefill)
    thinking = Thinking(state, state, state)
    return replace(spec, thinking=thinking, turn=replace(spec.turn, header=header))
