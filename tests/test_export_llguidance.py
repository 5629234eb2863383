"""The grammar in llguidance's Lark: it lets through what the GBNF does, and markers as tokens."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from llguidance import LLMatcher, LLTokenizer, TokenizerWrapper

from tests.generated_formats import committed_format
from tests.grammar_engines import engine_llguidance
from turnspec.cases.drawing import draw_cases
from turnspec.deviations.turns import Case
from turnspec.export.exporting import Exported, ExportOptions, Refusal
from turnspec.export.llguidance import FILE, export_llguidance, lark_of
from turnspec.grammar.bound import bind_grammar
from turnspec.grammar.request import GrammarRequest
from turnspec.spec.model import Spec

#: The last has words before its tokens, which are spelled.
WITH_TOKENS = (
    *("qwen-qwen3-0-6b", "qwen3-coder", "openai-gpt-oss-120b", "deepseek-ai-deepseek-v3-1"),
    "muse-glimmer",
)
#: Others have a bracket in sets of characters, and calls without arguments.
NAMES = (*WITH_TOKENS, "team-ace-toolace-8b", "google-gemma-4-31b-it")


class Tokens:
    """A token for each byte, and for each special text."""

    eos_token_id = 256
    bos_token_id = None

    def __init__(self, specials: Mapping[str, int]) -> None:
        self.tokens = [bytes([byte]) for byte in range(256)]
        self.tokens += [b"<eos>", *map(str.encode, specials)]
        self.special_token_ids = [256, *specials.values()]

    def __call__(self, text: bytes | str) -> list[int]:
        return [*(text.encode() if isinstance(text, str) else text)]


def request_of(case: Case) -> GrammarRequest:
    """Return a request for what a case offers."""
    options = case.options
    thinking = options.get("enable_thinking")
    return GrammarRequest(options["tools"], parallel=True, thinking=thinking, lazy=False)


def accepts(tokenizer: LLTokenizer, lark: str, ids: list[int]) -> bool:
    """Say whether tokens are a sentence of the grammar."""
    matcher = LLMatcher(tokenizer, lark, log_level=0)
    assert not matcher.get_error(), matcher.get_error()
    taken = matcher.try_consume_tokens(ids)
    return taken == len(ids) and (matcher.is_accepting() or matcher.is_stopped())


def ids_of(text: str, specials: Mapping[str, int]) -> list[int]:
    """Return a text's bytes, special texts as their tokens."""
    marks = {chr(0xE000 + number): number for number in specials.values()}
    for special, number in specials.items():
        text = text.replace(special, chr(0xE000 + number))
    signs = ([marks[sign]] if sign in marks else [*sign.encode()] for sign in text)
    return [number for numbers in signs for number in numbers]


def judged(name: str) -> list[tuple[Spec, Case, str]]:
    """Return a format's cases behind its own prompts, with their GBNF grammars."""
    form = committed_format(name)
    found = []
    for drawn in draw_cases(form, 16, 3):
        case = drawn.case
        prompt = form.spec.thinking.state(case.options.get("enable_thinking")).prompt
        bound = bind_grammar(form.spec, request_of(case)) if case.options["tools"] else []
        if not isinstance(bound, list) and case.options["prefill"] == prompt:
            found.append((form.spec, case, bound.grammar))
    assert len(found) > 3
    return found


@pytest.mark.parametrize("name", NAMES)
def test_it_lets_through_what_the_gbnf_does(name: str) -> None:
    tokenizer, verdicts = LLTokenizer("byte"), set()
    for _, case, gbnf in judged(name):
        grammar = engine_llguidance.compile_grammar(gbnf)
        assert isinstance(grammar, engine_llguidance.LlguidanceGrammar), grammar
        verdict = accepts(tokenizer, lark_of(gbnf, {}), [*case.text.encode()])
        assert verdict == grammar.accepts(case.text), case.text
        verdicts.add(verdict)
    assert True in verdicts


@pytest.mark.parametrize("name", WITH_TOKENS)
def test_markers_are_tokens_and_no_text(name: str) -> None:
    preserved = committed_format(name).spec.grammar.preserved_tokens
    specials = {text: 257 + number for number, text in enumerate(preserved)}
    tokenizer = LLTokenizer(TokenizerWrapper(Tokens(specials)))
    accepted = 0
    for _, case, gbnf in judged(name):
        lark, plain = lark_of(gbnf, specials), lark_of(gbnf, {})
        if not case.calls or not accepts(tokenizer, plain, ids_of(case.text, {})):
            continue
        in_tokens = ids_of(case.text, specials)
        if in_tokens == ids_of(case.text, {}):
            continue
        accepted += accepts(tokenizer, lark, in_tokens)
        assert not accepts(tokenizer, lark, ids_of(case.text, {})), case.text
    assert accepted


def test_a_rule_is_written_as_lark_has_it() -> None:
    gbnf = (
        'root ::= "<" "a" ">" any "<" "a" ">"? | any-text\n'
        "# no rule\n"
        'any ::= [^/[\\]"\\x00-\\x1F]{2,} "\\n\\x1B\\u2028"\n'
        'any-text ::= "" | any any-text\n'
        'behind ::= "x<a>"\n'
        'escaped ::= [^\\[\\\\/] "\\x7F"\n'
        'spelled ::= "x" "y" "<" "a" ">" "y"\n'
        'empty ::= ""\n'
        'after ::= "x" empty\n'
    )
    assert lark_of(gbnf, {"<a>": 7, "<": 8}).split("\n")[2:] == [
        'start: <[7]> ANY <[8]> "a" ">"? | any_text',
        'ANY: /[^\\/\\[\\]"\\x00-\\x1F]/{2,} "\\n\\u001b\\u2028"',
        'any_text: "" | ANY any_text',
        'behind: "x" <[7]>',
        r'ESCAPED: /[^\[\\\/]/ "\u007f"',
        'spelled: "x" "y" <[7]> "y"',
        'empty: ""',
        'after: "x" empty',
        "",
    ]


def test_what_does_not_print_is_an_escape_that_the_engine_reads() -> None:
    hidden = "\u202e\u2066\u200b\x9bC\ufeff\x7f1\U000e0001"
    lark = lark_of(f'root ::= "<{hidden}>"\n', {})
    assert lark.replace("\n", "").isprintable()
    tokenizer = LLTokenizer(TokenizerWrapper(Tokens({})))
    assert accepts(tokenizer, lark, ids_of(f"<{hidden}>", {}))


def test_it_is_bound_to_tools() -> None:
    spec = committed_format("qwen3-coder").spec
    assert isinstance(export_llguidance(spec, ExportOptions()), Refusal)
    tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
    options = ExportOptions(request=GrammarRequest(tools), token_ids={"<tool_call>": 5})
    exported = export_llguidance(spec, options)
    assert isinstance(exported, Exported)
    assert "<[5]>" in exported.files[FILE]
    assert '"look"' in exported.files[FILE]
