"""What `turnspec identify --turn` prints: the formats that read what a model wrote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from turnspec.catalog.catalog import Catalog
from turnspec.catalog.readers import Reader, readers
from turnspec.cli.console import Fault, print_error, print_notice, progress_bar, put_json, say

#: How many formats are printed.
_MOST = 8


def print_readers(outputs: Sequence[str], catalog: Catalog, *, as_json: bool) -> None:
    """Print which formats read some outputs, the best first.

    Raises:
        Fault: none reads all without problems, and more of it than as text.
    """
    found: list[Reader] = []
    with progress_bar("reading", None) as advance:
        for reader in readers(outputs, catalog):
            found.append(reader)
            advance()
    found.sort(key=lambda reader: reader.rank)
    if as_json:
        data = [asdict(reader) for reader in found]
        put_json({"outputs": len(outputs), "readers": data}, indent=2)
    best = max([1, *(reader.recognized for reader in found)])
    told = [r for r in found if not r.problems and 2 * r.recognized >= best]
    if not as_json:
        _print(told or [r for r in found if r.problems and r.recognized + r.calls], len(outputs))
    if not told:
        raise Fault("no parser reads it without problems and finds the marks of its format in it")


def _print(shown: Sequence[Reader], total: int) -> None:
    for reader in shown[:_MOST]:
        say(f"{reader.names[0]}: {_words(reader, total)}")
        if others := reader.names[1:]:
            say(f"  the same format: {', '.join(others)}")
    if len(shown) > _MOST:
        print_notice(f"{len(shown) - _MOST} more formats read nearly as much; --json has all")
    if shown:
        print_error(f"to copy a parser: turnspec vendor {shown[0].names[0]} --into DIR")


def _words(reader: Reader, total: int) -> str:
    """Return what a format makes of the outputs: of several in how many."""
    parts = {"reasoning": reader.reasoning, "content": reader.content, "calls": reader.calls}
    found = [f"{part} in {count}" if total > 1 else part for part, count in parts.items() if count]
    if not reader.problems:
        return ", ".join(found) or "an empty turn"
    of = f"problems in {reader.problems} of {total}" if total > 1 else "problems"
    return ", ".join([*found, f"{of} ({reader.example})"])
