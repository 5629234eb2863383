"""What the comparisons found, with the texts they were found in.

A finding names its comparison as the auto-parser does (R1, C1, T3, …). Findings are recomputed
whenever someone asks for them; they are not written to the spec.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from turnspec.spec.calls import Piece


@dataclass(frozen=True, slots=True)
class Finding:
    """One result: the comparison's name, what it says, and the texts it was read from."""

    comparison: str
    result: str
    evidence: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the finding on one line, and its evidence on further ones."""
        lines = [f"{self.comparison}: {self.result}"]
        lines += [f"    from {text!r}" for text in self.evidence]
        return "\n".join(lines)


@dataclass(slots=True)
class Derivation:
    """Collects findings in the order in which they were made."""

    findings: list[Finding] = field(default_factory=list)

    def note(self, comparison: str, result: str, *evidence: str) -> None:
        """Add a finding."""
        self.findings.append(Finding(comparison, result, tuple(evidence)))


def shown_pieces(pieces: Iterable[Piece]) -> str:
    """Return literals as they are written in Python, and slots by their names."""
    return " ".join(piece.kind.value if piece.kind else repr(piece.text) for piece in pieces)
