"""Special tokens: a marker that holds one counts only where the token itself came."""

from __future__ import annotations

import re
from collections.abc import Sequence

from turnspec.engine.markers import escaped

FILLER, FIRST, LAST = "\ue000", 0xE001, 0xF8FF


class SpecialTokens:
    """The special tokens of a tokenizer; a private character and fillers stand in for each."""

    def __init__(self, tokens: Sequence[str]) -> None:
        ordered = sorted({x for x in tokens if x.strip()}, key=len, reverse=True)
        if len(ordered) > LAST - FIRST:
            raise ValueError(f"special_tokens: more than {LAST - FIRST}")
        self._stand_ins: dict[str, str] = {}
        for number, token in enumerate(ordered):
            self._stand_ins[token] = chr(FIRST + number) + FILLER * (len(token) - 1)
        self._written = {escaped(token): x for token, x in self._stand_ins.items()}
        self.stand_in = re.compile("[\ue001-\uf8ff]\ue000*")
        self._token = re.compile("|".join(map(re.escape, ordered)) or "(?!)")
        found = "|".join(map(re.escape, self._written)) or "(?!)"
        self._in_marker = re.compile(rf"{found}|\{{\{{|\}}\}}|\{{\?|\{{[^{{}}]*\}}")

    def with_stand_ins(self, piece: str, special: bool) -> str:
        """Return a piece of the text, with stand-ins if it is a special one."""
        new = re.sub("[\ue000-\uf8ff]", "\uffff", piece)  # what looks like a stand-in
        return self._token.sub(lambda x: self._stand_ins[x[0]], new) if special else new

    def put_into(self, marker: str) -> str:
        """Return a marker with stand-ins; white space that may be in a text is in no token."""
        found = self._in_marker.findall(marker.replace(" ", ""))
        spaced = [" ?".join(map(re.escape, it)) for it in found if it in self._written]
        own = "|".join(spaced) or "(?!)"
        marker = re.sub(own, lambda it: it[0].replace(" ", ""), marker)
        return self._in_marker.sub(lambda it: self._written.get(it[0], it[0]), marker)

    def plain(self, sought: str) -> str:
        """Return a text with the tokens in place of their stand-ins."""
        for token, stand_in in self._stand_ins.items():
            sought = sought.replace(stand_in, token)
        return sought
