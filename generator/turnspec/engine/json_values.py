"""JSON as it arrives: one value, passed on as far as it can be closed wherever it breaks off."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from turnspec.engine.facts import HAS_OTHER_VALUES
from turnspec.engine.input import Input
from turnspec.engine.json_texts import dump_json, find_flaw, load_json, quote
from turnspec.engine.literals import join_halves
from turnspec.engine.markers import WHITE_SPACE
from turnspec.engine.unclosed import UnclosedString

TYPE_CHECKING = False
if TYPE_CHECKING:
    from turnspec.engine.results import ProblemKind
    from turnspec.engine.rules import Rules
    from turnspec.engine.turn import Turn

TOKENS = (
    "(?P<space>[ \t\n\r]+)|(?P<quote>QUOTES)|(?P<opening>[{[])|(?P<closing>[}\\]])"
    "|(?P<comma>,)|(?P<colon>:)|(?P<word>[^\\x00-\x20{}\\[\\](),:;\"'`<>|]+)"
)
STRING = r'[^SIGNS\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^SIGNS\\\x00-\x1f]*){0,999}'
#: A quote ends a string in single ones only where JSON goes on behind it; else it is an apostrophe.
SINGLE_QUOTED = re.compile(
    STRING.replace("SIGNS", "\"'") + r"(?P<end>'(?=[ \t\n\r]{0,99}[,:}\]]))?"
)
DOUBLE_QUOTED = re.compile(STRING.replace("SIGNS", '"') + '(?P<end>")?')
STRING_GOES_ON = re.compile(r"(?:\\(?:u[0-9a-fA-F]{0,3})?|'[ \t\n\r]{0,99})\Z")
JSON_TOKENS = re.compile(TOKENS.replace("QUOTES", "[\"']"))
JSON_QUOTES: Sequence[str] = tuple("\"'")
JSON_CONSTANTS: Mapping[str, str] = {"true": "true", "false": "false", "null": "null"}
SEPARATORS = {"comma": ", ", "colon": ": "}
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")


class JsonValue:
    """A value that is being read, with the JSON that comes of it, whatever the model writes.

    What cannot end JSON waits for what follows it: a separator, a key, or a word that may go on.
    """

    words = JSON_CONSTANTS
    tokens = JSON_TOKENS
    quotes = JSON_QUOTES  # in which strings may stand
    has_single_quotes = False  # whether strings may stand in them
    has_bare_keys = False  # which may hold blanks

    def __init__(self, input: Input, turn: Turn | None = None) -> None:
        self._input, self._turn = input, turn
        self._unclosed = UnclosedString(input) if turn else None
        self.over = False  # whether all of it is there
        self.broken = False  # whether what comes next is no part of it
        self._expected = "value"  # or "key", "colon", "comma"
        self._closers: list[str] = []  # for the brackets that are open
        self._quote = ""  # of the string that is being read
        self._is_key = False  # whether that is a key
        self._bare_key = ""  # what was read last, if it is a key without quotes
        self._unread_depth = 0  # of the object that is passed on as it is written
        self._word: list[str] = []
        self._held: list[str] = []  # until a value begins
        self._out: list[str] = []  # until it is passed on

    @property
    def waiting(self) -> str:
        """What has been read, and waits for what follows it."""
        return "".join(self._held + self._word)

    @property
    def is_in_string(self) -> bool:
        """Whether what comes next is passed on as part of a string."""
        return bool(self._quote) and not self._is_key

    @property
    def is_open(self) -> bool:
        """Whether there is something of the value that is not closed."""
        return bool(self._closers or self._quote or self._held or self._word)

    @property
    def is_done(self) -> bool:
        """Whether nothing more of it can come."""
        return self.over or (self.broken and not self._input.final)

    def read(self) -> str:
        """Take what has come of the value; return it as JSON, as far as it is certain."""
        while self._read_string() if self._quote else self._read_token():
            pass
        text = "".join(self._out)
        self._out = []
        return text

    def close(self) -> str:
        """Return what closes the value if it breaks off."""
        if self.is_open and not self._input.final:
            self._tell(f"a value breaks off after {self.waiting!r}")
        quote = '"' if self.is_in_string else ""
        return quote + "".join(reversed(self._closers))

    def is_literal(self, word: str) -> bool:
        """Say whether a word is a number or a constant."""
        return word in self.words or NUMBER.fullmatch(word) is not None

    def may_be_quote(self, at: int) -> bool:
        """Say whether what stands at a position is a quote, or may become one."""
        rest = self._input.text[at : at + len(self.quotes[0])]
        return any(quote.startswith(rest) for quote in self.quotes)

    def _tell(self, message: str) -> None:
        if self._turn:
            self._turn.problem("malformed", message)

    def _read_token(self) -> bool:
        """Take a token; return whether there may be another."""
        input = self._input
        token = self.tokens.match(input.text, input.position)
        kind = token.lastgroup if token else None
        if self._word and not self._goes_on(kind):
            return self._end_word()
        if self.over or self._may_be_quote(kind):
            return False
        if token is None:
            self.broken = input.position < len(input.text)
            return False
        self.broken = not self._take(kind, token.group())
        if not self.broken:
            input.position = token.end()
        return not self.broken

    def _goes_on(self, kind: str | None) -> bool:
        """Say whether a word that was read goes on with a token."""
        is_key = HAS_OTHER_VALUES and self.has_bare_keys and self._expected == "key"
        return kind == "word" or (is_key and kind == "space")

    def _may_be_quote(self, kind: str | None) -> bool:
        """Say whether more text may make a quote of what comes next."""
        return False

    def _take(self, kind: str | None, text: str) -> bool:
        """Take a token; return whether it can stand here."""
        if self._expected == "anything" and kind != "closing":
            return self._take_as_written(kind, text)
        match kind:
            case "space":
                if self._word or self._closers:
                    (self._word or self._held).append(text)
            case "word":
                self._word.append(text)
            case "comma" | "colon":
                if self._expected != kind:
                    return False
                self._take_separator(text)
            case "quote":
                return self._take_quote(text)
            case "opening":
                return self._take_opening(text)
            case _:
                return self._take_closing(text)
        return True

    def _take_separator(self, text: str) -> None:
        is_key = self._expected == "comma" and self._closers[-1] == "}"
        self._held.append(text)
        self._expected = "key" if is_key else "value"

    def _insert_missing(self) -> None:
        """Supply a comma or a colon where none stands before what comes next."""
        if missing := SEPARATORS.get(self._expected):
            self._tell(f"no {missing.strip()!r} after {self.waiting!r}")
            self._take_separator(missing)

    def _take_opening(self, text: str) -> bool:
        self._insert_missing()
        if self._expected != "value":
            return False
        self._pass_on(text)
        self._closers.append("}" if text == "{" else "]")
        self._expected = "key" if text == "{" else "value"
        return True

    def _take_closing(self, text: str) -> bool:
        if not self._closers or self._closers[-1] != text:
            return False
        if self._expected not in ("comma", "anything") and self.waiting.strip():
            self._tell(f"{self.waiting!r} before {text!r}")
            self._held.clear()
        self._closers.pop()
        self._end_value(text)
        if len(self._closers) < self._unread_depth:
            self._unread_depth = 0
        elif self._unread_depth:
            self._expected = "anything"
        return True

    def _take_quote(self, text: str) -> bool:
        if self._bare_key and self._expected == "colon" and SEPARATORS["comma"] in self._held:
            return self._leave_members(text)  # it may well be a part of the string before it
        if text == "'" and not (HAS_OTHER_VALUES and self.has_single_quotes):
            self._tell("a string in single quotes")
        self._insert_missing()
        self._quote = text
        self._is_key, self._bare_key = self._expected == "key", ""
        if self._is_key:
            self._held.append('"')
        else:
            self._pass_on('"')
        return True

    def _end_word(self) -> bool:
        """Take the word that was read for a number, a constant or a key; else it is a string."""
        input = self._input
        at_end = input.position == len(input.text)
        pieces = self._word if input.final or not at_end else ()
        word = "".join(pieces).rstrip(WHITE_SPACE)
        value = word if NUMBER.fullmatch(word) else self.words.get(word)
        if at_end and not value:
            return False
        self._word.clear()
        if self._expected == "colon" and self._bare_key:
            return self._leave_members(word)
        self._insert_missing()
        is_key = self._expected == "key"
        if value is None or is_key:
            value = dump_json(word)
            if not (HAS_OTHER_VALUES and self.has_bare_keys and is_key):
                self._tell(f"{word!r} without quotes")
        if is_key:
            self._held.append(value)
            self._expected, self._bare_key = "colon", word
        else:
            self._end_value(value)
        return True

    def _leave_members(self, word: str) -> bool:
        """Pass on an object as it is written: words follow each other where members belong."""
        self._tell(f"no ':' after {self.waiting!r}")
        written = "".join(piece for piece in self._held if piece not in list(SEPARATORS.values()))
        before = written.replace(dump_json(self._bare_key), self._bare_key)
        self._held.clear()
        self._pass_on(before + word)
        self._expected, self._unread_depth = "anything", len(self._closers)
        return True

    def _take_as_written(self, kind: str | None, text: str) -> bool:
        """Take what is in an object that has no members."""
        self._out.append(text)
        if kind == "opening":
            self._closers.append("}" if text == "{" else "]")
        return True

    def _pass_on(self, text: str) -> None:
        """Pass on what waited for a value, and the beginning of that value."""
        self._out += [*self._held, text]
        self._held.clear()

    def _end_value(self, text: str) -> None:
        self._pass_on(text)
        self._expected = "comma"
        self.over = not self._closers

    def _read_string(self) -> bool:
        """Take more of a string; return whether something else may follow."""
        input = self._input
        found, is_certain = self._matched(DOUBLE_QUOTED if self._quote == '"' else SINGLE_QUOTED)
        input.position = end = found.end()
        if found["end"]:
            self._add(found.group()[:-1] + '"')
            return self._end_string()
        self._add(found.group())
        sign = input.text[end : end + 1]
        if not is_certain or not sign or STRING_GOES_ON.match(input.text, end):
            return False
        if sign == "\\" and found.group():  # it has only so many escapes
            return True
        if input.text.startswith("\\'", end) and self._quote == "'":
            sign = "'"
            input.position += 1
        elif sign == "\\":
            self._tell(f"{input.text[end : end + 2]!r} is no escape")
        self._add(quote(sign)[1:-1])
        input.position += 1
        return True

    def _matched(self, string: re.Pattern[str]) -> tuple[re.Match[str], bool]:
        """Return the text of a string that may not be closed, and whether it may go on there."""
        text, at = self._input.text, self._input.position
        found = string.match(text, at)
        assert found  # if only an empty text
        reach = self._reach(found.end())
        is_certain = reach == found.end()
        return (found if is_certain else string.match(text, at, reach) or found), is_certain

    def _reach(self, end: int) -> int:
        """Return up to where a text is that of a string, which may not be closed."""
        if self._unclosed:
            end, self.broken = self._unclosed.find(end)
        return end

    def _add(self, text: str) -> None:
        """Add what stands in a string."""
        (self._held if self._is_key else self._out).append(text)

    def _end_string(self) -> bool:
        self._quote = ""
        self._expected = "colon" if self._is_key else "comma"
        self.over = not self._closers
        return True


def closed(text: str, rules: Rules) -> str:
    """Return the JSON value in a text, closed where it breaks off."""
    input = Input(0, rules, text)
    input.final = True
    value = JsonValue(input)
    return value.read() + value.close()


def as_object(text: str, rules: Rules) -> str:
    """Return arguments that are a string, or null, as the object that they mean."""
    try:
        value = load_json(text)
    except ValueError:
        return text
    if isinstance(value, str):
        text = join_halves(closed(value, rules) if find_flaw(value) else value)
    return "{}" if value is None or not text.strip() else text


def deviation(arguments: str) -> tuple[ProblemKind, str]:
    """Return what is wrong with arguments that are no object: the kind of problem, a sentence."""
    kinds: dict[str, ProblemKind] = {'"': "string_arguments", "n": "no_arguments"}
    return kinds.get(arguments[:1], "not_an_object"), f"the arguments are {arguments}"
