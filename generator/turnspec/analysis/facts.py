"""All that the comparisons found, before a spec is made of it."""

from __future__ import annotations

from dataclasses import dataclass

from turnspec.analysis.arguments import ArgumentsFinding
from turnspec.analysis.frames import Frames
from turnspec.analysis.layout import Layout
from turnspec.analysis.parts import Wrapping
from turnspec.analysis.source import TemplateSource
from turnspec.analysis.thinking import Setting
from turnspec.rendering.conversation import Chat
from turnspec.spec.model import SwitchWord
from turnspec.spec.prompt_state import PromptState
from turnspec.spec.words import Part


@dataclass(frozen=True, slots=True)
class Facts:
    """All that was found.

    Nothing is set in ``default``; ``on`` and ``off`` enable and disable thinking, ``others`` are
    what else can be set. ``chat`` speaks in the template's dialect under ``on``, ``prompt_state``
    is where the prompt of ``on`` leaves reasoning, ``reasoning`` what surrounds it, rendered or
    not, ``other_marks`` what else may;
    ``content_marks`` are those that are stripped around content, ``other_ends`` what may end a turn
    with calls under a variable of its own. ``is_unended`` reasoning is rendered with no mark at its
    end; ``unopened`` is what the template strips all up to, and nothing tells where that begins.
    ``within_calls`` are the parts that each call holds.
    """

    source: TemplateSource
    chat: Chat
    frames: Frames
    layout: Layout
    default: Setting
    on: Setting
    off: Setting
    others: tuple[Setting, ...]
    prompt_state: PromptState
    reasoning: Wrapping
    words: tuple[SwitchWord, ...]
    arguments: ArgumentsFinding
    max_calls: int
    other_marks: tuple[Wrapping, ...] = ()
    content_marks: tuple[Wrapping, ...] = ()
    other_ends: tuple[str, ...] = ()
    is_unended: bool = False
    unopened: str = ""
    within_calls: frozenset[Part] = frozenset()
