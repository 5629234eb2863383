"""What a grammar costs with each token: the mask over a real vocabulary, in llama.cpp.

For the same tools once with a format's own grammar, once with what llama.cpp's own converter makes
of their schemas, in one run and by turns: before anything is written, and inside of a call's
string, where most tokens of a call are. Content under the whole turn's grammar has no counterpart
there; it is shown without a target. The vocabularies are those of real models; no model is needed.

Exit codes: 0 no mask of a call costs more than its target; 1 one does; 2 wrong usage.
"""

from __future__ import annotations

import ctypes
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import click
import numpy as np

from benchmarks.grammar_binding import as_one_schema, converter
from turnspec import grammar_binder
from turnspec.codegen.writer import write_parts
from turnspec.grammar.request import GrammarRequest, ToolChoice
from turnspec.spec.files import read_spec
from turnspec.spec.message import Call, Message
from turnspec.spec.model import Spec
from turnspec.spec.words import Part
from turnspec.verification.llama_cpp_library import LlamaLibrary, llama_library
from turnspec.verification.turns import written_input

_ROOT = Path(__file__).parent.parent
_CANDIDATE = np.dtype([("id", "<i4"), ("logit", "<f4"), ("p", "<f4")])  # as in llama.h
#: A mask of ours may cost so much of one of the converter's.
TARGET = 1.1
_TOOLS = 20
_LONGEST_PIECE = 512  # bytes; those of real vocabularies are shorter
_IN_CONTENT = "in content (shown beside the converter's string)"
_VALUE = "in the"
CONTENT = "It is going to rain, I think"


@dataclass(slots=True)
class Vocabulary:
    """A vocabulary that llama.cpp has loaded, and one candidate for each token of it."""

    library: LlamaLibrary
    pointer: Any
    candidates: np.ndarray[Any, np.dtype[np.void]]

    @classmethod
    def load(cls, path: Path) -> Vocabulary:
        """Have llama.cpp load a vocabulary file."""
        library = llama_library()
        if not isinstance(library, LlamaLibrary):
            raise click.ClickException(str(library))
        functions = library.functions
        parameters = functions.llama_model_default_params()
        parameters.vocab_only = True
        model = functions.llama_model_load_from_file(str(path).encode(), parameters)
        if not model:
            raise click.ClickException(f"{path}: llama.cpp cannot load it")
        pointer = functions.llama_model_get_vocab(model)
        count = functions.llama_vocab_n_tokens(pointer)
        return cls(library, pointer, np.zeros(count, dtype=_CANDIDATE))

    def sampler(self, grammar: str, text: str) -> Any:
        """Return a grammar's sampler behind a text, token by token."""
        functions = self.library.functions
        sampler = functions.llama_sampler_init_grammar(self.pointer, grammar.encode(), b"root")
        if not sampler:
            raise click.ClickException("llama.cpp cannot read the grammar")
        for token in self.tokens(text.encode()):
            self.mask(sampler)
            if not np.isfinite(self.candidates["logit"][token]):  # it would end the program
                raise click.ClickException(f"the grammar refuses {text!r}")
            functions.llama_sampler_accept(sampler, token)
        return sampler

    def tokens(self, text: bytes) -> list[int]:
        """Return a text's tokens, special ones among them."""
        functions = self.library.functions
        room = (functions.llama_token * (len(text) + 8))()
        count = functions.llama_tokenize(
            self.pointer, text, len(text), room, len(room), False, True
        )
        return list(room[:count])

    def piece(self, token: int) -> bytes:
        """Return what a token writes."""
        buffer = ctypes.create_string_buffer(_LONGEST_PIECE)
        length = self.library.functions.llama_token_to_piece(
            self.pointer, token, buffer, len(buffer), 0, True
        )
        return buffer.raw[: max(length, 0)]

    def mask(self, sampler: Any) -> tuple[float, int]:
        """Return the milliseconds of a mask over all tokens, and how many it lets through."""
        functions = self.library.functions
        self.candidates["id"] = np.arange(len(self.candidates))
        self.candidates["logit"] = 0.0
        pointer = self.candidates.ctypes.data_as(ctypes.POINTER(functions.llama_token_data))
        array = functions.llama_token_data_array(pointer, len(self.candidates), -1, False)
        start = process_time()
        functions.llama_sampler_apply(sampler, ctypes.byref(array))
        taken = (process_time() - start) * 1e3
        return taken, int(np.isfinite(self.candidates["logit"]).sum())


@dataclass(frozen=True, slots=True)
class Cost:
    """What a mask costs at one place: milliseconds, and how many tokens may follow."""

    place: str
    ours: float
    converted: float
    tokens: tuple[int, int]

    @property
    def ratio(self) -> float:
        """Ours by the converter's."""
        return self.ours / self.converted


def costs(spec: Path, vocabulary: Vocabulary, rounds: int) -> list[Cost]:
    """Measure one format on one vocabulary."""
    tools = example_tools()
    converted = converter()(json.dumps(as_one_schema(tools)))
    begun = f'{{"name": "find_7", "arguments": {{"a_text": "{_VALUE}'
    turn, whole = turn_grammars(spec, tools)
    call = begun_call(spec)
    places = [
        ("at the beginning", (turn, ""), (converted, "")),
        ("in a string of a call", (turn, call), (converted, begun)),
        (_IN_CONTENT, (whole, begun_content(spec)), (converted, begun)),
    ]
    return [_cost(place, vocabulary, ours, other, rounds) for place, ours, other in places]


def turn_grammars(spec: Path, tools: Sequence[dict[str, Any]]) -> tuple[str, str]:
    """Return the grammar of a turn that has to call a tool, and of one that may."""
    binder = grammar_binder(spec)
    found = []
    for choice in (ToolChoice.REQUIRED, ToolChoice.AUTO):
        request = GrammarRequest(tools, choice, thinking=False, lazy=False)
        bound = binder.bind(request)
        if isinstance(bound, list):
            raise click.ClickException(str(bound[0]))
        found.append(bound.grammar)
    return found[0], found[1]


def begun_call(spec: Path) -> str:
    """Return a turn of a format as far as the middle of a call's string."""
    known = read_spec(spec)
    assert isinstance(known, Spec)
    message = Message(calls=(Call("find_7", {"a_text": _VALUE}, "abcdef123"),))
    written = written_input(known, message, thinking=False)
    text = written.text if written else write_parts(known, message, Part.START)
    return text[: text.index(_VALUE) + len(_VALUE)]


def begun_content(spec: Path) -> str:
    """Return a turn of a format as far as the end of some content."""
    known = read_spec(spec)
    assert isinstance(known, Spec)
    written = written_input(known, Message(CONTENT), thinking=False)
    text = written.text if written else write_parts(known, Message(CONTENT), Part.START)
    return text[: text.index(CONTENT) + len(CONTENT)]


def example_tools() -> list[dict[str, Any]]:
    """Return the tools that are bound."""
    return [_tool(number) for number in range(_TOOLS)]


def _tool(number: int) -> dict[str, Any]:
    """Return a tool whose first argument is a text, also where names are sorted."""
    properties = {
        "a_text": {"type": "string"},
        "kind": {"type": "string", "enum": ["text", "number", "date"]},
        f"limit_{number}": {"type": "integer", "minimum": 1, "maximum": 50},
    }
    parameters = {"type": "object", "properties": properties, "required": ["a_text"]}
    return {"type": "function", "function": {"name": f"find_{number}", "parameters": parameters}}


def _cost(
    place: str, vocabulary: Vocabulary, ours: tuple[str, str], other: tuple[str, str], rounds: int
) -> Cost:
    samplers = [vocabulary.sampler(*one) for one in (ours, other)]
    taken: list[list[float]] = [[], []]
    counts = [0, 0]
    for _ in range(rounds):
        for number, sampler in enumerate(samplers):
            time, counts[number] = vocabulary.mask(sampler)
            taken[number].append(time)
    for sampler in samplers:
        vocabulary.library.functions.llama_sampler_free(sampler)
    return Cost(place, min(taken[0]), min(taken[1]), (counts[0], counts[1]))


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("vocabulary", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("names", nargs=-1, required=True)
@click.option("--rounds", type=click.IntRange(min=1), default=9, show_default=True)
@click.option(
    "--slack",
    type=click.FloatRange(min=0),
    default=1.0,
    show_default=True,
    help="Multiply the target by this.",
)
def bench(vocabulary: Path, names: tuple[str, ...], rounds: int, slack: float) -> None:
    """Measure masks over VOCABULARY, a GGUF file, with the grammars of formats: NAMES as in specs/.

    \b
    Example:
      python -m benchmarks.mask_cost vocabularies/ggml-vocab-qwen2.gguf qwen3-coder
    """  # noqa: D301
    loaded = Vocabulary.load(vocabulary)
    missed = False
    for name in names:
        spec = _ROOT / "specs" / f"{name}.yaml"
        if not spec.is_file():
            raise click.UsageError(f"no format is named {name}")
        for cost in costs(spec, loaded, rounds):
            over = cost.place != _IN_CONTENT and cost.ratio > TARGET * slack
            missed |= over
            click.echo(
                f"{name}, {len(loaded.candidates)} tokens, {cost.place}: {cost.ours:.1f} ms; "
                f"llama.cpp's converter {cost.converted:.1f} ms; {cost.ratio:.2f} times, target "
                f"{TARGET * slack:.1f}; {cost.tokens[0]} and {cost.tokens[1]} tokens may follow"
                f"{': over' if over else ''}"
            )
    raise SystemExit(1 if missed else 0)


if __name__ == "__main__":
    bench()
