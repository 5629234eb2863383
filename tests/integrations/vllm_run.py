"""Reads turns with vLLM's own classes; runs in an environment that has vLLM, without a GPU.

Standard input: a vocabulary's file, and formats, each with a plugin's file, cases (prefill, text,
tools), special tokens, and the names of vLLM's own parsers for it, if it has any. Standard output:
for each format what came of it, by the ways in which it was read.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import xgrammar
from vllm.entrypoints.openai.chat_completion.message_assembly import (
    assemble_chat_message_fields,
)
from vllm.entrypoints.openai.chat_completion.protocol import (
    ChatCompletionRequest,
)
from vllm.entrypoints.openai.chat_completion.stream_processor import (
    ChatStreamProcessor,
)
from vllm.parser.parser_manager import ParserManager
from vllm.reasoning import ReasoningParserManager
from vllm.tokenizers.hf import get_cached_tokenizer
from vllm.tool_parsers import ToolParserManager

from tests.integrations.vocabularies import real_tokenizer, texts_of

BEFORE = "A question, and what else a prompt holds.\n"
Names = tuple[str | None, str | None]  # of a tool parser and a reasoning parser


class Characters:
    """A tokenizer with a token for each character, and one for each special text."""

    is_fast = True
    bos_token_id = eos_token_id = None

    def __init__(self, specials: Sequence[str]) -> None:
        self.specials = {0x110000 + number: text for number, text in enumerate(specials)}
        self.ids = {text: token for token, text in self.specials.items()}
        self.all_special_tokens = [*self.ids]
        self.all_special_ids = [*self.specials]

    def get_vocab(self) -> dict[str, int]:
        return {**{chr(n): n for n in range(256)}, **self.ids}

    get_added_vocab = property(lambda self: lambda: {**self.ids})

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        found, place = [], 0
        longest_first = sorted(self.ids, key=len, reverse=True)
        while place < len(text):
            special = next((s for s in longest_first if text.startswith(s, place)), "")
            found.append(self.ids[special] if special else ord(text[place]))
            place += len(special) or 1
        return found

    def decode(self, ids: Any, skip_special_tokens: bool = True) -> str:
        ids = [ids] if isinstance(ids, int) else ids
        return "".join(self.specials.get(token) or chr(token) for token in ids)

    def convert_tokens_to_ids(self, tokens: Any) -> Any:
        if isinstance(tokens, str):
            return self.ids.get(tokens, ord(tokens) if len(tokens) == 1 else None)
        return [self.convert_tokens_to_ids(token) for token in tokens]

    def convert_ids_to_tokens(self, ids: Any, skip_special_tokens: bool = False) -> Any:
        return [self.decode([token]) for token in ids]


def request_of(case: dict[str, Any], **more: Any) -> Any:
    asked = {"messages": [{"role": "user", "content": "?"}], "model": "any", **more}
    if case["tools"]:
        asked |= {"tools": case["tools"], "tool_choice": "auto"}
    return ChatCompletionRequest(**asked)


def parser_class(names: Names, tokenizer: Any) -> Any:
    return ParserManager.get_parser(names[0], names[1], enable_auto_tools=bool(names[0]))


class Reading:
    """One way to read the cases of a format: a parser of some names, with a tokenizer."""

    def __init__(self, names: Names, tokenizer: Any) -> None:
        self.tokenizer, self.parser_class = tokenizer, parser_class(names, tokenizer)
        self.seconds, self.tokens = 0.0, 0

    def start(self, case: dict[str, Any]) -> tuple[Any, Any, list[int]]:
        request = request_of(case)
        variables = case["variables"]
        parser = self.parser_class(self.tokenizer, request.tools, chat_template_kwargs=variables)
        prompt = self.tokenizer.encode(BEFORE + case["prefill"])
        parser.set_prompt_token_ids(prompt)
        request = parser.adjust_request(request=request)
        return parser, request, prompt

    def whole(self, case: dict[str, Any]) -> Any:
        parser, request, _ = self.start(case)
        ids = self.tokenizer.encode(case["text"])
        found = parser.parse(case["text"], request, True, ids)
        fields = assemble_chat_message_fields(
            request, *found, enable_auto_tools=True, parser_cls=self.parser_class
        )
        calls = [[call.function.name, call.function.arguments] for call in fields.tool_calls]
        return [fields.reasoning or "", fields.content or "", calls]

    def stream(self, case: dict[str, Any], size: int) -> Any:
        parser, request, prompt = self.start(case)
        steps = ChatStreamProcessor(
            request, parser, enable_auto_tools=True, parser_cls=self.parser_class
        )
        ids = self.tokenizer.encode(case["text"])
        groups = [ids[start : start + size] for start in range(0, len(ids), size)]
        texts = list(texts_of(self.tokenizer, groups))
        begun = time.perf_counter()
        deltas = []
        for number, (text, group) in enumerate(zip(texts, groups, strict=True)):
            last = "stop" if number == len(groups) - 1 else None
            deltas.append(steps.step(text, group, last, prompt).delta)
        self.seconds += time.perf_counter() - begun
        self.tokens += len(ids)
        return together(filter(None, deltas))


def together(deltas: Iterator[Any]) -> Any:
    """Put deltas together as clients do."""
    reasoning, content = "", ""
    calls: list[list[str]] = []
    for delta in deltas:
        reasoning += delta.reasoning or ""
        content += delta.content or ""
        for call in delta.tool_calls:
            while len(calls) <= call.index:
                calls.append(["", ""])
            calls[call.index][0] += (call.function.name if call.function else "") or ""
            calls[call.index][1] += (call.function.arguments if call.function else "") or ""
    return [reasoning, content, calls]


def attempt(read: Any, *arguments: Any) -> Any:
    try:
        return read(*arguments)
    except Exception as error:  # whatever it raises is what we are to know
        return f"{type(error).__name__}: {error}"[:300]


def read_all(names: Names, tokenizer: Any, cases: Sequence[Any], sizes: Sequence[int]) -> Any:
    """Return the messages of the cases, whole and by so many tokens, and the seconds per token."""
    reading = Reading(names, tokenizer)
    messages = [
        [attempt(reading.whole, case), *(attempt(reading.stream, case, size) for size in sizes)]
        for case in cases
    ]
    return {"messages": messages, "seconds": reading.seconds / max(reading.tokens, 1)}


def ended(cases: Sequence[Any]) -> list[Any]:
    """Return cases without what ends their turns, as vLLM keeps the last token to itself."""
    return [{**case, "text": case["ended"]} for case in cases]


def quoted(names: Names, specials: Sequence[str], case: dict[str, Any]) -> Any:
    """Return what becomes of a turn that comes without any special token, as a quotation does."""
    tokenizer = Characters(specials)
    reading = Reading(names, tokenizer)
    parser, request, prompt = reading.start(case)
    deltas = []
    for place, character in enumerate(case["text"]):
        last = place == len(case["text"]) - 1
        deltas.append(
            parser.parse_delta(character, [ord(character)], request, prompt, finished=last)
        )
    return together(filter(None, deltas))


def required(names: Names, specials: Sequence[str], case: dict[str, Any]) -> Any:
    """Say whether the grammar of a request that asks for a call lets a turn through."""
    tokenizer = Characters(specials)
    asked = request_of(case)
    asked.tool_choice = "required"
    parser = parser_class(names, tokenizer)(tokenizer, asked.tools, chat_template_kwargs={})
    parser.set_prompt_token_ids(tokenizer.encode(BEFORE + case["prefill"]))
    tag = parser.adjust_request(request=asked).structured_outputs.structural_tag
    grammar = xgrammar.Grammar.from_structural_tag(tag)
    return xgrammar.testing._is_grammar_accept_string(grammar, case["text"])


def outcomes(form: dict[str, Any], vocabulary: Path) -> dict[str, Any]:
    """Return what ours, and vLLM's own, make of a format's cases."""
    ToolParserManager.import_tool_parser(form["plugin"])
    ReasoningParserManager.import_reasoning_parser(form["plugin"])
    ours, specials, cases = (form["name"],) * 2, form["specials"], form["cases"]
    real = get_cached_tokenizer(real_tokenizer(vocabulary, specials))  # as vLLM itself has it
    found = {
        "tokens": attempt(read_all, ours, Characters(specials), cases, (1, 3)),
        "pieces": attempt(read_all, ours, Characters([]), cases, (1, 3)),
        "real": attempt(read_all, ours, real, ended(cases), (1,)),
    }
    if form["quoted"]:
        found["quoted"] = attempt(quoted, ours, specials, form["quoted"])
    if form["required"]:
        found["required"] = attempt(required, ours, specials, form["required"])
    if form["own"]:
        if form["more_tokens"] or form["options"]:
            tokens = [*specials, *form["more_tokens"]]
            real = get_cached_tokenizer(real_tokenizer(vocabulary, tokens, **form["options"]))
        found["own"] = attempt(read_all, tuple(form["own"]), real, ended(cases), (1,))
    return found


def main() -> None:
    """Read all formats, and write what came of them."""
    asked = json.load(sys.stdin)
    given = [outcomes(form, Path(asked["vocabulary"])) for form in asked["formats"]]
    json.dump(given, sys.stdout)


if __name__ == "__main__":
    main()
