"""T6: a call without arguments, where the template leaves out more than their text.

So it is with a JSON object without the member that holds arguments, and with a call whose block of
arguments is missing with its tags.
"""

from __future__ import annotations

import re
from dataclasses import replace

from turnspec.analysis.findings import Derivation, shown_pieces
from turnspec.analysis.probes import CONTENT, IDS, NAMES, probe_call
from turnspec.rendering.conversation import Chat
from turnspec.spec.calls import Literal, Piece, Slot, Tools, filled
from turnspec.spec.encoding import encode_object
from turnspec.spec.message import Call, Message
from turnspec.spec.words import SlotKind

_NOTHING = Call(NAMES[0], {}, IDS[0])
_SLOTS: dict[str, Piece] = {NAMES[0]: Slot(SlotKind.NAME), IDS[0]: Slot(SlotKind.ID)}
_BRACKETS = {*" \t\n()[]{}<>"}
_NEEDLES = f"({'|'.join(_SLOTS)})"


def with_empty_call(tools: Tools, chat: Chat, derivation: Derivation) -> Tools:
    """Return how calls are written, with one without arguments where that is another text.

    Any empty object, as ``{ }``, is arguments like others. What follows the name has to show that
    there are none, and no text may have such a call by chance, as ``[word]`` or ``**word**``; but
    in a section, where no text stands.
    """
    found = tools.arguments
    usual = filled(tools.call, _fills(tools, found.empty))
    text = usual if found.item else _shown(tools, chat)
    is_object = text == usual and bool(re.fullmatch(r'"?\{\s*\}"?', found.empty))
    is_usual = found.empty.strip().startswith(found.start.strip()) if found.item else is_object
    if text is None or is_usual or tools.begin_with_name:
        return tools
    pieces = _as_pieces(text, tools)
    signs = {*"".join(piece.text for piece in pieces)} - _BRACKETS
    is_told = bool(pieces[-1].text.strip()) and len(signs) > 1
    in_section = bool(tools.section_start.strip() and tools.section_end.strip())
    if Slot(SlotKind.NAME) not in pieces or not (is_told or (found.item and in_section)):
        return tools
    derivation.note("T6", f"a call without arguments is {shown_pieces(pieces)}", text)
    arguments = found if found.item else replace(found, empty="{}")
    return replace(tools, empty_call=pieces, arguments=arguments)


def _shown(tools: Tools, chat: Chat) -> str | None:
    """Return a turn's only call as it is rendered without arguments; None if it can't be told."""
    call = probe_call(0)
    arguments = encode_object(call.arguments, tools.arguments.syntax)
    written = filled(tools.call, _fills(tools, arguments))
    for content in ("", CONTENT):
        messages = (Message(content=content, calls=(shown,)) for shown in (call, _NOTHING))
        one, none = (chat.turn(message).text or "" for message in messages)
        before, is_there, after = one.partition(written)
        if is_there and none.startswith(before) and none.endswith(after):
            return none[len(before) : len(none) - len(after)]
    return None


def _fills(tools: Tools, arguments: str) -> dict[SlotKind, str]:
    fills = {SlotKind.NAME: NAMES[0], SlotKind.ID: IDS[0], SlotKind.ARGUMENTS: arguments}
    return {**fills, SlotKind.INDEX: str(tools.index_base), SlotKind.COUNT: "0"}


def _as_pieces(text: str, tools: Tools) -> tuple[Piece, ...]:
    """Return a call's text as pieces: first those up to the name, if all calls begin with them."""
    head = tools.call[: tools.call.index(Slot(SlotKind.NAME)) + 1]
    shown = filled(head, _fills(tools, ""))
    head = head if text.startswith(shown) else ()
    rest = re.split(_NEEDLES, text.removeprefix(shown) if head else text)
    return (*head, *(_SLOTS.get(part) or Literal(part) for part in rest if part))
