"""The text that has come and is not read yet."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from turnspec.engine.rules import Rules


class Input:
    """The text that has come and is not read yet."""

    __slots__ = ("final", "marked", "offset", "position", "rules", "text")

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

    def take(self, end: int | None) -> str:
        """Return the text up to a position, and move there; None is the end."""
        start, self.position = self.position, len(self.text) if end is None else end
        return self.text[start : self.position]

    def take_all(self) -> str:
        """Return all that is not read yet."""
        return self.take(None)

    def put_back(self, text: str, marked: str, offset: int) -> None:
        """Put a text that begins at an offset back before the position."""
        rest = self.marked[self.position :]
        self.text = text + self.rest
        self.marked = marked + rest if self.rules.special else self.text
        self.position, self.offset = 0, offset

    def drop_what_was_read(self) -> None:
        """Keep no text that was read."""
        if self.position:
            self.offset += self.position
            tokens = self.rules.special
            rest = self.marked[self.position :]
            self.text = self.rest
            self.marked = rest if tokens else self.text
            self.position = 0

    def tokens_before(self, end: int) -> list[tuple[int, str]]:
        """Return the special tokens up to a position: where, and their stand-ins."""
        tokens = self.rules.special
        return tokens.between(self.marked, self.position, end) if tokens else []

    def holds_token(self, start: int, end: int) -> bool:
        """Say whether a special token came between two positions."""
        tokens = self.rules.special
        return bool(tokens and tokens.between(self.marked[:end], start, end))
