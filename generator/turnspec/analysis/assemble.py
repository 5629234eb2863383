"""Putting what the comparisons found together into a spec."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from turnspec.analysis.calls import call_id_position, find_fields, tool_mode
from turnspec.analysis.dialect import probe_capabilities
from turnspec.analysis.empty_call import with_empty_call
from turnspec.analysis.facts import Facts
from turnspec.analysis.false_witness import with_spelling_of_prompt
from turnspec.analysis.findings import Derivation, shown_pieces
from turnspec.analysis.instructions import tool_instructions
from turnspec.analysis.layout import Layout
from turnspec.analysis.limits import find_limits
from turnspec.analysis.modes import content_mode, reasoning_mode
from turnspec.analysis.prefix import find_broken_prefix
from turnspec.analysis.probes import probe_message
from turnspec.analysis.source import TemplateSource
from turnspec.analysis.text import distinct_beginning, markers
from turnspec.analysis.thinking import find_scope
from turnspec.analysis.told_limits import told_of_findings, told_of_spec
from turnspec.rendering.conversation import Chat
from turnspec.spec.calls import Fields, Literal, Piece, Slot, Tools
from turnspec.spec.characters import is_lone_sign
from turnspec.spec.model import (
    Alternatives,
    Capabilities,
    Content,
    Grammar,
    Limit,
    OtherMarks,
    Reasoning,
    Spec,
    TemplateIdentity,
    Thinking,
    ThinkingState,
    Token,
    Turn,
)
from turnspec.spec.turn_end import settled_stops, stop_strings
from turnspec.spec.words import (
    IndexScope,
    Part,
    ReasoningMode,
    ReasoningScope,
    SlotKind,
    TokenSource,
)

#: The usual texts of special tokens, where nobody says what they are.
ASSUMED_TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}


def assemble_spec(facts: Facts, derivation: Derivation) -> Spec:
    """Put everything found into a spec."""
    layout = facts.layout
    if Part.REASONING not in layout.order:
        layout = layout.without_reasoning(facts.reasoning.end.strip())
    limits = find_limits(facts.frames, facts.chat, facts.max_calls) + facts.arguments.limits
    reasoning = _reasoning(facts, limits, derivation)
    digest = hashlib.sha256(facts.source.text.encode()).hexdigest()
    spec = Spec(
        name=facts.source.name,
        template=TemplateIdentity(facts.source.file, digest, facts.source.origin),
        tokens=_tokens(facts.source, facts.chat),
        capabilities=_capabilities(facts),
        thinking=_thinking(facts),
        turn=_turn(layout, reasoning),
        reasoning=reasoning,
        content=_content(layout),
        tools=_tools(facts, derivation),
        limits=(*limits, *told_of_findings(facts, layout, reasoning)),
        grammar=Grammar((), ()),
        alternatives=_alternatives(facts),
    )
    spec = replace(spec, limits=(*spec.limits, *told_of_spec(spec)))
    if spec.tools is not None:
        spec = with_spelling_of_prompt(spec, tool_instructions(facts.chat))
    settled = with_stops(replace(spec, grammar=grammar_hints(spec)))
    return _with_stops_of_calls(settled, facts.layout.behind_calls, facts.other_ends)


def _capabilities(facts: Facts) -> Capabilities:
    chat = facts.chat.using(facts.default.variables)
    return replace(
        probe_capabilities(facts.chat, facts.max_calls),
        prefix_broken_by=find_broken_prefix(chat, with_calls=facts.max_calls > 0),
    )


def _turn(layout: Layout, reasoning: Reasoning) -> Turn:
    order = layout.order
    if reasoning.mode is not ReasoningMode.NONE and Part.REASONING not in order:
        order = (Part.REASONING, *order)  # it is written, and never rendered
    return Turn(
        header=layout.header.header,
        order=order,
        joins=layout.joins,
        ends=layout.ends,
        stop=layout.stop,
        calls_decide_end=layout.calls_decide_end,
    )


def _content(layout: Layout) -> Content:
    start, end = layout.content.start, layout.content.end
    return Content(content_mode(start, end, layout.joins, layout.header.header), start, end)


def _alternatives(facts: Facts) -> Alternatives:
    found = ((Part.REASONING, facts.other_marks), (Part.CONTENT, facts.content_marks))
    return Alternatives(
        marks=tuple(
            OtherMarks(part, (Literal(marks.start),), marks.end)
            for part, others in found
            for marks in others
        )
    )


def _with_stops_of_calls(spec: Spec, behind: Sequence[str], others: Sequence[str]) -> Spec:
    """Return the spec with the header that follows calls as a stop string, where they need one.

    ``others`` are further ends. ``behind`` are the texts from the last call's end up to a tool's
    answer. Some templates write no end there, and leave it to the model. Where such a header begins
    as the assistant's does, the last marker of the calls themselves stops them.
    """
    if spec.tools is None:
        return spec
    ending = spec.tools.call[-1].text
    inside = [spec.turn.header, spec.reasoning.start, spec.reasoning.end, spec.content.start]
    inside += [join.text for join in spec.turn.joins]
    inside += [spec.tools.section_start, spec.tools.call[0].text]
    stops = list(spec.turn.stop)
    for text in behind:
        if not any(stop in ending + text for stop in stop_strings(spec)):
            rest = text.strip().removeprefix(spec.tools.section_end.strip())
            own = [m for m in markers(spec.tools.section_end) if not any(m in x for x in inside)]
            is_told = markers(rest) or rest.endswith(":")  # else it may be a result's own text
            words = rest if is_told and not any(rest in x for x in inside) else ""
            stops.append(distinct_beginning(rest.strip(), inside) or "".join(own[-1:]) or words)
    stops += (end for end in others if not any(end in text for text in inside))
    found = tuple(dict.fromkeys(filter(None, stops)))
    return replace(spec, turn=replace(spec.turn, stop=found))


def with_stops(spec: Spec) -> Spec:
    """Return the spec with its stop strings as they follow from all else that is in it."""
    return replace(spec, turn=replace(spec.turn, stop=settled_stops(spec)))


def _thinking(facts: Facts) -> Thinking:
    layout = facts.layout
    default, enabled, disabled, *others = (
        ThinkingState(
            layout.generation_prompt(one.prompt), one.variables, layout.before_header(one.prompt)
        )
        for one in (facts.default, facts.on, facts.off, *facts.others)
    )
    known = {state.prompt for state in (default, enabled, disabled)}
    found = {state.prompt: state for state in reversed(others) if state.prompt not in known}
    return Thinking(default, enabled, disabled, facts.words, tuple(reversed(found.values())))


def _reasoning(facts: Facts, limits: Sequence[Limit], derivation: Derivation) -> Reasoning:
    shown = Part.REASONING in facts.layout.order
    start, end = facts.reasoning.start, facts.reasoning.end
    prompt_off = facts.layout.prompt_rest(facts.off.prompt)
    return Reasoning(
        mode=reasoning_mode(start, end, facts.prompt_state, prompt_off, limits, shown=shown),
        start=start,
        end=end,
        field=facts.chat.dialect.reasoning_field if shown else None,
        blocks=facts.chat.dialect.blocks if shown else None,
        call_field=facts.chat.dialect.call_reasoning_field if shown else None,
        scope=find_scope(facts.chat, derivation) if shown else ReasoningScope.NONE,
    )


def _tools(facts: Facts, derivation: Derivation) -> Tools | None:
    calls, arguments = facts.layout.calls, facts.arguments.arguments
    if calls is None:
        return None
    fields = find_fields(calls.call, arguments)
    derivation.note("T3", f"a call is {shown_pieces(calls.call)}")
    tools = Tools(
        mode=tool_mode(fields, arguments),
        section_start=facts.layout.section.start,
        call=calls.call,
        separator=calls.repetition.separator,
        section_end=facts.layout.section.end,
        arguments=arguments,
        fields=fields or Fields(),
        call_id=call_id_position(calls.call),
        index_base=calls.index_base,
        index_scope=_index_scope(facts.chat, calls.call),
        after_first=facts.layout.after_first,
    )
    return with_empty_call(tools, facts.chat, derivation)


def _index_scope(chat: Chat, call: Sequence[Piece]) -> IndexScope | None:
    """Tell whether a running index starts again in each turn."""
    if Slot(SlotKind.INDEX) not in call:
        return None
    message = probe_message(calls=1)
    first = chat.turn(message).text
    later = chat.turn(message, earlier=[message]).text
    return IndexScope.TURN if first == later else IndexScope.CONVERSATION


def _tokens(source: TemplateSource, chat: Chat) -> dict[str, Token]:
    """Return the special tokens that the template refers to."""
    return {
        name: Token(
            source.tokens.get(name, text),
            TokenSource.GIVEN if name in source.tokens else TokenSource.ASSUMED,
        )
        for name, text in ASSUMED_TOKENS.items()
        if name in chat.facts.reads
    }


def grammar_hints(spec: Spec) -> Grammar:
    """Return what starts a call (the triggers), and the markers that must stay whole."""
    triggers: tuple[str, ...] = ()
    texts = [
        spec.reasoning.start,
        spec.reasoning.end,
        spec.content.start,
        spec.content.end,
        *(join.text for join in spec.turn.joins),
    ]
    if spec.tools is not None:
        opening = spec.tools.section_start + spec.tools.call[0].text
        last = [end for end in spec.turn.ends if end.last in (Part.CONTENT, Part.CALLS)]
        ends = [text for end in last for text in (end.final, end.followed)]
        found = distinct_beginning(opening.strip(), [*texts, *ends])
        # Any text may hold these.
        is_plain = is_lone_sign(found) or found.isalnum() or found == "<"
        triggers = (found,) if found and not is_plain else ()
        pieces = (*spec.tools.call, *spec.tools.arguments.item)
        texts += [spec.tools.section_start, *spec.tools.section_ends]
        texts += [piece.text for piece in pieces]
    preserved = [marker for text in texts for marker in markers(text)]
    return Grammar(triggers, tuple(dict.fromkeys(preserved)))
