"""The example server, started on loopback, with a model that plays back what a test says."""

from __future__ import annotations

import importlib
import sys
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import uvicorn
from openai import OpenAI

from tests.conftest import ROOT
from tests.generated_formats import committed_format
from turnspec.spec.naming import module_name

FOLDER = ROOT / "examples/chat_server"
FORMAT = "qwen-qwen3-0-6b"
_SECONDS = 20


@dataclass
class ScriptedModel:
    """Answers with given pieces, as the handler does, and keeps what it was asked."""

    pieces: Sequence[str]
    asked: list[dict[str, Any]] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)

    def __call__(self, **request: Any) -> Generator[dict[str, Any], None, None]:
        self.asked.append(request)
        return self._chunks()

    def write(self) -> Iterator[str]:
        yield from self.pieces

    def _chunks(self) -> Generator[dict[str, Any], None, None]:
        parser = committed_format(FORMAT).module.Parser()
        try:
            yield _chunk({"role": "assistant"})
            for piece in self.write():
                yield from map(_chunk, filter(None, (e.to_delta() for e in parser.feed(piece))))
            yield from map(_chunk, filter(None, (e.to_delta() for e in parser.finish())))
            yield _chunk({}, parser.message.finish_reason)
        finally:
            self.stopped.set()


@dataclass
class EndlessModel(ScriptedModel):
    """A model that writes until it is stopped; ``written`` counts its tokens."""

    written: int = 0

    def write(self) -> Iterator[str]:
        while not self.stopped.wait(0.001):
            self.written += 1
            yield self.pieces[self.written % len(self.pieces)]


def _chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    head = {"id": "chatcmpl-1", "created": 1, "model": "scripted"}
    return {**head, "object": "chat.completion.chunk", "choices": [choice]}


@contextmanager
def server_module() -> Iterator[ModuleType]:
    """Import the example as Python does when it runs the file: from its own folder."""
    sys.path.insert(0, str(FOLDER))
    try:
        yield importlib.import_module("server")
    finally:
        sys.path.remove(str(FOLDER))
        handler = f"{module_name(FORMAT)}_llama_cpp_python"
        for name in ("server", module_name(FORMAT), handler):
            sys.modules.pop(name, None)


@contextmanager
def serving(app: Any) -> Iterator[str]:
    """Serve an application on loopback and return the address of its API."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", ws="none"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        deadline = time.monotonic() + _SECONDS
        while not server.started:
            assert time.monotonic() < deadline, "the server doesn't start"
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.should_exit = True
        thread.join(_SECONDS)


@contextmanager
def client_of(address: str) -> Iterator[OpenAI]:
    """Lend an official client that tries once."""
    with OpenAI(base_url=address, api_key="none", max_retries=0, timeout=_SECONDS) as client:
        yield client
