"""The specs of our own templates as their snapshots have them: known without an analysis."""

from __future__ import annotations

import textwrap
from pathlib import Path

from turnspec.spec.files import load_checked_spec
from turnspec.spec.model import Spec

_SNAPSHOTS = Path(__file__).parent / "__snapshots__" / "test_analysis_golden.ambr"

#: Two formats that are quick to verify, one without calls and one with them.
TWO = ("plain-content", "bare-json-call")


def golden_spec(name: str) -> Spec | None:
    """Return the spec of one of our own templates; None where it has no snapshot yet."""
    text = _SNAPSHOTS.read_text(encoding="utf-8").partition(f"\n# name: test_spec[{name}]\n")[2]
    if not text:
        return None
    spec = load_checked_spec(textwrap.dedent(text.split("'''")[1]), "snapshot")
    assert isinstance(spec, Spec), spec
    return spec
