"""A chat handler for llama-cpp-python: the model's template asks, a format's parser reads."""

from __future__ import annotations

import codecs
import ctypes
import json
import logging
import random
import re
import runpy
import sys
import time
import uuid
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import llama_cpp
from llama_cpp import llama_chat_format
from llama_cpp.llama_grammar import LlamaGrammar

sys.path.append(str(Path(__file__).parent))  # what belongs to it lies beside it

# Here an export has the facts of its format.
from turnspec.export.plugins.facts import StreamingParser, turn_format

NAME = ""
STOP: Sequence[str] = ()
TRIGGERS: Sequence[str] = ()
TRIGGER_PATTERNS: Mapping[bool | None, str] = {}
OBJECT_ARGUMENTS = True

# What follows is the same for every format.

try:
    from turnspec.export.serving import bound_grammar
except ImportError:
    logging.getLogger(__name__).warning("without turnspec no grammar holds tool calls to schemas")
    bound_grammar = None  # type: ignore[assignment]

Json = dict[str, Any]
SPEC = Path(__file__).with_name(f"{NAME}.yaml")
# What `Llama.generate` takes, by the names of `Llama.create_chat_completion`.
SAMPLING = {
    **{name: name for name in ("top_p", "top_k", "min_p", "typical_p", "tfs_z")},
    **{name: name for name in ("repeat_penalty", "presence_penalty", "frequency_penalty")},
    **{name: name for name in ("mirostat_mode", "mirostat_tau", "mirostat_eta")},
    "temperature": "temp",
}
REFUSED = ("functions", "function_call", "logit_bias", "logprobs", "top_logprobs")


@dataclass(slots=True)
class Turn:
    """What the model writes behind a prompt, and the parser that reads it.

    A lazy grammar holds from the first call on. ``tokens`` and ``text`` are what is written so far.
    """

    llama: llama_cpp.Llama
    parser: StreamingParser
    head: Json
    prompt: list[int]
    limit: int
    stop: Sequence[str]
    seed: int
    sampling: Mapping[str, Any]
    grammar: LlamaGrammar | None
    trigger: str  # of a lazy grammar, a regular expression whose group is the trigger
    tokens: list[int] = field(default_factory=list)
    text: str = ""
    finish_reason: str = ""

    def chunks(self) -> Iterator[Json]:
        """Yield the answer in pieces, as a server streams them."""
        yield self._chunk({"role": "assistant"})
        for piece in self._write():
            yield from map(self._chunk, _deltas(self.parser.feed(piece)))
        yield from map(self._chunk, _deltas(self.parser.finish()))
        yield {**self._chunk({}, self._reason()), "usage": self._usage()}

    def whole(self) -> Json:
        """Return the answer in one piece."""
        for piece in self._write():
            self.parser.feed(piece)
        self.parser.finish()
        message = self.parser.message.to_dict()
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": self._reason()}
        whole = {**self.head, "object": "chat.completion", "choices": [choice]}
        return {**whole, "usage": self._usage()}

    def _chunk(self, delta: Json, reason: str | None = None) -> Json:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        return {**self.head, "object": "chat.completion.chunk", "choices": [choice]}

    def _usage(self) -> dict[str, int]:
        read, written = len(self.prompt), len(self.tokens)
        counts = {"prompt_tokens": read, "completion_tokens": written}
        return {**counts, "total_tokens": read + written}

    def _reason(self) -> str:
        return self.finish_reason or self.parser.message.finish_reason

    def _write(self) -> Iterator[str]:
        """Yield the text as the model writes it.

        Under a lazy grammar what may yet become a trigger is held back. Where one is complete, the
        model goes back to before it, and writes it once more under the grammar.
        """
        if not self.trigger:
            yield from self._generate(self.grammar)
            return
        given, ends = 0, list[int]()
        for piece in self._generate(None):
            ends.append(len(self.text))
            call = self._find_call(len(piece))
            if call is not None:
                yield self.text[given:call]
                self._go_back(call, ends)
                yield from self._generate(self.grammar)
                return
            safe = len(self.text) - _begun(self.text, TRIGGERS)
            yield self.text[given:safe]
            given = safe
        yield self.text[given:]

    def _generate(self, grammar: LlamaGrammar | None) -> Iterator[str]:
        """Let the model go on; yield the text of each token, special ones too."""
        vocabulary = llama_cpp.llama_model_get_vocab(self.llama.model)
        decoder = codecs.getincrementaldecoder("utf-8")("replace")  # tokens may split characters
        longest = max(map(len, self.stop), default=0)
        known = [*self.prompt, *self.tokens]
        self.llama.set_seed(self.seed)  # only now: the model may have written another turn before
        for token in self.llama.generate(known, grammar=grammar, **self.sampling):
            if llama_cpp.llama_vocab_is_eog(vocabulary, token):
                break
            piece = decoder.decode(_piece(vocabulary, token))
            self.tokens.append(token)
            self.text += piece
            yield piece
            tail = self.text[-longest - len(piece) :]
            if any(stop in tail for stop in self.stop):
                break
            if len(self.tokens) >= self.limit:
                self.finish_reason = "length"
                break
        yield decoder.decode(b"", final=True)

    def _find_call(self, new: int) -> int | None:
        """Return where the first call begins, if its trigger ends in the ``new`` characters."""
        tail = self.text[-max(map(len, TRIGGERS)) - new :]
        if not any(word in tail for word in TRIGGERS):
            return None
        found = re.search(self.trigger, self.text)
        return found.start(1) if found else None

    def _go_back(self, place: int, ends: Sequence[int]) -> None:
        """Forget what is written behind a place; ``ends`` says where the tokens' texts end."""
        count = bisect_right(ends, place)
        rest = self.text[ends[count - 1] if count else 0 : place]
        again = self.llama.tokenize(rest.encode(), add_bos=False, special=True) if rest else []
        self.tokens, self.text = [*self.tokens[:count], *again], self.text[:place]


class ChatHandler:
    """The handler: ``Llama(path, chat_handler=ChatHandler())``."""

    def __init__(self, *, binding_seconds: float | None = None) -> None:
        """Take for how long a grammar may be bound, in a process of its own; None: any time."""
        self._binding_seconds = binding_seconds
        self._formatters: dict[str, llama_chat_format.Jinja2ChatFormatter] = {}

    def __call__(
        self,
        *,
        llama: llama_cpp.Llama,
        messages: Sequence[Json],
        tools: Sequence[Json] | None = None,
        tool_choice: str | Json | None = None,
        parallel_tool_calls: bool = True,
        response_format: Json | None = None,
        grammar: LlamaGrammar | None = None,
        stream: bool = False,
        stop: str | Sequence[str] | None = None,
        max_tokens: int | None = None,
        seed: int | None = None,
        model: str | None = None,
        logits_processor: llama_cpp.LogitsProcessorList | None = None,
        **others: Any,
    ) -> Json | Iterator[Json]:
        """Answer a request; what isn't a parameter of the model goes to the template.

        Raises:
            ValueError: the request can't be met; says why.
        """
        if wrong := [name for name in REFUSED if others.pop(name, None)]:
            raise ValueError(f"{NAME}: there is no {', '.join(wrong)} here")
        sampling = {SAMPLING[name]: others.pop(name) for name in SAMPLING if name in others}
        prompt = self._prompt(llama, messages, tools, others)
        lazy = False
        if grammar is None and bound_grammar is not None and (tools or response_format):
            text, lazy = bound_grammar(
                SPEC,
                tools=tools or (),
                tool_choice=tool_choice,
                parallel=parallel_tool_calls,
                prefill=_prefill(prompt),
                response_format=response_format,
                seconds=self._binding_seconds,
            )
            grammar = LlamaGrammar.from_string(text, verbose=False)
        tokens = llama.tokenize(prompt.encode(), add_bos=False, special=True)
        size = llama.n_ctx()
        room = size - len(tokens)
        if room <= 0:
            raise ValueError(f"the prompt has {len(tokens)} tokens, {size - 1} is the most")
        own_stop = [stop] if isinstance(stop, str) else stop or ()
        number = uuid.uuid4().hex
        head = {"id": f"chatcmpl-{number}", "created": int(time.time())}
        turn = Turn(
            llama=llama,
            parser=turn_format.Parser(
                tools=tools or [],
                prefill=_prefill(prompt),
                stop=own_stop,
                id_prefix=f"call_{number[:8]}_",  # so that ids differ between turns
            ),
            head={**head, "model": model or llama.model_path},
            prompt=tokens,
            limit=min(max_tokens, room) if max_tokens and max_tokens > 0 else room,
            stop=[*STOP, *own_stop],
            seed=random.getrandbits(32) if seed is None else seed,
            sampling={**sampling, "logits_processor": logits_processor},
            grammar=grammar,
            trigger=TRIGGER_PATTERNS[_thinking(prompt)] if lazy else "",
        )
        return turn.chunks() if stream else turn.whole()

    def _prompt(
        self,
        llama: llama_cpp.Llama,
        messages: Sequence[Json],
        tools: Sequence[Json] | None,
        variables: Json,
    ) -> str:
        """Render the messages with the model's own template."""
        key = "tokenizer.chat_template"
        template = llama.metadata.get(key, "")
        if tools:
            template = llama.metadata.get(f"{key}.tool_use", template)
        if template not in self._formatters:
            vocabulary = llama_cpp.llama_model_get_vocab(llama.model)
            tokens = (llama.token_bos(), llama.token_eos())
            bos, eos = (_piece(vocabulary, n).decode() if n >= 0 else "" for n in tokens)
            make = llama_chat_format.Jinja2ChatFormatter
            self._formatters[template] = make(template, eos_token=eos, bos_token=bos)
        shown: Any = [_for_template(message) for message in messages]
        given: Any = tools or None
        prompt: str = self._formatters[template](messages=shown, tools=given, **variables).prompt
        if turn_format.FORMAT["header"] not in prompt:
            raise ValueError(f"the model's chat template isn't in the format {NAME}")
        return prompt


def _piece(vocabulary: Any, token: int) -> bytes:
    """Return a token's text, a special one's too; `Llama.detokenize` loses those that are long."""
    size = 64
    while True:
        piece = ctypes.create_string_buffer(size)
        length = llama_cpp.llama_token_to_piece(vocabulary, token, piece, size, 0, True)
        if length >= 0:
            return piece.raw[:length]
        size = -length


def _for_template(message: Json) -> Json:
    """Return a message with its content as text, and arguments as the template takes them."""
    content = message.get("content") or ""
    if isinstance(content, list):
        content = "".join(part.get("text", "") for part in content)
    calls = [{**call, "function": {**call["function"]}} for call in message.get("tool_calls") or ()]
    for call in calls:
        arguments = call["function"].get("arguments")
        if OBJECT_ARGUMENTS and isinstance(arguments, str):
            call["function"]["arguments"] = json.loads(arguments or "{}")
    return {**message, "content": content, **({"tool_calls": calls} if calls else {})}


def _prefill(prompt: str) -> str | None:
    """Return what the prompt holds of the turn; None where the format has no header."""
    header = turn_format.FORMAT["header"]
    return header + prompt.rpartition(header)[2] if header else None


def _thinking(prompt: str) -> bool | None:
    """Return what a prompt says of thinking, None where it is the template's own default.

    One prompt may end as another does: the longest counts.
    """
    table: Mapping[str, Any] = turn_format.FORMAT
    names = {"prompt_without_thinking": False, "prompt_with_thinking": True, "prompt": None}
    said = {table[name]: enable for name, enable in names.items() if name in table}
    return said[max(filter(prompt.endswith, said), key=len, default=table["prompt"])]


def _begun(text: str, words: Sequence[str]) -> int:
    """Return how many characters at the text's end may become one of the words."""
    sizes = range(min(max(map(len, words)) - 1, len(text)), 0, -1)
    return next((n for n in sizes if any(word.startswith(text[-n:]) for word in words)), 0)


def _deltas(events: Iterable[Any]) -> Iterator[Json]:
    return filter(None, (event.to_delta() for event in events))


handlers: Any = llama_chat_format  # whose registry has no types
handlers.LlamaChatCompletionHandlerRegistry().register_chat_completion_handler(
    NAME, ChatHandler(), overwrite=True
)

if __name__ == "__main__":  # the server, which knows handlers by their names alone
    runpy.run_module("llama_cpp.server", run_name="__main__")
