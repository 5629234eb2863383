"""Return a parser that has read some pieces, each with a flag or not."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from turnspec.engine.parser import Parser


def read_again(cls: type[Parser], options: Any, pieces: Any, final: bool) -> Parser:
    """Return a parser that has read some pieces, each with a flag or not."""
    parser = cls(**options)
    for piece in pieces:
        parser.feed(*(piece if type(piece) in (tuple, list) else [piece]))
    if final:
        parser.finish()
    return parser
