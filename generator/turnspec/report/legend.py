"""What the words mean that the page names formats by, as the manual of specs says it."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from operator import getitem
from typing import Any

from turnspec.spec.schema import load_schema

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
    manual = load_schema()
    return {
        "Reasoning": _words(manual, _REASONING),
        "Calls": _words(manual, _CALLS) | _OWN,
        "Strings in calls": _words(manual, _VALUES) | _OWN,
    }


def _words(manual: Mapping[str, Any], path: str) -> dict[str, str]:
    told = re.findall(_WORD, functools.reduce(getitem, path.split("/"), manual)["description"])
    return {word: about or _WELL_KNOWN[word] for word, about in told}
