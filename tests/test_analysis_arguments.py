"""The style of JSON arguments, the pieces of tagged ones, and the encoding of each type."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from turnspec.analysis.arguments import (
    STYLE_PROBE,
    analyze_object,
    analyze_tagged,
    find_syntax,
)
from turnspec.analysis.findings import Derivation
from turnspec.spec.calls import Elements, Literal, Slot, ValueSyntax
from turnspec.spec.encoding import encode_argument, encode_object
from turnspec.spec.words import Encoding, JsonType, SlotKind, Subject, Verdict

SYNTAXES = {
    "plain": ValueSyntax(),
    "compact": ValueSyntax(item_separator=",", key_separator=":"),
    "spaces after colons only": ValueSyntax(item_separator=","),
    "ASCII": ValueSyntax(ascii_only=True),
    "sorted": ValueSyntax(sorted_keys=True),
    "indented": ValueSyntax(item_separator=",", indent=2),
    "indented in a margin": ValueSyntax(item_separator=",", indent=4, margin=8),
    "indented by nothing": ValueSyntax(item_separator=",", indent=0),
    "all at once": ValueSyntax(
        item_separator=",",
        key_separator=":",
        indent=1,
        margin=3,
        ascii_only=True,
        sorted_keys=True,
    ),
    "in a string": ValueSyntax(in_string=True),
    "compact and ASCII in a string": ValueSyntax(
        item_separator=",", key_separator=":", ascii_only=True, in_string=True
    ),
    "Python": ValueSyntax(encoding=Encoding.PYTHON),
    "Python's constants in JSON": ValueSyntax(item_separator=",", python_words=True),
    "Python sorted": ValueSyntax(encoding=Encoding.PYTHON, sorted_keys=True),
}


@pytest.mark.parametrize("case", SYNTAXES)
def test_find_syntax(case: str) -> None:
    syntax = SYNTAXES[case]
    written = encode_object(STYLE_PROBE, syntax)
    assert find_syntax(f"call({written}) ", STYLE_PROBE) == syntax


def test_an_unknown_style_has_no_syntax() -> None:
    written = json.dumps(STYLE_PROBE).replace(": ", " : ")
    assert find_syntax(written, STYLE_PROBE) is None
    assert find_syntax("<a>b</a>", STYLE_PROBE) is None


def test_an_object_with_something_for_no_arguments() -> None:
    def render(arguments: dict[str, object]) -> str:
        return f"({json.dumps(arguments) if arguments else 'none'})</call>"

    found = analyze_object(render, "(", ")</call>", Derivation())
    assert found.arguments.syntax == ValueSyntax(ascii_only=True)
    assert found.arguments.empty == "none"
    assert found.limits == ()


def test_an_object_whose_lines_are_broken_at_any_line_end() -> None:
    def render(arguments: dict[str, object]) -> str:
        return "(" + "\n ".join(json.dumps(arguments, ensure_ascii=False).splitlines()) + ")"

    (limit,) = analyze_object(render, "(", ")", Derivation()).limits
    assert (limit.subject, limit.verdict) == (Subject.ARGUMENT_STRING, Verdict.AMBIGUOUS)
    assert limit.characters == "\x85\u2028\u2029"


def test_an_object_in_an_unknown_style_is_ambiguous() -> None:
    def render(arguments: dict[str, object]) -> str:
        return "(" + json.dumps(arguments).replace("\\u00e9", "e") + ")"

    found = analyze_object(render, "(", ")", Derivation())
    assert [(limit.subject, limit.verdict) for limit in found.limits] == [
        (Subject.ARGUMENT_STRING, Verdict.AMBIGUOUS)
    ]


def tagged(
    item: Callable[[str, object], str], before: str = "", between: str = "", after: str = ""
) -> Callable[[dict[str, object]], str]:
    """Return what renders arguments as items."""
    return lambda given: before + between.join(item(*pair) for pair in given.items()) + after


def shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


KEY, TYPE, VALUE = Slot(SlotKind.KEY), Slot(SlotKind.TYPE), Slot(SlotKind.VALUE)


def test_tagged_arguments_that_lose_some_characters() -> None:
    def item(key: str, value: object) -> str:
        return f"<p={key}>{shown(value)}</p>".replace("\r", "").replace("\x00", "?")

    found = analyze_tagged(tagged(item, ">", "", "</f>"), Derivation())
    assert found is not None
    (limit,) = found.limits
    assert (limit.subject, limit.verdict) == (Subject.ARGUMENT_STRING, Verdict.AMBIGUOUS)
    assert set(limit.characters) == {"\r", "\x00"}


def test_a_key_in_which_characters_are_entities() -> None:
    def item(key: str, value: object) -> str:
        written = key.replace("&", "&amp;").replace('"', "&quot;")
        return f'<p k="{written}">{shown(value)}</p>'

    found = analyze_tagged(tagged(item, ">", "", "</f>"), Derivation())
    assert found is not None
    assert found.arguments.escapes == {"&": "&amp;", '"': "&quot;"}
    assert not any(limit.subject is Subject.ARGUMENT_KEY for limit in found.limits)


def test_a_key_that_loses_what_an_escape_begins_with() -> None:
    def item(key: str, value: object) -> str:
        return f"<p={key.replace('<', '&lt;')}>{shown(value)}</p>"

    found = analyze_tagged(tagged(item, ">", "", "</f>"), Derivation())
    assert found is not None
    assert found.arguments.escapes == {}
    (limit,) = found.limits
    assert (limit.subject, limit.characters) == (Subject.ARGUMENT_KEY, "<")


def test_tagged_arguments_raw_or_json() -> None:
    render = tagged(lambda key, value: f"<p={key}>\n{shown(value)}\n</p>\n", ">\n", "", "</f>")
    derivation = Derivation()
    found = analyze_tagged(render, derivation)
    assert found is not None
    arguments = found.arguments
    assert arguments.item == (Literal("<p="), KEY, Literal(">\n"), VALUE, Literal("\n</p>"))
    assert (arguments.start, arguments.separator, arguments.end) == ("", "\n", "\n")
    assert (arguments.empty, found.before, found.after) == ("", ">\n", "</f>")
    assert arguments.values == {
        kind: Encoding.RAW if kind is JsonType.STRING else Encoding.JSON for kind in JsonType
    }
    assert found.limits == ()
    assert [finding.comparison for finding in derivation.findings[:3]] == ["A1", "T5", "T6"]
    assert {finding.comparison for finding in derivation.findings[3:]} == {"A2"}


def test_arguments_in_a_container_that_is_absent_without_any() -> None:
    inner = tagged(lambda key, value: f"{key}: {shown(value)}", "(", ", ", ")")
    found = analyze_tagged(
        lambda given: "|" + (inner(given) if given else "()") + ";", Derivation()
    )
    assert found is not None
    assert found.arguments.item == (KEY, Literal(": "), VALUE)
    assert found.arguments.separator == ", "
    whole = found.before + found.arguments.start, found.arguments.end + found.after
    assert whole == ("|(", ");")
    assert found.before + found.arguments.empty + found.after == "|();"


def test_a_key_said_again_behind_the_value() -> None:
    found = analyze_tagged(
        tagged(lambda key, value: f"<{key}>{shown(value)}</{key}>"), Derivation()
    )
    assert found is not None
    assert found.arguments.item == (
        Literal("<"),
        KEY,
        Literal(">"),
        VALUE,
        Literal("</"),
        KEY,
        Literal(">"),
    )


@pytest.mark.parametrize("between", [" is ", ":", "-"])
def test_a_word_for_each_type(between: str) -> None:
    words: dict[type, str] = {str: "text", int: "whole", float: "real", bool: "flag", list: "row"}

    def item(key: str, value: object) -> str:
        return f"<{key}{between}{words.get(type(value), 'other')}>{shown(value)}</>"

    found = analyze_tagged(tagged(item), Derivation())
    assert found is not None
    assert found.arguments.item == (
        Literal("<"),
        KEY,
        Literal(between),
        TYPE,
        Literal(">"),
        VALUE,
        Literal("</>"),
    )
    assert found.arguments.types == {
        JsonType.STRING: "text",
        JsonType.INTEGER: "whole",
        JsonType.NUMBER: "real",
        JsonType.BOOLEAN: "flag",
        JsonType.NULL: "other",
        JsonType.ARRAY: "row",
        JsonType.OBJECT: "other",
    }


def test_a_marker_for_each_type() -> None:
    def item(key: str, value: object) -> str:
        return f"<|key|>{key}<|{'text' if isinstance(value, str) else 'tree'}|>{shown(value)}"

    found = analyze_tagged(tagged(item), Derivation())
    assert found is not None
    assert found.arguments.item[1:] == (KEY, Literal("<|"), TYPE, Literal("|>"), VALUE)
    assert set(found.arguments.types.values()) == {"text", "tree"}
    assert found.limits == ()


def test_a_word_for_each_type_said_again_behind_the_value() -> None:
    def item(key: str, value: object) -> str:
        word = "text" if isinstance(value, str) else "tree"
        return f"<key>{key}</key><{word}>{shown(value)}</{word}>;"

    found = analyze_tagged(tagged(item), Derivation())
    assert found is not None
    around = [Literal("</key><"), TYPE, Literal(">"), VALUE, Literal("</"), TYPE]
    assert [*found.arguments.item[2:8]] == around
    assert set(found.arguments.types.values()) == {"text", "tree"}
    assert found.limits == ()


def test_no_word_for_types_where_nothing_ends_it() -> None:
    found = analyze_tagged(
        tagged(lambda key, value: f"<{key}>{'$' if isinstance(value, str) else '#'}{shown(value)}"),
        Derivation(),
    )
    assert found is not None
    assert TYPE not in found.arguments.item


ENCODINGS: dict[str, tuple[Callable[[object], str], Encoding, Encoding]] = {
    "JSON": (lambda value: json.dumps(value, ensure_ascii=False), Encoding.JSON, Encoding.JSON),
    "ASCII": (json.dumps, Encoding.JSON, Encoding.JSON),
    "Python": (repr, Encoding.PYTHON, Encoding.PYTHON),
    "printed by Python": (str, Encoding.RAW, Encoding.PYTHON),
}


@pytest.mark.parametrize("case", ENCODINGS)
def test_encodings(case: str) -> None:
    write, strings, others = ENCODINGS[case]
    found = analyze_tagged(tagged(lambda key, value: f"<{key}>={write(value)};"), Derivation())
    assert found is not None
    closes = [";"] if strings is Encoding.RAW else []  # nothing escapes it in a string
    assert [limit.characters for limit in found.limits] == closes
    assert found.arguments.values[JsonType.STRING] is strings
    assert found.arguments.values[JsonType.NULL] is others
    assert found.arguments.values[JsonType.OBJECT] is others


@pytest.mark.parametrize("indent", [2, 4])
@pytest.mark.parametrize("ascii_only", [False, True])
def test_values_in_lines(indent: int, ascii_only: bool) -> None:
    def item(key: str, value: object) -> str:
        lines = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
        return f"<{key}>{value if isinstance(value, str) else lines}</p>"

    found = analyze_tagged(tagged(item), Derivation())
    assert found is not None
    assert (found.limits, found.arguments.syntax.indent) == ((), indent)
    assert found.arguments.values[JsonType.ARRAY] is Encoding.JSON
    assert found.arguments.values[JsonType.OBJECT] is Encoding.JSON


def test_a_quote_of_its_own() -> None:
    def item(key: str, value: object) -> str:
        return f"{key}=" + (f"'{value}'" if isinstance(value, str) else json.dumps(value))

    found = analyze_tagged(tagged(item, "(", ", ", ")"), Derivation())
    assert found is not None
    assert found.arguments.item == (KEY, Literal("="), VALUE)
    assert found.arguments.values[JsonType.STRING] is Encoding.QUOTED
    assert found.arguments.syntax.quote == "'"


def test_a_type_that_is_not_rendered_is_dropped() -> None:
    def render(given: dict[str, object]) -> str:
        shown_ones = {key: value for key, value in given.items() if value is not None}
        return tagged(lambda key, value: f"<{key}>{shown(value)}</p>")(shown_ones)

    found = analyze_tagged(render, Derivation())
    assert found is not None
    assert [(limit.subject, limit.verdict) for limit in found.limits] == [
        (Subject.ARGUMENT_NULL, Verdict.DROPS)
    ]


def test_a_type_that_cannot_be_inverted_is_ambiguous() -> None:
    def item(key: str, value: object) -> str:
        return f"<{key}>{'(list)' if isinstance(value, list) else shown(value)}</p>"

    found = analyze_tagged(tagged(item), Derivation())
    assert found is not None
    assert [(limit.subject, limit.verdict) for limit in found.limits] == [
        (Subject.ARGUMENT_ARRAY, Verdict.AMBIGUOUS)
    ]
    assert JsonType.ARRAY not in found.arguments.values


def element(value: object, null: str = "null", between: str = "") -> str:
    """Return a value as elements within elements."""
    if isinstance(value, dict):
        items = [f"<{key}: {element(inner, null, between)}>" for key, inner in value.items()]
        return between.join(items)
    if isinstance(value, list):
        return between.join(f"<- {element(inner, null, between)}>" for inner in value)
    return null if value is None else shown(value)


@pytest.mark.parametrize("between", ["", ", ", "\n"])
def test_arrays_and_objects_as_elements(between: str) -> None:
    def item(key: str, value: object) -> str:
        return f"<{key}>{element(value, between=between)}</p>"

    derivation = Derivation()
    found = analyze_tagged(tagged(item), derivation)
    assert found is not None
    assert found.arguments.elements == Elements(
        (Literal("<"), KEY, Literal(": "), VALUE, Literal(">")),
        (Literal("<- "), VALUE, Literal(">")),
        between,
    )
    assert found.arguments.values[JsonType.ARRAY] is Encoding.ELEMENTS
    assert found.arguments.values[JsonType.OBJECT] is Encoding.ELEMENTS
    assert [(limit.subject, limit.verdict) for limit in found.limits] == [
        (Subject.ARGUMENT_EMPTY, Verdict.AMBIGUOUS)
    ]
    assert "a member is '<' KEY ': ' VALUE '>', an element '<- ' VALUE '>'" in [
        finding.result for finding in derivation.findings
    ]


def test_a_null_inside_that_looks_like_a_string_is_ambiguous() -> None:
    def item(key: str, value: object) -> str:
        return f"<{key}>{'null' if value is None else element(value, null='')}</p>"

    found = analyze_tagged(tagged(item), Derivation())
    assert found is not None
    assert [(limit.subject, limit.verdict, limit.reason) for limit in found.limits[1:]] == [
        (Subject.ARGUMENT_INNER_NULL, Verdict.AMBIGUOUS, "e.g. '<- ><- x>'")
    ]


@pytest.mark.parametrize(
    "write",
    [
        lambda value: element(value, between=" " if isinstance(value, list) else ""),
        lambda value: element(value).replace("x", "y"),
        lambda value: f"({element(value)})" if isinstance(value, list) else element(value),
        lambda value: "(none)" if value in ([], {}) else element(value),
    ],
    ids=["other white space", "another letter", "something around", "a word for nothing"],
)
def test_what_is_not_quite_elements_is_ambiguous(write: Callable[[object], str]) -> None:
    found = analyze_tagged(
        tagged(lambda key, value: f"<{key}>{write(value) if value != 'x' else 'x'}</p>"),
        Derivation(),
    )
    assert found is not None
    assert found.arguments.elements is None
    assert [(limit.subject, limit.verdict) for limit in found.limits] == [
        (Subject.ARGUMENT_ARRAY, Verdict.AMBIGUOUS),
        (Subject.ARGUMENT_OBJECT, Verdict.AMBIGUOUS),
    ]


def test_sorted_arguments() -> None:
    def render(given: dict[str, object]) -> str:
        return tagged(lambda key, value: f"<{key}>{shown(value)}</p>")(dict(sorted(given.items())))

    found = analyze_tagged(render, Derivation())
    assert found is not None
    assert found.arguments.syntax.sorted_keys


@pytest.mark.parametrize("write", [repr, json.dumps])
def test_what_sorts_arguments_leaves_members_of_values_as_they_are(
    write: Callable[[object], str],
) -> None:
    def text(value: object) -> str:
        return value if isinstance(value, str) else write(value)

    def render(given: dict[str, object]) -> str:
        return tagged(lambda key, value: f"<{key}>{text(value)}</p>")(dict(sorted(given.items())))

    found = analyze_tagged(render, Derivation())
    assert found is not None
    value = {"second": True, "first": 1}
    assert encode_argument(value, found.arguments) == write(value)


def test_an_argument_that_cannot_be_found_again() -> None:
    assert analyze_tagged(lambda given: "nothing", Derivation()) is None
    assert analyze_tagged(lambda given: None, Derivation()) is None
