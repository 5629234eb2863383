"""Both engines on the same texts: what the Python engine gives, and what the TypeScript engine."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from math import inf
from pathlib import Path
from types import TracebackType
from typing import Any

from tests import counted_steps
from tests.generated_formats import committed_spec
from tests.small_formats import FORMATS as SMALL
from tests.typescript.toolchain import node
from turnspec.codegen.facts import facts_of
from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.printer.shared import engine_script, facts_given

#: In characters; 0 is the whole text at once.
SIZES = (0, 1, 2, 3, 7)
#: The names of options that differ between the languages.
_OPTIONS = {
    "enable_thinking": "enableThinking",
    "id_prefix": "idPrefix",
    "special_tokens": "specialTokens",
}
_TWO_HALVES = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_FIRST_HALF = re.compile("[\ud800-\udbff]")
_DRIVER = Path(__file__).parent / "driver.mjs"


class TypeScriptEngine:
    """A Node process that parses with the TypeScript engine, as long as the context is open."""

    def __init__(self, node: str, engine: Path) -> None:
        self._process = subprocess.Popen(
            [node, str(_DRIVER), str(engine)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        self._loaded: set[str] = set()

    def __enter__(self) -> TypeScriptEngine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.communicate()

    def load_file(self, name: str, path: Path) -> None:
        """Have a format parsed by a file that was made for it."""
        self._ask({"name": name, "path": str(path)})
        self._loaded.add(name)

    def parse(self, name: str, module: FormatModule | None, **request: Any) -> list[Any]:
        """Return events and message for each way to cut a text, as the driver tells them."""
        if name not in self._loaded:
            self._ask({"name": name, "facts": _facts(name)})
            self._loaded.add(name)
        options = request["options"]
        if isinstance(options, dict):
            options = {_OPTIONS.get(key, key): value for key, value in options.items()}
        answer: list[Any] = self._ask({**request, "name": name, "options": options})
        return answer

    def steps(
        self,
        name: str,
        pieces: Sequence[str | tuple[str, bool]],
        half: int = 0,
        **options: Any,
    ) -> tuple[float, float]:
        """Return how many steps it takes to read so many pieces, and all, without the first piece.

        They are without end if that takes longer than ``MOST_SECONDS`` of `counted_steps`.
        """
        most = counted_steps.MOST_SECONDS * 1000
        request = {"pieces": pieces, "options": options, "half": half, "most": most}
        found: Any = self.parse(name, None, **request)
        first, some, whole = found or (0, 0, inf)
        return some - first, whole - first

    def _ask(self, request: Mapping[str, Any]) -> Any:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "Node has ended"
        answer = json.loads(line)
        assert "failed" not in answer, answer["failed"]
        return answer["done"]


def _facts(name: str) -> dict[str, Any]:
    """Return the facts of a committed format, or of one that is written by hand."""
    hand = name.removeprefix("hand ")
    return facts_given(facts_of(SMALL[hand] if hand != name else committed_spec(name)))


@cache
def _engine() -> str:
    return engine_script(is_typed=False)


@contextmanager
def opened_engine(folder: Path) -> Iterator[TypeScriptEngine]:
    """Open the engine, which is written into a folder."""
    path = folder / "engine.mjs"
    path.write_text(_engine(), encoding="utf-8")
    with TypeScriptEngine(node(), path) as opened:
        yield opened


def python_result(
    module: FormatModule, pieces: Sequence[str | tuple[str, bool]], options: Mapping[str, Any]
) -> Any:
    """Return the events of each piece and of the end, and the message, as the driver tells them."""
    parser = module.Parser(**options)
    events = [
        parser.feed(piece) if isinstance(piece, str) else parser.feed(*piece) for piece in pieces
    ]
    events.append(parser.finish())
    message = parser.message
    told = {"events": _plain(events), "message": _plain(message)}
    return json.loads(json.dumps({**told, "finish_reason": message.finish_reason}))


def _plain(value: Any) -> Any:
    """Return what a parser gives as plain data."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    fields = (*getattr(value, "__match_args__", ()), *(["type"] if hasattr(value, "type") else []))
    return {name: _plain(getattr(value, name)) for name in fields} if fields else value


def pieces_of(text: str, size: int) -> list[str]:
    """Return a text in pieces of as many characters; 0 leaves it whole."""
    if size == 0:
        return [text]
    return [text[at : at + size] for at in range(0, len(text), size)]


def at_once(result: Any) -> Any:
    """Return a result whose events don't tell of which pieces they are: those alike are joined."""
    told: list[dict[str, Any]] = []
    for event in (event for found in result["events"] for event in found):
        last = told[-1] if told else {}
        key = "arguments" if event["type"] == "tool_call_delta" else "text"
        if key in event and (last.get("type"), last.get("index")) == (
            event["type"],
            event.get("index"),
        ):
            told[-1] = {**last, key: last[key] + event[key], "end": event["end"]}
        else:
            told.append(event)
    return {**result, "events": told}


def has_two_halves(text: str) -> bool:
    """Say whether two characters of a text would be one in JavaScript."""
    return _TWO_HALVES.search(text) is not None


def difference(
    engine: TypeScriptEngine,
    name: str,
    module: FormatModule,
    text: str,
    options: Mapping[str, Any],
    sizes: Sequence[int] = SIZES,
) -> str | None:
    """Return how the engines differ on a text, cut in all these ways; None where they don't.

    Half a character is told in JavaScript when it is sure that it stays one, a piece later.
    """
    waits = _FIRST_HALF.search(text) is not None
    found = engine.parse(name, module, text=text, sizes=sizes, options=options)
    for size, other in zip(sizes, found, strict=True):
        mine = python_result(module, pieces_of(text, size), options)
        if waits:
            mine, other = at_once(mine), at_once(other)
        if mine != other:
            return (
                f"{name}, pieces of {size}, {dict(options)!r}\n  text: {text!r}\n"
                f"  Python:     {json.dumps(mine)}\n  TypeScript: {json.dumps(other)}"
            )
    return None
