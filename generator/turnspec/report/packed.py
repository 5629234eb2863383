"""What the page's script needs of all formats, in a form in which nothing of it can be markup.

That is JSON, compressed, in the letters of base64: what formats have in common takes little room,
and no text of a template stands in the page as it is.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from turnspec.codegen.printer.shared import facts_given
from turnspec.explain.samples import SAMPLE_TOOLS
from turnspec.report.entries import Entry
from turnspec.report.texts import TextToTry


def packed(entries: Sequence[Entry], more: Mapping[str, str]) -> str:
    """Return what the script needs of formats; ``more`` is shown of each once it is opened."""
    tools: list[Any] = [list(SAMPLE_TOOLS)]
    texts = {entry.name: [_text(text, tools) for text in entry.texts] for entry in entries}
    data = {  # the same kind of text stands together, which compresses best
        "facts": {entry.name: facts_given(entry.read_by) for entry in entries},
        "texts": texts,
        "more": more,
        "tools": tools,
    }
    text = json.dumps(data, separators=(",", ":"))  # ASCII alone, so half a character is no trouble
    return base64.b64encode(zlib.compress(text.encode("ascii"), 9)).decode("ascii")


def _text(text: TextToTry, tools: list[Any]) -> list[Any]:
    """Return a text as the script reads it; tool definitions are told by their place in a list."""
    own = list(text.tools)
    if own not in tools:
        tools.append(own)
    return [text.group, text.title, text.text, text.prefill, tools.index(own)]
