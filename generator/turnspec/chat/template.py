"""A model's chat template as an app uses it: messages in, a prompt out, an answer read back."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from turnspec.chat.errors import ChatError, checked
from turnspec.chat.form import MessageForm
from turnspec.chat.increments import Conversation
from turnspec.chat.messages import read_messages, read_tools
from turnspec.chat.polyfills import Polyfill, missing_features
from turnspec.chat.prepared import PreparedTemplate, in_context
from turnspec.chat.request import Prompt, Request, without_added
from turnspec.chat.sources import (
    ModelTemplates,
    SpecialTokens,
    known_templates,
    model_templates,
    named_format,
)
from turnspec.chat.spans import Transcript, find_spans
from turnspec.grammar.bound import bind_grammar
from turnspec.grammar.request import GrammarRequest
from turnspec.protocol import StreamingParser
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.model import Capabilities, Spec


class ChatTemplate:
    """Renders conversations, and reads answers, with one model's templates.

    Templates run in a process of their own, which ends with the context manager or `close`.

    Example:
        >>> with ChatTemplate.named("chatml") as chat:
        ...     print(chat.render([{"role": "user", "content": "Hello!"}]).text)
        <|im_start|>user
        Hello!<|im_end|>
        <|im_start|>assistant
        <BLANKLINE>
    """

    def __init__(self, templates: ModelTemplates, worker: RenderWorker | None = None) -> None:
        """Take a model's templates; ``worker`` may be shared by several."""
        self._own_worker = RenderWorker() if worker is None else None
        used = worker or self._own_worker
        assert used is not None
        known = templates.specs
        name = templates.name
        self.notes = templates.notes
        self.tokens = templates.tokens
        self._default = PreparedTemplate(name, templates.default, self.tokens, used, known)
        self._tool_use = (
            PreparedTemplate(f"{name}-tool-use", templates.tool_use, self.tokens, used, known)
            if templates.tool_use is not None
            else None
        )

    @classmethod
    def load(
        cls,
        source: Path | str,
        *,
        template: str | None = None,
        variant: str | None = None,
        bos_token: str | None = None,
        eos_token: str | None = None,
        worker: RenderWorker | None = None,
    ) -> ChatTemplate:
        """Load the templates of a GGUF file, a model folder or a .jinja file.

        Args:
            source: the file or folder.
            template: a template's text, or the name of a format, to use instead of the model's.
            variant: the name of one of the model's templates, to use with and without tools.
            bos_token: the text of this token, instead of the vocabulary's.
            eos_token: likewise.
            worker: a process to share.

        Raises:
            ChatError: the source can't be read, or has no such variant.
        """
        tokens = SpecialTokens(bos_token, eos_token)
        return cls(model_templates(Path(source), template, variant, tokens), worker)

    @classmethod
    def named(cls, name: str, worker: RenderWorker | None = None) -> ChatTemplate:
        """Use a format by its name: one of `NAMED_FORMATS`.

        Raises:
            ChatError: there is none of that name.
        """
        named_format(name)
        return cls(model_templates(None, name), worker)

    @classmethod
    def of_text(
        cls,
        text: str,
        *,
        bos_token: str | None = None,
        eos_token: str | None = None,
        worker: RenderWorker | None = None,
    ) -> ChatTemplate:
        """Use a template's text, with the texts of its special tokens."""
        tokens = SpecialTokens(bos_token, eos_token)
        return cls(model_templates(None, text, tokens=tokens), worker)

    @classmethod
    def of_spec(
        cls,
        spec: Spec,
        text: str,
        *,
        bos_token: str | None = None,
        eos_token: str | None = None,
        worker: RenderWorker | None = None,
    ) -> ChatTemplate:
        """Use a template's text with the spec that is known of it.

        The texts of special tokens are the spec's, but for those that are given.
        """
        return cls(known_templates(spec, text, SpecialTokens(bos_token, eos_token)), worker)

    def __enter__(self) -> ChatTemplate:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process that renders, unless it is shared."""
        if self._own_worker is not None:
            self._own_worker.close()

    def prepared(self, *, with_tools: bool = False) -> PreparedTemplate:
        """Return the template that is used with, or without, tools."""
        return self._tool_use if with_tools and self._tool_use else self._default

    @property
    def capabilities(self) -> Capabilities:
        """What the template for prompts with tools accepts."""
        return self.form.capabilities

    @property
    def form(self) -> MessageForm:
        """In which form the template for prompts with tools takes messages."""
        return self.prepared(with_tools=True).form

    @property
    def polyfills(self) -> tuple[Polyfill, ...]:
        """What stands in for what the template for prompts with tools lacks."""
        return missing_features(self.form)

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the templates' own variables, such as a switch for thinking."""
        both = (self.prepared(), self.prepared(with_tools=True))
        return tuple(dict.fromkeys(name for prepared in both for name in prepared.variables))

    def spec(self, *, with_tools: bool = False) -> Spec:
        """Return the spec of answers to prompts with, or without, tools.

        With tools it has a syntax for calls, even where the template has none.

        Raises:
            ChatError: the template can't be analysed.
        """
        prepared = self.prepared(with_tools=with_tools)
        return prepared.answer_spec if with_tools else prepared.spec

    def render(
        self,
        messages: Sequence[Mapping[str, object]],
        *,
        tools: Sequence[Mapping[str, object]] = (),
        add_generation_prompt: bool = True,
        continue_final: bool = False,
        thinking: bool | None = None,
        variables: Mapping[str, object] | None = None,
        now: datetime.datetime | None = None,
    ) -> Prompt:
        """Render a conversation as the prompt of a model.

        Args:
            messages: as chat APIs have them: a role, content as text or typed parts, tool calls
                with arguments as an object or as JSON text, reasoning under any of its keys.
            tools: definitions as chat APIs have them, or the functions in them alone.
            add_generation_prompt: end with what leads the model to answer.
            continue_final: let the model go on where the last message, an assistant's, stops.
            thinking: turn it on or off, however this template is told; None leaves it as it is.
            variables: values for the template's own variables.
            now: the time that a template may write (default: now).

        Returns:
            The prompt, with what the parser of the answer has to know.

        Raises:
            ChatError: messages or tools aren't in any usual form, or the template refuses them.
        """
        request = Request(
            self.prepared(with_tools=bool(tools)),
            checked(read_messages(messages)),
            checked(read_tools(tools)),
            {**(variables or {})},
            now or datetime.datetime.now(),
        )
        last = request.take_last() if continue_final else None
        if thinking is not None:
            request.switch(thinking=thinking)
        prompted = add_generation_prompt or continue_final
        prompt = request.render(add_generation_prompt=prompted)
        if last is not None:
            prompt = request.continued(prompt, last)
        return without_added(prompt, self.tokens)

    def parser(
        self, prompt: Prompt, *, tools: Sequence[Mapping[str, object]] = (), **options: Any
    ) -> StreamingParser:
        """Return the streaming parser for the answer to a prompt.

        ``feed`` it pieces of text, ``finish`` it, and take ``message`` from it. ``options`` are the
        parser's own.

        Raises:
            ChatError: the template can't be analysed.
        """
        module = self.prepared(with_tools=bool(tools)).parser_module(with_tools=bool(tools))
        if tools:
            options["tools"] = checked(read_tools(tools))
        parser: StreamingParser = module.Parser(prefill=prompt.prefill, **options)
        return parser

    def spans(
        self,
        messages: Sequence[Mapping[str, object]],
        *,
        tools: Sequence[Mapping[str, object]] = (),
        thinking: bool | None = None,
        variables: Mapping[str, object] | None = None,
        now: datetime.datetime | None = None,
    ) -> Transcript:
        """Render a conversation as `render` does, and say which characters of it the model wrote.

        Returns:
            The text, and a span for each message of the assistant's: what stands in the template's
            own ``{% generation %}``; else from behind what the prompt holds of the turn up to what
            ends it, which is part of it.

        Raises:
            ChatError: as `render` does; or the template shows nothing of an answer.
        """
        moment = now or datetime.datetime.now()

        def rendered(
            some: Sequence[Mapping[str, object]], prompted: bool, more: Mapping[str, object]
        ) -> tuple[str, str]:
            prompt = self.render(
                some,
                tools=tools,
                add_generation_prompt=prompted,
                thinking=thinking,
                variables={**(variables or {}), **more},
                now=moment,
            )
            return prompt.text, prompt.prefill

        return find_spans(self.spec(with_tools=bool(tools)), messages, rendered)

    def conversation(self, **options: Any) -> Conversation:
        """Return a conversation that is rendered piece by piece; options as for `render`."""
        return Conversation(self.render, **options)

    def response_grammar(self, schema: Mapping[str, object], prompt: Prompt) -> str:
        """Return a GBNF grammar for an answer whose content fits a JSON Schema.

        Reasoning, where the format has any, may stand before it; calls may not.

        Raises:
            ChatError: the schema has no grammar, or the template can't be analysed.
        """
        request = GrammarRequest(response_schema=schema)
        found = bind_grammar(in_context(self.spec(), prompt.prefill), request)
        if isinstance(found, list):
            raise ChatError(found)
        return found.grammar
