"""Sanity of a spec by itself: whether its parts fit each other, and explain all prompts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from turnspec.analysis.assemble import grammar_hints
from turnspec.analysis.modes import content_mode, marks_of_prompt, reasoning_mode
from turnspec.spec.conditions import parts_of_message
from turnspec.spec.prompt_state import PromptState
from turnspec.spec.turn_end import may_repeat_calls
from turnspec.spec.words import Condition, Part, ReasoningMode, Subject, Verdict
from turnspec.spec.yaml_text import quoted
from turnspec.verification import prompts
from turnspec.verification.messages import sample_messages
from turnspec.verification.sanity_view import Finding, View, listed
from turnspec.verification.turns import expected_message, prompt_leaves


def switches(view: View) -> Iterator[Finding]:
    """The prompt that enables thinking leaves reasoning open or free, the other one doesn't."""
    enabled, disabled = (view.spec.thinking.state(enable).prompt for enable in (True, False))
    states = (True, False, None)
    on, off, usual = (prompt_leaves(view.spec, thinking=thinking) for thinking in states)
    if view.spec.reasoning.mode is ReasoningMode.NONE:
        return
    if on is PromptState.CLOSED and usual is not PromptState.CLOSED:
        yield "thinking.enabled.prompt", f"closes reasoning: {quoted(enabled)}"
    if enabled == disabled:
        return
    if off is PromptState.OPEN:
        yield "thinking.disabled.prompt", f"opens reasoning: {quoted(disabled)}"
    elif off >= on:
        told = f"leaves reasoning as that of enabled does: {off.name.lower()}"
        yield "thinking.disabled.prompt", told


def prompt_markers(view: View) -> Iterator[Finding]:
    """Every marker that a prompt holds behind the header is one of the format's."""
    off = view.spec.thinking.disabled.prompt
    for path, prompt in prompts.prompts_of(view.spec.thinking):
        if marks_of_prompt(view.spec, prompt):
            continue  # that is told
        for marker in prompts.unexplained(view.spec, prompt):
            if prompt == off and not prompts.may_open_thought(view.spec, view.chat, marker):
                continue  # it says in its own way that there is no thought
            yield path, f"no part explains the marker {quoted(marker)} in it"


def untold_prompts(view: View) -> Iterator[Finding]:
    """No prompt, whatever is set, has a header or a marker of which the spec says nothing."""
    if not view.spec.thinking.default.prompt:
        both = (view.chat.prompt(add_generation_prompt=it) for it in (True, False))
        prompt, bare = (rendering.text or "" for rendering in both)
        added = prompt.removeprefix(bare).strip()
        if not view.spec.turn.header.strip().endswith(added):  # nor as the end of all turns' header
            yield "thinking.default.prompt", f"no turn begins as the prompt does: {quoted(added)}"
    for told, may_open in prompts.unexplained_prompts(view.spec, view.chat):
        if may_open:  # else the witness tells it
            yield "thinking", f"{told}, which no part explains"


def modes(view: View) -> Iterator[Finding]:
    """The modes say of the markers what is so."""
    spec = view.spec
    keys = {key.split(".")[0] for key in spec.overlay}
    reasoning = reasoning_mode(
        spec.reasoning.start,
        spec.reasoning.end,
        prompt_leaves(view.spec, thinking=True),
        spec.thinking.disabled.prompt.removeprefix(spec.turn.header),
        spec.limits,
        shown=Part.REASONING in spec.turn.order,
    )
    content = content_mode(spec.content.start, spec.content.end, spec.turn.joins, spec.turn.header)
    if "reasoning" not in keys and reasoning is not spec.reasoning.mode:
        yield "reasoning.mode", f"is {spec.reasoning.mode}, but the markers are {reasoning}"
    if "content" not in keys and content is not spec.content.mode:
        yield "content.mode", f"is {spec.content.mode}, but the markers are {content}"
    if (spec.reasoning.field is None) != (spec.reasoning.scope == "none"):
        yield "reasoning.scope", f"is {spec.reasoning.scope}, but field is {spec.reasoning.field}"


def order(view: View) -> Iterator[Finding]:
    """Parts that no turn shows together stand in the usual order, which says nothing."""
    spec = view.spec
    shown = [parts_of_message(expected_message(spec, m)) for m in sample_messages(spec)]
    usual = [part for part in Part if part in spec.turn.order]
    for left, right in pairwise(spec.turn.order):
        together = any({left, right} <= parts for parts in shown)
        if not together and usual.index(left) > usual.index(right):
            yield "turn.order", f"no turn shows both {left} and {right}"


def separators(view: View) -> Iterator[Finding]:
    """Nothing stands between calls where no turn has several."""
    tools = view.spec.tools
    if tools and tools.separator.strip() and not may_repeat_calls(view.spec):
        yield "tools.separator", f"is {quoted(tools.separator)}, but no turn has two calls"


def capabilities(view: View) -> Iterator[Finding]:
    """What the template accepts agrees with what it renders."""
    spec = view.spec
    found = {(limit.subject, limit.verdict, limit.when) for limit in spec.limits}
    never = (Subject.CALLS, Verdict.DROPS, Condition.ALWAYS) in found
    several = not any(subject is Subject.FURTHER_CALLS for subject, _, _ in found)
    calls = spec.tools is not None and not never
    beside = (Subject.CONTENT, Verdict.DROPS, Condition.WITH_CALLS) not in found
    wanted = {"tool_calls": calls, "parallel_calls": calls and several}
    if calls:
        wanted["content_beside_calls"] = beside
    for key, value in wanted.items():
        if getattr(spec.capabilities, key) is not value:
            yield f"capabilities.{key}", f"is {str(not value).lower()}; the format says otherwise"


def hints(view: View) -> Iterator[Finding]:
    """Triggers and preserved tokens are those that follow from the markers."""
    spec = view.spec
    if any(key.split(".")[0] == "grammar" for key in spec.overlay):
        return
    wanted = grammar_hints(spec)
    for key in ("triggers", "preserved_tokens"):
        shown, follow = getattr(spec.grammar, key), getattr(wanted, key)
        if set(shown) != set(follow):
            yield f"grammar.{key}", f"are {listed(shown)}; the markers give {listed(follow)}"
