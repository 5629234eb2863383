"""T4 to T6 with A1 and A2: how a call's arguments are written.

Either as one encoded object, whose style is found by writing it again, or as tagged items, which
yield to the rule for repetitions. A value's encoding is found for each JSON type by itself.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from turnspec.analysis.argument_kinds import Kinds, RenderArguments, find_kinds
from turnspec.analysis.characters import SPECIAL_IN_KEYS, character_limits
from turnspec.analysis.elements import as_elements, inner_null
from turnspec.analysis.findings import Derivation, shown_pieces
from turnspec.analysis.probes import IDS, KEYS, NAMES, VALUES, find_object
from turnspec.analysis.repetition import INDEX_MARK, mark_inner_index, split_repetition
from turnspec.analysis.text import whole_prefix, whole_suffix
from turnspec.spec.encoding import encode_argument, encode_object, written_key
from turnspec.spec.model import (
    Arguments,
    Condition,
    Encoding,
    Guard,
    JsonType,
    Limit,
    Literal,
    Piece,
    Slot,
    SlotKind,
    Subject,
    ValueSyntax,
    Verdict,
)

#: An object that shows the style in which JSON (or a relative) is written.
STYLE_PROBE: dict[str, object] = {
    "zqa": "vqa",
    "bqa": "é\"\n<&>\\'",
    "cqa": [1, 2.5, {"dqa": True, "eqa": None}],
    "fqa": {},
    "gqa": [],
}

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


@dataclass(frozen=True, slots=True)
class ArgumentsFinding:
    """How arguments are written, what stands before and after them in a call, and the limits."""

    arguments: Arguments
    before: str
    after: str
    limits: tuple[Limit, ...]


def find_syntax(text: str, value: dict[str, object]) -> ValueSyntax | None:
    """Return the syntax in which ``value`` stands in ``text``, or None."""
    span = find_object(text, value, next(iter(value)))
    if span is None:
        return None
    written = text[span[0] : span[1]]
    return next(
        (syntax for syntax in _candidates(written) if encode_object(value, syntax) == written),
        None,
    )


def _candidates(written: str) -> list[ValueSyntax]:
    """Return the syntaxes in which an object that looks like ``written`` may be written."""
    lines = written.split("\n")
    margin = len(lines[-1]) - len(lines[-1].lstrip(" ")) if len(lines) > 1 else 0
    indent = len(lines[1]) - len(lines[1].lstrip(" ")) - margin if len(lines) > 1 else None
    plain = [
        ValueSyntax(
            item_separator=comma,
            key_separator=colon,
            indent=indent,
            margin=margin,
            ascii_only=ascii_only,
            sorted_keys=sorted_keys,
        )
        for comma in ((", ", ",") if indent is None else (",",))
        for colon in (": ", ":")
        for ascii_only in (False, True)
        for sorted_keys in (False, True)
    ]
    worded = [replace(syntax, python_words=True) for syntax in plain if syntax.indent is None]
    python = [
        ValueSyntax(encoding=Encoding.PYTHON, sorted_keys=sorted_keys)
        for sorted_keys in (False, True)
    ]
    return plain + python + worded


def analyze_object(
    render: RenderArguments, before: str, after: str, derivation: Derivation
) -> ArgumentsFinding:
    """Find the style of arguments that stand as one object between two literals."""
    text = render(STYLE_PROBE) or ""
    syntax = find_syntax(text, STYLE_PROBE)
    limits: list[Limit] = []
    if syntax is None:
        syntax = find_syntax(render({KEYS[0]: VALUES[0]}) or "", {KEYS[0]: VALUES[0]})
        is_held = text.removeprefix(before).startswith('"')
        reason = "in a string that holds JSON, which is read with a problem" if is_held else ""
        reason = reason or "its style is unknown"
        limits.append(_limit(Subject.ARGUMENT_STRING, Verdict.AMBIGUOUS, reason))
    else:
        limits += character_limits(Subject.ARGUMENT_STRING, lambda text: _holds(render, text))
    derivation.note("T4", f"arguments are one object, {syntax}", text)
    none = render({})
    empty = encode_object({}, syntax or ValueSyntax())
    if none is not None and none.startswith(before):
        rest = none.removeprefix(before)
        # What follows may be a bracket alone, which an empty object holds too.
        position = rest.find(after, len(empty) if rest.startswith(empty + after) else 0)
        empty = rest[: position if after else len(rest)] if position >= 0 else empty
    derivation.note("T6", f"no arguments are written {empty!r}", none or "")
    arguments = Arguments(syntax=syntax or ValueSyntax(), empty=empty)
    return ArgumentsFinding(arguments, before, after, tuple(limits))


def _holds(render: RenderArguments, text: str) -> bool | None:
    """Tell whether an object with this string can be read back, or None where it is refused."""
    value = {KEYS[0]: text}
    rendered = render(dict(value))
    return None if rendered is None else find_object(rendered, value, KEYS[0]) is not None


def find_count_lead(render: RenderArguments) -> str:
    """Return what stands before a number that counts a call's arguments; "" without such a one.

    ``render`` gives whole turns here.
    """
    heads: list[str] = []
    for count in (1, 2, 3):
        text = render(dict(zip(KEYS[:count], VALUES[:count], strict=True))) or ""
        heads.append(text[: text.find(KEYS[0])])
    marked = mark_inner_index(heads)
    if marked is None or marked[1] != 1:
        return ""
    lead = marked[0].partition(INDEX_MARK)[0]
    slots = [text for text in (NAMES[0], IDS[0]) if text in lead]
    return lead[max((lead.rfind(text) + len(text) for text in slots), default=0) :]


def analyze_tagged(render: RenderArguments, derivation: Derivation) -> ArgumentsFinding | None:
    """Find the items of tagged arguments: what surrounds a key, a value and all of them.

    Returns None where one argument alone can't be found again.
    """
    texts = [render(dict(zip(KEYS[:count], VALUES[:count], strict=True))) for count in (1, 2, 3)]
    one, none = texts[0], render({})
    if one is None or KEYS[0] not in one or VALUES[0] not in one:
        return None
    before, after = one[: one.find(KEYS[0])], _behind(one, KEYS[0], VALUES[0])
    betweens = [
        _behind(text[: text.find(KEYS[step + 1])], KEYS[step], VALUES[step])
        for text in texts
        if text is not None
        for step in (0, 1)
        if KEYS[step + 1] in text
    ]
    repeated = split_repetition([before], betweens, [after])
    lead, empty, trail = _empty_arguments(none, repeated.befores[0], repeated.afters[0])
    kinds = find_kinds(render, before)
    arguments = Arguments(
        item=_item_pieces(one, repeated.start, repeated.end, kinds),
        start=repeated.befores[0].removeprefix(lead),
        separator=repeated.separator,
        end=repeated.afters[0].removesuffix(trail) if trail else repeated.afters[0],
        empty=empty,
    )
    derivation.note("A1", f"an argument is {shown_pieces(arguments.item)}", one)
    derivation.note("T5", f"arguments are separated by {repeated.separator!r}", texts[1] or "")
    derivation.note("T6", f"no arguments are written {empty!r}", none or "")
    arguments, limits = find_encodings(render, arguments, kinds, derivation)
    return ArgumentsFinding(arguments, lead, trail, limits)


def _behind(text: str, key: str, value: str) -> str:
    """Return what follows an argument: after its value, or after its key said again behind it."""
    end = text.rfind(value) + len(value)
    again = text.find(key, end)
    return text[again + len(key) :] if again >= 0 else text[end:]


def _empty_arguments(none: str | None, before: str, after: str) -> tuple[str, str, str]:
    """Split what surrounds the items into the call's part and the arguments' own.

    Returns the call's text before, what stands for no arguments, and the call's text after.
    """
    if none is None:
        return before, "", after
    lead = whole_prefix([none, before])
    rest = none[len(lead) :]
    trail = whole_suffix([rest, after])
    return lead, rest[: len(rest) - len(trail)], trail


def _item_pieces(text: str, start: str, end: str, kinds: Kinds) -> tuple[Piece, ...]:
    """Return the pieces of one argument: the literals around its key and its value."""
    pieces: list[Piece] = [Literal(start), Slot(SlotKind.KEY)]
    if kinds.typed:
        pieces += [Literal(kinds.lead), Slot(SlotKind.TYPE), Literal(kinds.trail)]
    else:
        pieces.append(Literal(kinds.middle))
    pieces.append(Slot(SlotKind.VALUE))
    behind = text[text.rfind(VALUES[0]) + len(VALUES[0]) :].removeprefix(kinds.string_end)
    again = behind.find(KEYS[0])
    if again >= 0:
        pieces += [Literal(behind[:again]), Slot(SlotKind.KEY), Literal(end)]
    else:
        pieces.append(Literal(end.removeprefix(kinds.string_end)))
    return tuple(piece for piece in pieces if piece != Literal(""))


def find_encodings(
    render: RenderArguments, arguments: Arguments, kinds: Kinds, derivation: Derivation
) -> tuple[Arguments, tuple[Limit, ...]]:
    """Find how a value of each type is written (A2), and what can't be read back."""
    found = replace(
        arguments,
        syntax=ValueSyntax(
            quote=kinds.quote or '"',
            bare_keys=bool(kinds.quote),
            sorted_keys=_sorts_keys(render, KEYS[0], KEYS[1]),
            sort_ignores_case=_sorts_keys(render, KEYS[0], KEYS[1].capitalize()),
        ),
        guard=kinds.guard or _find_guard(render, kinds),
        escapes=_escapes(lambda key: render({key: VALUES[0]}), SPECIAL_IN_KEYS),
        value_escapes=_escapes(lambda text: render({KEYS[0]: text}), _MARKUP),
    )
    limits: list[Limit] = []

    def write(value: object) -> str | None:
        shown = _written(render, value, kinds)
        return shown[1] if shown else None

    for kind, probes in VALUE_PROBES.items():
        written = [_written(render, probe, kinds) for probe in probes]
        shown = [text for text in written if text is not None]
        if len(shown) < len(written):
            is_told = any(KEYS[0] in (render({KEYS[0]: probe}) or "") for probe in probes)
            reason = "between other marks than a string" if is_told else "not rendered at all"
            limits.append(_limit(_SUBJECTS[kind], Verdict.DROPS, reason))
            continue
        texts = [text for _, text in shown]
        matched = _match(texts, kind, probes, found)
        if matched is None and kind is JsonType.STRING and kinds.quote:
            matched = _with_escaped_quote(found, write)
        if matched is None and kind in (JsonType.ARRAY, JsonType.OBJECT):
            matched = as_elements(found, write)
            only_strings = replace(found, escapes_only_strings=bool(found.value_escapes))
            matched = matched or _match(texts, kind, probes, only_strings)
        derivation.note("A2", f"{kind}: {matched.values[kind] if matched else None}", *texts)
        if matched is None:
            limits.append(_limit(_SUBJECTS[kind], Verdict.AMBIGUOUS, f"e.g. {texts[0]!r}"))
            continue
        found = matched
        if kinds.typed:
            found = replace(found, types={**found.types, kind: shown[0][0]})
    if found.elements is not None:
        tags = f"a member is {shown_pieces(found.elements.member)}"
        tags += f", an element {shown_pieces(found.elements.element)}"
        derivation.note("A2", tags, write([VALUES[0]]) or "", write({KEYS[0]: VALUES[0]}) or "")
        limits += _limits_of_elements(inner_null(found, write))
    if found.values.get(JsonType.STRING) is not Encoding.RAW:
        found = replace(found, escapes={})  # a string's end is its own there, and so is its key's
    if quote := _unescaped_quote(found):
        reason = "quotes in it are not escaped"
        limits.append(_limit(Subject.ARGUMENT_STRING, Verdict.AMBIGUOUS, reason, quote))
    if not any(limit.subject is Subject.ARGUMENT_STRING for limit in limits):
        limits += character_limits(
            Subject.ARGUMENT_STRING, lambda text: _is_encoded(render, text, kinds, found)
        )
    limits += character_limits(
        Subject.ARGUMENT_KEY,
        lambda key: written_key(key, found) in (render({key: VALUES[0]}) or ""),
        SPECIAL_IN_KEYS,
    )
    if _trims_strings(render, kinds):
        limits.append(_limit(Subject.ARGUMENT_STRING, Verdict.TRIMS, "white space around it"))
    return found, tuple(limits)


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
    # One that begins with a sign that has no escape itself is what a key may hold as well.
    return found if all(text[0] in found for text in found.values()) else {}


def _unescaped_quote(arguments: Arguments) -> str:
    """Return the single sign that closes a string, and that one may hold; "" if there is none."""
    if Encoding.QUOTED in arguments.values.values():
        return arguments.syntax.quote if len(arguments.syntax.quote) == 1 else ""
    before, last = arguments.item[-2:]
    is_raw = arguments.values.get(JsonType.STRING) is Encoding.RAW and before == Slot(
        SlotKind.VALUE
    )
    closing = last.text if is_raw else ""
    return closing if len(closing) == 1 and not closing.isspace() else ""


def _limits_of_elements(null_reason: str) -> list[Limit]:
    """Return what can't be read back of arrays and objects that are elements."""
    empty = "written as an empty string is; the tool's schema tells them apart"
    limits = [_limit(Subject.ARGUMENT_EMPTY, Verdict.AMBIGUOUS, empty)]
    if null_reason:
        limits.append(_limit(Subject.ARGUMENT_INNER_NULL, Verdict.AMBIGUOUS, null_reason))
    return limits


def _written(render: RenderArguments, value: object, kinds: Kinds) -> tuple[str, str] | None:
    """Return the type word and the text of one value, or None where it isn't rendered."""
    text = render({KEYS[0]: value})
    if text is None or KEYS[0] not in text or not text.endswith(kinds.tail):
        return None
    inner = text[text.find(KEYS[0]) + len(KEYS[0]) : len(text) - len(kinds.tail)]
    if not kinds.typed:
        return ("", inner.removeprefix(kinds.middle)) if inner.startswith(kinds.middle) else None
    position = inner.find(kinds.trail, len(kinds.lead)) if inner.startswith(kinds.lead) else -1
    if position < 0:
        return None
    return inner[len(kinds.lead) : position], inner[position + len(kinds.trail) :]


def _is_encoded(
    render: RenderArguments, text: str, kinds: Kinds, arguments: Arguments
) -> bool | None:
    """Tell whether a string is written as all of them are, or None where it isn't rendered."""
    written = _written(render, text, kinds)
    return None if written is None else written[1] == encode_argument(text, arguments)


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
    ]
    encodings = _STRING_ENCODINGS if kind is JsonType.STRING else _OTHER_ENCODINGS
    for syntax, encoding in itertools.product(styles, encodings):
        tried = replace(arguments, syntax=syntax, values={**arguments.values, kind: encoding})
        if [encode_argument(value, tried) for value in values] == list(texts):
            return _with_python_words(tried) if tried.syntax.python_words else tried
    return None


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


def _find_guard(render: RenderArguments, kinds: Kinds) -> Guard | None:
    """Find what surrounds strings that hold certain characters, and which these are."""
    surrounding: dict[str, tuple[str, str]] = {}
    for character in _GUARDED_CHARACTERS:
        value = f"vqa{character}vqb"
        written = _written(render, value, kinds)
        start, found, end = written[1].partition(value) if written else ("", "", "")
        if found and start and end and start != end:
            surrounding[character] = (start, end)
    if len(set(surrounding.values())) != 1:
        return None
    start, end = next(iter(surrounding.values()))
    return Guard(start, end, "".join(surrounding))


def _trims_strings(render: RenderArguments, kinds: Kinds) -> bool:
    """Tell whether white space around a string is lost."""
    written = _written(render, "  vqa  ", kinds)
    return written is not None and "vqa" in written[1] and "  vqa  " not in written[1]


def _sorts_keys(render: RenderArguments, first: str, second: str) -> bool:
    """Tell whether two arguments come out in this order, though they were given in the other."""
    text = render({second: VALUES[1], first: VALUES[0]})
    return text is not None and -1 < text.find(first) < text.find(second)


#: The characters that markup can't hold as they are; with them, one that ends a line and one that
#: escapes.
_MARKUP = "<>&'\""
_GUARDED_CHARACTERS = f"\n{_MARKUP}\\"

#: The encodings in the order in which they are tried: the simplest that fits wins.
_OTHER_ENCODINGS = (Encoding.JSON, Encoding.PYTHON, Encoding.QUOTED)
_STRING_ENCODINGS = (Encoding.RAW, *_OTHER_ENCODINGS)

_SUBJECTS = {kind: Subject(f"argument.{kind}") for kind in JsonType}


def _limit(subject: Subject, verdict: Verdict, reason: str, characters: str = "") -> Limit:
    return Limit(subject, verdict, Condition.ALWAYS, reason, characters)
