"""Length decides nothing: blanks and words of any length read the same whole and in pieces.

Numbers that JSON doesn't have are never passed on as if they were JSON.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from tests.generated_formats import KINDS, PARTS, committed_format, committed_spec
from tests.parser_checks import some, stream
from turnspec.codegen.writer import write_parts
from turnspec.engine.json_texts import load_json
from turnspec.spec.message import Call, Message
from turnspec.spec.words import Part
from turnspec.verification.messages import allowed_call

#: Longer than anything that a marker's slot holds.
LONG = 400
FILLERS = {"blanks": " " * LONG, "letters": "w" * LONG, "digits": "1" * LONG, "lines": "\n" * LONG}
NO_NUMBERS = ("NaN", "Infinity", "-Infinity", "1e999", "-1e999", "None", "nan", "inf")
CALL = Call("get_weather", {"city": "Paris", "days": 3}, "id0000001")
WITH_CALLS = [name for name in KINDS if committed_spec(name).tools]

pytestmark = pytest.mark.timeout(600)


@cache
def turn_of(name: str) -> str:
    spec = committed_format(name).spec
    calls = (allowed_call(spec, CALL),) if spec.tools else ()
    reasoning = "Let me see." if spec.reasoning.field else ""
    return write_parts(spec, Message("It rains." * (not calls), reasoning, calls), Part.START)


def places(text: str) -> Iterator[int]:
    """Yield where words, blanks and signs of a text begin, and its end."""
    yield from (found.start() for found in re.finditer(r"\w+|\s+|[^\w\s]", text))
    yield len(text)


@pytest.mark.parametrize("filler", FILLERS)
@pytest.mark.parametrize("name", PARTS)
def test_what_is_long_reads_the_same_in_pieces(name: str, filler: str) -> None:
    module, text = committed_format(name).module, turn_of(name)
    for at in some(list(places(text)), 12):
        for rest in (text[at:], ""):
            longer = text[:at] + FILLERS[filler] + rest
            whole = module.parse(longer)
            for size in (1, 150):
                pieces = [longer[start : start + size] for start in range(0, len(longer), size)]
                assert stream(module, pieces)[0] == whole, (at, size, rest)
            for call in whole.tool_calls:
                assert not call.complete or load_json(call.arguments) is not None


@pytest.mark.parametrize("name", WITH_CALLS)
def test_no_arguments_hold_a_number_that_json_does_not_have(name: str) -> None:
    module, text = committed_format(name).module, turn_of(name)
    at = text.rindex("3")
    for word in NO_NUMBERS:
        for tools in (None, [tool({"type": "number"}), tool({})], [tool({"type": "string"})]):
            message = module.parse(text[:at] + word + text[at + 1 :], tools=tools)
            for call in message.tool_calls:
                assert message.problems or isinstance(load_json(call.arguments), dict)
                assert not call.complete or load_json(call.arguments) is not None
            assert message.tool_calls


def tool(schema: dict[str, Any]) -> dict[str, Any]:
    properties = {"city": {"type": "string"}, "days": schema}
    return {"name": CALL.name, "parameters": {"type": "object", "properties": properties}}


def test_the_json_of_these_tests_is_strict() -> None:
    assert math.isnan(json.loads("NaN"))
    with pytest.raises(ValueError, match="NaN"):
        load_json("NaN")
