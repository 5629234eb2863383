"""Whether a spec makes sense as a whole: checks that no single turn shows.

A spec can predict every turn and still be wrong: with thinking on and off exchanged, say. Each
check is a function that yields where it objects, as a path in the spec, and why; `CHECKS` is the
table of all of them. None of them knows a model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from turnspec.spec.problems import Problem
from turnspec.spec.results import Counterexample, RungResult
from turnspec.verification import (
    sanity_ends,
    sanity_limits,
    sanity_parsed,
    sanity_rendered,
    sanity_spec,
    sanity_values,
)
from turnspec.verification.sanity_view import Finding, View

Check = Callable[[View], Iterator[Finding]]

_ALTERED = "the parts explain what the template does with text"

#: Every check, by what it makes sure of.
CHECKS: dict[str, Check] = {
    "thinking on leaves reasoning open or free, off doesn't": sanity_spec.switches,
    "the parts explain every marker of the prompts": sanity_spec.prompt_markers,
    "no variable gives a prompt that they don't explain": sanity_spec.untold_prompts,
    "modes follow from the markers": sanity_spec.modes,
    "parts stand in an order that turns show": sanity_spec.order,
    "nothing separates calls where there is but one": sanity_spec.separators,
    "values are in the simplest encoding that fits": sanity_values.encodings,
    "what is written alike is called ambiguous": sanity_values.alike,
    "capabilities follow from the parts and limits": sanity_spec.capabilities,
    "triggers and preserved tokens follow from the markers": sanity_spec.hints,
    "every turn ends at a stop string, and none holds one": sanity_ends.stops,
    "every turn with calls holds a trigger, and no other": sanity_ends.triggers,
    "every stop string is rendered behind a turn": sanity_ends.shown_stops,
    "the template renders these prompts": sanity_rendered.prompts,
    "words in messages give these prompts": sanity_rendered.words,
    "the header is what prompts and turns begin with": sanity_rendered.header,
    "turns end so before other messages": sanity_rendered.ends,
    "later turns are rendered as the first": sanity_rendered.later,
    "calls are counted so over a conversation": sanity_rendered.index,
    "earlier reasoning is shown so far": sanity_rendered.scope,
    "the template was given these tokens": sanity_rendered.tokens,
    "markers of reasoning that never shows are the template's": (
        sanity_rendered.unrendered_reasoning
    ),
    _ALTERED: sanity_rendered.altered_texts,
    "no content holds a marker of the template": sanity_parsed.leaks,
    "what a value may be is the same for parser and grammar": sanity_parsed.values,
    "what a name may be is the same for parser and grammar": sanity_parsed.names,
    "what is called ambiguous or trimmed is": sanity_limits.limits,
    # The last one, as it asks for what nothing before it has rendered.
    "what answers show under any key is read": sanity_rendered.unknown_texts,
}

#: Checks that object to what may be right all the same: that is told, and isn't a failure.
DOUBTS = frozenset({_ALTERED})


def sanity(view: View) -> tuple[RungResult, tuple[Problem, ...]]:
    """Return how many of the checks found nothing, and everything that the others found."""
    problems: list[Problem] = []
    doubts: list[str] = []
    failed = 0
    example: Counterexample | None = None
    for title, check in CHECKS.items():
        found = list(check(view))
        if title in DOUBTS:
            found = [(path, f"doubtful: {message}") for path, message in found]
            doubts += [message for _, message in found]
        elif found:
            failed += 1
            path, message = found[0]
            example = example or Counterexample(path, title, message)
        problems += (Problem(message, view.spec.name, path=path) for path, message in found)
    passed = len(CHECKS) - failed
    return RungResult(passed, failed, example, "; ".join(doubts)), tuple(problems)
