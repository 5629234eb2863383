"""Other marks around reasoning, and other ends of turns with calls: some settings bring them in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from turnspec.analysis.findings import Derivation
from turnspec.analysis.parts import Wrapping
from turnspec.analysis.probes import CONTENT, REASONING, VALUES, probe_call, probe_message
from turnspec.analysis.text import closing_of, markers, whole_prefix
from turnspec.rendering.conversation import Chat
from turnspec.spec.message import Call, Message


def find_other_marks(
    chat: Chat,
    others: Sequence[Chat],
    header: str,
    reasoning: Wrapping,
    content: Wrapping,
    prompted: Sequence[str],
    derivation: Derivation,
) -> tuple[Wrapping, ...]:
    """Return the marks between which reasoning is shown under other keys or settings.

    ``others`` are the chat under its other settings, ``header`` is the assistant's, ``reasoning``
    what is known of its marks already, ``content`` those around content. Each side has to be one
    marker, as text that merely precedes a value is no mark. Where messages show reasoning's end
    alone, what opens it may be all that is ``prompted`` behind the header.
    """
    field = chat.dialect.reasoning_field
    if field is None or chat.dialect.blocks is not None:
        return ()
    known = ("role", "content", "tool_calls", field)
    names = [name for name in chat.facts.attribute_names if name not in known]
    shown = [*_surroundings(chat, names, header), *_beside_calls(chat, names, header)]
    shown += [found for other in others for found in _surroundings(other, [field], header)]
    found = dict.fromkeys(
        (start, end)
        for start, end in ((start, end.removesuffix(content.start)) for start, end in shown)
        if (start.strip(), end.strip()) != (reasoning.start.strip(), reasoning.end.strip())
        if len(markers(start)) == len(markers(end)) == 1
    )
    if not reasoning.start.strip():
        opened = (text for text in map(str.strip, prompted) if markers(text) == [text])
        end = reasoning.end.strip()
        found |= {(text, end): None for text in opened if closing_of(text) == end}
    if found:
        derivation.note("R1", f"reasoning has other marks as well: {list(found)}")
    return tuple(Wrapping(start, end) for start, end in found)


def _surroundings(chat: Chat, names: Iterable[str], header: str) -> Iterator[tuple[str, str]]:
    """Yield what stands around the text of each key, between the header and content."""
    message = chat.assistant_message(probe_message(content=True))
    for name in names:
        text = chat.continued({**message, name: REASONING}).text or ""
        before, shown, after = text.partition(REASONING)
        end, _, rest = after.partition(CONTENT)
        if shown and rest and header and before.count(header) == 1:
            yield before.partition(header)[2], end


def _beside_calls(chat: Chat, names: Iterable[str], header: str) -> Iterator[tuple[str, str]]:
    """Yield what stands around the text of each key, between the header and a call.

    A key that shows beside content too is none of calls alone, be it behind that.
    """
    if not header:
        return
    message = chat.assistant_message(probe_message(calls=1))
    said = chat.assistant_message(probe_message(content=True))
    call = (chat.continued(message).text or "").partition(header)[2]
    for name in names if call.strip() else ():
        text = chat.continued({**message, name: REASONING}).text or ""
        before, shown, after = text.partition(REASONING)
        is_between = shown and after.endswith(call) and before.count(header) == 1
        if is_between and REASONING not in (chat.continued({**said, name: REASONING}).text or ""):
            yield before.partition(header)[2], after.removesuffix(call)


def find_other_ends(chat: Chat, derivation: Derivation) -> tuple[str, ...]:
    """Return the markers that end a turn with a call where one of the variables is a list.

    It names tools that the model has by itself, say. That none of them is called is enough.
    """
    call = probe_call(0)
    usual = _behind(chat, call, VALUES[0])
    found: dict[str, None] = {}
    for text in with_lists(chat, call, VALUES[0]):
        same = len(whole_prefix([usual, text]))
        ends = usual[same:].strip(), text[same:].strip()
        if ends[0] != ends[1] and all(markers(end) == [end] for end in ends):
            found[ends[1]] = None
    if found:
        derivation.note("C1", f"a list as a variable ends a turn with calls with {[*found]}")
    return tuple(found)


def with_lists(chat: Chat, call: Call, anchor: str) -> Iterator[str]:
    """Yield what stands behind ``anchor`` in a turn with a call, once for each such variable."""
    for name in chat.facts.switch_values:
        if name not in chat.variables:
            with chat.worker.unwitnessed():
                text = _behind(chat.using({**chat.variables, name: []}), call, anchor)
            yield text


def _behind(chat: Chat, call: Call, anchor: str) -> str:
    return (chat.turn(Message(calls=(call,))).text or "").rpartition(anchor)[2]
