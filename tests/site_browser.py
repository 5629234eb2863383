"""The site in a real browser: `make site-browser`. Needs Chromium and its driver, and a site in build/site.

Writes screenshots to build/, light and dark, wide and as on a phone, for a person to look at.
"""

from __future__ import annotations

import functools
import json
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.browser import PHONE, WIDE, Browser, check, new_browser
from tests.generated_formats import ROOT
from turnspec.pipeline.folder import analyze_into

SITE = ROOT / "build/site"
#: Of different classes: tags around JSON, tagged values, calls with ids, a call in code, no calls.
TEMPLATES = (
    "json-in-tags",
    "tagged-parameters",
    "json-array-with-ids",
    "python-calls",
    "reasoning-block",
)
#: In seconds: what is promised on a machine that does nothing else is shown, this is only kept.
PATIENCE = 180


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
    times: dict[str, tuple[float, float]] = field(default_factory=dict)

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

    def show(self, tab: str) -> None:
        self.click(f"#tab-{tab}")

    def ready(self) -> None:
        self.wait("document.querySelector('#status').textContent === 'Ready.'", "Python is loaded")

    def finished(self) -> None:
        idle = "!document.body.hasAttribute('data-running')"
        self.wait(f"{idle} && / after |Ended|took /.test({_STATUS})", "an analysis ends")

    def analyse(self, name: str, text: str) -> str:
        """Have a template analysed, and return what is said of it."""
        self.put("[name=name]", name)
        self.put("#template", text)
        self.run("document.querySelector('#status').textContent = ''")
        start = time.monotonic()
        self.click("[name=go]")
        self.wait("document.querySelector('#step-spec.done') || !document.body.hasAttribute('data-running')", "a spec")
        spec = time.monotonic() - start
        self.finished()
        self.times[name] = (spec, time.monotonic() - start)
        return self.text("#status")


_STATUS = "document.querySelector('#status').textContent"


def native(path: Path) -> dict[str, str]:
    """Return the files that `turnspec analyze` makes of a template."""
    done = analyze_into([path], None)
    return dict(done.builds[0].files)


def check_templates(page: Playground) -> None:
    """Five templates of different classes, end to end: as natively, to the byte."""
    for name in TEMPLATES:
        path = ROOT / f"tests/templates/{name}.jinja"
        told = page.analyse(path.name, path.read_text("utf-8"))
        check("verified" in told and "not verified" not in told, f"{told}")
        files = native(path)
        shown = {kind: page.text(f"#panel-{kind} > pre") for kind in ("spec", "parser", "grammar")}
        check(shown["spec"] == next(iter(files.values())), f"the spec of {name} is as natively")
        check("def parse(" in shown["parser"], "a parser is there")
        check("root ::=" in shown["grammar"], "a grammar is there")
        check(page.run("return document.querySelectorAll('#panel-proof tbody tr').length") == 6, "six rungs")
        check(page.run("return document.querySelectorAll('.samples .turn span').length"), "samples in colour")


def main() -> None:
    """Check the site, and take its pictures."""
    if not (SITE / "playground/index.html").exists():
        sys.exit("there is no site: make site")
    with serving(SITE) as server, new_browser() as browser:
        browser.looks(WIDE, "light")
        page = Playground(browser, server.address)
        start = time.monotonic()
        page.open()
        page.ready()
        loaded = sum(size for _, size in server.sent)
        check(loaded <= 20e6, f"the first load is {loaded / 1e6:.1f} MB, {time.monotonic() - start:.1f} s")
        check_templates(page)
        print(json.dumps(page.times))
        print(browser.errors())


if __name__ == "__main__":
    main()
