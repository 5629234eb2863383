"""Writing argument values as a spec says: JSON in its styles, and its relatives.

The analysis compares what this writes with what a template rendered; the turn writer uses it to
write turns.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from turnspec.spec.calls import Arguments, Elements, Piece, ValueSyntax, filled
from turnspec.spec.words import Encoding, JsonType, SlotKind

Write = Callable[[object, ValueSyntax], str]

#: What Python literals escape beside the quote, where a template writes them.
_PYTHON_ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n", "\r": r"\r", "\t": r"\t"})


def json_type(value: object) -> JsonType:
    """Return the JSON type of a Python value."""
    if value is None:
        return JsonType.NULL
    if isinstance(value, bool):
        return JsonType.BOOLEAN
    if isinstance(value, int):
        return JsonType.INTEGER
    if isinstance(value, float):
        return JsonType.NUMBER
    if isinstance(value, str):
        return JsonType.STRING
    return JsonType.OBJECT if isinstance(value, Mapping) else JsonType.ARRAY


def encode_object(value: Mapping[str, object], syntax: ValueSyntax) -> str:
    """Write an object of arguments in a syntax."""
    text = encode_value(value, syntax.encoding, syntax)
    return json.dumps(text, ensure_ascii=syntax.ascii_only) if syntax.in_string else text


def encode_value(value: object, encoding: Encoding, syntax: ValueSyntax) -> str:
    """Write one value in an encoding; ``syntax`` gives the style of JSON and of QUOTED."""
    if encoding is Encoding.RAW:
        return value if isinstance(value, str) else encode_value(value, Encoding.JSON, syntax)
    if encoding is Encoding.PYTHON and syntax.one_quote:
        spaced = replace(syntax, item_separator=", ", key_separator=": ")
        return _on_one_line(value, spaced, _python_in_one_quote, _python_in_one_quote)
    if encoding is Encoding.PYTHON:
        return repr(_sorted(value, syntax) if syntax.sorted_keys else value)
    if encoding is Encoding.QUOTED:
        key: Write = (lambda name, _: str(name)) if syntax.bare_keys else _quoted
        return _on_one_line(value, syntax, _quoted, key)
    if syntax.python_words:
        return _on_one_line(value, syntax, _with_python_words, _with_python_words)
    text = json.dumps(
        _sorted(value, syntax) if syntax.sorted_keys else value,
        ensure_ascii=syntax.ascii_only,
        indent=syntax.indent,
        separators=(syntax.item_separator, syntax.key_separator),
    )
    return text.replace("\n", "\n" + " " * syntax.margin)


def encode_argument(value: object, arguments: Arguments) -> str:
    """Write the value of a tagged argument."""
    encoding = arguments.values.get(json_type(value), Encoding.JSON)
    if encoding is Encoding.ELEMENTS and arguments.elements:
        return _elements(value, arguments, arguments.elements)
    # What sorts a call's arguments doesn't sort the members of a value that a filter writes whole.
    is_whole = encoding is not Encoding.QUOTED
    syntax = replace(arguments.syntax, sorted_keys=False) if is_whole else arguments.syntax
    written = encode_value(value, encoding, syntax)
    is_escaped = encoding is Encoding.RAW or not arguments.escapes_only_strings
    escapes = arguments.value_escapes if is_escaped else {}
    text = "".join(escapes.get(sign, sign) for sign in written)
    guard = arguments.guard
    if encoding is not Encoding.RAW or guard is None:
        return text
    if guard.characters and not set(guard.characters) & set(text):
        return text
    return f"{guard.start}{text}{guard.end}"


def _elements(value: object, arguments: Arguments, elements: Elements) -> str:
    """Write an array or object as elements; ``Elements`` says what becomes of null."""
    no_null = JsonType.NULL not in arguments.values

    def inner(item: object) -> str:
        return "" if item is None and no_null else encode_argument(item, arguments)

    written: list[str] = []
    if isinstance(value, Mapping):
        keys = ordered_keys(value, arguments.syntax)
        kept = [key for key in keys if value[key] is not None or not no_null]
        written = [_element(elements.member, key, inner(value[key])) for key in kept]
    elif isinstance(value, list | tuple):
        written = [_element(elements.element, "", inner(item)) for item in value]
    return elements.separator.join(written)


def written_key(key: str, arguments: Arguments) -> str:
    """Return an argument's name as a call has it, with its escapes."""
    return "".join(arguments.escapes.get(sign, sign) for sign in key)


def _element(pieces: Sequence[Piece], key: str, value: str) -> str:
    return filled(pieces, {SlotKind.KEY: key, SlotKind.VALUE: value})


def ordered_keys(keys: Iterable[str], syntax: ValueSyntax) -> list[str]:
    """Return keys in the order in which a syntax has them."""
    if not syntax.sorted_keys:
        return list(keys)
    return sorted(keys, key=str.lower) if syntax.sort_ignores_case else sorted(keys)


def _sorted(value: object, syntax: ValueSyntax) -> object:
    if isinstance(value, Mapping):
        return {key: _sorted(value[key], syntax) for key in ordered_keys(value, syntax)}
    if isinstance(value, list | tuple):
        return [_sorted(item, syntax) for item in value]
    return value


def _with_python_words(value: object, syntax: ValueSyntax) -> str:
    """Write JSON, on one line, with Python's constants."""
    if value is None or isinstance(value, bool):
        return repr(value)
    return json.dumps(value, ensure_ascii=syntax.ascii_only)


def _python_in_one_quote(value: object, syntax: ValueSyntax) -> str:
    if not isinstance(value, str):
        return repr(value)
    text = value.translate(_PYTHON_ESCAPES).replace(syntax.quote, f"\\{syntax.quote}")
    return f"{syntax.quote}{text}{syntax.quote}"


def _quoted(value: object, syntax: ValueSyntax) -> str:
    if isinstance(value, str) and syntax.one_quote:
        return json.dumps(value, ensure_ascii=syntax.ascii_only)
    if isinstance(value, str):
        return f"{syntax.quote}{value}{syntax.quote}"
    return syntax.null if value is None else json.dumps(value)


def _on_one_line(value: object, syntax: ValueSyntax, scalar: Write, key: Write) -> str:
    """Write a value, with what writes the scalars in it, and the keys."""
    if isinstance(value, Mapping):
        keys = ordered_keys(value, syntax)
        inner = [_on_one_line(value[name], syntax, scalar, key) for name in keys]
        pairs = zip((key(name, syntax) for name in keys), inner, strict=True)
        return "{" + syntax.item_separator.join(map(syntax.key_separator.join, pairs)) + "}"
    if isinstance(value, list | tuple):
        inner = [_on_one_line(item, syntax, scalar, key) for item in value]
        return "[" + syntax.item_separator.join(inner) + "]"
    return scalar(value, syntax)
