"""Grammar rules for encoded values: JSON, Python literals, and JSON with another string quote."""

from __future__ import annotations

from collections.abc import Mapping

from turnspec.grammar.characters import LONGEST_KEY_END
from turnspec.grammar.text import Rule, character_class, literal, spelled
from turnspec.spec.calls import Arguments, ValueSyntax
from turnspec.spec.characters import LETTERS
from turnspec.spec.words import Encoding, JsonType

#: What the names of the rules of JSON with Python's constants begin with, and of JSON in which
#: signs are escaped, its own quote among them, as in an attribute of markup.
_WORDS = "words"
_ESCAPED = "escaped"
#: What refers to a string of the latter.
ESCAPED_STRING = f"{_ESCAPED}-string"
#: What refers to the text between two quotes that are not JSON's.
QUOTED_TEXT = "quoted-text"
_CONTAINERS = (JsonType.ARRAY, JsonType.OBJECT)

#: What a rule refers to for any value of each encoding that is not raw text.
VALUE_RULE = {
    Encoding.JSON: "json-value",
    Encoding.PYTHON: "python-value",
    Encoding.QUOTED: "quoted-value",
}

_JSON_WORDS, _PYTHON_WORDS = ("true", "false", "null"), ("True", "False", "None")
_CONSTANTS = {
    (Encoding.JSON, JsonType.BOOLEAN): '"true" | "false"',
    (Encoding.JSON, JsonType.NULL): '"null"',
    (Encoding.PYTHON, JsonType.BOOLEAN): '"True" | "False"',
    (Encoding.PYTHON, JsonType.NULL): '"None"',
    (Encoding.QUOTED, JsonType.BOOLEAN): '"true" | "false" | "True" | "False"',
    (Encoding.QUOTED, JsonType.NULL): '"null" | "None"',
}

_NUMBER = Rule("number", '"-"? ( "0" | [1-9] [0-9]* ) ( "." [0-9]+ )? ( [eE] [+-]? [0-9]+ )?')
_INTEGER = Rule("integer", '"-"? ( "0" | [1-9] [0-9]* )')


def encoding_of(kind: JsonType, arguments: Arguments) -> Encoding:
    """Return how an argument of a type is written; strings beside Python's words are Python's."""
    found = arguments.values.get(kind, arguments.syntax.encoding)
    is_worded = kind is JsonType.STRING and Encoding.PYTHON in arguments.values.values()
    return Encoding.PYTHON if is_worded and found is Encoding.JSON else found


def object_rule(syntax: ValueSyntax) -> str:
    """Return what stands for any object of arguments in a syntax that is no raw text."""
    if syntax.encoding is Encoding.JSON and syntax.python_words:
        return f"{_WORDS}-object"
    return VALUE_RULE.get(syntax.encoding, "json-value").replace("-value", "-object")


def escapes_json(arguments: Arguments) -> bool:
    """Tell whether JSON's own quote is escaped in values, and so not what ends a string."""
    return '"' in arguments.value_escapes and not arguments.escapes_only_strings


def value_rule(encoding: Encoding, kind: JsonType, arguments: Arguments, *, whole: bool) -> str:
    """Return what stands for any value of a type in an encoding; ``whole``: of any type."""
    is_json = encoding is Encoding.JSON
    worded = arguments.syntax.python_words and is_json
    escaped = escapes_json(arguments) and is_json and not worded
    if whole:
        prefix = _WORDS if worded else _ESCAPED
        return f"{prefix}-value" if worded or escaped else VALUE_RULE[encoding]
    if kind in (JsonType.INTEGER, JsonType.NUMBER):
        return kind.value
    if worded and kind in _CONTAINERS:
        return f"{_WORDS}-{kind.value}"
    if escaped and kind in (*_CONTAINERS, JsonType.STRING):
        return f"{_ESCAPED}-{kind.value}"
    prefix = VALUE_RULE[encoding].removesuffix("-value")
    encoding = Encoding.PYTHON if worded else encoding
    return _CONSTANTS.get((encoding, kind), f"{prefix}-{kind.value}")


def value_rules(arguments: Arguments) -> tuple[Rule, ...]:
    """Return the rules of all encodings; ``arguments`` say how some of them write strings."""
    syntax = arguments.syntax
    comment = "any JSON, with Python's constants"
    worded = structure_rules(_WORDS, "json-string", _PYTHON_WORDS, comment)
    others = (*worded, *_python_rules(), *_quoted_rules(syntax))
    if escapes_json(arguments):
        others = (*others, *_escaped_rules(arguments.value_escapes))
    return (*_json_rules(), *others, _NUMBER, _INTEGER)


def json_value_rules() -> tuple[Rule, ...]:
    """Return the rules of JSON values alone."""
    return (*_json_rules(), _NUMBER)


def _json_rules() -> tuple[Rule, ...]:
    return (
        *structure_rules("json", "json-string", _JSON_WORDS, "any JSON, freely spaced"),
        Rule("json-string", r'"\"" ( [^"\\\x00-\x1F] | "\\" json-escape )* "\""'),
        Rule("json-escape", r'["\\/bfnrt] | "u" [0-9a-fA-F]{4}'),
    )


def _escaped_rules(escapes: Mapping[str, str]) -> tuple[Rule, ...]:
    quote = literal(escapes['"'])
    comment = "any JSON, with signs escaped"
    plain = character_class({*escapes, '"', "\\"}, negated=True, ranges=r"\x00-\x1F")
    signs = [literal(text) for sign, text in escapes.items() if sign != '"']
    codes = rf'"\\" ( {quote} | [\\/bfnrt] | "u" [0-9a-fA-F]{{4}} )'
    inside = " | ".join([plain, *signs, codes])
    return (
        *structure_rules(_ESCAPED, ESCAPED_STRING, _JSON_WORDS, comment),
        Rule(ESCAPED_STRING, f"{quote} ( {inside} )* {quote}"),
    )


#: What stands after a backslash in Python: up to four digits, and eight up to U+10FFFF.
_SHORT_ESCAPES = r"""[\\"'abfnrtv] | "x" [0-9a-fA-F]{2} | "u" [0-9a-fA-F]{4}"""
LONG_ESCAPES = '"U000" [0-9a-fA-F]{5} | "U0010" [0-9a-fA-F]{4}'


def _python_rules() -> tuple[Rule, ...]:
    single = r'''"'" ( [^'\\\x00-\x1F] | "\\" python-escape )* "'"'''
    double = r'"\"" ( [^"\\\x00-\x1F] | "\\" python-escape )* "\""'
    return (
        *structure_rules("python", "python-string", _PYTHON_WORDS, "any Python literal"),
        Rule("python-string", f"{single} | {double}"),
        Rule("python-escape", f"{_SHORT_ESCAPES} | {LONG_ESCAPES}"),
    )


def _quoted_rules(syntax: ValueSyntax) -> tuple[Rule, ...]:
    quote = spelled(syntax.quote)
    no_escapes = f"strings between {literal(syntax.quote)} and no escapes"
    comment = f"any JSON, with {'bare keys' if syntax.one_quote else no_escapes}"
    # A template that writes some values itself may leave those inside them to Python.
    words = (*_JSON_WORDS, *_PYTHON_WORDS)
    key = "quoted-key" if syntax.bare_keys else "quoted-string"
    letters = character_class("_.$/-", ranges=LETTERS)
    string = "json-string" if syntax.one_quote else f"{quote} {QUOTED_TEXT} {quote}"
    return (
        *structure_rules("quoted", "quoted-string", words, comment, key=key),
        Rule("quoted-key", f"{letters}{{1,{LONGEST_KEY_END + 1}}}"),
        Rule("quoted-string", string),
    )


def structure_rules(
    prefix: str, string: str, words: tuple[str, ...], comment: str, key: str = ""
) -> tuple[Rule, ...]:
    """Return the rules for any value of a notation; ``string`` and ``key`` are those for these."""
    value, member = f"{prefix}-value", f"{prefix}-member"
    constants = " | ".join(literal(word) for word in words)
    any_value = f"{prefix}-object | {prefix}-array | {string} | number | {constants}"
    return (
        Rule(value, any_value, f"{prefix}: {comment}"),
        Rule(f"{prefix}-object", f'"{{" space ( {member} ( "," space {member} )* )? "}}"'),
        Rule(member, f'{key or string} space ":" space {value} space'),
        Rule(f"{prefix}-array", f'"[" space ( {value} space ( "," space {value} space )* )? "]"'),
    )
