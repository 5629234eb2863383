"""Grammar rules for tool calls: the section, one call, and its arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import dropwhile, takewhile

from turnspec.codegen.shapes import looks_like_marker
from turnspec.grammar.characters import LONGEST_KEY_END, key_character
from turnspec.grammar.elements import (
    element_rules,
    element_text_rules,
    opening_texts,
    value_or_elements,
)
from turnspec.grammar.free_text import text_without
from turnspec.grammar.rule_names import RuleNames, slug
from turnspec.grammar.tagged import RAW_TEXT, VALUE_END, before_argument, spaced_value_end
from turnspec.grammar.text import (
    GAP,
    SPACE,
    WHITE_SPACE,
    Rule,
    behind_value,
    character_class,
    choice,
    closing,
    goes_on,
    group,
    lenient,
    literal,
    needs_space,
    sequence,
    spelled,
    trimmed,
)
from turnspec.grammar.values import (
    QUOTED_TEXT,
    VALUE_RULE,
    encoding_of,
    object_rule,
    value_rule,
    value_rules,
)
from turnspec.spec.characters import LETTERS, call_ends, key_ends, name_signs
from turnspec.spec.encoding import encode_object
from turnspec.spec.model import (
    Arguments,
    Encoding,
    JsonType,
    Literal,
    Piece,
    Slot,
    SlotKind,
    ToolMode,
    Tools,
)

#: Stand for a tool's name and arguments in what is the same for all tools; no rule has such signs.
_TOOL, _ARGUMENTS = "\0name", "\0arguments"
#: The slots that would go on in a word behind them, beside the name, which has its own rule.
_WORDS = (Slot(SlotKind.KEY), Slot(SlotKind.INDEX), Slot(SlotKind.COUNT))
_NAMES = (Slot(SlotKind.NAME), Slot(SlotKind.ID))
_RAW_COMMENT = "a raw value: free text up to its end"
_JSON_PUNCTUATION = re.compile(r"[ \t\n\r{\[]*")
# Where JSON may hold white space between a key, its value and the next key.
_JSON_GAP = re.compile(r'(?<=":)\s*|(?<=["}\]],)\s*|(?<=^,)\s*|(?<=\{)\s*(?=")|\s+(?=[}\]])')


@dataclass(frozen=True, slots=True)
class Calls:
    """Which calls a grammar takes.

    ``parallel`` says whether a turn may hold several. ``bound`` are the only tools there are, each
    with what refers to its arguments; by default a call is of any name, with any arguments.
    ``others`` are other ways to write a call, in which ``words`` may stand where any word does.
    ``spell``: another part of the turn begins like a call, so that all literals have to be spelled
    out. ``named_by_id``: a call shows an id, in which the tool's name stands. ``may_be_empty`` are
    those of the bound tools that can do without arguments.
    """

    tools: Tools
    parallel: bool = True
    bound: Mapping[str, str] | None = None
    others: tuple[tuple[Piece, ...], ...] = ()
    words: tuple[str, ...] = ()
    spell: bool = False
    named_by_id: bool = False
    may_be_empty: frozenset[str] = frozenset()

    @property
    def empty(self) -> tuple[tuple[Piece, ...], ...]:
        """How a call without arguments is written, if not as tagged arguments say it."""
        may_be = not self.tools.arguments.item and (self.bound is None or self.may_be_empty)
        return (self.tools.empty_call,) if self.tools.empty_call and may_be else ()


def call_rules(calls: Calls) -> tuple[Rule, ...]:
    """Return the rules from ``tool-calls`` down to the names and the other slots."""
    tools = calls.tools
    # Any of the words that a parser knows, if it does.
    any_word = f"( {choice(map(spelled, calls.words))} )" if calls.words else "word-character{1,40}"
    section = sequence(closing(tools.section_start.lstrip(WHITE_SPACE)), "call", _after_call(calls))
    return (
        Rule("tool-calls", section, "the calls, from the trigger on"),
        *_call_rules("call", "one call", calls),
        _identifier("tool-name", call_ends(tools, SlotKind.NAME)),
        _identifier("call-id", call_ends(tools, SlotKind.ID)),
        Rule("call-index", '"0" | [1-9] [0-9]{0,8}'),
        Rule("argument-count", "[0-9]{1,9}"),
        Rule("call-word", f"gap ( {any_word} gap )?"),
        Rule("word-character", "[a-zA-Z0-9_-]"),
        Rule("word-apart", "( [ \\t\\n\\r] call-word )?"),
        Rule("id-before", f"( id-word {_id_sign(tools)} )?"),
        Rule("id-word", "word-character id-word | word-character"),
        Rule("id-behind", f"( {_id_sign(tools)} [0-9]{{1,9}} )?"),
    )


def _id_sign(tools: Tools) -> str:
    """Return what may stand beside a name in an id."""
    return character_class(set(".:/") - set(call_ends(tools, SlotKind.NAME)))


def argument_rules(tools: Tools) -> tuple[Rule, ...]:
    """Return the rules for any arguments, and then those for any values."""
    return (*_argument_rules(tools), *value_rules(tools.arguments))


def text_in_calls(tools: Tools, *, known: bool) -> tuple[Rule, ...]:
    """Return the rules for free text that values are; ``known`` is as in `value_ends`."""
    arguments, ends = tools.arguments, value_ends(tools, known=known)
    return (
        *(text_without(RAW_TEXT, ends, _RAW_COMMENT) if arguments.item else ()),
        *(element_text_rules(arguments.elements) if arguments.elements else ()),
        *text_without(QUOTED_TEXT, [arguments.syntax.quote], "the text of a quoted string"),
    )


def _call_rules(name: str, comment: str, calls: Calls, begun: str = "") -> Iterator[Rule]:
    """Yield the rules for one call, ``name`` first, with one for each tool if they are known."""
    ways = [calls.tools.call, *calls.empty, *(() if begun else calls.others)]
    spell = calls.spell or bool(begun or calls.others)
    # A name may also begin what stands before it in an id.
    written = spelled if spell or calls.named_by_id else literal
    around = ("id-before", "id-behind") if calls.named_by_id else ("", "")
    own: list[Rule] = []
    options = []
    for pieces in ways:
        call = CallText(calls.tools, pieces, begun=begun, spell=spell)
        if calls.bound is None:
            options.append(sequence(call.head(), call.tail("tool-name", "arguments")))
            continue
        # Of a rule that is but literals llguidance would make a token, and take no other for it.
        tail = sequence(call.tail(_TOOL, _ARGUMENTS), GAP if pieces in calls.empty else "")
        rules = [
            Rule(
                f"{name}-{number}",
                tail.replace(_ARGUMENTS, arguments).replace(
                    _TOOL, sequence(around[0], written(tool), around[1])
                ),
            )
            for number, (tool, arguments) in enumerate(calls.bound.items(), start=len(own) + 1)
            if pieces not in calls.empty or tool in calls.may_be_empty
        ]
        own += rules
        options.append(sequence(call.head(), group((rule.name for rule in rules), "")))
    yield Rule(name, choice(options), comment)
    yield from own


def call_marker(tools: Tools) -> str:
    """Return the text that tells the beginning of the calls from free text.

    White space before it is kept as the template writes it.
    """
    if _is_tag(tools.section_start):
        return tools.section_start.rstrip(WHITE_SPACE)
    head = _leading_text(tools.call)
    white_space = head[: len(head) - len(head.lstrip(WHITE_SPACE))]
    return tools.section_start + white_space + _distinctive(head.lstrip(WHITE_SPACE))


@dataclass(frozen=True, slots=True)
class CallText:
    """One call as grammar: what is the same for all tools, and the rest from the name on.

    ``pieces`` are the call's, or those of another way to write one. ``begun`` is what the prompt
    already holds of the call's beginning; ``spell`` is as in `Calls`.
    """

    tools: Tools
    pieces: Sequence[Piece]
    begun: str = ""
    spell: bool = False

    def head(self) -> str:
        """Return what stands before the name, or before arguments that come first."""
        marker, rest = self._marker()
        return sequence(
            spelled(marker.removeprefix(self.begun)), self._writer().written(rest[: _own(rest)])
        )

    def tail(self, name: str, arguments: str) -> str:
        """Return the rest for a name and arguments, both as grammar."""
        _, rest = self._marker()
        return self._writer(name, arguments).written(rest[_own(rest) :])

    def _marker(self) -> tuple[str, tuple[Piece, ...]]:
        """Return what is spelled out of the call's head, and all the other pieces."""
        # The call's head is spelled out wherever something else might stand in its place.
        if _is_tag(self.tools.section_start) and all(map(trimmed, self.tools.separators)):
            return "", tuple(self.pieces)
        head = _leading_text(self.pieces).lstrip(WHITE_SPACE)
        marker = _distinctive(head)
        rest = head.removeprefix(marker)
        literals = (Literal(rest),) if rest else ()
        return marker, (*literals, *dropwhile(_is_literal, self.pieces))

    def _writer(self, name: str = "", arguments: str = "") -> _PieceWriter:
        fills = {
            SlotKind.NAME: name,
            SlotKind.ARGUMENTS: arguments,
            SlotKind.ID: "call-id",
            SlotKind.INDEX: "call-index",
            SlotKind.COUNT: "argument-count",
            SlotKind.WORD: "call-word",
        }
        raw_end = _ends_raw(self.tools.arguments) and not self.tools.arguments.end
        keyed = self.tools.arguments.item[:1] == (Slot(SlotKind.KEY),)
        return _PieceWriter(
            fills,
            json_gaps=self.tools.mode is ToolMode.JSON_NATIVE,
            spell=self.spell,
            raw_slot=SlotKind.ARGUMENTS if raw_end and not keyed else None,
            word_behind=_begins_with_word(self.tools.arguments),
            before_end=GAP if any(map(str.isspace, value_ends(self.tools))) else "",
        )


def _begins_with_word(arguments: Arguments) -> bool:
    """Tell whether a call's arguments begin with something that a name could hold."""
    if not arguments.item or trimmed(arguments.start):
        return goes_on(trimmed(arguments.start))
    first = arguments.item[0]
    return first.kind is SlotKind.KEY or goes_on(first.text)


def _own(pieces: Sequence[Piece]) -> int:
    """Return the position of the first piece that isn't the same for all tools."""
    own = (Slot(SlotKind.NAME), Slot(SlotKind.ARGUMENTS))
    return next(number for number, piece in enumerate(pieces) if piece in own)


def begun_calls(calls: Calls, begun: str) -> tuple[str, tuple[Rule, ...]] | None:
    """Return how the calls go on behind a prompt that holds ``begun`` of them, and rules for it.

    None where that is not the beginning of the first call.
    """
    marker = trimmed(call_marker(calls.tools))
    if trimmed(calls.tools.section_start) or not begun or not marker.startswith(begun):
        return None
    # Behind a prompt that has said this much already, other parts begin with a bare word too.
    comment = "a call of which the prompt holds the beginning"
    rules = tuple(_call_rules("begun-call", comment, calls, begun))
    return sequence("begun-call", _after_call(calls)), rules


def _after_call(calls: Calls) -> str:
    """Return further calls and the section's end, spelled out like the turn's end beside them."""
    tools = calls.tools
    betweens = [_between(tools, separator) for separator in tools.separators]
    between = betweens[0] if len(betweens) == 1 else group(betweens)
    more = group([sequence(between, "call")], "*") if calls.parallel else ""
    several = sequence(more, _section_end(tools, tools.section_end))
    if len(tools.section_ends) == 1:
        return several
    # The only call of a turn may end in a way of its own, or as several do.
    only = _section_end(tools, tools.section_ends[1])
    if not calls.parallel:
        several = only
    return group([several, only], "") if only else group([several], "?")


def _between(tools: Tools, separator: str) -> str:
    if not trimmed(separator):
        # A word such as an id, with which a call ends, would go on in the next one's name.
        ends_in_word = separator and tools.call[-1].kind
        return sequence(literal(separator[0]), GAP) if ends_in_word else _gap_behind(tools)
    before = "" if separator[0] not in WHITE_SPACE else GAP
    after = GAP if tools.mode is ToolMode.JSON_NATIVE else ""
    return sequence(before, closing(separator), after)


def _section_end(tools: Tools, text: str) -> str:
    return sequence(_gap_behind(tools), closing(text)) if trimmed(text) else ""


def _gap_behind(tools: Tools) -> str:
    """Return the white space behind a call; a raw value that nothing closes has it as its own."""
    is_open = tools.call[-1].kind is SlotKind.ARGUMENTS and _ends_raw(tools.arguments)
    return "" if is_open else GAP


def _argument_rules(tools: Tools) -> tuple[Rule, ...]:
    arguments = tools.arguments
    empty = literal(arguments.empty)
    if not arguments.item:
        whole = object_rule(arguments.syntax)
        is_usual = arguments.empty in ("", "{}", encode_object({}, arguments.syntax))
        options = [whole] if is_usual else [whole, empty]
        return (Rule("arguments", choice(options), "any arguments"),)
    raw, value_end = _ends_raw(arguments), spaced_value_end(arguments)
    between, end = arguments.separator, arguments.end
    comma = closing(between) if raw else before_argument(between, arguments)
    end = closing(end) if raw else before_argument(end, arguments)
    if value_end:
        comma = end = ""  # the white space that they are belongs to each argument
    some = sequence(
        before_argument(arguments.start, arguments),
        "argument",
        group([sequence(comma, "argument")], "*"),
        end,
    )
    return (
        Rule("arguments", choice([some, empty]), "any arguments"),
        *_item_rules(arguments),
        Rule("argument-name", _key(tools)),
        *([Rule(VALUE_END, value_end)] if value_end else ()),
        *element_rules(arguments),
    )


def _item_rules(arguments: Arguments) -> Iterator[Rule]:
    """Yield the rule for one argument: by type where the format says the type, else for all."""
    words: dict[str, list[JsonType]] = {}
    if Slot(SlotKind.TYPE) in arguments.item:
        for json_type, word in arguments.types.items():
            words.setdefault(word, []).append(json_type)
    if not words:
        yield Rule("argument", _item(arguments, tuple(JsonType), ""))
        return
    names = RuleNames()
    rules = {word: names.free(f"argument-type-{slug(word)}") for word in words}
    yield Rule("argument", choice(rules.values()))
    for word, types in words.items():
        yield Rule(rules[word], _item(arguments, tuple(types), word))


def _item(arguments: Arguments, types: tuple[JsonType, ...], word: str) -> str:
    encodings = [encoding_of(json_type, arguments) for json_type in types]
    raw = Encoding.RAW in encodings
    # A raw string may hold anything, so beside it the other encodings would add nothing.
    whole = len(set(encodings)) == 1 and len(types) == len(JsonType)
    plain = choice(
        value_rule(encoding, json_type, arguments, whole=whole)
        for encoding, json_type in zip(encodings, types, strict=True)
        # Whole numbers stand where any number does.
        if encoding in VALUE_RULE
        and not (json_type is JsonType.INTEGER and JsonType.NUMBER in types)
    )
    value = RAW_TEXT if raw else plain
    if raw and _ends_raw(arguments) and arguments.item[0] == Slot(SlotKind.KEY) and plain:
        value = choice([RAW_TEXT, plain])  # free text can't hold what separates arguments
    if arguments.elements and Encoding.ELEMENTS in encodings:
        nested = value_or_elements(arguments, RAW_TEXT if raw else "")
        value = nested if raw else choice(filter(None, (plain, nested)))
    value = f"( {value} )" if "|" in value else value
    fills = {
        SlotKind.KEY: "argument-name",
        SlotKind.TYPE: literal(word),
        SlotKind.VALUE: sequence(GAP, value, GAP) if word and not raw else value,
    }
    writer = _PieceWriter(fills, raw_slot=SlotKind.VALUE if raw else None)
    if not spaced_value_end(arguments):
        return writer.written(arguments.item)
    end = [VALUE_END] if raw else [writer.written(arguments.item[-1:]), GAP]
    return sequence(writer.written(arguments.item[:-1]), *end)


@dataclass(frozen=True, slots=True)
class _PieceWriter:
    """Writes literals and slots. ``raw_slot`` holds free text, which takes the space around it.

    ``before_end`` stands behind it where white space, one of its ends, is nothing that it holds.
    ``word_behind``: a name could go on in the arguments.
    """

    fills: Mapping[SlotKind, str]
    raw_slot: SlotKind | None = None
    before_end: str = ""
    word_behind: bool = False
    json_gaps: bool = False
    spell: bool = False

    def written(self, pieces: Sequence[Piece]) -> str:
        return sequence(*(self._piece(i, pieces) for i in range(len(pieces))))

    def _piece(self, index: int, pieces: Sequence[Piece]) -> str:
        piece = pieces[index]
        if piece.kind:
            behind_name = index > 0 and pieces[index - 1] == Slot(SlotKind.NAME)
            if piece.kind is SlotKind.WORD and behind_name:
                return "word-apart"
            return self.fills[piece.kind]
        text = piece.text
        if index and self._is_raw(pieces[index - 1]):
            return sequence(self.before_end, closing(text))
        if index and pieces[index - 1] == Slot(SlotKind.VALUE):
            return behind_value(text)
        if self._ends_word(index, pieces) and needs_space(text):
            return sequence(literal(text[0]), GAP, self._literal(text.lstrip(WHITE_SPACE)))
        return self._literal(text)

    def _ends_word(self, index: int, pieces: Sequence[Piece]) -> bool:
        """Tell whether a word before a literal goes on where the literal's white space is missing.

        Behind a name or an id stands what it could go on with: the literal's own text, or the
        word that follows white space.
        """
        before, behind = pieces[:index][-1:], pieces[index + 1 : index + 2]
        if not before or before[0] not in (*_WORDS, *_NAMES):
            return False
        if behind == (Slot(SlotKind.ARGUMENTS),):
            return self.word_behind or goes_on(trimmed(pieces[index].text))
        return bool(behind) or before[0] != Slot(SlotKind.NAME)

    def _is_raw(self, piece: Piece) -> bool:
        return piece.kind is not None and piece.kind is self.raw_slot

    def _literal(self, text: str) -> str:
        if self.spell:
            return sequence(GAP if text.lstrip(WHITE_SPACE) != text else "", closing(text))
        if not self.json_gaps:
            return lenient(text)
        first, *others = (lenient(stretch) for stretch in _JSON_GAP.split(text))
        return sequence(first, *(sequence(SPACE, other) for other in others))


def _ends_raw(arguments: Arguments) -> bool:
    """Say whether the last thing in an argument is free text, so that what follows must end it."""
    raw = Encoding.RAW in arguments.values.values()
    return raw and arguments.item[-1:] == (Slot(SlotKind.VALUE),)


def value_ends(tools: Tools, *, known: bool = False) -> list[str]:
    """Return the texts of which each may end a raw value.

    Where the tools are ``known``, so are their arguments, and a parser takes what begins another
    one for that.
    """
    arguments = tools.arguments
    opening = trimmed(_leading_text(arguments.item))
    more = [opening] if known and looks_like_marker(opening) else []
    more = [*(opening_texts(arguments.elements) if arguments.elements else ()), *more]
    tail = _text_behind(arguments.item, SlotKind.VALUE)
    if trimmed(tail):
        return [trimmed(tail), *more]
    next_item = tail + arguments.separator + _leading_text(arguments.item)
    after_all = tail + arguments.end + _text_behind(tools.call, SlotKind.ARGUMENTS)
    return [*(trimmed(end) or end for end in (next_item, after_all)), *more]


def _key(tools: Tools) -> str:
    ends = key_ends(tools)
    character = key_character(ends)
    more = character if " " in ends else f'( " "? {character} )'
    return f"{character} {more}{{0,{LONGEST_KEY_END}}}"


def _identifier(name: str, excluded: str) -> Rule:
    """Return a rule for names and ids that stops before ``excluded``, what stands behind them.

    It is read character by character, so that an engine doesn't prefer it to a word beside it.
    """
    character = character_class(name_signs(excluded), ranges=LETTERS)
    return Rule(name, f"{character} {name} | {character}")


def _text_behind(pieces: Sequence[Piece], kind: SlotKind) -> str:
    """Return the literal text right behind the last slot of ``kind``."""
    kinds = [piece.kind for piece in pieces]
    if kind not in kinds:
        return ""
    last = len(kinds) - 1 - kinds[::-1].index(kind)
    return _leading_text(pieces[last + 1 :])


def _leading_text(pieces: Sequence[Piece]) -> str:
    return "".join(piece.text for piece in takewhile(_is_literal, pieces))


def _is_literal(piece: Piece) -> bool:
    return not piece.kind


def _is_tag(text: str) -> bool:
    """Say whether a section's start is a marker by itself, not only JSON's brackets."""
    return _JSON_PUNCTUATION.fullmatch(text) is None


def _distinctive(head: str) -> str:
    """Return as much of a call's beginning as tells it from free text: its first line, if a tag."""
    first_line = head.partition("\n")[0].rstrip(WHITE_SPACE)
    return first_line if _is_tag(first_line) else head
