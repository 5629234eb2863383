"""A chat-completions server: an exported chat handler answers, this file speaks HTTP (README.md).

python server.py model.gguf --port 8080
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
from collections.abc import AsyncGenerator, Callable, Collection, Generator
from contextlib import aclosing
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

import jinja2
import llama_cpp
import uvicorn
from qwen_qwen3_0_6b_llama_cpp_python import NAME, REFUSED, SAMPLING, ChatHandler
from starlette.applications import Starlette
from starlette.concurrency import iterate_in_threadpool, run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

Json = dict[str, Any]
#: Takes a request's fields and ``stream=True``; returns the answer's chunks.
Answer = Callable[..., Generator[Json, None, None]]
HOSTS = ("localhost", "127.0.0.1", "[::1]")
LONGEST_BODY = 2_000_000  # bytes
#: How many texts may stop a model, and of how many characters each.
MOST_STOPS, LONGEST_STOP = 64, 1_000
#: For how long a grammar may be bound for a request, in a process of its own.
BINDING_SECONDS = 5.0
#: What of a request goes to the handler, and what it may be. null is as if it weren't there.
FIELDS = {
    "messages": ("array",),
    "tools": ("array",),
    "tool_choice": ("string", "object"),
    "parallel_tool_calls": ("boolean",),
    "response_format": ("object",),
    "max_tokens": ("integer",),
    "stop": ("string", "array"),
    "temperature": ("number",),
    "top_p": ("number",),
    "seed": ("integer",),
}
TYPES = {
    **{"array": (list,), "object": (dict,), "string": (str,), "boolean": (bool,)},
    **{"integer": (int,), "number": (int, float)},
}
#: From where to where a number may be.
RANGES = {
    "max_tokens": (1, 2**31 - 1),
    "temperature": (0, 100),
    "top_p": (0, 1),
    "seed": (-(2**63), 2**64 - 1),
}
#: Names that the handler knows; all others are variables of the template.
RESERVED = {*signature(ChatHandler.__call__).parameters, *SAMPLING, *REFUSED}
#: What a message or a tool that isn't as the API has it may raise on the way to the model.
MALFORMED = (jinja2.TemplateError, LookupError, AttributeError, TypeError, ValueError)


def read_fields(body: Any) -> Json:
    """Return what the handler is to be given of a request."""
    _check(isinstance(body, dict), "the body has to be a JSON object")
    _check(body.get("n") in (None, 1), "n has to be 1: there is one answer at a time")
    given = {**body, "max_tokens": body.get("max_completion_tokens") or body.get("max_tokens")}
    fields = {name: given[name] for name in FIELDS if given.get(name) is not None}
    for name, value in fields.items():
        is_right = any(_is(value, kind) for kind in FIELDS[name])
        _check(is_right, f"{name} has to be of the type {' or '.join(FIELDS[name])}")
    _check(bool(fields.get("messages")), "there have to be messages")
    for name, (least, most) in RANGES.items():
        is_within = least <= fields.get(name, least) <= most  # as NaN never is
        _check(is_within, f"{name} has to be from {least} to {most}")
    _check_stops(fields.get("stop", ()))
    variables = body.get("chat_template_kwargs") or {}
    _check(isinstance(variables, dict), "chat_template_kwargs has to be an object")
    clash = variables.keys() & RESERVED
    _check(not clash, f"chat_template_kwargs can't hold {', '.join(sorted(clash))}")
    return {"temperature": 0.6, **fields, **variables}


def _check_stops(given: Any) -> None:
    stops = [given] if isinstance(given, str) else given
    are_texts = all(isinstance(stop, str) and len(stop) <= LONGEST_STOP for stop in stops)
    message = f"stop has to be {MOST_STOPS} texts of {LONGEST_STOP} characters at most"
    _check(len(stops) <= MOST_STOPS and are_texts, message)


def _is(value: Any, kind: str) -> bool:
    return isinstance(value, TYPES[kind]) and isinstance(value, bool) == (kind == "boolean")


async def begun(answer: Answer, fields: Json) -> Generator[Json, None, None]:
    """Return the chunks of an answer, or refuse the request."""
    try:
        return await run_in_threadpool(answer, **fields, stream=True)
    except RecursionError as error:
        raise HTTPException(400, "the request is nested too deeply") from error
    except MALFORMED as error:
        told = str(error) if type(error) is ValueError else repr(error)
        raise HTTPException(400, f"this can't be answered: {told}") from error


def create_app(answer: Answer, hosts: Collection[str] = HOSTS) -> Starlette:
    """Return the server for a model, which writes one turn at a time; ``hosts`` are its names.

    A request waits for no other one's grammar, only for what the model writes.
    """
    lock = asyncio.Lock()

    async def chunks(fields: Json) -> AsyncGenerator[Json]:
        """Yield what the model writes, and let it stop when nobody waits any more."""
        source = await begun(answer, fields)
        try:
            async with lock:
                async for chunk in iterate_in_threadpool(source):
                    yield chunk
        finally:
            source.close()

    async def complete(request: Request) -> Response:
        check_sender(request, hosts)
        body = await read_body(request)
        found = chunks(read_fields(body))
        told = [await anext(found)]  # a request that can't be met is refused by now
        if body.get("stream"):
            return StreamingResponse(_events(told[0], found), media_type="text/event-stream")
        async with aclosing(found):
            async for chunk in found:
                told.append(chunk)
                if await request.is_disconnected():
                    break
        return JSONResponse(whole(told))

    def refuse(_: Request, error: Any) -> Response:
        problem = {"message": error.detail, "type": "invalid_request_error"}
        return JSONResponse({"error": problem}, error.status_code)

    route = Route("/v1/chat/completions", complete, methods=["POST"])
    return Starlette(routes=[route], exception_handlers={HTTPException: refuse})


def whole(chunks: list[Json]) -> Json:
    """Return the chunks of an answer in one piece."""
    message: Json = {"role": "assistant", "content": None}
    for delta in (chunk["choices"][0]["delta"] for chunk in chunks):
        for key in ("content", "reasoning_content"):
            if key in delta:
                message[key] = (message.get(key) or "") + delta[key]
        for call in delta.get("tool_calls", ()):
            _add_call(message.setdefault("tool_calls", []), call)
    reason = chunks[-1]["choices"][0]["finish_reason"]
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return {**chunks[-1], "object": "chat.completion", "choices": [choice]}


def _add_call(calls: list[Json], delta: Json) -> None:
    """Add a delta to the call that it is about."""
    if delta["index"] == len(calls):
        known = {"id": delta["id"], "type": "function"}
        calls.append({**known, "function": {"name": "", "arguments": ""}})
    for key, text in delta.get("function", {}).items():
        calls[delta["index"]]["function"][key] += text


async def _events(first: Json, others: AsyncGenerator[Json]) -> AsyncGenerator[str]:
    """Yield chunks as server-sent events."""
    async with aclosing(others):
        yield f"data: {json.dumps(first)}\n\n"
        async for chunk in others:
            yield f"data: {json.dumps(chunk)}\n\n"
    yield "data: [DONE]\n\n"


def check_sender(request: Request, hosts: Collection[str]) -> None:
    """Refuse what a page of another site sends, or what came here by another site's name."""
    host, origins = request.headers.get("host", ""), request.headers.getlist("origin")
    _check(re.sub(r":\d+$", "", host) in hosts, f"this server isn't {host!r}", 403)
    own: tuple[list[str], ...] = ([], [f"http://{host}"], [f"https://{host}"])
    _check(origins in own, f"pages of {' and '.join(map(repr, origins))} may not ask", 403)


async def read_body(request: Request) -> Any:
    """Return what a request holds, read no further than it may go."""
    body = bytearray()
    try:
        async for piece in request.stream():
            body += piece
            _check(len(body) <= LONGEST_BODY, f"the body has more than {LONGEST_BODY} bytes", 413)
    except ClientDisconnect as error:  # nobody is there to read this, but the log stays clear
        raise HTTPException(400, "the body breaks off") from error
    try:
        return json.loads(body, parse_constant=_no_constant)
    except RecursionError as error:
        raise HTTPException(400, "the body is nested too deeply") from error
    except ValueError as error:
        raise HTTPException(400, f"the body isn't JSON: {error}") from error


def _no_constant(word: str) -> None:
    raise ValueError(f"there is no {word} in it")


def _check(is_right: bool, message: str, status: int = 400) -> None:
    if not is_right:
        raise HTTPException(status, message)


def load(path: Path, context_size: int) -> Answer:
    """Return what answers with a file's model; end the program if that is of another format."""
    llama = llama_cpp.Llama(str(path), n_ctx=context_size, verbose=False)
    answer: Any = partial(
        ChatHandler(binding_seconds=BINDING_SECONDS), llama=llama, model=path.stem
    )
    try:
        answer(messages=[{"role": "user", "content": "Hello"}], stream=True).close()
    except ValueError as error:
        raise SystemExit(f"error: {path}: {error}") from error
    found: Answer = answer
    return found


def main() -> None:
    """Serve a model."""
    parser = argparse.ArgumentParser(description=f"A chat-completions server, for {NAME}.")
    parser.add_argument("model", type=Path, help="the GGUF file")
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--context", type=int, default=8192, help="tokens of prompt and answer")
    by = "another name that requests may come by"
    parser.add_argument("--allow-host", action="append", default=[*HOSTS], metavar="NAME", help=by)
    given = parser.parse_args()
    if not given.model.is_file():
        parser.error(f"{given.model}: there is no such file")
    uvicorn.run(create_app(load(given.model, given.context), given.allow_host), port=given.port)


if __name__ == "__main__":
    main()
