"""Other marks around reasoning: a template may read several kinds of it, each under its own key."""

from __future__ import annotations

from collections.abc import Iterator

from turnspec.analysis.findings import Derivation
from turnspec.analysis.parts import Wrapping
from turnspec.analysis.probes import CONTENT, REASONING, probe_message
from turnspec.analysis.text import markers
from turnspec.rendering.conversation import Chat


def find_other_marks(
    chat: Chat, header: str, reasoning: Wrapping, derivation: Derivation
) -> tuple[Wrapping, ...]:
    """Return the marks between which keys beside the usual one are shown, before content.

    ``header`` is the assistant's, ``reasoning`` what is known of its marks already. Each side has
    to be one marker, as text that merely precedes a value is no mark.
    """
    field = chat.dialect.reasoning_field
    if field is None or chat.dialect.blocks is not None:
        return ()
    found = dict.fromkeys(
        (start, end)
        for start, end in _surroundings(chat, header)
        if end.strip() != reasoning.end.strip() and len(markers(start)) == len(markers(end)) == 1
    )
    if found:
        derivation.note("R1", f"reasoning has other marks as well: {list(found)}")
    return tuple(Wrapping(start, end) for start, end in found)


def _surroundings(chat: Chat, header: str) -> Iterator[tuple[str, str]]:
    """Yield what stands around each other key's text, between the header and content."""
    known = {"role", "content", "tool_calls", chat.dialect.reasoning_field}
    message = chat.assistant_message(probe_message(content=True))
    for name in chat.facts.attribute_names:
        text = chat.continued({**message, name: REASONING}).text or ""
        before, shown, after = text.partition(REASONING)
        end, _, rest = after.partition(CONTENT)
        if name not in known and shown and rest and header and before.count(header) == 1:
            yield before.partition(header)[2], end
