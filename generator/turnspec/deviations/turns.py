"""Turns of one format, put together from parts that a deviation may change."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.marks import Marks
from turnspec.codegen.text_marks import marks_of
from turnspec.codegen.writer import write_calls, write_parts
from turnspec.rendering.conversation import tool_definitions
from turnspec.spec.calls import Literal, Piece, Tools
from turnspec.spec.conditions import parts_of_message
from turnspec.spec.message import Call, Message
from turnspec.spec.model import Spec
from turnspec.spec.words import Part, SlotKind, ToolMode
from turnspec.verification.messages import allowed_call
from turnspec.verification.turns import expected_message, is_ambiguous

LOOK = Call("look", {"city": "Paris", "days": 3}, "id0000001")
COUNT = Call("count", {"unit": "km"}, "id0000002")
THOUGHT = "First a thought."
SAID = "It is said."


def space_before(text: str) -> str:
    """Return the white space with which a text begins."""
    return text[: len(text) - len(text.lstrip())]


def space_after(text: str) -> str:
    """Return the white space with which a text ends."""
    return text[len(text.rstrip()) :]


def space_around(text: str) -> str:
    """Return the white space of a marker, which stays between the pieces that it parts."""
    return space_before(text) + space_after(text)


@dataclass(frozen=True, slots=True)
class Case:
    """A text, what has to come out of it, and the kinds of the problems that tell about it."""

    text: str
    content: str = ""
    reasoning: str = ""
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    told: frozenset[str] = frozenset()
    options: Mapping[str, Any] = field(default_factory=dict)
    ids: tuple[str, ...] = ()  # of the calls, where they matter
    complete: bool = True  # whether all calls are


@dataclass(frozen=True, slots=True)
class JsonCall:
    """A call that is a JSON object: what stands before and behind it, and its members.

    Members that a call fills hold the slot's kind, as text or inside other text.
    """

    before: str
    members: Any
    behind: str
    in_string: bool = False  # whether the arguments are a string that holds JSON

    def written(self, members: Any, **style: Any) -> str:
        """Return the call with other members, by default in the usual style of JSON."""
        return self.before + json.dumps(members, ensure_ascii=False, **style) + self.behind

    def filled(self, call: Call, index: int = 0) -> Any:
        """Return the members with a call's name, id and arguments."""
        texts = {NAME: call.name, "⟨ID⟩": call.id, "⟨INDEX⟩": str(index)}
        arguments = dict(call.arguments)
        written = json.dumps(arguments, ensure_ascii=False) if self.in_string else arguments
        return _filled(self.members, {**texts, ARGUMENTS: written})


NAME, ARGUMENTS = "⟨NAME⟩", "⟨ARGUMENTS⟩"


def _filled(value: Any, fillers: Mapping[str, Any]) -> Any:
    if isinstance(value, dict):
        return {_filled(key, fillers): _filled(item, fillers) for key, item in value.items()}
    if value == ARGUMENTS or not isinstance(value, str):
        return fillers.get(value, value)
    for mark in (NAME, "⟨ID⟩", "⟨INDEX⟩"):
        value = value.replace(mark, fillers[mark])
    return value


@dataclass(frozen=True)
class Format:
    """A spec and its generated module, and turns that keep to the one for the other to read."""

    spec: Spec
    module: FormatModule

    @cached_property
    def marks(self) -> Marks:
        """The markers that the parser knows."""
        return marks_of(self.spec)

    @property
    def tools(self) -> Tools:
        """The spec's tools; deviations of calls are not asked for where there are none."""
        assert self.spec.tools is not None
        return self.spec.tools

    @cached_property
    def options(self) -> dict[str, Any]:
        """Options for a text that begins at the turn's beginning."""
        return {"tools": tool_definitions((LOOK, COUNT)), "prefill": self.spec.turn.header}

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        """The calls of the usual turn, as many as the format allows."""
        if self.spec.tools is None:
            return ()
        calls = tuple(allowed_call(self.spec, call) for call in (LOOK, COUNT))
        return expected_message(self.spec, Message(calls=calls)).calls

    @property
    def call(self) -> Call:
        """The first of the calls."""
        return self.calls[0]

    @cached_property
    def reasons(self) -> bool:
        """Whether the format marks reasoning in a way that its turns can show."""
        return bool(self.spec.reasoning.end.strip())

    def shown(self, message: Message) -> Message:
        """Return what a turn with this message shows; reasoning that is never rendered too."""
        shown = expected_message(self.spec, message)
        return replace(shown, reasoning=message.reasoning if self.reasons else "")

    @cached_property
    def message(self) -> Message:
        """The usual message: reasoning, content and calls, as far as one turn can have them."""
        return self.shown(Message(SAID, THOUGHT, self.calls))

    def write(self, message: Message, call_texts: Sequence[str] | None = None) -> str:
        """Return the turn behind the header; ``call_texts`` stand where its calls would."""
        if call_texts is None or self.spec.tools is None:
            return write_parts(self.spec, message, Part.START)
        text = Literal(self.tools.separator.join(call_texts))
        tools = replace(self.tools, call=(text,), empty_call=())
        one = replace(message, calls=message.calls[:1])
        return write_parts(replace(self.spec, tools=tools), one, Part.START)

    def write_after_reasoning(self, message: Message) -> str:
        """Return the turn from behind the marker that closes reasoning."""
        text = write_parts(self.spec, replace(message, reasoning=""), Part.REASONING)
        return text.removeprefix(self.spec.reasoning.end)

    def without_end(self, message: Message) -> str:
        """Return the turn without what ends it after its last part."""
        parts = parts_of_message(message)
        last = [part for part in self.spec.turn.order if part in parts][-1]
        if message.calls and self.spec.turn.calls_decide_end:
            last = Part.CALLS
        return self.write(message).removesuffix(self.spec.final(last))

    def call_text(self, call: Call) -> str:
        """Return a call as the format writes it, without what is around all calls."""
        return write_calls(self.tools, (call,))

    def case(self, text: str, message: Message, *told: str, **options: Any) -> Case:
        """Return a case that gives a message and tells problems of these kinds, no others."""
        calls = tuple((call.name, call.arguments) for call in message.calls)
        if self.spec.tools and self.spec.tools.empty_call:
            told = tuple(kind for kind in told if kind != "no_arguments")  # the template does so
        if is_ambiguous(self.spec, message):  # nothing in the turn says that reasoning is over
            options = {"prefill": self.spec.turn.header + self.spec.reasoning.end, **options}
        options = {**self.options, **options}
        return Case(text, message.content, message.reasoning, calls, frozenset(told), options)

    def as_written(self, message: Message, *told: str, **options: Any) -> Case:
        """Return the case of a turn that keeps to the format."""
        return self.case(self.write(message), message, *told, **options)

    @property
    def one_call(self) -> Message:
        """A message that is nothing but one call."""
        return Message(calls=self.calls[:1])

    def calling(self, arguments: Any) -> Message:
        """Return the same message with other arguments."""
        return Message(calls=(replace(self.call, arguments=arguments),))

    @cached_property
    def json_call(self) -> JsonCall | None:
        """The call as a JSON object, in formats whose calls are that."""
        if self.spec.tools is None or self.tools.mode is not ToolMode.JSON_NATIVE:
            return None
        text = "".join(map(_shown_piece, self.tools.call))
        at = text.index("{")
        members, end = json.JSONDecoder().raw_decode(text[at:])
        in_string = self.tools.arguments.syntax.in_string
        return JsonCall(text[:at], members, text[at + end :], in_string)

    def with_spec(self, spec: Spec) -> Format:
        """Return the format as another spec writes it, read by the same module."""
        return Format(spec, self.module)

    def with_tools(self, **changes: Any) -> Format:
        """Return the format with calls written in another way, read by the same module."""
        return self.with_spec(replace(self.spec, tools=replace(self.tools, **changes)))


def _shown_piece(piece: Piece) -> str:
    if piece.kind is None:
        return piece.text
    mark = f"⟨{piece.kind.value}⟩"
    return json.dumps(mark, ensure_ascii=False) if piece.kind is SlotKind.ARGUMENTS else mark
