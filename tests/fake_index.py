"""A package index on this machine that can break off, lie and refuse, for the tests of fetching."""

from __future__ import annotations

import contextlib
import hashlib
import io
import random
import tarfile
import threading
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from turnspec.sources.index import Origin

FILE = "pack-1.0.tar.gz"
WHEEL = "pack-1.0-py3-none-any.whl"
MOST_SENT = 500_000_000
TEMPLATES = {"One.jinja": "one {{ messages }}\n", "Two.jinja": "two\r\n{{ messages }} ｜é"}


@dataclass
class FakeIndex:
    """What the index answers, request by request, and what it was asked.

    ``bodies``: what the next requests for the file get; the last one is repeated.
    ``break_offs``: after how many bytes the connection of the next requests ends.
    ``others`` are more files, which are told with their hashes.
    ``endless``: whether files never end; ``sent`` counts the bytes that go on behind them.
    """

    bodies: list[bytes]
    break_offs: list[int] = field(default_factory=list)
    resumable: bool = True
    file: str = FILE
    ranges: list[str | None] = field(default_factory=list)
    url: str = ""
    endless: bool = False
    sent: int = 0
    others: dict[str, bytes] = field(default_factory=dict)

    def next_body(self) -> bytes:
        return self.bodies.pop(0) if len(self.bodies) > 1 else self.bodies[0]


def sdist_of(templates: Mapping[str, str]) -> bytes:
    """Return an sdist with the templates, and with padding that doesn't compress."""
    padding = random.Random(7).randbytes(300_000)
    files = {f"templates/{name}": text.encode() for name, text in templates.items()}
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for path, data in {"padding": padding, **files}.items():
            member = tarfile.TarInfo(f"pack-1.0/{path}")
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def wheel_of(files: Mapping[str, str]) -> bytes:
    """Return a wheel with some files, by path."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
    return buffer.getvalue()


def origin_of(package: bytes, file: str = FILE) -> Origin:
    """Return how an index pins a package."""
    kind = "pypi-sdist" if file == FILE else "pypi-wheel"
    sha256 = hashlib.sha256(package).hexdigest()
    return Origin("pack", kind, "pack", "1.0", file, sha256, len(package))


@contextlib.contextmanager
def serving(index: FakeIndex) -> Iterator[FakeIndex]:
    """Serve the index on a free port for as long as the context lasts; sets its ``url``."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/simple/pack/":
                hashes = {name: hashlib.sha256(b).hexdigest() for name, b in index.others.items()}
                links = [f"{name}#sha256={value}" for name, value in hashes.items()]
                rows = [f'<a href="/files/{x}">{x.partition("#")[0]}</a>' for x in links]
                page = f'<a href="/files/{index.file}">{index.file}</a>{"".join(rows)}'.encode()
                self.answer(200, page, len(page), "text/html")
            elif self.path == f"/files/{index.file}":
                self.send_file()
            elif (other := index.others.get(self.path.removeprefix("/files/"))) is not None:
                self.answer(200, other, len(other), "application/octet-stream")
            else:
                self.answer(404, b"", 0, "text/html")

        def do_HEAD(self) -> None:
            self.do_GET()

        def send_file(self) -> None:
            body, wanted = index.next_body(), self.headers["Range"]
            index.ranges.append(wanted)
            status = 200
            if wanted and index.resumable:
                start = int(wanted.removeprefix("bytes=").removesuffix("-"))
                status, body = (206, body[start:]) if start < len(body) else (416, b"")
            cut = index.break_offs.pop(0) if index.break_offs else len(body)
            self.answer(status, body[:cut], len(body), "application/gzip")

        def go_on(self, more: bytes = b"x" * 2**16) -> None:
            with contextlib.suppress(OSError):  # until nobody listens any more
                while index.sent < MOST_SENT:
                    self.wfile.write(more)
                    index.sent += len(more)

        def answer(self, status: int, body: bytes, announced: int, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            if not (index.endless and kind == "application/gzip"):
                self.send_header("Content-Length", str(announced))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)
            if index.endless and kind == "application/gzip":
                self.go_on()

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        index.url = f"http://127.0.0.1:{server.server_address[1]}/simple/"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield index
        finally:
            server.shutdown()
            thread.join()
