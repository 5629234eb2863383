"""What the words mean that the page names formats by, as the manual of specs says it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib import resources

import turnspec.spec
from turnspec.spec.schema import SPEC_SCHEMA

NO_CALLS = "no calls"
_WORD = re.compile(r"(?:^|(?<=\. ))([A-Z_]+)(?:: (.*?))?\.(?= [A-Z_]+[:.]|$)")
#: Where the manual explains the words of a column, and what it leaves to its readers to know.
_REASONING, _CALLS, _VALUES = (
    "properties/reasoning/properties/mode",
    "properties/tools/properties/mode",
    "properties/tools/properties/arguments/properties/values/properties/string",
)
_WELL_KNOWN = {"JSON": "as in JSON, in quotes and with escapes"}
_OWN = {NO_CALLS: "the template renders no tool calls"}


def legends() -> dict[str, Mapping[str, str]]:
    """Return the words of each column of the index, with what they mean."""
    manual = json.loads(resources.files(turnspec.spec).joinpath(SPEC_SCHEMA).read_text("utf-8"))
    return {
        "Reasoning": _words(manual, _REASONING),
        "Calls": _words(manual, _CALLS) | _OWN,
        "Strings in calls": _words(manual, _VALUES) | _OWN,
    }


def _words(manual: Mapping[str, object], path: str) -> dict[str, str]:
    place: object = manual
    for key in path.split("/"):
        assert isinstance(place, Mapping)
        place = place[key]
    assert isinstance(place, Mapping)
    told = re.findall(_WORD, str(place["description"]))
    return {word: about or _WELL_KNOWN[word] for word, about in told}
