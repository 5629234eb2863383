"""The text that has come and is not read yet."""

from __future__ import annotations

from turnspec.engine.facts import HAS_CALLS, HAS_SPECIAL_TOKENS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from turnspec.engine.rules import Rules


class Input:
    """The text that has come and is not read yet."""

    def __init__(self, at: int, rules: Rules, text: str = "", marked: str = "") -> None:
        self.text = text
        self.marked = marked  # the text with stand-ins for special tokens
        self.position = 0  # what stands before it is read
        self.offset = at  # of the text's first character in what the model writes
        self.final = False  # whether all text has come
        self.rules = rules
        if HAS_CALLS:
            self._coming: list[tuple[str, str]] = []  # pieces that are not looked at yet
            self._coming_length = 0

    def add(self, text: str, special: bool) -> bool:
        """Add a piece; return whether to look: much that is held waits for more than that."""
        tokens = self.rules.special if HAS_SPECIAL_TOKENS else None
        marked = tokens.with_stand_ins(text, special) if HAS_SPECIAL_TOKENS and tokens else text
        if HAS_CALLS:
            waiting = self._coming_length + len(text)
            if text and 8 * (waiting + 64) < len(self.text):
                self._coming.append((text, marked))
                self._coming_length = waiting
                return False
            if self._coming:
                text = "".join(piece for piece, _ in self._coming) + text
                marked = "".join(piece for _, piece in self._coming) + marked
                self._coming, self._coming_length = [], 0
        self.text += text
        self.marked = self.marked + marked if HAS_SPECIAL_TOKENS and tokens else self.text
        return True

    @property
    def here(self) -> int:
        """The offset of the position."""
        return self.offset + self.position

    @property
    def rest(self) -> str:
        """All that is not read yet."""
        return self.text[self.position :]

    def take(self, end: int | None = None) -> str:
        """Return the text up to a position, by default all of it, and move there."""
        start, self.position = self.position, len(self.text) if end is None else end
        return self.text[start : self.position]

    def drop(self, end: int) -> None:
        """Drop the text before an offset."""
        at = end - self.offset
        self.text = self.text[at:]
        self.marked = self.marked[at:] if HAS_SPECIAL_TOKENS and self.rules.special else self.text
        self.offset, self.position = end, self.position - at

    def special_tokens_in(self, start: int, end: int) -> list[tuple[int, str]]:
        """Return the special tokens between two positions, each with its offset."""
        tokens, text = self.rules.special, self.marked[start:end]
        found = tokens.stand_in.finditer(text) if tokens else ()
        places = [(start + it.start(), start + it.end()) for it in found]
        return [(self.offset + at, self.text[at:past]) for at, past in places]
