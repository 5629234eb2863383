"""Reviews of fewer turns and walks than are usual, where only what is said of them is tested."""

from __future__ import annotations

from dataclasses import replace

import pytest

from turnspec.review import reading, standing
from turnspec.spec.model import Spec
from turnspec.verification import grammar_rung
from turnspec.verification.walk_offers import Offer, offers


def take_few_turns(patch: pytest.MonkeyPatch) -> None:
    """Let reviews try a change on few turns, as long as the patch lasts."""
    fewer: list[tuple[object, str, object]]
    fewer = [(grammar_rung, "_UNBOUND_WALKS", 4), (grammar_rung, "offers", _short_offers)]
    fewer += [(module, "RANDOM_MESSAGES", 10) for module in (reading, standing)]
    for module, name, value in fewer:
        patch.setattr(module, name, value)


def _short_offers(spec: Spec) -> list[Offer]:
    return [replace(offer, walks=1) for offer in offers(spec)]
