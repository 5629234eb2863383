"""Whether one parser reads what another format writes: turns of the one, given to the other."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from turnspec.codegen.loading import FormatModule
from turnspec.rendering.conversation import tool_definitions
from turnspec.review.sampling import random_messages
from turnspec.spec.message import Message
from turnspec.spec.model import Spec
from turnspec.verification.messages import sample_messages
from turnspec.verification.turns import expected_message, written_input

#: Random messages per direction, beside the fixed ones.
RANDOM_MESSAGES = 100


class Compatibility(StrEnum):
    """How a parser reads the turns of another format, from best to worst."""

    COMPATIBLE = "compatible"  # the same messages, without problems
    LENIENT = "lenient"  # the same messages, some with problems
    BREAKING = "breaking"  # some messages differ


@dataclass(frozen=True, slots=True)
class Format:
    """A spec and the module generated from it."""

    spec: Spec
    module: FormatModule


@dataclass(frozen=True, slots=True)
class WrittenTurn:
    """What a model writes behind a generation prompt, and what was asked of it."""

    prompt: str
    text: str
    thinking: bool
    tools: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Example:
    """A turn that is read otherwise than it is meant, or with problems."""

    text: str
    meant: str
    read: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What a parser makes of another format's turns.

    ``same``, ``with_problems`` and ``differing`` count turns. ``unreadable`` are those that their
    own parser doesn't read without problems, which are left out. ``with_prompt`` says how it goes
    when the parser is given the real prompt as ``prefill``.
    """

    compatibility: Compatibility
    with_prompt: Compatibility
    same: int
    with_problems: int
    differing: int
    unreadable: int
    kinds: tuple[str, ...] = ()
    example: Example | None = None

    @property
    def turns(self) -> int:
        """The number of turns that were compared."""
        return self.same + self.with_problems + self.differing


@dataclass(frozen=True, slots=True)
class _Read:
    """What was read from a text: the message, comparable and to be shown, and its problems."""

    message: tuple[object, ...]
    shown: str
    kinds: tuple[str, ...]


def read_turns(reader: Format, writer: Format) -> Reading:
    """Have ``reader`` read the turns of ``writer``, as an application would that isn't changed."""
    turns = written_turns(writer.spec)
    meant = [_read(writer.module, turn, turn.prompt) for turn in turns]
    pairs = [(turn, wanted) for turn, wanted in zip(turns, meant, strict=True) if not wanted.kinds]
    found = [_read(reader.module, turn, None) for turn, _ in pairs]
    grades = [_grade(wanted, read) for (_, wanted), read in zip(pairs, found, strict=True)]
    worst = _worst(grades)
    with_prompt = worst
    if worst is not Compatibility.COMPATIBLE:
        again = (_grade(wanted, _read(reader.module, turn, turn.prompt)) for turn, wanted in pairs)
        with_prompt = _worst(list(again))
    examples = [
        Example(turn.text, wanted.shown, read.shown)
        for (turn, wanted), read, grade in zip(pairs, found, grades, strict=True)
        if grade is worst
    ]
    return Reading(
        compatibility=worst,
        with_prompt=with_prompt,
        same=grades.count(Compatibility.COMPATIBLE),
        with_problems=grades.count(Compatibility.LENIENT),
        differing=grades.count(Compatibility.BREAKING),
        unreadable=len(turns) - len(pairs),
        kinds=tuple(sorted({kind for read in found for kind in read.kinds})),
        example=_telling(examples) if worst is not Compatibility.COMPATIBLE else None,
    )


def written_turns(spec: Spec) -> list[WrittenTurn]:
    """Return the turns of a spec: the sample messages and some random ones, always the same."""
    given = [*sample_messages(spec), *random_messages(spec, RANDOM_MESSAGES)]
    turns = _written(spec, given)
    return list({(turn.prompt, turn.text, turn.thinking): turn for turn in turns}.values())


def _written(spec: Spec, given: Iterable[Message]) -> Iterator[WrittenTurn]:
    for message in given:
        for thinking in (True, False):
            turn = written_input(spec, message, thinking=thinking)
            if turn is not None:
                tools = tool_definitions(expected_message(spec, message).calls)
                yield WrittenTurn(turn.prefill, turn.text, thinking, tuple(tools))


def _read(module: FormatModule, turn: WrittenTurn, prompt: str | None) -> _Read:
    """Return what a parser reads; without a prompt it takes that of its own template."""
    options: dict[str, object] = {} if prompt is None else {"prefill": prompt}
    try:
        message = module.parse(
            turn.text, tools=list(turn.tools), enable_thinking=turn.thinking, **options
        )
        return _Read(_comparable(message), _shown(message), _kinds(message))
    except Exception as error:  # a module of another revision: that it fails is the result
        shown = f"{type(error).__name__}: {error}"
        return _Read((shown,), shown, ("error",))


def _comparable(message: Any) -> tuple[object, ...]:
    calls = [
        (call.id, call.name, _canonical(call.arguments), call.complete)
        for call in message.tool_calls
    ]
    return message.content, message.reasoning_content, tuple(calls)


def _canonical(arguments: str) -> str:
    """Return arguments in one style, as that of their JSON says nothing."""
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except ValueError:
        return arguments


def _kinds(message: Any) -> tuple[str, ...]:
    return tuple(problem.kind for problem in message.problems)


def _shown(message: Any) -> str:
    """Return the parts of a message that are there, and its problems, in one line."""
    parts = {
        "reasoning": message.reasoning_content,
        "content": message.content,
        "calls": [f"{call.name}({call.arguments})" for call in message.tool_calls],
        "problems": list(_kinds(message)),
    }
    there = {name: part for name, part in parts.items() if part}
    return ", ".join(
        f"{name} {json.dumps(part, ensure_ascii=False)}" for name, part in there.items()
    )


def _grade(wanted: _Read, found: _Read) -> Compatibility:
    if wanted.message != found.message:
        return Compatibility.BREAKING
    return Compatibility.LENIENT if found.kinds else Compatibility.COMPATIBLE


def _worst(grades: Sequence[Compatibility]) -> Compatibility:
    """Return the worst grade; where nothing could be compared, nothing is known to work."""
    order = list(Compatibility)
    return max(grades, key=order.index, default=Compatibility.BREAKING)


def _telling(examples: Sequence[Example]) -> Example | None:
    """Return the first that says anything; the first are of the fixed messages, and read best."""
    says = [example for example in examples if example.meant]
    return next(iter([*says, *examples]), None)
