"""What a spec can't be: each impossible spec with the exact problems."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.specs_for_tests import (
    ARGUMENTS,
    ID,
    KEY,
    NAME,
    VALUE,
    channels_spec,
    json_native_spec,
    plain_spec,
    tag_with_json_spec,
    tagged_spec,
    two_prompts,
)
from turnspec.spec.calls import (
    AfterFirst,
    Arguments,
    Elements,
    Fields,
    Guard,
    Literal,
    Piece,
    Slot,
    Tools,
    ValueSyntax,
)
from turnspec.spec.checks import check_spec
from turnspec.spec.model import (
    ContentBlocks,
    End,
    Grammar,
    Join,
    Limit,
    Reasoning,
    Spec,
    SwitchWord,
    Turn,
)
from turnspec.spec.words import (
    CallIdPosition,
    Condition,
    Encoding,
    IndexScope,
    JsonType,
    Part,
    ReasoningMode,
    ReasoningScope,
    SlotKind,
    Subject,
    Switch,
    ToolMode,
    Verdict,
)

INDEX = Slot(SlotKind.INDEX)
TYPE = Slot(SlotKind.TYPE)


def problems_of(spec: Spec) -> list[str]:
    return [str(problem) for problem in check_spec(spec)]


def with_turn(spec: Spec, turn: Turn) -> Spec:
    return replace(spec, turn=turn)


def tools_of(spec: Spec) -> Tools:
    assert spec.tools is not None
    return spec.tools


def with_call(spec: Spec, *pieces: Piece) -> Spec:
    return replace(spec, tools=replace(tools_of(spec), call=pieces))


def with_tools(spec: Spec, tools: Tools) -> Spec:
    return replace(spec, tools=tools)


def with_arguments(spec: Spec, arguments: Arguments) -> Spec:
    return replace(spec, tools=replace(tools_of(spec), arguments=arguments))


def with_reasoning(mode: ReasoningMode, start: str, end: str) -> Spec:
    reasoning = Reasoning(mode, start, end, "reasoning_content", ReasoningScope.ALL)
    return replace(json_native_spec(), reasoning=reasoning)


def test_order() -> None:
    spec = json_native_spec()
    twice = (Part.REASONING, Part.CONTENT, Part.CALLS, Part.CONTENT)
    assert problems_of(with_turn(spec, replace(spec.turn, order=twice))) == [
        "turn.order[3]: content is there twice"
    ]


def test_calls_without_tools_and_tools_without_calls() -> None:
    spec = tag_with_json_spec()
    assert problems_of(replace(spec, tools=None)) == [
        "turn.order: calls is there, but tools is missing"
    ]
    turn = replace(spec.turn, order=(Part.CONTENT,), ends=spec.turn.ends[:1])
    assert problems_of(with_turn(spec, turn)) == [
        "turn.order: calls is missing, but tools says how they are written"
    ]


def test_joins() -> None:
    spec = tag_with_json_spec()
    joins = (
        Join(Part.CONTENT, Part.CALLS, "a"),
        Join(Part.CONTENT, Part.CALLS, "b"),
        Join(Part.CALLS, Part.CONTENT, "c"),
        Join(Part.REASONING, Part.CONTENT, "d"),
    )
    assert problems_of(with_turn(spec, replace(spec.turn, joins=joins))) == [
        "turn.joins[1]: a second join of content and calls",
        "turn.joins[2]: joins calls to content, against turn.order",
        "turn.joins[3]: joins reasoning, which turn.order doesn't have",
    ]


def test_ends_and_stop_strings() -> None:
    spec = plain_spec()
    ends = (
        End(Part.CONTENT, "", ""),
        End(Part.CONTENT, "", ""),
        End(Part.CALLS, "", ""),
    )
    turn = replace(spec.turn, ends=ends, stop=("<|stop|>", ""))
    assert problems_of(with_turn(spec, turn)) == [
        "turn.ends[1]: a second end after content",
        "turn.ends[2]: an end after calls, which turn.order doesn't have",
        "turn.stop[1]: a stop string can't be empty",
    ]


def test_stop_strings_are_few() -> None:
    spec = plain_spec()
    turn = replace(spec.turn, stop=tuple(f"<|{n}|>" for n in range(65)))
    assert problems_of(with_turn(spec, turn)) == [
        "turn.stop: there are 65 stop strings; 64 at most",
    ]


def test_reasoning() -> None:
    assert problems_of(with_reasoning(ReasoningMode.NONE, "<think>", "")) == [
        "reasoning.start: a marker, but the mode is NONE",
        "turn.order: reasoning is there, but its mode is NONE",
    ]
    assert problems_of(with_reasoning(ReasoningMode.TAG_BASED, "\n", "</think>")) == [
        "reasoning.start: nothing marks the start, but the mode is TAG_BASED"
    ]
    assert problems_of(with_reasoning(ReasoningMode.DELIMITER, "", "\n")) == [
        "reasoning.end: nothing marks the end, but the mode is DELIMITER"
    ]


def test_reasoning_may_end_with_the_joins_after_it() -> None:
    spec = channels_spec()
    assert problems_of(replace(spec, reasoning=replace(spec.reasoning, end=""))) == []


def test_content() -> None:
    spec = plain_spec()
    assert problems_of(replace(spec, content=replace(spec.content, end="</c>"))) == [
        "content.mode: is PLAIN, but start or end is a marker"
    ]
    spec = channels_spec()
    assert problems_of(replace(spec, content=replace(spec.content, start="\n"))) == [
        "content.mode: is ALWAYS_WRAPPED, but neither start nor end is a marker"
    ]


def test_grammar() -> None:
    assert problems_of(replace(plain_spec(), grammar=Grammar(("",), ("<a>", "")))) == [
        "grammar.triggers[0]: a trigger can't be empty",
        "grammar.preserved_tokens[1]: a preserved token can't be empty",
    ]


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ((Literal("<"), ARGUMENTS), ["tools.call: no NAME slot"]),
        ((Literal("<"), NAME), ["tools.call: no ARGUMENTS slot; there must be one"]),
        (
            (Literal("<"), NAME, ARGUMENTS, ARGUMENTS),
            ["tools.call: 2 ARGUMENTS slots; there must be one"],
        ),
        (
            (Literal("<"), NAME, KEY, ARGUMENTS),
            [
                "tools.call[2].slot: a KEY slot doesn't belong here",
                "tools.call[2]: nothing stands between the slots NAME and KEY",
            ],
        ),
        (
            (Literal("<"), NAME, Literal(""), ARGUMENTS),
            ["tools.call[2].text: a text can't be empty here"],
        ),
        (
            (Literal("<{name}="), NAME, Literal(">"), ARGUMENTS),
            ["tools.call[0].text: '{name}' can't be told from a slot"],
        ),
        ((), ["tools.call: no NAME slot", "tools.call: no ARGUMENTS slot; there must be one"]),
        ((Literal(" "), NAME, ARGUMENTS), []),  # a line that begins with a tool's name
        (
            (Literal("<"), NAME, Literal(":"), ID, ARGUMENTS),
            [
                "tools.call_id: is NONE, but the ID slot's place in tools.call is "
                "BETWEEN_FUNC_AND_ARGS"
            ],
        ),
        (
            (Literal("<"), NAME, Literal(":"), INDEX, ARGUMENTS),
            [
                "tools: tools.call has an INDEX slot, but index_base is missing",
                "tools: tools.call has an INDEX slot, but index_scope is missing",
            ],
        ),
    ],
)
def test_call(pieces: tuple[Piece, ...], expected: list[str]) -> None:
    spec = tag_with_json_spec()
    spec = with_tools(spec, replace(tools_of(spec), call_id=CallIdPosition.NONE))
    assert problems_of(with_call(spec, *pieces)) == expected


@pytest.mark.parametrize("spec", [tagged_spec(), tag_with_json_spec()], ids=["tags", "json"])
def test_a_name_behind_arguments(spec: Spec) -> None:
    tools = replace(tools_of(spec), call_id=CallIdPosition.NONE, section_start="<calls>")
    spec = with_tools(spec, tools)
    lead = (Literal("<"),) if tools_of(spec).mode is ToolMode.TAG_WITH_TAGGED else ()
    call = (*lead, ARGUMENTS, Literal(">"), NAME)
    assert problems_of(with_call(spec, *call)) == [
        "tools.call: the name comes after the arguments; parsers can't read that yet"
    ]
    assert problems_of(with_call(spec, Literal("<"), NAME, *call)) == []


@pytest.mark.parametrize(
    ("pieces", "position"),
    [
        ((Literal("<"), ID, Literal(":"), NAME, ARGUMENTS), CallIdPosition.PRE_FUNC_NAME),
        ((Literal("<"), NAME, Literal(":"), ID, ARGUMENTS), CallIdPosition.BETWEEN_FUNC_AND_ARGS),
        ((Literal("<"), NAME, ARGUMENTS, ID), CallIdPosition.POST_ARGS),
        ((Literal("<"), NAME, ARGUMENTS), CallIdPosition.NONE),
    ],
)
def test_call_id_position(pieces: tuple[Piece, ...], position: CallIdPosition) -> None:
    spec = with_call(tag_with_json_spec(), *pieces)
    for stated in CallIdPosition:
        found = problems_of(with_tools(spec, replace(tools_of(spec), call_id=stated)))
        assert (found == []) == (stated is position)


def test_a_call_id_position_without_an_id_slot() -> None:
    assert problems_of(with_call(tag_with_json_spec(), Literal("<"), NAME, ARGUMENTS)) == [
        "tools.call_id: is BETWEEN_FUNC_AND_ARGS, but tools.call has no ID slot"
    ]


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ((), []),
        ((NAME,), []),
        ((Literal("f."), NAME), []),
        ((Literal("-"), NAME), ["tools.id_parts: is no part of tools.call"]),
        (
            (Literal("f."),),
            ["tools.id_parts: is for ids that hold the name, where there is no ID slot"],
        ),
    ],
)
def test_an_id_that_holds_the_name(pieces: tuple[Piece, ...], expected: list[str]) -> None:
    spec = with_call(json_native_spec(), Literal("<f."), NAME, Literal(">"), ARGUMENTS)
    spec = with_tools(spec, replace(tools_of(spec), id_parts=pieces))
    assert [each for each in problems_of(spec) if "id_parts" in each] == expected


def test_an_index_without_its_slot() -> None:
    spec = json_native_spec()
    tools = replace(tools_of(spec), index_base=0, index_scope=IndexScope.TURN)
    assert problems_of(with_tools(spec, tools)) == [
        "tools.index_base: is there, but tools.call has no INDEX slot",
        "tools.index_scope: is there, but tools.call has no INDEX slot",
    ]


def test_what_follows_the_first_call_differs_from_what_follows_others() -> None:
    spec = json_native_spec()
    tools = replace(tools_of(spec), separator=";", section_end="</calls>")
    same = AfterFirst(";", "</calls>", spec.final(Part.CALLS))
    assert problems_of(with_tools(spec, replace(tools, after_first=same))) == [
        "tools.after_first: is the same as what follows later calls"
    ]
    for other in (
        replace(same, separator=""),
        replace(same, section_end=""),
        replace(same, end=""),
    ):
        assert problems_of(with_tools(spec, replace(tools, after_first=other))) == []


@pytest.mark.parametrize(
    ("subject", "verdict", "expected"),
    [
        (Subject.CONTENT, Verdict.AMBIGUOUS, []),
        (Subject.REASONING, Verdict.AMBIGUOUS, []),
        (Subject.ARGUMENT_STRING, Verdict.AMBIGUOUS, []),
        (
            Subject.ARGUMENT_OBJECT,
            Verdict.AMBIGUOUS,
            ["limits[0].characters: is there, but argument.object is no text"],
        ),
        (
            Subject.CALL_ID,
            Verdict.DROPS,
            [
                "limits[0].characters: is there, but call_id is no text",
                "limits[0].characters: is for ambiguous, but the verdict is drops",
            ],
        ),
    ],
)
def test_characters_of_a_limit(subject: Subject, verdict: Verdict, expected: list[str]) -> None:
    limit = Limit(subject, verdict, Condition.ALWAYS, "a reason", "\x85")
    assert problems_of(replace(plain_spec(), limits=(limit,))) == expected


def test_a_blank_opener_is_fine_after_marked_joins_or_beside_marked_content() -> None:
    blank = (NAME, Literal(":"), ARGUMENTS)
    wrapped = with_call(channels_spec(), *blank)
    assert problems_of(wrapped) == []
    spec = with_call(json_native_spec(), *blank)
    joins = (Join(Part.START, Part.CALLS, "[CALLS]"), Join(Part.CONTENT, Part.CALLS, "[CALLS]"))
    assert problems_of(with_turn(spec, replace(spec.turn, joins=joins))) == []
    joins = (joins[0], Join(Part.CONTENT, Part.CALLS, " "))
    assert problems_of(with_turn(spec, replace(spec.turn, joins=joins))) == [
        "tools.call[0]: no text stands before the first slot: nothing shows a call"
    ]


def test_arguments_of_the_wrong_mode() -> None:
    spec = tagged_spec()
    arguments = tools_of(spec).arguments
    assert problems_of(with_arguments(spec, Arguments())) == [
        "tools.arguments: no item, but tools.mode is TAG_WITH_TAGGED"
    ]
    tools = replace(tools_of(spec), mode=ToolMode.TAG_WITH_JSON)
    assert problems_of(with_tools(spec, tools)) == [
        "tools.arguments.item: is for TAG_WITH_TAGGED, but tools.mode is TAG_WITH_JSON"
    ]
    bare = replace(arguments, item=(), start="(", separator=",", end=")", types={JsonType.NULL: ""})
    assert problems_of(with_arguments(spec, bare)) == [
        "tools.arguments: no item, but tools.mode is TAG_WITH_TAGGED",
        "tools.arguments.start: is there, but there is no item",
        "tools.arguments.separator: is there, but there is no item",
        "tools.arguments.end: is there, but there is no item",
        "tools.arguments.values: is there, but there is no item",
        "tools.arguments.types: is there, but there is no item",
    ]


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ((Literal("<"), VALUE), ["tools.arguments.item: no KEY slot"]),
        ((KEY, Literal("=")), ["tools.arguments.item: no VALUE slot; there must be one"]),
        (
            (KEY, Literal("="), VALUE, VALUE),
            ["tools.arguments.item: 2 VALUE slots; there must be one"],
        ),
        (
            (KEY, Literal("="), VALUE, NAME),
            ["tools.arguments.item[3].slot: a NAME slot doesn't belong here"],
        ),
        (
            (KEY, TYPE, VALUE),
            [
                "tools.arguments.item[1]: nothing stands between the slots KEY and TYPE",
                "tools.arguments: types is missing, but the item has a TYPE slot",
            ],
        ),
    ],
)
def test_item(pieces: tuple[Piece, ...], expected: list[str]) -> None:
    spec = tagged_spec()
    arguments = replace(tools_of(spec).arguments, item=pieces)
    assert problems_of(with_arguments(spec, arguments)) == expected


def test_values_and_types_of_items() -> None:
    spec = tagged_spec()
    arguments = replace(tools_of(spec).arguments, values={}, types={JsonType.STRING: "str"})
    assert problems_of(with_arguments(spec, arguments)) == [
        "tools.arguments: values is missing: nothing says how a value is written",
        "tools.arguments.types: is there, but the item has no TYPE slot",
    ]


def nested(elements: Elements | None, **changes: object) -> list[str]:
    """Return the problems of arguments whose arrays and objects are elements."""
    spec = tagged_spec()
    arguments = tools_of(spec).arguments
    types = (JsonType.ARRAY, JsonType.OBJECT)
    values = {**arguments.values, **dict.fromkeys(types, Encoding.ELEMENTS)}
    fields = {"values": values, "elements": elements, **changes}
    return problems_of(with_arguments(spec, replace(arguments, **fields)))  # type: ignore[arg-type]


MEMBER = (Literal("<"), KEY, Literal(">"), VALUE, Literal("</"), KEY, Literal(">"))
ELEMENT = (Literal("<item>"), VALUE, Literal("</item>"))


@pytest.mark.parametrize(
    ("elements", "expected"),
    [
        (Elements(MEMBER, ELEMENT), []),
        (None, ["tools.arguments: elements is missing, but values has ELEMENTS"]),
        (
            Elements(ELEMENT, MEMBER),
            [
                "tools.arguments.elements.element[1].slot: a KEY slot doesn't belong here",
                "tools.arguments.elements.element[5].slot: a KEY slot doesn't belong here",
                "tools.arguments.elements.member: no KEY slot",
            ],
        ),
        (
            Elements((KEY, Literal("="), VALUE, VALUE), ()),
            [
                "tools.arguments.elements.member: 2 VALUE slots; there must be one",
                "tools.arguments.elements.member: no text stands at its beginning and its end",
                "tools.arguments.elements.element: no VALUE slot; there must be one",
                "tools.arguments.elements.element: no text stands at its beginning and its end",
            ],
        ),
    ],
)
def test_elements(elements: Elements | None, expected: list[str]) -> None:
    assert nested(elements) == expected


def test_values_that_can_be_no_elements() -> None:
    elements = Elements(MEMBER, ELEMENT)
    everything = dict.fromkeys(JsonType, Encoding.ELEMENTS)
    kinds = [kind for kind in JsonType if kind not in (JsonType.ARRAY, JsonType.OBJECT)]
    assert nested(elements, values=everything) == [
        *(f"tools.arguments.values.{kind}: ELEMENTS is for arrays and objects" for kind in kinds),
        "tools.arguments.elements: is there, but strings are not RAW",
    ]
    assert nested(elements, values={JsonType.STRING: Encoding.RAW}) == [
        "tools.arguments.elements: is there, but values has no ELEMENTS"
    ]
    assert nested(elements, guard=Guard("<[", "]>", "<")) == [
        "tools.arguments.elements: is there, but guard says where a string ends"
    ]
    assert nested(elements, syntax=ValueSyntax(encoding=Encoding.ELEMENTS)) == [
        "tools.arguments.syntax.encoding: ELEMENTS is for values only"
    ]


def test_fields() -> None:
    spec = json_native_spec()
    assert problems_of(with_tools(spec, replace(tools_of(spec), fields=Fields()))) == [
        "tools.fields: name is missing, but tools.mode is JSON_NATIVE",
        "tools.fields: arguments is missing, but tools.mode is JSON_NATIVE",
    ]
    name_is_key = replace(tools_of(spec), fields=Fields(name_is_key=True))
    assert problems_of(with_tools(spec, name_is_key)) == []
    with_id = replace(tools_of(spec).fields, id=("id",))
    assert problems_of(with_tools(spec, replace(tools_of(spec), fields=with_id))) == [
        "tools.fields.id: is there, but tools.call has no ID slot"
    ]
    blank = replace(tools_of(spec).fields, arguments=(" ",))
    assert problems_of(with_tools(spec, replace(tools_of(spec), fields=blank))) == [
        "tools.fields.arguments: a key can't be empty or made of blanks"
    ]
    spec = tag_with_json_spec()
    tools = replace(tools_of(spec), fields=Fields(name=("name",)))
    assert problems_of(with_tools(spec, tools)) == [
        "tools.fields: is for JSON_NATIVE, but tools.mode is TAG_WITH_JSON"
    ]


def test_fields_need_the_id_of_an_id_slot() -> None:
    spec = json_native_spec()
    call = (*tools_of(spec).call, Literal("#"), ID)
    tools = replace(tools_of(spec), call=call, call_id=CallIdPosition.POST_ARGS)
    assert problems_of(with_tools(spec, tools)) == [
        "tools.fields: id is missing, but tools.call has an ID slot"
    ]


def test_words() -> None:
    spec = json_native_spec()
    word = SwitchWord("/quick", Switch.DISABLED, ("user",), spec.thinking.disabled.prompt)
    words = (word, replace(word, roles=("system",)), replace(word, word=" "))
    assert problems_of(replace(spec, thinking=replace(spec.thinking, words=words))) == [
        "thinking.words[1]: a second word '/quick' by which thinking is disabled",
        "thinking.words[2].word: a word can't be empty",
    ]


def test_another_prompt_without_a_switch() -> None:
    spec = json_native_spec()
    header = spec.turn.header
    thinking = two_prompts(header, header + "<think>\n\n</think>\n\n")
    assert problems_of(replace(spec, thinking=thinking)) == [
        "thinking.disabled.prompt: no variable and no word gives another prompt"
    ]
    word = SwitchWord("/quick", Switch.DISABLED, ("user",), thinking.disabled.prompt)
    assert problems_of(replace(spec, thinking=replace(thinking, words=(word,)))) == []


def test_blocks() -> None:
    spec = json_native_spec()

    def problems(field: str | None, blocks: ContentBlocks) -> list[str]:
        reasoning = replace(spec.reasoning, field=field, blocks=blocks)
        return problems_of(replace(spec, reasoning=reasoning))

    assert problems("note", ContentBlocks("type", "musing", "words", "text")) == []
    assert problems(None, ContentBlocks("type", "words", "words", "type")) == [
        "reasoning.blocks: is there, but field is missing",
        "reasoning.blocks: reasoning_type and content_type are the same",
        "reasoning.blocks: type is the key of the type already",
    ]
    assert problems("type", ContentBlocks("type", "musing", "words", "text")) == [
        "reasoning.field: type is the key of the type already"
    ]
