"""A model of the user's: its own template, the format that follows from it, and turns of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from turnspec.analysis.source import TemplateSource
from turnspec.catalog.catalog import Catalog
from turnspec.chat.sources import TOOL_USE
from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.loading import load_module
from turnspec.deviations.turns import Format
from turnspec.grammar.bound import BoundGrammar, bind_grammar
from turnspec.grammar.request import GrammarRequest
from turnspec.live.checks import StreamedTurn, stream_faults, turn_faults
from turnspec.live.model import LiveModel, load_model
from turnspec.live.prompts import Prompt, PromptSource, live_prompt
from turnspec.live.record import read_format
from turnspec.live.sampling import LiveGrammar, Sampler, live_grammar
from turnspec.live.writing import Ending, TurnWriter
from turnspec.pipeline.processes import Task, build_in_processes
from turnspec.pipeline.project import OutputPaths
from turnspec.rendering.worker import RenderWorker
from turnspec.sources.gguf_file import read_gguf
from turnspec.sources.reading import MAIN_NAME
from turnspec.sources.text_files import sha256_of
from turnspec.spec.files import load_spec
from turnspec.spec.model import Spec
from turnspec.spec.naming import template_name
from turnspec.spec.problems import Problem

_TEMPERATURE, _TOP_P = 0.8, 0.95


@dataclass(frozen=True, slots=True)
class UserFormat:
    """The format of a user's model; ``committed`` says whether it was known."""

    spec: Spec
    module: FormatModule
    template: TemplateSource
    committed: bool


@dataclass(frozen=True, slots=True)
class Wish:
    """What a user wants of a model; ``free`` leaves the grammar out, 0 threads are all cores."""

    question: str
    tools: Sequence[Mapping[str, Any]] = ()
    thinking: bool | None = None
    free: bool = False
    limit: int = 512
    threads: int = 0


def read_model_template(path: Path, *, with_tools: bool) -> TemplateSource | Problem:
    """Return the template that a GGUF file carries, the one for tools if it has two."""
    shown = str(path)
    if path.is_dir():
        return Problem("is a folder; give a .gguf file", shown)
    found, problems = read_gguf(path)
    if problems:
        return problems[0]
    if not found.texts:
        return Problem(found.missing, shown)
    names = [TOOL_USE] if with_tools else []
    name = next(n for n in (*names, MAIN_NAME, *found.texts) if n in found.texts)
    tokens = {"bos_token": found.bos_token, "eos_token": found.eos_token}
    known = {token: text for token, text in tokens.items() if text is not None}
    return TemplateSource(
        template_name(path.stem) or "model", found.texts[name], path.name, "local", known
    )


def find_format(template: TemplateSource, catalog: Catalog) -> UserFormat | list[Problem]:
    """Return the known format of a template, found by its hash, or analyse the template."""
    digest = sha256_of(template.text.encode())
    known = next((known for known in catalog if known.sha256 == digest), None)
    found = read_format(known) if known is not None else None
    if isinstance(found, Format):
        return UserFormat(found.spec, found.module, template, committed=True)
    paths = OutputPaths.in_folder(template.name)
    (build,) = build_in_processes([Task(template, paths, messages=None)], 1)
    if build.problems:
        return list(build.problems)
    spec = load_spec(build.files[paths.spec], paths.spec)
    if isinstance(spec, list):
        return spec
    return UserFormat(spec, load_module(build.files[paths.module]), template, committed=False)


@dataclass(slots=True)
class UserTurn:
    """A turn of the model; iterate over it for the parser's events as they come."""

    fmt: UserFormat
    seed: int
    writer: TurnWriter
    streamed: StreamedTurn

    def __iter__(self) -> Iterator[Any]:
        try:
            for piece in self.writer:
                yield from self.streamed.feed(piece)
        finally:
            self.writer.sampler.close()
        yield from self.streamed.finish()

    @property
    def cut(self) -> bool:
        """Whether the limit of tokens cut the turn off."""
        return self.writer.ending is Ending.LIMIT

    def faults(self, tools: Sequence[Mapping[str, Any]]) -> list[str]:
        """Return how the turn deviates from its format; one that was cut off may be unfinished."""
        faults = [*stream_faults(self.streamed), *self.writer.faults()]
        return faults if self.cut else faults + turn_faults(self.fmt.spec, self.streamed, tools)


@dataclass(slots=True)
class Session:
    """A loaded model that has read the prompt; use it as a context manager."""

    model: LiveModel
    fmt: UserFormat
    wish: Wish
    prompt: Prompt
    tokens: Sequence[int]
    bound: BoundGrammar
    grammar: LiveGrammar | None

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.model.close()

    def turn(self, seed: int) -> UserTurn | Problem:
        """Return a turn that hasn't begun yet; another one must be over."""
        problem = self.model.start_from(self.tokens)
        if problem is not None:
            return problem
        sampler = Sampler.start(self.model, self.grammar, seed, _TEMPERATURE, _TOP_P)
        writer = TurnWriter(self.model, sampler, self.bound.stop, self.wish.limit)
        streamed = StreamedTurn.start(
            self.fmt.module,
            enable_thinking=self.wish.thinking,
            prefill=self.prompt.prefill,
            **({"tools": list(self.wish.tools)} if self.fmt.spec.tools else {}),
        )
        return UserTurn(self.fmt, seed, writer, streamed)


def start_session(
    path: Path, fmt: UserFormat, wish: Wish, worker: RenderWorker
) -> Session | list[Problem]:
    """Render the prompt, bind and compile the grammar, load the model; or say what went wrong."""
    request = GrammarRequest(wish.tools, thinking=wish.thinking)
    bound = bind_grammar(fmt.spec, request)
    if isinstance(bound, list):
        return bound
    prompt = live_prompt(fmt.spec, fmt.template, worker, wish.question, wish.tools, wish.thinking)
    if prompt.source is not PromptSource.TEMPLATE:
        return [Problem("its template doesn't render this question", str(path))]
    model = load_model(path)
    if isinstance(model, Problem):
        return [model]
    tokens = model.tokens(prompt.text, whole_prompt=True)
    problem = _room(model, len(tokens), wish)
    grammar = problem or (None if wish.free else live_grammar(model, bound))
    if isinstance(grammar, Problem):
        model.close()
        return [grammar]
    return Session(model, fmt, wish, prompt, tokens, bound, grammar)


def _room(model: LiveModel, prompt: int, wish: Wish) -> Problem | None:
    longest = model.longest_context
    if prompt >= longest:
        return Problem(f"the prompt's {prompt} tokens don't fit into the model's {longest}")
    return model.open(min(prompt + wish.limit + 1, longest), threads=wish.threads)


def turn_data(turn: UserTurn, faults: Sequence[str]) -> dict[str, object]:
    """Return a turn for scripts."""
    ending = turn.writer.ending
    return {
        "seed": turn.seed,
        "text": turn.streamed.text,
        "message": turn.streamed.message.to_dict(),
        "tokens": turn.writer.count,
        "ended_by": ending.value if ending else None,
        "kept": not faults and not turn.cut,
        "cut": turn.cut,
        "faults": list(faults),
    }
