"""What a copy of a parser may leave out: facts -> the facts of a smaller parser."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from enum import StrEnum

from turnspec.codegen.facts import OTHER_SYNTAX, FormatFacts


class Extra(StrEnum):
    """What not everybody needs who has a parser."""

    SPECIAL_TOKENS = "special-tokens"
    OTHER_SYNTAX = "other-syntax"


def leave_out(facts: FormatFacts, parts: Set[Extra]) -> FormatFacts:
    """Return the facts of a parser that knows nothing of some parts.

    Without special tokens all markers count wherever they stand, as where none are given; without
    other syntax what isn't in the format's own is text.
    """
    if Extra.OTHER_SYNTAX in parts:
        tables = {
            name: tuple(row for row in rows if row.role not in OTHER_SYNTAX)
            for name, rows in facts.tables.items()
        }
        facts = replace(facts, tables=tables, values={**facts.values, "READS_TAGS": False})
    if Extra.SPECIAL_TOKENS in parts:
        # Only by such a token is a section told that a call may stand without.
        has_sections = facts.values.get("ONLY_IN_SECTION", False)
        values = {**facts.values, "HAS_SPECIAL_TOKENS": False, "HAS_SECTIONS": has_sections}
        facts = replace(facts, values=values)
    return facts
