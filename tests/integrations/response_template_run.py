"""Reads turns with transformers' own parser; runs in an environment that has transformers alone.

Standard input: a list of formats, each with a template and cases (prefix, text, tools). Standard
output: for each format and case the message, whether pieces of the text give the same, and at how
many places where it may break off the parser raises.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from transformers.utils.chat_parsing import ResponseParser

#: So many of a format's turns are cut off, at so many places each.
_CUT_TURNS = 2
_PLACES = 100


def read(template: Any, case: dict[str, Any], pieces: list[str]) -> Any:
    """Return the message that the parser makes of some pieces, or what it raises."""
    try:
        parser = ResponseParser(template, prefix=case["prefix"], tools=case["tools"])
        for piece in pieces:
            parser.feed(piece)
        return parser.finalize()[0]
    except Exception as error:  # whatever it raises is what we are to know
        return f"{type(error).__name__}: {error}"[:300]


def outcome(template: Any, case: dict[str, Any], *, cut: bool) -> dict[str, Any]:
    """Return what comes of a case."""
    text = case["text"]
    whole = read(template, case, [text])
    threes = [text[start : start + 3] for start in range(0, len(text), 3)]
    same = all(read(template, case, pieces) == whole for pieces in (list(text), threes))
    cuts = range(1, len(text), 1 + len(text) // _PLACES) if cut else ()
    raised = [end for end in cuts if isinstance(read(template, case, [text[:end]]), str)]
    return {"message": whole, "same": same, "cuts": len(cuts), "raised": len(raised)}


def outcomes(given: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what comes of a format's cases; the longest of them are cut off everywhere."""
    template, cases = given["template"], given["cases"]
    long = sorted(range(len(cases)), key=lambda at: -len(cases[at]["text"]))[:_CUT_TURNS]
    return [outcome(template, case, cut=at in long) for at, case in enumerate(cases)]


if __name__ == "__main__":
    json.dump([outcomes(given) for given in json.load(sys.stdin)], sys.stdout)
