"""A hub on this machine: it speaks the few requests that are needed, can refuse, lie and stall.

It has two addresses: the endpoint's, and that of another host, which large files are redirected to.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from tests.own_templates import FOLDER
from turnspec.sources.hub import fetch_model
from turnspec.sources.hub_place import HubModel
from turnspec.sources.hub_settings import HubSettings, hub_settings

TOKEN = "hf_secret"
#: The model that there is, and its files; and another text of its template, in another format.
NEW = "SomeOrg/BrandNew-7B"
TEMPLATE = (FOLDER / "plain-content.jinja").read_text(encoding="utf-8")
FILES = {"chat_template.jinja": TEMPLATE, "tokenizer_config.json": '{"eos_token": "</s>"}'}
CHANGED = TEMPLATE.replace("<:end:>", "<:over:>")
NONE: Mapping[str, str] = {}
_PADDING = b" " * 2**16


@dataclass
class Model:
    """A repository: its files at each commit, the first of which its branch ``main`` is at.

    ``linked`` are the files that another host gives. ``card`` is what its page says of itself.
    """

    commits: dict[str, dict[str, bytes]]
    tags: dict[str, str] = field(default_factory=dict)
    linked: Sequence[str] = ()
    card: dict[str, Any] = field(default_factory=dict)
    gated: bool = False

    def commit_of(self, revision: str) -> str | None:
        if revision == "main":
            return next(iter(self.commits))
        return revision if revision in self.commits else self.tags.get(revision)


@dataclass(frozen=True)
class Asked:
    """A request: at which of the two hosts, and the token that came with it."""

    host: str
    method: str
    path: str
    token: str | None
    ranged: str | None


#: What may become of a request instead of its answer.
Fault = Callable[["Handler"], None]


@dataclass
class FakeHub:
    """What there is, what it was asked, and the bytes that it sent.

    ``faults`` are what becomes of requests whose paths hold a text.
    """

    models: dict[str, Model] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)
    faults: dict[str, Fault] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    sent: int = 0
    ranges: bool = True
    url: str = ""
    other: str = ""

    def add(self, repository: str, files: Mapping[str, str | bytes], **more: Any) -> str:
        """Put a commit of a model on top of those that it has, and return it."""
        data = {path: f.encode() if isinstance(f, str) else f for path, f in files.items()}
        commit = hashlib.sha1(repr(sorted(data.items())).encode()).hexdigest()
        there = self.models.pop(repository, Model({}))
        model = Model({commit: data, **there.commits}, **more)
        self.models[repository] = model
        return commit

    def environment(self) -> dict[str, str]:
        """Return the variables with which the hub's client would find it."""
        return {"HF_ENDPOINT": self.url, "HF_HUB_OFFLINE": "0"}


class Handler(BaseHTTPRequestHandler):
    """Answers for one of the two hosts."""

    protocol_version = "HTTP/1.1"
    hub: FakeHub
    host: str

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        token = self.headers["Authorization"]
        self.hub.asked.append(
            Asked(self.host, self.command, self.path, token, self.headers["Range"])
        )
        self.close_connection = True
        for text, fault in self.hub.faults.items():
            if text in self.path:
                fault(self)
                return
        if self.host == "other":
            repository, _, rest = self.path.removeprefix("/cdn/").partition("@")
            commit, _, path = rest.partition("/")
            self.send_file(repository, commit, path)
        elif self.path.startswith("/api/models/"):
            self.send_info(*self.path.removeprefix("/api/models/").partition("/revision/")[::2])
        else:
            repository, _, rest = self.path.removeprefix("/").partition("/resolve/")
            self.send_resolved(repository, *rest.partition("/")[::2])

    def send_info(self, repository: str, revision: str) -> None:
        if repository in self.hub.renamed:
            path = f"/api/models/{self.hub.renamed[repository]}/revision/{revision}"
            self.answer(307, headers={"Location": path})
            return
        model = self.readable(repository)
        commit = model.commit_of(unquote(revision) or "main") if model else None
        if model is None:
            return
        if commit is None:
            self.refuse(404, "RevisionNotFound", f"Invalid rev id: {revision}")
            return
        info = {
            "id": repository,
            "sha": commit,
            "gated": "manual" if model.gated else False,
            "siblings": [{"rfilename": path} for path in model.commits[commit]],
            "cardData": model.card,
        }
        self.answer(200, json.dumps(info).encode())

    def send_resolved(self, repository: str, revision: str, path: str) -> None:
        model = self.readable(repository)
        if model is None:
            return
        commit = model.commit_of(unquote(revision)) or ""
        if model.gated and self.headers["Authorization"] is None:
            self.refuse(401, "GatedRepo", f"Access to model {repository} is restricted.")
        elif model.gated:
            self.refuse(403, "GatedRepo", "Your request to access it is awaiting a review.")
        elif unquote(path) not in model.commits.get(commit, {}):
            self.refuse(404, "EntryNotFound", "Entry not found")
        elif unquote(path) in model.linked:
            place = f"{self.hub.other}/cdn/{repository}@{commit}/{path}"
            self.answer(302, headers={"Location": place})
        else:
            self.send_file(repository, commit, path)

    def readable(self, repository: str) -> Model | None:
        model = self.hub.models.get(repository)
        token = self.headers["Authorization"]
        if token not in (None, f"Bearer {TOKEN}"):
            message = "Invalid credentials in Authorization header"
            self.answer(401, b'{"error":""}', {"X-Error-Message": message})
            return None
        if model is None:  # a stranger isn't told what is private
            self.refuse(404 if token else 401, "RepoNotFound", "Repository not found")
        return model

    def send_file(self, repository: str, commit: str, path: str) -> None:
        data = self.hub.models[repository].commits[commit][unquote(path)]
        ranged = self.headers["Range"] if self.hub.ranges else None
        if ranged is None:
            tag = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()  # as git has it
            self.answer(200, data, {"X-Repo-Commit": commit, "ETag": f'"{tag}"'})
            return
        first, last = map(int, ranged.removeprefix("bytes=").split("-"))
        part = data[first : last + 1]
        if not part:
            self.answer(416, headers={"Content-Range": f"bytes */{len(data)}"})
            return
        end = first + len(part) - 1
        self.answer(206, part, {"Content-Range": f"bytes {first}-{end}/{len(data)}"})

    def refuse(self, status: int, code: str, message: str) -> None:
        body = json.dumps({"error": message}).encode()
        self.answer(status, body, {"X-Error-Code": code, "X-Error-Message": message})

    def answer(
        self,
        status: int,
        body: bytes = b"",
        headers: Mapping[str, str] = NONE,
        *,
        length: int | None = None,
    ) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.send_header("Connection", "close")
        self.end_headers()
        if self.command == "GET":
            self.write(body)

    def write(self, body: bytes) -> bool:
        """Send some bytes; tell whether somebody still listens."""
        try:
            self.wfile.write(body)
        except OSError:
            return False
        self.hub.sent += len(body)
        return True

    def log_message(self, format: str, *args: object) -> None:
        pass


def redirected(to: str) -> Fault:
    """Redirect to an address, in which {hub} and {other} stand for the two hosts'."""
    return lambda handler: handler.answer(
        302, headers={"Location": to.format(hub=handler.hub.url, other=handler.hub.other)}
    )


def refused(status: int, **headers: str) -> Fault:
    """Answer with a status."""
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda handler: handler.answer(status, b"no", given)


def broken_off(handler: Handler) -> None:
    """Announce more than is sent."""
    handler.answer(200, b"{", length=1000)


def hung_up(handler: Handler) -> None:
    """Close the connection without an answer."""


def announced_huge(handler: Handler) -> None:
    """Announce a terabyte."""
    handler.answer(200, b"{", length=2**40)


def endless(handler: Handler) -> None:
    """Send blanks for ever, without a length."""
    handler.send_response(200)
    handler.end_headers()
    while handler.write(_PADDING):
        pass


def silent(handler: Handler) -> None:
    """Say nothing for a while."""
    time.sleep(1.5)


def dripping(handler: Handler) -> None:
    """Send a byte of a header now and then."""
    with contextlib.suppress(OSError):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        for _ in range(40):
            handler.wfile.write(b"x")
            time.sleep(0.05)


def sends(body: bytes) -> Fault:
    """Answer with something."""
    return lambda handler: handler.answer(200, body)


def settings(**changes: object) -> HubSettings:
    """Return the environment's settings, but for some."""
    return replace(hub_settings(), **changes)  # type: ignore[arg-type]


def fetched(asked: str = NEW, **changes: object) -> Path:
    """Return where a model's templates lie once they are fetched."""
    model = HubModel.read(asked)
    assert model is not None
    found = fetch_model(model, settings(**changes))
    assert isinstance(found, Path), str(found)
    return found


@contextlib.contextmanager
def serving(hub: FakeHub) -> Iterator[FakeHub]:
    """Serve a hub on two free ports for as long as the context lasts; sets its addresses."""
    with contextlib.ExitStack() as stack:
        for host in ("url", "other"):
            kind = type("Host", (Handler,), {"hub": hub, "host": host})
            server = stack.enter_context(ThreadingHTTPServer(("127.0.0.1", 0), kind))
            server.daemon_threads = True
            setattr(hub, host, f"http://127.0.0.1:{server.server_address[1]}")
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
            thread.start()
            stack.callback(thread.join)
            stack.callback(server.shutdown)
        yield hub
