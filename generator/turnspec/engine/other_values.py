"""Relatives of JSON: Python's literals, bare keys, strings in quotes of the format's own."""

from __future__ import annotations

import re
import sys
from functools import lru_cache

from turnspec.engine.facts import (
    HAS_JSON_STRINGS,
    HAS_PYTHON_VALUES,
    HAS_RAW_STRINGS,
    HAS_SPECIAL_TOKENS,
)
from turnspec.engine.json_texts import quote
from turnspec.engine.json_values import TOKENS, JsonValue
from turnspec.engine.markers import WHITE_SPACE, after_space

TYPE_CHECKING = False
if TYPE_CHECKING:
    from turnspec.engine.input import Input
    from turnspec.engine.markers import Found
    from turnspec.engine.roles import ValueStyle
    from turnspec.engine.turn import Turn

PYTHON_STRING = (
    r"(?P<text>TEXT*(?:\\(?:[^xuU]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}"
    r"|[xuU](?![0-9a-fA-F]{0,7}\Z))TEXT*){0,999})(?P<end>END)?"
)
HEX = "[0-9a-fA-F]"
PIECE = rf"\\(?:x({HEX}{{2}})|u({HEX}{{4}})|U({HEX}{{8}})|[\s\S])|[^\\]+"
#: Of all escapes of JSON the one that Python has not.
SLASH = r"(\\[^/])|\\/"
ESCAPES = {
    f"\\{pair[0]}": pair[1]
    for pair in ("n\n", "t\t", "b\b", "f\f", "r\r", "a\a", "v\v", "\\\\", "''", '""')
}
#: A number, a constant or a word without quotes, up to what ENDS it; nothing before other signs.
WORD = "[ \t\n\r]*(?P<word>[^\\x00-\x20{}\\[\\](),:;\"'`<>|ENDS]*)"
#: What no word holds; and no key without quotes, which may hold white space.
BEFORE_WORDS, BEFORE_KEYS = "\\x00-\x20", "\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f"
#: What follows a string: no bracket before another quote. An argument's key may, as a separator
#: may be missing before it.
AFTER_STRING = (
    r"[ \t\n\r]*(?:[)\]}]?\Z|(?P<begun>\w{1,64} ?\Z)"
    r"|(?P<next>[SIGNS](?<![)\]}])|[)\]}](?![\"'])|\w{1,64} ?[=:]))"
)


#: How a call goes on up to a quote that begins a value, as nothing escapes it.
VALUE_BEGINS = r"(?:(?!QUOTE)[\s\S]){0,256}?(?:(?P<quote>[:,=(\[][ \t\n\r]*QUOTE)|\Z)"
#: What a call, or its next argument, looks like up to that argument's quote.
CALL_BEGUN = r"(?:\w ?\([^()]{0,200}|,(?:[ \t\n\r]|\\[tnr]){0,9}\w{1,64} ?)= ?\Z"


class OtherValue(JsonValue):
    """A value in a relative of JSON."""

    def __init__(self, input: Input, turn: Turn | None, style: ValueStyle) -> None:
        super().__init__(input, turn)
        self._style = style
        self.is_python = HAS_PYTHON_VALUES and style.has_python_escapes
        self.has_single_quotes = (HAS_PYTHON_VALUES and self.is_python) or style.raw_quote == "'"
        self._opened = 0  # where the last string begins
        self._inner_quotes, self._inner_end = 0, -1  # quotes in it; the last one's end
        self._is_half = self._begins_twice = False  # they are no pairs; one is at once
        self.call_begins = VALUE_BEGINS
        self.quotes = (style.raw_quote or '"', '"', "'", "`")
        ends = re.sub(r"[\x00-\x20\"'()+-.:-<>\[-`{-}]|\w", "", style.after_string)
        self.word = re.compile(WORD.replace("ENDS", ends))
        tokens = TOKENS.replace("QUOTES", "|".join(map(re.escape, self.quotes)))
        tokens = tokens.replace("|]+", f"|{ends}]+")
        if HAS_PYTHON_VALUES and self.is_python:
            tokens = tokens.replace("[{[]", "[{[(]").replace("[}\\]]", "[}\\])]")
        self._value_tokens = re.compile(tokens)
        self._key_tokens = re.compile(tokens.replace(BEFORE_WORDS, BEFORE_KEYS))
        signs = (style.after_string.replace(":", ""), style.after_string)
        self._after_strings = [
            re.compile(AFTER_STRING.replace("SIGNS", re.escape(it))) for it in signs
        ]

    def _read_token(self) -> bool:
        is_key = self._expected == "key"
        self.tokens = self._key_tokens if is_key else self._value_tokens
        return super()._read_token()

    def _may_be_quote(self, token: re.Match[str] | None) -> bool:
        kind = token.lastgroup if token else None
        is_begun = kind is None
        if HAS_RAW_STRINGS and token and kind in ("word", "opening", "quote"):
            raw, begun = self.quotes[0], token.group()
            is_begun = raw != begun and raw.startswith(begun) and not self._input.final
        return is_begun and self.may_be_quote(self._input.position)

    def _begin(self, kind: str, text: str) -> bool | None:
        is_raw = HAS_RAW_STRINGS and text == self._style.raw_quote
        if (HAS_SPECIAL_TOKENS and is_raw) and not self._input.rules.at_raw_start.match(
            self._input, True
        ):
            return False  # it is a special token, and here only looks like it
        if text == "`" and not is_raw:
            self._tell("a string in backticks")
        is_last = self._input.position + len(text) == len(self._input.text)
        self._opened = self._input.here + len(text)
        self._inner_quotes, self._inner_end = 0, -1
        self._is_half = self._begins_twice = False
        return super()._begin(kind, text if is_last else text.rstrip(WHITE_SPACE))

    def _read_string(self) -> bool:
        is_raw = HAS_RAW_STRINGS and self._quote == self._style.raw_quote
        if is_raw and (self._style.is_raw_inside or not self._closers):
            return self._read_raw_string()
        is_python = HAS_PYTHON_VALUES and self.is_python
        if HAS_JSON_STRINGS and not is_python and self._quote == '"':
            return super()._read_string()
        return self._read_python_string()

    def _read_python_string(self) -> bool:
        input = self._input
        self._take_three_quotes()
        found, _ = self._matched(string_in(self._quote))
        text, end = found["text"], found.end()
        input.position += len(text)
        is_quote = found["end"] is not None
        is_over = self._is_over(end) if is_quote else False
        if is_quote and is_over is False:
            self._tell_inner_quote(text, end)
            text += self._quote
            input.position = end
        if self._closers and self._quote == '"':
            # Arrays and objects may be JSON, beside literals.
            text = re.sub(SLASH, lambda at: at[1] or "/", text)
        is_plain = "\\" not in text
        self._add(quote(text)[1:-1] if is_plain else re.sub(PIECE, as_json_text, text))
        if is_over is False:  # it has only so many escapes
            return is_quote or (bool(text) and input.text.startswith("\\", input.position))
        if is_over is None and not input.final:
            return False
        self._tell_doubled_quote()
        input.position = end
        self._end('"')
        return True

    def _take_three_quotes(self) -> None:
        input = self._input
        next_two = input.text[input.position : input.position + 2]
        if input.here == self._opened and next_two == self._quote * 2:
            self._quote = self._quote * 3
            input.position += 2

    def _is_over(self, at: int) -> bool | None:
        """Say whether the quote before a place ends the string; None if more text tells."""
        input = self._input
        after = self._after_strings[1 if self._closers else 0].match(input.text, at)
        if after is None or (after["begun"] and input.final):
            return False  # a word with nothing after it
        if goes_on := self._is_half and self._goes_on(at):
            return False
        return None if goes_on is None or not after["next"] else True

    def _goes_on(self, at: int) -> bool | None:
        """Say whether a string that holds quotes goes on after one; None if more text tells.

        A bracket that comes next is text then, if the call doesn't end there.
        """
        input = self._input
        sign = after_space(input.text, at)
        if self._closers or input.text[sign : sign + 1] not in tuple(")]}"):
            return False
        end = input.rules.at_closing.match(input, not input.final, at)
        return None if end and end.is_partial else end is None

    def _tell_doubled_quote(self) -> None:
        """Tell of a quote that stands twice: one of no pair, or both around all of a string."""
        ends_twice = self._inner_end == self._input.here
        is_around_all = self._begins_twice and ends_twice and self._inner_quotes == 2
        if is_around_all or (self._is_half and (self._begins_twice or ends_twice)):
            self._tell(f"{self._quote} twice", is_sure=False)

    def _tell_inner_quote(self, text: str, end: int) -> None:
        """Tell of a quote inside a string; a call may begin before it, or a string go on behind."""
        at = after_space(self._input.text, end)
        sign = self._input.text[at : at + 1]
        goes_on = sign == "+" or (at > end and sign in ('"', "'"))
        is_sure = not (goes_on or self._begins_argument(text))
        self._begins_twice = self._begins_twice or self._input.here == self._opened
        self._inner_quotes += 1
        self._is_half = not self._is_half
        self._inner_end = self._input.here + len(self._quote)
        self._tell(f"a {self._quote} inside a string", is_sure)

    def _begins_argument(self, text: str) -> bool:
        """Say whether a quote that comes next, behind a text, may begin an argument's value."""
        call = self._turn.call if self._turn else None
        waiting = [*self._out[-300:], *self._held[-300:], text[-300:]]
        pieces = [*(call.pieces[-300:] if call else []), *waiting]
        return re.search(CALL_BEGUN, "".join(pieces)[-300:]) is not None

    def _take_raw_quotes(self, end: int) -> None:
        """Take a string without escapes up to its last quote, which may be another string's."""
        input = self._input
        for text in input.text[input.position : end].split(self._quote)[:-1]:
            self._add(quote(input.take(input.position + len(text)))[1:-1])
            self._inner_quotes += 1
            is_own = input.rules.at_raw_start.match(input, True)
            if (is_own and self._style.is_raw_inside) or self._begins_argument(""):
                self._tell(f"a {self._quote} inside a string", is_sure=False)
            self._add(quote(input.take(input.position + len(self._quote)))[1:-1])

    def _read_raw_string(self) -> bool:
        input = self._input
        found, end = self._raw_end()
        self._take_raw_quotes(end)
        self._add(quote(input.take(end))[1:-1])
        goes_on = self._goes_on(found.end) if found and self._inner_quotes else False
        if found is None or found.is_partial or goes_on is None:
            return False
        text = input.take(found.end)
        if goes_on:
            self._add(quote(text)[1:-1])
            return True
        self._end('"')
        return True

    def _raw_end(self) -> tuple[Found | None, int]:
        """Return what ends a string without escapes, if it is there, and up to where that goes."""
        input, end = self._input, self._input.position
        while end < len(input.text):
            # In short steps, as another call may begin in the next one.
            start, end = end, min(end + 256, len(input.text))
            found = input.rules.at_raw_end.search(input, True, start, end)
            end = found.start if found else end
            if (reach := self._reach(end)) < end:
                return None, reach
            if found:
                return found, end
        return None, end


@lru_cache(9)
def string_in(quote: str) -> re.Pattern[str]:
    """Return an expression for a string between quotes, of one sign or of three."""
    sign, more = quote[0], quote[1:]
    text = rf"(?:[^{sign}\\]|{sign}(?!{more}|{sign}?\Z))" if more else rf"[^{sign}\\]"
    return re.compile(PYTHON_STRING.replace("TEXT", text).replace("END", quote))


def as_json_text(piece: re.Match[str]) -> str:
    """Return what stands in JSON for an escape of Python's, or for text without one."""
    digits = piece[1] or piece[2] or piece[3]
    code = int(digits, 16) if digits else -1
    if 0xD800 <= code <= 0xDFFF:  # half a character; the other half may come later
        return f"\\u{code:04x}"
    is_code = 0 <= code <= sys.maxunicode
    text = chr(code) if is_code else ESCAPES.get(piece.group(), piece.group())
    return quote(text)[1:-1]
