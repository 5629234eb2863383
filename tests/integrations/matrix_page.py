"""docs/MATRIX.md: what share of each format's turns servers' own parsers read back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from turnspec.spec.server_results import ServerRecord, ServerResult, Servers

_HEAD = """\
<!-- Written by `make integrations`. -->

# Servers and formats

What share of each format's turns servers read back with parsers of their own: as a whole, and cut
into pieces as a stream is. All parsers that a server brings along are run on every format, none is
taken by its name: first on some turns, those that read most on all, tool parsers and reasoning
parsers in pairs. The turns are those that a model writes behind a real generation prompt, rung 1b
of the [verification](verification.md), plain ones and wild ones; tools are offered wherever the
format has calls. `turnspec flags NAME` says the same of one format, with the command line; where a
server's own parsers fall short, [plugins](EXPORTS.md) read the format.

The vocabulary is GPT-2's with a token for whatever looks like a marker in the template. llama.cpp
makes a parser of the template itself, and is cut into characters. White space at the ends of texts,
and the style of JSON, are no difference. Formats that write the same turns share a row.
"""
_LONGEST = 140


def matrix_page(records: Servers) -> str:
    """Return the page's text."""
    ordered = dict(sorted(records.items()))
    parts = [_HEAD, _summary(ordered), _table(ordered)]
    return "\n".join([*parts, *(_failures(server, record) for server, record in ordered.items())])


def _summary(records: Mapping[str, ServerRecord]) -> str:
    rows: list[tuple[str, ...]] = [("server", "version", "parsers", "all turns", "some", "none")]
    for server, record in records.items():
        found = [*record.formats.values()]
        every = sum(result.reads_all for result in found)
        none = sum(not result.pieces for result in found)
        version = f"{record.package} {record.version}"
        counts = (record.parsers, every, len(found) - every - none, none)
        rows.append((server, version, *map(str, counts)))
    return "".join(_rows(rows))


def _table(records: Mapping[str, ServerRecord]) -> str:
    names = sorted({name for record in records.values() for name in record.formats})
    rows: list[tuple[str, ...]] = [("format", *records)]
    for name in names:
        cells = (_cell(record.formats.get(name)) for record in records.values())
        rows.append((name, *cells))
    return "".join(_rows(rows))


def _rows(rows: list[tuple[str, ...]]) -> Iterator[str]:
    head, *rest = rows
    for row in (head, ("---",) * len(head), *rest):
        yield f"| {' | '.join(row)} |\n"


def _cell(found: ServerResult | None) -> str:
    """Return the share in percent, never 100 or 0 for what isn't, and the parsers."""
    if found is None:
        return "-"
    share = min(99, max(1, round(100 * found.pieces / found.turns)))
    if found.pieces in (0, found.turns):
        share = 100 if found.pieces else 0
    names = " + ".join(filter(None, found.parsers[0] if found.parsers else ()))
    return f"{share} % {names}".rstrip()


def _failures(server: str, record: ServerRecord) -> str:
    """Return the shortest failing turn of each format, those that fail alike in one line."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for name, found in sorted(record.formats.items()):
        if found.example:
            alike.setdefault(found.example, []).append(name)
    lines = [f"## {server}: the shortest turn of each format that it doesn't read", ""]
    for (text, told), names in alike.items():
        lines.append(f"- {', '.join(names)}: {_code(text)} {_code(told)}")
    return "\n".join([*lines, ""])


def _code(text: str) -> str:
    shown = repr(text)[1:-1]
    shown = shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"
    fence = "`" * 3
    return f"{fence} {shown} {fence}"
