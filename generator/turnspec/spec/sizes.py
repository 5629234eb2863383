"""How long a spec's texts may be: no template writes markers of pages, unless it wants to harm."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from turnspec.spec.yaml_document import Finding, YamlPath

#: The longest text, in characters; the longest of the reference formats has 180, a marker 57.
LONGEST_TEXT = 500

#: The most entries of a list or a mapping; the reference formats have up to 20.
MOST_ENTRIES = 200


def oversized(value: object, path: YamlPath = ()) -> Iterator[Finding]:
    """Yield every place of a spec's data that is too long, and a sentence about it."""
    if isinstance(value, str):
        if len(value) > LONGEST_TEXT:
            yield path, f"is {len(value)} characters long; {LONGEST_TEXT} at most"
        return
    if not isinstance(value, Mapping | Sequence):
        return
    if len(value) > MOST_ENTRIES:
        yield path, f"has {len(value)} entries; {MOST_ENTRIES} at most"
        return
    entries = value.items() if isinstance(value, Mapping) else enumerate(value)
    for key, entry in entries:
        if isinstance(key, str) and len(key) > LONGEST_TEXT:
            yield path, f"has a key of {len(key)} characters; {LONGEST_TEXT} at most"
        else:
            yield from oversized(entry, (*path, key))
