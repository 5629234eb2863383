"""The page in a real browser: `make report-browser`. Needs Chromium and its driver.

Writes screenshots to build/, light and dark, wide and as on a phone, for a person to look at.
"""

from __future__ import annotations

import base64
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import ProxyHandler, Request, build_opener

from tests.generated_formats import ROOT
from turnspec.pipeline.project import Project
from turnspec.report.entries import read_entries
from turnspec.report.page import render_page
from turnspec.report.server import ReportServer, Site

BUILD = ROOT / "build"
WIDE, PHONE = (1280, 900), (390, 844)
NAME = "glm-4-6"
_FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync --hide-scrollbars"
)
_KEYS = {"tab": "\ue004", "enter": "\ue007"}
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


def shown_rows(browser: Browser) -> int:
    rows = "[...document.querySelectorAll('.index tbody tr')]"
    return int(browser.run(f"return {rows}.filter(row => row.offsetHeight).length"))


def check_filters(browser: Browser, total: int) -> None:
    check(shown_rows(browser) == total, f"all {total} formats are shown")
    browser.run(
        "const f = document.getElementById('filters').elements; f.calls.value = arguments[0];"
        "f.calls.dispatchEvent(new Event('input', {bubbles: true}))",
        "TAG_WITH_TAGGED",
    )
    tagged = shown_rows(browser)
    count = browser.run("return document.getElementById('count').textContent")
    check(0 < tagged < total and count == f"{tagged} of {total} shown", f"a filter: {count}")
    browser.run("document.querySelector('#filters button').click()")
    time.sleep(0.2)
    check(shown_rows(browser) == total, "all are shown again")


def check_keyboard(browser: Browser) -> None:
    browser.run("document.querySelector('.index a').focus()")
    browser.press("enter")
    time.sleep(0.3)
    script = "const a = document.activeElement; return a.tagName + ' ' + a.parentElement.open"
    check(browser.run(script) == "SUMMARY true", "the enter key on a link opens its format")
    browser.press("enter")
    check(browser.run(script) == "SUMMARY false", "the enter key closes it")
    seen = set()
    browser.run("document.querySelector('.skip').focus()")
    for _ in range(8):
        browser.press("tab")
        seen.add(
            browser.run("return document.activeElement.name || document.activeElement.tagName")
        )
    check({"name", "calls", "reasoning", "values", "verified"} <= seen, "filters by the tab key")


def check_widths(browser: Browser) -> None:
    for size in (WIDE, PHONE, (320, 700)):
        browser.looks(size, "light")
        browser.run(
            "document.querySelectorAll('article > details').forEach(d => { d.open = true })"
        )
        excess = browser.run(
            "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        check(excess <= 0, f"nothing sticks out at {size[0]} pixels, all formats open")
        browser.run(
            "document.querySelectorAll('article > details').forEach(d => { d.open = false })"
        )


def check_box(browser: Browser) -> None:
    """Parse an example through the page, and hostile text."""
    browser.run(f"location.hash = 't-{NAME}'")
    time.sleep(0.3)
    form = f"document.querySelector('form.try[data-name=\"{NAME}\"]')"
    browser.run(f"{form}.querySelector('.example').click(); {form}.requestSubmit()")
    result = result_of(browser, form)
    check('"days\\": 3}' in result and "No problems" in result, "an example is parsed")
    browser.run(f"{form}.elements.text.value = arguments[0]; {form}.requestSubmit()", "<b>Hi")
    check('"content": "<b>Hi"' in result_of(browser, form), "markup in an output stays text")
    browser.run(f"{form}.elements.tools.value = '['; {form}.requestSubmit()")
    check("tools: not JSON" in result_of(browser, form), "tools that aren't JSON are told")
    browser.run(f"{form}.querySelector('.example').click(); {form}.requestSubmit()")
    result_of(browser, form)


def result_of(browser: Browser, form: str) -> str:
    time.sleep(0.2)
    for _ in range(50):
        text = str(browser.run(f"return {form}.querySelector('.result').innerText"))
        if text and "parsing" not in text:
            return text
        time.sleep(0.1)
    sys.exit("failed: no answer in the page")


def take_screenshots(browser: Browser, where: str) -> None:
    for scheme in ("light", "dark"):
        for kind, size in (("wide", WIDE), ("phone", PHONE)):
            browser.looks(size, scheme)
            browser.run("window.scrollTo(0, 0)")
            browser.screenshot(f"report-{where}index-{kind}-{scheme}")
            browser.run(f"document.getElementById('t-{NAME}').scrollIntoView()")
            time.sleep(0.2)
            browser.screenshot(f"report-{where}format-{kind}-{scheme}")


def main() -> None:
    """Check the file and the served page, and take their pictures."""
    entries, problems = read_entries(Project(ROOT))
    check(not problems, "all specs can be read")
    server = ReportServer(Site.of(entries), 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder, new_browser() as browser:
        path = Path(folder) / "report.html"
        path.write_text(render_page(entries), encoding="utf-8")
        browser.looks(WIDE, "light")
        browser.open(path.as_uri())
        check_filters(browser, len(entries))
        check_keyboard(browser)
        check_widths(browser)
        browser.open(f"{path.as_uri()}#t-{NAME}")
        take_screenshots(browser, "")
        browser.looks(WIDE, "light")
        browser.open(server.address)
        check_box(browser)
        browser.run(f"document.querySelector('form.try[data-name=\"{NAME}\"]').scrollIntoView()")
        time.sleep(0.2)
        browser.screenshot("report-box-wide-light")
        browser.looks(PHONE, "dark")
        browser.run(f"document.querySelector('form.try[data-name=\"{NAME}\"]').scrollIntoView()")
        time.sleep(0.2)
        browser.screenshot("report-box-phone-dark")
        errors = [text for text in browser.errors() if "400 (Bad Request)" not in text]
        check(not errors, f"the browser tells of no errors {errors or ''}")
    server.shutdown()
    print(f"pictures: {BUILD}/report-*.png")


if __name__ == "__main__":
    main()
