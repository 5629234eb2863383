"""Live runs of one format on the tiny model: prompt, grammar, sampling, streaming, checks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from random import Random
from string import ascii_lowercase
from typing import Any

from turnspec.analysis.source import TemplateSource
from turnspec.analysis.text import whole_prefix
from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.writer import write_parts
from turnspec.grammar.bound import BoundGrammar, bind_grammar
from turnspec.grammar.request import GrammarRequest, ToolChoice
from turnspec.grammar.text import trimmed
from turnspec.live import checks
from turnspec.live.leaning import Leaning
from turnspec.live.model import LiveModel, load_model
from turnspec.live.offers import TOOLS, USER_MESSAGE
from turnspec.live.prompts import Prompt, PromptSource, live_prompt
from turnspec.live.real_model import RealTokens, real_model
from turnspec.live.real_vocabulary import RealVocabulary, begins_with_token
from turnspec.live.sampling import LiveGrammar, Sampler, live_grammar
from turnspec.live.tiny_model import cached_model, special_tokens
from turnspec.live.writing import Ending, TurnWriter
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.message import Call, Message
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem
from turnspec.spec.turn_end import with_stop_at_end
from turnspec.spec.words import Part
from turnspec.verification.turns import written_input
from turnspec.verification.vocabulary import BEGIN_TOKEN

_LONGEST_TURN = 700  # tokens
_CALL_EVENTS = ("tool_call_start", "tool_call_delta")
_LEAD_CALL = Call("now", {}, "call00001")


class Outcome(StrEnum):
    """What became of a turn."""

    PARSED = "parsed"
    CUT = "cut"  # by the limit of tokens, or by what stops the model in the middle of a value
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class LiveTurn:
    """One turn: how it was asked for, what the model wrote, and what is wrong with it."""

    choice: str
    thinking: bool | None
    seed: int
    text: str
    calls: int
    outcome: Outcome
    faults: tuple[str, ...] = ()
    told: bool = False  # whether it was read in a real vocabulary's tokens, special ones told
    quoted: bool = False  # whether the same text was read in ordinary tokens, too


@dataclass(slots=True)
class FormatRuns:
    """All turns of a format, where its prompt was from, and the real vocabulary it ran on."""

    spec: Spec
    vocabulary: RealVocabulary | None = None
    prompt: PromptSource = PromptSource.SPEC
    turns: list[LiveTurn] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def count(self, outcome: Outcome) -> int:
        """Return how many turns came out so."""
        return sum(turn.outcome is outcome for turn in self.turns)


@dataclass(frozen=True, slots=True)
class _Setting:
    """A model that has read the prompt, and the grammar for one choice of tools."""

    spec: Spec
    module: FormatModule
    model: LiveModel
    vocabulary: RealVocabulary | None
    prompt: Prompt
    thinking: bool | None
    choice: str
    bound: BoundGrammar
    grammar: LiveGrammar
    tokens: RealTokens | None

    def leaning(self, seed: int) -> Leaning:
        """Return what the model leans to in one turn."""
        if self.tokens is not None:
            return self.tokens.leaning(seed)
        return Leaning.towards(self.spec, self.model)


def run_format(
    spec: Spec,
    module: FormatModule,
    template: TemplateSource | None,
    *,
    worker: RenderWorker,
    seeds: int,
    folder: Path,
    vocabulary: RealVocabulary | None = None,
) -> FormatRuns:
    """Run a format at several seeds: calls required, allowed and forbidden, after each prompt.

    ``folder`` keeps the tiny models. The tokens are bytes and markers, or a real ``vocabulary``'s.
    """
    runs = FormatRuns(spec, vocabulary)
    own = special_tokens(spec)
    model = load_model(real_model(vocabulary, folder) if vocabulary else cached_model(own, folder))
    if isinstance(model, Problem):
        runs.problems.append(model)
        return runs
    with model:
        choices, tools = spec.thinking.choices, TOOLS if spec.tools else ()
        ask = partial(live_prompt, spec, template, worker, question=USER_MESSAGE, tools=tools)
        prompts = [ask(thinking=choice) for choice in choices]
        runs.prompt = prompts[0].source
        longest = max(len(model.tokens(prompt.text)) for prompt in prompts)
        problem = model.open(longest + _LONGEST_TURN + 1, threads=1)
        real = RealTokens(spec, model, vocabulary) if vocabulary is not None else None
        for first, (prompt, thinking) in enumerate(zip(prompts, choices, strict=True)):
            turns = range(first, max(seeds, len(choices)), len(choices))
            problem = problem or _run_prompt(runs, module, model, prompt, thinking, turns, real)
        runs.problems += [problem] if problem else []
    return runs


def _run_prompt(
    runs: FormatRuns,
    module: FormatModule,
    model: LiveModel,
    prompt: Prompt,
    thinking: bool | None,
    seeds: Sequence[int],
    real: RealTokens | None,
) -> Problem | None:
    """Take a turn behind one prompt with each of some seeds, for each choice of tools."""
    tokens = model.tokens(prompt.text) or model.tokens(BEGIN_TOKEN)
    tools = TOOLS if runs.spec.tools else ()
    for choice in ToolChoice if tools else (ToolChoice.NONE,):
        parallel = choice is ToolChoice.REQUIRED
        request = GrammarRequest(tools, choice, parallel=parallel, thinking=thinking)
        bound = bind_grammar(runs.spec, request)
        if isinstance(bound, list):
            return bound[0]
        grammar = live_grammar(model, bound)
        if isinstance(grammar, Problem):
            return grammar
        setting = _Setting(
            *(runs.spec, module, model, runs.vocabulary, prompt, thinking),
            *(choice, bound, grammar, real),
        )
        for seed in seeds:
            problem = model.start_from(tokens)
            if problem is not None:
                return problem
            runs.turns.append(_take_turn(setting, seed))
    return None


def _take_turn(setting: _Setting, seed: int) -> LiveTurn:
    """Have the model write a turn, stream it into the parser, and check it."""
    spec, model = setting.spec, setting.model
    options: dict[str, Any] = {"enable_thinking": setting.thinking}
    options["prefill"] = setting.prompt.prefill
    if spec.tools is not None:
        options["tools"] = list(TOOLS)
    sampler = Sampler.start(model, setting.grammar, seed)
    stop, leaning = setting.bound.stop, setting.leaning(seed)
    writer = TurnWriter(model, sampler, stop, _LONGEST_TURN, leaning=leaning)
    if setting.bound.lazy:
        writer.lead = model.tokens(_lead(setting, Random(seed)))
    turn = checks.StreamedTurn.start(setting.module, **options)
    try:
        for piece in writer:
            for event in turn.feed(piece):
                leaning.in_call = event.type in _CALL_EVENTS
    finally:
        sampler.close()
    turn.finish()
    faults = [*checks.stream_faults(turn, _closing(setting, turn))]
    cut = writer.ending is Ending.LIMIT or _stopped_inside(writer, turn)
    if not cut:
        faults += checks.turn_faults(spec, turn, TOOLS)
        faults += list(_unasked(setting, writer, turn))
    tokens = _vocabulary_tokens(setting, turn)
    faults += checks.token_faults(turn, tokens) if tokens else ()
    quoted = _can_be_quoted(setting, turn)
    if setting.vocabulary is not None and quoted:
        faults += checks.quoting_faults(turn, sorted(setting.vocabulary.specials))
    outcome = Outcome.FAILED if faults else Outcome.CUT if cut else Outcome.PARSED
    calls = len(turn.message.tool_calls)
    return LiveTurn(
        *(setting.choice, setting.thinking, seed, turn.text, calls, outcome, tuple(faults)),
        told=bool(tokens),
        quoted=quoted,
    )


def _vocabulary_tokens(setting: _Setting, turn: checks.StreamedTurn) -> list[checks.Piece]:
    """Return a turn in the tokens of a real vocabulary, if they say the same."""
    if setting.vocabulary is None:
        return []
    tokens = map(setting.model.piece, setting.model.tokens(turn.text))
    return checks.in_tokens(turn.text, tokens, setting.vocabulary.specials)


def _can_be_quoted(setting: _Setting, turn: checks.StreamedTurn) -> bool:
    """Say whether the turn's calls are text when they come in ordinary tokens."""
    vocabulary, calls = setting.vocabulary, turn.message.tool_calls
    return vocabulary is not None and bool(calls) and begins_with_token(setting.spec, vocabulary)


def _closing(setting: _Setting, turn: checks.StreamedTurn) -> str:
    """Return the marker that a model would end this turn with, if it didn't write one itself."""
    last = Part.CALLS if turn.message.tool_calls else Part.CONTENT
    final = trimmed(with_stop_at_end(setting.spec).final(last))
    whole = not setting.bound.lazy and setting.grammar.awake.accepts(turn.text + final)
    return final if whole else ""


def _stopped_inside(writer: TurnWriter, turn: checks.StreamedTurn) -> bool:
    """Say whether a stop string came up inside a value, as it would stop any model there."""
    calls = turn.message.tool_calls
    return writer.ending is Ending.STOP_STRING and any(not call.complete for call in calls)


def _unasked(setting: _Setting, writer: TurnWriter, turn: checks.StreamedTurn) -> Iterator[str]:
    """Yield what the grammar should have seen to."""
    calls = turn.message.tool_calls
    yield from writer.faults()
    if setting.choice is ToolChoice.REQUIRED and not calls:
        yield "no call, though one is required"
    if setting.choice is ToolChoice.NONE and calls:
        yield "a call, though none is allowed"
    if setting.choice is ToolChoice.AUTO and setting.bound.lazy and not calls:
        yield "no call behind the trigger"


def _lead(setting: _Setting, random: Random) -> str:
    """Return what stands before a call up to the trigger, which a lazy grammar waits for.

    Weights that have learnt nothing would hardly ever write one.
    """
    words = ["".join(random.choices(ascii_lowercase, k=random.randint(2, 9))) for _ in range(8)]
    said, thought = " ".join(words[:3]), " ".join(words[3:])
    triggers = setting.spec.grammar.triggers
    thinks = setting.spec.thinking.expects(setting.thinking)
    for content, reasoning in ((said, thought), (said, ""), ("", thought), ("", "")):
        message = Message(content, reasoning if thinks else "", (_LEAD_CALL,))
        written = written_input(setting.spec, message, thinking=setting.thinking)
        text = written.text if written else _behind_prompt(setting, message)
        for trigger in triggers:
            before, found, _ = text.rpartition(trigger)
            if found:
                return before + found
    return ""


def _behind_prompt(setting: _Setting, message: Message) -> str:
    """Return a turn without what the prompt has of it, whatever else the prompt holds."""
    spec, prefill = setting.spec, setting.prompt.prefill
    start = spec.content.start
    if start and prefill.endswith(start):
        message = replace(message, reasoning="")
        return write_parts(spec, message, Part.START).partition(start)[2]
    turn = spec.turn.header + write_parts(spec, message, Part.START)
    return turn.removeprefix(whole_prefix([turn, prefill]))
