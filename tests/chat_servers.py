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

FOLDER = ROOT / "examples/chat_server"
_SECONDS = 20


@dataclass
class ScriptedModel:
    """A model that writes given pieces, and keeps what it was asked."""

    pieces: Sequence[str]
    name: str = "scripted"
    context_size: int = 1000
    asked: list[dict[str, Any]] = field(default_factory=list)
    orders: list[Any] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)

    def prompt(self, messages: list[Any], tools: list[Any], variables: dict[str, Any]) -> list[int]:
        self.asked.append({"messages": messages, "tools": tools, "variables": variables})
        return list(range(sum(len(message["content"]) for message in messages)))

    def write(self, order: Any) -> Generator[str, None, None]:
        self.orders.append(order)
        try:
            yield from self.pieces[: order.limit]
        finally:
            self.stopped.set()


@dataclass
class EndlessModel(ScriptedModel):
    """A model that writes until it is stopped; ``written`` counts its tokens."""

    written: int = 0

    def write(self, order: Any) -> Generator[str, None, None]:
        self.orders.append(order)
        try:
            while not self.stopped.wait(0.001):
                self.written += 1
                yield self.pieces[self.written % len(self.pieces)]
        finally:
            self.stopped.set()


@contextmanager
def server_module() -> Iterator[ModuleType]:
    """Import the example as Python does when it runs the file: from its own folder."""
    sys.path.insert(0, str(FOLDER))
    try:
        yield importlib.import_module("server")
    finally:
        sys.path.remove(str(FOLDER))
        for name in ("server", "qwen_qwen3_0_6b"):
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
