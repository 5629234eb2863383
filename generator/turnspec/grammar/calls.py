"""Grammar rules for tool calls: the section, one call, and its arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from turnspec.grammar.call_text import CallText, PieceWriter, call_marker, ends_raw, value_ends
from turnspec.grammar.characters import LONGEST_KEY_END, key_character
from turnspec.grammar.elements import element_rules, element_text_rules, value_or_elements
from turnspec.grammar.free_text import text_without
from turnspec.grammar.rule_names import RuleNames, slug
from turnspec.grammar.tagged import VALUE_END, before_argument, spaced_value_end
from turnspec.grammar.text import (
    GAP,
    WHITE_SPACE,
    Rule,
    character_class,
    choice,
    closing,
    group,
    literal,
    sequence,
    spelled,
    trimmed,
)
from turnspec.grammar.value_notations import RAW_TEXT
from turnspec.grammar.values import (
    QUOTED_TEXT,
    VALUE_RULE,
    encoding_of,
    object_rule,
    value_rule,
    value_rules,
)
from turnspec.spec.calls import Arguments, Piece, Slot, Tools
from turnspec.spec.characters import LETTERS, NAME_SIGNS, NAMED, call_ends, key_ends, name_signs
from turnspec.spec.encoding import encode_object
from turnspec.spec.words import Encoding, JsonType, SlotKind, ToolMode

#: Stand for a tool's name and arguments in what is the same for all tools; no rule has such signs.
_TOOL, _ARGUMENTS = "\0name", "\0arguments"
_RAW_COMMENT = "a raw value: free text up to its end"


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
        return sequence(literal(separator[0]), GAP) if ends_in_word else gap_behind(tools)
    before = "" if separator[0] not in WHITE_SPACE else GAP
    sign, blank = trimmed(separator)[-1], separator[-1]
    in_names = tools.call[0].kind in NAMED and (sign.isalnum() or sign in NAME_SIGNS)
    if in_names and blank in WHITE_SPACE:
        # Without white space behind it, what could be in a name would be the next one's beginning.
        return sequence(before, spelled(trimmed(separator)), spelled(blank), GAP)
    after = GAP if tools.mode is ToolMode.JSON_NATIVE else ""
    return sequence(before, closing(separator), after)


def _section_end(tools: Tools, text: str) -> str:
    return sequence(gap_behind(tools), closing(text)) if trimmed(text) else ""


def gap_behind(tools: Tools) -> str:
    """Return the white space behind a call; a raw value that nothing closes has it as its own."""
    is_open = tools.call[-1].kind is SlotKind.ARGUMENTS and ends_raw(tools.arguments)
    return "" if is_open else GAP


def _argument_rules(tools: Tools) -> tuple[Rule, ...]:
    arguments = tools.arguments
    empty = literal(arguments.empty)
    if not arguments.item:
        whole = object_rule(arguments.syntax)
        is_usual = arguments.empty in ("", "{}", encode_object({}, arguments.syntax))
        options = [whole] if is_usual else [whole, empty]
        return (Rule("arguments", choice(options), "any arguments"),)
    raw, value_end = ends_raw(arguments), spaced_value_end(arguments)
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
    if raw and ends_raw(arguments) and arguments.item[0] == Slot(SlotKind.KEY) and plain:
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
    writer = PieceWriter(fills, raw_slot=SlotKind.VALUE if raw else None)
    if not spaced_value_end(arguments):
        return writer.written(arguments.item)
    end = [VALUE_END] if raw else [writer.written(arguments.item[-1:]), GAP]
    return sequence(writer.written(arguments.item[:-1]), *end)


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
