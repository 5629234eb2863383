"""examples/proxy: what it answers, and what it says to requests that are none."""

from __future__ import annotations

import json
import runpy
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Any

import pytest

from tests.generated_formats import ROOT, committed_format


class Upstream(BaseHTTPRequestHandler):
    """Writes the same to whatever prompt."""

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        answer = {"choices": [{"text": "Hello.<|im_end|>", "finish_reason": "stop"}]}
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())


def rendered(messages: Any, tools: Any) -> SimpleNamespace:
    assert messages[0]["content"]
    return SimpleNamespace(text="Hi", prefill=None)


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    proxy = runpy.run_path(str(ROOT / "examples/proxy/proxy.py"))
    handler: Any = proxy["Proxy"]
    silent = type("Silent", (handler,), {"log_message": Upstream.log_message})
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), made) for made in (Upstream, silent)]
    handler.do_POST.__globals__.update(
        chat=SimpleNamespace(render=rendered),
        fmt=committed_format("qwen-qwen3-0-6b").module,
        upstream=f"http://127.0.0.1:{servers[0].server_port}/",
    )
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    yield servers[1].server_port
    for server in servers:
        server.shutdown()
        server.server_close()


def answer(port: int, body: str, head: str = "") -> str:
    head = head or f"Content-Length: {len(body)}\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(f"POST / HTTP/1.1\r\n{head}\r\n{body}".encode())
        with connection.makefile("r") as told:
            return told.read()


ASKED = json.dumps({"messages": [{"role": "user", "content": "Hi"}]})


def test_it_answers(port: int) -> None:
    told = json.loads(answer(port, ASKED).partition("\n\n")[2])
    assert told["choices"][0]["message"]["content"] == "Hello."


@pytest.mark.parametrize(
    ("body", "head"),
    [
        ("{", ""),
        ("[]", ""),
        ("[" * 100_000, ""),
        ('{"messages": 5}', ""),
        (ASKED, "Content-Length: -1\r\n"),
        (ASKED, f"Content-Length: {'9' * 5000}\r\n"),
        (ASKED, "X: no length\r\n"),
        (ASKED, f"Content-Length: {len(ASKED)}\r\nOrigin: http://other.example\r\n"),
    ],
    ids=["cut off", "a list", "deep", "no messages", "negative", "digits", "no length", "a page"],
)
def test_it_refuses(port: int, body: str, head: str) -> None:
    assert answer(port, body, head).startswith("HTTP/1.0 400 Bad Request\n")


def test_nobody_waits_for_a_slow_request(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n{")
        assert "Hello." in answer(port, ASKED)
