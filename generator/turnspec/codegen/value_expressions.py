"""The constants with which a generated module reads structured values."""

from __future__ import annotations

import re

from turnspec.codegen.call_plan import CallPlan
from turnspec.codegen.source import raw

_WORDS = "_WORDS = {'True': 'true', 'False': 'false', 'None': 'null'}"
_ESCAPES = (
    r"""_ESCAPES = {"\\n": "\n", "\\t": "\t", "\\b": "\b", "\\f": "\f", "\\r": "\r", """
    r""""\\a": "\a", "\\v": "\v", """
    r""" "\\\\": "\\", "\\'": "'", '\\"': '"'}"""
)
_PUNCTUATION = r"(?P<space>\s+)|(?P<open>[{\[])|(?P<close>[}\]])|(?P<mark>[,:])"
_TOKENS = {
    "json": _PUNCTUATION + r'|(?P<quote>")|(?P<word>[-+.\w]+)',
    "python": _PUNCTUATION + r"""|(?P<quote>['"])|(?P<word>[-+.\w]+)""",
}
_JSON_STRING = r'[^"\\]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\]*)*(?P<end>")?'
_JSON_STRINGS = (
    f"_STRING = re.compile({raw(_JSON_STRING)}, re.DOTALL)",
    "_ESCAPE_BEGUN = re.compile(r'\\\\(?:u[0-9a-fA-F]{0,3})?\\Z')",
    "_CONTROL = re.compile(r'[\\x00-\\x1f]')  # JSON wants it escaped",
)
_PYTHON_STRING = (
    r"(?P<text>[^{quote}\\]*(?:\\(?:[^xuU]|x[0-9a-fA-F]{{2}}|u[0-9a-fA-F]{{4}}|U[0-9a-fA-F]{{8}}"
    r"|[xuU](?![0-9a-fA-F]{{0,7}}\Z))[^{quote}\\]*)*)(?P<end>{quote})?"
)
_QUOTE = r"""['"]"""
_PYTHON_ESCAPE = r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|.)"
_PYTHON_KEY = r"""(?P<key>(?:[^'"\\]|\\.|\\\Z){0,256})"""


def value_expressions(calls: CallPlan) -> list[str]:
    """Return the constants with which structured values are read."""
    longest = "_LONGEST = 300  # of a word or of what is between values, before it is passed on"
    return [longest, *_dialect_expressions(calls)]


def _dialect_expressions(calls: CallPlan) -> list[str]:
    if calls.dialect == "json":
        return [
            f"_TOKEN = re.compile({raw(_TOKENS['json'])})",
            "_KEY_MARKER = _Markers(member=[('\"', _KEY_TEXT, '\" :')])",
            *_JSON_STRINGS,
        ]
    if calls.dialect == "python":
        return [
            _WORDS,
            _ESCAPES,
            f"_ESCAPE = re.compile({raw(_PYTHON_ESCAPE)}, re.DOTALL)",
            f"_TOKEN = re.compile({raw(_TOKENS['python'])})",
            f"_QUOTE = re.compile({raw(_QUOTE)})",
            f"_KEY_TEXT = re.compile({raw(_PYTHON_KEY)})",
            "_KEY_MARKER = _Markers(member=[(_QUOTE, _KEY_TEXT, _QUOTE, ' :')])",
            "_STRINGS = {"
            + ", ".join(
                f"{quote!r}: re.compile({raw(_PYTHON_STRING.format(quote=quote))}, re.DOTALL)"
                for quote in "'\""
            )
            + "}",
        ]
    quote, first = repr(calls.quote), re.escape(calls.quote[0])
    word = rf"[^\s{{}}\[\](),:\"'{first}]{{1,300}}"
    quotes = f"({quote},)" if calls.quote == '"' else f"({quote},), ('\"',)"
    return [
        _WORDS,
        f"_QUOTED_END = _Markers({calls.quote[0]!r}, end=[({quote},)])",
        r"_BLANK = re.compile(r'\s{1,99}')",
        f"_WORD = re.compile({raw(word)})",
        f"_KEY_TEXT = re.compile({raw(f'(?P<key>{word})')})",
        f"_KEY_QUOTE = re.compile({raw(_QUOTE + '?')})",
        "_TOKEN = _Markers(space=[(_BLANK,)], open=[('{',), ('[',)], close=[('}',), (']',)], "
        f"mark=[(',',), (':',)], quote=[{quotes}], word=[(_WORD,)])",
        "_KEY_MARKER = _Markers(member=[(_KEY_QUOTE, _KEY_TEXT, _KEY_QUOTE, ' :')])",
        *(_JSON_STRINGS if calls.quote != '"' else ()),
    ]
