"""examples/chat_page: what its modules make of an endpoint's stream, in Node.

The page itself, in a browser, is part of `make report-browser`.
"""

from __future__ import annotations

import json
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.generated_formats import ROOT, committed_format, facts_of_format
from tests.replay_server import Replay, replaying
from tests.test_report import Page
from tests.typescript.toolchain import node
from turnspec.codegen.banner import with_command
from turnspec.codegen.typescript import Script, script_text
from turnspec.pipeline.project import OutputPaths

PLACE = "examples/chat_page"
FOLDER = ROOT / PLACE
FORMAT = "qwen-qwen3-0-6b"
DRIVER = Path(__file__).parent / "typescript/stream.mjs"
TURN = (
    "<think>\nParis 🦆.\n</think>\n\nI look – <b>now</b>.\n<tool_call>\n"
    '{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call><|im_end|>'
)


def streamed(replay: Replay, **request: Any) -> Any:
    with replaying(replay, FOLDER) as address:
        command = [node(), str(DRIVER), str(FOLDER), f"{FORMAT}.mjs", f"{address}/v1/completions"]
        done = subprocess.run(
            [*command, json.dumps(request)], capture_output=True, check=True, timeout=60
        )
    return json.loads(done.stdout)


def pieces_of(text: str) -> list[str]:
    return [text[at : at + 4] for at in range(0, len(text), 4)]


@cache
def usual() -> Any:
    """Return what is told of the turn in the usual form of events."""
    return streamed(Replay(pieces_of(TURN)))


def test_a_stream_is_read_as_it_comes() -> None:
    replay = Replay(pieces_of(TURN))
    told = streamed(replay, prompt="Hello", max_tokens=5)
    assert replay.asked == [{"prompt": "Hello", "max_tokens": 5, "stream": True}]
    assert told["message"] == committed_format(FORMAT).module.parse(TURN).to_dict()
    kinds = [event["type"] for event in told["events"]]
    assert kinds.index("reasoning") < kinds.index("content") < kinds.index("tool_call_start")
    reasoning = [event["text"] for event in told["events"] if event["type"] == "reasoning"]
    assert len(reasoning) > 1
    assert "".join(reasoning) == "Paris 🦆."


def test_bytes_may_come_one_by_one() -> None:
    whole = streamed(Replay(pieces_of(TURN), bytes_at_once=10_000))
    assert streamed(Replay(pieces_of(TURN), bytes_at_once=1)) == whole


@pytest.mark.parametrize("bytes_at_once", [1, 7, 10_000])
@pytest.mark.parametrize("line_end", ["\r", "\n", "\r\n"])
def test_an_event_has_lines_of_data(line_end: str, bytes_at_once: int) -> None:
    """As server-sent events have it: several lines, each ended by CR, LF or both."""
    replay = Replay(pieces_of(TURN), bytes_at_once=bytes_at_once, line_end=line_end, indent=1)
    assert streamed(replay) == usual()


def test_what_goes_wrong_is_told() -> None:
    refused = streamed(Replay([], failure="no such model", status=404))
    assert refused == {"events": [], "error": "404: no such model"}
    broken = streamed(Replay(pieces_of(TURN)[:5], failure="out of memory"))
    assert broken["error"] == "out of memory"
    assert "".join(event["text"] for event in broken["events"]) == "Paris 🦆."


def test_the_vendored_files_are_fresh() -> None:
    source = (ROOT / OutputPaths.in_project(FORMAT).module).read_text(encoding="utf-8")
    for script in (Script.JAVASCRIPT, Script.DECLARATION):
        copied = (FOLDER / f"{FORMAT}{script}").read_text(encoding="utf-8")
        text = script_text(source, facts_of_format(FORMAT), script)
        command = f"turnspec vendor {FORMAT} --no-grammar --language javascript --into {PLACE}"
        assert copied == with_command(text, command), f"run: {command}"


def test_the_page_needs_nothing_but_its_folder() -> None:
    page = Page((FOLDER / "index.html").read_text(encoding="utf-8"))
    (script,) = page.named("script")
    assert script.attributes == {"type": "module", "src": "page.mjs"}
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.mjs")))
    imported = set(re.findall(r'(?m)^import .* from "\./([^"]+)";', text))
    assert imported == {f"{FORMAT}.mjs", "stream.mjs"}
    assert all((FOLDER / name).is_file() for name in imported)
    assert "innerHTML" not in text
