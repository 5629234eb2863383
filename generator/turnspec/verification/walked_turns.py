"""What a walk over a grammar meant: the calls it wrote, their arguments, and its text.

A grammar's rules say what stands where. So what a parser has to read in a random text is known
without any parser: which tool each call names, which arguments it has, what strings are in them,
and which text is content and which is reasoning.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from turnspec.grammar.answers import RESPONSE
from turnspec.grammar.elements import ELEMENT_STRING, ELEMENT_TEXT
from turnspec.grammar.in_string import IN_STRING
from turnspec.grammar.value_notations import RAW_TEXT
from turnspec.grammar.values import ESCAPED_STRING
from turnspec.verification.walks import Walk

_BOUND_CALL = re.compile(r"(?:begun-)?call-(\d+)")
_CALLS = ("call", "begun-call")
_REASONING = re.compile(r"(?:.*-)?reasoning-turn")
_TEXTS = ("text", RESPONSE)
#: How the strings that these rules write are read.
_STRINGS: dict[str, Callable[[str], str]] = {
    "json-string": json.loads,
    f"{IN_STRING}json-string": lambda text: str(json.loads(json.loads(f'"{text}"'))),
    ESCAPED_STRING: json.loads,
    "python-string": ast.literal_eval,
    "quoted-text": str,
    RAW_TEXT: str,
    ELEMENT_STRING: str,
    ELEMENT_TEXT: str,
}


@dataclass(frozen=True, slots=True)
class MeantCall:
    """A call of a walk: its tool, its id ("" where there is none), and its arguments if known."""

    name: str
    id: str
    keys: tuple[str, ...] | None  # sorted
    strings: tuple[str, ...] | None  # all that are in the values, in their order

    def __str__(self) -> str:
        said = [f"call {self.name}", f"id {self.id}" if self.id else ""]
        said.append(f"keys {', '.join(self.keys)}" if self.keys else "")
        texts = [json.dumps(text, ensure_ascii=False) for text in self.strings or ()]
        said.append(f"strings {', '.join(texts)}" if texts else "")
        return " with ".join(filter(None, said))


@dataclass(frozen=True, slots=True)
class MeantTurn:
    """A walk's turn."""

    content: str
    reasoning: str
    calls: tuple[MeantCall, ...]

    def __str__(self) -> str:
        texts = {"reasoning": self.reasoning, "content": self.content}
        parts = [f"{name} {json.dumps(t, ensure_ascii=False)}" for name, t in texts.items() if t]
        return ", ".join([*parts, *map(str, self.calls)]) or "nothing"


def meant_by(
    walk: Walk, tools: Mapping[str, Any] | None, escapes: Mapping[str, str] | None = None
) -> MeantTurn:
    """Return what a walk meant; ``tools`` has the schemas that its grammar is bound to, if any.

    ``escapes`` are what stands for signs in values.
    """
    signs = {text: sign for sign, text in (escapes or {}).items()}
    texts = {True: "", False: ""}
    for number, span in enumerate(walk.spans):
        if span.rule in _TEXTS and not _is_around(walk, number, span.rule):
            texts[_is_reasoning(walk, number)] += walk.of(span)
    numbers = (number for number, span in enumerate(walk.spans) if span.rule in _CALLS)
    calls = (_call(walk, number, tools, signs) for number in numbers)
    return MeantTurn(texts[False], texts[True], tuple(calls))


def read_as(parsed: Any, turn: MeantTurn) -> MeantTurn:
    """Return what a parser read, in the form of the turn that was meant."""
    shows_ids = any(call.id for call in turn.calls)
    calls = (_read_call(call, shows_ids) for call in parsed.tool_calls)
    return MeantTurn(parsed.content, parsed.reasoning_content, tuple(calls))


def same(meant: MeantTurn, read: MeantTurn) -> bool:
    """Tell whether a turn was read as it was meant, but for white space in its texts."""
    texts = ((turn.content, turn.reasoning) for turn in (meant, read))
    squeezed = [["".join(text.split()) for text in pair] for pair in texts]
    return (
        squeezed[0] == squeezed[1]
        and len(meant.calls) == len(read.calls)
        and all(_same_call(*pair) for pair in zip(meant.calls, read.calls, strict=True))
    )


def _same_call(meant: MeantCall, read: MeantCall) -> bool:
    if (meant.name, meant.id) != (read.name, read.id) or meant.keys not in (None, read.keys):
        return False
    if meant.strings is None or read.strings is None:
        return True
    pairs = zip(meant.strings, read.strings, strict=False)
    return len(meant.strings) == len(read.strings) and all(_same_string(*pair) for pair in pairs)


def _same_string(meant: str, read: str) -> bool:
    """Tell whether a string is the same, but for a line's end at either end that its tags have."""
    with_ends = rf"[ \t]*\r?\n?{re.escape(read)}\r?\n?[ \t]*"
    return meant == read or re.fullmatch(with_ends, meant) is not None


def _is_around(walk: Walk, number: int, rule: str) -> bool:
    """Tell whether a span stands inside another one of a rule, as a rule that calls itself does."""
    return any(walk.spans[outer].rule == rule for outer in _outer(walk, number))


def _is_reasoning(walk: Walk, number: int) -> bool:
    turns = (walk.spans[outer].rule for outer in _outer(walk, number))
    innermost = next((rule for rule in turns if rule.endswith("-turn")), "")
    return _REASONING.fullmatch(innermost) is not None


def _outer(walk: Walk, number: int) -> Iterator[int]:
    """Yield the numbers of the spans around one, from the inside out."""
    while (around := walk.spans[number].around) != number:
        yield around
        number = around


def _call(
    walk: Walk, number: int, tools: Mapping[str, Any] | None, signs: Mapping[str, str]
) -> MeantCall:
    inside = [walk.spans[inner] for inner in walk.inside(number)]
    identifier = next((walk.of(span) for span in inside if span.rule == "call-id"), "")
    if tools is None:
        name = next((walk.of(span) for span in inside if span.rule == "tool-name"), "")
        said = {walk.of(span) for span in inside if span.rule == "argument-name"}
        return MeantCall(name, identifier, tuple(sorted(said)) or None, None)
    chosen = next(found for span in inside if (found := _BOUND_CALL.fullmatch(span.rule)))
    name = list(tools)[(int(chosen[1]) - 1) % len(tools)]
    literals = [walk.of(span) for span in inside if not span.rule]
    keys = [key for key in tools[name]["properties"] if any(_holds(t, key) for t in literals)]
    whole = [n for n in walk.inside(number) if not _is_around(walk, n, ELEMENT_STRING)]
    spans = (walk.spans[inner] for inner in whole)
    texts = ((span.rule, walk.of(span)) for span in spans if span.rule in _STRINGS)
    strings = (_STRINGS[rule](_unescaped(text, signs)) for rule, text in texts)
    return MeantCall(name, identifier, tuple(sorted(keys)), tuple(strings))


def _unescaped(text: str, signs: Mapping[str, str]) -> str:
    """Return a text with the signs that others stand for."""
    escaped = "|".join(map(re.escape, signs))
    return re.sub(escaped, lambda found: signs[found[0]], text) if signs else text


def _holds(text: str, key: str) -> bool:
    return re.search(rf"(?<![a-z]){key}(?![a-z])", text) is not None


def _read_call(call: Any, shows_ids: bool) -> MeantCall:
    identifier = call.id if shows_ids else ""
    try:
        arguments = json.loads(call.arguments)
    except ValueError:
        return MeantCall(call.name, identifier, ("not JSON",), (call.arguments,))
    keys = sorted(arguments) if isinstance(arguments, dict) else []
    return MeantCall(call.name, identifier, tuple(keys), tuple(_strings_in(arguments)))


def _strings_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else ():
        yield from _strings_in(inner)
    for inner in value if isinstance(value, list) else ():
        yield from _strings_in(inner)
