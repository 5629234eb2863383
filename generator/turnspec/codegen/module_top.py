"""What a compiled module says of itself, from its facts and from running it.

Each row is a text and what the parser makes of it, so that it can be read back and run.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from turnspec.codegen.facts import FormatFacts, Marker, Row
from turnspec.codegen.format_module import FormatModule

_WIDTH = 88
_LINE = 76  # characters of a text in a row
_COLUMN = 40  # in which events stand
_DEVIATIONS = 8  # rows at most
_BREAKS = 5
_TEXT = "It rains."
_THOUGHT = "Let me see."
_USE = """\
    message = parse(text, tools=tools)  # a whole text
    parser = Parser(tools=tools)  # or a stream
    for piece in stream:
        for event in parser.feed(piece): ...
    events = parser.finish()
    message = parser.message

Neither ever raises on what a model writes: `message.problems` tells what deviates."""


def docstring(
    facts: FormatFacts, module: FormatModule, samples: Sequence[str], notes: Sequence[str]
) -> str:
    """Return a module's docstring, with its quotes."""
    called = _called(facts, samples)
    blocks = [
        f"Reads turns in the format of {_visible(facts.format['name'])}.",
        _USE,
        "\n".join(filter(None, _sample_rows(module, facts.format["header"], samples))),
        "\n".join(["WHAT ELSE IS READ", *_rows(module, _deviations(facts, called), _DEVIATIONS)]),
        *_value_ends(facts, module, called),
        "\n".join(["WHERE THE TEXT IS CUT OFF", *_rows(module, _cut_off(facts, called), _BREAKS)]),
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
            *first, last = _parts(_visible(line)) or [""]
            yield from (f"    {part}".rstrip() for part in first)
            yield from _beside(f"    {last}", list(map(_event, events)))


def _beside(text: str, events: Sequence[str]) -> Iterator[str]:
    """Yield a line with the events that it gives beside it, or below it if they are long."""
    line = f"{text:{_COLUMN}}{' '.join(events)}".rstrip()
    if len(text) < _COLUMN and len(line) <= _WIDTH:
        yield line
        return
    yield text.rstrip()
    yield from (" " * _COLUMN + event for event in events)


def _event(event: Any) -> str:
    fields = type(event).__match_args__
    shown = (name for name in ("name", "text", "arguments") if name in fields)
    values = (repr(getattr(event, name)) for name in shown)
    return f"{type(event).__name__}({', '.join(values)})"


def _visible(line: str) -> str:
    return "".join(sign if sign.isprintable() else " " for sign in line.rstrip("\n"))


def _called(facts: FormatFacts, samples: Sequence[str]) -> str:
    """Return the sample turn with a call, from its first marker of calls on."""
    if not facts.values["HAS_CALLS"] or len(samples) < 2:
        return ""
    turn = samples[-1].removeprefix(facts.format["header"])
    opening = facts.text("OPENING") or _head_text(facts)
    return turn[max(turn.find(_text_of(opening)), 0) :]


def _head_text(facts: FormatFacts) -> str:
    return facts.text("CALL_HEAD").partition("{")[0].strip()


def _deviating_calls(facts: FormatFacts, called: str) -> Iterator[str]:
    opening = _text_of(facts.text("OPENING"))
    head, ends = called.find(_head_text(facts)), _plain(facts, "close")
    if opening:
        yield called[head:]
        yield f"Use {opening} for calls."
        members = '{"name": "get_weather", "arguments": {"city": "Paris"}}'
        yield called[: len(opening)] + members + called[called.find(_end_of(facts)) :]
    for end in ends[:1]:
        yield called.replace(end, "", 1)
    yield f"{called.removesuffix(_text_of(facts.turn_ends[0]))}Then this."


def _end_of(facts: FormatFacts) -> str:
    return _text_of(facts.text("LATER_CALL_END") or facts.text("FIRST_CALL_END"))


def _deviations(facts: FormatFacts, called: str) -> Iterator[str]:
    """Yield texts that keep to the format only so far."""
    if called and facts.turn_ends:
        yield from _deviating_calls(facts, called)
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


def _value_ends(facts: FormatFacts, module: FormatModule, called: str) -> Iterator[str]:
    """Yield the section on where a value ends, with a value that holds what could end it."""
    if not facts.values["HAS_CALLS"]:
        return
    closes = [row for row in facts.tables["IN_VALUE"] if row.role == "close"]
    end = _text_of(closes[0].marker).strip() if closes else _end_of(facts)
    told = textwrap.fill(_where_values_end(facts, closes), _WIDTH - 4)
    texts = [called.replace("Paris", f"Par{end}is", 1)] if called and end else []
    rows = _rows(module, texts, len(texts))
    yield "\n".join(["WHERE A VALUE ENDS", textwrap.indent(told, "    "), *rows])


def _where_values_end(facts: FormatFacts, closes: Sequence[Row]) -> str:
    if closes:
        marker, after = _text_of(closes[0].marker).strip(), closes[0].if_before
        if not after:
            return f"At the first {_quoted(marker)}."
        *others, last = map(_next_text, after)
        needed = f"{', '.join(others)} or {last}" if others else last
        return f"At {_quoted(marker)}, if {needed} comes next; any other is part of the value."
    if facts.style:
        signs = "".join(dict.fromkeys(str(facts.style["after_string"])))
        return (
            "Each value says itself where it ends; a string at its quote, if one of"
            f" {_quoted(signs)} or what ends the call comes next."
        )
    return "Each value is JSON, which says itself where it ends."


def _next_text(marker: Marker) -> str:
    text = marker if isinstance(marker, str) else marker[0]
    return "the turn's end" if "{stop" in text else _quoted(_text_of(text).strip())


def _quoted(text: str) -> str:
    """Return a text in a sentence, in a form that no row has."""
    return f"`{repr(text)[1:-1]}`"


def _cut_off(facts: FormatFacts, called: str) -> Iterator[str]:
    """Yield texts that break off."""
    if called:
        yield called[: called.find("Paris") + 3]
        yield called[: called.find("get_weather") + 3]
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
    return re.sub(r"\{\w[^{}]*\}", "", marker).replace("{{", "{").replace("}}", "}")


def _rows(module: FormatModule, texts: Iterable[str], most: int) -> Iterator[str]:
    """Yield rows for the first of some texts."""
    for text in list(dict.fromkeys(texts))[:most]:
        message = module.parse(text)
        kinds = ", ".join(dict.fromkeys(problem.kind for problem in message.problems)) or "-"
        yield from (f"    {line!r}" for line in _parts(text))
        *said, last = _said(message)
        yield from (f"        {part}" for part in said)
        yield f"        {last}  # {kinds}"


def _parts(text: str) -> list[str]:
    """Return a text in pieces, each as long as a line allows."""
    return [text[at : at + _LINE] for at in range(0, len(text), _LINE)]


def _said(message: Any) -> list[str]:
    """Return what a message has, a line for each part."""
    parts = {"reasoning": message.reasoning_content, "content": message.content}
    said = [f"{name} {text!r}" for name, text in parts.items() if text]
    for call in message.tool_calls:
        cut_off = "" if call.complete else ", not complete"
        said.append(f"call {call.name!r} {call.arguments}{cut_off}")
    return said or ["nothing"]


def _held(facts: FormatFacts) -> Iterator[str]:
    slots = {slot: _longest_slot(steps) for slot, steps in facts.slots.items()}
    rows = [row.marker for table in facts.tables.values() for row in table]
    held = [text for text in (*rows, *facts.turn_ends) if "{stop" not in text]
    longest = max((_longest(text, slots) for text in held), default=1) - 1
    text = (
        "White space, which counts only if more text follows; and what may become a marker, "
        f"of at most {max(longest, 0)} characters. A longer `stop` text can raise that."
    )
    if facts.values["HAS_CALLS"]:
        text += (
            " A value that is no string, and a call in another syntax, until it ends; a call in "
            "open reasoning, until it is clear whether it is one."
        )
    yield textwrap.indent(textwrap.fill(text, _WIDTH - 4), "    ")


def _longest_slot(steps: Sequence[str]) -> int:
    """Return how many characters a slot takes at most: what its expressions are bounded to."""
    counts = (re.findall(r"\{\d+,(\d+)\}|(\?)", re.sub(r"\(\?[:P=!]", "(", step)) for step in steps)
    return sum(int(most or 1) for found in counts for most, _ in found)


def _longest(marker: str, slots: Mapping[str, int]) -> int:
    """Return how many characters a marker has at most."""
    parts = re.findall(r"\{\{|\}\}|\{[^{}]+\}|[\s\S]", marker)
    return sum(slots.get(part, len(part) - 3 if part[:2] == "{?" else 1) for part in parts)
