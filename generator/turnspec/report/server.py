"""The page on this machine alone, with an answer to what is pasted into its boxes.

The server listens on the loopback interface. It knows two paths, reads no file on request, and
answers only requests that say they are for it, so that no other site's page can use it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from turnspec.codegen.facts import FormatFacts
from turnspec.explain.shown import trace_data
from turnspec.explain.tools import read_tools
from turnspec.explain.trace import trace
from turnspec.rendering.limited import Refused, run_limited
from turnspec.rendering.limits import Limits
from turnspec.report.entries import Entry
from turnspec.report.page import render_page

HOST = "127.0.0.1"

#: Limits on what is asked and answered: bytes of a request, characters of a text, steps shown.
LONGEST_REQUEST = 1_000_000
LONGEST_TEXT = 200_000
MOST_STEPS = 2_000

#: What parsing may take, in a process of its own.
LIMITS = Limits(seconds=10)
_MOST_DIGITS = 20
_SECONDS = 10  # for which a request is waited for


class RefusalError(Exception):
    """A request that isn't answered as asked, and why."""

    def __init__(self, status: HTTPStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@dataclass(frozen=True, slots=True)
class Site:
    """The page, and the facts of its formats by name."""

    page: str
    facts: Mapping[str, FormatFacts]

    @classmethod
    def of(cls, entries: Sequence[Entry]) -> Site:
        """Return the site of some formats."""
        page = render_page(entries, served=True)
        return cls(page, {entry.name: entry.read_by for entry in entries})

    def parse(self, body: bytes) -> dict[str, object]:
        """Return what the parser that is asked for does with a text."""
        name, text, options = _asked(body)
        if name not in self.facts:
            raise RefusalError(HTTPStatus.NOT_FOUND, f"no format {name!r}")
        found = run_limited(_traced, self.facts[name], text, options, limits=LIMITS)
        if isinstance(found, Refused):  # so nobody else waits for it any longer
            reason = f"this takes more than {LIMITS.seconds:g} s, or too much memory"
            raise RefusalError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, reason)
        return found


def _traced(facts: FormatFacts, text: str, options: Mapping[str, Any]) -> dict[str, object]:
    """Return the steps of a parser as data, not too many."""
    found = trace(facts, text, options)
    data = trace_data(replace(found, steps=found.steps[:MOST_STEPS]))
    return {**data, "left_out": max(len(found.steps) - MOST_STEPS, 0)}


def _asked(body: bytes) -> tuple[str, str, dict[str, object]]:
    """Return what a request asks for: a format, a text, and its parser's options."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        raise RefusalError(HTTPStatus.BAD_REQUEST, "the request is not JSON") from None
    name, text, tools = (
        data.get(key, "") if isinstance(data, dict) else None for key in ("name", "text", "tools")
    )
    if not (isinstance(name, str) and isinstance(text, str) and isinstance(tools, str)):
        raise RefusalError(HTTPStatus.BAD_REQUEST, "name, text and tools have to be strings")
    if len(text) > LONGEST_TEXT:
        reason = f"the text has more than {LONGEST_TEXT} characters"
        raise RefusalError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, reason)
    prefill = data.get("prefill")
    if not (prefill is None or isinstance(prefill, str)):
        raise RefusalError(HTTPStatus.BAD_REQUEST, "prefill has to be a string")
    thinking = data.get("thinking")
    if not (thinking is None or isinstance(thinking, bool)):
        raise RefusalError(HTTPStatus.BAD_REQUEST, "thinking has to be true, false or null")
    return name, text, {"tools": _tools(tools), "enable_thinking": thinking, "prefill": prefill}


def _tools(text: str) -> list[dict[str, Any]] | None:
    if not text.strip():
        return None
    found = read_tools(text)
    if isinstance(found, str):
        raise RefusalError(HTTPStatus.BAD_REQUEST, f"tools: {found}")
    return found


class ReportServer(ThreadingHTTPServer):
    """Serves one site to this machine, once it has one."""

    site: Site
    daemon_threads = True
    request_queue_size = 128  # so many may wait; a page with many tabs asks all at once

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of who hung up; what else goes wrong is answered to who asked."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)

    def __init__(self, port: int) -> None:
        """Take a port; 0 is any that is free."""
        super().__init__((HOST, port), _Handler)

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://{HOST}:{self.server_port}/"


class _Handler(BaseHTTPRequestHandler):
    timeout = _SECONDS
    server_version = "turnspec"
    sys_version = ""
    server: ReportServer

    def do_GET(self) -> None:
        """Answer with the page."""
        self._answer(self._page)

    def do_POST(self) -> None:
        """Answer what a box asks."""
        self._answer(self._parse)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: whoever asks sees the answer."""

    def _answer(self, work: Callable[[], tuple[str, str]]) -> None:
        """Send what some work returns, a text and its type, or why there is none."""
        status = HTTPStatus.OK
        try:
            self._check_sender()
            text, kind = work()
        except RefusalError as refusal:
            status, kind = refusal.status, "application/json"
            text = json.dumps({"error": str(refusal)})
        except Exception as error:  # a parser that raises is a defect, but not the page's end
            status, kind = HTTPStatus.INTERNAL_SERVER_ERROR, "application/json"
            text = json.dumps({"error": f"{type(error).__name__}: {error}"})
        body = text.encode("utf-8", "backslashreplace")
        self.send_response(status)
        for name, value in {
            "Content-Type": f"{kind}; charset=utf-8",
            "Content-Length": str(len(body)),
            "Cache-Control": "no-store",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
            "Connection": "close",
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _check_sender(self) -> None:
        """Refuse what comes through another name, or from another site's page."""
        own = {f"{name}:{self.server.server_port}" for name in (HOST, "localhost")}
        if self.headers.get_all("Host", []) not in [[name] for name in own]:
            raise RefusalError(HTTPStatus.FORBIDDEN, f"this server is {self.server.address}")
        allowed = [[], *([f"http://{name}"] for name in own)]
        if self.headers.get_all("Origin", []) not in allowed:
            raise RefusalError(HTTPStatus.FORBIDDEN, "only its own page may ask")

    def _page(self) -> tuple[str, str]:
        if self.path != "/":
            raise RefusalError(HTTPStatus.NOT_FOUND, "there is only the page at /")
        return self.server.site.page, "text/html"

    def _parse(self) -> tuple[str, str]:
        if self.path != "/parse":
            raise RefusalError(HTTPStatus.NOT_FOUND, "texts are parsed at /parse")
        if self.headers.get_content_type() != "application/json":
            raise RefusalError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "send application/json")
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit():
            raise RefusalError(HTTPStatus.LENGTH_REQUIRED, "say the request's length")
        length = length.lstrip("0")[:_MOST_DIGITS] or "0"  # no longer than Python reads numbers
        if int(length) > LONGEST_REQUEST:
            reason = f"a request has at most {LONGEST_REQUEST} bytes"
            raise RefusalError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, reason)
        found = self.server.site.parse(self.rfile.read(int(length)))
        return json.dumps(found), "application/json"
