"""The markers of a format by what they do, in the notation of `markers`. Rules are made of them.

What else a format says is a fact by itself, which `facts` takes from the spec.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from turnspec.codegen.markers import leading_text
from turnspec.codegen.shapes import looks_like_marker
from turnspec.spec.calls import Elements, Tools
from turnspec.spec.model import CodeCall, Spec
from turnspec.spec.words import Part, ReasoningMode, ToolMode

Texts = tuple[str, ...]
#: Of a marker that no text has by chance.
FEWEST_SIGNS = 3


@dataclass(frozen=True, slots=True)
class TextMarks:
    """What marks the turn, reasoning and content."""

    reasoning_start: Texts = ()
    reasoning_end: Texts = ()
    between: Texts = ()  # stands between parts
    content_start: Texts = ()
    turn_end: Texts = ()
    content_end: Texts = ()
    turn_start: Texts = ()
    unwritten: Texts = ()  # those that the template never writes: text within other text
    leads: Texts = ()  # words that stand before all content, and are text anywhere else
    reasoning_leads: Texts = ()  # and such before reasoning
    headers: Texts = ()  # of content, if a message's header says who it is for


@dataclass(frozen=True, slots=True)
class CallMarks:
    """What stands around calls, and how a call is told from text."""

    opening: Texts = ()  # what opens calls, one inside of the other
    other_openings: Texts = ()
    start: str = ""  # a call's head; calls that are objects have none
    other_starts: Texts = ()  # heads of other ways to write a call
    short_starts: Texts = ()  # heads that lack markers, where what follows leaves no doubt
    empty: str = ""  # a whole call without arguments, where its head is another one
    closing: Texts = ()  # what closes one call, in its order
    end: Texts = ()  # closes a call wherever it stands
    section_end: Texts = ()  # closes what was opened around calls, wherever it stands
    section_closing: Texts = ()  # closes it where it is expected
    tail: str = ""  # what stands behind a call's arguments, with slots
    only_in_section: bool = False  # a head is none outside

    @property
    def mentions(self) -> Texts:
        """What opens calls, or begins a head, and is text where no call follows."""
        first = leading_text(self.opening[0] if self.opening else self.start)
        return (first,) if looks_like_marker(first) else ()

    @property
    def begin_with_name(self) -> bool:
        """Whether calls begin with their name: where a part begins, or a line."""
        return self.start.startswith("{name") and not self.only_in_section

    @property
    def is_doubtful(self) -> bool:
        """Whether any text may hold what begins a call: a sign or two, or a fence around JSON."""
        if not self.start:
            return self.opening in (("```json",), ("```{no `}",))
        head = leading_text(self.start)
        is_short = len(head) < FEWEST_SIGNS or set(head) == {"`"}
        return is_short and not (self.opening or self.begin_with_name)


@dataclass(frozen=True, slots=True)
class ValueStyle:
    """How structured values differ from JSON."""

    raw_quote: str = ""  # around strings without escapes
    is_raw_inside: bool = False  # such strings also stand inside of arrays and objects
    has_python_escapes: bool = False


@dataclass(frozen=True, slots=True)
class ArgumentMarks:
    """How arguments are written: one JSON object, values that end by themselves, or text."""

    form: Literal["", "json", "values", "text"] = ""  # none: there are no calls
    start: str = ""  # before an argument's value
    end: str = ""  # behind it
    separator: str = ""
    empty: str = ""  # stands where there are none
    style: ValueStyle | None = None

    @property
    def are_keyed(self) -> bool:
        """Whether an argument begins with its key, which no search would find."""
        return self.start.startswith("{key")

    @property
    def quote(self) -> str:
        """What stands around strings without escapes."""
        return self.style.raw_quote if self.style else ""


@dataclass(frozen=True, slots=True)
class Marks:
    """All markers of a format, and its spec, with the headers that its parts begin with."""

    spec: Spec
    text: TextMarks
    header: str = ""  # that of a turn, where its parts begin with it
    calls: CallMarks = field(default=CallMarks())
    arguments: ArgumentMarks = field(default=ArgumentMarks())

    @property
    def are_objects(self) -> bool:
        """Whether calls are JSON objects, rather than heads with arguments behind them."""
        return self.spec.tools is not None and self.spec.tools.mode is ToolMode.JSON_NATIVE

    @property
    def are_bare(self) -> bool:
        """Whether nothing but the object itself marks a call."""
        return self.are_objects and not self.calls.opening

    @property
    def may_stay_open(self) -> bool:
        """Whether nothing but what leads to content closes reasoning."""
        spec, end = self.spec, self.spec.reasoning.end.strip()
        closes = (spec.join(Part.REASONING, Part.CONTENT) + spec.content.start).strip()
        return spec.reasoning.mode is not ReasoningMode.NONE and not end and bool(closes)

    @property
    def code(self) -> CodeCall | None:
        """How a call is announced that is code, if any is."""
        return self.spec.alternatives.code if self.spec.tools else None

    @property
    def tools(self) -> Tools:
        """How calls are written; rules of calls are not asked for where there are none."""
        assert self.spec.tools is not None
        return self.spec.tools

    @property
    def has_elements(self) -> bool:
        """Whether arrays and objects are written as elements."""
        return self.arguments.form == "text" and self.tools.arguments.elements is not None

    @property
    def elements(self) -> Elements:
        """What elements look like; their rules are not asked for where there are none."""
        assert self.tools.arguments.elements is not None
        return self.tools.arguments.elements
