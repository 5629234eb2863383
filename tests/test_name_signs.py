"""Names in any script: what parsers take for one, and that grammars write nothing else."""

from __future__ import annotations

import re
import sys
import unicodedata

import pytest

from tests.generated_formats import KINDS, committed_spec
from turnspec.codegen.loading import load
from turnspec.codegen.writer import write_parts
from turnspec.spec.characters import LETTERS, NAME_SIGNS, NOT_IN_NAMES
from turnspec.spec.message import Call, Message
from turnspec.spec.words import Part

SIGN = re.compile(f"[^{NOT_IN_NAMES}]")
IN_GRAMMARS = re.compile(f"[{LETTERS}{NAME_SIGNS}]")
EVERY_SIGN = tuple(map(chr, range(sys.maxunicode + 1)))
#: A block of symbols, with a few letters among them, that no script writes words with.
SYMBOLS = range(0x2000, 0x2C00)


def test_names_hold_the_letters_marks_and_digits_of_every_script() -> None:
    wanted = [
        sign
        for sign in EVERY_SIGN
        if unicodedata.category(sign)[0] in "LM" or unicodedata.category(sign) == "Nd"
    ]
    missing = [sign for sign in wanted if not SIGN.match(sign)]
    assert all(ord(sign) in SYMBOLS for sign in missing)


def test_names_hold_all_that_grammars_write_in_them() -> None:
    assert [one for one in EVERY_SIGN if IN_GRAMMARS.match(one) and not SIGN.match(one)] == []


def test_names_hold_no_other_sign_of_latin_and_no_symbol() -> None:
    ascii_signs = {chr(code) for code in range(128) if not chr(code).isalnum()}
    assert {sign for sign in ascii_signs if SIGN.match(sign)} == set(NAME_SIGNS)
    for sign in "「」、。！（）：；＜＞｜■▁→“”…":
        assert not SIGN.match(sign), sign


#: Names in Latin, Arabic, Devanagari (with marks), Thai, Ethiopic, and beyond the first plane.
NAMES = ("météo", "الطقس", "मौसम_बताओ", "อากาศ", "አየር", "\U00010437name")


@pytest.mark.parametrize("name", KINDS)
def test_calls_of_tools_with_such_names_are_read(name: str) -> None:
    spec = committed_spec(name)
    module = load(spec)
    for tool in NAMES if spec.tools else ():
        text = write_parts(spec, Message("", "", (Call(tool, {"city": "Paris"}, ""),)), Part.START)
        message = module.parse(text, prefill="")
        assert [call.name for call in message.tool_calls] == [tool], text
