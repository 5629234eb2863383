"""How one call's arguments are written, from renderings of turns of one call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from turnspec.analysis.arguments import (
    ArgumentsFinding,
    analyze_object,
    analyze_tagged,
    find_count_lead,
)
from turnspec.analysis.findings import Derivation
from turnspec.analysis.probes import (
    ARGUMENTS,
    CONTENT,
    IDS,
    KEYS,
    NAMES,
    TokenKind,
    find_object,
    find_tokens,
    probe_call,
)
from turnspec.rendering.conversation import Chat
from turnspec.spec.message import Call, Message


def find_arguments(chat: Chat, derivation: Derivation) -> tuple[ArgumentsFinding | None, str]:
    """Take T4 to T6 on a turn with one call.

    Returns how its arguments are written, None where that is nothing that can be read, and what
    stands before the number of them, "" if none is written.
    """
    count_lead = find_count_lead(lambda given: _call_text(chat, given))
    probe = _Probe(chat, count_lead)
    text, heads = probe.rendered(probe_call(0).arguments)
    if text is None:
        return None, count_lead
    span = find_object(text, probe_call(0).arguments, KEYS[0])
    if span is None or not probe.is_one_object(heads):
        found = analyze_tagged(lambda given: probe.rendered(given, heads)[0], derivation)
    else:
        ends = text[: span[0]], text[span[1] :]
        found = analyze_object(lambda given: probe.rendered(given, heads)[0], *ends, derivation)
    return found, count_lead


@dataclass(frozen=True, slots=True)
class _Probe:
    """Renders one call. ``count_lead`` is what stands before the number of its arguments."""

    chat: Chat
    count_lead: str

    def is_one_object(self, heads: int) -> bool:
        """Tell whether two arguments stand in one object as well, as they do if it is JSON."""
        both = ARGUMENTS[1]
        text = self.rendered(both, heads)[0]
        return text is None or KEYS[1] not in text or find_object(text, both, KEYS[0]) is not None

    def rendered(
        self, arguments: Mapping[str, object], heads: int | None = None
    ) -> tuple[str | None, int]:
        """Render one call; return the text behind its last slot before the arguments.

        ``heads`` is how many slots stand there, found with arguments that are needles themselves.
        """
        call = Call(NAMES[0], arguments, IDS[0])
        text = _call_text(self.chat, arguments)
        if text is None:
            return None, 0
        if self.count_lead:  # where arguments are compared their number is to be no difference
            counted = f"{self.count_lead}{len(arguments)}"
            text = text.replace(counted, f"{self.count_lead}1", 1)
        tokens = find_tokens(text, (call,))
        slots = [token for token in tokens if token.kind in (TokenKind.NAME, TokenKind.ID)]
        if heads is None:
            kinds = (TokenKind.KEY, TokenKind.ARGUMENTS)
            first = next((token.start for token in tokens if token.kind in kinds), len(text))
            heads = sum(token.start < first for token in slots)
        return text[slots[heads - 1].end if heads else 0 :], heads


def _call_text(chat: Chat, arguments: Mapping[str, object]) -> str | None:
    """Render a turn of one call, with content where there is no call without."""
    call = Call(NAMES[0], arguments, IDS[0])
    for content in ("", CONTENT):
        text = chat.turn(Message(content=content, calls=(call,))).text
        if text is not None and NAMES[0] in text:
            return text
    return None
