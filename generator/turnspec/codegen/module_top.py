"""What a compiled module says of itself, from its facts and from running it.

Each row is a text and what the parser makes of it, so that it can be read back and run.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from turnspec.codegen.facts import FormatFacts
from turnspec.codegen.loading import FormatModule

_WIDTH = 88
_COLUMN = 40  # in which events stand
_TEXT = "It rains."
_THOUGHT = "Let me see."
_EVENTS = {"content": "ContentDelta", "reasoning": "ReasoningDelta"}
_USE = """\
    message = parse(text, tools=tools)  # a whole text
    parser = Parser(tools=tools)  # or a stream
    for piece in stream:
        for event in parser.feed(piece): ...
    events = parser.finish()
    message = parser.message

Neither ever raises on what a model writes: `message.problems` tells what deviates."""
#: The most characters that a sign of a marker's notation stands for.
_LONGEST = {" ": 99, "\n": 2, "{word}": 238}


def docstring(
    facts: FormatFacts, module: FormatModule, samples: Sequence[str], notes: Sequence[str]
) -> str:
    """Return a module's docstring, with its quotes."""
    blocks = [
        f"Reads turns in the format of {facts.format['name']}.",
        _USE,
        "\n".join(filter(None, _sample_rows(module, facts.format["header"], samples))),
        "\n".join(["WHAT ELSE IS READ", *_rows(module, _deviations(facts))]),
        "\n".join(["WHERE THE TEXT IS CUT OFF", *_rows(module, _cut_off(facts))]),
        "\n".join(["WHAT feed() HOLDS BACK", *_held(facts)]),
        *(textwrap.fill(note, _WIDTH, break_long_words=False) for note in notes),
    ]
    text = "\n\n".join(_escaped(block) for block in blocks)
    is_raw = "\\" in text
    return f'{"r" if is_raw else ""}"""{text}\n"""\n'


def _escaped(text: str) -> str:
    return text.replace('"""', "'''")


def _sample_rows(module: FormatModule, header: str, samples: Sequence[str]) -> Iterator[str]:
    """Yield sample turns, a line each, with the events that it gives."""
    yield f"{'THE FORMAT':{_COLUMN}}THE EVENTS"
    for sample in samples:
        parser = module.Parser(prefill=header)
        lines = re.findall(r"[^\n]*\n|[^\n]+", sample.removeprefix(header))
        for at, line in enumerate(lines):
            events = parser.feed(line) + (parser.finish() if at == len(lines) - 1 else [])
            yield from _beside(f"    {_visible(line)}", list(map(_event, events)))


def _beside(text: str, events: Sequence[str]) -> Iterator[str]:
    """Yield a line with the events that it gives beside it, or below it if they are long."""
    line = f"{text:{_COLUMN}}{' '.join(events)}".rstrip()
    if len(text) < _COLUMN and len(line) <= _WIDTH:
        yield line
        return
    yield text
    yield from (" " * _COLUMN + event for event in events)


def _event(event: Any) -> str:
    return f"{_EVENTS[event.type]}({event.text!r})"


def _visible(line: str) -> str:
    return "".join(sign if sign.isprintable() else " " for sign in line.rstrip("\n"))


def _deviations(facts: FormatFacts) -> Iterator[str]:
    """Yield texts that keep to the format only so far."""
    start, close = _marker(facts, "reasoning_start"), _marker(facts, "reasoning_end")
    for header in _plain(facts, "turn_start")[:1]:
        yield header + _TEXT
    for end in facts.turn_ends[:1]:
        yield f"{_TEXT}{_text_of(end)} More."
    if start and close:
        yield f"{start}{_THOUGHT}{close}{start}{_THOUGHT}{close}{_TEXT}"
        yield f"{_TEXT}{start}{_THOUGHT}{close}"
        yield f"{_TEXT}{close}"
        yield f'It begins with "{start}".'


def _cut_off(facts: FormatFacts) -> Iterator[str]:
    start = _marker(facts, "reasoning_start")
    if start:
        yield start + _THOUGHT
    for header in _plain(facts, "turn_start")[:1]:
        for begun in _plain(facts, "broken_off")[:1]:
            yield f"{_TEXT} {header[: len(begun)]}"
        yield f"{_TEXT} {header[:3]}"
    yield _TEXT


def _plain(facts: FormatFacts, role: str) -> list[str]:
    rows = [row for table in facts.tables.values() for row in table]
    return [_text_of(row.marker) for row in rows if row.role == role]


def _marker(facts: FormatFacts, role: str) -> str:
    return next(iter(_plain(facts, role)), "")


def _text_of(marker: str) -> str:
    """Return a text that a marker's notation stands for."""
    return marker.replace("{word}", "").replace("{{", "{").replace("}}", "}")


def _rows(module: FormatModule, texts: Iterator[str]) -> Iterator[str]:
    for text in dict.fromkeys(texts):
        message = module.parse(text)
        kinds = ", ".join(dict.fromkeys(problem.kind for problem in message.problems)) or "-"
        yield f"    {text!r}"
        yield f"        {_said(message)}  # {kinds}"


def _said(message: Any) -> str:
    parts = {"reasoning": message.reasoning_content, "content": message.content}
    return ", ".join(f"{name} {text!r}" for name, text in parts.items() if text) or "nothing"


def _held(facts: FormatFacts) -> Iterator[str]:
    rows = [row.marker for row in facts.tables["IN_TEXT"] if row.role != "turn_end"]
    longest = max(map(_longest, (*rows, *facts.turn_ends)), default=1) - 1
    text = (
        "White space, which counts only if more text follows; and what may become a marker, "
        f"of at most {max(longest, 0)} characters. A longer `stop` text can raise that."
    )
    yield textwrap.indent(textwrap.fill(text, _WIDTH - 4), "    ")


def _longest(marker: str) -> int:
    """Return how many characters a marker has at most."""
    parts = re.findall(r"\{\{|\}\}|\{\w+\}|[\s\S]", marker)
    return sum(_LONGEST.get(part, 1) for part in parts)
