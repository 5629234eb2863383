"""Whether a template thinks where it did, for whoever sets nothing and for whoever sets a variable.

A parser may read both states rightly, and still an application gets other messages: answers
without the reasoning that it shows, or reasoning that it pays for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from turnspec.review.rules import RULES, Finding
from turnspec.spec.model import Spec, ThinkingState
from turnspec.spec.words import ReasoningMode

_SAID = {True: "thinking", False: "no thinking", None: "left to the model"}


def switch_findings(old: Spec, new: Spec) -> Iterator[Finding]:
    """Yield where thinking is another if nothing, or what switched it before, is set."""
    given = [state for state in (old.thinking.enabled, old.thinking.disabled) if state.variables]
    both_switch = _has_switch(old) and _has_switch(new)
    for before in (old.thinking.default, *given):
        after = _state(new, before.variables)
        was, now = _thinks(old, before, both_switch), _thinks(new, after, both_switch)
        # The same prompt makes a model do the same, whatever else there is to set now.
        if was != now and before.prompt != after.prompt:
            rule = "thinking-switch-flipped" if before.variables else "thinking-default-flipped"
            given_by = json.dumps(dict(before.variables), sort_keys=True)
            told = f" with {given_by}" if before.variables else ""
            yield Finding(RULES[rule], f"{_SAID[was]} → {_SAID[now]}{told}")
    kept = {(word.word, word.switches) for word in new.thinking.words}
    for word in old.thinking.words:
        if (word.word, word.switches) not in kept:
            said = f"{json.dumps(word.word)} in a message switches it no more ({word.switches})"
            yield Finding(RULES["thinking-switch-flipped"], said)


def _state(spec: Spec, variables: Mapping[str, object]) -> ThinkingState:
    """Return the state that variables give; those that a template doesn't read change nothing."""
    for state in (spec.thinking.enabled, spec.thinking.disabled):
        if state.variables and state.variables.items() <= variables.items():
            return state
    return spec.thinking.default


def _has_switch(spec: Spec) -> bool:
    return spec.thinking.enabled.prompt != spec.thinking.disabled.prompt


def _thinks(spec: Spec, state: ThinkingState, both_switch: bool) -> bool | None:
    """Say whether the model is to think, with None where that is left to it.

    Only beside another spec with a switch that can be told from being asked to think.
    """
    if spec.reasoning.mode is ReasoningMode.NONE:
        return False
    if state.prompt == spec.thinking.disabled.prompt:
        return not _has_switch(spec)
    return None if both_switch and state.prompt != spec.thinking.enabled.prompt else True
