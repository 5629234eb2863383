"""A chat-completions server: llama.cpp writes, a vendored parser reads (see README.md).

python server.py model.gguf --port 8080
"""

from __future__ import annotations

import argparse
import asyncio
import codecs
import ctypes
import json
import random
import re
import time
import uuid
from collections.abc import AsyncGenerator, Collection, Generator, Iterable, Iterator
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jinja2
import llama_cpp
import qwen_qwen3_0_6b as chat_format
import uvicorn
from llama_cpp.llama_chat_format import Jinja2ChatFormatter
from starlette.applications import Starlette
from starlette.concurrency import iterate_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

GRAMMAR = Path(__file__).with_name("qwen-qwen3-0-6b.gbnf").read_text(encoding="utf-8")
TRIGGER = "(<tool_call>)"  # from specs/qwen-qwen3-0-6b.yaml, as a regular expression
LAZY = "tool-calls"
ENTRIES = {"auto": LAZY, "required": "required-calls", "none": "content-only"}
TOOL_NAME = re.compile(r"[a-zA-Z0-9./:_-]+")
HOSTS = ("localhost", "127.0.0.1", "[::1]")
LONGEST_BODY = 2_000_000  # bytes


@dataclass(frozen=True, slots=True)
class Order:
    """What the model is to write; ``entry`` is a rule of the grammar, "" if none holds."""

    prompt: list[int]
    limit: int
    temperature: float
    seed: int
    entry: str
    grammar: str


class Model:
    """A GGUF file in llama.cpp; the template in it makes the prompt."""

    def __init__(self, path: Path, context_size: int) -> None:
        """Load the file, or end the program if the parser isn't for its template."""
        self.name, self.context_size = path.stem, context_size
        self._llama = llama_cpp.Llama(str(path), n_ctx=context_size, verbose=False)
        self._vocabulary = llama_cpp.llama_model_get_vocab(self._llama.model)
        template = self._llama.metadata.get("tokenizer.chat_template", "")
        eos, bos = (
            self._text(n).decode() for n in (self._llama.token_eos(), self._llama.token_bos())
        )
        self._template = Jinja2ChatFormatter(template, eos_token=eos, bos_token=bos)
        prompt = self._template(messages=[{"role": "user", "content": "Hello"}]).prompt
        if not prompt.endswith(chat_format.FORMAT["prompt"]):
            raise SystemExit(f"error: {path}: {chat_format.__name__} isn't for its chat template")

    def prompt(self, messages: list[Any], tools: list[Any], variables: dict[str, Any]) -> list[int]:
        """Return the tokens of the prompt."""
        prompt = self._template(messages=messages, tools=tools or None, **variables).prompt
        return self._llama.tokenize(prompt.encode(), add_bos=False, special=True)

    def write(self, order: Order) -> Generator[str]:
        """Yield the text of one token after the other until the turn or the limit is reached."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")  # tokens may split characters
        sampler, free = self._sampler(order), self._sampler(replace(order, entry=""))
        tokens, thinking = order.prompt, False
        self._llama.n_tokens = 0
        try:
            for _ in range(order.limit):
                self._llama.eval(tokens)
                # In reasoning a trigger is only text, so the lazy grammar doesn't get to see it.
                now = free if thinking and order.entry == LAZY else sampler
                tokens = [llama_cpp.llama_sampler_sample(now, self._llama.ctx, -1)]
                if llama_cpp.llama_vocab_is_eog(self._vocabulary, tokens[0]):
                    return
                text = decoder.decode(self._text(tokens[0]))
                thinking = (thinking or "<think>" in text) and "</think>" not in text
                yield text
        finally:
            llama_cpp.llama_sampler_free(sampler)
            llama_cpp.llama_sampler_free(free)

    def _text(self, token: int) -> bytes:
        """Return a token's text, a special one's too: the parser has to see the markers."""
        piece = ctypes.create_string_buffer(1024)
        size = llama_cpp.llama_token_to_piece(self._vocabulary, token, piece, 1024, 0, True)
        return piece.raw[: max(size, 0)]

    def _sampler(self, order: Order) -> Any:
        rules = (self._vocabulary, order.grammar.encode(), order.entry.encode())
        steps = []
        if order.entry == LAZY:  # the grammar sleeps until the trigger is written
            patterns = (ctypes.c_char_p * 1)(TRIGGER.encode())
            lazy = llama_cpp.llama_sampler_init_grammar_lazy_patterns
            steps.append(lazy(*rules, patterns, 1, None, 0))
        elif order.entry:
            steps.append(llama_cpp.llama_sampler_init_grammar(*rules))
        if order.temperature > 0:
            steps.append(llama_cpp.llama_sampler_init_temp(order.temperature))
            steps.append(llama_cpp.llama_sampler_init_dist(order.seed))
        else:
            steps.append(llama_cpp.llama_sampler_init_greedy())
        chain = llama_cpp.llama_sampler_chain_init(llama_cpp.llama_sampler_chain_default_params())
        for step in steps:
            llama_cpp.llama_sampler_chain_add(chain, step)
        return chain


@dataclass(slots=True)
class Turn:
    """One answer: what the model is asked for, and the parser that reads what it writes."""

    order: Order
    parser: chat_format.Parser
    head: dict[str, Any]
    written: int = 0

    async def deltas(self, model: Model, lock: asyncio.Lock) -> AsyncGenerator[dict[str, Any]]:
        """Yield the deltas of the message as the model writes it."""
        async with lock:
            pieces = model.write(self.order)
            try:
                async for piece in iterate_in_threadpool(pieces):
                    self.written += 1
                    for delta in _deltas(self.parser.feed(piece)):
                        yield delta
            finally:
                pieces.close()  # the client may be gone in the middle of the turn
        for delta in _deltas(self.parser.finish()):
            yield delta

    async def events(self, deltas: AsyncGenerator[dict[str, Any]]) -> AsyncGenerator[str]:
        """Yield the answer as server-sent events."""
        chunk = {**self.head, "object": "chat.completion.chunk"}
        async with aclosing(deltas):
            yield _event(chunk, delta={"role": "assistant"}, finish_reason=None)
            async for delta in deltas:
                yield _event(chunk, delta=delta, finish_reason=None)
        yield _event({**chunk, "usage": self.usage()}, delta={}, finish_reason=self.reason())
        yield "data: [DONE]\n\n"

    def whole(self) -> dict[str, Any]:
        """Return the answer in one piece."""
        message = self.parser.message.to_dict()
        choice = {"index": 0, "message": message, "finish_reason": self.reason()}
        whole = {**self.head, "object": "chat.completion", "choices": [choice]}
        return {**whole, "usage": self.usage()}

    def reason(self) -> str:
        """Say why the turn is over, in the API's words."""
        if self.written == self.order.limit:
            return "length"
        return self.parser.message.finish_reason

    def usage(self) -> dict[str, int]:
        """Count the tokens."""
        read = len(self.order.prompt)
        counts = {"prompt_tokens": read, "completion_tokens": self.written}
        return {**counts, "total_tokens": read + self.written}


def new_turn(model: Model, body: Any) -> Turn:
    """Read a request."""
    _check(isinstance(body, dict), "the body has to be a JSON object")
    _check(body.get("n") in (None, 1), "n has to be 1: there is one answer at a time")
    tools, variables = body.get("tools") or [], body.get("chat_template_kwargs") or {}
    _check(isinstance(variables, dict), "chat_template_kwargs has to be an object")
    entry, grammar = bound_grammar(tools, body)
    prompt = _prompt(model, body.get("messages"), tools, variables)
    room = model.context_size - len(prompt)
    _check(room > 0, f"the prompt has {len(prompt)} tokens, {model.context_size} is the most")
    limit = body.get("max_completion_tokens") or body.get("max_tokens") or room
    _check(type(limit) is int and limit > 0, "max_tokens has to be a positive integer")
    temperature, seed = body.get("temperature"), body.get("seed")
    temperature = 0.6 if temperature is None else temperature
    seed = random.getrandbits(32) if seed is None else seed
    _check(type(temperature) in (int, float), "temperature has to be a number")
    _check(type(seed) is int, "seed has to be an integer")
    order = Order(prompt, min(limit, room), temperature, seed % 2**32, entry, grammar)
    thinking = variables.get("enable_thinking") is not False
    head = {"id": f"chatcmpl-{uuid.uuid4().hex}", "created": int(time.time()), "model": model.name}
    prefix = f"call_{uuid.uuid4().hex[:8]}_"  # so that ids differ between turns
    try:
        parser = chat_format.Parser(tools=tools, enable_thinking=thinking, id_prefix=prefix)
    except (TypeError, ValueError, RecursionError) as error:
        raise HTTPException(400, f"tools can't be used: {error}") from error
    return Turn(order, parser, head)


def bound_grammar(tools: Any, body: dict[str, Any]) -> tuple[str, str]:
    """Return the entry for the choice of tools, and the grammar with their names."""
    choice = body.get("tool_choice") or "auto"
    try:
        names = [tool["function"]["name"] for tool in tools]
        if isinstance(choice, dict):
            names, choice = [n for n in names if n == choice["function"]["name"]], "required"
        _check(all(map(TOOL_NAME.fullmatch, names)), f"a tool's name is {TOOL_NAME.pattern}")
        _check(choice in ENTRIES, "tool_choice has to be auto, required, none or a tool")
    except (KeyError, TypeError) as error:
        raise HTTPException(
            400, "tools has to be a list of tools with a function's name"
        ) from error
    _check(bool(names) or choice != "required", "tool_choice asks for a tool that isn't in tools")
    if not names:
        return "", ""
    grammar = _with_rule(GRAMMAR, "tool-name", " | ".join(f'"{name}"' for name in names))
    if body.get("parallel_tool_calls") is False:
        grammar = _with_rule(grammar, LAZY, "call")
    return ENTRIES[choice], grammar


def create_app(model: Model, hosts: Collection[str] = HOSTS) -> Starlette:
    """Return the server for a model, which writes one turn at a time; ``hosts`` are its names."""
    lock = asyncio.Lock()

    async def complete(request: Request) -> Response:
        check_sender(request, hosts)
        body = await read_body(request)
        turn = new_turn(model, body)
        deltas = turn.deltas(model, lock)
        if body.get("stream"):
            return StreamingResponse(turn.events(deltas), media_type="text/event-stream")
        async with aclosing(deltas):
            async for _ in deltas:
                if await request.is_disconnected():
                    break
        return JSONResponse(turn.whole())

    def refuse(_: Request, error: Any) -> Response:
        problem = {"message": error.detail, "type": "invalid_request_error"}
        return JSONResponse({"error": problem}, error.status_code)

    route = Route("/v1/chat/completions", complete, methods=["POST"])
    return Starlette(routes=[route], exception_handlers={HTTPException: refuse})


def check_sender(request: Request, hosts: Collection[str]) -> None:
    """Refuse what a page of another site sends, or what came here by another site's name."""
    host, origin = request.headers.get("host", ""), request.headers.get("origin")
    _check(re.sub(r":\d+$", "", host) in hosts, f"this server isn't {host!r}", 403)
    own = (None, f"http://{host}", f"https://{host}")
    _check(origin in own, f"pages of {origin!r} may not ask", 403)


async def read_body(request: Request) -> Any:
    """Return what a request holds, read no further than it may go."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        _check(len(body) <= LONGEST_BODY, f"the body has more than {LONGEST_BODY} bytes", 413)
    try:
        return json.loads(body)
    except RecursionError as error:
        raise HTTPException(400, "the body is nested too deeply") from error
    except ValueError as error:
        raise HTTPException(400, f"the body isn't JSON: {error}") from error


def _prompt(model: Model, messages: Any, tools: list[Any], variables: dict[str, Any]) -> list[int]:
    _check(isinstance(messages, list) and bool(messages), "messages has to be a list of messages")
    try:
        return model.prompt([_for_template(message) for message in messages], tools, variables)
    except (jinja2.TemplateError, LookupError, AttributeError, TypeError, ValueError) as error:
        raise HTTPException(400, f"these messages can't be rendered: {error!r}") from error
    except RecursionError as error:
        raise HTTPException(400, "these messages are nested too deeply") from error


def _for_template(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message with its content as text and its calls' arguments as objects."""
    content, calls = message.get("content") or "", message.get("tool_calls") or []
    if isinstance(content, list):
        content = "".join(part["text"] for part in content)
    functions = [{**call["function"]} for call in calls]
    for function in functions:
        function["arguments"] = json.loads(function["arguments"])
    calls = [{"type": "function", "function": function} for function in functions]
    return {**message, "role": message["role"], "content": content, "tool_calls": calls}


def _with_rule(grammar: str, name: str, text: str) -> str:
    """Return the grammar with another text for one of its rules, each of which is a line."""
    return re.sub(rf"(?m)^{name} ::= .*$", f"{name} ::= {text}", grammar)


def _deltas(events: Iterable[chat_format.Event]) -> Iterator[dict[str, Any]]:
    """Return what there is to send of some events."""
    return filter(None, (event.to_delta() for event in events))


def _event(chunk: dict[str, Any], **choice: Any) -> str:
    return f"data: {json.dumps({**chunk, 'choices': [{'index': 0, **choice}]})}\n\n"


def _check(is_right: bool, message: str, status: int = 400) -> None:
    if not is_right:
        raise HTTPException(status, message)


def main() -> None:
    """Serve a model."""
    parser = argparse.ArgumentParser(description="A chat-completions server for one GGUF file.")
    parser.add_argument("model", type=Path, help="the GGUF file")
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--context", type=int, default=8192, help="tokens of prompt and answer")
    by = "another name that requests may come by"
    parser.add_argument("--allow-host", action="append", default=[*HOSTS], metavar="NAME", help=by)
    given = parser.parse_args()
    if not given.model.is_file():
        parser.error(f"{given.model}: there is no such file")
    app = create_app(Model(given.model, given.context), given.allow_host)
    uvicorn.run(app, port=given.port)


if __name__ == "__main__":
    main()
