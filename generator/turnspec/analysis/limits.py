"""What a template doesn't render back: parts dropped, moved or trimmed, and when; characters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from turnspec.analysis.frames import Edge, Frame, Frames
from turnspec.analysis.probes import CONTENT, REASONING, probe_message
from turnspec.rendering.conversation import Chat, Following
from turnspec.spec.conditions import CONDITIONS, holds
from turnspec.spec.message import Message
from turnspec.spec.model import Limit
from turnspec.spec.words import Condition, Part, Subject, Verdict

_SUBJECTS = {part: Subject(part.value) for part in (Part.REASONING, Part.CONTENT, Part.CALLS)}


def limit(subject: Subject, verdict: Verdict, reason: str, characters: str = "") -> Limit:
    """Return a limit that always holds."""
    return Limit(subject, verdict, Condition.ALWAYS, reason, characters)


def relabel_moved(frames: Frames) -> Frames:
    """Name content as reasoning in the frames that render it just as they render reasoning."""
    table = frames.edges()
    plain = [frame for frame in frames.frames if frame.combination.parts == {Part.CONTENT}]
    own = plain[0].gaps[0] if plain else None
    reasoning = table.get(Edge(Part.START, Part.REASONING))
    if own is None or reasoning is None or own == reasoning:
        return frames
    relabelled = tuple(
        replace(frame, order=(Part.REASONING, *frame.order[1:]))
        if frame.order[:1] == (Part.CONTENT,) and frame.gaps[0] == reasoning
        else frame
        for frame in frames.frames
    )
    return replace(frames, frames=relabelled)


def find_limits(frames: Frames, chat: Chat, max_calls: int) -> tuple[Limit, ...]:
    """Return what is dropped or moved, by which parts a message has, and what is trimmed."""
    limits: list[Limit] = []
    alone = [frame for frame in frames.frames if frame.following is Following.NOTHING]
    for part, subject in _SUBJECTS.items():
        asked = [frame for frame in alone if part in frame.combination.parts]
        gone = [frame for frame in asked if not _shows_part(frame, part)]
        moved = _moved(gone, part, asked)
        dropped = [frame for frame in gone if frame not in moved]
        for verdict, rest in ((Verdict.MOVES, moved), (Verdict.DROPS, dropped)):
            if rest:
                when = _exact_condition(rest, asked) or Condition.ALWAYS
                limits.append(Limit(subject, verdict, when, _example(rest[0])))
    if error := _refused_beside_calls(alone, frames):
        limits.append(Limit(Subject.CONTENT, Verdict.DROPS, Condition.WITH_CALLS, error))
    if max_calls == 1:
        limits.append(limit(Subject.FURTHER_CALLS, Verdict.DROPS, _refusal(frames)))
    if _is_trimmed(chat):
        limits.append(limit(Subject.CONTENT, Verdict.TRIMS, "white space around it"))
    limits += character_limits(Subject.CONTENT, lambda it: _shows(chat, Message(content=it), it))
    if chat.dialect.reasoning_field is not None:
        limits += character_limits(Subject.REASONING, lambda text: _shows_reasoning(chat, text))
    return tuple(limits)


def _shows(chat: Chat, message: Message, text: str) -> bool | None:
    rendered = chat.turn(message).text
    return None if rendered is None else text in rendered


def _shows_reasoning(chat: Chat, text: str) -> bool | None:
    """Tell whether a text shows as reasoning, beside content or, if not there, beside a call."""
    beside = (probe_message(content=True), probe_message(calls=1))
    shown = [_shows(chat, replace(message, reasoning=text), text) for message in beside]
    if any(shown):
        return True
    return False if False in shown else None


def _shows_part(frame: Frame, part: Part) -> bool:
    """Tell whether a frame shows a part; what stands in reasoning's place may be content."""
    return part in frame.order and (part is not Part.REASONING or REASONING in frame.text)


def _moved(gone: list[Frame], part: Part, asked: list[Frame]) -> list[Frame]:
    """Return the frames that show content as reasoning, or would if they had no reasoning."""
    if part is not Part.CONTENT:
        return []
    moved = [it for it in gone if Part.REASONING in it.order and CONTENT in it.text]
    if moved and _exact_condition(moved, asked) is None and _exact_condition(gone, asked):
        return gone
    return moved


def _exact_condition(found: list[Frame], asked: list[Frame]) -> Condition | None:
    """Return the simplest condition that holds for just the frames found among those asked."""
    for condition in CONDITIONS:
        if all(holds(condition, it.combination.parts) == (it in found) for it in asked):
            return condition
    return None


def _example(frame: Frame) -> str:
    parts = [part.value for part in Part if part in frame.combination.parts]
    return f"not rendered in a message with {', '.join(parts)}"


def _refused_beside_calls(alone: list[Frame], frames: Frames) -> str:
    """Return what a template that renders calls says against content beside them; "" if nothing."""
    both = {Part.CONTENT, Part.CALLS}
    errors = [error for combination, error in frames.refused.items() if both <= combination.parts]
    has_calls = any(Part.CALLS in frame.combination.parts for frame in alone)
    is_shown = any(both <= frame.combination.parts for frame in alone)
    return errors[0] if errors and has_calls and not is_shown else ""


def _refusal(frames: Frames) -> str:
    errors = [error for combination, error in frames.refused.items() if combination.calls > 1]
    return errors[0] if errors else "only one call is rendered"


def _is_trimmed(chat: Chat) -> bool:
    text = chat.turn(Message(content=f"  {CONTENT}  ")).text or ""
    return CONTENT in text and f"  {CONTENT}  " not in text and REASONING not in text


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

    All stand in one text first; only if that doesn't come back each is tried by itself. It may
    alter one only where two of them stand in a row, as where empty lines are left out.
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
    told = limit(subject, Verdict.AMBIGUOUS, "rendered as something else", found)
    return (told,) if found else ()
