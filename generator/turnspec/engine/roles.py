"""What markers do, and when they count."""

from __future__ import annotations

from enum import Enum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    #: A marker; or a pair of one and of others, of which one has to follow it.
    Notation: TypeAlias = "str | tuple[str, tuple[Notation, ...]]"
    Parts: TypeAlias = "tuple[str, tuple[Parts, ...]]"
    Followers: TypeAlias = "tuple[Notation, ...]"


class Role(Enum):
    """What a marker does."""

    TURN_START = "turn_start"
    TURN_END = "turn_end"
    REPEATED = "repeated"
    REASONING_START = "reasoning_start"
    REASONING_END = "reasoning_end"
    BETWEEN = "between"  # leads from one part to the next
    CONTENT_START = "content_start"
    CONTENT_END = "content_end"
    SPECIAL_TOKEN = "special_token"  # which the template never writes
    LEAD = "lead"
    BROKEN_OFF = "broken_off"  # the beginning of a marker with which the text ends
    OPENING = "opening"  # of calls
    INNER_OPENING = "inner_opening"
    NOISY_OPENING = "noisy_opening"  # with words after it
    CALL = "call"
    OTHER_CALL = "other_call"
    UNTAGGED_CALL = "untagged_call"
    SHORT_CALL = "short_call"
    CLOSED_CALL = "closed_call"  # without arguments
    NAME_ALONE = "name_alone"  # of a call, before the turn's end or another call
    NEXT_CALL = "next_call"  # the end of a call, and the head of another one without its tag
    OTHER_SYNTAX = "foreign"
    OTHER_SYNTAX_NAME = "foreign_name"
    PLAIN_TEXT = "mention"  # what opens calls, where none follows
    OBJECT = "object"  # that a call is
    LISTED = "listed"  # an object after what is no call, in a list of them
    CODE = "code"  # a call that is code
    CODE_METHOD = "method"
    CALL_END = "call_end"
    SECTION_END = "section_end"
    MARKER = "marker"
    STRAY_BRACKETS = "stray"
    ARRAY_END = "array_end"
    CLOSING = "closing"  # of calls, between them
    WRAPPER = "wrapper"  # around the members of a call
    OWN_WRAPPER = "own_wrapper"  # one that the format has
    MEMBER = "member"
    MEMBER_END = "member_end"
    ELEMENT = "element"
    ELEMENT_END = "element_end"
    OUTER_END = "outer"  # other than a value's own
    ARGUMENT = "argument"
    QUOTED_ARGUMENT = "quoted"
    ARGUMENTS_END = "done"
    BROKEN_ARGUMENTS = "broken"
    GUARD = "guard"
    VALUE_CLOSED = "close"
    PART_OF_VALUE = "inner"
    ESCAPE = "escape"  # for a character of a value
    REST_OF_CALL = "rest"
    NEXT_ARGUMENT = "next"
    HELD_AT_THE_END = "ending"
    END = "end"


MORE_TEXT = None  # what a reading generator yields when it needs more

#: The roles of markers that have to do with no call.
OF_TURN = (
    *(Role.TURN_START, Role.TURN_END, Role.REPEATED, Role.BETWEEN),
    *(Role.REASONING_START, Role.REASONING_END, Role.CONTENT_START, Role.CONTENT_END),
)


class Rule:
    """A marker counts as `role` if one of `if_before` follows, which stays unread."""

    def __init__(self, role: Role, marker: str, if_before: Followers = ()) -> None:
        self.role, self.marker, self.if_before = role, marker, if_before


class ValueStyle:
    """How values are written in a relative of JSON."""

    def __init__(
        self, *, raw_quote: str, is_raw_inside: bool, has_python_escapes: bool, after_string: str
    ) -> None:
        self.raw_quote = raw_quote  # around strings without escapes
        self.is_raw_inside = is_raw_inside  # whether they stand in arrays and objects
        self.has_python_escapes = has_python_escapes
        self.after_string = after_string  # the signs that can come after a string
