"""A completions endpoint that plays a text back as a stream of pieces, and serves files."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


@dataclass
class Replay:
    """What is written, and what was asked; ``failure`` is told behind the pieces, or at once."""

    pieces: Sequence[str]
    failure: str = ""
    status: int = 200
    bytes_at_once: int = 7
    line_end: str = "\r\n"
    indent: int | None = None  # of JSON: with it an event has several lines of data
    asked: list[dict[str, Any]] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        yield ": a comment\r\n\r\n"
        for piece in self.pieces:
            yield self._event({"choices": [{"text": piece}]})
        if self.failure:
            yield self._event({"error": {"message": self.failure}})
        yield "data: [DONE]\n\n"

    def _event(self, data: Any) -> str:
        text = json.dumps(data, ensure_ascii=False, indent=self.indent)
        return "".join(f"data: {line}{self.line_end}" for line in text.split("\n")) + self.line_end


class _Handler(SimpleHTTPRequestHandler):
    def __init__(self, replay: Replay, *given: Any, **options: Any) -> None:
        self.replay = replay
        super().__init__(*given, **options)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        self.replay.asked.append(json.loads(self.rfile.read(length)))
        self.send_response(self.replay.status)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        if self.replay.status != 200:
            self.wfile.write(self.replay.failure.encode())
            return
        # Cut without regard to lines and characters, as networks do.
        body, size = "".join(self.replay.lines()).encode(), self.replay.bytes_at_once
        for at in range(0, len(body), size):
            self.wfile.write(body[at : at + size])
            self.wfile.flush()


@contextmanager
def replaying(replay: Replay, files: Path) -> Iterator[str]:
    """Serve a replay, and a folder's files; the value is the server's address."""
    handler = partial(_Handler, replay, directory=str(files))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
