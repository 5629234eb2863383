"""Two sets of specs compared: what changed in each template, and a verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from turnspec.codegen.loading import load, load_module
from turnspec.codegen.writer import write_turn
from turnspec.review.facts import Change, changes
from turnspec.review.reading import Compatibility, Format, Reading, read_turns
from turnspec.spec.files import spec_hash
from turnspec.spec.message import Message
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem
from turnspec.verification.messages import sample_messages
from turnspec.verification.turns import written_input


class Status(StrEnum):
    """What became of a template."""

    CHANGED = "changed"
    ADDED = "added"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Source:
    """A spec, and the text of the module that was generated from it where there is one."""

    spec: Spec
    module: str | None = None


@dataclass(frozen=True, slots=True)
class TemplateReview:
    """What changed in one template.

    ``forward`` is the old parser on turns of the new spec, ``backward`` the new one on turns of
    the old; both are None where only the template's text changed, or there is one spec alone, and
    the latter where there is no old spec.
    ``same_turns``: both specs write the same turns, behind the same prompts. ``modes`` tells of an
    added format in a few words.
    """

    name: str
    status: Status
    compatibility: Compatibility
    changes: tuple[Change, ...] = ()
    forward: Reading | None = None
    backward: Reading | None = None
    same_turns: bool = False
    modes: str = ""


@dataclass(frozen=True, slots=True)
class Review:
    """All that changed between two sets of specs, which ``old`` and ``new`` name."""

    old: str
    new: str
    templates: tuple[TemplateReview, ...]
    problems: tuple[Problem, ...] = ()

    @property
    def is_breaking(self) -> bool:
        """Tell whether an old parser can't read what a model now writes."""
        return any(template.compatibility is Compatibility.BREAKING for template in self.templates)


def compare_all(
    old: Mapping[str, Source],
    new: Mapping[str, Source],
    on_template: Callable[[], None] = lambda: None,
) -> tuple[TemplateReview, ...]:
    """Compare the specs of two sets by name; those that are equal are left out."""
    reviews: list[TemplateReview] = []
    for name in sorted({*old, *new}):
        before, after = old.get(name), new.get(name)
        if before and after and before.spec == after.spec:
            continue
        reviews.append(_compare_one(name, before, after))
        on_template()
    return tuple(reviews)


def _compare_one(name: str, old: Source | None, new: Source | None) -> TemplateReview:
    if old is None and new is not None:
        return TemplateReview(name, Status.ADDED, Compatibility.COMPATIBLE, modes=_modes(new))
    if old is None or new is None:  # whoever uses its parser loses it
        return TemplateReview(name, Status.REMOVED, Compatibility.BREAKING)
    return compare_sources(name, old, new)


def compare_sources(name: str, old: Source, new: Source) -> TemplateReview:
    """Compare two specs, each by its own parser."""
    differing = changes(old.spec, new.spec)
    if same_format(old.spec, new.spec):
        compatible = Compatibility.COMPATIBLE
        return TemplateReview(name, Status.CHANGED, compatible, differing, same_turns=True)
    before, after = _format(old), _format(new)
    forward = read_turns(before, after)
    return TemplateReview(
        name,
        Status.CHANGED,
        forward.compatibility,
        differing,
        forward,
        read_turns(after, before),
        _same_turns(old.spec, new.spec),
    )


def same_format(old: Spec, new: Spec) -> bool:
    """Tell whether two specs say the same but for which template they are from."""
    return replace(old, name=new.name, template=new.template, tokens=new.tokens) == new


def _modes(source: Source) -> str:
    tools = source.spec.tools.mode if source.spec.tools else "none"
    return f"reasoning {source.spec.reasoning.mode}, tools {tools}"


def _same_turns(old: Spec, new: Spec) -> bool:
    prompts = [(spec.thinking.prompt_on, spec.thinking.prompt_off) for spec in (old, new)]
    given = [*sample_messages(old), *sample_messages(new)]
    return prompts[0] == prompts[1] and all(
        _written(old, message) == _written(new, message) for message in given
    )


def _written(spec: Spec, message: Message) -> tuple[object, ...]:
    """Return what a model writes, and what a later turn looks like: it may count the calls."""
    return (
        written_input(spec, message, thinking=True),
        written_input(spec, message, thinking=False),
        write_turn(spec, message, calls_before=2),
    )


def _format(source: Source) -> Format:
    """Return a spec with its module; without one of its own it is read by the engine of today."""
    text = source.module
    if text is None or spec_hash(source.spec) not in text:
        return Format(source.spec, load(source.spec))
    return Format(source.spec, load_module(text))
