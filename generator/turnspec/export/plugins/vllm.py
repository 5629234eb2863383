"""Parsers for vLLM: one that reads whole turns, and the two that its command line asks for."""

from __future__ import annotations

import json
import sys
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from vllm.entrypoints.generate.base.protocol import (
    DeltaFunctionCall,
    DeltaMessage,
    DeltaToolCall,
    ExtractedToolCallInformation,
    FunctionCall,
    ToolCall,
)
from vllm.parser.abstract_parser import Parser
from vllm.parser.parser_manager import ParserManager
from vllm.reasoning import ReasoningParser, ReasoningParserManager
from vllm.sampling_params import StructuredOutputsParams
from vllm.tool_parsers import ToolParser, ToolParserManager

sys.path.append(str(Path(__file__).parent))  # what belongs to it lies beside it

# Here an export has the facts of its format.
from turnspec.export.plugins.facts import StreamingParser, turn_format

NAME = ""
REASONING: tuple[Sequence[str], Sequence[str]] = ((), ())
PROMPTS: Sequence[tuple[Mapping[str, Any], str]] = ()

# What follows is the same for every format.

try:
    from turnspec.export.serving import bound_grammar
except ImportError:
    bound_grammar = None  # type: ignore[assignment]

Ids = Sequence[int]
Piece = tuple[str, bool]  # a text, and whether it is a special token
SPEC = Path(__file__).with_name(f"{NAME}.yaml")
HEADER = turn_format.FORMAT["header"]
MARKERS = SPEC.read_text("utf-8")  # all of them stand in it
LONGEST_MARKER = 32  # tokens; what ends reasoning has no more
#: For how long a request's grammar may be bound, in a process of its own.
BINDING_SECONDS = 10.0


class Vocabulary:
    """A tokenizer's special tokens, as far as the format's markers hold them."""

    def __init__(self, tokenizer: Any) -> None:
        """Pick them out of the tokens that were added to the vocabulary."""
        added = {**tokenizer.get_added_vocab()}
        added |= zip(tokenizer.all_special_tokens, tokenizer.all_special_ids, strict=True)
        marks = {text: token for text, token in added.items() if text in MARKERS}
        self.special = {token: text for text, token in marks.items() if not _is_plain(text)}
        self.tokenizer = tokenizer

    def text(self, ids: Ids) -> str:
        """Return the text of tokens, special ones among it."""
        return self.tokenizer.decode(list(ids), skip_special_tokens=False) if ids else ""

    def prefill(self, prompt: Ids) -> str | None:
        """Return what a prompt holds of the turn; None where nobody can tell."""
        text = self.text(prompt)
        return HEADER + _behind_header(text) if HEADER and HEADER in text else None


class Pieces:
    """Tells special tokens in a text from other text that reads the same, by the tokens' ids."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        """Begin with nothing written."""
        self._vocabulary = vocabulary
        self._text = ""  # what is still to be told
        self._run: list[int] = []  # the tokens behind the last special one
        self._told = 0  # how much of their text is told already
        self._waiting: list[tuple[int, str]] = []  # special tokens, and where they should begin

    def cut(self, text: str, ids: Ids) -> Iterator[Piece]:
        """Yield the text in pieces. It may lag behind the ids, as vLLM holds texts back."""
        self._text += text
        for token in ids:
            if token in self._vocabulary.special:
                place = len(self._vocabulary.text(self._run)) - self._told
                self._waiting.append((place, self._vocabulary.special[token]))
                self._run, self._told = [], 0
            else:
                self._run.append(token)
        while self._waiting:
            wanted, special = self._waiting[0]
            place = _nearest(self._text, special, wanted)
            if place < 0:
                return
            yield self._text[:place], False
            yield special, True
            self._text = self._text[place + len(special) :]
            del self._waiting[0]
        self._told += len(self._text)
        yield from self.rest()

    def rest(self) -> Iterator[Piece]:
        """Yield what is left when no more comes."""
        yield self._text, False
        self._text = ""


class TurnReasoningParser(ReasoningParser):
    """Reasoning alone; it also tells vLLM's engine where that ends."""

    def __init__(self, tokenizer: Any, *args: Any, **kwargs: Any) -> None:
        """Take the tokenizer, and the variables that the template is given."""
        super().__init__(tokenizer, *args, **kwargs)
        self._vocabulary = Vocabulary(tokenizer)
        self._prefill = _prompt_by(**kwargs)
        self._parser: StreamingParser | None = None

    @property
    def reasoning_start_str(self) -> str | None:
        """What opens reasoning."""
        return next(iter(REASONING[0]), None)

    @property
    def reasoning_end_str(self) -> str | None:
        """What closes it."""
        return next(iter(REASONING[1]), None)

    def set_prompt_token_ids(self, prompt_token_ids: Ids) -> None:
        """Take what the prompt holds of the turn."""
        self._prefill = self._vocabulary.prefill(prompt_token_ids)

    def is_reasoning_end(self, input_ids: Ids) -> bool:
        """Say whether reasoning is over in a turn, of which the ids may hold the prompt."""
        turn = _behind_header(self._vocabulary.text(input_ids))
        return not REASONING[1] or _last(turn, REASONING[1]) > _last(turn, REASONING[0])

    def is_reasoning_end_streaming(self, input_ids: Ids, delta_ids: Iterable[int]) -> bool:
        """Say whether the last tokens end reasoning."""
        new = len(list(delta_ids))
        tail = self._vocabulary.text(input_ids[-new - LONGEST_MARKER :])
        known = self._vocabulary.text(input_ids[-new - LONGEST_MARKER : -new])
        return not REASONING[1] or any(tail.count(end) > known.count(end) for end in REASONING[1])

    def extract_content_ids(self, input_ids: list[int]) -> list[int]:
        """Return the tokens behind the reasoning."""
        ends = (n for n in range(len(input_ids), 0, -1) if not self.is_reasoning_end(input_ids[:n]))
        last = next(ends, 0) if self.is_reasoning_end(input_ids) else len(input_ids)
        return input_ids[last + 1 :]

    def extract_reasoning(self, model_output: str, request: Any) -> tuple[str | None, str | None]:
        """Return the reasoning, and the text behind it as the model wrote it."""
        parser = turn_format.Parser(prefill=self._prefill)
        events: list[Any] = [*parser.feed(model_output), *parser.finish()]
        reasoning = parser.message.reasoning_content
        end = max((event.end for event in events if event.type == "reasoning"), default=0)
        rest = model_output[end:]
        for mark in [mark for marks in REASONING[bool(reasoning) :] for mark in marks]:
            rest = rest.lstrip().removeprefix(mark)
        return reasoning or None, rest or None

    def extract_reasoning_streaming(
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: Ids,
        current_token_ids: Ids,
        delta_token_ids: Ids,
    ) -> DeltaMessage | None:
        """Return what new text adds to the reasoning, and what it holds behind it."""
        if self._parser is None or not previous_text:
            self._parser = turn_format.Parser(prefill=self._prefill)
        events = self._parser.feed(delta_text)
        reasoning = "".join(event.text for event in events if event.type == "reasoning")
        content = "".join(event.text for event in events if event.type == "content")
        if not reasoning and not content:
            return None
        return DeltaMessage(reasoning=reasoning or None, content=content or None)


class TurnToolParser(ToolParser):
    """Tool calls alone, in a text that reasoning has been taken from."""

    supports_required_and_named = False  # they are written as all others

    def __init__(self, tokenizer: Any, tools: list[Any] | None = None) -> None:
        """Take the tokenizer and the tools."""
        super().__init__(tokenizer, tools)
        self._parser: StreamingParser | None = None

    def _make_parser(self, request: Any) -> StreamingParser:
        tools = _tools(request) or [tool.model_dump() for tool in self.tools]
        return turn_format.Parser(tools=tools, prefill=HEADER, reasoning="inline")

    def extract_tool_calls(self, model_output: str, request: Any) -> ExtractedToolCallInformation:
        """Return the calls in a text, and the content beside them."""
        parser = self._make_parser(request)
        parser.feed(model_output)
        parser.finish()
        calls = [
            ToolCall(id=call.id, function=FunctionCall(name=call.name, arguments=call.arguments))
            for call in parser.message.tool_calls
        ]
        content = parser.message.content or None
        return ExtractedToolCallInformation(
            tools_called=bool(calls), tool_calls=calls, content=content
        )

    def extract_tool_calls_streaming(
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: Ids,
        current_token_ids: Ids,
        delta_token_ids: Ids,
        request: Any,
    ) -> DeltaMessage | None:
        """Return what new text adds."""
        if self._parser is None or not previous_text:
            self._parser = self._make_parser(request)
        return _delta(self._parser.feed(delta_text))

    def adjust_request(self, request: Any) -> Any:
        """Have special tokens written, and calls that are asked for held to the grammar."""
        return _adjusted(request, None)


class TurnParser(Parser):
    """Whole turns: reasoning, content and calls from one reading, as vLLM's server asks for them.

    Markers that are special tokens of the vocabulary count only where the model wrote the tokens.
    """

    always_adjust_request = True

    def __init__(
        self, tokenizer: Any, tools: list[Any] | None = None, *args: Any, **kwargs: Any
    ) -> None:
        """Take the tokenizer; of the prompt no more is known yet than the template's variables."""
        super().__init__(tokenizer, tools, *args, **kwargs)
        self._vocabulary = Vocabulary(tokenizer)
        self._prefill = _prompt_by(**kwargs)
        self._parser: StreamingParser | None = None
        self._pieces = Pieces(self._vocabulary)
        self._reasoning_tokens = 0

    def set_prompt_token_ids(self, prompt_token_ids: Ids) -> None:
        """Take what the prompt holds of the turn."""
        self._prefill = self._vocabulary.prefill(prompt_token_ids)

    def adjust_request(self, request: Any) -> Any:
        """Have special tokens written, and calls that are asked for held to the grammar."""
        return _adjusted(request, self._prefill)

    def is_reasoning_end(self, input_ids: list[int]) -> bool:
        """Say whether reasoning is over behind a prompt."""
        return self._reasoning_parser is None or self._reasoning_parser.is_reasoning_end(input_ids)

    def parse(
        self,
        model_output: str,
        request: Any,
        enable_auto_tools: bool = False,
        model_output_token_ids: Ids = (),
    ) -> tuple[str | None, str | None, list[FunctionCall] | None]:
        """Return reasoning, content and calls of a whole turn."""
        self._read(request, model_output, model_output_token_ids, finished=True)
        assert self._parser is not None
        message = self._parser.message
        calls = [
            FunctionCall(id=call.id, name=call.name, arguments=call.arguments)
            for call in message.tool_calls
        ]
        reasoning = message.reasoning_content
        if reasoning:
            tokens = self._vocabulary.tokenizer.encode(reasoning, add_special_tokens=False)
            self._reasoning_tokens = len(tokens)
        return reasoning or None, message.content or None, calls

    def parse_delta(
        self,
        delta_text: str,
        delta_token_ids: list[int],
        request: Any,
        prompt_token_ids: list[int] | None = None,
        *,
        finished: bool,
    ) -> DeltaMessage | None:
        """Return what new text adds to the message."""
        if self._parser is None and prompt_token_ids is not None:
            self.set_prompt_token_ids(prompt_token_ids)
        delta = _delta(self._read(request, delta_text, delta_token_ids, finished=finished))
        if delta is None or not delta.reasoning:
            return delta
        self._reasoning_tokens += len(delta_token_ids)
        if not request.include_reasoning:
            delta.reasoning = None
        return delta if delta.reasoning or delta.content or delta.tool_calls else None

    def count_reasoning_tokens(self, token_ids: Ids) -> int:
        """Return how many tokens brought reasoning."""
        return self._reasoning_tokens

    def _read(self, request: Any, text: str, ids: Ids, *, finished: bool) -> list[Any]:
        """Read on, and return what it tells; a turn that is over makes room for another."""
        if self._parser is None:
            self._parser = turn_format.Parser(
                tools=_tools(request),
                prefill=self._prefill,
                reasoning="extract" if self._reasoning_parser else "inline",
                id_prefix=f"call_{uuid.uuid4().hex[:8]}_",  # so that ids differ between turns
                special_tokens=[*self._vocabulary.special.values()],
            )
        events: list[Any] = []
        pieces = [*self._pieces.cut(text, ids), *(self._pieces.rest() if finished else ())]
        for piece, special in pieces:
            events += self._parser.feed(piece, special=special)
        return [*events, *self._parser.finish()] if finished else events


def _prompt_by(chat_template_kwargs: Any = None, **_: Any) -> str | None:
    """Return what a prompt holds of the turn by the template's variables; None if they say not."""
    said = (chat_template_kwargs or {}).items()
    return next((prompt for variables, prompt in PROMPTS if variables.items() <= said), None)


def _adjusted(request: Any, prefill: str | None) -> Any:
    """Return a request with special tokens in the text, and a grammar if a call is asked for."""
    request.skip_special_tokens = False
    choice = request.tool_choice
    if not request.tools or choice in (None, "none", "auto"):
        return request
    if bound_grammar is None:
        raise ValueError("a tool that has to be called needs turnspec beside vLLM, for its grammar")
    grammar, _ = bound_grammar(
        SPEC,
        tools=_tools(request),
        tool_choice=choice if isinstance(choice, str) else choice.model_dump(),
        parallel=request.parallel_tool_calls is not False,
        prefill=prefill,
        seconds=BINDING_SECONDS,
    )
    tag = {"type": "structural_tag", "format": {"type": "grammar", "grammar": grammar}}
    request.structured_outputs = StructuredOutputsParams(structural_tag=json.dumps(tag))
    request.response_format = None
    request._grammar_from_parser = True  # it has the reasoning, so it holds from the beginning
    return request


def _tools(request: Any) -> list[Mapping[str, Any]]:
    """Return a request's tools; none where none may be called."""
    if getattr(request, "tool_choice", None) == "none":
        return []
    return [tool.model_dump() for tool in request.tools or ()]


def _delta(events: Iterable[Any]) -> DeltaMessage | None:
    """Return what some events tell in one delta."""
    message, calls = DeltaMessage(), dict[int, DeltaToolCall]()
    for event in events:
        for key, told in (event.to_delta() or {}).items():
            if key != "tool_calls":
                name = "reasoning" if key == "reasoning_content" else key
                setattr(message, name, (getattr(message, name) or "") + told)
                continue
            for call in told:
                _add_call(calls, call)
    message.tool_calls = list(calls.values())
    return message if message.reasoning or message.content or calls else None


def _add_call(calls: dict[int, DeltaToolCall], told: Mapping[str, Any]) -> None:
    """Add a delta of a call to those of the same call."""
    call = calls.setdefault(told["index"], DeltaToolCall(index=told["index"]))
    call.id, call.type = told.get("id") or call.id, told.get("type", call.type)
    function = told.get("function")
    if function:
        known = call.function or DeltaFunctionCall()
        arguments = (known.arguments or "") + (function.get("arguments") or "")
        name = function.get("name", known.name)
        call.function = DeltaFunctionCall(name=name, arguments=arguments)


def _behind_header(text: str) -> str:
    """Return what stands behind the last header of an assistant's turn, all if there is none."""
    return text.rpartition(HEADER)[2] if HEADER else text


def _nearest(text: str, word: str, place: int) -> int:
    """Return where a word stands that is nearest to a place; -1 if it is nowhere."""
    before, behind = text.rfind(word, 0, place + len(word)), text.find(word, place)
    if before < 0 or behind < 0:
        return max(before, behind)
    return before if place - before <= behind - place else behind


def _last(text: str, words: Iterable[str]) -> int:
    """Return where the last of some words stands; -1 if none does."""
    return max((text.rfind(word) for word in words), default=-1)


def _is_plain(text: str) -> bool:
    """Tell whether a token is a word, or white space."""
    return not text.strip() or text.isalnum()


def _register() -> None:
    """Give vLLM the parsers by the format's name, and the one for whole turns where it asks."""
    ToolParserManager.register_module(NAME, module=TurnToolParser)
    ReasoningParserManager.register_module(NAME, module=TurnReasoningParser)
    compose: Any = ParserManager.get_parser
    ours = {None, TurnReasoningParser, TurnToolParser}

    def get_parser(*args: Any, **kwargs: Any) -> Any:
        found = compose(*args, **kwargs)
        if found is None or found.tool_parser_cls is not TurnToolParser:
            return found
        if found.reasoning_parser_cls not in ours:
            return found
        kept = ("reasoning_parser_cls", "tool_parser_cls", "tool_strict_level")
        return type(NAME, (TurnParser,), {name: getattr(found, name) for name in kept})

    ParserManager.get_parser = staticmethod(get_parser)


_register()
