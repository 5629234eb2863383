"""A2: how a value of each type is written in tagged arguments, found by writing it again."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from turnspec.analysis.argument_kinds import Kinds, RenderArguments
from turnspec.analysis.elements import as_elements, inner_null
from turnspec.analysis.findings import Derivation, shown_pieces
from turnspec.analysis.limits import SPECIAL_IN_KEYS, character_limits, limit
from turnspec.analysis.probes import KEYS, VALUES
from turnspec.spec.calls import Arguments, Guard, Slot, ValueSyntax
from turnspec.spec.encoding import encode_argument, written_key
from turnspec.spec.model import Limit
from turnspec.spec.words import Encoding, JsonType, SlotKind, Subject, Verdict

#: Values that show how each type is written.
VALUE_PROBES: dict[JsonType, tuple[object, ...]] = {
    JsonType.STRING: ("vqa", 'a "b" c', "é\nf", "<g> & 'h' \\ i", "7", "true"),
    JsonType.INTEGER: (7, -12),
    JsonType.NUMBER: (1.5, -0.25),
    JsonType.BOOLEAN: (True, False),
    JsonType.NULL: (None,),
    JsonType.ARRAY: ([1, "x", True, None], []),
    JsonType.OBJECT: ({"x": 1, "y": [False, "z"]}, {}),
}

#: The characters that markup can't hold as they are; with them, one that ends a line and one that
#: escapes.
_MARKUP = "<>&'\""
#: The characters that a line can't hold as they are, and the one that escapes them.
_OF_LINES = "\n\\"
_GUARDED_CHARACTERS = f"\n{_MARKUP}\\"

#: The encodings in the order in which they are tried: the simplest that fits wins.
_OTHER_ENCODINGS = (Encoding.JSON, Encoding.PYTHON, Encoding.QUOTED)
_STRING_ENCODINGS = (Encoding.RAW, *_OTHER_ENCODINGS)

_SUBJECTS = {kind: Subject(f"argument.{kind}") for kind in JsonType}


@dataclass(frozen=True, slots=True)
class _Rendered:
    """What a template writes for values, of one argument each."""

    render: RenderArguments
    kinds: Kinds

    def written(self, value: object) -> tuple[str, str] | None:
        """Return the type word and the text of one value, or None where it isn't rendered."""
        text, kinds = self.render({KEYS[0]: value}), self.kinds
        if text is None or KEYS[0] not in text or not text.endswith(kinds.tail):
            return None
        head, _, inner = text.removesuffix(kinds.tail).partition(KEYS[0])
        if not kinds.typed:
            is_whole = inner.startswith(kinds.middle)
            return ("", inner.removeprefix(kinds.middle)) if is_whole else None
        if kinds.first:  # the same text, with the word behind the key
            inner = head + inner.removeprefix(kinds.middle)
        position = inner.find(kinds.trail, len(kinds.lead)) if inner.startswith(kinds.lead) else -1
        word, text = inner[len(kinds.lead) : position], inner[position + len(kinds.trail) :]
        again = kinds.echo[0] + word if kinds.echo[0] else ""
        return (word, text.removesuffix(again)) if position >= 0 and text.endswith(again) else None

    def text_of(self, value: object) -> str | None:
        """Return the text of one value, or None where it isn't rendered."""
        written = self.written(value)
        return written[1] if written else None

    def is_encoded(self, arguments: Arguments, text: str) -> bool | None:
        """Tell whether a string is written as all of them are, or None where it isn't rendered."""
        written = self.text_of(text)
        return None if written is None else written == encode_argument(text, arguments)

    def guard(self) -> Guard | None:
        """Find what surrounds strings that hold certain characters, and which these are."""
        surrounding: dict[str, tuple[str, str]] = {}
        for character in _GUARDED_CHARACTERS:
            value = f"vqa{character}vqb"
            start, found, end = (self.text_of(value) or "").partition(value)
            if found and start and end and start != end:
                surrounding[character] = (start, end)
        if len(set(surrounding.values())) != 1:
            return None
        start, end = next(iter(surrounding.values()))
        return Guard(start, end, "".join(surrounding))

    def sorts_keys(self, first: str, second: str) -> bool:
        """Tell whether two arguments come out in this order, though they were given otherwise."""
        text = self.render({second: VALUES[1], first: VALUES[0]})
        return text is not None and -1 < text.find(first) < text.find(second)


def find_encodings(
    render: RenderArguments, arguments: Arguments, kinds: Kinds, derivation: Derivation
) -> tuple[Arguments, tuple[Limit, ...]]:
    """Find how a value of each type is written (A2), and what can't be read back."""
    shown = _Rendered(render, kinds)
    found, limits = _with_syntax(shown, arguments), list[Limit]()
    for kind in VALUE_PROBES:
        found, told = _with_encoding(shown, found, kind, derivation)
        limits += told
    if found.elements is not None:
        limits += _limits_of_elements(shown, found, derivation)
    elif found.value_escapes:
        found = _with_escapes_in_strings(shown, found)
    if found.values.get(JsonType.STRING) is not Encoding.RAW:
        found = replace(found, escapes={})  # a string's end is its own there, and so is its key's
    limits += _limits_of_strings(shown, found, limits)
    return found, tuple(limits)


def _with_escapes_in_strings(shown: _Rendered, found: Arguments) -> Arguments:
    """Return arguments whose strings alone are escaped, if arrays that hold such signs aren't."""
    only_strings, array = replace(found, escapes_only_strings=True), ["".join(found.value_escapes)]
    is_as_it_is = shown.text_of(array) == encode_argument(array, only_strings)
    return only_strings if is_as_it_is else found


def _with_syntax(shown: _Rendered, arguments: Arguments) -> Arguments:
    """Return arguments with what is the same for values of all types."""
    render, kinds = shown.render, shown.kinds
    return replace(
        arguments,
        syntax=ValueSyntax(
            quote=kinds.quote or '"',
            bare_keys=bool(kinds.quote),
            sorted_keys=shown.sorts_keys(KEYS[0], KEYS[1]),
            sort_ignores_case=shown.sorts_keys(KEYS[0], KEYS[1].capitalize()),
        ),
        guard=kinds.guard or shown.guard(),
        escapes=_escapes(lambda key: render({key: VALUES[0]}), SPECIAL_IN_KEYS),
        value_escapes=_escapes(lambda text: render({KEYS[0]: text}), _MARKUP),
    )


def _with_encoding(
    shown: _Rendered, found: Arguments, kind: JsonType, derivation: Derivation
) -> tuple[Arguments, list[Limit]]:
    """Return arguments with how values of a type are written, or a limit that says why not."""
    probes = VALUE_PROBES[kind]
    written = [one for one in map(shown.written, probes) if one is not None]
    if len(written) < len(probes):
        is_told = any(KEYS[0] in (shown.render({KEYS[0]: probe}) or "") for probe in probes)
        reason = "between other marks than a string" if is_told else "not rendered at all"
        return found, [limit(_SUBJECTS[kind], Verdict.DROPS, reason)]
    texts = [text for _, text in written]
    matched = _match(texts, kind, probes, found) or _otherwise(shown, found, kind, texts)
    derivation.note("A2", f"{kind}: {matched.values[kind] if matched else None}", *texts)
    if matched is None:
        return found, [limit(_SUBJECTS[kind], Verdict.AMBIGUOUS, f"e.g. {texts[0]!r}")]
    if kind is JsonType.OBJECT:
        matched = _with_objects_in_arrays(shown, matched)
    if shown.kinds.typed:
        matched = replace(matched, types={**matched.types, kind: written[0][0]})
    return matched, []


def _with_objects_in_arrays(shown: _Rendered, arguments: Arguments) -> Arguments:
    """Return arguments with arrays written as objects are, if that shows where they hold some."""
    encoding = arguments.values[JsonType.OBJECT]
    values = {**arguments.values, JsonType.ARRAY: encoding}
    tried, array = replace(arguments, values=values), [{"x": 1}]
    is_alike = shown.text_of(array) == encode_argument(array, tried)
    return tried if is_alike and encoding is Encoding.QUOTED else arguments


def _otherwise(
    shown: _Rendered, found: Arguments, kind: JsonType, texts: Sequence[str]
) -> Arguments | None:
    """Return arguments with a way for one type alone, or None."""
    probes = VALUE_PROBES[kind]
    if kind is JsonType.STRING and (quote := shown.kinds.quote):
        doubled = replace(found, guard=Guard(quote, quote, ""), value_escapes={quote: quote * 2})
        in_guard = _match(texts, kind, probes, replace(doubled, escapes_only_strings=True))
        return _with_escaped_quote(found, shown.text_of) or in_guard
    if kind is JsonType.STRING and not found.value_escapes:
        escapes = _escapes(lambda text: shown.render({KEYS[0]: text}), _MARKUP + _OF_LINES)
        in_line = replace(found, value_escapes=escapes, escapes_only_strings=True)
        matched = _match(texts, kind, probes, in_line) if escapes else None
        # Other signs may be altered in words that stand as they are: a limit of characters.
        as_it_is = replace(found, values={**found.values, kind: Encoding.RAW})
        return matched or (as_it_is if texts[0] == probes[0] else None)
    if kind not in (JsonType.ARRAY, JsonType.OBJECT):
        return None
    only_strings = replace(found, escapes_only_strings=bool(found.value_escapes))
    return as_elements(found, shown.text_of) or _match(texts, kind, probes, only_strings)


def _limits_of_elements(
    shown: _Rendered, found: Arguments, derivation: Derivation
) -> Iterator[Limit]:
    """Yield what can't be read back of arrays and objects that are elements."""
    assert found.elements is not None
    tags = f"a member is {shown_pieces(found.elements.member)}"
    tags += f", an element {shown_pieces(found.elements.element)}"
    examples = (shown.text_of(value) or "" for value in ([VALUES[0]], {KEYS[0]: VALUES[0]}))
    derivation.note("A2", tags, *examples)
    empty = "written as an empty string is; the tool's schema tells them apart"
    yield limit(Subject.ARGUMENT_EMPTY, Verdict.AMBIGUOUS, empty)
    if reason := inner_null(found, shown.text_of):
        yield limit(Subject.ARGUMENT_INNER_NULL, Verdict.AMBIGUOUS, reason)


def _limits_of_strings(
    shown: _Rendered, found: Arguments, limits: Sequence[Limit]
) -> Iterator[Limit]:
    """Yield what can't be read back of strings and of keys, beside limits that are known."""
    is_limited = any(it.subject is Subject.ARGUMENT_STRING for it in limits)
    if quote := _unescaped_quote(found):
        reason = "quotes in it are not escaped"
        yield limit(Subject.ARGUMENT_STRING, Verdict.AMBIGUOUS, reason, quote)
    elif not is_limited:
        yield from character_limits(Subject.ARGUMENT_STRING, partial(shown.is_encoded, found))
    yield from character_limits(
        Subject.ARGUMENT_KEY,
        lambda key: written_key(key, found) in (shown.render({key: VALUES[0]}) or ""),
        SPECIAL_IN_KEYS,
    )
    text = shown.text_of("  vqa  ") or ""
    if "vqa" in text and "  vqa  " not in text:
        yield limit(Subject.ARGUMENT_STRING, Verdict.TRIMS, "white space around it")


def _match(
    texts: Sequence[str], kind: JsonType, values: Sequence[object], arguments: Arguments
) -> Arguments | None:
    """Return the arguments with the simplest encoding that writes these values so, or None."""
    compact = replace(arguments.syntax, item_separator=",", key_separator=":")
    styles = [
        arguments.syntax,
        compact,
        replace(compact, null="None"),
        replace(arguments.syntax, ascii_only=True),
        replace(arguments.syntax, python_words=True),
        replace(compact, python_words=True),
        replace(arguments.syntax, one_quote=True),
        *_in_lines(arguments.syntax, texts[0]),
    ]
    encodings = _STRING_ENCODINGS if kind is JsonType.STRING else _OTHER_ENCODINGS
    has_json = arguments.values.get(JsonType.STRING) is Encoding.JSON
    for style, encoding in itertools.product(styles, encodings):
        # Strings inside of a value are written as those by themselves.
        is_escaped = encoding is Encoding.QUOTED and has_json
        syntax = replace(style, bare_keys=True, one_quote=True) if is_escaped else style
        tried = replace(arguments, syntax=syntax, values={**arguments.values, kind: encoding})
        if [encode_argument(value, tried) for value in values] == list(texts):
            return _with_python_words(tried) if tried.syntax.python_words else tried
    return None


def _in_lines(syntax: ValueSyntax, text: str) -> Iterator[ValueSyntax]:
    """Yield the syntax with the indent of JSON in lines, if a text begins as such."""
    if found := re.match(r"[\[{]\n( +)", text):
        indented = replace(
            syntax, item_separator=",", key_separator=": ", indent=len(found[1]), python_words=False
        )
        yield from (indented, replace(indented, ascii_only=True))


def _with_escaped_quote(
    arguments: Arguments, write: Callable[[object], str | None]
) -> Arguments | None:
    """Return the arguments with strings as JSON's or Python's if the quote is escaped in them.

    Other signs may stand there as they are, which is a limit of characters.
    """
    quote = arguments.syntax.quote
    encoding = Encoding.JSON if quote == '"' else Encoding.PYTHON
    syntax = replace(arguments.syntax, one_quote=encoding is Encoding.PYTHON)
    values = {**arguments.values, JsonType.STRING: encoding}
    tried = replace(arguments, syntax=syntax, values=values)
    texts = ("vqa", f"vqa{quote}vqb")
    return tried if all(write(text) == encode_argument(text, tried) for text in texts) else None


def _with_python_words(arguments: Arguments) -> Arguments:
    """Return arguments with constants in JSON, since that has Python's here."""
    values = {
        kind: Encoding.JSON if kind in (JsonType.BOOLEAN, JsonType.NULL) else encoding
        for kind, encoding in arguments.values.items()
    }
    return replace(arguments, values=values)


def _escapes(render: Callable[[str], str | None], signs: str) -> dict[str, str]:
    """Return what the template writes for signs in a text, if they can be told."""
    together = f"vqa{signs}vqb"
    if together in (render(together) or ""):
        return {}
    found = {}
    for sign in signs:
        match = re.search("vqa(.*?)vqb", render(f"vqa{sign}vqb") or "", re.DOTALL)
        if match and match[1] not in ("", sign):
            found[sign] = match[1]
    # One that begins with a sign that has no escape itself is what a key may hold as well; and
    # parsers don't tell one line's indent from another's, so white space stands for nothing.
    told = (text[0] in found and not re.search(r"\s", text) for text in found.values())
    return found if all(told) else {}


def _unescaped_quote(arguments: Arguments) -> str:
    """Return the single sign that closes a string, and that one may hold; "" if there is none."""
    syntax = arguments.syntax
    if Encoding.QUOTED in arguments.values.values():
        return syntax.quote if len(syntax.quote) == 1 and not syntax.one_quote else ""
    before, last = arguments.item[-2:]
    is_raw = arguments.values.get(JsonType.STRING) is Encoding.RAW
    is_closed = is_raw and before == Slot(SlotKind.VALUE)
    closing = last.text if is_closed and last.text not in arguments.value_escapes else ""
    return closing if len(closing) == 1 and not closing.isspace() else ""
