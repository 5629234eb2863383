"""JSON as it arrives: one value, passed on as far as it can be closed wherever it breaks off."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from turnspec.engine.facts import ARGUMENTS, HAS_JSON_STRINGS, HAS_OTHER_VALUES, HAS_PYTHON_VALUES
from turnspec.engine.input import Input
from turnspec.engine.json_texts import dump_json, quote
from turnspec.engine.markers import after_space

TYPE_CHECKING = False
if TYPE_CHECKING:
    from turnspec.engine.turn import Turn

TOKENS = (
    "(?P<space>[ \t\n\r]+)|(?P<quote>QUOTES)|(?P<opening>[{[])|(?P<closing>[}\\]])"
    "|(?P<comma>,)|(?P<colon>:)|(?P<word>[^\\x00-\x20{}\\[\\](),:;\"'`<>|]+)"
)
STRING = r"(?P<text>[^Q\\\x00-\x1f]*(?:\\(?:[Q\\/bfnrt]|u[0-9a-fA-F]{4})[^Q\\\x00-\x1f]*){0,999})"
#: Text within a string with whole escapes, of Python's those that JSON has as well.
IN_STRING = r'[^"\\\x00-\x1f]*(?:\\["\\bfnrt][^"\\\x00-\x1f]*){0,999}'
DOUBLE_QUOTED = re.compile(STRING.replace("Q", '"') + '(?P<end>")?')
#: A quote ends a string in single ones only where JSON goes on after it; else it is an apostrophe.
SINGLE_QUOTED = STRING.replace("Q", "\"'") + r"(?P<end>'(?=[ \t\n\r]{0,99}[,:}\]]))?"
STRING_GOES_ON = re.compile(r"(?:\\(?:u[0-9a-fA-F]{0,3})?|'[ \t\n\r]{0,99})\Z")
JSON_QUOTES: Sequence[str] = tuple("\"'")
#: The constants of JSON and of Python, as JSON has them.
constants_as_json = {"true": "true", "false": "false", "null": "null"}
constants_as_json |= {"True": "true", "False": "false", "None": "null"}
CLOSERS = {"{": "}", "[": "]"}
SEPARATORS = {"comma": ", ", "colon": ": "}
NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?"
#: What numbers may have in Python, and not in JSON; zeros before digits only floats may.
NOT_IN_JSON = r"^\+|_(?=[0-9])|(?<![0-9._])0+(?=[0-9]+[.eE]|0\Z)"
#: Where they may lack a zero: before the point, or behind it.
LACKS_ZERO = r"(?<![0-9])(?=\.[0-9])|(?<=[0-9]\.)(?![0-9])"


class JsonValue:
    """A value that is being read, as JSON; what cannot end that waits for what follows it."""

    tokens = re.compile(TOKENS.replace("QUOTES", "[\"']"))
    quotes = JSON_QUOTES  # in which strings may stand
    has_single_quotes = False  # whether strings may stand in them
    is_python = False  # whether it is a literal of Python
    # How a call goes on that begins in a string, where its quote would be escaped.
    call_begins = r"[^QUOTE\\]{0,256}?(?:(?P<quote>\{[ \t\n\r]*QUOTE)|\Z)"

    def __init__(self, input: Input, turn: Turn | None = None) -> None:
        self._input, self._turn = input, turn
        self.is_done = False  # whether nothing more of it can come
        self._expected = "value"  # or "key", "colon", "comma"
        self._closers: list[str] = []  # for the brackets that are open
        self._tuples: list[int] = []  # how many are open around each
        self._depth = sys.maxsize  # of the object that is passed on as it is written
        self._quote = ""  # of the string that is being read
        self._bare_key = ""  # what was read last, if it is a key without quotes
        self._string_end = -1  # where the last string ends
        self._held: list[str] = []  # until a value begins
        self._out: list[str] = []  # until it is passed on
        self._decided = input.here if turn else sys.maxsize  # before it no string ends

    @property
    def waiting(self) -> str:
        """What has been read, and waits for what follows it."""
        return "".join(self._held)

    @property
    def open_quote(self) -> str:
        """The first sign of the quote around what is passed on as it comes, if that is a string."""
        return self._quote[:1] if self._expected != "key" else ""

    def read(self) -> str:
        """Take what has come of the value; return it as JSON, as far as it is certain."""
        while self._read_string() if self._quote else self._read_token():
            pass
        text, self._out = "".join(self._out), []
        return text

    def close(self) -> str:
        """Return what closes the value if it breaks off."""
        text = ('"' if self.open_quote else "") + "".join(reversed(self._closers))
        if text and not self._input.final:
            self._tell(f"a value breaks off after {self.waiting!r}")
        return text

    def literal(self, word: str) -> str | None:
        """Return a word that is a number or a constant, as JSON."""
        if HAS_PYTHON_VALUES and self.is_python:
            word = re.sub(LACKS_ZERO, "0", re.sub(NOT_IN_JSON, "", word))
        return word if re.fullmatch(NUMBER, word) else constants_as_json.get(word)

    def may_be_quote(self, at: int) -> bool:
        """Say whether what stands at a position is a quote, or may become one."""
        rest = self._input.text[at : at + len(self.quotes[0])]
        return any(quote.startswith(rest) for quote in self.quotes)

    def _tell(self, message: str, is_sure: bool = True) -> None:
        if self._turn:
            self._turn.problem("malformed", message)
            if not is_sure and self._turn.call:
                self._turn.call.complete = False
            elif ARGUMENTS == "json" and not is_sure:  # before the name
                self._turn.is_doubtful = True

    def _read_token(self) -> bool:
        """Take a token; return whether there may be another."""
        input = self._input
        token = self.tokens.match(input.text, input.position)
        if self.is_done or (HAS_OTHER_VALUES and self._may_be_quote(token)):
            return False
        is_taken = self._take(token.lastgroup or "", token.group()) if token else False
        if token and is_taken:
            input.position = token.end()
            return True
        is_over = is_taken is None or input.final or input.position == len(input.text)
        is_end = token is not None and token.lastgroup == "closing"
        if self._closers and not (is_over or is_end) and self._turn and self._turn.call:
            return self._leave_rest(token)
        self.is_done = not is_over
        return False

    def _leave_rest(self, token: re.Match[str] | None) -> bool:
        """Pass on what is in a bracket as it is written: what comes next cannot stand there."""
        input, rules = self._input, self._input.rules
        end = rules.at_call_end.match(input, True) or rules.in_text.match(input, True)
        if end and end.text:
            self.is_done = not end.is_partial
            return False
        sign = input.text[input.position : input.position + 1]
        if len(self._closers) < self._depth:
            self._tell(f"{sign!r} cannot follow {self.waiting!r}", is_sure=False)
            self._out += self._held
            self._held, self._depth = [], len(self._closers)
        if token is None:
            self._out.append(sign)
            input.position += 1
        return True

    def _may_be_quote(self, token: re.Match[str] | None) -> bool:
        """Say whether more text may make a quote of what comes next."""
        return False

    def _take(self, kind: str, text: str) -> bool | None:
        """Take a token; return whether it can stand here, or None if it may go on."""
        if HAS_PYTHON_VALUES and self.is_python:
            text = self._of_array(text)
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
            is_key = kind == "comma" and self._closers[-1] == "}"
            self._held.append(text)
            self._expected = "key" if is_key else "value"
        else:
            return False
        return True

    def _of_array(self, bracket: str) -> str:
        """Return the bracket of an array for that of a tuple; any other text as it is."""
        around = len(self._closers)
        if bracket == "(":
            self._tuples.append(around)
            return "["
        is_end = bracket == ")" and bool(self._tuples) and self._tuples.pop() == around - 1
        return "]" if is_end else bracket

    def _begin(self, kind: str, text: str) -> bool | None:
        """Begin a key or a value, before which a separator may be missing."""
        input, value = self._input, self.literal(text) if kind == "word" else None
        at_end = input.position + len(text) == len(input.text)
        if kind == "word" and at_end and not (value and input.final):
            return None
        input.position += len(text) if kind == "word" else 0
        may_be_text = kind == "word" or (kind == "quote" and ", " in self._held)
        if may_be_text and self._expected == "colon":
            is_late = self.waiting.replace(" ", "")[-2:] == ':"'  # the quote of a key
            if self._bare_key or is_late:
                return self._leave_members(text)
        if HAS_JSON_STRINGS and text == "'" and not (HAS_OTHER_VALUES and self.has_single_quotes):
            self._tell("a string in single quotes")
        is_apart = self._put_separator(kind, text)
        is_key = self._expected == "key"
        if kind == "word":
            value = None if is_key else value
            is_other = ARGUMENTS == "values" or self.quotes is not JSON_QUOTES
            if value != text and not (HAS_OTHER_VALUES and is_other and (value or is_key)):
                self._tell(f"{text!r} without quotes")
            self._bare_key = text
            self._end(value or dump_json(text))
        elif kind == "quote":
            self._quote = text
            self._bare_key = "" if is_apart or not is_key else text
            self._add('"')
        elif not is_key:
            self._add(text)
            self._closers.append(CLOSERS[text])
            self._expected = "key" if text == "{" else "value"
        return kind != "opening" or not is_key

    def _put_separator(self, kind: str, text: str) -> bool:
        """Put what is missing before a key or a value; return whether nothing was."""
        if missing := SEPARATORS.get(self._expected):
            # Words without quotes may be parts of something else.
            words = [self._bare_key, text if kind == "word" else ""]
            is_sure = all(self.literal(word) for word in words if word)
            if kind == "quote" and self._input.here == self._string_end:
                is_sure = False  # a quote twice may be one of a string that goes on
            self._tell(f"no {missing.strip()!r} after {self.waiting!r}", is_sure)
            self._take(self._expected, missing)
        return not missing

    def _take_closing(self, text: str) -> bool:
        if text not in reversed(self._closers):  # looks no further than it closes
            return False
        while (inner := self._closers[-1]) != text:
            self._tell(f"no {inner!r} before {text!r}", is_sure=False)
            self._take_closing(inner)
        if self._expected != "comma" and self.waiting.strip():
            is_sure = self.waiting.strip() == ","  # else a key has no value
            self._tell(f"{self.waiting!r} before {text!r}", is_sure)
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
        comma = self._held.index(", ") if ", " in self._held else -1  # not written
        written = "".join(piece for at, piece in enumerate(self._held) if at != comma)
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
        if self._quote:
            self._string_end = self._input.here
        self._quote = ""
        self._expected = "colon" if self._expected == "key" else "comma"
        self.is_done = not self._closers

    def _read_string(self) -> bool:
        """Take more of a string; return whether something else may follow."""
        if not HAS_JSON_STRINGS:
            return False  # as all are Python's
        input = self._input
        string = DOUBLE_QUOTED if self._quote == '"' else re.compile(SINGLE_QUOTED)
        found, is_certain = self._matched(string)
        text, end = found["text"], found.end()
        input.position = end
        self._add(text.replace("\\'", "'") if self._quote == "'" else text)
        if found["end"]:
            self._end('"')
            return True
        sign = input.text[end : end + 1]
        if not is_certain or not sign or STRING_GOES_ON.match(input.text, end):
            return False
        if sign == "\\" and text:  # it has only so many escapes
            return True
        if sign == "\\":  # before a single quote, as in Python, it is no text
            self._tell(f"{input.text[end : end + 2]!r} is no escape")
        self._add("" if input.text[end : end + 2] == "\\'" else quote(sign)[1:-1])
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
        input, rules = self._input, self._input.rules
        at = max(input.position, self._decided - input.offset)
        while found := rules.at_border.search(input, True, at, end):
            begins = self.call_begins.replace("QUOTE", re.escape(self._quote))
            at, is_over = after_ends(input, found.start, begins)
            if is_over is not False:
                self.is_done = is_over is True and not input.final
                return found.start
            at = max(at, found.start + 1)
            self._decided = input.offset + at
        self._decided = max(self._decided, input.offset + end)
        return end


def after_ends(input: Input, start: int, begins: str) -> tuple[int, bool | None]:
    """Return where ends of a call are over, if any, and if no string goes on; None if one may."""
    at, ends = start, input.rules.at_call_end
    while (found := ends.match(input, not input.final, at)) and not found.is_partial:
        at = after_space(input.text, found.end)
    if found or at == len(input.text):
        return at, (input.final and not found) or None
    call = input.rules.at_call_start.match(input, not input.final, at)
    if call is None or call.is_partial:
        return at, None if call else False
    begun = re.compile(begins).match(input.text, at)
    if not begun or begun["quote"]:
        return at, begun is not None
    return at, False if input.final else None
