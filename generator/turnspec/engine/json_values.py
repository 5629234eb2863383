"""JSON as it arrives: one value, passed on as far as it can be closed wherever it breaks off."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence

from turnspec.engine.facts import HAS_OTHER_VALUES
from turnspec.engine.input import Input
from turnspec.engine.json_texts import dump_json, find_flaw, load_json, quote
from turnspec.engine.literals import join_halves
from turnspec.engine.unclosed import after_ends

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
CLOSERS = {"{": "}", "[": "]"}
SEPARATORS = {"comma": ", ", "colon": ": "}
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")


class JsonValue:
    """A value that is being read, as JSON; what cannot end that waits for what follows it."""

    words = JSON_CONSTANTS
    tokens = JSON_TOKENS
    quotes = JSON_QUOTES  # in which strings may stand
    has_single_quotes = False  # whether strings may stand in them

    def __init__(self, input: Input, turn: Turn | None = None) -> None:
        self._input, self._turn = input, turn
        self.is_done = False  # whether nothing more of it can come
        self._expected = "value"  # or "key", "colon", "comma"
        self._closers: list[str] = []  # for the brackets that are open
        self._depth = sys.maxsize  # of the object that is passed on as it is written
        self._quote = ""  # of the string that is being read
        self._bare_key = ""  # what was read last, if it is a key without quotes
        self._held: list[str] = []  # until a value begins
        self._out: list[str] = []  # until it is passed on
        #: The offset before which all ends of calls are the string's.
        self._decided = input.here if turn else sys.maxsize

    @property
    def waiting(self) -> str:
        """What has been read, and waits for what follows it."""
        return "".join(self._held)

    @property
    def is_in_string(self) -> bool:
        """Whether what comes next is passed on as part of a string."""
        return bool(self._quote) and self._expected != "key"

    def read(self) -> str:
        """Take what has come of the value; return it as JSON, as far as it is certain."""
        while self._read_string() if self._quote else self._read_token():
            pass
        text, self._out = "".join(self._out), []
        return text

    def close(self) -> str:
        """Return what closes the value if it breaks off."""
        text = ('"' if self.is_in_string else "") + "".join(reversed(self._closers))
        if text and not self._input.final:
            self._tell(f"a value breaks off after {self.waiting!r}")
        return text

    def literal(self, word: str) -> str | None:
        """Return a word that is a number or a constant in JSON."""
        return word if NUMBER.fullmatch(word) else self.words.get(word)

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
        if self.is_done or self._waits(token):
            return False
        if token and self._take(token.lastgroup, token.group()):
            input.position = token.end()
            return True
        self.is_done = input.position < len(input.text) and not input.final
        return False

    def _waits(self, token: re.Match[str] | None) -> bool:
        """Say whether more text may make another token of what comes next."""
        if not token or token.lastgroup != "word" or len(self._closers) >= self._depth:
            return False
        is_whole = self._input.final and self.literal(token.group())
        return token.end() == len(self._input.text) and not is_whole

    def _take(self, kind: str | None, text: str) -> bool:
        """Take a token; return whether it can stand here."""
        if kind == "closing":
            return self._take_closing(text)
        if len(self._closers) >= self._depth:
            self._out.append(text)
            self._closers += [CLOSERS[text]] if kind == "opening" else []
        elif kind == "space":
            self._held += [text] if self._closers else []
        elif kind not in SEPARATORS:
            return self._begin(kind, text)
        elif kind == self._expected:
            self._take_separator(text)
        else:
            return False
        return True

    def _take_separator(self, text: str) -> None:
        is_key = self._expected == "comma" and self._closers[-1] == "}"
        self._held.append(text)
        self._expected = "key" if is_key else "value"

    def _begin(self, kind: str | None, text: str) -> bool:
        """Begin a key or a value, before which a separator may be missing."""
        if kind == "word":
            self._input.position += len(text)
        may_be_text = kind == "word" or (kind == "quote" and ", " in self._held)
        if may_be_text and self._bare_key and self._expected == "colon":
            return self._leave_members(text)
        if text == "'" and not (HAS_OTHER_VALUES and self.has_single_quotes):
            self._tell("a string in single quotes")
        if missing := SEPARATORS.get(self._expected):
            self._tell(f"no {missing.strip()!r} after {self.waiting!r}")
            self._take_separator(missing)
        is_key = self._expected == "key"
        if kind == "word":
            value = None if is_key else self.literal(text)
            if not (value or (HAS_OTHER_VALUES and is_key)):
                self._tell(f"{text!r} without quotes")
            self._bare_key = text
            self._end(value or dump_json(text))
        elif kind == "quote":
            self._quote, self._bare_key = text, ""
            self._add('"')
        elif not is_key:
            self._add(text)
            self._closers.append(CLOSERS[text])
            self._expected = "key" if text == "{" else "value"
        return kind != "opening" or not is_key

    def _take_closing(self, text: str) -> bool:
        if not self._closers or self._closers[-1] != text:
            return False
        if self._expected != "comma" and self.waiting.strip():
            self._tell(f"{self.waiting!r} before {text!r}")
            self._held.clear()
        self._closers.pop()
        if len(self._closers) < self._depth:
            self._depth = sys.maxsize
        self._expected = "value"
        self._end(text)
        return True

    def _leave_members(self, text: str) -> bool:
        """Pass on an object as it is written: words follow each other where members belong."""
        self._tell(f"no ':' after {self.waiting!r}")
        written = "".join(piece for piece in self._held if piece != ", ")
        self._held = [written.replace(dump_json(self._bare_key), self._bare_key)]
        self._add(text)
        self._depth = len(self._closers)
        return True

    def _add(self, text: str) -> None:
        """Add to a key, which waits for its value, or pass on what is a value's."""
        self._held.append(text)
        if self._expected != "key":
            self._out += self._held
            self._held = []

    def _end(self, text: str) -> None:
        """End a key or a value."""
        self._add(text)
        self._quote = ""
        self._expected = "colon" if self._expected == "key" else "comma"
        self.is_done = not self._closers

    def _read_string(self) -> bool:
        """Take more of a string; return whether something else may follow."""
        input = self._input
        string = DOUBLE_QUOTED if self._quote == '"' else SINGLE_QUOTED
        found, is_certain = self._matched(string)
        input.position = end = found.end()
        if found["end"]:
            self._end(found.group()[:-1] + '"')
            return True
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
        if reach < found.end():
            return string.match(text, at, reach) or found, False
        return found, True

    def _reach(self, end: int) -> int:
        """Return up to where a text is that of a string, which may not be closed."""
        input, ends = self._input, self._input.rules.at_call_end
        at = max(input.position, self._decided - input.offset)
        while found := ends.search(input, True, at, end):
            at, is_over = after_ends(input, found.start)
            if is_over is not False:
                self.is_done = is_over is True and not input.final
                return found.start
            at = max(at, found.start + 1)
            self._decided = input.offset + at
        return end


def as_object(text: str, rules: Rules) -> str:
    """Return arguments that are a string, or null, as the object that they mean."""
    try:
        value = load_json(text)
    except ValueError:
        return text
    if isinstance(value, str) and find_flaw(value):
        input = Input(0, rules, value)
        input.final = True
        inner = JsonValue(input)
        value = inner.read() + inner.close()
    if isinstance(value, str):
        text = join_halves(value)
    return "{}" if value is None or not text.strip() else text


def deviation(arguments: str) -> tuple[ProblemKind, str]:
    """Return what is wrong with arguments that are no object: the kind of problem, a sentence."""
    kinds: dict[str, ProblemKind] = {'"': "string_arguments", "n": "no_arguments"}
    return kinds.get(arguments[:1], "not_an_object"), f"the arguments are {arguments}"
