"""The turns that programs are asked to read: those of the ladder, written by each spec's writer.

Rung 1: turns as the template renders them (rung 0 says that the writer writes just these), behind
what they have in common with the generation prompt. Rung 1b: turns as a model writes them behind
each real generation prompt.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.generated_formats import ROOT
from turnspec.analysis.text import whole_prefix
from turnspec.catalog.catalog import Catalog
from turnspec.codegen.writer import as_rendered, write_turn
from turnspec.rendering.conversation import tool_definitions
from turnspec.spec.message import Message
from turnspec.spec.model import Spec
from turnspec.verification.comparing import Said, as_meant
from turnspec.verification.messages import sample_messages
from turnspec.verification.random_messages import random_messages
from turnspec.verification.turns import expected_behind, is_ambiguous, written_input

#: Random messages for each format, beside the fixed ones.
RANDOM_MESSAGES = 20


@dataclass(frozen=True, slots=True)
class Case:
    """A turn: the prompt's part of it, what the model wrote, the tools, and what it says."""

    rung: str
    prefill: str
    text: str
    tools: list[dict[str, Any]]
    thinking: bool
    wanted: Said


def cases(spec: Spec) -> list[Case]:
    """Return a format's turns, each once."""
    messages = [*sample_messages(spec), *random_messages(spec, RANDOM_MESSAGES)]
    found = (case for message in messages for case in _cases(spec, message))
    return list({(case.prefill, case.text): case for case in found}.values())


def _cases(spec: Spec, message: Message) -> Iterator[Case]:
    shown = as_rendered(spec, message)
    says = bool(shown.reasoning or shown.content or shown.calls)
    if says and not is_ambiguous(spec, message):
        turn = write_turn(spec, message)
        prefill = whole_prefix([turn, spec.thinking.enabled.prompt])
        if not prefill.startswith(spec.turn.header):
            prefill = spec.turn.header
        yield _case(spec, "1", prefill, turn[len(prefill) :], shown, True)
    for thinking in (True, False):
        found = written_input(spec, message, thinking=thinking)
        if found is not None:
            meant = expected_behind(spec, message, thinking)
            yield _case(spec, "1b", found.prefill or "", found.text, meant, thinking)


def _case(spec: Spec, rung: str, prefill: str, text: str, shown: Message, thinking: bool) -> Case:
    tools: Any = tool_definitions(shown.calls)
    return Case(rung, prefill, text, tools, thinking, as_meant(spec, shown))


def template_text(name: str) -> str:
    """Return the chat template of a format, which is fetched already."""
    known = Catalog.around(ROOT).formats[name]
    path = next(path for path in known.template_places(ROOT) if path.is_file())
    return path.read_text(encoding="utf-8")
