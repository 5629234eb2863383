"""What a format's parser is given to read: turns, deviations, cuts, mutants, with all options.

Always the same for a format: what is drawn is drawn from its name.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.marker_soup import marker_pieces, own_markers, plain_pieces, split_at_markers
from tests.marker_texts import MarkerTexts
from tests.special_pieces import pieces_of, special_tokens
from turnspec.analysis.text import markers as markers_in
from turnspec.codegen.facts import facts_of
from turnspec.codegen.writer import write_parts
from turnspec.deviations.table import DEVIATIONS
from turnspec.deviations.turns import SAID, THOUGHT, Format
from turnspec.pipeline.samples import sample_turns
from turnspec.spec.message import Call, Message
from turnspec.spec.words import Part
from turnspec.verification.messages import allowed_call
from turnspec.verification.random_messages import random_messages

Piece = tuple[str, bool]
_STOPS: tuple[tuple[str, ...], ...] = ((), ("STOP",), ("<|", "{x}"), ("word", "\n\nUser"))
_WORDS = (
    "word ",
    "qvx",
    " ",
    "\n",
    '"',
    "'",
    "`",
    "\\",
    "1",
    "[",
    "{",
    "}",
    ",",
    ":",
    "<a>",
    "<|other|>",
)

#: A tool whose schema says types in all ways.
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "$defs": {"side": {"enum": ["left", 1, None]}},
    "properties": {
        "text": {"type": "string"},
        "count": {"type": "int"},
        "ratio": {"type": ["number", "null"]},
        "flag": {"anyOf": [{"type": "boolean"}, {"const": "no"}]},
        "list": {"type": "array", "items": {"type": "integer"}},
        "pair": {"prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False},
        "options": {"type": "object", "additionalProperties": {"type": "integer"}},
        "side": {"$ref": "#/$defs/side"},
        "nothing": {"$ref": "#/$defs/none"},
        "rows": {
            "type": "array",
            "items": {"type": "object", "properties": {"cell": {"type": "array"}}},
        },
    },
}
_TOOLS: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": "fetch", "parameters": _SCHEMA}},
    {"name": "look"},
    {"name": "count", "parameters": True},
]
_VALUES: dict[str, tuple[object, ...]] = {
    "text": ("", "7", 'A story: it\'s "so".\nIt goes on.', "null", "C:\\path\\n", "[1, 2]"),
    "count": (7, -1, "7", 1.5, "1_000", "NaN", "0x1F"),
    "ratio": (0.5, None, 1e300),
    "flag": (True, False, "no", "True", '"no"'),
    "list": ([], [1, 2], [[1], []], "none", "", "(1, 2)", "[" * 501 + "]" * 501),
    "pair": (["a", 1], "('a', 1)"),
    "options": ({}, {"a": 1, "b": {"c": [None]}}, {"a": "x"}, "", "{'a': 1}", "{'a': 1, 'a'}"),
    "side": ("left", 1, None),
    "nothing": ("x",),
    "rows": ([{"cell": [1, "two"]}, {}], [{"cell": []}], {"cell": {"cell": "x"}}),
    "another": ("x", 3),
}


_DEEP = 501
#: So often a draft is begun, and so long is a text that is held.
_MANY, _LONG = 70, 700
#: So many characters at the end of a text are left out one by one.
_LACKING = 6
#: Calls as other formats have them.
OTHER_CALLS = (
    *('{"name": "look", "arguments": {"city": "x"}}', '{"function": {"name": "look"}}'),
    *('{"name": "look", "parameters": "{}"}', '{"name": "fetch", "arguments": {"count": NaN}}'),
    *(
        '{"name": ""}',
        '{"name": "look", "name": "fetch", "arguments": {}}',
        '{"name": 3, "arguments": {}, "name": "look"}',
        '{"name": "\\ud83d", "arguments": ["\\ude00"]}',
        '["look"]',
        "{'name': 'look'}",
    ),
    *("<function=look><parameter=city>x</parameter></function>", "<function=look>", "<function=>"),
    '<function=look>{"city": "x"}</function>',
    *('<tool name="fetch"><a name="side">1</a><a name="list">[1</a></tool>', "<function=x> y"),
    *("look(city='x', days=3)", "look(1)", "fetch(flag=true, ratio=null)", "look(", "look()()"),
    *("look(**{})", r"look(city=r'\d')", r"look(city='\d', days=-3)", "look(city=", "[look()]"),
)
#: What stands between markers: values in all notations, calls in all syntaxes, and no value.
VALUES = (
    *("x", "7", "-1.5", "true", "True", "None", "null", "NaN", "word and more", "[1, 2]", "[]"),
    *('"x"', "'x'", '"', "'", '"a \\q b"', '"\\n\\u00e9"', "'a\\x41\\N{DASH}'", 'r"\\d"', "1_000"),
    *("{}", '{"text": "x"}', "{'text': 'x'}", '{"text": ', '{"text": "x', "{text: x}", '["x", {}'),
    *(
        '"a" b"',
        "'it's'",
        '"a\nb"',
        "'\\ud800'",
        '"\\/"',
        "b",
        "[1 2]",
        "[1, 2}",
        '{"a" 1}',
        "{1: 2}",
    ),
    *('"name": "look"', '"name"', '"arguments": {', "}}", '"{}"', "[" * _DEEP + "]" * _DEEP),
    "7" * _LONG,
    *("print(1)\n", "x = 1\n", "look\n{}", "look", "fetch", "count", "```json\n", "\n```", "`"),
    *OTHER_CALLS,
)
_TAGS = re.compile(r"(<[^<>]*>|\[[^][ ]*\])")
_PARTS = re.compile(r"(<[^<>]*>|[\"{}\[\]()=:, \n])")


@dataclass(frozen=True, slots=True)
class Sample:
    """A text in pieces, each with a flag for a special token, and the parser's options."""

    pieces: tuple[Piece, ...]
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The whole text."""
        return "".join(piece for piece, _ in self.pieces)


@dataclass(frozen=True, slots=True)
class Amount:
    """How much is tried: soups and mutants, cuts of a text, mutants of what reached more."""

    odd: int
    cuts: int
    searched: int = 0


def samples(form: Format, amount: Amount) -> Iterator[Sample]:
    """Yield turns, deviations, calls with all types, and what is odd."""
    random, tokens = Random(form.spec.name), tokens_of(form)
    yield from deviations(form, amount.cuts)
    yield from turns(form, amount.cuts)
    yield from with_own_stops(form)
    yield from with_all_types(form)
    yield from with_any_values(form)
    yield from with_a_marker(form)
    yield from without_parts(form)
    yield from in_other_syntaxes(form)
    yield from with_tokens(form, tokens)
    yield from with_unwritten(form)
    yield from with_any_arguments(form)
    yield from with_values_cut_off(form)
    yield from with_seams(form)
    yield from with_many_drafts(form)
    for text in itertools.islice(odd_texts(form, random), amount.odd):
        yield _with_options(text, any_options(form, tokens, random), random)


def search(form: Format, finds: Sequence[Sample], count: int) -> Iterator[Sample]:
    """Yield mutants of samples that were finds; who reads them may add to these meanwhile."""
    random, tokens = Random(form.spec.name), tokens_of(form)
    markers = MarkerTexts(facts_of(form.spec), random)
    for _ in range(count):
        sample = random.choice(finds)
        text = mutant(sample.text, markers, random)
        text = text[: random.randint(0, len(text))] if random.random() < 0.2 else text
        options = any_options(form, tokens, random) if random.random() < 0.3 else sample.options
        yield _with_options(text, options, random)


def _with_options(text: str, options: Mapping[str, Any], random: Random) -> Sample:
    """Return a text in pieces, of which the prompt may hold the beginning."""
    stops = options.get("stop", ())
    if stops and random.random() < 0.5:
        at = random.randint(0, len(text))
        text = text[:at] + random.choice(stops) + text[at:]
    if random.random() < 0.1:
        cut = random.randint(0, len(text))
        options = {**options, "prefill": (options.get("prefill") or "") + text[:cut]}
        text = text[cut:]
    return Sample(tuple(_flagged(text, options.get("special_tokens"), random)), options)


def deviations(form: Format, cuts: int) -> Iterator[Sample]:
    """Yield deviations: whole, in pieces and cut off, with their options and without tools."""
    for build in DEVIATIONS.values():
        for case in build(form):
            yield from _in_pieces(case.text, case.options)
            yield from _cut(case.text, case.options, cuts)
            yield from _in_pieces(case.text, {**case.options, "tools": None}, sizes=(3,))


def turns(form: Format, cuts: int) -> Iterator[Sample]:
    """Yield turns as the docstring shows them, and random ones, whole, in pieces and cut off."""
    for text in sample_turns(form.spec):
        yield from _in_pieces(text, {"prefill": ""})
        yield from _cut(text, {"prefill": ""}, cuts)
    for message in (form.message, *random_messages(form.spec, 4)):
        text = write_parts(form.spec, message, Part.START)
        yield from _in_pieces(text, form.options)
        yield from _cut(text, form.options, 4)
        for sample in _cut(text, form.options, 8):  # so much of it is the prompt's
            rest = text[len(sample.text) :]
            prefill = form.spec.turn.header + sample.text
            yield Sample(((rest, False),), {**form.options, "prefill": prefill})


def with_all_types(form: Format) -> Iterator[Sample]:
    """Yield calls whose arguments have values of all types, with a tool that says types.

    Some hold what may end them.
    """
    if form.spec.tools is None:
        return
    facts = facts_of(form.spec)
    markers = MarkerTexts(facts, Random(form.spec.name))
    inner = [f'["{markers.written(row.marker)}", 1]' for row in facts.tables["IN_VALUE"]]
    written = [(key, value) for key, values in _VALUES.items() for value in values]
    written += [("list", text) for text in inner]
    options = {"prefill": form.spec.turn.header, "tools": _TOOLS}
    for key, value in written:
        call = allowed_call(form.spec, Call("fetch", {key: value, "text": "x"}, "abcdef123"))
        text = write_parts(form.spec, Message(calls=(call,)), Part.START)
        yield from _in_pieces(text, options, sizes=(4,))
        yield from _cut(text, options, 3)


def with_a_marker(form: Format) -> Iterator[Sample]:
    """Yield the usual turn with another marker in each place where one may stand, and cut there."""
    markers = MarkerTexts(facts_of(form.spec), Random(form.spec.name))
    parts = split_at_markers(form.spec, form.write(form.message))
    for at, marker in itertools.product(range(len(parts) + 1), markers.markers):
        before = "".join(parts[:at]) + markers.written(marker)
        yield Sample(((before, False),), form.options)
        yield Sample(((before + "".join(parts[at:]), False),), form.options)


def without_parts(form: Format) -> Iterator[Sample]:
    """Yield the usual turn without one, two or three of its tags, or the texts between them."""
    random = Random(form.spec.name)
    marked = split_at_markers(form.spec, form.write(form.message))
    parts = [part for text in marked for part in _TAGS.split(text) if part]
    for size, at in itertools.product((1, 2, 3), range(len(parts))):
        text = "".join([*parts[:at], *parts[at + size :]])
        yield from _in_pieces(text, form.options, sizes=(10**6, 3))
        for tokens in (tokens_of(form), list(form.marks.calls.opening[:1])):
            options = {**form.options, "special_tokens": tokens}
            yield Sample(tuple(_flagged(text, tokens, random)), options)


def with_any_values(form: Format) -> Iterator[Sample]:
    """Yield a call in which an argument's text is any other one, alone and within others."""
    if form.spec.tools is None or "city" not in form.call.arguments:
        return
    text = form.write(form.one_call)
    quote = form.spec.tools.arguments.syntax.quote
    shown = next(written for q in (quote, '"', "'", "") if (written := f"{q}Paris{q}") in text)
    for value, frame in itertools.product(VALUES, ("x", "[x]", '{"a": x}', "{a: x, b: [")):
        changed = text.replace(shown, frame.replace("x", value), 1)
        yield from _in_pieces(changed, form.options, sizes=(10**6, 3))


#: The roles of what a call begins with.
_HEADS = ("call", "other_call", "short_call", "untagged_call", "code")


def with_any_arguments(form: Format) -> Iterator[Sample]:
    """Yield calls whose arguments are any text, after each way in which a call can begin."""
    if form.spec.tools is None:
        return
    facts = facts_of(form.spec)
    markers = MarkerTexts(facts, Random(form.spec.name))
    begun = form.spec.tools.section_start if facts.values["ONLY_IN_SECTION"] else ""
    heads = dict.fromkeys(row for role in _HEADS for row in facts.rows(role))
    for row, value in itertools.product(heads, VALUES):
        method = markers.of("AT_CODE_START") if row.role == "code" else ""
        text = f"{begun}{markers.written(row.marker)}{method}{value}"
        yield from _in_pieces(text, form.options, sizes=(10**6, 3))
        end = markers.of("AT_CALL_END")
        yield Sample(((f"{text}{end}{form.spec.tools.section_end}", False),), form.options)


def with_seams(form: Format) -> Iterator[Sample]:
    """Yield markers within others, which come to be where the inner ones are taken out.

    One stands behind a text that is looked through in parts.
    """
    rows = facts_of(form.spec).tables["IN_TEXT"]
    markers = MarkerTexts(facts_of(form.spec), Random(form.spec.name))
    for outer, inner in itertools.product(rows, rows):
        text = markers.written(outer.marker)
        half = len(text) // 2
        within = f"So {text[:half]}{markers.of_row(inner)}{text[half:]} and on"
        yield Sample(((within, False),), form.options)
    for row in rows[:1]:
        yield Sample((("So " * 3_000 + markers.of_row(row), False),), form.options)


def with_unwritten(form: Format) -> Iterator[Sample]:
    """Yield markers that the template never writes, in text that speaks of them."""
    rows = facts_of(form.spec).tables["IN_TEXT"]
    markers = MarkerTexts(facts_of(form.spec), Random(form.spec.name))
    for token in form.marks.text.unwritten[:2]:
        before, after = f"Put it between '{token}", f"' and `{token}` then."
        yield from _in_pieces(before + after, form.options)
        yield from _in_pieces(f"{before}{' ' * 120}{after}", form.options)
        yield from (
            sample
            for row in rows
            for sample in _in_pieces(f"{before} {markers.written(row.marker)}", form.options)
        )
        pieces = ((before.removesuffix(token), False), (token, True), (after, False))
        yield Sample(pieces, {**form.options, "special_tokens": [token]})


def with_many_drafts(form: Format) -> Iterator[Sample]:
    """Yield what may begin a call in open reasoning, more often than drafts are tried."""
    facts = facts_of(form.spec)
    markers = MarkerTexts(facts, Random(form.spec.name))
    for row in (*facts.rows("opening"), *facts.rows("foreign"), *facts.rows("call")):
        text = form.spec.reasoning.start + markers.of_row(row) * _MANY
        yield Sample(((text, False),), form.options)


def with_own_stops(form: Format) -> Iterator[Sample]:
    """Yield deviations with a marker, which stands in them twice, as what ends the turn, too."""
    own = [text for text in own_markers(form.spec) if text.strip()]
    cases = [case for build in DEVIATIONS.values() for case in build(form)]
    for marker, case in itertools.product(own, cases):
        if case.text.count(marker) > 1:
            yield Sample(((case.text, False),), {**case.options, "stop": (marker,)})


def with_values_cut_off(form: Format) -> Iterator[Sample]:
    """Yield values after which the text ends within any marker."""
    if form.spec.tools is None or "Paris" not in (text := form.write(form.one_call)):
        return
    before = text[: text.index("Paris")]
    quote = form.spec.tools.arguments.syntax.quote
    markers = MarkerTexts(facts_of(form.spec), Random(form.spec.name))
    end = next((quote for quote in (quote, '"', "'") if quote and before.endswith(quote)), "")
    values = (f"{before}Paris{end}", f"{before.removesuffix(end)}word and more")
    for value, marker in itertools.product(values, markers.markers):
        written = markers.written(marker)
        for size in range(1, len(written) + 1):
            # Which keys a tool has isn't known: each may be that of another argument.
            yield Sample(((value + written[:size], False),), {**form.options, "tools": None})


def with_tokens(form: Format, tokens: Sequence[str]) -> Iterator[Sample]:
    """Yield turns with special tokens that are known: as such, as text, and others."""
    other = "<|other|>"
    options = {**form.options, "special_tokens": [*tokens, other]}
    for message in (form.message, form.shown(Message(SAID, THOUGHT))):
        pieces = pieces_of(form.write(message), tokens)
        half = len(pieces) // 2
        yield Sample(tuple(pieces), options)
        yield Sample((*pieces[:half], (other, True), (other, False), *pieces[half:]), options)
        for at, (text, special) in enumerate(pieces):
            yield Sample((*pieces[:at], (text, not special), *pieces[at + 1 :]), options)
    if form.spec.tools is not None:
        opening = markers_in(form.spec.tools.section_start)  # no other token is known
        pieces = pieces_of(form.write(form.message), opening)
        for size in range(len(pieces) + 1):
            yield Sample(tuple(pieces[:size]), {**options, "special_tokens": opening})
        for text, _ in pieces:
            for cut in _cut(text, {**options, "special_tokens": opening}, 20):
                yield Sample((*pieces[:-1], *cut.pieces), cut.options)


def in_other_syntaxes(form: Format) -> Iterator[Sample]:
    """Yield calls as other formats have them, in what this one has around calls."""
    tools = form.spec.tools
    if tools is None:
        return
    random = Random(form.spec.name)
    markers = MarkerTexts(facts_of(form.spec), random)
    starts = ["", tools.section_start, f"{form.spec.reasoning.start}so {tools.section_start}"]
    for start, call in itertools.product(starts, OTHER_CALLS):
        for opening, end in itertools.product(("AT_CALL_START", "IN_TEXT"), ("AT_CALL_END", "")):
            text = f"{start}{markers.of(opening)}{call}{markers.of(end)}{tools.section_end}"
            known = random.choice((form.options["tools"], _TOOLS))
            yield Sample(((text, False),), {**form.options, "tools": known})
    for row in facts_of(form.spec).rows("foreign"):
        text = (
            f'{markers.written(row.marker)}{{"name": "look", "arguments": {{"city": "{"x" * _LONG}'
        )
        yield from _in_pieces(text, form.options, sizes=(3,))


def odd_texts(form: Format, random: Random) -> Iterator[str]:
    """Yield, without end, markers and words in any order, and turns with something changed."""
    markers = MarkerTexts(facts_of(form.spec), random)
    own = own_markers(form.spec)
    pieces = [*own, *own, *marker_pieces(form.spec), *plain_pieces(), *_WORDS]
    cases = [case.text for build in DEVIATIONS.values() for case in build(form)]
    messages = random_messages(form.spec, 3)
    cases += [write_parts(form.spec, message, Part.START) for message in messages]
    while True:
        yield "".join(random.choices(pieces, k=random.choice((1, 2, 4, 9))))
        yield walk(markers, random)
        text = mutant(random.choice(cases), markers, random)
        yield text[: random.randint(0, len(text))] if random.random() < 0.2 else text


def walk(markers: MarkerTexts, random: Random) -> str:
    """Return some markers, in any order, with values between them."""
    made = ""
    for _ in range(random.choice((1, 2, 3, 3, 4, 6, 8))):
        made += markers.any()
        made += random.choice(VALUES) if random.random() < 0.6 else ""
    return made


def mutant(text: str, markers: MarkerTexts, random: Random) -> str:
    """Return a text in which something is changed."""
    parts = [part for part in _PARTS.split(text) if part] or [""]
    for _ in range(random.choice((1, 1, 2, 3, 5))):
        _change(parts, random, (markers.any(), random.choice(VALUES), random.choice(_WORDS)))
    return "".join(parts)


def _change(parts: list[str], random: Random, pieces: Sequence[str]) -> None:
    """Drop, double, exchange, cut or insert a part of a turn."""
    at, other = random.randrange(len(parts)), random.randrange(len(parts))
    match random.randrange(6):
        case 0 if len(parts) > 1:
            del parts[at]
        case 1:
            parts.insert(at, parts[other])
        case 2:
            parts[at], parts[other] = parts[other], parts[at]
        case 3:
            parts[at] = parts[at][: random.randint(0, len(parts[at]))]
        case 4:
            cut = random.randint(0, len(parts[at]))
            parts[at] = parts[at][:cut] + random.choice(pieces) + parts[at][cut:]
        case _:
            parts.insert(at, random.choice(pieces))


def tokens_of(form: Format) -> list[str]:
    """Return what may be special tokens: what the spec says, and all that looks like one."""
    looks_like_one = (token for text in own_markers(form.spec) for token in markers_in(text))
    return list(dict.fromkeys((*special_tokens(form.spec), *looks_like_one)))


def any_options(form: Format, tokens: Sequence[str], random: Random) -> dict[str, Any]:
    """Return options of a parser, each as it is by default, or another."""
    header = form.spec.turn.header
    prefills: list[dict[str, Any]] = [{}, {"prefill": header}, {"prefill": f"{header}Well, <thi"}]
    if form.spec.tools is not None:
        turn = form.write(form.message)
        prefills.append({"prefill": header + turn[: random.randint(0, len(turn))]})
    own = [text for text in own_markers(form.spec) if text.strip()]
    few = [token for token in tokens if random.random() < 0.5]
    return {
        **random.choice(prefills),
        "echo": random.random() < 0.3,
        "reasoning": random.choice(("extract", "extract", "inline")),
        "enable_thinking": random.choice((None, True, False)),
        "id_prefix": random.choice(("call_", "x")),
        "stop": random.choice((*_STOPS, tuple(random.sample(own, min(len(own), 2))))),
        "tools": random.choice((None, [], form.options["tools"], form.options["tools"], _TOOLS)),
        "special_tokens": random.choice((None, None, [], [*tokens], [*few, "<|other|>"])),
    }


def _in_pieces(
    text: str, options: Mapping[str, Any], sizes: Sequence[int] = (10**6, 1, 4)
) -> Iterator[Sample]:
    for size in sizes:
        cut = [text[at : at + size] for at in range(0, len(text), size)]
        yield Sample(tuple((piece, False) for piece in cut), options)


def _cut(text: str, options: Mapping[str, Any], most: int) -> Iterator[Sample]:
    """Yield the text's beginnings, so many at most from all over, and those that lack little."""
    ends = range(0, len(text), 1 + max(len(text) - 1, 0) // most) if most else ()
    for end in sorted({*ends, *range(max(len(text) - _LACKING, 0), len(text))}):
        yield Sample(((text[:end], False),), options)


def _flagged(text: str, tokens: Sequence[str] | None, random: Random) -> Iterator[Piece]:
    """Yield a text in pieces: special tokens whole, mostly as such, and others of any length."""
    found = "|".join(map(re.escape, sorted(tokens or (), key=len, reverse=True))) or "(?!)"
    for part in re.split(f"({found})", text):
        if tokens and part in tokens:
            yield part, random.random() < 0.8
            continue
        size = random.choice((1, 3, len(part) or 1))
        yield from ((part[at : at + size], False) for at in range(0, len(part), size))
