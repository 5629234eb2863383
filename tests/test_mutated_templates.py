"""Edits that change a format are told, and those that don't aren't."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.mutated_templates import CHANGING, HARMLESS, Known, edits
from tests.own_templates import NAMES, own_template
from turnspec.rendering.worker import RenderWorker

#: A few that cost little, and how many edits of each.
FEW = ("brackets-with-id", "json-in-tags", "tagged-parameters")
EDITS = len(HARMLESS) + len(CHANGING)
#: In the long run, how many of either kind there are to be, and how many may be judged wrongly.
WANTED, MISSED, FALSE = 200, 0.02, 0.02


def judged(name: str, count: int) -> Counter[tuple[bool, bool]]:
    """Return how many edits change what is rendered, and how many of these are told."""
    found: Counter[tuple[bool, bool]] = Counter()
    with RenderWorker() as worker:
        known = Known.of(own_template(name), worker)
        assert known is not None
        seen = {known.source.text}
        for _, (_, text) in zip(range(count), edits(known, random.Random(name)), strict=False):
            shown = known.renderings(text) if text not in seen else [None]
            seen.add(text)
            if any(shown):
                found[known.is_changed(text), known.told(text, worker)] += 1
    return found


@pytest.mark.parametrize("name", FEW)
def test_an_edit_is_told_if_it_changes_the_format(name: str) -> None:
    found = judged(name, EDITS)
    assert found[False, False] > 0
    assert found[True, True] > 0
    assert (found[False, True], found[True, False]) == (0, 0)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_hundreds_of_edits_are_told_if_they_change_the_format() -> None:
    found: Counter[tuple[bool, bool]] = Counter()
    for name in NAMES:
        if min(found[True, True], found[False, False]) < WANTED:
            found += judged(name, 2 * EDITS)
    changed, same = found[True, True] + found[True, False], found[False, True] + found[False, False]
    assert min(changed, same) >= WANTED
    assert found[True, False] <= MISSED * changed
    assert found[False, True] <= FALSE * same
