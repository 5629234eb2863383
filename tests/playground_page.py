"""The playground as a person uses it, for tests in a browser; and a server for it."""

from __future__ import annotations

import functools
import re
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.browser import Browser

#: In seconds: what is promised on a machine that does nothing else is shown, this is only kept.
PATIENCE = 100


STATUS = "document.querySelector('#status').textContent"
IDLE = "!document.body.hasAttribute('data-running')"
MESSAGE = "document.querySelector('#panel-parse > pre').textContent"


class _Handler(SimpleHTTPRequestHandler):
    """Serves files, counts what it sends, and says nothing."""

    def log_message(self, format: str, *args: object) -> None:
        pass

    def copyfile(self, source: object, outputfile: object) -> None:
        assert isinstance(self.server, _Server)
        self.server.sent.append((self.path, Path(self.translate_path(self.path)).stat().st_size))
        super().copyfile(source, outputfile)  # type: ignore[arg-type]


class _Server(ThreadingHTTPServer):
    """A server with what it has sent: paths and sizes."""

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), functools.partial(_Handler, directory=str(folder)))
        self.sent: list[tuple[str, int]] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


@contextmanager
def serving(folder: Path) -> Iterator[_Server]:
    """Serve a folder on this machine."""
    server = _Server(folder)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


@dataclass(slots=True)
class Playground:
    """The page, as a person uses it."""

    browser: Browser
    address: str
    times: dict[str, tuple[str, str]] = field(default_factory=dict)

    def open(self, fragment: str = "") -> None:
        self.browser.open(f"{self.address}/playground/index.html{fragment}")

    def run(self, script: str, *arguments: object) -> object:
        return self.browser.run(script, *arguments)

    def wait(self, condition: str, what: str) -> None:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if self.run(f"return Boolean({condition})"):
                return
            time.sleep(0.1)
        sys.exit(f"failed: {what}: {self.text('#status')}; {self.browser.errors()}")

    def text(self, selector: str) -> str:
        script = "return document.querySelector(arguments[0]).textContent"
        return str(self.run(script, selector))

    def put(self, selector: str, value: str) -> None:
        self.run(
            "const field = document.querySelector(arguments[0]); field.value = arguments[1];"
            "field.dispatchEvent(new Event('input', {bubbles: true}));"
            "field.dispatchEvent(new Event('change', {bubbles: true}))",
            selector,
            value,
        )

    def click(self, selector: str) -> None:
        self.run("document.querySelector(arguments[0]).click()", selector)

    def count(self, selector: str) -> int:
        return int(str(self.run("return document.querySelectorAll(arguments[0]).length", selector)))

    def show(self, tab: str) -> None:
        self.click(f"#tab-{tab}")

    def ready(self) -> None:
        self.wait("document.querySelector('#status').textContent === 'Ready.'", "Python is loaded")

    def finished(self) -> None:
        self.wait(f"{IDLE} && / after |Ended|took /.test({STATUS})", "an analysis ends")

    def analyse(self, name: str, text: str) -> str:
        """Have a template analysed, and return what is said of it."""
        self.put("[name=name]", name)
        self.put("#template", text)
        self.run("document.querySelector('#status').textContent = ''")
        self.run("document.querySelector('#steps').replaceChildren()")
        self.click("[name=go]")
        self.wait(f"!{IDLE} || {STATUS} !== ''", "an analysis begins")
        self.finished()
        told = self.text("#status")
        seconds = re.findall(r"after ([0-9.]+) s", self.text("#steps") + told)
        if len(seconds) == 2:
            self.times.setdefault(name, (seconds[0], seconds[1]))
        return told
