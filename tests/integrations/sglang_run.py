"""Reads turns with SGLang's own classes; runs in an environment that has SGLang, without a GPU.

Standard input: the folder of the plugins, a vocabulary's file, and formats, each with its chat
template, cases (prefill, text, tools) and special tokens. Standard output: for each format what
came of it, by the ways in which it was read, and what SGLang's own parsers for it are.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import xgrammar
from transformers.utils.import_utils import is_torchvision_available

from tests.integrations.vocabularies import real_tokenizer, texts_of

if not is_torchvision_available():  # no picture is looked at
    for name in ("torchvision", "torchvision.transforms", "torchvision.transforms.functional"):
        sys.modules[name] = MagicMock()

from sglang.srt.entrypoints.openai import serving_chat
from sglang.srt.entrypoints.openai.protocol import ChatCompletionRequest
from sglang.srt.function_call.function_call_parser import FunctionCallParser
from sglang.srt.parser.reasoning_parser import ReasoningParser
from sglang.srt.parser.template_manager import TemplateManager
from sglang.srt.plugins import load_plugins

BEFORE = "A question, and what else a prompt holds.\n"
Names = tuple[str | None, str | None]  # of a tool parser and a reasoning parser


class Options:
    """SGLang's options for serving: none is set, but that streams bring what is new alone."""

    incremental_streaming_output = True

    def __getattr__(self, name: str) -> None:
        return None


@cache
def detected(template: str, tokenizer: Any) -> Any:
    """Return what SGLang finds in a chat template."""
    manager = TemplateManager()
    manager._run_template_detection(template, tokenizer)
    return manager


class Server(serving_chat.OpenAIServingChat):  # type: ignore[misc]
    """SGLang's server of chats, as far as it reads turns: nothing runs a model."""

    def __init__(self, names: Names, form: dict[str, Any], tokenizer: Any) -> None:
        self.tool_call_parser, self.reasoning_parser = names
        self.tokenizer_manager = SimpleNamespace(tokenizer=tokenizer)
        self.template_manager = detected(form["template"], tokenizer)
        self.chat_encoding_spec = self._encoding_adapter = self._reasoning_detector = None
        if self.reasoning_parser:
            parser = ReasoningParser(self.reasoning_parser, tokenizer=tokenizer)
            self._reasoning_detector = parser.detector

    def begin(self, case: dict[str, Any], choice: str = "auto") -> tuple[Any, Any]:
        """Return a request whose prompt is rendered, and what the engine is asked."""
        asked = {"messages": [{"role": "user", "content": "?"}], "model": "any"}
        asked["chat_template_kwargs"] = case["variables"]
        if case["tools"]:
            asked |= {"tools": case["tools"], "tool_choice": choice}
        request = ChatCompletionRequest(**asked)
        constraint = None
        if choice != "auto":
            parser = FunctionCallParser(request.tools, self.tool_call_parser)
            constraint = parser.get_structure_constraint(choice)
        params = request.to_sampling_params([], {}, constraint)
        engine = SimpleNamespace(
            text=BEFORE + case["prefill"],
            input_ids=None,
            sampling_params=params,
            require_reasoning=self._get_reasoning_from_request(request),
        )
        if self._requires_response_template_detokenization(request):
            self._set_response_parser_context(
                request, engine, tool_call_constraint=constraint, tools=request.tools or []
            )
        return request, engine

    def whole(self, case: dict[str, Any]) -> Any:
        request, _ = self.begin(case)
        info = defaultdict(lambda: None, id="x", prompt_tokens=1, completion_tokens=1)
        info["finish_reason"] = {"type": "stop", "matched": None}
        given = {"text": case["text"], "output_ids": [], "meta_info": info}
        message = self._build_chat_response(request, [given], 0).choices[0].message
        calls = [[c.function.name, c.function.arguments] for c in message.tool_calls or ()]
        return [message.reasoning_content or "", message.content or "", calls]

    def stream(self, case: dict[str, Any], pieces: Sequence[str]) -> Any:
        return asyncio.run(self._stream(case, pieces))

    async def _stream(self, case: dict[str, Any], pieces: Sequence[str]) -> Any:
        request, _ = self.begin(case)
        kept: dict[str, Any] = {
            name: {}
            for name in (
                *("stream_offsets", "reasoning_parser_dict", "parser_dict", "has_tool_calls"),
                *("prompt_tokens", "reasoning_tokens", "completion_tokens"),
            )
        }
        told = []
        for number, piece in enumerate(pieces):
            async for chunk in self._generate_stream_content(
                content={"text": piece, "meta_info": {"id": "x"}},
                index=0,
                request=request,
                created=0,
                choice_logprobs=None,
                finish_reason_type="stop" if number == len(pieces) - 1 else None,
                continuous_usage_stats=False,
                **kept,
            ):
                told.append(json.loads(chunk.removeprefix("data: ")))
        broken = serving_chat._incomplete_tool_call_indices(kept["parser_dict"].get(0))
        return f"calls {broken} aren't complete" if broken else together(told)

    def seconds(self, case: dict[str, Any], pieces: Sequence[str]) -> float:
        """Return what the parsers alone take for a turn that has tools."""
        request, _ = self.begin(case)
        force = self.template_manager.force_reasoning or self._get_reasoning_from_request(request)
        more = {"tool_call_parser_active": True, "tokenizer": self._tokenizer}
        reasoning = self.reasoning_parser and ReasoningParser(
            self.reasoning_parser, True, force, request, **more
        )
        tools = FunctionCallParser(request.tools, self.tool_call_parser, self._tokenizer)
        begun = time.perf_counter()
        for piece in pieces:
            text = reasoning.parse_stream_chunk(piece)[1] if reasoning else piece
            if text:
                tools.parse_stream_chunk(text)
        return time.perf_counter() - begun

    @property
    def _tokenizer(self) -> Any:
        return self.tokenizer_manager.tokenizer


def together(chunks: Sequence[dict[str, Any]]) -> Any:
    """Put the chunks of a stream together as clients do."""
    reasoning, content = "", ""
    calls: list[list[str]] = []
    for chunk in chunks:
        delta = chunk["choices"][0]["delta"]
        reasoning += delta.get("reasoning_content") or ""
        content += delta.get("content") or ""
        for call in delta.get("tool_calls") or ():
            while len(calls) <= call["index"]:
                calls.append(["", ""])
            calls[call["index"]][0] += call["function"].get("name") or ""
            calls[call["index"]][1] += call["function"].get("arguments") or ""
    return [reasoning, content, calls]


def attempt(read: Any, *arguments: Any) -> Any:
    try:
        return read(*arguments)
    except Exception as error:  # whatever it raises is what we are to know
        return f"{type(error).__name__}: {error}"[:300]


def by_characters(server: Server, cases: Sequence[dict[str, Any]]) -> Any:
    """Return the messages of the cases, whole and by one character and three."""
    return {
        "messages": [
            [
                attempt(server.whole, case),
                *(attempt(server.stream, case, pieces(case["text"], size)) for size in (1, 3)),
            ]
            for case in cases
        ]
    }


def pieces(text: str, size: int) -> list[str]:
    return [text[place : place + size] for place in range(0, len(text), size)] or [""]


def by_tokens(server: Server, cases: Sequence[dict[str, Any]]) -> Any:
    """Return the messages of the cases, whole and by tokens, and the seconds per token.

    Their turns end without the token that says so, as SGLang keeps that to itself.
    """
    messages, seconds, count = [], 0.0, 0
    tokenizer = server.tokenizer_manager.tokenizer
    for case in ({**case, "text": case["ended"]} for case in cases):
        tokens = tokenizer.encode(case["text"])
        texts = list(texts_of(tokenizer, [[token] for token in tokens])) or [""]
        messages.append([attempt(server.whole, case), attempt(server.stream, case, texts)])
        taken = case["tools"] and attempt(server.seconds, case, texts)
        if isinstance(taken, float):
            seconds, count = seconds + taken, count + len(texts)
    return {"messages": messages, "seconds": seconds / max(count, 1)}


def held(server: Server, case: dict[str, Any]) -> Any:
    """Say whether the grammar of a request that asks for a call lets a turn through."""
    _, engine = server.begin(case, "required")
    if engine.require_reasoning != bool(engine.sampling_params.get("custom_params")):
        return "the grammar doesn't hold from the first token on"
    grammar = xgrammar.Grammar.from_structural_tag(engine.sampling_params["structural_tag"])
    return xgrammar.testing._is_grammar_accept_string(grammar, case["text"])


def outcomes(form: dict[str, Any], vocabulary: Path) -> dict[str, Any]:
    """Return what ours, and SGLang's own, make of a format's cases."""
    real = real_tokenizer(vocabulary, form["specials"])
    ours = (form["name"], form["name"] if form["reasons"] else None)
    server, cases = Server(ours, form, real), form["cases"]
    found = {
        "pieces": attempt(by_characters, server, cases),
        "real": attempt(by_tokens, server, cases),
    }
    if form["required"]:
        found["required"] = attempt(held, server, form["required"])
    known = server.template_manager
    own = (known.suggested_tool_call_parser, known.suggested_reasoning_parser)
    if own[0] and form["required"]:
        found |= {"names": own, "own": attempt(lambda: by_tokens(Server(own, form, real), cases))}
    return found


def main() -> None:
    """Read all formats, and write what came of them."""
    asked = json.load(sys.stdin)
    sys.path.insert(0, asked["folder"])
    load_plugins()
    logging.disable(logging.ERROR)  # its parsers tell of each turn that they can't read
    serving_chat.get_serving = Options
    given = [outcomes(form, Path(asked["vocabulary"])) for form in asked["formats"]]
    json.dump(given, sys.stdout)


if __name__ == "__main__":
    main()
