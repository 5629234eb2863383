"""Why some faults can't be noticed: each reason with the faults that it explains."""

from __future__ import annotations

import re

#: Reasons by a pattern of "format: fault".
REASONS: dict[str, str] = {
    r": (alternative|stop string): alternatives\.|: alternative: ": (
        "Alternatives are an overlay's: a person found them elsewhere, and no rendering shows "
        "them, so nothing here can tell such a marker from another one. The overlay names its "
        "source."
    ),
    r"minimax-m3: stop string: turn\.stop\.0: without its (first|last) character": (
        "A stop string that is a character short stops the model at the same place: it stands in "
        "the end of a turn and nowhere else, and nothing about the signs shows where it is whole."
    ),
    r"rule: (bound )?(root|no-reasoning|between-.*|calls-start|(reasoning|content)-[a-z]+): ": (
        "Where nothing else can stand, a parser takes text without the marker in front as the part "
        "that it has to be, or reads on where the prompt left off, and has nothing to tell."
    ),
    r"grammar rule: ": (
        "A walk has to come by and take the faulty way, and then it has to matter: a string "
        "without a backslash is most often another string, and `[]` can be an empty list or one "
        "whose only word is missing. What is rare isn't met by 162 walks of a fixed seed."
    ),
}


def explanation(format_name: str, fault: str) -> str:
    """Return why nothing can notice a fault, "" if nobody knows."""
    given = f"{format_name}: {fault}"
    return next((reason for pattern, reason in REASONS.items() if re.search(pattern, given)), "")
