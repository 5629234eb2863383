"""A call's arguments in a `response_template`: which of its content parsers reads them, and how."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from turnspec.export.exporting import Loss
from turnspec.export.expressions import escaped, lenient
from turnspec.grammar.triggers import either
from turnspec.spec.calls import Arguments, Guard, Piece, Tools, ValueSyntax
from turnspec.spec.characters import ends_itself, key_ends
from turnspec.spec.words import Encoding, JsonType, SlotKind

_CONTAINERS = (JsonType.ARRAY, JsonType.OBJECT)
#: What transformers puts in the place of quotes that aren't JSON's, while it reads values.
SENTINELS = "characters U+0001 and U+0002"
_PYTHON_QUOTES = "'\""


def arguments_reader(tools: Tools) -> dict[str, Any]:
    """Return the keys of a field that say how its text becomes arguments."""
    arguments = tools.arguments
    if not arguments.item:
        is_json = arguments.syntax.encoding is not Encoding.PYTHON and arguments.syntax.quote == '"'
        quote = "" if is_json else arguments.syntax.quote
        return {"content": "json", "content_args": _json(arguments.syntax, quote)}
    reads: dict[str, Any] = {"tag_pattern": _item(tools)}
    if parser := _value_parser(arguments):
        reads["value_parser"] = {"name": "json", "args": parser}
    return {"content": "xml-inline", "content_args": reads}


def argument_losses(tools: Tools) -> Iterator[Loss]:
    """Yield what of the arguments is said less exactly."""
    arguments = tools.arguments
    values = arguments.values
    if arguments.types:
        why = "they are passed over: a value is what the tool's schema says, or else a string"
        yield Loss("type words", why)
    if any(values.get(kind) is Encoding.ELEMENTS for kind in _CONTAINERS):
        yield Loss("arrays and objects", "written as elements; they stay text")
    strings = values.get(JsonType.STRING)
    if any(values.get(kind) is Encoding.PYTHON for kind in _CONTAINERS):
        inside = "" if strings is Encoding.RAW else "with True, False, None or an escape in them "
        yield Loss("arrays and objects", f"written as Python does; {inside}they stay text")
    if arguments.syntax.in_string:
        yield Loss("arguments", "in a string that holds JSON; they stay that string")
    if arguments.syntax.python_words:
        yield Loss("arrays and objects", "with True, False or None in them they stay text")
    if strings is Encoding.PYTHON:
        yield Loss("escapes in strings", "written as Python does; they aren't undone")
    if arguments.value_escapes:
        yield Loss("escapes in values", "such as entities; they aren't undone")
    if Encoding.QUOTED in values.values():
        why = "without quotes; those that aren't one word leave the whole value text"
        yield Loss("keys inside objects", why)
    if strings not in (None, Encoding.RAW) and values.get(JsonType.NULL) is Encoding.PYTHON:
        yield Loss("null", "written as Python does; inside arrays and objects it leaves them text")
    found = arguments_reader(tools)["content_args"]
    if "string_delims" in found.get("value_parser", {"args": found})["args"]:
        why = "transformers keeps them for itself: a value that holds one raises a ValueError"
        yield Loss(SENTINELS, why)


def _json(syntax: ValueSyntax, quote: str) -> dict[str, Any]:
    """Return what reads values with strings in some quotes, "" for JSON's own."""
    # Arguments that break off are text, where nothing of the message would be left otherwise.
    found: dict[str, Any] = {"allow_non_json": True}
    found |= {"string_delims": [[quote, quote]]} if quote else {}
    return found | ({"unquoted_keys": True} if syntax.bare_keys else {})


def _value_parser(arguments: Arguments) -> dict[str, Any]:
    """Return the parser of a value that says itself what it is; none where a schema does."""
    strings = arguments.values.get(JsonType.STRING)
    if strings in (None, Encoding.RAW):
        return {}
    quotes = {Encoding.PYTHON: "'", Encoding.QUOTED: arguments.syntax.quote}
    return _json(arguments.syntax, quotes.get(strings, ""))


def _item(tools: Tools) -> str:
    """Return the expression of one argument, with its groups ``key`` and ``value``."""
    arguments = tools.arguments
    own_end = ends_itself(tools)
    written, seen = "", False
    for index, piece in enumerate(arguments.item):
        if piece.kind is None:
            written += _beside_value(arguments.item, index)
        elif piece.kind is SlotKind.KEY:
            written += "(?P=key)" if seen else _key(key_ends(tools))
            seen = True
        elif piece.kind is SlotKind.TYPE:
            written += either(map(escaped, arguments.types.values()))
        elif piece.kind is SlotKind.VALUE:
            written += _own_value(arguments) if own_end else _raw_value(arguments.guard)
    return written + _behind(arguments, own_end=own_end)


def _key(ends: str) -> str:
    return rf"(?P<key>[^\s{escaped(ends)}](?:[^\r\n{escaped(ends)}]*[^\s{escaped(ends)}])?)"


def _beside_value(item: Sequence[Piece], index: int) -> str:
    """Return a literal of an argument: beside a value its white space is its own, or is missing."""
    text, kinds = item[index].text, [piece.kind for piece in item]
    after = index + 1 < len(item) and kinds[index + 1] is SlotKind.VALUE
    before = index > 0 and kinds[index - 1] is SlotKind.VALUE
    lead = text[: len(text) - len(text.lstrip())] if before else ""
    tail = text[len(text.rstrip()) :] if after and text.strip() else ""
    middle = lenient(text[len(lead) : len(text) - len(tail)])
    return _optional(lead) + middle + _optional(tail)


def _optional(space: str) -> str:
    return f"(?:{escaped(space)})?" if space else ""


def _raw_value(guard: Guard | None) -> str:
    plain = "(?P<value>.*?)"
    if guard is None:
        return plain
    return f"(?:{escaped(guard.start)}{plain}{escaped(guard.end)}|{plain})"


def _own_value(arguments: Arguments) -> str:
    r"""Return an expression for a value that says itself where it ends."""
    string = _string(arguments)
    inside = rf"(?:{string}|(?&nested)|[^\[\]{{}}])*"
    nested = rf"(?P<nested>\[{inside}\]|\{{{inside}\}})"
    return rf"(?(DEFINE){nested})\s*(?P<value>{string}|(?&nested)|[^,\s\[\]{{}}]+)"


def _string(arguments: Arguments) -> str:
    """Return an expression for a string, in whichever quotes values of this format have them."""
    found = {arguments.values.get(kind) for kind in (JsonType.STRING, *_CONTAINERS)}
    quote = escaped(arguments.syntax.quote)
    is_raw = Encoding.QUOTED in found and not arguments.syntax.one_quote
    quoted = [f"{quote}.*?{quote}"] if is_raw else []
    json_quotes = '"' if Encoding.JSON in found else ""
    quotes = _PYTHON_QUOTES if Encoding.PYTHON in found else json_quotes
    return either([*quoted, *(rf"{sign}(?:[^{sign}\\]|\\.)*{sign}" for sign in quotes)])


def _behind(arguments: Arguments, *, own_end: bool) -> str:
    """Return what has to follow an argument: another one, or nothing of the call."""
    first = arguments.item[0]
    separator = lenient(arguments.separator.strip())
    if own_end:
        return rf"(?=\s*(?:{separator}|\Z))" if separator else r"(?=\s|\Z)"
    begins = lenient(first.text.strip())
    end = lenient(arguments.end.strip())
    between = rf"{separator}\s*" if separator else ""
    last = rf"{end}\s*" if end else ""
    return rf"(?=\s*(?:{between}{begins}|{last}\Z))"
