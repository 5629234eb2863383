"""What a name, an id and a key may hold: the engine's definition, for grammars and checks.

A tool's name and a call's id hold letters, digits and some signs. An argument's key is freer, as
schemas are: it holds anything but controls and white space, and blanks only inside. Nothing of
that holds a character with which what stands behind it begins, or the tag that it stands in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from turnspec.spec.calls import Piece, Slot, Tools
from turnspec.spec.words import Encoding, JsonType, SlotKind

#: Letters and digits of names in grammars, as ranges that mean the same in an expression and in
#: GBNF. Parsers know all scripts' letters, see NOT_IN_NAMES.
LETTERS = "a-zA-Z0-9À-ɏͰ-ԯ぀-鿿가-힣"
#: The other signs that names and ids may hold; the dash is last, as in a class of characters.
NAME_SIGNS = "_.:/-"
#: What a name never holds for a parser: signs but NAME_SIGNS, symbols and pictures, which markers
#: may be. All else are letters, marks and digits of some script, or stand beyond the first 65,536
#: characters. An expression of few ranges is compiled quickly. The last one has the pictures that
#: Python 3.11 can print, which parsers show as they are: JavaScript has no such escape.
NOT_IN_NAMES = (
    r"\x00-,;-@\[-\^`{-\xA9\xAB-\xB4\xB6-\xB9\xBB-\xBF\u1680\u2000-\u2BFF"
    r"\u3000-\u3004\u3008-\u3020\u3030\u303D-\u303F\uD800-\uF8FF\uFE10-\uFE1F\uFE30-\uFE6F"
    r"\uFF00-\uFF0F\uFF1A-\uFF20\uFF3B-\uFF40\uFF5B-\uFF65\uFFF0-\uFFFF"
    "\U0001f000-\U0001faf6"
)
#: Brackets of other scripts and of mathematics: tags stand between them as between < and >.
WIDE_OPENING = "«‹〈《「『【〔〖⟦⟨⟪◁◀❮❰＜"
WIDE_CLOSING = "»›〉》」』】〕〗⟧⟩⟫▷▶❯❱＞"
#: What a key never holds: controls, what nobody sees, and white space but the blank.
NOT_IN_KEYS = r"\x00-\x1F\x7F-\xA0\u1680\u2000-\u200F\u2028-\u202F\u205F-\u206F\u3000"

#: What a key never holds, as ranges of code points.
NEVER_IN_KEYS = tuple(
    (int(low, 16), int(high or low, 16))
    for low, high in re.findall(r"\\[xu]([0-9A-F]+)(?:-\\[xu]([0-9A-F]+))?", NOT_IN_KEYS)
)

#: What a key never holds where values say themselves where they end, or nothing stands before it:
#: the signs of values, and those that may stand between two arguments.
VALUE_SIGNS = "()[]{},;'\""

#: The longest name, id or key that a parser takes for one, in characters.
LONGEST = 256

#: The kinds of slots that are defined here.
NAMED = (SlotKind.NAME, SlotKind.ID, SlotKind.KEY)

_NAMES = (Slot(SlotKind.NAME), Slot(SlotKind.ID))


@cache
def name_signs(ends: str) -> str:
    """Return the signs that a name or an id may hold where ``ends`` can't be in it."""
    return "".join(sign for sign in NAME_SIGNS if sign not in ends)


def is_name(text: str, ends: str = "") -> bool:
    """Tell whether a text can be a name or an id."""
    return re.fullmatch(f"[{LETTERS}{name_signs(ends)}]{{1,{LONGEST}}}", text) is not None


def is_key(text: str, ends: str = "") -> bool:
    """Tell whether a text can be a key."""
    if not 0 < len(text) <= LONGEST or text != text.strip() or "  " in text:
        return False
    return not set(ends) & set(text) and re.search(rf"[{NOT_IN_KEYS}]", text) is None


def slot_ends(pieces: Sequence[Piece], index: int, behind: str = "") -> str:
    """Return the characters that a name, an id or a key among pieces can't hold.

    They are the sign with which goes on what follows it, also behind white space, which may be
    missing there, unless it is one that a name may hold: then the white space; the sign with which
    its tag begins; quotes, where they may stand around it; for a key, the sign that tells a
    closing tag from an opening one.
    ``behind`` is the text that follows the pieces, or is its arguments.
    """
    after = _text_behind(pieces, index, behind)
    following = after.strip()[:1]
    goes_on = following.isalnum() or (pieces[index] in _NAMES and following in tuple(NAME_SIGNS))
    ends = after[:1] if goes_on and after[:1].isspace() else following or after[:1]
    opening = _opening(pieces, index)
    if not (opening.isalnum() or opening in NAME_SIGNS):
        ends += opening
    if index and pieces[index - 1].text.endswith("="):
        ends += "\"'"
    attribute = index and re.search(r"""=(["'])\Z""", pieces[index - 1].text)
    if attribute and after.startswith(f"{attribute[1]}>"):
        ends += "\"'>"  # as it may stand in any quotes, or none
    if pieces[index] == Slot(SlotKind.KEY):
        ends += _closing_sign(pieces, index)
    return "".join(one for one in dict.fromkeys(ends) if not one.isalnum())


def _closing_sign(pieces: Sequence[Piece], index: int) -> str:
    """Return the sign with which a closing tag goes on where an opening one has its key."""
    opening = pieces[index - 1].text.strip() if index else ""
    values = [at for at, piece in enumerate(pieces) if piece == Slot(SlotKind.VALUE)]
    closing = pieces[values[-1] + 1].text if values and values[-1] + 1 < len(pieces) else ""
    return closing.rpartition(opening)[2][:1] if opening and opening in closing else ""


def _sign_behind(text: str) -> str:
    """Return the sign that tells what stands behind a value from a key: of a word, its space."""
    first = text.strip()[:1]
    return first if not first.isalnum() else text[:1].strip(first)


def _opening(pieces: Sequence[Piece], index: int) -> str:
    """Return the sign with which the tag begins that a slot stands in: the one behind a value."""
    values = [at for at, piece in enumerate(pieces[:index]) if piece == Slot(SlotKind.VALUE)]
    first = values[-1] + 1 if values else 0
    return pieces[first].text.strip()[:1]


def call_ends(tools: Tools, kind: SlotKind) -> str:
    """Return the characters that a call's name, or its id, can't hold."""
    places = [index for index, piece in enumerate(tools.call) if piece == Slot(kind)]
    found = [slot_ends(tools.call, index, arguments_begin(tools)) for index in places]
    found += [sign for index in places for sign in _signs_of_empty(tools, index)]
    without = enumerate(tools.empty_call)
    found += [slot_ends(tools.empty_call, at) for at, piece in without if piece == Slot(kind)]
    return _joined([*found, *(_signs_of_closings(tools, index) for index in places)])


def _signs_of_empty(tools: Tools, index: int) -> str:
    """Return the sign of a name with which goes on what is behind a slot and arguments left out."""
    behind = tools.call[index + 1 : index + 2]
    if behind != (Slot(SlotKind.ARGUMENTS),) or tools.arguments.empty.strip() or tools.empty_call:
        return ""
    sign = _text_behind(tools.call, index + 1, "").strip()[:1]
    return sign if sign in tuple(NAME_SIGNS) else ""


def _signs_of_closings(tools: Tools, index: int) -> str:
    """Return the signs with which a closing tag goes on that begins as a slot's own tag does.

    Else ``</calls>``, which closes a section, could be a call ``<NAME>``.
    """
    opening = tools.call[index - 1].text.strip() if index else ""
    at = tools.call.index(Slot(SlotKind.ARGUMENTS))
    closings = (tools.arguments.end + _text_behind(tools.call, at, ""), *tools.section_ends)
    texts = (text.strip() for text in closings)
    signs = [text[len(opening) :][:1] for text in texts if opening and text.startswith(opening)]
    return "".join(sign for sign in signs if sign in tuple(NAME_SIGNS))


def key_ends(tools: Tools) -> str:
    """Return the characters that an argument's key can't hold."""
    item = tools.arguments.item
    found = [slot_ends(item, at) for at, piece in enumerate(item) if piece == Slot(SlotKind.KEY)]
    if item and (item[0].kind or item[0].text.strip() == item[-1].text.strip()):
        # An argument may begin just here, so its key must not swallow what ends the arguments.
        at = next(at for at, piece in enumerate(tools.call) if piece == Slot(SlotKind.ARGUMENTS))
        after_all = tools.arguments.end + _text_behind(tools.call, at, tools.section_end)
        found += [*map(_sign_behind, (after_all, tools.arguments.separator)), VALUE_SIGNS]
        is_ended = (tools.arguments.end + _text_behind(tools.call, at, "")).strip()
        if not is_ended and tools.call[0] == Slot(SlotKind.NAME):
            found.append(f" {_sign_behind(tools.call[1].text)}")  # which tell the next call's name
    if item and ends_itself(tools):
        found.append(VALUE_SIGNS)
    if item and item[0].text.strip() == tools.call[0].text.strip() == "<":
        found.append("|")  # else a special token could be such a tag
    return _joined(found)


def left_open(tools: Tools) -> str:
    """Return what closes the brackets that a call opens before its arguments, which end it.

    So it is where a template forgets them: models write them all the same.
    """
    if tools.call[-1] != Slot(SlotKind.ARGUMENTS):
        return ""
    signs = re.sub(r'"[^"]*"', "", "".join(piece.text or "-" for piece in tools.call))
    while (rest := re.sub(r"\{[^{}\[\]]*\}|\[[^{}\[\]]*\]", "", signs)) != signs:
        signs = rest
    closers = {"{": "}", "[": "]"}
    return "".join(closers[sign] for sign in reversed(signs) if sign in closers)


def is_lone_sign(text: str) -> bool:
    """Tell whether a marker is a usual sign alone, and no bracket: any text may hold that."""
    return bool(re.fullmatch(r"[^\w\s(){}\[\]<>]", text)) and text.isascii()


def not_in_keys(tools: Tools) -> str:
    """Return the characters that an argument's key can't hold, not even by an escape."""
    escapes = tools.arguments.escapes
    return "".join(sign for sign in key_ends(tools) if sign not in escapes)


def ends_itself(tools: Tools) -> bool:
    """Tell whether tagged values say themselves where they end, as JSON does."""
    return tools.arguments.values.get(JsonType.STRING, Encoding.RAW) is not Encoding.RAW


def member_ends(member: Sequence[Piece]) -> str:
    """Return the characters that the key of an element's member can't hold."""
    keys = (at for at, piece in enumerate(member) if piece == Slot(SlotKind.KEY))
    return _joined([*(slot_ends(member, at) for at in keys), member[0].text.strip()[:1]])


def arguments_begin(tools: Tools) -> str:
    """Return the text with which a call's arguments begin."""
    arguments = tools.arguments
    if not arguments.item:
        return "{"
    return arguments.start + arguments.item[0].text


def _joined(found: Iterator[str] | list[str]) -> str:
    return "".join(dict.fromkeys("".join(found)))


def _text_behind(pieces: Sequence[Piece], index: int, behind: str) -> str:
    """Return the text behind a slot, up to the next one; a word that means nothing is passed."""
    text = ""
    for piece in pieces[index + 1 :]:
        text += piece.text
        if piece.kind is SlotKind.ARGUMENTS:
            break
        if piece.kind not in (None, SlotKind.WORD):
            return text
    return text + behind
