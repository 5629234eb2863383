"""From one template's text to its spec: all comparisons, in the order in which they build up.

1. dialect and switches: in which form, and under which setting, the template shows most;
2. frames: every combination of parts, cut at the needles (R1, C1, T1);
3. calls and arguments (T2 to T7, A1, A2);
4. header, starts, ends, joins and turn ends, from the table of edges;
5. modes and limits.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from generator.analysis import thinking
from generator.analysis.arguments import ArgumentsFinding, analyze_object, analyze_tagged
from generator.analysis.calls import call_id_position, find_fields, tool_mode
from generator.analysis.dialect import (
    call_limit,
    find_dialect,
    find_reasoning_field,
    probe_capabilities,
)
from generator.analysis.findings import Derivation, Finding
from generator.analysis.frames import Frames, collect_frames
from generator.analysis.layout import Layout, find_layout
from generator.analysis.limits import find_limits, relabel_moved
from generator.analysis.modes import content_mode, reasoning_mode
from generator.analysis.parts import Wrapping
from generator.analysis.probes import (
    CONTENT,
    IDS,
    KEYS,
    NAMES,
    TokenKind,
    find_object,
    find_tokens,
    probe_call,
    probe_message,
)
from generator.analysis.stripped import find_stripped
from generator.analysis.text import distinct_beginning, markers
from generator.analysis.thinking import Setting, find_scope
from generator.rendering.conversation import Chat, Dialect
from generator.rendering.variables import refers_to, switch_values
from generator.rendering.worker import RenderWorker
from generator.spec.message import Call, Message
from generator.spec.model import (
    Arguments,
    Condition,
    Content,
    Fields,
    Grammar,
    IndexScope,
    Limit,
    Literal,
    Part,
    Piece,
    Reasoning,
    ReasoningMode,
    ReasoningScope,
    Slot,
    SlotKind,
    Spec,
    Subject,
    TemplateIdentity,
    Thinking,
    Token,
    TokenSource,
    Tools,
    Turn,
    Verdict,
)
from generator.spec.problems import Problem

#: The usual texts of special tokens, where nobody says what they are.
ASSUMED_TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}


@dataclass(frozen=True, slots=True)
class TemplateSource:
    """A template to analyse: its name, text, identity, and the special tokens known for it."""

    name: str
    text: str
    file: str
    origin: str
    tokens: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Analysis:
    """What came of it: the spec (None where there is none), findings, and problems.

    ``dialect`` is the form of messages in which the template was spoken to.
    """

    spec: Spec | None
    dialect: Dialect
    findings: tuple[Finding, ...]
    problems: tuple[Problem, ...]


def analyze_template(source: TemplateSource, worker: RenderWorker) -> Analysis:
    """Find a template's format by rendering it in ``worker``."""
    derivation = Derivation()
    tokens = {**ASSUMED_TOKENS, **source.tokens}
    chat = Chat(worker, source.text, tokens)
    problem = _unusable(chat, source.file)
    if problem is not None:
        return Analysis(None, chat.dialect, (), (problem,))
    analyzer = _Analyzer(source, chat, derivation)
    spec = analyzer.run()
    failure = worker.failure(source.text)
    if failure is not None:  # some message sends the template over a limit
        spec, problem = None, Problem(failure.error, file=source.file, line=failure.line)
    elif spec is None:
        problem = Problem("no assistant turn is rendered", file=source.file)
    problems = (problem,) if problem else ()
    return Analysis(spec, analyzer.chat.dialect, tuple(derivation.findings), problems)


def _unusable(chat: Chat, file: str) -> Problem | None:
    """Return why nothing can be rendered at all, or None."""
    message = Message(content=CONTENT)
    rendering = chat.turn(message)
    if rendering.text is None and not rendering.fatal:
        rendering = chat.speaking(replace(chat.dialect, give_tools=False)).turn(message)
    if rendering.text is None:
        return Problem(rendering.error, file=file, line=rendering.line)
    if CONTENT not in rendering.text:
        return Problem("the template renders no assistant content", file=file)
    return None


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


class _Analyzer:
    """One run over one template; each step keeps what later ones need."""

    def __init__(self, source: TemplateSource, chat: Chat, derivation: Derivation) -> None:
        self.source = source
        self.chat = chat
        self.derivation = derivation
        self.max_calls = 0
        self.arguments = ArgumentsFinding(Arguments(), "", "", ())

    def run(self) -> Spec | None:
        """Take all steps; None where no turn can be made out."""
        self._find_dialect()
        settings = thinking.collect_settings(self.chat)
        if not settings:
            return None
        self.max_calls = call_limit(self.chat)
        self._find_arguments()
        on = thinking.choose_on(settings)
        frames, layout = self._lay_out(on, settings)
        prompted = [setting for setting in settings if layout.generation_prompt(setting.prompt)]
        settings = prompted if on in prompted else settings
        states = self._prompt_states(layout, settings)
        better = thinking.choose_better_on(settings, on, states)
        if better is not on:
            on = better
            frames, layout = self._lay_out(on, settings)
        off = thinking.choose_off(settings, on, states)
        return self._build(frames, layout, _Switch(on, off, states[settings.index(on)]))

    def _find_dialect(self) -> None:
        dialect = find_dialect(self.chat, self.derivation)
        self.chat = self.chat.speaking(dialect)
        field = find_reasoning_field(self.chat)
        if field is None:
            for name, values in switch_values(self.chat.source).items():
                for value in values:
                    field = field or find_reasoning_field(self.chat.using({name: value}))
        self.derivation.note("R1", f"reasoning is read from {field}")
        self.chat = self.chat.speaking(replace(dialect, reasoning_field=field))

    def _find_arguments(self) -> None:
        """T4 to T6 on a turn with one call."""
        if not self.max_calls:
            return
        text, heads = self._render_arguments(probe_call(0).arguments)
        if text is None:
            return
        span = find_object(text, probe_call(0).arguments, KEYS[0])
        if span is None:
            found = analyze_tagged(
                lambda given: self._render_arguments(given, heads)[0], self.derivation
            )
        else:
            found = analyze_object(
                lambda given: self._render_arguments(given, heads)[0],
                text[: span[0]],
                text[span[1] :],
                self.derivation,
            )
        self.arguments = found or self.arguments

    def _render_arguments(
        self, arguments: Mapping[str, object], heads: int | None = None
    ) -> tuple[str | None, int]:
        """Render one call; return the text behind its last slot before the arguments.

        ``heads`` is how many slots stand there, found with arguments that are needles themselves.
        """
        call = Call(NAMES[0], arguments, IDS[0])
        text = self.chat.turn(Message(calls=(call,))).text
        if text is None or NAMES[0] not in text:
            text = self.chat.turn(Message(content=CONTENT, calls=(call,))).text
        if text is None or NAMES[0] not in text:
            return None, 0
        tokens = find_tokens(text, (call,))
        slots = [token for token in tokens if token.kind in (TokenKind.NAME, TokenKind.ID)]
        if heads is None:
            first = next(
                (t.start for t in tokens if t.kind in (TokenKind.KEY, TokenKind.ARGUMENTS)),
                len(text),
            )
            heads = sum(token.start < first for token in slots)
        return text[slots[heads - 1].end if heads else 0 :], heads

    def _lay_out(self, on: Setting, settings: Sequence[Setting]) -> tuple[Frames, Layout]:
        chat = self.chat.using(on.variables)
        frames = collect_frames(
            chat,
            with_reasoning=chat.dialect.reasoning_field is not None,
            max_calls=self.max_calls,
            arguments=self.arguments.arguments,
        )
        frames = relabel_moved(frames)
        prompts = [on.prompt, *(setting.prompt for setting in settings if setting is not on)]
        layout = find_layout(chat, frames, prompts, self.derivation)
        if _continues_last(layout, on.prompt) and self.chat.dialect.next_header is None:
            self.derivation.note("C1", "the last message is rendered as one to be continued")
            dialect = replace(self.chat.dialect, next_header=layout.user_header)
            self.chat = self.chat.speaking(dialect)
            return self._lay_out(on, settings)
        return frames, layout

    def _prompt_states(
        self, layout: Layout, settings: Sequence[Setting]
    ) -> list[thinking.PromptState]:
        reasoning = self._markers(layout, settings)
        return [
            thinking.prompt_state(
                layout.prompt_rest(setting.prompt), reasoning.start, reasoning.end
            )
            for setting in settings
        ]

    def _markers(self, layout: Layout, settings: Sequence[Setting]) -> Wrapping:
        """Return what surrounds reasoning: as rendered (R1), as stripped (R4), as prompted (R2)."""
        if Part.REASONING in layout.order:
            return layout.reasoning
        rests = [layout.prompt_rest(setting.prompt) for setting in settings]
        stripped = find_stripped(self.chat, rests, self.derivation)
        if stripped is not None:
            return Wrapping(stripped.start, stripped.end)
        prompted = thinking.markers_in_prompts(rests)
        if prompted is None:
            return Wrapping("", "")
        self.derivation.note("R2", f"a prompt closes reasoning between {prompted}", *rests)
        return Wrapping(*prompted)

    def _build(self, frames: Frames, layout: Layout, switch: _Switch) -> Spec:
        """Put everything found into a spec."""
        wrapping = self._markers(layout, [switch.on, switch.off])
        shown = Part.REASONING in layout.order
        if not shown:
            layout = layout.without_reasoning(wrapping.end.strip())
        chat = self.chat.using(switch.on.variables)
        limits = find_limits(frames, chat, self.max_calls) + self.arguments.limits
        prompt_off = layout.prompt_rest(switch.off.prompt)
        mode = reasoning_mode(wrapping.start, wrapping.end, switch.state, prompt_off, limits)
        order = layout.order
        if mode is not ReasoningMode.NONE and not shown:
            order = (Part.REASONING, *order)
            limits += (NEVER_RENDERED,)
        if mode is ReasoningMode.DELIMITER and shown:
            limits += (UNMARKED,)
        tools = self._build_tools(layout)
        spec = Spec(
            name=self.source.name,
            template=TemplateIdentity(
                file=self.source.file,
                sha256=hashlib.sha256(self.source.text.encode()).hexdigest(),
                origin=self.source.origin,
            ),
            tokens=self._tokens(),
            capabilities=probe_capabilities(chat, self.max_calls),
            thinking=Thinking(
                on=switch.on.variables,
                off=switch.off.variables,
                prompt_on=layout.generation_prompt(switch.on.prompt),
                prompt_off=layout.generation_prompt(switch.off.prompt),
            ),
            turn=Turn(layout.header.header, order, layout.joins, layout.ends, layout.stop),
            reasoning=Reasoning(
                mode=mode,
                start=wrapping.start,
                end=wrapping.end,
                field=self.chat.dialect.reasoning_field if shown else None,
                scope=find_scope(chat, self.derivation) if shown else ReasoningScope.NONE,
            ),
            content=Content(
                mode=content_mode(layout.content.start, layout.joins),
                start=layout.content.start,
                end=layout.content.end,
            ),
            tools=tools,
            limits=limits,
            grammar=Grammar((), ()),
        )
        return replace(spec, grammar=grammar_hints(spec))

    def _build_tools(self, layout: Layout) -> Tools | None:
        if layout.calls is None:
            return None
        call, arguments = layout.calls.call, self.arguments.arguments
        fields = find_fields(call, arguments)
        self.derivation.note("T3", f"a call is {call}")
        return Tools(
            mode=tool_mode(fields, arguments),
            section_start=layout.section.start,
            call=call,
            separator=layout.calls.repetition.separator,
            section_end=layout.section.end,
            arguments=arguments,
            fields=fields or Fields(),
            call_id=call_id_position(call),
            index_base=layout.calls.index_base,
            index_scope=self._index_scope(call),
        )

    def _index_scope(self, call: Sequence[Piece]) -> IndexScope | None:
        """Tell whether a running index starts again in each turn."""
        if Slot(SlotKind.INDEX) not in call:
            return None
        message = probe_message(calls=1)
        first = self.chat.turn(message).text
        later = self.chat.turn(message, earlier=[message]).text
        return IndexScope.TURN if first == later else IndexScope.CONVERSATION

    def _tokens(self) -> dict[str, Token]:
        """Return the special tokens that the template refers to."""
        return {
            name: Token(
                self.source.tokens.get(name, text),
                TokenSource.GIVEN if name in self.source.tokens else TokenSource.ASSUMED,
            )
            for name, text in ASSUMED_TOKENS.items()
            if refers_to(self.source.text, name)
        }


@dataclass(frozen=True, slots=True)
class _Switch:
    """The settings with thinking on and off, and where the prompt of ``on`` leaves reasoning."""

    on: Setting
    off: Setting
    state: thinking.PromptState


def _continues_last(layout: Layout, prompt: str) -> bool:
    """Tell whether content stands behind a generation prompt when its message is the last."""
    start = layout.content.start
    return bool(start.strip()) and start == layout.prompt_rest(prompt)


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
        first = spec.tools.call[0]
        opening = spec.tools.section_start + (first.text if isinstance(first, Literal) else "")
        found = distinct_beginning(opening.strip(), texts)
        triggers = (found,) if found else ()
        pieces = (*spec.tools.call, *spec.tools.arguments.item)
        texts += [spec.tools.section_start, spec.tools.section_end]
        texts += [piece.text for piece in pieces if isinstance(piece, Literal)]
    preserved = [marker for text in texts for marker in markers(text)]
    return Grammar(triggers, tuple(dict.fromkeys(preserved)))
