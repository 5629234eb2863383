"""Reads turns with transformers' own parser; runs in an environment that has transformers alone.

Standard input: a list of formats, each with a template and cases (prefix, text, tools). Standard
output: for each format and case the message, however it is cut, or what was raised.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from transformers.utils.chat_parsing import ResponseParser  # type: ignore[import-not-found]


def read(template: dict[str, Any], case: dict[str, Any], pieces: list[str]) -> Any:
    """Return the message that the parser makes of some pieces."""
    try:
        parser = ResponseParser(template, prefix=case["prefix"], tools=case["tools"])
        for piece in pieces:
            parser.feed(piece)
        return parser.finalize()[0]
    except Exception as error:  # whatever it raises is what we are to know
        return f"{type(error).__name__}: {error}"[:300]


def outcomes(template: dict[str, Any], case: dict[str, Any]) -> dict[str, Any]:
    """Return what comes of a case: the whole text, and whether pieces of it give the same."""
    text = case["text"]
    whole = read(template, case, [text])
    threes = [text[start : start + 3] for start in range(0, len(text), 3)]
    ways = (list(text), threes)
    same = all(read(template, case, pieces) == whole for pieces in ways)
    return {"message": whole, "same": same}


def main() -> None:
    """Read all formats, and write what came of them."""
    formats = json.load(sys.stdin)
    found = [[outcomes(f["template"], case) for case in f["cases"]] for f in formats]
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
