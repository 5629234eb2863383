"""The schema and the model say the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from enum import StrEnum
from typing import Any

import jsonschema
import pytest

from turnspec.sources.index import SDIST, Entry, Origin
from turnspec.spec import calls, model, words
from turnspec.spec.results import RUNGS
from turnspec.spec.schema import INDEX_SCHEMA, load_schema

PIECES = {"text", "slot"}
MODEL_AT = [
    ((), model.Spec),
    (("template",), model.TemplateIdentity),
    (("capabilities",), model.Capabilities),
    (("thinking",), model.Thinking),
    (("thinking", "words"), model.SwitchWord),
    (("turn",), model.Turn),
    (("turn", "joins"), model.Join),
    (("turn", "ends"), model.End),
    (("reasoning",), model.Reasoning),
    (("reasoning", "blocks"), model.ContentBlocks),
    (("content",), model.Content),
    (("tools",), calls.Tools),
    (("tools", "arguments"), calls.Arguments),
    (("tools", "arguments", "syntax"), calls.ValueSyntax),
    (("tools", "arguments", "elements"), calls.Elements),
    (("tools", "fields"), calls.Fields),
    (("tools", "after_first"), calls.AfterFirst),
    (("limits",), model.Limit),
    (("grammar",), model.Grammar),
    (("alternatives",), model.Alternatives),
    (("alternatives", "code"), model.CodeCall),
    (("alternatives", "marks"), model.OtherMarks),
]
ENUM_AT = [
    (("thinking", "words", "switches"), words.Switch),
    (("reasoning", "mode"), words.ReasoningMode),
    (("reasoning", "scope"), words.ReasoningScope),
    (("content", "mode"), words.ContentMode),
    (("tools", "mode"), words.ToolMode),
    (("tools", "call_id"), words.CallIdPosition),
    (("tools", "arguments", "syntax", "encoding"), words.Encoding),
    (("tools", "arguments", "values", "null"), words.Encoding),
    (("limits", "subject"), words.Subject),
    (("limits", "verdict"), words.Verdict),
    (("limits", "when"), words.Condition),
]


def at(path: tuple[str, ...]) -> dict[str, Any]:
    """Return the schema of what stands at a path; a list's items count as the list."""
    node = load_schema()
    for key in path:
        node = node["properties"][key]
        node = node.get("items", node)
    return node


def objects(node: object, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every part of the schema that describes a mapping with known keys."""
    if isinstance(node, list):
        for item in node:
            yield from objects(item, path)
    if isinstance(node, dict):
        if isinstance(node.get("properties"), dict) and node.get("type") == "object":
            yield path, node
        for key, value in node.items():
            yield from objects(value, f"{path}.{key}")


def test_the_schema_is_valid_and_opens_with_its_manual() -> None:
    schema = load_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert str(schema["description"]).startswith("How to read a spec.")


def test_every_property_is_described_and_nothing_else_is_allowed() -> None:
    found = list(objects(load_schema()))
    assert len(found) > len(MODEL_AT)
    assert [path for path, node in found if node["additionalProperties"] is not False] == []
    assert [
        f"{path}.{name}"
        for path, node in found
        for name, value in node["properties"].items()
        if not value.get("description")
    ] == []


@pytest.mark.parametrize(("path", "kind"), MODEL_AT)
def test_keys_are_the_fields_of_the_model(path: tuple[str, ...], kind: Any) -> None:
    version = ["spec_version"] if kind is model.Spec else []
    assert list(at(path)["properties"]) == [*version, *(field.name for field in fields(kind))]


@pytest.mark.parametrize(("path", "kind"), ENUM_AT)
def test_words_are_those_of_the_model(path: tuple[str, ...], kind: type[StrEnum]) -> None:
    assert at(path)["enum"] == list(kind)


def test_an_indexs_schema_is_valid_and_says_what_is_said_elsewhere() -> None:
    schema = load_schema(INDEX_SCHEMA)
    jsonschema.Draft202012Validator.check_schema(schema)
    keys = schema["properties"]
    assert all(value["description"] for value in keys.values())
    origin, template = (keys[key]["items"]["properties"] for key in ("origins", "templates"))
    assert {*origin, "line"} == {field.name for field in fields(Origin)}
    assert {*template, "line"} == {field.name for field in fields(Entry)}
    assert origin["kind"]["enum"][0] == SDIST
    assert template["accepted"]["items"]["properties"]["rung"]["enum"] == list(RUNGS)
    assert template["tokenizer"] == load_schema()["properties"]["tokenizer"]


def test_words_that_only_some_places_allow() -> None:
    call, item = at(("tools", "call")), at(("tools", "arguments", "item"))
    slots = [*call["properties"]["slot"]["enum"], *item["properties"]["slot"]["enum"]]
    assert [*slots, "WORD"] == list(words.SlotKind)
    assert set(call["properties"]) == set(item["properties"]) == PIECES
    assert at(("tools", "index_scope"))["enum"] == [*words.IndexScope, None]
    assert at(("turn", "order"))["enum"] == ["reasoning", "content", "calls"]
    assert at(("turn", "joins", "left"))["enum"] == ["start", "reasoning", "content", "calls"]
    tokens = load_schema()["properties"]["tokens"]["additionalProperties"]
    assert tokens["properties"]["source"]["enum"] == list(words.TokenSource)
    assert list(at(("tools", "arguments", "types"))["properties"]) == list(words.JsonType)
