"""Putting what the comparisons found together into a spec."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from turnspec.analysis.arguments import ArgumentsFinding
from turnspec.analysis.calls import call_id_position, find_fields, tool_mode
from turnspec.analysis.dialect import probe_capabilities
from turnspec.analysis.empty_call import with_empty_call
from turnspec.analysis.false_witness import with_spelling_of_prompt
from turnspec.analysis.findings import Derivation, shown_pieces
from turnspec.analysis.frames import Frames
from turnspec.analysis.instructions import tool_instructions
from turnspec.analysis.layout import Layout
from turnspec.analysis.limits import find_limits
from turnspec.analysis.modes import content_mode, marks_of_prompt, reasoning_mode
from turnspec.analysis.parts import Wrapping
from turnspec.analysis.prefix import find_broken_prefix
from turnspec.analysis.probes import probe_message
from turnspec.analysis.source import TemplateSource
from turnspec.analysis.text import distinct_beginning, markers
from turnspec.analysis.thinking import Setting, find_scope
from turnspec.rendering.conversation import Chat
from turnspec.spec.characters import is_lone_sign, left_open
from turnspec.spec.model import (
    Alternatives,
    Condition,
    Content,
    Fields,
    Grammar,
    IndexScope,
    Limit,
    Literal,
    OtherMarks,
    Part,
    Piece,
    Reasoning,
    ReasoningMode,
    ReasoningScope,
    Slot,
    SlotKind,
    Spec,
    Subject,
    SwitchWord,
    TemplateIdentity,
    Thinking,
    ThinkingState,
    Token,
    TokenSource,
    Tools,
    Turn,
    Verdict,
)
from turnspec.spec.prompt_state import PromptState, prompt_state
from turnspec.spec.turn_end import settled_stops, stop_strings
from turnspec.spec.visible import shortened

#: The usual texts of special tokens, where nobody says what they are.
ASSUMED_TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}


def _told(subject: Subject, reason: str) -> Limit:
    return Limit(subject, Verdict.TOLD, Condition.ALWAYS, reason)


#: Reasoning is part of the format, but the template strips it from every message.
NEVER_RENDERED = Limit(
    Subject.REASONING, Verdict.DROPS, Condition.ALWAYS, "never rendered in a message"
)

#: Reasoning has no opening marker, so a turn that has no closing one may be all reasoning.
UNMARKED = Limit(
    Subject.REASONING,
    Verdict.AMBIGUOUS,
    Condition.WITHOUT_REASONING,
    "no marker tells a turn without reasoning from unfinished reasoning",
)

#: A prompt opens reasoning, and nothing in the template says what closes it.
ASSUMED_END = _told(
    Subject.REASONING,
    "a prompt opens it and nothing closes it; its end is assumed, an overlay can say it",
)

#: Where reasoning ends nobody could tell.
READ_AS_CONTENT = _told(
    Subject.REASONING,
    "nothing but white space marks its end, so it is read as content; an overlay can say more",
)

#: Reasoning is stripped up to a marker. Read from the turn's start it would be all of most turns.
_UNOPENED = (
    "the template strips text up to {!r} and nothing shows what opens that, so it is read as "
    "content; an overlay can say more"
)

#: The prompt's own marks are no part of what the model writes.
_PROMPTED = "the prompt ends in {!r}, which no turn shows; what the model writes begins behind it"

#: Models end with what ends a conversation, so behind it they write nothing.
_TAILED = "every prompt ends in {!r}, too, which has to be left out before the model goes on"

#: What a prompt says of reasoning depends on whether tools are given.
PROMPTED_BY_TOOLS = _told(
    Subject.REASONING,
    "without tools the prompt leaves it open or closed otherwise; the prefill has to say it then",
)

#: A call's name is what its id says, which only the tools' names tell.
NAMED_BY_ID = Limit(
    Subject.CALL_ID,
    Verdict.AMBIGUOUS,
    Condition.ALWAYS,
    "a call shows its id alone; its name is that of the tool that stands in it, or all of it",
)

#: A message with calls may want something that no probe has, or the model calls nothing.
_REFUSED = "a message with some is refused: {}"
_LONGEST_ERROR = 120  # characters

#: Nothing stands before a call's name.
SHOWN_BY_NAME = _told(
    Subject.CALLS,
    "a call begins with its name, and is one only where the parser is given the tools",
)

#: Each call holds what other templates render before all calls.
_WITHIN = "it stands within each call; if that is an object, a parser tells it as an unknown field"
WITHIN_CALLS = (
    (Part.REASONING, _told(Subject.REASONING, _WITHIN)),
    (Part.CONTENT, Limit(Subject.CONTENT, Verdict.AMBIGUOUS, Condition.WITH_CALLS, _WITHIN)),
)

#: A template forgets to close what each of its calls opens.
LEFT_OPEN = _told(
    Subject.CALLS,
    "a call opens a bracket that nothing closes; calls that close it are read as well",
)


@dataclass(frozen=True, slots=True)
class Facts:
    """All that was found.

    Nothing is set in ``default``; ``on`` and ``off`` enable and disable thinking, ``others`` are
    what else can be set. ``chat`` speaks
    in the template's dialect under ``on``, ``prompt_state`` is where the prompt of ``on`` leaves
    reasoning, ``reasoning`` what surrounds it, rendered or not, ``other_marks`` what else may;
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


def assemble_spec(facts: Facts, derivation: Derivation) -> Spec:
    """Put everything found into a spec."""
    shown = Part.REASONING in facts.layout.order
    layout = facts.layout
    if not shown:
        layout = layout.without_reasoning(facts.reasoning.end.strip())
    limits = find_limits(facts.frames, facts.chat, facts.max_calls) + facts.arguments.limits
    reasoning = _reasoning(facts, limits, derivation)
    order = layout.order
    if reasoning.mode is not ReasoningMode.NONE and not shown:
        order = (Part.REASONING, *order)
        limits += (NEVER_RENDERED,)
        if reasoning.end.strip() not in facts.chat.source:
            limits += (ASSUMED_END,)
    is_open = reasoning.mode is ReasoningMode.DELIMITER and shown and not _closes_absent(layout)
    if is_open and not layout.content.start.strip():
        limits += (UNMARKED,)
    if facts.is_unended:
        limits += (READ_AS_CONTENT,)
    if facts.unopened and reasoning.mode is ReasoningMode.NONE:
        limits += (_told(Subject.REASONING, _UNOPENED.format(facts.unopened)),)
    limits += tuple(limit for part, limit in WITHIN_CALLS if part in facts.within_calls)
    rests = map(layout.prompt_rest, (facts.default.prompt, facts.default.bare))
    if len({prompt_state(it, facts.reasoning.start, facts.reasoning.end) for it in rests}) > 1:
        limits += (PROMPTED_BY_TOOLS,)
    if tail := facts.chat.dialect.tail:
        limits += (_told(Subject.CONTENT, _TAILED.format(tail)),)
    if error := _refusal_of_calls(facts):
        limits += (_told(Subject.CALLS, _REFUSED.format(error)),)
    if facts.chat.dialect.named_ids and facts.layout.calls is not None:
        limits += (NAMED_BY_ID,)
    spec = Spec(
        name=facts.source.name,
        template=_identity(facts.source),
        tokens=_tokens(facts.source, facts.chat),
        capabilities=replace(
            probe_capabilities(facts.chat, facts.max_calls),
            prefix_broken_by=find_broken_prefix(
                facts.chat.using(facts.default.variables), with_calls=facts.max_calls > 0
            ),
        ),
        thinking=_thinking(facts),
        turn=Turn(
            header=layout.header.header,
            order=order,
            joins=layout.joins,
            ends=layout.ends,
            stop=layout.stop,
            calls_decide_end=layout.calls_decide_end,
        ),
        reasoning=reasoning,
        content=Content(
            mode=content_mode(
                *(layout.content.start, layout.content.end),
                *(layout.joins, layout.header.header),
            ),
            start=layout.content.start,
            end=layout.content.end,
        ),
        tools=_tools(facts, derivation),
        limits=limits,
        grammar=Grammar((), ()),
        alternatives=Alternatives(
            marks=tuple(
                OtherMarks(part, (Literal(marks.start),), marks.end)
                for part, found in (
                    (Part.REASONING, facts.other_marks),
                    (Part.CONTENT, facts.content_marks),
                )
                for marks in found
            )
        ),
    )
    if spec.named_lines:
        spec = replace(spec, limits=(*limits, SHOWN_BY_NAME))
    if own := marks_of_prompt(spec, spec.thinking.default.prompt):
        spec = replace(spec, limits=(*spec.limits, _told(Subject.CONTENT, _PROMPTED.format(own))))
    if spec.tools is not None and left_open(spec.tools):
        spec = replace(spec, limits=(*spec.limits, LEFT_OPEN))
    if spec.tools is not None:
        spec = with_spelling_of_prompt(spec, tool_instructions(facts.chat))
    settled = with_stops(replace(spec, grammar=grammar_hints(spec)))
    return _with_stops_of_calls(settled, facts.layout.behind_calls, facts.other_ends)


def _refusal_of_calls(facts: Facts) -> str:
    """Return why a template takes no message with calls, be there content or not; "" if it does."""
    beside = (probe_message(calls=1), probe_message(content=True, calls=1))
    shown = [facts.chat.turn(message) for message in beside * (facts.layout.calls is None)]
    is_refused = bool(shown) and all(it.text is None for it in shown)
    return shortened(shown[0].error, _LONGEST_ERROR) if is_refused else ""


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


def _identity(source: TemplateSource) -> TemplateIdentity:
    digest = hashlib.sha256(source.text.encode()).hexdigest()
    return TemplateIdentity(file=source.file, sha256=digest, origin=source.origin)


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


def _closes_absent(layout: Layout) -> bool:
    """Tell whether turns without reasoning begin with what closes it."""
    starts = [
        join.text
        for join in layout.joins
        if join.left is Part.START and join.right is not Part.REASONING
    ]
    return bool(starts) and all(layout.reasoning.end.strip() in text for text in starts)


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
