"""Markers: what a format writes around its parts, looked for in a text that is still growing.

A marker is written as text in which a blank stands for any white space or none, and a line end
for one line end or none. A slot in braces, as ``{name}``, stands for a text of the turn's own;
``{key but <>}`` has no such characters. ``{?text}`` is text that may be missing. ``{no x}`` says
that no x follows and, at a marker's end, ``{before x}`` that one does. ``{{`` and ``}}`` are
braces.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

from turnspec.engine.turn import Turn

#: A marker as it is written; or that and others, of which one has to follow it.
Notation: TypeAlias = "str | tuple[str, Sequence[Notation]]"
Roles: TypeAlias = Sequence[tuple[str, Notation]]

_BEFORE = re.compile(r"((?:[^{]|\{\{|\{(?!\{|before ))*)\{before (.*)\}", re.DOTALL)
_TOKEN = re.compile(
    r"\{\{|\}\}|\{(?P<optional>\?)?(?P<slot>[^{}]+?)(?: but (?P<but>[^{}]+))?\}|[^{}]"
)
# Bounded, as a marker that is not whole yet is held back.
_WHITE_SPACE = {" ": "[ \t\n\r]{0,99}", "\n": r"(?:\r?\n|\r\Z)?"}
#: Letters and digits of names, as ranges that mean the same in an expression and in GBNF.
LETTERS = "a-zA-Z0-9À-ɏͰ-ԯ぀-鿿가-힣"
#: The other signs that names and ids may hold; the dash is last, as in a class of characters.
NAME_SIGNS = "_.:/-"
#: What a key never holds: controls, what nobody sees, and white space but the blank.
NOT_IN_KEYS = r"\x00-\x1F\x7F-\xA0\u1680\u2000-\u200F\u2028-\u202F\u205F-\u206F\u3000"
# What stands in a slot. BUT is what a slot can't hold for what stands around it, and SIGNS are
# those that are left for it.
SLOTS = {
    "name": f"[{LETTERS}SIGNS]{{1,256}}",
    "key": f"[^{NOT_IN_KEYS}BUT]{{1,256}}",
    "type": f"[^{NOT_IN_KEYS}BUT]{{1,256}}",
    "id": f"[{LETTERS}SIGNS]{{0,256}}",
    "index": "[0-9]{0,9}",
    "word": "[ \t\n\r]{0,99}[A-Za-z0-9_-]{0,40}[ \t\n\r]{0,99}",
    "noise": r"[ \t\n\r]{0,9}\w[^<>\[\]{}|]{0,99}",
    "any": "[^ \t\n\r<>]{0,256}",
    "comma": "[ \t\n\r,;]{0,99}",
    "string": r'(?:[^"\\]|\\[\s\S]|\\\Z){0,256}',
    # What models put before and behind JSON.
    "fence": "(?:`{1,3}[A-Za-z0-9_]{0,9})?",
    "brackets": "[ \t\n\r]{0,99}[}\\]`][ \t\n\r}\\]`]{0,99}",
    "line end": "[ \t\r]{0,9}\n",
    "end of text": r"\Z",
    "never": "(?!)",
}
_NAME = re.compile(f"[{LETTERS}{NAME_SIGNS}]{{1,256}}")
_NAMES = ("name", "key")  # which may be quoted as attributes are
_TEXTS = ("key", "type", "id", "string")
_MAY_BE_MISSING = ("word", "comma", "fence")


def is_name(text: str) -> bool:
    """Say whether a text can be the name of a tool."""
    return _NAME.fullmatch(text) is not None


class Found:
    """A marker in the text; without a role it is what may be the beginning of one."""

    __slots__ = ("_group", "_match", "end", "missing", "role", "start")

    def __init__(self, match: re.Match[str], role: str, optional: Mapping[str, str]) -> None:
        self.role = role
        self.start, self.end = match.span()
        #: The texts that the marker may have, and hasn't.
        self.missing = [text for group, text in optional.items() if match[group] is None]
        self._match = match
        self._group = match.lastgroup

    @property
    def text(self) -> str:
        """The marker as the turn has it."""
        return self._match.group()

    @property
    def words(self) -> list[str]:
        """What stands in its slots for any word."""
        slots = f"{self._group}_word_"
        found = self._match.groupdict().items()
        return [word.strip() for slot, word in found if slot.startswith(slots) and word.strip()]

    def __getitem__(self, slot: str) -> str:
        """Return what stands in a slot; nothing if the marker has no such slot."""
        return self._match.groupdict().get(f"{self._group}_{slot}") or ""


class Markers:
    """Markers that may come next, each with its role. Where several fit, the first counts."""

    def __init__(self, markers: Roles) -> None:
        self._roles: dict[str | None, str] = {None: ""}
        self._optional: dict[str | None, dict[str, str]] = {None: {}}
        whole, growing = [], []
        for number, (role, notation) in enumerate(markers):
            group = f"m{number}"
            expression, beginning = _expressions(self._sought(notation), group)
            whole.append(f"(?P<{group}>{expression})")
            growing += [rf"{beginning}\Z", whole[-1]]
            self._roles[group] = role
            self._optional[group] = _optional_texts(notation, group)
        self._starts = "".join(dict.fromkeys("".join(_starts(found) for _, found in markers)))
        self._anywhere = bool(markers) and not self._starts
        self._firsts: dict[str, re.Pattern[str]] = {}  # by the characters that stop a text as well
        #: With what a marker can begin.
        self.first = self.first_or("")
        self._expressions = whole, growing

    @cached_property
    def _whole(self) -> re.Pattern[str]:
        return self._compiled(self._expressions[0])

    @cached_property
    def _growing(self) -> re.Pattern[str]:
        return self._compiled(self._expressions[1])

    def _sought(self, notation: Notation) -> Notation:
        """Return a marker as it is looked for."""
        return notation

    def _compiled(self, expressions: Sequence[str]) -> re.Pattern[str]:
        """Return an expression for any of these."""
        return re.compile("|".join(expressions) or "(?!)")

    def first_or(self, characters: str) -> re.Pattern[str]:
        """Return an expression for what a marker can begin with, or one of a class's characters."""
        if characters not in self._firsts:
            signs = characters + re.escape(self._starts)
            expression = "" if self._anywhere else f"[{signs}]" if signs else "(?!)"
            self._firsts[characters] = re.compile(expression)
        return self._firsts[characters]

    def match(self, turn: Turn, at: int | None = None, final: bool | None = None) -> Found | None:
        """Return the marker at a place, by default the turn's position."""
        pattern = self._whole if (turn.final if final is None else final) else self._growing
        match = pattern.match(turn.text, turn.position if at is None else at)
        return self._found(match) if match else None

    def search(
        self,
        turn: Turn,
        final: bool | None = None,
        start: int | None = None,
        end: int = sys.maxsize,
    ) -> Found | None:
        """Return the first marker from the turn's position on, or one between two places.

        ``final`` says whether all text has come, so that nothing is the beginning of a marker.
        """
        text, position = turn.text, turn.position if start is None else start
        if len(text) > 999:  # finding characters is quicker than an expression for any of them
            reach = min(position + 99_999, end)
            places = [text.find(character, position, reach) for character in self._starts]
            position = min((at for at in places if at >= 0), default=reach)
        first = self.first.search(text, position, end)
        if first is None:
            return None
        pattern = self._whole if (turn.final if final is None else final) else self._growing
        while first:
            if match := pattern.match(text, first.start()):
                return self._found(match)
            first = self.first.search(text, max(first.end(), first.start() + 1), end)
        return None

    def _found(self, match: re.Match[str]) -> Found:
        return Found(match, self._roles[match.lastgroup], self._optional[match.lastgroup])


def _parted(notation: Notation) -> tuple[str, Sequence[Notation]]:
    """Return a marker's text, and what has to follow it."""
    if not isinstance(notation, str):
        return notation
    found = _BEFORE.fullmatch(notation)
    return (found[1], (found[2],)) if found else (notation, ())


def _expressions(notation: Notation, group: str = "") -> tuple[str, str]:
    """Return the expressions for a marker, and for any beginning of it that may go on.

    Slots become groups that are named after the marker's own ``group``, if it has one.
    """
    text, follows = _parted(notation)
    tokens = list(_TOKEN.finditer(text))
    parts = [_steps(tokens, at, group) for at in range(len(tokens))]
    whole = "".join(map("".join, parts))
    steps = [
        (step, f"|{_beginning_of(token['slot'])}" if token["optional"] else "")
        for token, part in zip(tokens, parts, strict=True)
        for step in part
    ]
    beginning = ""
    if follows:
        pairs = [_expressions(other) for other in follows]
        whole += f"(?={'|'.join(other for other, _ in pairs)})"
        steps.append(("|".join(beginning for _, beginning in pairs), ""))
    elif tokens[-1]["optional"]:  # with its last character the marker is whole
        steps.pop()
        beginning = _beginning_of(tokens[-1]["slot"][:-1])
    elif not (tokens[-1]["slot"] or tokens[-1].group() in _WHITE_SPACE):
        steps.pop()
    for step, begun in reversed(steps):
        beginning = f"(?:(?:{step}){beginning}{begun})?"
    return whole, re.sub(r"\?P<\w+>", "?:", beginning)


def _beginning_of(text: str) -> str:
    """Return the expression for any beginning of a text."""
    beginning = ""
    for character in reversed(text):
        beginning = f"(?:{re.escape(character)}{beginning})?"
    return beginning


def _steps(tokens: Sequence[re.Match[str]], at: int, group: str) -> list[str]:
    """Return the expressions for one of a marker's characters or slots."""
    token, name = tokens[at], tokens[at]["slot"]
    if name is None:
        return [_WHITE_SPACE.get(token.group()) or re.escape(token.group()[0])]
    if token["optional"]:
        return [f"(?P<{group}_{at}>{re.escape(name)})?" if group else f"(?:{re.escape(name)})?"]
    if name.startswith("no "):
        return [f"(?!{re.escape(name[3:])})"]
    slot = SLOTS[name]
    before = "".join(other.group() for other in tokens[:at])
    quotes = ["[\"']?"] if _is_attribute(tokens, at) else []
    if "BUT" in slot or "SIGNS" in slot:
        not_held = _excluded(tokens, at)
        signs = "".join(sign for sign in NAME_SIGNS if sign not in not_held)
        slot = slot.replace("BUT", re.escape(not_held)).replace("SIGNS", signs)
    is_followed_by_space = at + 1 < len(tokens) and tokens[at + 1].group() in _WHITE_SPACE
    if name in _TEXTS and is_followed_by_space:
        slot = f"(?:{slot}(?<![ \t\n\r]))"  # that is the marker's own
    if group and name == "word":
        slot = f"(?P<{group}_word_{at}>{slot})"
    if group and name in (*_NAMES, *_TEXTS):
        again = "_again" if token.group() in before else ""
        slot = f"(?P<{group}_{name}{again}>{slot})"
    return [*quotes, slot, *quotes]


def excluded(notation: str, slot: str) -> str:
    """Return the characters that the first of such slots in a marker can't hold."""
    tokens = list(_TOKEN.finditer(notation))
    return _excluded(tokens, next(at for at, token in enumerate(tokens) if token["slot"] == slot))


def _excluded(tokens: Sequence[re.Match[str]], at: int) -> str:
    """Return the characters that a slot can't hold: those with which its surroundings begin."""
    found = (tokens[at]["but"] or "") + "\"'" * _is_attribute(tokens, at)
    if tokens[0]["slot"] == "comma":  # between values, which say themselves where they end
        found += "()[]{},;\"'"
    first = next(token for token in tokens if not _may_be_missing(token))
    if not first["slot"] and not re.match(r"[\w.:/-]", first.group()):
        found += first.group()[0]
    for token in tokens[at + 1 :]:
        if token["optional"]:
            found += token["slot"][0]
        elif token["slot"] and not _may_be_missing(token):
            return found
        elif not _may_be_missing(token):
            if not re.match(r"\w", token.group()):
                return found + token.group()[0]
            # A word, such as the slot itself may hold.
            return found + " " * (tokens[at + 1].group() == " ")
    return found


def _is_attribute(tokens: Sequence[re.Match[str]], at: int) -> bool:
    """Say whether a slot may stand in quotes, behind an equals sign."""
    before = "".join(token.group() for token in tokens[:at])
    return tokens[at]["slot"] in _NAMES and before.rstrip().endswith("=")


def _may_be_missing(token: re.Match[str]) -> bool:
    return token.group() in _WHITE_SPACE or token["slot"] in _MAY_BE_MISSING


def literal_length(notation: Notation) -> int:
    """Return how many characters of a marker are always the same."""
    text, _ = _parted(notation)
    tokens = _TOKEN.finditer(text)
    return sum(not token["slot"] and token.group() not in _WHITE_SPACE for token in tokens)


def first_text(notation: Notation) -> str:
    """Return the text with which a marker begins, up to a slot or white space."""
    text, _ = _parted(notation)
    first = re.match(r"(?:[^{} \n]|\{\{|\}\})*", text)
    return first.group() if first else ""


def leading_text(notation: Notation) -> str:
    """Return the text with which a marker begins, up to a slot."""
    text, _ = _parted(notation)
    first = re.match(r"(?:[^{}]|\{\{|\}\})*", text)
    return first.group().strip() if first else ""


def spaced(notation: Notation, before: str = " ") -> Notation:
    """Return a marker with white space before it, or something else."""
    if isinstance(notation, str):
        return before + notation
    text, follows = notation
    return (before + text, follows)


def mention_roles(mentions: Sequence[str]) -> Roles:
    """Return markers that open calls, where none follows: once more before themselves, or text."""
    again = [t for t in mentions if not re.match(r"\w.* ", t)]  # prose may say its words twice
    return [("repeated", (t, [f" {t}"])) for t in again] + [("mention", t) for t in mentions]


def _optional_texts(notation: Notation, group: str) -> dict[str, str]:
    """Return a marker's texts that may be missing, by the names of their groups."""
    text, _ = _parted(notation)
    tokens = enumerate(_TOKEN.finditer(text))
    return {f"{group}_{at}": token["slot"] for at, token in tokens if token["optional"]}


def _starts(notation: Notation) -> str:
    """Return the characters with which a marker can begin, but for those of slots."""
    text, follows = _parted(notation)
    found = ""
    for token in _TOKEN.finditer(text):
        if token.group() == "\n":
            found += "\r\n"
        elif token["optional"]:
            found += token["slot"][0]
        elif not token["slot"] and token.group() != " ":
            return found + token.group()[0]
    return found + "".join(map(_starts, follows))
