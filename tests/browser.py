"""A browser for tests: Chromium, over the protocol of its driver."""

from __future__ import annotations

import base64
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.error import URLError
from urllib.request import ProxyHandler, Request, build_opener

from tests.generated_formats import ROOT

BUILD = ROOT / "build"
WIDE, PHONE = (1280, 900), (390, 844)
_FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync --hide-scrollbars"
)
_KEYS = {"tab": "\ue004", "enter": "\ue007", "left": "\ue012", "right": "\ue014"}
_OPENER = build_opener(ProxyHandler({}))


@dataclass(frozen=True, slots=True)
class Browser:
    """A session of a browser, over the protocol of its driver."""

    session: str

    def ask(self, path: str, data: object = None, method: str = "POST") -> Any:
        body = json.dumps(data if data is not None else {}).encode() if method == "POST" else None
        return request(f"{self.session}{path}", body, method)

    def open(self, address: str) -> None:
        self.ask("/url", {"url": "about:blank"})
        self.ask("/url", {"url": address})

    def run(self, script: str, *arguments: object) -> Any:
        return self.ask("/execute/sync", {"script": script, "args": list(arguments)})

    def devtools(self, command: str, **parameters: object) -> None:
        self.ask("/goog/cdp/execute", {"cmd": command, "params": parameters})

    def looks(self, size: tuple[int, int], scheme: str) -> None:
        """Give the window a size, and the person a taste for light or dark."""
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            width=size[0],
            height=size[1],
            deviceScaleFactor=1,
            mobile=size == PHONE,
        )
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.devtools("Emulation.setEmulatedMedia", features=[feature])

    def press(self, *keys: str) -> None:
        actions = [
            {"type": kind, "value": _KEYS.get(key, key)}
            for key in keys
            for kind in ("keyDown", "keyUp")
        ]
        self.ask("/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def screenshot(self, name: str) -> None:
        BUILD.mkdir(exist_ok=True)
        image = self.ask("/screenshot", method="GET")
        (BUILD / f"{name}.png").write_bytes(base64.b64decode(image))

    def errors(self) -> list[str]:
        return [str(entry["message"]) for entry in self.ask("/se/log", {"type": "browser"})]


def request(address: str, body: bytes | None, method: str) -> Any:
    headers = {"Content-Type": "application/json"}
    with _OPENER.open(Request(address, body, headers, method=method), timeout=60) as answer:
        return json.loads(answer.read())["value"]


@contextmanager
def new_browser() -> Iterator[Browser]:
    """Start a browser with a profile of its own."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if chromium is None or driver is None:
        sys.exit("chromium and chromedriver are needed: apt-get install chromium chromium-driver")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([driver, f"--port={port}"], stdout=subprocess.DEVNULL)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = {
            "binary": chromium,
            "args": [*_FLAGS.split(), f"--user-data-dir={profile}"],
        }
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        base = f"http://127.0.0.1:{port}"
        session = ""
        try:
            wait_for(base)
            body = json.dumps({"capabilities": {"alwaysMatch": wanted}}).encode()
            found = request(f"{base}/session", body, "POST")["sessionId"]
            session = f"{base}/session/{found}"
            yield Browser(session)
        finally:
            if session:  # or the browser would outlive its driver
                request(session, None, "DELETE")
            process.terminate()
            process.wait()


def wait_for(base: str) -> None:
    for _ in range(100):
        try:
            request(f"{base}/status", None, "GET")
        except URLError:
            time.sleep(0.1)
        else:
            return
    sys.exit("the browser's driver doesn't answer")


def check(holds: object, what: str) -> None:
    if not holds:
        sys.exit(f"failed: {what}")
    print(f"ok: {what}")


def wait_until(browser: Browser, script: str, what: str) -> None:
    for _ in range(50):
        if browser.run(f"return Boolean({script})"):
            return
        time.sleep(0.1)
    sys.exit(f"failed: {what}")
