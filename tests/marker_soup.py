"""What a confused model may write in a format: its own markers, whole or broken, in any order.

Texts have words of their own in them, no two alike, so that a test can tell whether one was lost.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from turnspec.codegen.writer import write_parts
from turnspec.rendering.conversation import tool_definitions
from turnspec.spec.calls import Literal
from turnspec.spec.message import Call, Message
from turnspec.spec.model import Spec
from turnspec.spec.words import Part
from turnspec.verification.messages import TRICKY_TEXTS, allowed_call, format_markers

#: Stands for a word until all words of a text are numbered.
WORD = "qvx"
_NUMBERED_WORD = re.compile(r"qv\d+x")

_TOOL = {
    "type": "function",
    "function": {
        "name": "fetch",
        "parameters": {
            "type": "object",
            "properties": {
                "text": {"type": "string"},
                "count": {"type": "integer"},
                "ratio": {"type": ["number", "null"]},
                "flag": {"anyOf": [{"type": "boolean"}, {"type": "string"}]},
                "list": {"type": "array"},
                "options": {"type": "object"},
            },
        },
    },
}
TOOL_LISTS: tuple[list[dict[str, Any]] | None, ...] = (
    None,
    [],
    [_TOOL],
    [_TOOL],
    [{"name": "other"}],
)
_JSON_FRAGMENTS = (
    *('{"name": "fetch"', '"arguments": ', '"arguments": {"text": "qvx"}', '"id": "qvx"'),
    *('{"name": "fetch", "arguments": {"text": "qvx"}}', '{"arguments": {"qvx": 1}, "name": '),
    *('{"fetch": {"text": "qvx"}}', '{"a": {"b": [', '"parameters": {', '"name": "qvx"'),
    *("{", "}", "[", "]", "{}", "[]", "}}", "]}", '"', "'", ",", ":", ": ", '"qvx"', '": "'),
    *("\\", '\\"', "\\n", "\\ud83d", "\\ude00", "\\u00", "\\qvx", "\\u0000"),
    *("1", "-", "-0.5e", "1e999", "00", "NaN", "true", "fals", "null", "None", "True"),
)
_SPECIAL_TEXTS = (
    *(" ", "\n", "\r\n", "\r", "\t", "\n\n\n", "\x00", "\x0b", "\x1c", "\u0085", "\u00a0"),
    *("\u2028", "\u200b", "\ufeff", "\ud83d", "\ude00", "\u202eqvx\u202c", "‏עברית", "e\u0301"),
)
_TEXTS = st.text(st.characters(exclude_categories=()), max_size=4)
_NAMES = st.sampled_from(("fetch", "fetch", "other", WORD))
_KEYS = st.sampled_from(("text", "count", "ratio", "flag", "list", "options", "tag", WORD))


@dataclass(frozen=True, slots=True)
class Output:
    """What a model wrote, and the options it is parsed with."""

    text: str
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def words(self) -> list[str]:
        """The words of the text, no two of them alike."""
        return _NUMBERED_WORD.findall(self.text)

    def first(self, length: int) -> Output:
        """Return the same output, cut off."""
        return dataclasses.replace(self, text=self.text[:length])


def numbered(text: str) -> str:
    """Return the text with its words numbered, so that no two are alike."""
    numbers = itertools.count()
    return re.sub(WORD, lambda _: f"qv{next(numbers)}x", text)


def own_markers(spec: Spec) -> list[str]:
    """Return the format's own literals as they are written, and the markers in them."""
    turn, tools = spec.turn, spec.tools
    texts = [turn.header, *turn.stop, *(join.text for join in turn.joins)]
    texts += [text for end in turn.ends for text in (end.final, end.followed)]
    texts += [spec.reasoning.start, spec.reasoning.end, spec.content.start, spec.content.end]
    texts += spec.thinking.prompts
    if tools is not None:
        items = tools.arguments
        texts += [tools.section_start, tools.separator, tools.section_end]
        texts += [items.start, items.separator, items.end, items.empty, items.syntax.quote]
        pieces = (*tools.call, *items.item)
        texts += [piece.text for piece in pieces if isinstance(piece, Literal)]
        texts += [*items.types.values(), *_guards(spec)]
    return sorted({text for text in texts if text} | format_markers(spec))


def _guards(spec: Spec) -> list[str]:
    guard = spec.tools.arguments.guard if spec.tools else None
    return [guard.start, guard.end, guard.characters] if guard else []


def marker_pieces(spec: Spec) -> list[str]:
    """Return the markers in the forms a model may give them: whole, halved, spaced otherwise."""
    found: set[str] = set()
    for marker in own_markers(spec):
        bare = marker.strip()
        found |= {marker, bare, f" {bare}", f"{bare}\n", f"\r\n{bare}\r\n"}
        found |= {marker.replace("\n", "\r\n"), marker.replace("\n", ""), bare.upper()}
        found |= {bare[: len(bare) // 2], bare[len(bare) // 2 :], bare[:-1], bare[1:]}
    return sorted(found - {""})


def plain_pieces() -> list[str]:
    """Return pieces that belong to no format: words, JSON, texts that trip careless parsers."""
    return [WORD, f"{WORD} ", f" {WORD}\n", *_JSON_FRAGMENTS, *_SPECIAL_TEXTS, *TRICKY_TEXTS]


def worded_messages(spec: Spec) -> st.SearchStrategy[Message]:
    """Return a strategy for messages full of words, in what order the words are doesn't matter."""
    own = format_markers(spec)
    pieces = st.sampled_from((WORD, WORD, *TRICKY_TEXTS, "\ud83d", "\u2028", "e\u0301"))
    lists = st.lists(pieces, min_size=1, max_size=3).map(lambda found: " ".join([*found, WORD]))
    texts = lists.filter(lambda text: not any(marker in text for marker in own))
    absent = st.just("")
    thought = st.one_of(absent, texts) if spec.reasoning.end.strip() else absent
    call = st.builds(Call, _NAMES, _arguments(texts), st.just(WORD))
    calls = st.lists(call.map(lambda found: allowed_call(spec, found)), max_size=3).map(tuple)
    some = calls if spec.tools else st.just(())
    return st.builds(Message, content=st.one_of(absent, texts), reasoning=thought, calls=some)


def _arguments(texts: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, object]]:
    scalars: st.SearchStrategy[object] = st.one_of(
        texts, st.sampled_from((7, -0.5, True, None, "", "7", [], {}))
    )
    nested = st.one_of(
        scalars, st.lists(scalars, max_size=2), st.dictionaries(_KEYS, scalars, max_size=2)
    )
    return st.dictionaries(_KEYS, nested, max_size=3)


def written_outputs(spec: Spec) -> st.SearchStrategy[Output]:
    """Return a strategy for well-formed turns after the header, parsed with tools that fit."""
    return worded_messages(spec).map(lambda message: _written(spec, message))


def _written(spec: Spec, unnumbered: Message) -> Output:
    message = _numbered_message(unnumbered)
    text = write_parts(spec, message, Part.START)
    tools = tool_definitions(message.calls)
    return Output(text, {"tools": tools, "prefill": spec.turn.header})


def _numbered_message(message: Message) -> Message:
    """Return the message with its words numbered; what a format says twice stays the same."""
    written = json.dumps(dataclasses.asdict(message))
    parts = json.loads(numbered(written))
    return Message(parts["content"], parts["reasoning"], tuple(Call(**c) for c in parts["calls"]))


def soups(spec: Spec) -> st.SearchStrategy[Output]:
    """Return a strategy for what a confused model may write, with any options."""
    turns = worded_messages(spec).map(lambda message: write_parts(spec, message, Part.START))
    shuffled = turns.flatmap(lambda turn: _shuffled(spec, turn))
    pieces = st.one_of(
        st.sampled_from(marker_pieces(spec)),
        st.sampled_from(own_markers(spec)),
        st.just(WORD),
        st.sampled_from(plain_pieces()),
        _TEXTS,
        shuffled,
    )
    lists = st.one_of(st.lists(pieces, min_size=4, max_size=14), st.lists(pieces, max_size=3))
    texts = lists.map("".join).map(numbered)
    return st.builds(Output, texts, options(spec, turns))


def _shuffled(spec: Spec, turn: str) -> st.SearchStrategy[str]:
    """Return a turn cut off, or its markers and texts in any order, some twice, some missing."""
    parts = split_at_markers(spec, turn)
    lengths = st.integers(0, len(turn)).map(lambda length: turn[:length])
    orders = st.lists(st.integers(0, len(parts) - 1), max_size=8)
    orders = st.one_of(orders, orders.map(sorted))
    return st.one_of(lengths, orders.map(lambda order: "".join(parts[at] for at in order)))


def split_at_markers(spec: Spec, turn: str) -> Sequence[str]:
    """Return the markers of a turn and what is between them, in order; at least one text."""
    longest_first = sorted(format_markers(spec), key=len, reverse=True)
    parts = re.split("(" + "|".join(map(re.escape, longest_first)) + ")", turn)
    return [part for part in parts if part] or [""]


def options(spec: Spec, turns: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, Any]]:
    """Return a strategy for the parser's options; ``turns`` may be part of the prefill."""
    header = spec.turn.header
    begun = turns.flatmap(
        lambda turn: st.integers(0, len(turn)).map(lambda length: header + turn[:length])
    )
    known = (None, None, "", header, header + spec.reasoning.start)
    return st.fixed_dictionaries(
        {
            "tools": st.sampled_from(TOOL_LISTS),
            "enable_thinking": st.sampled_from((None, True, False)),
            "prefill": st.one_of(st.sampled_from(known), begun),
            "echo": st.booleans(),
            "reasoning": st.sampled_from(("extract", "extract", "inline")),
        }
    )


def chunkings(text: str) -> st.SearchStrategy[list[str]]:
    """Return a strategy for ways to cut a text into chunks, some of them empty."""
    cuts = st.lists(st.integers(0, len(text)), max_size=6).map(sorted)
    return cuts.map(
        lambda at: [text[start:end] for start, end in itertools.pairwise([0, *at, len(text)])]
    )
