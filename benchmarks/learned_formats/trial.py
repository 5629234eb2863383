"""A model's own turns in llama.cpp, streamed into the parser of its format as they come."""

from __future__ import annotations

import codecs
import ctypes
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import llama_cpp
from jsonschema import Draft202012Validator

from benchmarks.learned_formats.questions import TOOLS, Exchange, prompt_of
from turnspec.codegen.format_module import FormatModule
from turnspec.grammar.bound import BoundGrammar
from turnspec.spec.model import Spec

_LIMIT = 220
#: How freely the models choose.
TEMPERATURE = 0.8


@dataclass(slots=True)
class Tally:
    """How many of the turns did what; the calls are counted one by one.

    Attributes:
        turns: all of them.
        stopped: ended by a stop token or string, not by the limit.
        parsed: of the stopped ones, read without problems.
        as_whole: gave in pieces the message that they give as a whole.
        without_stop: of the stopped ones, gave the same message without their last token.
        triggered: held a call's trigger, by the patterns of the lazy grammar.
        calling: were read as holding calls.
        as_asked: hold the calls that the question asked for, and no other.
        calls: the calls in them.
        valid: calls of a tool that there is, with arguments by its schema.
    """

    turns: int = 0
    stopped: int = 0
    parsed: int = 0
    as_whole: int = 0
    without_stop: int = 0
    triggered: int = 0
    calling: int = 0
    as_asked: int = 0
    calls: int = 0
    valid: int = 0

    def counts(self) -> dict[str, int]:
        """Return the counts by their names."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True, slots=True)
class Written:
    """A turn: the text of each token, and whether it came to its end."""

    pieces: list[str]
    stopped: bool


class Writer:
    """A model in llama.cpp, as a server has it."""

    def __init__(self, path: Path, context: int) -> None:
        """Load a file."""
        self._llama = llama_cpp.Llama(
            str(path), n_ctx=context, verbose=False, n_threads=1, n_threads_batch=1
        )
        self._vocabulary = llama_cpp.llama_model_get_vocab(self._llama.model)

    def write(self, prompt: str, bound: BoundGrammar, seed: int, *, lazy: bool) -> Written:
        """Let the model write one turn, under the lazy grammar or without any."""
        sampler = self._sampler(bound if lazy else None, seed)
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        tokens = self._llama.tokenize(prompt.encode(), add_bos=False, special=True)
        pieces: list[str] = []
        self._llama.n_tokens = 0
        try:
            for _ in range(_LIMIT):
                self._llama.eval(tokens)
                tokens = [llama_cpp.llama_sampler_sample(sampler, self._llama.ctx, -1)]
                text = decoder.decode(self._text(tokens[0]))
                ended = llama_cpp.llama_vocab_is_eog(self._vocabulary, tokens[0])
                pieces.append("" if ended and text not in bound.stop else text)
                if ended or any(stop in "".join(pieces[-20:]) for stop in bound.stop):
                    return Written(pieces, stopped=True)
        finally:
            llama_cpp.llama_sampler_free(sampler)
        return Written(pieces, stopped=False)

    def _text(self, token: int) -> bytes:
        piece = ctypes.create_string_buffer(256)
        size = llama_cpp.llama_token_to_piece(self._vocabulary, token, piece, 256, 0, True)
        return piece.raw[: max(size, 0)]

    def _sampler(self, bound: BoundGrammar | None, seed: int) -> Any:
        steps = []
        if bound is not None:
            patterns = [pattern.encode() for pattern in bound.trigger_patterns]
            words = (ctypes.c_char_p * len(patterns))(*patterns)
            rules = (self._vocabulary, bound.grammar.encode(), b"root", words, len(patterns))
            steps.append(llama_cpp.llama_sampler_init_grammar_lazy_patterns(*rules, None, 0))
        steps.append(llama_cpp.llama_sampler_init_temp(TEMPERATURE))
        steps.append(llama_cpp.llama_sampler_init_dist(seed))
        chain = llama_cpp.llama_sampler_chain_init(llama_cpp.llama_sampler_chain_default_params())
        for step in steps:
            llama_cpp.llama_sampler_chain_add(chain, step)
        return chain


def answered(
    writer: Writer, spec: Spec, bound: BoundGrammar, asked: Sequence[Exchange], *, lazy: bool
) -> Iterator[tuple[Exchange, Written]]:
    """Have each question answered; the seeds are the same each time."""
    for seed, exchange in enumerate(asked):
        yield exchange, writer.write(prompt_of(spec, exchange), bound, seed, lazy=lazy)


def judged(written: Written, parser: FormatModule, bound: BoundGrammar, asked: Exchange) -> Tally:
    """Return what one turn counts for."""
    text = "".join(written.pieces)
    streamed = parser.Parser(tools=TOOLS)
    for piece in written.pieces:
        streamed.feed(piece)
    streamed.finish()
    message = streamed.message
    calls = [(call.name, _object(call.arguments)) for call in message.tool_calls]
    wanted = [(call.name, call.arguments) for call in asked.answer.calls]
    ended = message if written.stopped else None
    shorter = parser.parse("".join(written.pieces[:-1]), tools=TOOLS)
    return Tally(
        turns=1,
        stopped=written.stopped,
        parsed=written.stopped and not message.problems,
        as_whole=parser.parse(text, tools=TOOLS) == message,
        without_stop=ended is not None and shorter.to_dict() == ended.to_dict(),
        triggered=any(re.search(pattern, text) for pattern in bound.trigger_patterns),
        calling=bool(calls),
        as_asked=calls == wanted,
        calls=len(calls),
        valid=sum(_is_valid(name, arguments) for name, arguments in calls),
    )


def total(tallies: Sequence[Tally]) -> Tally:
    """Return the sums."""
    return Tally(**{name: sum(t.counts()[name] for t in tallies) for name in Tally().counts()})


def _object(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        return None


def _is_valid(name: str, arguments: Any) -> bool:
    schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in TOOLS}
    return name in schemas and Draft202012Validator(schemas[name]).is_valid(arguments)
