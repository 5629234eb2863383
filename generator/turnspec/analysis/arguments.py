"""T4 to T6 with A1: how a call's arguments are written.

Either as one encoded object, whose style is found by writing it again, or as tagged items, which
yield to the rule for repetitions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from turnspec.analysis.argument_kinds import Kinds, RenderArguments, find_kinds
from turnspec.analysis.findings import Derivation, shown_pieces
from turnspec.analysis.limits import character_limits, limit
from turnspec.analysis.probes import (
    ARGUMENTS,
    CONTENT,
    IDS,
    KEYS,
    NAMES,
    VALUES,
    TokenKind,
    find_object,
    find_tokens,
    probe_call,
)
from turnspec.analysis.repetition import INDEX_MARK, mark_inner_index, repeated_items
from turnspec.analysis.text import whole_prefix, whole_suffix
from turnspec.analysis.value_encodings import find_encodings
from turnspec.rendering.conversation import Chat
from turnspec.spec.calls import Arguments, Literal, Piece, Slot, ValueSyntax
from turnspec.spec.encoding import encode_object
from turnspec.spec.message import Call, Message
from turnspec.spec.model import Limit
from turnspec.spec.words import Encoding, SlotKind, Subject, Verdict

#: An object that shows the style in which JSON (or a relative) is written.
STYLE_PROBE: dict[str, object] = {
    "zqa": "vqa",
    "bqa": "é\"\n<&>\\'",
    "cqa": [1, 2.5, {"dqa": True, "eqa": None}],
    "fqa": {},
    "gqa": [],
}


@dataclass(frozen=True, slots=True)
class ArgumentsFinding:
    """How arguments are written, what stands before and after them in a call, and the limits."""

    arguments: Arguments
    before: str
    after: str
    limits: tuple[Limit, ...]


def find_syntax(text: str, value: dict[str, object]) -> ValueSyntax | None:
    """Return the syntax in which ``value`` stands in ``text``, or None."""
    span = find_object(text, value, next(iter(value)))
    if span is None:
        return None
    written = text[span[0] : span[1]]
    candidates = _candidates(written)
    if written.startswith('"'):
        inner = (it for it in _candidates(json.loads(written)) if it.encoding is Encoding.JSON)
        candidates = [replace(it, in_string=True) for it in inner]
    return next((it for it in candidates if encode_object(value, it) == written), None)


def _candidates(written: str) -> list[ValueSyntax]:
    """Return the syntaxes in which an object that looks like ``written`` may be written."""
    lines = written.split("\n")
    margin = len(lines[-1]) - len(lines[-1].lstrip(" ")) if len(lines) > 1 else 0
    indent = len(lines[1]) - len(lines[1].lstrip(" ")) - margin if len(lines) > 1 else None
    plain = [
        ValueSyntax(
            item_separator=comma,
            key_separator=colon,
            indent=indent,
            margin=margin,
            ascii_only=ascii_only,
            sorted_keys=sorted_keys,
        )
        for comma in ((", ", ",") if indent is None else (",",))
        for colon in (": ", ":")
        for ascii_only in (False, True)
        for sorted_keys in (False, True)
    ]
    worded = [replace(syntax, python_words=True) for syntax in plain if syntax.indent is None]
    python = [ValueSyntax(encoding=Encoding.PYTHON, sorted_keys=it) for it in (False, True)]
    return plain + python + worded


def analyze_object(
    render: RenderArguments, before: str, after: str, derivation: Derivation
) -> ArgumentsFinding:
    """Find the style of arguments that stand as one object between two literals."""
    text = render(STYLE_PROBE) or ""
    syntax = find_syntax(text, STYLE_PROBE)
    limits: list[Limit] = []
    if syntax is None:
        syntax = find_syntax(render({KEYS[0]: VALUES[0]}) or "", {KEYS[0]: VALUES[0]})
        unknown = limit(Subject.ARGUMENT_STRING, Verdict.AMBIGUOUS, "its style is unknown")
        limits.append(unknown)
    else:
        limits += character_limits(Subject.ARGUMENT_STRING, partial(_holds, render, syntax))
    derivation.note("T4", f"arguments are one object, {syntax}", text)
    none = render({})
    empty = encode_object({}, syntax or ValueSyntax())
    if none is not None and none.startswith(before):
        rest = none.removeprefix(before)
        # What follows may be a bracket alone, which an empty object holds too.
        position = rest.find(after, len(empty) if rest.startswith(empty + after) else 0)
        empty = rest[: position if after else len(rest)] if position >= 0 else empty
    derivation.note("T6", f"no arguments are written {empty!r}", none or "")
    arguments = Arguments(syntax=syntax or ValueSyntax(), empty=empty)
    return ArgumentsFinding(arguments, before, after, tuple(limits))


def _holds(render: RenderArguments, syntax: ValueSyntax, text: str) -> bool | None:
    """Tell whether an object with this string is written as all are; None where it is refused.

    A string of JSON that is put together by hand may have its controls as they are.
    """
    value: dict[str, object] = {KEYS[0]: text}
    rendered = render(value)
    return None if rendered is None else encode_object(value, syntax) in rendered


def find_count_lead(render: RenderArguments) -> str:
    """Return what stands before a number that counts a call's arguments; "" without such a one.

    ``render`` gives whole turns here.
    """
    texts = [render(arguments) or "" for arguments in ARGUMENTS]
    marked = mark_inner_index([text[: text.find(KEYS[0])] for text in texts])
    if marked is None or marked[1] != 1:
        return ""
    lead = marked[0].partition(INDEX_MARK)[0]
    slots = [text for text in (NAMES[0], IDS[0]) if text in lead]
    return lead[max((lead.rfind(text) + len(text) for text in slots), default=0) :]


def analyze_tagged(render: RenderArguments, derivation: Derivation) -> ArgumentsFinding | None:
    """Find the items of tagged arguments: what surrounds a key, a value and all of them.

    Returns None where one argument alone can't be found again.
    """
    texts = [render(arguments) or "" for arguments in ARGUMENTS]
    one, none = texts[0], render({})
    if KEYS[0] not in one or VALUES[0] not in one:
        return None
    repeated = repeated_items(texts, KEYS)
    lead, empty, trail = _empty_arguments(none, repeated.befores[0], repeated.afters[0])
    kinds = find_kinds(render)
    arguments = Arguments(
        item=_item_pieces(one, repeated.start, repeated.end, kinds),
        start=repeated.befores[0].removeprefix(lead),
        separator=repeated.separator,
        end=repeated.afters[0].removesuffix(trail) if trail else repeated.afters[0],
        empty=empty,
    )
    derivation.note("A1", f"an argument is {shown_pieces(arguments.item)}", one)
    derivation.note("T5", f"arguments are separated by {repeated.separator!r}", texts[1])
    derivation.note("T6", f"no arguments are written {empty!r}", none or "")
    arguments, limits = find_encodings(render, arguments, kinds, derivation)
    return ArgumentsFinding(arguments, lead, trail, limits)


def _empty_arguments(none: str | None, before: str, after: str) -> tuple[str, str, str]:
    """Split what surrounds the items into the call's part and the arguments' own.

    Returns the call's text before, what stands for no arguments, and the call's text after.
    """
    if none is None:
        return before, "", after
    lead = whole_prefix([none, before])
    rest = none[len(lead) :]
    trail = whole_suffix([rest, after])
    return lead, rest[: len(rest) - len(trail)], trail


def _item_pieces(text: str, start: str, end: str, kinds: Kinds) -> tuple[Piece, ...]:
    """Return the pieces of one argument: the literals around its key and its value."""
    pieces: list[Piece] = [Literal(start), Slot(SlotKind.KEY)]
    if kinds.typed and kinds.first:
        before = Literal(start.removesuffix(kinds.first + kinds.trail))
        pieces[:1] = [before, Slot(SlotKind.TYPE), Literal(kinds.trail)]
        pieces.append(Literal(kinds.middle))
    elif kinds.typed:
        pieces += [Literal(kinds.lead), Slot(SlotKind.TYPE), Literal(kinds.trail)]
    else:
        pieces.append(Literal(kinds.middle))
    pieces.append(Slot(SlotKind.VALUE))
    if kinds.echo[0]:
        pieces += [Literal(kinds.echo[0]), Slot(SlotKind.TYPE)]
        end = end.removeprefix("".join(kinds.echo))
    behind = text[text.rfind(VALUES[0]) + len(VALUES[0]) :].removeprefix(kinds.string_end)
    again = behind.find(KEYS[0])
    if again >= 0:
        pieces += [Literal(behind[:again]), Slot(SlotKind.KEY), Literal(end)]
    else:
        pieces.append(Literal(end.removeprefix(kinds.string_end)))
    return tuple(piece for piece in pieces if piece != Literal(""))


def find_arguments(chat: Chat, derivation: Derivation) -> tuple[ArgumentsFinding | None, str]:
    """Take T4 to T6 on a turn with one call.

    Returns how its arguments are written, None where that is nothing that can be read, and what
    stands before the number of them, "" if none is written.
    """
    count_lead = find_count_lead(lambda given: _call_text(chat, given))
    probe = _Probe(chat, count_lead)
    text, heads = probe.rendered(probe_call(0).arguments)
    if text is None:
        return None, count_lead
    span = find_object(text, probe_call(0).arguments, KEYS[0])
    if span is None or not probe.is_one_object(heads):
        found = analyze_tagged(lambda given: probe.rendered(given, heads)[0], derivation)
    else:
        ends = text[: span[0]], text[span[1] :]
        found = analyze_object(lambda given: probe.rendered(given, heads)[0], *ends, derivation)
    return found, count_lead


@dataclass(frozen=True, slots=True)
class _Probe:
    """Renders one call. ``count_lead`` is what stands before the number of its arguments."""

    chat: Chat
    count_lead: str

    def is_one_object(self, heads: int) -> bool:
        """Tell whether two arguments stand in one object as well, as they do if it is JSON."""
        both = ARGUMENTS[1]
        text = self.rendered(both, heads)[0]
        return text is None or KEYS[1] not in text or find_object(text, both, KEYS[0]) is not None

    def rendered(
        self, arguments: Mapping[str, object], heads: int | None = None
    ) -> tuple[str | None, int]:
        """Render one call; return the text behind its last slot before the arguments.

        ``heads`` is how many slots stand there, found with arguments that are needles themselves.
        """
        call = Call(NAMES[0], arguments, IDS[0])
        text = _call_text(self.chat, arguments)
        if text is None:
            return None, 0
        if self.count_lead:  # where arguments are compared their number is to be no difference
            counted = f"{self.count_lead}{len(arguments)}"
            text = text.replace(counted, f"{self.count_lead}1", 1)
        tokens = find_tokens(text, (call,))
        slots = [token for token in tokens if token.kind in (TokenKind.NAME, TokenKind.ID)]
        if heads is None:
            kinds = (TokenKind.KEY, TokenKind.ARGUMENTS)
            first = next((token.start for token in tokens if token.kind in kinds), len(text))
            heads = sum(token.start < first for token in slots)
        return text[slots[heads - 1].end if heads else 0 :], heads


def _call_text(chat: Chat, arguments: Mapping[str, object]) -> str | None:
    """Render a turn of one call, with content where there is no call without."""
    call = Call(NAMES[0], arguments, IDS[0])
    for content in ("", CONTENT):
        text = chat.turn(Message(content=content, calls=(call,))).text
        if text is not None and NAMES[0] in text:
            return text
    return None
