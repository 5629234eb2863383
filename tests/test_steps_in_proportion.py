"""The work of a parser grows with the length of the text, whatever repeats in it, and where.

No clock is read: steps are counted, in Python as `counted_steps` says, in JavaScript as
`steps.mjs` does; faults that are planted try both. For each place of a turn each marker, what it
begins with and each sign that means something is repeated, alone or with another one, and then
twice as often, whole and by characters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from math import inf
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests import counted_steps
from tests.counted_steps import CountedSteps
from tests.generated_formats import EVERY_FORMAT, FORMS, PARTS, committed_spec
from tests.marker_soup import own_markers
from tests.marker_texts import MarkerTexts
from tests.small_formats import FORMATS as SMALL
from tests.typescript.engines import TypeScriptEngine, opened_engine
from turnspec.codegen.compiled import compiled_source
from turnspec.codegen.facts import facts_of
from turnspec.codegen.writer import write_parts
from turnspec.rendering.conversation import tool_definitions
from turnspec.spec.message import Call, Message
from turnspec.spec.model import Spec, Tokenizer
from turnspec.spec.words import Part
from turnspec.verification.messages import allowed_call

#: How long a text is that is read, and then twice as long; and if that takes too many steps, longer
#: ones, as what slots hold and what is held back has its bound.
LENGTHS = (250, 700, 2_000, 5_000, 12_000, 32_000)
#: How many times the steps twice the text may take: a little more, for what is bounded.
GROWTH = 2.3
#: Of each format, so many texts are repeated somewhere.
RUNS = 300 if EVERY_FORMAT else 6
SIGNS = (
    *(" ", "\n", " \n", "x", "a7 ", "[", "{", "(", "<", "]", "}", ")", '"', "'", "`", "\\", '\\"'),
    *("\\u00", "\\n", ",", ":", "=", '{"', '["', '{"a": ', "[1, ", '"a": 1, ', '", "', "x='y', "),
)
ARGUMENTS = {"where": "far away", "list": ["a", 4], "deep": {"x": [True]}}
MESSAGE = Message("I look.", "They ask.", (Call("find_it", ARGUMENTS, "abcdef123"),))
TOOLS = tool_definitions(MESSAGE.calls)
#: What no template writes, which is text within other text.
TOKENIZER = Tokenizer("a tokenizer", ("<|spare|>", "[PAD]"), ("<|stop|>",))
#: A format, how a text begins, what is in it many times, and how it ends.
CASES = {
    "ends of the turn in a string": (
        *("qwen-qwen3-0-6b", '<tool_call>\n{"name": "find_it", "arguments": {"x": "'),
        *("<|im_end|>\n", "x"),
    ),
    "beginnings of another argument in an array": (
        *("qwen3-coder", '<tool_call>\n<function=find_it>\n<parameter=list>\n["'),
        *("<parameter=where>", ""),
    ),
    "blanks behind a string": ("team-ace-toolace-8b", "[find_it(where='x'", " ", ""),
    "openings in reasoning": ("qwen-qwen3-0-6b", "<think>", "<tool_call>\n<function=", ""),
    "such with an end": (
        *("qwen-qwen3-0-6b", "<think>", "<tool_call>\n<function="),
        "</tool_call> x < y",
    ),
    "drafts in reasoning": (
        *("qwen-qwen3-0-6b", "<think>", '<tool_call>{"name": "f"}</tool_call> x'),
        "",
    ),
    "beginnings of calls in reasoning": (
        *("qwen-qwen3-0-6b", "<think>", '<tool_call>\n{"name": "find_it", "argument', ""),
    ),
    "quotes in a string": (
        *("lfm2-5-instruct", "<|tool_call_start|>[find_it(where='far", "a'b", ""),
    ),
    "quotes in a string without escapes": (
        *("hand raw texts", '<call>find_it(where="far', 'a"b', ""),
    ),
    "beginnings of calls with such a string": (
        *("hand raw texts", "", '<call>find_it(where="', ""),
    ),
    "ends of a call in a string": (
        *("qwen-qwen3-0-6b", '<tool_call>{"name": "f", "arguments": {"a": "'),
        *("</tool_call>", 'x"}}'),
    ),
    "such with space between them": (
        *("qwen-qwen3-0-6b", '<tool_call>{"name": "f", "arguments": {"a": "'),
        *("</tool_call>\n", "</tool"),
    ),
    "such in a string without escapes": (
        *("google-gemma-4-31b-it", '<|tool_call>call:f{a:<|"|>b'),
        *("<tool_call|> ", ""),
    ),
    "a value in reasoning": (
        "bytedance-seed-oss",
        "<seed:think>Th<seed:tool_call>\n<function=find_it>\n<parameter=where>",
        *("x", ""),
    ),
    "calls in a raw string": (
        *("google-gemma-4-31b-it", '<|tool_call>call:find_it{where:<|"|>far'),
        *("<|tool_call>call:other<tool_call|>", ""),
    ),
    "letters of a word": (
        *("qwen-qwen3-0-6b", '<tool_call>\n{"name": "find_it", "arguments": {"list": '),
        *("x", ""),
    ),
    "blanks behind a token": ("llama-cpp-rwkv-world", "It says [PAD]", " ", ""),
    "brackets of which one is not closed": (
        *("meta-llama-llama-3-1-8b-instruct", '{"name": "find_it", "parameters": {"deep": 1 '),
        *("{[{]", ""),
    ),
    "quotes in a key that is never closed": (
        *("google-functiongemma-270m-it", "<start_function_call>call:find_it{deep:{x:[1]"),
        *("`'", ""),
    ),
    "openings of what has no name": (
        *("apertus-8b-instruct", "<|inner_prefix|>They ask.<|inner_suffix|>I look."),
        *('<|tools_prefix|> ```\n[ {"x', ""),
    ),
}

#: What has no end takes as long as what has one, and reads less.
WHICH = [
    pytest.param(case, marks=[pytest.mark.long] if case == "openings in reasoning" else [])
    for case in CASES
]

#: Returns how many steps so many pieces of a text take, and all; what the first takes is left out.
Count = Callable[[Sequence[str], int], tuple[float, float]]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TypeScriptEngine]:
    with opened_engine(tmp_path_factory.mktemp("engine")) as opened:
        yield opened


@cache
def spec_of(name: str) -> Spec:
    """Return a committed format, or one that is written by hand."""
    hand = name.removeprefix("hand ")
    return replace(SMALL[hand] if hand != name else committed_spec(name), tokenizer=TOKENIZER)


@cache
def counted(name: str) -> CountedSteps:
    return CountedSteps(compiled_source(facts_of(spec_of(name))))


def options_of(name: str) -> dict[str, Any]:
    return {"tools": TOOLS, "prefill": spec_of(name).turn.header}


def in_python(name: str) -> Count:
    return lambda read, half: counted(name).of(read, half, **options_of(name))


def in_javascript(engine: TypeScriptEngine, name: str) -> Count:
    def count(read: Sequence[str], half: int) -> tuple[float, float]:
        return engine.steps(name, read, half, **options_of(name))

    count(["x", "x"], 0)  # when expressions are made
    return count


def shown(spec: Spec, message: Message) -> str:
    calls = tuple(allowed_call(spec, call) for call in message.calls) if spec.tools else ()
    thought = message.reasoning if spec.reasoning.field else ""
    return write_parts(spec, Message(message.content, thought, calls), Part.START)


def places(spec: Spec) -> Iterator[str]:
    """Yield beginnings of turns: up to each place, and up to each in a call within reasoning."""
    turn, call = shown(spec, MESSAGE), shown(spec, Message("", "", MESSAGE.calls))
    yield from (turn[: turn.index(it) + len(it)] for it in ("I lo", "Th", "far") if it in turn)
    yield from (turn[: found.end()] for found in re.finditer(r"\w+|\s+|[^\w\s]|^", turn))
    if "Th" in turn:
        thought = turn[: turn.index("Th") + 2]
        yield from (thought + call[: found.end()] for found in re.finditer(r"\w+|[^\w]|^", call))


def units(name: str) -> list[str]:
    """Return what is repeated: markers, what they begin with, beginnings of calls, and signs."""
    call = shown(spec_of(name), Message("", "", MESSAGE.calls))
    found = {*SIGNS, *(call[: it.end()] for it in re.finditer(r"\w+|[^\w\s]", call))}
    texts = MarkerTexts(facts_of(spec_of(name)), Random(name))
    for marker in {*own_markers(spec_of(name)), *map(texts.written, texts.markers)}:
        bare = marker.strip()
        found |= {marker, bare[:-1], bare[:1], bare[: len(bare) // 2], f"{marker}x"}
    return sorted(found - {""})


def runs(name: str) -> Iterator[tuple[str, str]]:
    """Yield places, and what is repeated at them: one text, or two in turn."""
    random = Random(name)
    leads, repeated = [*places(spec_of(name))], units(name)
    for number in range(RUNS):
        second = random.choice(repeated) if number % 2 else ""
        yield random.choice(leads), random.choice(repeated) + second


def grows_too_much(
    count: Count,
    lead: str,
    unit: str,
    end: str,
    by_characters: bool,
    lengths: Sequence[int] = LENGTHS,
) -> bool:
    for length in lengths:
        number = -(-length // len(unit))
        texts = (unit * times + end for times in (number, 2 * number))
        once, twice = ([lead, *(text if by_characters else [text])] for text in texts)
        half, whole = count(twice, len(once) if by_characters else 0)
        if whole == inf:
            return True
        # What reads half of it to the end takes more steps than what is on its way there.
        if whole <= GROWTH * half or whole <= GROWTH * count(once, 0)[1]:
            return False
    return True


def told(count: Count, cases: Iterator[tuple[str, str]]) -> list[str]:
    """Return the places and texts that take too many steps, as lines."""
    return [
        f"{unit!r} after {lead!r}{', by characters' if by_characters else ''}"
        for lead, unit in cases
        for by_characters in (False, True)
        if grows_too_much(count, lead, unit, "", by_characters)
    ]


@pytest.mark.timeout(600)
def test_ends_of_no_call_take_no_longer_after_many_problems() -> None:
    name = "qwen-qwen3-0-6b"
    repeated, ends = "<|im_start|>assistant\nx ", "a</tool_call> "
    texts = [f"{repeated * times}Use <tool_call> so. {ends * times}" for times in (400, 800)]
    once, twice = (counted(name).of([text], 0, **options_of(name))[1] for text in texts)
    assert twice <= GROWTH * once


@pytest.mark.parametrize("name", PARTS)
def test_steps_grow_with_the_text(name: str) -> None:
    assert told(in_python(name), runs(name)) == []


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", FORMS)
def test_steps_in_javascript_grow_with_the_text(name: str, engine: TypeScriptEngine) -> None:
    assert told(in_javascript(engine, name), runs(name)) == []


@pytest.mark.parametrize("by_characters", [False, True], ids=["whole", "by characters"])
@pytest.mark.parametrize("case", WHICH)
def test_what_once_took_too_many_steps(
    case: str, by_characters: bool, engine: TypeScriptEngine
) -> None:
    name, lead, unit, end = CASES[case]
    for count in (in_python(name), in_javascript(engine, name)):
        assert not grows_too_much(count, lead, unit, end, by_characters)


#: Parsers that do nothing but look too often at what they have read.
FAULTY = {
    "Python": """
import re
class Parser:
    def __init__(self):
        self.items, self.members = [], {}
    def feed(self, piece):
        for at, sign in enumerate(piece):
            self.items.append(sign)
            %s
    def finish(self):
        pass
""",
    "JavaScript": """
export class Parser {
  items = [];
  members = new Map();
  joined = "";
  feed(piece) {
    for (let at = 0; at < piece.length; at += 1) {
      const sign = piece[at];
      this.items.push(sign);
      %s;
    }
  }
  finish() {}
}
""",
}
FAULTS = {
    "Python": {
        "the text is looked through": "piece.find('!')",
        "its second half is": "re.compile('!').search(piece, len(piece) // 2)",
        "the rest is copied": "piece[at:]",
        "an expression is tried again": "re.compile('[^!]*!').match(piece, at)",
        "a list's first is taken": "self.items += [self.items.pop(0)]",
        "a list is walked": "for each in self.items: pass",
        "a list is walked by index": "while at: at -= 1",
        "a list is looked through": "'!' in self.items",
        "a list is copied": "self.copy = [*self.items]",
        "a list is joined": "''.join(self.items)",
        "a mapping is walked": "self.members[len(self.items)] = at; max(self.members)",
    },
    "JavaScript": {
        "the text is looked through": "piece.indexOf('!')",
        "its second half is": "for (let i = piece.length >> 1; i < piece.length; i += 1) piece[i]",
        "the rest is copied": "piece.slice(at)",
        "an expression is tried again": "const r = /[^!]*!/y; r.lastIndex = at; r.test(piece)",
        "a list's first is taken": "this.items.push(this.items.shift())",
        "a list is walked": "for (const each of this.items) if (!each) break",
        "a list is walked by index": "for (let i = 0; i < this.items.length; i += 1) this.items[i]",
        "a list is looked through": "this.items.some((each) => each === '!')",
        "a list is copied": "this.copy = [...this.items]",
        "a list is joined": "this.items.join('')",
        "a mapping is walked": "this.members.set(this.items.length, at); [...this.members.keys()]",
        "a text is put together anew": "this.joined += sign; this.joined.charCodeAt(at)",
    },
}
PLANTED = [(language, fault) for language, faults in FAULTS.items() for fault in faults]


@pytest.fixture
def faulty(tmp_path: Path, engine: TypeScriptEngine) -> Callable[[str, str], Count]:
    """Return what counts the steps of such a parser."""

    def count_of(language: str, fault: str) -> Count:
        text = FAULTY[language] % fault
        if language == "Python":
            return CountedSteps(text).of
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.mjs"  # Node loads each file once
        path.write_text(text, encoding="utf-8")
        engine.load_file(str(path), path)
        return lambda read, half: engine.steps(str(path), read, half)

    return count_of


@pytest.mark.parametrize(("language", "fault"), PLANTED)
def test_planted_faults_are_noticed(
    language: str, fault: str, faulty: Callable[[str, str], Count]
) -> None:
    count = faulty(language, FAULTS[language][fault])
    ways = (grows_too_much(count, "x", "x y", "", way, LENGTHS[:2]) for way in (False, True))
    assert any(ways)


@pytest.mark.parametrize(
    ("language", "nothing", "hang"),
    [("Python", "pass", "while at: pass"), ("JavaScript", "", "while (at) {}")],
)
def test_what_hangs_is_noticed_and_what_is_right_is_not(
    language: str,
    nothing: str,
    hang: str,
    faulty: Callable[[str, str], Count],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for way in (False, True):
        assert not grows_too_much(faulty(language, nothing), "x", "x y", "", way)
    monkeypatch.setattr(counted_steps, "MOST_SECONDS", 1)
    assert grows_too_much(faulty(language, hang), "x", "x y", "", by_characters=False)
