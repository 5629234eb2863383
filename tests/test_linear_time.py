"""The committed parsers' work grows with the length of the text, however it is cut.

No clock is read. What a parser keeps between two feeds is what the next one may have to copy and
to read again; the sum over all feeds of how much that is stands for the work.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest
from benchmarks.cases import LongText, LongTurn, has_part, said, string_encoding, turn_with

from tests.generated_formats import PARTS, committed_format
from tests.parser_checks import some
from tests.steps import steps_of
from turnspec.codegen.facts import facts_of
from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.markers import leading_text
from turnspec.codegen.marks import FEWEST_SIGNS
from turnspec.codegen.writer import write_parts
from turnspec.rendering.conversation import tool_definitions
from turnspec.spec.message import Call, Message
from turnspec.spec.model import Spec
from turnspec.spec.words import Encoding, Part
from turnspec.verification.messages import allowed_call, format_markers

LONG_TEXTS = (LongText.CONTENT, LongText.REASONING, LongText.ARGUMENT)

#: What a parser may hold back beyond all of its format's markers: bounded names and white space.
HELD_BACK = 300

TEXT_LENGTH = 1600

#: Characters of which runs are put anywhere in a turn.
RUNS = {"white space": " \n", "words": "a7", "brackets": "<[{", "marks": '"\\,:'}
RUN_LENGTH = 1000


@dataclass(frozen=True, slots=True)
class Format:
    """A spec and its committed parser."""

    spec: Spec
    module: FormatModule

    @property
    def markers(self) -> list[str]:
        """The format's literals, without the white space around them."""
        found = format_markers(self.spec)
        guard = self.spec.tools.arguments.guard if self.spec.tools else None
        return sorted(found | ({guard.start, guard.end} if guard else set()))

    @property
    def beginnings(self) -> set[str]:
        """What parsers take for a marker, though less than the template writes: a word, a tag."""
        rows = (row for table in facts_of(self.spec).tables.values() for row in table)
        return {text for row in rows if len(text := leading_text(row.marker)) >= FEWEST_SIGNS}

    @property
    def bound(self) -> int:
        """How many characters may be held back."""
        return HELD_BACK + sum(map(len, self.markers))

    def parser(self, message: Message) -> Any:
        """Return a parser for a turn that may make the calls of the message."""
        tools = tool_definitions(message.calls)
        return self.module.Parser(tools=tools, prefill=self.spec.turn.header)


@pytest.fixture(scope="module", params=PARTS)
def known(request: pytest.FixtureRequest) -> Format:
    committed = committed_format(request.param)
    return Format(committed.spec, committed.module)


def in_pieces(text: str, size: int) -> Iterator[str]:
    """Cut a text."""
    return (text[at : at + size] for at in range(0, len(text), size))


def kept(parser: Any) -> int:
    """Return how many characters a parser keeps in texts that it may copy with the next feed."""
    # A parser with many attributes has slots in place of a dictionary.
    names = getattr(parser, "__slots__", None) or vars(parser)
    values = (getattr(parser, name, "") for name in names)
    return sum(len(value) for value in values if isinstance(value, str))


def dense_texts(known: Format, part: LongText) -> Iterator[str]:
    """Return texts full of what markers begin with, none of which holds a marker."""
    units = {"word ", "word" + " " * 40, "word" + "\n" * 40, "<", "<\n", "[", "{", '"', "\\"}
    for marker in known.markers:
        units |= {marker[:1], marker[:-1], f"{marker[:-1]} x\n"}
    for unit in sorted(units):
        text = unit * (TEXT_LENGTH // len(unit)) if unit.strip() else ""
        forbidden = [*known.markers, *known.beginnings, *_quote(known.spec, part)]
        if text and not any(marker in text for marker in forbidden):
            yield text


def _quote(spec: Spec, part: LongText) -> list[str]:
    """Return what can't stand in a string: its quote, in syntaxes that escape none."""
    if part is not LongText.ARGUMENT or spec.tools is None:
        return []
    quoted = string_encoding(spec.tools) is Encoding.QUOTED
    return [spec.tools.arguments.syntax.quote] if quoted else []


def length_out(spec: Spec, part: LongText, event: Any) -> int:
    """Return how many characters of the fed text an event stands for."""
    kind = {LongText.CONTENT: "content", LongText.REASONING: "reasoning"}.get(part)
    if kind:
        return len(event.text) if event.type == kind else 0
    if event.type != "tool_call_delta":
        return 0
    assert spec.tools is not None
    if string_encoding(spec.tools) in (Encoding.JSON, Encoding.PYTHON):  # fed with the escapes
        return len(event.arguments)
    return len(re.sub(r"\\u[0-9a-f]{4}|\\.", "_", event.arguments))


def most_held_back(known: Format, part: LongText, turn: LongTurn) -> tuple[int, int]:
    """Feed a turn; return the most that was fed and hadn't come out, and the most that was kept."""
    parser = known.parser(turn.message)
    parser.feed(turn.lead)
    held = most_held = most_kept = 0
    for piece in in_pieces(turn.body, 4):
        events = parser.feed(piece)
        held += len(piece) - sum(length_out(known.spec, part, event) for event in events)
        most_held, most_kept = max(most_held, held), max(most_kept, kept(parser))
    parser.feed(turn.tail)
    parser.finish()
    assert said(part, parser.message) == turn.value
    return most_held, most_kept


@pytest.mark.parametrize("part", LONG_TEXTS, ids=str)
def test_long_texts_come_out_as_they_arrive(known: Format, part: LongText) -> None:
    if not has_part(known.spec, part):
        assert part is not LongText.CONTENT
        return
    texts = [*dense_texts(known, part)]
    assert len(texts) > 9
    for text in texts:
        turn = turn_with(known.spec, part, text)
        held, buffered = most_held_back(known, part, turn)
        assert held <= known.bound, f"{held} held back of {text[:80]!r}"
        assert buffered <= known.bound, f"{buffered} kept of {text[:80]!r}"


@pytest.mark.parametrize("sign", "'\"`")
def test_a_quote_that_ends_nothing_costs_no_more_than_a_letter(known: Format, sign: str) -> None:
    """In a string, around which others stand."""
    ends = any(marker.strip().startswith(sign) for marker in known.markers)
    if ends or not has_part(known.spec, LongText.ARGUMENT):
        return
    texts = [f"Ab{it}cd, " * 99 for it in (sign, "x")]
    quoted, plain = (turn_with(known.spec, LongText.ARGUMENT, text) for text in texts)
    if len(quoted.body) == len(plain.body) and not quoted.lead.endswith(sign):  # nor is it escaped
        assert steps(known, quoted) <= steps(known, plain) * 1.25


def steps(known: Format, turn: LongTurn) -> int:
    """Return how many steps the text in a turn takes, in pieces."""
    parser = known.parser(turn.message)
    parser.feed(turn.lead + turn.body[:8])
    rest = list(in_pieces(turn.body[8:], 4))
    return steps_of(known.module, lambda: [parser.feed(piece) for piece in rest])


def sample(spec: Spec) -> Message:
    """Return a message with all parts that the format has."""
    call = Call("find_it", {"where": "far away", "many": 41, "deep": {"x": [True]}}, "abcdef123")
    thought = "They ask." if has_part(spec, LongText.REASONING) else ""
    return Message("I look.", thought, (allowed_call(spec, call),) if spec.tools else ())


def boundaries(turn: str) -> list[int]:
    """Return where one token of a turn ends and another begins."""
    return [match.start() for match in re.finditer(r"\w+|\s+|.", turn)] + [len(turn)]


def work(parser: Any, run: str) -> tuple[int, int]:
    """Return the work for a fourth of the run and for all of it."""
    done, fourth, total = 0, 0, 0
    for piece in in_pieces(run, 80):
        parser.feed(piece)
        done += len(piece)
        total += kept(parser)
        fourth = total if done <= len(run) // 4 else fourth
    return fourth, total


def not_linear(
    known: Format, message: Message, leads: Iterable[str], units: Iterable[str]
) -> list[tuple[str, str]]:
    """Return each lead and unit where four times the units make more than five times the work."""
    failing = []
    for lead, unit in product(leads, units):
        parser = known.parser(message)
        parser.feed(lead)
        fourth, total = work(parser, (unit * (4 * RUN_LENGTH))[: 4 * RUN_LENGTH])
        if total > 5 * fourth + RUN_LENGTH:
            failing.append((lead, unit))
    return failing


def told(failing: list[tuple[str, str]]) -> str:
    """Return the shortest lead of each unit whose runs aren't read in linear time."""
    shortest = {unit: lead for lead, unit in sorted(failing, key=lambda each: -len(each[0]))}
    lines = [f"runs of {unit!r}, as after {lead!r}" for unit, lead in shortest.items()]
    return "\n".join([f"{len(failing)} places are not linear:", *lines])


@pytest.mark.parametrize("runs", RUNS)
def test_a_run_of_one_character_anywhere_takes_linear_time(known: Format, runs: str) -> None:
    message = sample(known.spec)
    turn = write_parts(known.spec, message, Part.START)
    leads = [turn[:at] for at in some(boundaries(turn), 15)]
    failing = not_linear(known, message, leads, RUNS[runs])
    assert not failing, told(failing)


def test_a_run_of_markers_takes_linear_time(known: Format) -> None:
    message = sample(known.spec)
    turn = write_parts(known.spec, message, Part.START)
    inside = [text for text in ("I lo", "Th", "far") if text in turn]
    leads = [turn[: turn.index(text) + len(text)] for text in inside]
    failing = not_linear(known, message, leads, known.markers)
    assert not failing, told(failing)
