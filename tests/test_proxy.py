"""examples/proxy, as it is run: between a server of completions and a client of chats."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

import pytest

from tests.generated_formats import ROOT

PROXY = ROOT / "examples/proxy/proxy.py"
TEMPLATE = ROOT / "tests/templates/unseen-arguments-into.jinja"
TOOLS = [{"type": "function", "function": {"name": "get_weather", "parameters": {}}}]
CALL = '<|do|><|put|>{"city": "Rome"}<|into|>get_weather<|as|>a1<|/put|><|/do|><|/ai|>'


class Upstream(BaseHTTPRequestHandler):
    """Calls a tool if the prompt speaks of it; special tokens are left out unless asked for."""

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = CALL if "get_weather" in asked["prompt"] else "Hel"
        assert asked["skip_special_tokens"] is False
        reason = "stop" if text == CALL else "length"
        self.send_response(200)
        self.end_headers()
        self.wfile.write(
            json.dumps({"choices": [{"text": text, "finish_reason": reason}]}).encode()
        )


def test_it_makes_chat_completions_of_completions() -> None:
    assert len([line for line in PROXY.read_text("utf-8").splitlines() if line]) <= 30
    with ThreadingHTTPServer(("127.0.0.1", 0), Upstream) as upstream:
        threading.Thread(target=upstream.serve_forever, daemon=True).start()
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        url = f"http://127.0.0.1:{upstream.server_port}/v1/completions"
        command = [sys.executable, str(PROXY), str(TEMPLATE), url, str(port)]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as proxy:
            called, cut = answer(port, tools=TOOLS), answer(port)
            proxy.kill()
        upstream.shutdown()
        upstream.server_close()
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as proxy:
            with pytest.raises(HTTPError, match=f"502: {url}: .*refused"):
                answer(port)
            proxy.kill()
    (call,) = called["message"]["tool_calls"]
    assert (call["id"], call["function"]["arguments"]) == ("a1", '{"city": "Rome"}')
    assert called["finish_reason"] == "tool_calls"
    assert "Hel" in cut["message"].values()
    assert cut["finish_reason"] == "length"


def test_without_arguments_it_says_which() -> None:
    done = subprocess.run([sys.executable, str(PROXY)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "usage: python proxy.py MODEL.gguf URL PORT\n")


def answer(port: int, **asked: object) -> dict[str, Any]:
    """Return the one choice that is answered to a question, once the proxy listens."""
    body = json.dumps({"messages": [{"role": "user", "content": "Hi"}], **asked}).encode()
    for _ in range(200):
        try:
            with urlopen(f"http://127.0.0.1:{port}/v1/chat/completions", body) as response:
                found: dict[str, Any]
                (found,) = json.load(response)["choices"]
                return found
        except HTTPError:
            raise
        except URLError:
            time.sleep(0.1)
    raise AssertionError("the proxy doesn't listen")
