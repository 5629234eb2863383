"""Which characters a template doesn't render back, as one that breaks lines where it shouldn't.

All candidates stand in one text first; only if that doesn't come back each is tried by itself.
"""

from __future__ import annotations

from collections.abc import Callable

from turnspec.spec.model import Limit
from turnspec.spec.words import Condition, Subject, Verdict

#: Tells whether a text is rendered so that it can be read back; None where it is refused.
ComesBack = Callable[[str], bool | None]

#: The characters that some programs take for something else than text: all controls, among them
#: what ends a line for `str.splitlines`; the other line ends; blanks and what has no width; quotes
#: and markup; and one that takes two units in UTF-16.
SPECIAL_CHARACTERS = (
    "".join(map(chr, (*range(0x20), *range(0x7F, 0xA0))))
    + "\u2028\u2029"
    + " \xa0\u200b\u3000\ufeff"
    + "\"'\\<>&"
    + "\U0001f389"
)


#: Those of them that a key may hold, too: it has no controls.
SPECIAL_IN_KEYS = "".join(one for one in SPECIAL_CHARACTERS if one in "\"'\\<>&")


def altered_characters(comes_back: ComesBack, candidates: str = SPECIAL_CHARACTERS) -> str:
    """Return the special characters that a template alters inside a text that it shows.

    It may alter one only where two of them stand in a row, as where empty lines are left out.
    """
    texts = [text.format(one) for one in candidates for text in ("vqa{0}vqb", "vqa{0}{0}vqb")]
    if not comes_back("vqavqb") or comes_back("".join(texts)):
        return ""
    altered = [comes_back(text) is False for text in texts]
    return "".join(one for at, one in enumerate(candidates) if any(altered[2 * at : 2 * at + 2]))


def character_limits(
    subject: Subject, comes_back: ComesBack, candidates: str = SPECIAL_CHARACTERS
) -> tuple[Limit, ...]:
    """Return the limit that says which characters of a text don't come back, if there are any."""
    found = altered_characters(comes_back, candidates)
    reason = "rendered as something else"
    limit = Limit(subject, Verdict.AMBIGUOUS, Condition.ALWAYS, reason, found)
    return (limit,) if found else ()
