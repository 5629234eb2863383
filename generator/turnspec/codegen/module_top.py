"""What a compiled module says of itself, from its facts and from running it.

Each row is a text and what the parser makes of it, so that it can be read back and run.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from turnspec.codegen.compiled import run_engine
from turnspec.codegen.facts import FormatFacts
from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.held_back import held_back
from turnspec.codegen.rules import Marker, Row
from turnspec.spec.visible import visible, visible_json

_Parse = Callable[[str], Any]

#: Without it no call is read that begins with its name.
_TOOLS = [{"name": "get_weather"}]
_OTHER_TOOLS = [{"name": "other"}]
_WIDTH = 88
_LINE = 76  # characters of a text in a row
_SHOWN = 30  # characters at each end of a longer one
_COLUMN = 40  # in which events stand
_DEVIATIONS = 8  # rows at most
_LINES = 36  # that these rows have together, at most
_BREAKS = 5
_TEXT = "It rains."
_THOUGHT = "Let me see."
_USE = """\
    message = parse(text{tools})  # a whole text{types}
    parser = Parser({given})  # or a stream; `prefill`: the turn's start in the prompt
    for piece in stream:
        for event in parser.feed(piece): ...
    events = parser.finish()
    message = parser.message  # {fields}, problems
"""
_CALLS = """\
    message.tool_calls  # id, name, arguments (JSON text if `complete`: run no others)
"""
_IS_TEXT = "else it is text."
#: Stands for a sign and the blank behind it, at which no line ends.
_SIGN_ALONE = "#\0"
_TOLD = (
    "`parse` and `feed` never raise on what a model writes. `message.problems` (offset, kind, "
    "message) tells what deviates, and quotes any text left out elsewhere.{tools} The rows below "
    'are what this module gave: "{sign}kind" names a problem\'s kind, "{sign}-" says that there '
    "is none."
)


def docstring(facts: FormatFacts, samples: Sequence[str], notes: Iterable[str]) -> str:
    """Return a module's docstring, with its quotes."""
    module = run_engine(facts)
    called = _called(facts, samples)
    tools = _TOOLS if facts.values.get("CALLS_BEGIN_WITH_NAME") else None
    header = facts.format["header"]
    parse = partial(module.parse, tools=tools, prefill=header)
    several = (sample.removeprefix(header) for sample in samples[2:])
    others = (*several, *(it for it in _deviations(facts, called) if it != called))
    told = textwrap.fill(held_back(facts), _WIDTH - 4)
    blocks = [
        f"Reads turns in the format of {visible(facts.format['name'])} (Python 3.10+).",
        f"{_use(facts)}\n{_told(facts, parse, called)}",
        "\n".join(_sample_rows(module, tools, header, samples[:2])),
        "\n".join(["WHAT ELSE IS READ", *_fitting(_rows(parse, others, _DEVIATIONS))]),
        *_value_ends(facts, parse, called),
        "\n".join(["WHERE THE TEXT IS CUT OFF", *_rows(parse, _cut_off(facts, called), _BREAKS)]),
        "\n".join(["WHAT feed() HOLDS BACK", textwrap.indent(told, "    ")]),
        *(textwrap.fill(note, _WIDTH, break_long_words=False) for note in notes),
    ]
    text = "\n\n".join(blocks).replace('"""', "'''")
    is_raw = "\\" in text
    return f'{"r" if is_raw else ""}"""{text}\n"""\n'


def _use(facts: FormatFacts) -> str:
    """Return how the module is used, without what its messages never have."""
    calls, reasons = bool(facts.values["HAS_CALLS"]), bool(facts.values["HAS_REASONING"])
    told = "the types of arguments" if _has_types(facts) else "which names are known"
    fields = ("content", *["reasoning_content"] * reasons, *["tool_calls"] * calls)
    use = _USE.format(
        tools=", tools=tools" * calls,
        given="tools=tools" * calls,
        types=f"; tools tell {told}" * calls,
        fields=", ".join(fields),
    )
    return use + _CALLS * calls


def _told(facts: FormatFacts, parse: Callable[..., Any], called: str) -> str:
    """Return what problems and rows tell, and what is made of what no tool says."""
    read = parse(called, tools=_OTHER_TOOLS)
    unknown = ""
    if any(problem.kind == "unknown_tool" for problem in read.problems):
        unknown = " A call of no given tool is kept, and told as `unknown_tool`"
    elif facts.values["HAS_CALLS"] and read.content and not read.tool_calls:
        unknown = " A call of no given tool is content"
        marks = [it for it in _openings(facts) if parse(it + called, tools=_OTHER_TOOLS).tool_calls]
        unknown += f", but behind {' or '.join(map(_quoted, marks))}" * bool(marks)
    if unknown:
        untyped = _has_types(facts) and not facts.data["TYPE_WORDS"]  # which say it in the text
        unknown += "; an argument of unknown type is a string." if untyped else "."
    told = _TOLD.format(tools=unknown, sign=_SIGN_ALONE) + _begun(facts.format)
    return textwrap.fill(told, _WIDTH).replace(_SIGN_ALONE, "# ")


def _has_types(facts: FormatFacts) -> bool:
    """Say whether arguments are text, which the tool's schema types."""
    return facts.values.get("ARGUMENTS") == "text" or bool(facts.values["HAS_ELEMENTS"])


def _begun(texts: Mapping[str, str]) -> str:
    """Return a sentence on what of a turn the prompt holds, if that is more than its header."""
    more = texts["prompt"].removeprefix(texts["header"])
    told = f' The texts here follow FORMAT["header"] alone; the default prompt adds {more!r}.'
    return told if more else ""


def _sample_rows(
    module: FormatModule, tools: Any, header: str, samples: Sequence[str]
) -> Iterator[str]:
    """Yield sample turns, a line each, with the events that it gives."""
    yield f"{'THE FORMAT':{_COLUMN}}THE EVENTS"
    for number, sample in enumerate(samples):
        if number:
            yield "    or"
        parser = module.Parser(prefill=header, tools=tools)
        lines = re.findall(r"[^\n]*\n|[^\n]+", sample.removeprefix(header))
        for at, line in enumerate(lines):
            events = parser.feed(line) + (parser.finish() if at == len(lines) - 1 else [])
            *first, last = _parts(visible(line.rstrip("\n"))) or [""]
            rows = (f"    {row}".rstrip() for row in first)
            yield from filter(None, (*rows, *_beside(f"    {last}", list(map(_event, events)))))


def _beside(text: str, events: Sequence[str]) -> Iterator[str]:
    """Yield a line with the events that it gives in a column beside it, and more lines of these."""
    told = [""]
    for event in events:
        if told[-1] and _COLUMN + len(f"{told[-1]} {event}") > _WIDTH:
            told.append("")
        told[-1] = f"{told[-1]} {event}".lstrip()
    if len(text) >= _COLUMN:
        yield text.rstrip()
        text = ""
    for line in told:
        yield f"{text:{_COLUMN}}{line}".rstrip()
        text = ""


def _event(event: Any) -> str:
    fields = type(event).__match_args__
    shown = (name for name in ("name", "text", "arguments") if name in fields)
    values = (repr(getattr(event, name)) for name in shown)
    return f"{type(event).__name__}({', '.join(values)})"


def _called(facts: FormatFacts, samples: Sequence[str]) -> str:
    """Return the sample turn with a call, from its first marker of calls on."""
    if not facts.values["HAS_CALLS"] or len(samples) < 2:
        return ""
    turn = samples[1].removeprefix(facts.format["header"])
    return turn[max(turn.find(_opening(facts, turn) or _head_text(facts)), 0) :]


def _opening(facts: FormatFacts, turn: str) -> str:
    """Return what opens calls, as a turn has it."""
    opening = _text_of(facts.text("OPENING"))
    return opening if opening in turn else opening.replace(" ", "")


def _openings(facts: FormatFacts) -> list[str]:
    """Return the markers that may stand before calls."""
    rows = [row for row in facts.tables["IN_TEXT"] if row.role in ("opening", "code")]
    return list(dict.fromkeys(_text_of(row.marker).strip() for row in rows))


def _head_text(facts: FormatFacts) -> str:
    return _text_of(facts.text("CALL_HEAD").partition("{")[0]).strip()


def _deviating_calls(facts: FormatFacts, called: str) -> Iterator[str]:
    opening = _opening(facts, called)
    head, ends = called.find(_head_text(facts)), _plain(facts, "close")
    if opening and head > 0:
        yield called[head:]
    yield from (it + called for it in _openings(facts) if not opening)
    if opening:
        yield f"Use {opening} for calls."
        members = '{"name": "get_weather", "arguments": {"city": "Paris"}}'
        end = called[called.find(_end_of(facts)) :].lstrip(")")  # if that closes arguments alone
        yield called[: len(opening)] + members + end
    for end in ends[:1]:
        yield called.replace(end, "", 1)
    if facts.values["HAS_DRAFTS"]:
        thought = f"{_marker(facts, 'reasoning_start')}{_THOUGHT}\n{called}"
        yield thought
        rest = thought.rstrip().removesuffix(_text_of(facts.turn_ends[0]).strip())
        yield f"{rest}{_marker(facts, 'reasoning_end')}{_TEXT}"
    yield f"{called.rstrip().removesuffix(_text_of(facts.turn_ends[0]).strip())}Then this."


def _end_of(facts: FormatFacts) -> str:
    return _text_of(facts.text("LATER_CALL_END") or facts.text("FIRST_CALL_END"))


def _deviations(facts: FormatFacts, called: str) -> Iterator[str]:
    """Yield texts that keep to the format only so far."""
    if called and facts.turn_ends:
        yield from _deviating_calls(facts, called)
    start, close = _marker(facts, "reasoning_start"), _marker(facts, "reasoning_end")
    for header in _headers(facts):
        yield header + _TEXT
    for end in facts.turn_ends[:1]:
        yield f"{_TEXT}{_text_of(end)} More."
    if start and close:
        yield f"{start}{_THOUGHT}{close}{start}{_THOUGHT}{close}{_TEXT}"
        yield f"{_TEXT}{start}{_THOUGHT}{close}"
        yield f"{_TEXT}{close}"
        yield f'It begins with "{start}".'


def _value_ends(facts: FormatFacts, parse: _Parse, called: str) -> Iterator[str]:
    """Yield the section on where a value ends, with a value that holds what could end it."""
    if not facts.values["HAS_CALLS"]:
        return
    closes = [row for row in facts.tables["IN_VALUE"] if row.role == "close"]
    end = _text_of(closes[0].marker).strip() if closes else _end_of(facts)
    told = _where_values_end(facts, closes)
    texts = [called.replace("Paris", f"Par{end}is", 1)] if called and end else []
    if not all(call.complete for text in texts for call in parse(text).tool_calls):
        told = told.replace(_IS_TEXT, f"{_IS_TEXT[:-1]}, and after a word the call isn't complete.")
    told = textwrap.fill(told, _WIDTH - 4)
    rows = _rows(parse, texts, len(texts))
    yield "\n".join(["WHERE A VALUE ENDS", textwrap.indent(told, "    "), *rows])


def _where_values_end(facts: FormatFacts, closes: Sequence[Row]) -> str:
    if closes:
        marker, after = _text_of(closes[0].marker).strip(), closes[0].if_before
        if not after:
            return f"At the first {_quoted(marker)}."
        *others, last = map(_next_text, after)
        needed = f"{', '.join(others)} or {last}" if others else last
        told = f"At {_quoted(marker)}, if {needed} comes next; {_IS_TEXT}"
        roles = [row.role for row in facts.tables["IN_VALUE"]]
        told += " A whole call in it is text, too." * ("call" in roles)
        missing = f" If {_quoted(marker)} is missing, a value ends where its call does."
        return told + missing * ("rest" in roles)
    is_begun_again = any(row.role == "marker" for row in facts.tables["AT_CALL_START"])
    if not any(facts.style.get(name) for name in ("raw_quote", "has_python_escapes")):
        told = "Each value is JSON. Markers in a string are text"
        return told + ", unless a call with bare quotes comes next" * is_begun_again + "."
    told = _where_strings_end(facts)
    told += " An open one also ends where another call begins." * is_begun_again
    return told + " Any other value says itself where it ends."


def _where_strings_end(facts: FormatFacts) -> str:
    assert facts.style
    if facts.style["is_raw_inside"]:
        return "A string ends at its quote, if the call can go on behind it."
    signs = str(facts.style["after_string"]).replace(":", "")
    return (
        f"A string ends at its quote if one of {_quoted(signs)}, `key=` or what ends the call"
        " comes next; else the quote is text."
    )


def _next_text(marker: Marker) -> str:
    text = marker if isinstance(marker, str) else marker[0]
    if "</" in text and "tag" in text:
        return "another closing tag before the call's end"
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
    for header in _headers(facts):
        for begun in _plain(facts, "broken_off")[:1]:
            if len(begun) < len(header):
                yield f"{_TEXT} {header[: len(begun)]}"
        yield f"{_TEXT} {header[:3]}"
    yield _TEXT


def _plain(facts: FormatFacts, role: str) -> list[str]:
    return [_text_of(row.marker) for row in facts.rows(role)]


def _headers(facts: FormatFacts) -> list[str]:
    """Return the header of a turn, if it is a marker whatever follows."""
    rows = [row for row in facts.tables["IN_TEXT"] if row.role == "turn_start"]
    return [_text_of(row.marker) for row in rows if not row.if_before][:1]


def _marker(facts: FormatFacts, role: str) -> str:
    return next(iter(_plain(facts, role)), "")


def _text_of(marker: str) -> str:
    """Return a text that a marker's notation stands for, without space between tags and words."""
    shown = re.sub(r"(?<=>) (?=\w)|(?<=\w) (?=<)", "", marker)
    shown = re.sub(r"\{\?([^{}]*)\}", r"\1", shown)
    return re.sub(r"\{\w[^{}]*\}", "", shown).replace("{{", "{").replace("}}", "}")


def _rows(parse: _Parse, texts: Iterable[str], most: int) -> Iterator[str]:
    """Yield rows for the first of some texts."""
    for text in list(dict.fromkeys(texts))[:most]:
        message = parse(text)
        kinds = ", ".join(dict.fromkeys(problem.kind for problem in message.problems)) or "-"
        lines, said = [f"    {line!r}" for line in _parts(text)], _said(message)
        said[-1] += f"  # {kinds}"
        row = f"{lines[0]} -> {said[0]}"
        if len(lines) + len(said) > 2 or len(row) > _WIDTH:
            row = "\n".join([*lines, *(f"        {part}" for part in said)])
        yield row


def _fitting(rows: Iterable[str]) -> Iterator[str]:
    """Yield rows as long as there are lines for them."""
    left = _LINES
    for row in rows:
        left -= row.count("\n") + 1
        if left >= 0:
            yield row


def _parts(text: str) -> list[str]:
    """Return a text in pieces that a line holds, cut after a line break or before a marker."""
    parts = []
    while len(text) > _LINE:
        cut = text.rfind("\n", 0, _LINE) + 1 or max(text.rfind("<", 1, _LINE), 0) or _LINE
        parts.append(text[:cut])
        text = text[cut:]
    return [*parts, text] if text else parts


def _said(message: Any) -> list[str]:
    """Return what a message has, a line for each part."""
    parts = {"reasoning": message.reasoning_content, "content": message.content}
    said = [f"{name} {_shortened(text)}" for name, text in parts.items() if text]
    for call in message.tool_calls:
        cut_off = "" if call.complete else ", not complete"
        said.append(f"call {call.name!r} {visible_json(call.arguments)}{cut_off}")
    return said or ["nothing"]


def _shortened(text: str) -> str:
    """Return a text's literal, or those of its beginning and its end."""
    return repr(text) if len(text) <= _LINE else f"{text[:_SHOWN]!r} ... {text[-_SHOWN:]!r}"
