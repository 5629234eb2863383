"""Reasoning that is opened and closed otherwise than the format has it."""

from __future__ import annotations

from collections.abc import Iterator

from turnspec.deviations import turns
from turnspec.deviations.turns import SAID, THOUGHT, Case, Format
from turnspec.spec.message import Message
from turnspec.spec.prompt_state import PromptState, state_in
from turnspec.spec.words import Part


def repeated_opening(form: Format) -> Iterator[Case]:
    """The model writes the opening marker that the prompt already holds."""
    if _marks_both(form) and _state(form) is PromptState.OPEN:
        text = _block(form) + form.write_after_reasoning(Message(SAID))
        yield form.case(
            text, Message(SAID, THOUGHT), "repeated", prefill=None, enable_thinking=True
        )


def never_closed(form: Format) -> Iterator[Case]:
    """The reasoning doesn't end before the turn does."""
    if not _marks_both(form):
        return
    text = form.spec.reasoning.start + THOUGHT
    yield form.case(text, Message(reasoning=THOUGHT), "unclosed")


def never_opened(form: Format) -> Iterator[Case]:
    """The closing marker comes without an opening one: what is before it was content."""
    if not _marks_both(form) or form.spec.content.start.strip():
        return
    end = form.spec.reasoning.end
    message = Message(THOUGHT + turns.space_around(end) + SAID)
    yield form.case(f"{THOUGHT}{end}{SAID}", message, "stray_marker")


def several_blocks(form: Format) -> Iterator[Case]:
    """There is reasoning before and after content."""
    if not _marks_both(form) or form.spec.content.start.strip():
        return
    text = f"{_block(form)}{SAID}{_block(form)}Again."
    content = SAID + turns.space_around(_block(form)) + "Again."
    reasoning = form.spec.reasoning
    between = turns.space_before(reasoning.end) + turns.space_after(reasoning.start)
    message = Message(content, f"{THOUGHT}{between}{THOUGHT}")
    yield form.case(text, message, *(("misplaced",) if _is_first(form) else ()))


def call_inside(form: Format) -> Iterator[Case]:
    """A call begins before the reasoning is closed."""
    if not _marks_both(form) or not form.calls:
        return
    text = form.spec.reasoning.start + THOUGHT + form.write_after_reasoning(form.one_call)
    yield form.case(text, Message(reasoning=THOUGHT, calls=form.calls[:1]), "unclosed")


def mentioned(form: Format) -> Iterator[Case]:
    """The answer is about the format's own markers of reasoning, in quotes."""
    start, end = form.spec.reasoning.start.strip(), form.spec.reasoning.end.strip()
    ends = [form.spec.content.end, *(end.followed for end in form.spec.turn.ends)]
    if not _marks_both(form) or any(end in text for text in ends):  # it ends content as well
        return
    texts = [f'Cut at "{end}" then.']
    if _is_first(form):  # behind content, whatever that ends with, a start may be one
        texts.append(f"It thinks after `{start}` and until `{end}`.")
        texts.append(f"Use '{start}.*{end}' for that.")
    for text in texts:
        yield form.as_written(form.shown(Message(text)))


def nothing_inside(form: Format) -> Iterator[Case]:
    """The reasoning is empty, or white space alone: there is none."""
    if not _marks_both(form):
        return
    start, end = form.spec.reasoning.start, form.spec.reasoning.end
    for inside in ("", " ", "\n\n \t\n"):
        text = start + inside + end + form.write_after_reasoning(Message(SAID))
        yield form.case(text, Message(SAID))


def _marks_both(form: Format) -> bool:
    return bool(form.spec.reasoning.start.strip() and form.spec.reasoning.end.strip())


def _is_first(form: Format) -> bool:
    return form.spec.turn.order[0] is Part.REASONING


def _state(form: Format) -> PromptState:
    rest = form.spec.thinking.enabled.prompt.removeprefix(form.spec.turn.header)
    return state_in(form.spec, rest)


def _block(form: Format) -> str:
    return form.spec.reasoning.start + THOUGHT + form.spec.reasoning.end
