"""JSON as it arrives: one value, passed on as far as it can be closed wherever it breaks off."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence

from turnspec.engine.format import CompiledFormat
from turnspec.engine.json_text import ESCAPED, dump_json
from turnspec.engine.markers import Markers
from turnspec.engine.turn import WHITE_SPACE, Turn
from turnspec.engine.unclosed import UnclosedString

_TOKENS = (
    "(?P<space>[ \t\n\r]+)|(?P<quote>QUOTES)|(?P<opening>[{[])|(?P<closing>[}\\]])"
    "|(?P<comma>,)|(?P<colon>:)|(?P<word>[^\\x00-\x20{}\\[\\](),:;\"'`<>|]+)"
)
_STRING = re.compile(
    r'[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*(?P<end>")?'
)
_ESCAPE_BEGUN = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")


class Value:
    """Reads a value, with JSON out of which it comes whatever the model writes.

    What can't stand at the end of JSON waits for what follows: a separator, a key, a word or a
    number that may go on.
    """

    words: Mapping[str, str] = {"true": "true", "false": "false", "null": "null"}
    has_bare_keys = False

    def __init__(
        self,
        turn: Turn,
        compiled: CompiledFormat | None = None,
        quotes: Sequence[str] = ('"',),
    ) -> None:
        self._turn = turn
        self._quotes = quotes
        self._unclosed = UnclosedString(turn, compiled) if compiled else None
        self._longest_quote = max(map(len, quotes))
        ends = self._unclosed.ends if self._unclosed else Markers(())
        self._first, self._stops = ends.first, ends.first_or(ESCAPED)
        self._tokens = re.compile(_TOKENS.replace("QUOTES", "|".join(map(re.escape, quotes))))
        self._takes: Mapping[str, Callable[[str], bool]] = {
            "space": self._take_space,
            "opening": self._take_opening,
            "closing": self._take_closing,
            "comma": self._take_comma,
            "colon": self._take_colon,
            "quote": self._take_quote,
            "word": self._take_word,
        }
        self.begin()

    def begin(self) -> None:
        """Expect a value."""
        self.over = False  # whether all of it is there
        self.broken = False  # whether what comes next isn't part of it
        self._expected = "value"  # or "key", "colon", "comma"
        self._closers: list[str] = []  # for the brackets that are open
        self._quote = ""  # of the string that is being read
        #: Up to what the text is that of a string in JSON; None where none is passed on.
        self.string_stops: re.Pattern[str] | None = None
        self._is_key = False  # whether that is a key
        self._word: list[str] = []
        self._held: list[str] = []  # until a value begins
        self._out: list[str] = []  # until it is passed on

    @property
    def waiting(self) -> str:
        """What has been read, and waits for what follows it."""
        return "".join(self._held + self._word)

    def read(self) -> str:
        """Take what has come of the value, and return it as JSON as far as it is settled."""
        while self._read_string() if self._quote else self._read_token():
            pass
        text = "".join(self._out)
        self._out.clear()
        return text

    @property
    def is_open(self) -> bool:
        """Whether there is something of the value that isn't closed."""
        return bool(self._closers or self._quote or self._held or self._word)

    def close(self) -> str:
        """Return what closes the value if it breaks off, and expect another one."""
        if self.is_open and not self._turn.final:
            self._turn.problem("malformed", f"a value breaks off after {self.waiting!r}")
        quote = '"' if self._quote and not self._is_key else ""
        closing = quote + "".join(reversed(self._closers))
        self.begin()
        return closing

    def _read_token(self) -> bool:
        """Take a token, and return whether there may be another."""
        turn = self._turn
        token = self._tokens.match(turn.text, turn.position)
        kind = token.lastgroup if token else None
        if self._word and kind != "word" and not (kind == "space" and self._is_in_bare_key()):
            return self._end_word()
        if self.over:
            return False
        if token is None or kind is None:
            self.broken = not self.may_be_quote(self._turn.position)
            return False
        if kind in ("word", "opening") and not self._word and self._is_quote_begun():
            return False
        self.broken = not self._takes[kind](token.group())
        if not self.broken:
            turn.position = token.end()
        return not self.broken

    def _is_quote_begun(self) -> bool:
        """Say whether more text may make a quote of what looks like something else so far."""
        return (
            self._longest_quote > 1
            and not self._turn.final
            and self.may_be_quote(self._turn.position)
        )

    def is_literal(self, word: str) -> bool:
        """Say whether a word is a number or a constant."""
        return word in self.words or _NUMBER.fullmatch(word) is not None

    def may_be_quote(self, at: int) -> bool:
        """Say whether what stands at a place is a quote, or the beginning of one so far."""
        rest = self._turn.text[at : at + self._longest_quote]
        return any(quote.startswith(rest) for quote in self._quotes)

    def _is_in_bare_key(self) -> bool:
        return self._expected == "key" and self.has_bare_keys

    def _take_space(self, text: str) -> bool:
        if self._word:
            self._word.append(text)
        elif self._closers:
            self._held.append(text)
        return True

    def _take_opening(self, text: str) -> bool:
        self._insert_missing()
        if self._expected != "value":
            return False
        self._settle(text)
        self._closers.append("}" if text == "{" else "]")
        self._expected = "key" if text == "{" else "value"
        return True

    def _take_closing(self, text: str) -> bool:
        if self._closers[-1:] != [text]:
            return False
        if self._expected != "comma" and self.waiting.strip():
            self._turn.problem("malformed", f"{self.waiting!r} before {text!r}")
            self._held.clear()
        self._closers.pop()
        self._end_value(text)
        return True

    def _take_comma(self, text: str) -> bool:
        if self._expected != "comma":
            return False
        self._held.append(text)
        self._expected = "key" if self._closers[-1] == "}" else "value"
        return True

    def _take_colon(self, text: str) -> bool:
        if self._expected != "colon":
            return False
        self._held.append(text)
        self._expected = "value"
        return True

    def _take_quote(self, text: str) -> bool:
        self._insert_missing()
        self._quote = text
        self._is_key = self._expected == "key"
        if self._is_key:
            self._held.append('"')
        else:
            self._settle('"')
            self.string_stops = self._stops
        return True

    def _take_word(self, text: str) -> bool:
        self._word.append(text)
        return True

    def _end_word(self) -> bool:
        """Take the word that was read for a number, a constant or a key; else it is a string."""
        turn = self._turn
        at_end = turn.position == len(turn.text)
        if at_end and not turn.final:
            return False
        word = "".join(self._word).rstrip(WHITE_SPACE)
        value = word if _NUMBER.fullmatch(word) else self.words.get(word)
        if at_end and value is None:
            return False
        self._word.clear()
        self._insert_missing()
        is_key = self._expected == "key"
        if value is None or is_key:
            value = dump_json(word)
            if not (is_key and self.has_bare_keys):
                turn.problem("malformed", f"{word!r} without quotes")
        if is_key:
            self._held.append(value)
            self._expected = "colon"
        else:
            self._settle()
            self._end_value(value)
        return True

    def _insert_missing(self) -> None:
        """Supply a comma or a colon where none stands before what comes next."""
        missing = {"comma": ", ", "colon": ": "}.get(self._expected)
        if missing is None:
            return
        self._turn.problem("malformed", f"no {missing.strip()!r} after {self.waiting!r}")
        self._held.append(missing)
        is_key = self._expected == "comma" and self._closers[-1] == "}"
        self._expected = "key" if is_key else "value"

    def _settle(self, text: str = "") -> None:
        """Pass on what waited for a value, and the value's beginning."""
        self._out += [*self._held, text]
        self._held.clear()

    def _end_value(self, text: str) -> None:
        """Pass on the end of a value."""
        self._settle(text)
        self._expected = "comma"
        self.over = not self._closers

    def _read_string(self) -> bool:
        """Take more of a string; return whether there may be something else."""
        turn = self._turn
        text, position = turn.text, turn.position
        match = _STRING.match(text, position)
        assert match  # if only an empty text
        if self._first.search(text, position, end := match.end()):
            match = self._before_unclosed(match)
        turn.position = match.end()
        (self._held if self._is_key else self._out).append(match.group())
        if match.lastgroup:
            self._end_string()
            return True
        is_settled = turn.position == end < len(text)
        if not is_settled or _ESCAPE_BEGUN.match(text, end):
            return False
        character = text[end]
        if character == "\\":
            turn.problem("malformed", f"{text[end : end + 2]!r} is no escape")
        self._pass_on(json.dumps(character)[1:-1])
        turn.position += 1
        return True

    def _before_unclosed(self, match: re.Match[str]) -> re.Match[str]:
        """Return what has come of a string, up to where it may end though it isn't closed."""
        if self._unclosed is None:
            return match
        end, self.broken = self._unclosed.find(match.end())
        if end == match.end():
            return match
        return match.re.match(match.string, match.start(), end) or match

    def _pass_on(self, text: str) -> None:
        """Pass on what stands in a string."""
        (self._held if self._is_key else self._out).append(text)

    def _end_string(self) -> None:
        self._quote, self.string_stops = "", None
        self._expected = "colon" if self._is_key else "comma"
        self.over = not self._closers


ValueMaker = Callable[[Turn, CompiledFormat], Value]
