"""The text that has come and is not read yet."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from turnspec.engine.rules import Rules


class Input:
    """The text that has come and is not read yet."""

    def __init__(self, offset: int, rules: Rules) -> None:
        self.text = ""
        self.marked = ""  # the text with stand-ins for special tokens
        self.position = 0  # what stands before it is read
        self.offset = offset  # of the text's first character in what the model writes
        self.final = False  # whether all text has come
        self.rules = rules

    def add(self, text: str, special: bool) -> None:
        """Add the next piece."""
        self.text += text
        tokens = self.rules.special
        self.marked = self.marked + tokens.marked(text, special) if tokens else self.text

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

    def drop_what_was_read(self, before: str = "", marked: str = "") -> None:
        """Keep no text that was read, or put some back before the position."""
        self.offset += self.position - len(before)
        self.text = before + self.text[self.position :]
        has_tokens = self.rules.special is not None
        self.marked = marked + self.marked[self.position :] if has_tokens else self.text
        self.position = 0

    def tokens(self, start: int, end: int) -> list[tuple[int, str]]:
        """Return the special tokens between two positions: where, and their stand-ins."""
        tokens = self.rules.special
        return tokens.between(self.marked, start, end) if tokens else []
