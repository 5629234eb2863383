"""The hub's few requests: what a model's repository holds, and its files or parts of them.

All that comes is a stranger's. The token goes to the endpoint alone; where that redirects to
another host, for a file, the request goes on without it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from concurrent import futures
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPResponse, IncompleteRead
from typing import NoReturn, TypeVar, cast
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urljoin, urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

from turnspec import __version__
from turnspec.sources.hub_settings import HubSettings
from turnspec.spec.os_reasons import reason

Result = TypeVar("Result")

#: The most bytes of a file with text or of an answer, and of the beginning of a GGUF file.
LARGEST_TEXT, LARGEST_HEAD = 16 * 2**20, 64 * 2**20
_FIRST_PART = 2**20
_PIECE = 2**16
_MOST_REDIRECTS = 5
_NO_SUCH_RANGE = 416
_REDIRECTS = (301, 302, 303, 307, 308)


class HubError(Exception):
    """The hub doesn't give what was asked for; the message says why, and what to do, in a line."""


class _Stays(HTTPRedirectHandler):
    """Has redirects come back as what they are."""

    def redirect_request(self, *_: object) -> None:
        """Follow none."""


@dataclass(slots=True)
class HubClient:
    """Asks for one model."""

    settings: HubSettings
    repository: str
    _opener: OpenerDirector = field(default_factory=lambda: build_opener(_Stays))

    def info(self, revision: str) -> dict[str, object]:
        """Return what the hub says of the model at a branch, tag or commit. Raises HubError."""
        path = f"/api/models/{self.repository}/revision/{quote(revision, safe='')}"
        try:
            found = json.loads(self._get(path, revision, LARGEST_TEXT, is_file=False))
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise HubError(f"{self.settings.endpoint} answers with no JSON; see to HF_ENDPOINT")
        return found

    def file(self, path: str, commit: str) -> bytes:
        """Return a file. Raises HubError."""
        return self._get(self._place(path, commit), commit, LARGEST_TEXT)

    def head(self, path: str, commit: str, missing: Callable[[bytes], int]) -> bytes:
        """Return the beginning of a file, in parts that grow.

        ``missing`` says where it ends, as far as can be told, 0 if it is whole. Raises HubError for
        what can't be had, or is longer than is read.
        """
        data, end = b"", _FIRST_PART
        while end:
            if end > LARGEST_HEAD:
                raise HubError(f"{path}: its header has more than {_size(LARGEST_HEAD)}")
            end = max(end, min(2 * len(data), LARGEST_HEAD))
            part = f"bytes={len(data)}-{end - 1}"
            data += self._get(self._place(path, commit), commit, end - len(data), part)
            end = missing(data) if len(data) == end else 0  # or the file has no more
        return data

    def _place(self, path: str, commit: str) -> str:
        return f"/{self.repository}/resolve/{commit}/{quote(path)}"

    def _get(
        self, path: str, revision: str, most: int, part: str = "", *, is_file: bool = True
    ) -> bytes:
        """Return a body of at most so many bytes; of a ``part`` of a file, no more than these."""
        url = self.settings.endpoint + path
        headers = {"User-Agent": f"turnspec/{__version__}"}
        if part:
            headers["Range"] = part
        if self.settings.token:
            headers["Authorization"] = f"Bearer {self.settings.token}"
        for _ in range(_MOST_REDIRECTS + 1):
            with self._opened(url, headers) as response:
                if response.status not in _REDIRECTS:
                    self._check(response, path, revision)
                    if response.status == _NO_SUCH_RANGE:
                        return b""
                    return self._body(response, path, most, part)
                there = urljoin(url, response.headers.get("Location") or url)
            old, new = urlsplit(url), urlsplit(there)
            if new.scheme not in ("https", old.scheme):
                raise HubError(f"{old.hostname} redirects to {new.scheme}://, which isn't followed")
            if _host(there) != _host(self.settings.endpoint):
                headers.pop("Authorization", None)
                if not is_file:
                    raise HubError(_NOT_ASKED.format(old.hostname, new.hostname))
            url = there
        raise HubError(f"{path}: {self.settings.endpoint} redirects again and again; try later")

    def _opened(self, url: str, headers: Mapping[str, str]) -> HTTPResponse:
        try:
            request = Request(url, headers=dict(headers))
            opened = self._opener.open(request, timeout=self.settings.silence)
        except HTTPError as error:
            opened = error
        except (OSError, HTTPException, ValueError) as error:
            _raise(error, urlsplit(url).hostname or url, self.settings)
        return cast(HTTPResponse, opened)  # an error is one, too

    def _body(self, response: HTTPResponse, path: str, most: int, part: str) -> bytes:
        announced = response.headers.get("Content-Length") or ""
        length = int(announced) if announced.isdecimal() and len(announced) < 20 else None
        if not part and length is not None and length > most:
            raise HubError(f"{path} has {_size(length)}, and at most {_size(most)} are read")
        skipped = 0
        if part and response.status == 200:  # who knows no ranges sends the file from its start
            skipped = int(part.removeprefix("bytes=").partition("-")[0])
        data = self._read(response, path, skipped + most + (not part))
        if not part and len(data) > most:
            raise HubError(f"{path} has more than {_size(most)}, which is the most that is read")
        if length is not None and len(data) < min(length, skipped + most):
            raise HubError(
                f"{path} broke off after {_size(len(data))} of {_size(length)}; try again"
            )
        return data[skipped : skipped + most]

    def _read(self, response: HTTPResponse, path: str, most: int) -> bytes:
        data = bytearray()
        try:
            while len(data) < most and (piece := response.read(min(_PIECE, most - len(data)))):
                data += piece
        except IncompleteRead:
            raise HubError(f"{path} broke off after {_size(len(data))}; try again") from None
        except (OSError, HTTPException) as error:
            _raise(error, path, self.settings)
        return bytes(data)

    def _check(self, response: HTTPResponse, path: str, revision: str) -> None:
        """Raise HubError for what is no success."""
        status, said = response.status, response.headers.get("X-Error-Message") or ""
        if status in (200, 206) or (status == _NO_SUCH_RANGE and "/resolve/" in path):
            return
        code = response.headers.get("X-Error-Code") or ""
        if "Invalid credentials" in said:
            code = "InvalidToken"
        elif "is disabled" in said or status == 451:
            code = "Disabled"
        elif not code and status in (401, 403, 404):
            code = "RepoNotFound"
        told = _TOLD.get(code) or _TOLD.get(str(status)) or _TOLD["5xx" if status >= 500 else "4xx"]
        limit = response.headers.get("RateLimit") or ""  # as in "api";r=0;t=55
        seconds = response.headers.get("Retry-After") or limit.rpartition("t=")[2]
        names = {
            "page": f"{self.settings.endpoint}/{self.repository}",
            "endpoint": self.settings.endpoint,
            "revision": revision,
            "file": path.partition(f"{revision}/")[2],
            "status": status,
            "wait": f"in {seconds} s" if seconds.isdecimal() else "later",
            "place": self.settings.token_file,
        }
        raise HubError(told[self.settings.token is not None].format(**names))


_NOT_ASKED = "{} redirects to {}, which isn't asked; if the hub is there, set HF_ENDPOINT to it"
#: What to say of an answer, without a token and with one.
_TOLD = {
    "GatedRepo": (
        "is gated; accept its conditions at {page}, then set HF_TOKEN",
        "is gated, and your token's account isn't let in; ask for it at {page}",
    ),
    "RepoNotFound": (
        "is neither here nor at {endpoint}; check the name, or set HF_TOKEN if it is private",
        "is neither here nor at {endpoint}; check the name, and whether your token may read it",
    ),
    "RevisionNotFound": ("has no revision {revision}; see {page}/commits/main",) * 2,
    "EntryNotFound": ("lists {file}, and doesn't have it; try again",) * 2,
    "InvalidToken": (
        "{endpoint} refuses your token (HF_TOKEN, or {place}); renew it, or take it away",
    )
    * 2,
    "Disabled": ("is kept back by {endpoint}; take its template from elsewhere, as a file",) * 2,
    "429": (
        "{endpoint} had too many requests; try again {wait}, or set HF_TOKEN",
        "{endpoint} had too many requests; try again {wait}",
    ),
    "5xx": ("{endpoint} can't answer now (status {status}); try again {wait}",) * 2,
    "4xx": ("{endpoint} refuses to answer (status {status}); see {page}",) * 2,
}


def within(seconds: float, work: Callable[[], Result]) -> Result:
    """Return what some work gives, or raise what it raises; HubError if that takes too long.

    A server may send a byte now and then, for ever. So the work goes on in a thread that is left.
    """
    done: futures.Future[Result] = futures.Future()

    def run() -> None:
        try:
            done.set_result(work())
        except Exception as error:
            done.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    if not futures.wait([done], seconds).done:
        raise HubError(f"it took more than {seconds:g} s; try again, or download the model's files")
    return done.result()


def _raise(error: Exception, what: str, settings: HubSettings) -> NoReturn:
    cause = error.reason if isinstance(error, URLError) else error
    if isinstance(cause, TimeoutError):
        wait = f"HF_HUB_DOWNLOAD_TIMEOUT, {settings.silence:g} s"
        raise HubError(f"{what} says nothing any more ({wait}); try again") from None
    told = reason(cause) if isinstance(cause, OSError) else " ".join(str(cause).split())
    told = told or type(cause).__name__
    remedy = "see to the network, or HF_ENDPOINT, or give the model's own files"
    raise HubError(f"{what} can't be reached: {told}; {remedy}") from None


def _host(url: str) -> tuple[str, str | None, int | None]:
    """Return what makes two addresses those of one host."""
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = -1
    return parts.scheme, parts.hostname, port or {"http": 80, "https": 443}.get(parts.scheme)


def _size(count: int) -> str:
    return f"{count / 2**20:.0f} MB" if count >= 2**20 else f"{count:,} bytes"
