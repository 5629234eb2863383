"""Special tokens: markers that hold such count only where the tokenizer's own tokens stand.

A text that quotes the format can't call a tool then. Each special token is a private character
in the expressions of such markers, followed by others up to its length, and so it is in the text
that they are looked for in (`Turn.marked`), where it came as a special piece. The same characters
in an ordinary piece are none of these. All other markers are read by text.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence

from turnspec.engine.format import CallsFormat, CompiledFormat, Format, texts_in
from turnspec.engine.markers import Found, Markers, Notation, Roles
from turnspec.engine.turn import PRIVATE_USE, Turn

_FILLER, _FIRST, _LAST = 0xE000, 0xE001, 0xF8FF
_SLOT = r"\{\{|\}\}|\{(?:\?|no |before )|\{[^{}]*\}"  # what of a notation is no text of its own
_OPTIONAL = re.compile(r"\{\?[^{}]*\}")


class SpecialTokens:
    """Special tokens, and what stands for them: signs of its own for each in a marker."""

    def __init__(self, tokens: Sequence[str], table: Format) -> None:
        texts = "\n".join(texts_in(table))
        used = {token for token in tokens if token.strip() and _escaped(token) in texts}
        longest_first = sorted(used, key=lambda token: (-len(token), token))
        if len(used) > _LAST - _FIRST:
            raise ValueError(f"more than {_LAST - _FIRST} special tokens in one format")
        self._signs = {
            token: chr(_FIRST + number) + chr(_FILLER) * (len(token) - 1)
            for number, token in enumerate(longest_first)
        }
        self._others = {token for token in tokens if token.strip()} - used
        self._token = re.compile("|".join(map(re.escape, longest_first)) or "(?!)")
        written = {_escaped(token): signs for token, signs in self._signs.items()}
        found = "|".join(map(re.escape, written)) or "(?!)"
        self._in_notation = re.compile(f"(?P<token>{found})|{_SLOT}")
        self._written = written

    def find(self, piece: str, offset: int) -> Iterator[tuple[int, str]]:
        """Yield the tokens in a special piece: their offsets, and what stands for them."""
        if piece in self._others:
            yield offset, chr(_FILLER) * len(piece)
            return
        for token in self._token.finditer(piece):
            yield offset + token.start(), self._signs[token.group()]

    def put_into(self, notation: Notation) -> Notation:
        """Return a marker with what stands for the special tokens in it."""
        if not isinstance(notation, str):
            text, follows = notation
            return self._put(text), [self.put_into(other) for other in follows]
        return self._put(notation)

    def are_in(self, notation: str) -> bool:
        """Say whether a marker always holds a special token."""
        always = _OPTIONAL.sub("", notation)
        return self._put(always) != always

    def _put(self, notation: str) -> str:
        return self._in_notation.sub(
            lambda found: self._written[found["token"]] if found["token"] else found.group(),
            notation,
        )


class SpecialFound(Found):
    """A marker in which special tokens stand: its texts are those of the turn."""

    __slots__ = ("_turn_text",)

    def __init__(
        self, match: re.Match[str], role: str, optional: Mapping[str, str], text: str
    ) -> None:
        super().__init__(match, role, optional)
        self._turn_text = text

    @property
    def text(self) -> str:
        """The marker as the turn has it."""
        return self._turn_text[self.start : self.end]

    def __getitem__(self, slot: str) -> str:
        """Return what stands in a slot; nothing if the marker has no such slot."""
        group = f"{self._group}_{slot}"
        if group not in self._match.re.groupindex:
            return ""
        start, end = self._match.span(group)
        return self._turn_text[start:end] if start >= 0 else ""


class SpecialMarkers(Markers):
    """Markers of which some hold special tokens, looked for in the text that has those in it."""

    def __init__(self, markers: Roles, tokens: SpecialTokens) -> None:
        self._tokens = tokens
        super().__init__(markers)

    def _sought(self, notation: Notation) -> Notation:
        """Return a marker as it is looked for: with what stands for the tokens in it."""
        return self._tokens.put_into(notation)

    def match(self, turn: Turn, at: int | None = None, final: bool | None = None) -> Found | None:
        """Return the marker at a place, by default the turn's position."""
        return self._match(turn, turn.position if at is None else at, final)

    def search(
        self,
        turn: Turn,
        final: bool | None = None,
        start: int | None = None,
        end: int = sys.maxsize,
    ) -> Found | None:
        """Return the first marker from the turn's position on, or one between two places."""
        position = turn.position if start is None else start
        while first := self.first.search(turn.text, position, end):
            if found := self._match(turn, first.start(), final):
                return found
            position = max(first.end(), first.start() + 1)
        return None

    def _match(self, turn: Turn, at: int, final: bool | None) -> Found | None:
        pattern = self._whole if (turn.final if final is None else final) else self._growing
        match = pattern.match(turn.marked, at)
        if match is None:
            return None
        group = match.lastgroup
        return SpecialFound(match, self._roles[group], self._optional[group], turn.text)

    def _compiled(self, expressions: Sequence[str]) -> re.Pattern[str]:
        """Return an expression for any of these, whose slots hold no special token."""
        return super()._compiled([text.replace("[^", f"[^{PRIVATE_USE}") for text in expressions])


class SpecialFormat(CompiledFormat):
    """A format whose special tokens are known."""

    def __init__(self, table: Format, tokens: Sequence[str]) -> None:
        self.tokens = SpecialTokens(tokens, table)
        super().__init__(_guarded(table, self.tokens))

    def _made(self, roles: Roles) -> Markers:
        is_special = any(self.tokens.put_into(notation) != notation for _, notation in roles)
        return SpecialMarkers(roles, self.tokens) if is_special else Markers(roles)


def _guarded(table: Format, tokens: SpecialTokens) -> Format:
    """Return a table in which no call is begun, or ended, by text alone if a token belongs to it.

    What closes a call counts up to the token; a head without one only behind an opening that has
    it, and no head that lacks what the format's own has.
    """
    calls = table.get("calls")
    if calls is None:
        return table
    closing, end = calls.get("closing", ()), calls.get("end", ())
    guarded: CallsFormat = {**calls}
    if at := next((at for at, text in enumerate(closing) if tokens.are_in(text)), 0):
        guarded["closing"] = [" ".join(closing[: at + 1]), *closing[at + 1 :]]
        guarded["end"] = [text for text in end if tokens.are_in(text)]
    if tokens.are_in(calls.get("start", "")):
        guarded["other_starts"] = list(filter(tokens.are_in, calls.get("other_starts", ())))
        guarded["short_starts"] = list(filter(tokens.are_in, calls.get("short_starts", ())))
    elif calls["form"] == "heads" and any(map(tokens.are_in, calls.get("opening", ()))):
        guarded["only_in_section"] = True
    return {**table, "calls": guarded}


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
