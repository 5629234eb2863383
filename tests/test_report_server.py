"""`turnspec report` and its server: what it writes, answers and refuses."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.own_checkouts import EMPTY_INDEX
from tests.specs_for_tests import plain_spec, tagged_spec
from tests.test_cli import run, run_whole
from tests.test_report import Page, checkout
from turnspec.pipeline.project import Project
from turnspec.rendering.limits import Limits
from turnspec.report.entries import read_entries
from turnspec.report.server import (
    LONGEST_REQUEST,
    LONGEST_TEXT,
    MOST_STEPS,
    ReportServer,
    Site,
)
from turnspec.sources.index import INDEX_FILE

CALL = (
    "<tool_call>\n<function=add>\n<parameter=n>\n3\n</parameter>\n</function>\n</tool_call><|stop|>"
)
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkout")
    checkout(folder, plain_spec(), tagged_spec())
    (folder / "templates").mkdir()
    (folder / INDEX_FILE).write_text(EMPTY_INDEX, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def server(root: Path) -> Iterator[ReportServer]:
    entries, problems = read_entries(Project(root))
    assert problems == []
    with ReportServer(0) as server:
        server.site = Site.of(entries)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def ask(
    server: ReportServer,
    method: str,
    path: str,
    body: bytes | None = None,
    headers: Mapping[str, str] = JSON,
) -> tuple[int, str, http.client.HTTPMessage]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=20)
    connection.request(method, path, body, dict(headers))
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text, answer.headers


def parse(server: ReportServer, **asked: object) -> tuple[int, dict[str, object]]:
    status, text, headers = ask(server, "POST", "/parse", json.dumps(asked).encode())
    assert headers["Content-Type"] == "application/json; charset=utf-8"
    found = json.loads(text)
    assert isinstance(found, dict)
    return status, found


def test_the_page(server: ReportServer) -> None:
    status, text, headers = ask(server, "GET", "/", headers={})
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    page = Page(text)
    assert [each.attributes["data-name"] for each in page.named("article")] == ["plain", "tagged"]
    assert len(page.named("button", class_="ask")) == 2


def test_only_this_machine_is_listened_to(server: ReportServer) -> None:
    assert server.server_address[0] == "127.0.0.1"
    assert server.address == f"http://127.0.0.1:{server.server_port}/"


def test_a_text_is_parsed(server: ReportServer) -> None:
    status, found = parse(server, name="tagged", text="Thinking</think>\n" + CALL, tools="")
    assert status == 200
    assert set(found) == {"steps", "message", "problems", "left_out"}
    message = found["message"]
    assert isinstance(message, dict)
    assert message["tool_calls"][0]["function"] == {"name": "add", "arguments": '{"n": "3"}'}
    assert found["left_out"] == 0


def test_tools_and_thinking_reach_the_parser(server: ReportServer) -> None:
    parameters = {"type": "object", "properties": {"n": {"type": "integer"}}}
    tools = json.dumps([{"function": {"name": "add", "parameters": parameters}}])
    _, found = parse(server, name="tagged", text=CALL, tools=tools, thinking=False)
    message = found["message"]
    assert isinstance(message, dict)
    assert message["tool_calls"][0]["function"]["arguments"] == '{"n": 3}'
    assert found["problems"] == []
    _, thinking = parse(server, name="tagged", text="Hi", tools="")
    _, not_thinking = parse(server, name="tagged", text="Hi", tools="", thinking=False)
    assert thinking["message"] != not_thinking["message"]


def test_text_that_is_no_text_comes_back(server: ReportServer) -> None:
    status, found = parse(server, name="plain", text="\ud800 </script>", tools="")
    assert status == 200
    assert found["message"] == {"role": "assistant", "content": "\ud800 </script>"}


def test_many_steps_are_cut(server: ReportServer) -> None:
    _, found = parse(server, name="tagged", text=CALL.replace("<|stop|>", "") * 500, tools="")
    steps, left_out = found["steps"], found["left_out"]
    assert isinstance(steps, list)
    assert isinstance(left_out, int)
    assert len(steps) == MOST_STEPS
    assert left_out > 500


NAMELESS = "tools: tool 0 has no name"


@pytest.mark.parametrize(
    ("asked", "status", "error"),
    [
        ({"name": "none", "text": "", "tools": ""}, 404, "no format 'none'"),
        ({"name": "../plain", "text": "", "tools": ""}, 404, "no format '../plain'"),
        (
            {"name": "plain", "text": 1, "tools": ""},
            400,
            STRINGS := "name, text and tools have to be strings",
        ),
        ({"name": ["plain"], "text": "", "tools": ""}, 400, STRINGS),
        (
            {"name": "plain", "text": "", "tools": "["},
            400,
            "tools: not JSON: Expecting value: line 1 column 2 (char 1)",
        ),
        (
            {"name": "plain", "text": "", "tools": "{}"},
            400,
            "tools: give a JSON list of tool definitions",
        ),
        ({"name": "plain", "text": "", "tools": "[1]"}, 400, "tools: tool 0 has no name"),
        (
            {"name": "plain", "text": "", "tools": '[{"name": ""}]'},
            400,
            "tools: tool 0 has no name",
        ),
        (
            {"name": "plain", "text": "x" * (LONGEST_TEXT + 1), "tools": ""},
            413,
            "the text has more than 200000 characters",
        ),
    ],
)
def test_what_cannot_be_parsed(
    server: ReportServer, asked: dict[str, object], status: int, error: str
) -> None:
    assert parse(server, **asked) == (status, {"error": error})


def test_what_takes_too_long_is_ended(
    server: ReportServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("turnspec.report.server.LIMITS", Limits(seconds=0.001))
    error = "this takes more than 0.001 s, or too much memory"
    assert parse(server, name="plain", text="x", tools="") == (413, {"error": error})


OWN = "only its own page may ask"


@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "status", "error"),
    [
        ("GET", "/../specs/plain.yaml", None, {}, 404, ONE := "there is only the page at /"),
        ("GET", "/%2e%2e/specs/plain.yaml", None, {}, 404, ONE),
        ("GET", "/etc/passwd", None, {}, 404, ONE),
        ("GET", "//127.0.0.1/", None, {}, 404, ONE),
        ("POST", "/", b"{}", JSON, 404, "texts are parsed at /parse"),
        ("POST", "/parse", b"{", JSON, 400, "the request is not JSON"),
        ("POST", "/parse", b"\xff", JSON, 400, "the request is not JSON"),
        ("POST", "/parse", b"[" * 9999, JSON, 400, "the request is not JSON"),
        ("POST", "/parse", b"[]", JSON, 400, "name, text and tools have to be strings"),
        ("POST", "/parse", b"{}", {"Content-Type": "text/plain"}, 415, "send application/json"),
        ("POST", "/parse", None, {**JSON, "Content-Length": "-1"}, 411, "say the request's length"),
        (
            "POST",
            "/parse",
            None,
            {**JSON, "Content-Length": str(LONGEST_REQUEST + 1)},
            413,
            LONG := "a request has at most 1000000 bytes",
        ),
        ("POST", "/parse", None, {**JSON, "Content-Length": "9" * 5000}, 413, LONG),
        ("POST", "/parse", b"{}", {**JSON, "Origin": "https://x.example"}, 403, OWN),
        ("POST", "/parse", b"{}", {**JSON, "Origin": "null"}, 403, OWN),
        ("GET", "/", None, {"Origin": "http://127.0.0.1:1"}, 403, OWN),
    ],
)
def test_refused(
    server: ReportServer,
    method: str,
    path: str,
    body: bytes | None,
    headers: Mapping[str, str],
    status: int,
    error: str,
) -> None:
    found, text, _ = ask(server, method, path, body, headers)
    assert (found, json.loads(text)) == (status, {"error": error})


def test_another_name_for_this_machine(server: ReportServer) -> None:
    status, text, _ = ask(server, "GET", "/", headers={"Host": "x.example"})
    assert (status, json.loads(text)) == (403, {"error": f"this server is {server.address}"})
    for host in ("localhost", "127.0.0.1"):
        headers = {"Host": f"{host}:{server.server_port}"}
        assert ask(server, "GET", "/", headers=headers)[0] == 200


@pytest.mark.parametrize("name", ["Host", "Origin"])
def test_a_header_that_comes_twice_is_refused(server: ReportServer, name: str) -> None:
    own = {"Host": (host := f"127.0.0.1:{server.server_port}"), "Origin": f"http://{host}"}
    lines = [*(f"{key}: {value}" for key, value in own.items()), f"{name}: x.example"]
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=20) as connection:
        connection.sendall("\r\n".join(["GET / HTTP/1.1", *lines, "", ""]).encode())
        with connection.makefile("rb") as answer:
            assert answer.readline() == b"HTTP/1.0 403 Forbidden\r\n"


def test_other_methods(server: ReportServer) -> None:
    for method in ("PUT", "DELETE", "OPTIONS", "HEAD"):
        assert ask(server, method, "/")[0] == 501


def test_the_command_writes_the_page(root: Path, tmp_path: Path) -> None:
    result = run("report", "--root", root)
    path = root / "build/report.html"
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == f"wrote {path}\n"
    text = path.read_text(encoding="utf-8")
    assert len(Page(text).named("article")) == 2
    other = tmp_path / "folder/page.html"
    assert run("report", "--root", root, "--into", other).stdout == f"wrote {other}\n"
    way = Path(os.path.relpath(root, other.parent)).as_posix()
    moved = text.replace('href="../', f'href="{way}/')
    assert moved != text
    assert other.read_text(encoding="utf-8") == moved


def test_a_spec_that_cannot_be_used(root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "checkout"
    checkout(folder, plain_spec())
    (folder / "templates").mkdir()
    (folder / INDEX_FILE).write_text(EMPTY_INDEX, encoding="utf-8")
    (folder / "specs/bad.yaml").write_text("- 1\n", encoding="utf-8")
    result = run("report", "--root", folder)
    assert result.exit_code == 1
    assert result.stdout == f"wrote {folder / 'build/report.html'}\n"
    assert result.stderr.startswith(f"error: {folder}/specs/bad.yaml:1: ")


def test_it_is_served_until_it_is_ended(root: Path) -> None:
    command = [sys.executable, "-m", "turnspec", "report", "--serve", "--port", "0"]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.endswith("/ (Ctrl-C ends it)\n")
        port = int(line.split(":")[2].split("/")[0])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        connection.request("GET", "/")
        assert connection.getresponse().status == 200
        connection.close()
        process.send_signal(signal.SIGINT)
        assert process.stdout.read() == "ended\n"
    assert process.returncode == 0


def test_rejected(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with monkeypatch.context() as patched:
            patched.setattr("turnspec.cli.report.read_entries", lambda _: pytest.fail("too early"))
            result = run("report", "--root", root, "--serve", "--port", port)
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr == (
            f"error: port {port} can't be used (Address already in use); "
            "give another one with --port\n"
        )
    both = run_whole("report", "--serve", "--into", "x.html", cwd=root)
    assert (both.returncode, both.stderr) == (2, "error: give --into or --serve, not both\n")
    empty = tmp_path / "empty"
    (empty / "templates").mkdir(parents=True)
    (empty / INDEX_FILE).write_text(EMPTY_INDEX, encoding="utf-8")
    result = run("report", "--root", empty)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "error: no specs here; run: turnspec regen\n"
    assert not (empty / "build").exists()


def test_who_hangs_up_leaves_no_traceback(
    server: ReportServer, capfd: pytest.CaptureFixture[str]
) -> None:
    callers = [socket.create_connection(("127.0.0.1", server.server_port)) for _ in range(60)]
    reset = struct.pack("ii", 1, 0)
    for caller in callers:
        caller.sendall(b"GET / HTTP/1.1\r\nHost: 127")
        caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
        caller.close()
    assert ask(server, "GET", "/")[0] == 200
    assert capfd.readouterr().err == ""
