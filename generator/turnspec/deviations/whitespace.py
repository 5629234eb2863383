"""More, less or other white space around markers, and JSON in other styles."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

from turnspec.deviations.turns import SAID, Case, Format
from turnspec.spec.calls import Arguments, Literal, Piece, Tools
from turnspec.spec.message import Message
from turnspec.spec.model import Spec
from turnspec.spec.words import Encoding, JsonType, SlotKind

Change = Callable[[str], str]
_Record = TypeVar("_Record", bound=Any)

#: Between two tags, where white space says nothing.
_BETWEEN_TAGS = re.compile(r"(?<=[>\]])\s*(?=[<\[])")

_OPENED_LINE = re.compile(r"(?<=[>\]])\n+(?=\Z|[<\[{])")

#: A word between tags.
_WORD = re.compile(r"(?<=[^>]>)\w+(?=<\S)")

#: Tags of which most are special tokens.
_SPECIAL_TOKEN = re.compile(r"<\|[^<>\s]+\|>|\[[A-Z_]{4,}\]")


def _more(text: str) -> str:
    return f" \n{_BETWEEN_TAGS.sub(chr(10) * 3, text.strip())}\n \n" if text.strip() else text


#: What is done to every marker.
CHANGES: dict[str, Change] = {
    "none": lambda text: _BETWEEN_TAGS.sub("", text.strip()),
    "more": _more,
    "CR LF": lambda text: text.replace("\n", "\r\n"),
    "no newline after an opening tag": lambda text: _OPENED_LINE.sub("", text),
    "around words": lambda text: _WORD.sub(r" \g<0>\n", text),  # as in the headers of messages
}


def around_special_tokens(form: Format) -> Iterator[Case]:
    """Blanks around special tokens, as some servers write them. Raw values would keep them."""
    for message in (Message(SAID), form.message):
        text = form.write(message)
        spaced = _SPECIAL_TOKEN.sub(r" \g<0> ", text)
        if spaced != text and " Paris " not in spaced:
            yield form.case(spaced, message)


def json_style(form: Format) -> Iterator[Case]:
    """JSON on many lines, and JSON without any white space."""
    if not form.calls:
        return
    call = form.json_call
    styles = (
        {"indent": 2},
        {"separators": (",", ":")},
        {"indent": 1, "separators": (" , ", " : ")},
    )
    if call:
        for style in styles:
            texts = [call.written(call.filled(each), **style) for each in form.calls]
            yield form.case(form.write(form.message, texts), form.message)
    elif form.tools.arguments.syntax.encoding is Encoding.JSON:
        for depth, item, key in ((2, ",", ": "), (None, ",", ":"), (None, " , ", " : ")):
            arguments = form.tools.arguments
            syntax = replace(arguments.syntax, indent=depth, item_separator=item, key_separator=key)
            written = form.with_tools(arguments=replace(arguments, syntax=syntax))
            yield form.case(written.write(form.message), form.message)


def changed(change: Change, form: Format) -> Iterator[Case]:
    """Yield the usual turn, and one with each part alone, with its markers changed."""
    loose = form.with_spec(_with_markers(form.spec, change))
    call = form.json_call
    alone = [Message(SAID)] + ([Message(calls=form.calls)] if form.calls else [])
    for message in [form.message, *alone]:
        if call:
            outer = replace(call, before=change(call.before), behind=change(call.behind))
            texts = [outer.written(outer.filled(each)) for each in message.calls]
            yield form.case(loose.write(message, texts), message)
        else:
            yield form.case(loose.write(message), message)


def _with_markers(spec: Spec, change: Change) -> Spec:
    """Return the spec with white space changed in all markers, but not in the header."""
    joins = tuple(_with_texts(join, change, "text") for join in spec.turn.joins)
    ends = tuple(_with_texts(end, change, "final") for end in spec.turn.ends)
    return replace(
        spec,
        reasoning=_with_texts(spec.reasoning, change, "start", "end"),
        content=_with_texts(spec.content, change, "start", "end"),
        turn=replace(spec.turn, joins=joins, ends=ends),
        tools=_with_tool_markers(spec.tools, change) if spec.tools else None,
    )


def _with_tool_markers(tools: Tools, change: Change) -> Tools:
    return replace(
        _with_texts(tools, change, "section_start", "separator", "section_end"),
        call=_with_piece_markers(tools.call, change),
        arguments=_with_argument_markers(tools.arguments, change),
    )


def _with_argument_markers(arguments: Arguments, change: Change) -> Arguments:
    # A raw value takes what stands beside it, except for a newline that belongs to the format.
    raw = arguments.values.get(JsonType.STRING) is Encoding.RAW
    keeps = change is _more and raw
    item = arguments.item if keeps else _with_piece_markers(arguments.item, change)
    return replace(_with_texts(arguments, change, "start", "separator", "end"), item=item)


def _with_texts(record: _Record, change: Change, *names: str) -> _Record:
    """Return a part of a spec with some of its texts changed."""
    return replace(record, **{name: change(getattr(record, name)) for name in names})


def _with_piece_markers(pieces: tuple[Piece, ...], change: Change) -> tuple[Piece, ...]:
    """Change the literals; what touches a name or a key is part of a marker, not beside it."""
    changed: list[Piece] = []
    for at, piece in enumerate(pieces):
        if piece.kind:
            changed.append(piece)
            continue
        text = change(piece.text)
        if at and _touches_name(pieces[at - 1]):
            text = text.lstrip() if not piece.text[:1].isspace() else text
        if at + 1 < len(pieces) and _touches_name(pieces[at + 1]):
            text = text.rstrip() + piece.text[len(piece.text.rstrip()) :]
        changed.append(Literal(text))
    return tuple(changed)


def _touches_name(piece: Piece) -> bool:
    return piece.kind not in (None, SlotKind.ARGUMENTS, SlotKind.VALUE)
