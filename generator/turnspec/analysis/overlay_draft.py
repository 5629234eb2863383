"""Drafting an overlay from what a prompt says of parts that the template never renders.

Every key is a proposal: what the prompt leaves open stands beside it as a comment to check.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import indent
from typing import Any, cast

from turnspec.analysis.call_examples import find_call_example
from turnspec.analysis.false_witness import find_disagreements, find_misspelling, respelt
from turnspec.analysis.instructions import (
    LISTED,
    Instructions,
    plain_instructions,
    tool_instructions,
)
from turnspec.analysis.overlaid import CALLS_NEVER_RENDERED, overlaid
from turnspec.analysis.source import TemplateSource
from turnspec.analysis.tag_examples import Marker, empty_pairs
from turnspec.analysis.told_limits import NEVER_RENDERED
from turnspec.rendering.conversation import Chat
from turnspec.spec.calls import Literal, Tools
from turnspec.spec.model import Alternatives, OtherMarks, Reasoning, Spec
from turnspec.spec.overlay import OverlayText
from turnspec.spec.plain import spec_to_data
from turnspec.spec.words import Encoding, JsonType, Part, ReasoningMode, ReasoningScope
from turnspec.spec.yaml_text import Text, quoted, yaml_text

#: Ends the name of a draft's file.
DRAFT_SUFFIX = ".overlay-draft.yaml"

_OWN_TEXT = "the template's own text"
_SHORTEST_QUOTE = 8
_LONGEST_EVIDENCE = 1000


@dataclass(frozen=True, slots=True)
class OverlayDraft:
    """A draft's YAML text, the keys in it, and the stretches of the prompt that it is made from."""

    text: str
    keys: tuple[str, ...]
    said: tuple[Instructions, ...]


@dataclass(frozen=True, slots=True)
class _Proposal:
    """A key, why it is proposed, the words that say so, and what a person has to look at."""

    key: str
    reason: str
    evidence: str
    doubts: tuple[str, ...]
    said: Instructions


def draft_overlay(spec: Spec, source: TemplateSource, chat: Chat) -> OverlayDraft | None:
    """Return a draft of what the prompt says and the spec hasn't; None where it says nothing."""
    proposals: list[_Proposal] = []
    if spec.tools is None:
        spec, proposals = _with_calls(spec, chat)
    else:
        spec, proposals = _with_witness(spec, spec.tools, chat)
    if spec.reasoning.mode is ReasoningMode.NONE:
        spec, more = _with_reasoning(spec, chat)
        proposals += more
    if not proposals:
        return None
    body = "".join(_key_text(proposal, spec, source.text) for proposal in proposals)
    identity = {"template": Text(source.file), "sha256": Text(spec.template.sha256)}
    text = f"{yaml_text(identity)}keys:\n{body}"
    said = list({proposal.said.text: proposal.said for proposal in proposals}.values())
    keys = tuple(proposal.key for proposal in proposals)
    return OverlayDraft(_head(source) + text, keys, tuple(said))


def draft_problems(draft: OverlayDraft, spec: Spec, source: TemplateSource) -> list[str]:
    """Return why a draft can't be put over the spec as it is."""
    given = OverlayText(f"{source.name}{DRAFT_SUFFIX}", draft.text)
    found = overlaid(spec, given, source.file, source.text)
    return [str(problem) for problem in found] if isinstance(found, list) else []


def _head(source: TemplateSource) -> str:
    return (
        f"# A draft, made by turnspec from what the prompt of {source.file} says.\n"
        "# Look at every key, above all at what says CHECK; complete it; then move it to\n"
        f"# templates/overlays/{source.name}.yaml, beside the template, and run: turnspec regen\n"
        "# spec/overlay.json in the turnspec package is the manual of this form.\n"
    )


def _with_calls(spec: Spec, chat: Chat) -> tuple[Spec, list[_Proposal]]:
    """Return the spec with calls as the prompt describes them, and the key that says so."""
    found = find_call_example(tool_instructions(chat))
    if found is None:
        return spec, []
    example, said = found
    reason = "The template renders no calls; its prompt says how they are written."
    proposal = _Proposal("tools", reason, example.evidence, example.doubts, said)
    return replace(spec, tools=example.tools), [proposal]


def _with_witness(spec: Spec, tools: Tools, chat: Chat) -> tuple[Spec, list[_Proposal]]:
    """Return the spec with calls as the prompt's example shows them, and the keys that say so."""
    proposals = []
    doubt = "which does the model write, what the prompt shows or what the template renders?"
    arguments = tools.arguments
    for found in find_disagreements(tools, tool_instructions(chat)):
        if found.key.endswith("separator"):
            arguments = replace(arguments, separator=found.value)
        else:
            values = {**arguments.values, JsonType.STRING: Encoding(found.value)}
            arguments = replace(arguments, values=values)
        proposals.append(_Proposal(found.key, found.reason, found.evidence, (doubt,), found.said))
    tools = replace(tools, arguments=arguments)
    misspelt = find_misspelling(spec, tools, tool_instructions(chat))
    if misspelt is not None:
        tools, keys = respelt(tools, misspelt)
        reason = f"The prompt spells it {quoted(misspelt.shown)}, the rendering does not."
        evidence = misspelt.said.text[misspelt.said.text.index(misspelt.shown) :].partition("\n")[0]
        proposals += [_Proposal(key, reason, evidence, (doubt,), misspelt.said) for key in keys]
    return replace(spec, tools=tools), proposals


def _with_reasoning(spec: Spec, chat: Chat) -> tuple[Spec, list[_Proposal]]:
    """Return the spec with the tags that its prompt tells the model to write in, and the keys.

    The first pair is taken for reasoning, as that comes first in a turn; a second one for content.
    """
    for said in plain_instructions(chat):
        pairs = [pair for pair in empty_pairs(said.text) if pair[0].text not in said.without]
        told = [one.text for one in tool_instructions(chat)] if pairs else []
        pairs = [pair for pair in pairs if not _is_of_tools(pair, spec, told)]
        if pairs:
            return _marked(spec, said, pairs)
    return spec, []


def _is_of_tools(pair: tuple[Marker, Marker], spec: Spec, told: Sequence[str]) -> bool:
    """Tell whether a pair of tags stands around calls, or around the tools if there are any."""
    start, end = pair
    tools = spec.tools
    pieces = (tools.section_start, *(it.text for it in tools.call)) if tools else ()
    inner = (text.partition(end.text)[0] for one in told for text in one.split(start.text)[1:])
    return any(start.text in piece for piece in pieces) or any(LISTED in text for text in inner)


def _marked(
    spec: Spec, said: Instructions, pairs: Sequence[tuple[Marker, Marker]]
) -> tuple[Spec, list[_Proposal]]:
    (start, end), *others = pairs
    reasoning = Reasoning(ReasoningMode.TAG_BASED, start.text, end.text, None, ReasoningScope.NONE)
    reason = "The template renders no reasoning; its prompt asks for it between these tags."
    doubt = "do these tags hold reasoning?"
    evidence = _sentence(said.text, start)
    proposals = [_Proposal("reasoning", reason, evidence, (doubt,), said)]
    spec = replace(spec, reasoning=reasoning)
    if others:
        start, end = others[0]
        marks = OtherMarks(Part.CONTENT, (Literal(start.text),), end.text)
        spec = replace(spec, alternatives=Alternatives(marks=(marks,)))
        reason = "The template renders content without tags; its prompt asks for these around it."
        evidence, doubt = _sentence(said.text, start), "do these tags hold the answer?"
        proposals.append(_Proposal("alternatives.marks", reason, evidence, (doubt,), said))
    known = spec.thinking.enabled
    enabled = replace(known, variables={**known.variables, **said.variables})
    if enabled != known:
        spec = replace(spec, thinking=replace(spec.thinking, enabled=enabled))
        reason = "Only with this setting does the prompt ask for reasoning."
        proposals.append(_Proposal("thinking.enabled", reason, proposals[0].evidence, (), said))
    return spec, proposals


def _sentence(text: str, marker: Marker) -> str:
    """Return the sentence or line that a marker stands in."""
    ends = [match.end() for match in re.finditer(r"\n|[.!?](?=\s)", text)]
    start = max((end for end in ends if end <= marker.start), default=0)
    return text[start : min((end for end in ends if end > marker.start), default=len(text))]


def _key_text(proposal: _Proposal, spec: Spec, template: str) -> str:
    value: Any = spec_to_data(spec)
    for step in proposal.key.split("."):
        value = cast("Mapping[str, object]", value)[step]
    entry = {
        "value": value,
        "reason": Text(proposal.reason),
        "source": Text(_OWN_TEXT),
        "quote": Text(_quote(proposal.evidence, template)),
    }
    if not entry["quote"]:
        del entry["quote"]
    lines = "".join(f"# CHECK: {doubt}\n" for doubt in proposal.doubts) + yaml_text(entry)
    return f"  - key: {proposal.key}\n" + indent(lines, "    ")


def _quote(evidence: str, template: str) -> str:
    """Return the longest stretch of whole words that stands in the template as it was rendered.

    A template's own text has escapes where its rendering has line breaks and quotes.
    """
    words = re.findall(r"\w+|\s+|[^\w\s]", evidence[:_LONGEST_EVIDENCE])
    best = ""
    start, end = 0, 1
    while end <= len(words):
        stretch = "".join(words[start:end])
        if stretch in template:
            best, end = stretch, end + 1
        else:
            start, end = start + 1, end + 1
    quote = best.strip()
    return quote if len(quote) >= _SHORTEST_QUOTE else ""


@dataclass(frozen=True, slots=True)
class Advice:
    """What wasn't found, in words; a draft of an overlay, and why it can't be applied as it is."""

    missing: tuple[str, ...]
    draft: OverlayDraft | None = None
    draft_problems: tuple[str, ...] = ()


def advise(spec: Spec, source: TemplateSource, chat: Chat) -> Advice:
    """Return what isn't in a spec, and how an overlay could say it; ``chat`` has no settings."""
    draft = draft_overlay(spec, source, chat)
    problems = draft_problems(draft, spec, source) if draft else []
    return Advice(tuple(_missing(spec)), draft, tuple(problems))


def _missing(spec: Spec) -> Iterator[str]:
    if spec.reasoning.mode is ReasoningMode.NONE:
        yield "reasoning markers"
    elif NEVER_RENDERED in spec.limits:
        yield "reasoning in a rendered message"
    if spec.tools is None:
        yield "calls"
    elif CALLS_NEVER_RENDERED in spec.limits:
        yield "calls in a rendered message"
    elif not spec.capabilities.parallel_calls:
        yield "more than one call in a turn"
    if spec.tools is not None and not spec.grammar.triggers:
        yield "a text that starts a call for certain"
    if not spec.turn.stop:
        yield "a text that ends the turn"
