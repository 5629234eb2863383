"""From one template's text to its spec: all comparisons, in the order in which they build up.

1. dialect and switches: in which form, and under which setting, the template shows most;
2. frames: every combination of parts, cut at the needles (R1, C1, T1);
3. calls and arguments (T2 to T7, A1, A2);
4. header, starts, ends, joins and turn ends, from the table of edges;
5. modes and limits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from turnspec.analysis import thinking
from turnspec.analysis.arguments import ArgumentsFinding, find_arguments
from turnspec.analysis.assemble import ASSUMED_TOKENS, assemble_spec
from turnspec.analysis.calls import mark_last_index
from turnspec.analysis.dialect import call_limit
from turnspec.analysis.facts import Facts
from turnspec.analysis.findings import Derivation, Finding
from turnspec.analysis.frames import Frames, collect_frames, level_leads
from turnspec.analysis.insistence import find_insistence
from turnspec.analysis.layout import Layout, find_layout, why_calls_unread
from turnspec.analysis.limits import relabel_moved
from turnspec.analysis.message_form import find_message_form
from turnspec.analysis.other_marks import find_other_ends, find_other_marks
from turnspec.analysis.overlaid import overlaid
from turnspec.analysis.parts import NOTHING, Wrapping
from turnspec.analysis.probes import CONTENT
from turnspec.analysis.source import TemplateSource
from turnspec.analysis.stripped import find_content_marks, find_stripped
from turnspec.analysis.switch_words import WordFinder, word_settings
from turnspec.analysis.thinking import Setting
from turnspec.analysis.unnamed_tokens import unnamed_tokens
from turnspec.rendering.conversation import Chat
from turnspec.rendering.dialect import Dialect
from turnspec.rendering.limited import Refused, run_limited
from turnspec.rendering.limits import USUAL_LIMITS, Limits
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.calls import Arguments
from turnspec.spec.checks import check_spec
from turnspec.spec.message import Message
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem
from turnspec.spec.prompt_state import PromptState, begins_content, prompt_state
from turnspec.spec.words import Part

__all__ = ["ASSUMED_TOKENS", "Analysis", "TemplateSource", "analyze_template"]


@dataclass(frozen=True, slots=True)
class Analysis:
    """What came of it: the spec (None where there is none), findings, and problems.

    Where there is a spec, a problem says what isn't in it.
    ``dialect`` is the form of messages in which the template was spoken to.
    """

    spec: Spec | None
    dialect: Dialect
    findings: tuple[Finding, ...]
    problems: tuple[Problem, ...]


def analyze_template(
    source: TemplateSource, worker: RenderWorker, limits: Limits = USUAL_LIMITS
) -> Analysis:
    """Find a template's format by rendering it in ``worker``, within limits of renderings.

    What works on a template from anywhere has to be in a process that is ended when it takes too
    long, as `analyze_limited` does: the comparisons of what was rendered have limits only there.
    """
    with worker.within(limits):
        return _analysis(source, worker)


def _analysis(source: TemplateSource, worker: RenderWorker) -> Analysis:
    derivation = Derivation()
    tokens = {**ASSUMED_TOKENS, **source.tokens}
    chat = Chat(worker, source.text, tokens)
    # Why it fails is told by the plain message, if nothing that it might insist on helps.
    chat = chat.speaking(find_insistence(chat, derivation))
    problem = _unusable(chat, source.file)
    if problem is not None:
        return Analysis(None, chat.dialect, (), (problem,))
    analyzer = _Analyzer(source, chat, derivation)
    spec = analyzer.run()
    failure = worker.failure(source.text)
    if failure is not None:  # some message sends the template over a limit
        spec, problem = None, Problem(failure.error, file=source.file, line=failure.line)
    elif spec is not None and source.overlay is None and (unread := analyzer.why_unread(spec)):
        problem = unread
        spec = _Analyzer(source, chat, derivation, reads_calls=False).run()
    elif spec is None:
        error = analyzer.chat.prompt().error
        why = f": the prompt fails with {error!r}" if error else ""
        problem = Problem("no assistant turn is rendered" + why, file=source.file)
    problems = [problem] if problem else []
    if spec is not None and source.overlay is not None:
        found = overlaid(spec, source.overlay, source.file, source.text)
        spec, problems = (None, found) if isinstance(found, list) else (found, problems)
    elif spec is not None:
        problems += unnamed_tokens(analyzer.chat, source.file)
    return Analysis(spec, analyzer.chat.dialect, tuple(derivation.findings), tuple(problems))


def _unusable(chat: Chat, file: str) -> Problem | None:
    """Return why nothing can be rendered at all, or None."""
    message = Message(content=CONTENT)
    rendering = chat.turn(message)
    if rendering.text is None and not rendering.fatal:
        rendering = chat.speaking(replace(chat.dialect, give_tools=False)).turn(message)
    if rendering.text is None:
        left = "" if rendering.fatal else _unrendered(chat)
        return Problem(rendering.error + left, file=file, line=rendering.line)
    if CONTENT not in rendering.text:
        why = "the template renders no assistant content"
        return Problem(why + _unrendered(chat), file=file)
    return None


def _unrendered(chat: Chat) -> str:
    """Say what a template would render next that shows no message; of what always fails nothing."""
    taken = chat.worker.taken()
    if not taken:
        return ""
    left = [
        f"; never rendered: {branch}"
        for number, branch in enumerate(chat.facts.branches)
        if {*branch.path} - taken == {number} and not branch.unreachable
        if branch.condition != "add_generation_prompt"  # nobody asked for one
    ]
    return "".join(left[:1])


_NO_ARGUMENTS = ArgumentsFinding(Arguments(), "", "", ())


@dataclass(slots=True)
class _Analyzer:
    """One run over one template; each step keeps what later ones need."""

    source: TemplateSource
    chat: Chat
    derivation: Derivation
    reads_calls: bool = True
    max_calls: int = 0
    arguments: ArgumentsFinding = _NO_ARGUMENTS
    unread: str = ""  # why calls that are rendered can't be read
    content_marks: tuple[Wrapping, ...] = ()  # that are stripped with all around them
    is_unended: bool = False  # whether reasoning has a start and no end, so that it is text
    unopened: str = ""  # what ends reasoning that nothing opens, so that it is text
    within_calls: frozenset[Part] = frozenset()  # what is a part of each call, if given
    count_lead: str = ""  # what stands before the number of a call's arguments

    def run(self) -> Spec | None:
        """Take all steps; None where no turn can be made out."""
        self.chat = self.chat.speaking(find_message_form(self.chat, self.derivation))
        self.content_marks = find_content_marks(self.chat, self.derivation)
        settings = thinking.collect_settings(self.chat)
        if not settings:
            return None
        default = settings[0]
        settings += word_settings(self.chat, default)
        self._find_calls()
        on = thinking.choose_on(settings)
        self._insist(on)
        frames, layout = self._lay_out(on, settings)
        prompted = [setting for setting in settings if layout.generation_prompt(setting.prompt)]
        settings = prompted if on in prompted else settings
        others = self._other_marks(layout, on, settings)
        states = self._prompt_states(layout, settings, others)
        better = thinking.choose_better_on(settings, on, states)
        if better is not on:
            on = better
            frames, layout = self._lay_out(on, settings)
        self.unread = why_calls_unread(frames)
        off = thinking.choose_off(settings, on, states)
        meant = [setting for setting in settings if not self._is_odd(setting)]
        reasoning = self._markers(layout, [on, off])
        words = WordFinder(self.chat, layout, reasoning, on.variables, off.variables)
        facts = Facts(
            source=self.source,
            chat=self.chat.using(on.variables),
            frames=frames,
            layout=layout,
            default=default if default in settings else on,
            on=on,
            off=off,
            others=self._others(layout, settings, states),
            prompt_state=states[settings.index(on)],
            reasoning=reasoning,
            words=words.find(self.derivation),
            arguments=self.arguments,
            max_calls=self.max_calls,
            other_marks=self._other_marks(layout, on, meant),
            other_ends=find_other_ends(self.chat, self.derivation) if self.max_calls else (),
            content_marks=self.content_marks,
            is_unended=self.is_unended,
            unopened=self.unopened,
            within_calls=self.within_calls,
        )
        return assemble_spec(facts, self.derivation)

    def _insist(self, on: Setting) -> None:
        """Speak as the template wants it with thinking on: it may want a thought's key then."""
        chat = self.chat.using(on.variables)
        self.chat = self.chat.speaking(find_insistence(chat, self.derivation))

    def why_unread(self, spec: Spec) -> Problem | None:
        """Return why calls can't be read that are rendered so; None if they can."""
        if self.unread:
            return Problem(self.unread, file=self.source.file)
        found = check_spec(spec, self.source.file)
        return next((problem for problem in found if problem.path.startswith("tools")), None)

    def _others(
        self, layout: Layout, settings: Sequence[Setting], states: Sequence[PromptState]
    ) -> tuple[Setting, ...]:
        """Return the settings that say of reasoning where it stands; words are told elsewhere."""
        return tuple(
            setting
            for setting, state in zip(settings, states, strict=True)
            if state is not PromptState.NEUTRAL or not layout.prompt_rest(setting.prompt).strip()
            if not self._is_odd(setting) and not setting.by_word
        )

    def _is_odd(self, setting: Setting) -> bool:
        """Tell whether true or false is given to a variable that is compared with others."""
        known = self.chat.facts.switch_values
        return any(
            isinstance(value, bool) and not all(isinstance(one, bool) for one in known[name])
            for name, value in setting.variables.items()
        )

    def _find_calls(self) -> None:
        """T4 to T6 on a turn with one call, if there are calls."""
        self.max_calls = call_limit(self.chat) if self.reads_calls else 0
        if self.max_calls:
            found, self.count_lead = find_arguments(self.chat, self.derivation)
            self.arguments = found or self.arguments

    def _lay_out(self, on: Setting, settings: Sequence[Setting]) -> tuple[Frames, Layout]:
        chat = self.chat.using(on.variables)
        frames = self._collect_frames(chat)
        if Part.REASONING in self.within_calls and chat.dialect.reasoning_field is not None:
            self.chat = self.chat.speaking(replace(self.chat.dialect, reasoning_field=None))
            return self._lay_out(on, settings)
        prompts = [on.prompt, *(setting.prompt for setting in settings if setting is not on)]
        bare = chat.prompt(add_generation_prompt=False).text or ""
        frames = relabel_moved(level_leads(mark_last_index(frames), prompts, bare))
        layout = find_layout(chat, frames, prompts, self.derivation).counting(self.count_lead)
        start = layout.content.start
        # Content stands behind a generation prompt when its message is the last.
        continues_last = start.strip() and start == layout.prompt_rest(on.prompt)
        if continues_last and self.chat.dialect.next_header is None:
            self.derivation.note("C1", "the last message is rendered as one to be continued")
            dialect = replace(self.chat.dialect, next_header=layout.user_header)
            self.chat = self.chat.speaking(dialect)
            if not self.max_calls:  # none are shown in a message that is to be continued
                self.chat = self.chat.speaking(find_message_form(self.chat, self.derivation))
                self._find_calls()
            return self._lay_out(on, settings)
        if Part.REASONING in layout.order and not (_is_marked(layout) and _may_end(layout)):
            self.is_unended = _is_marked(layout)
            self.derivation.note("R1", "no mark tells reasoning from its neighbours, so it is text")
            self.chat = self.chat.speaking(replace(self.chat.dialect, reasoning_field=None))
            return self._lay_out(on, settings)
        return frames, layout

    def _collect_frames(self, chat: Chat) -> Frames:
        """Collect frames, without those where content is a part of each call, as reasoning may be.

        An agent's call may be an object that has its thought as a member. Such a member is the
        call's own, and stands in no place of a turn.
        """
        frames = collect_frames(
            chat,
            with_reasoning=chat.dialect.reasoning_field is not None,
            max_calls=self.max_calls,
            arguments=self.arguments.arguments,
        )
        within = frames.within_calls()
        if within:
            self.derivation.note("R1", f"{', '.join(sorted(within))} stands within calls")
        self.within_calls |= within
        return frames.without_both(Part.CONTENT) if Part.CONTENT in within else frames

    def _other_marks(
        self, layout: Layout, on: Setting, settings: Sequence[Setting]
    ) -> tuple[Wrapping, ...]:
        if Part.REASONING not in layout.order:
            return ()
        chat = self.chat.using(on.variables)
        others = [self.chat.using(one.variables) for one in settings if one is not on]
        rests = [layout.prompt_rest(setting.prompt) for setting in settings]
        header, reasoning, content = layout.header.header, layout.reasoning, layout.content
        return find_other_marks(chat, others, header, reasoning, content, rests, self.derivation)

    def _prompt_states(
        self, layout: Layout, settings: Sequence[Setting], others: Sequence[Wrapping]
    ) -> list[PromptState]:
        absent, begin = layout.join(Part.START, Part.CONTENT), layout.content.start
        marks = (self._markers(layout, settings), *others)
        states = []
        for rest in (layout.prompt_rest(setting.prompt) for setting in settings):
            found = [prompt_state(rest, it.start, it.end or begin, absent) for it in marks]
            told = (state for state in found if state is not PromptState.NEUTRAL)
            # What content begins with, and reasoning doesn't, is content's.
            is_content = begins_content(rest, layout.content.start, layout.order)
            is_content = is_content and Part.REASONING in layout.order
            is_content = is_content and (rest.isspace() or layout.header.header != "")
            is_content = is_content and not marks[0].start.startswith(rest)
            untold = PromptState.CLOSED if is_content and marks[0].start else PromptState.NEUTRAL
            states.append(next(told, untold))
        return states

    def _markers(self, layout: Layout, settings: Sequence[Setting]) -> Wrapping:
        """Return what surrounds reasoning: as rendered (R1), as stripped (R4), as prompted (R2)."""
        if Part.REASONING in layout.order:
            return layout.reasoning
        rests = [layout.prompt_rest(setting.prompt) for setting in settings]
        stripped = find_stripped(self.chat, rests, self.content_marks, self.derivation)
        content = layout.content.start.strip()  # a prompt that opens it opens no reasoning
        if thinking.markers_in_prompts([content]) is not None:
            content = ""  # all answers have an empty block before them
        rests = [rest for rest in rests if not content or not rest.rstrip().endswith(content)]
        prompted = thinking.markers_in_prompts(rests)
        if stripped is not None and not stripped.start:
            self.unopened = stripped.end
        elif stripped is not None:
            start = stripped.start
            if prompted is not None and prompted[1] == stripped.end:
                start = prompted[0] if prompted[0].startswith(start) else start
            return Wrapping(start, stripped.end)
        if prompted is None:
            prompted = thinking.marker_left_open(rests, self.chat.source)
        if prompted is None:
            return self._in_empty_block(layout)
        self.derivation.note("R2", f"a prompt has reasoning between {prompted}", *rests)
        return Wrapping(*prompted)

    def _in_empty_block(self, layout: Layout) -> Wrapping:
        """Return the markers of an empty block that every turn begins with, if there are any."""
        begun = [join for join in layout.joins if join.left is Part.START]
        starts = {Part.CONTENT: layout.content.start}
        blocks = [it.text + starts.get(it.right, "") for it in begun]
        found = {thinking.markers_in_prompts([block]) for block in blocks}
        marks = found.pop() if len(found) == 1 else None
        if marks is None:
            return NOTHING
        self.derivation.note("R2", f"every turn has reasoning's place between {marks}", *blocks)
        return Wrapping(*marks)


def _is_marked(layout: Layout) -> bool:
    """Tell whether some text shows where reasoning begins or ends, if only what begins content."""
    marks = (layout.reasoning.start, layout.reasoning.end, layout.content.start)
    joins = (join.text for join in layout.joins if Part.REASONING in (join.left, join.right))
    return any(text.strip() for text in (*marks, *joins))


def _may_end(layout: Layout) -> bool:
    """Tell whether anything but white space ends reasoning, if only what begins the next part."""
    if layout.reasoning.end.strip():
        return True
    call = layout.calls.call[0].text if layout.calls else ""
    starts = {Part.CONTENT: layout.content.start, Part.CALLS: layout.section.start + call}
    joins = [join for join in layout.joins if join.left is Part.REASONING]
    behind = [join.text + starts.get(join.right, "") for join in joins]
    return bool(behind) and all(map(str.strip, behind))


def analyze_limited(source: TemplateSource, limits: Limits = USUAL_LIMITS) -> Analysis:
    """Find a template's format in a process of its own, or say which limit that went over."""
    found = run_limited(_analyze, source, limits, limits=limits)
    if isinstance(found, Refused):
        return Analysis(None, Dialect(), (), (Problem(found.reason, file=source.file),))
    return found


def _analyze(source: TemplateSource, limits: Limits) -> Analysis:
    with RenderWorker() as worker:
        return analyze_template(source, worker, limits)
