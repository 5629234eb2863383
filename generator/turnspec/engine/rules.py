"""The tables of rules, with the ends of a turn and the special tokens that were given."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from turnspec.engine.facts import (
    AFTER_ARGUMENTS,
    AFTER_BARE_TEXT,
    AFTER_CALL,
    AFTER_ELEMENT,
    AFTER_TURN,
    AT_CALL_END,
    AT_CALL_START,
    AT_CLOSING,
    AT_CODE_END,
    AT_CODE_START,
    AT_RAW_END,
    AT_RAW_START,
    AT_STRING_END,
    BEFORE_CONTENT,
    BETWEEN_CALLS,
    CALL_HEAD,
    CONTENT_HEADERS,
    END_OF_GUARD,
    FIRST_ARGUMENT,
    FIRST_CALL_END,
    FIRST_ELEMENT,
    FORMAT,
    HAS_CALLS,
    HAS_FOLLOWERS,
    IN_ARGUMENTS,
    IN_ELEMENTS,
    IN_GUARDED_VALUE,
    IN_OBJECT,
    IN_TEXT,
    IN_VALUE,
    LATER_CALL_END,
    LEFT_OUT_IF_LAST,
    OPENINGS,
    OTHER_HEADS,
    SLOTS,
    TEXTS,
    TURN_ENDS,
)
from turnspec.engine.markers import Markers, escaped, literal_length
from turnspec.engine.roles import GuardedRule, Role, Rule, When
from turnspec.engine.special import SpecialTokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from turnspec.engine.roles import Notation

#: A turn's end in a marker, and how many characters that has to have at least.
STOP = re.compile(r"\{stop(?: (\d))?\}")


class Rules:
    """The tables, with the ends of a turn and the special tokens that were given."""

    def __init__(self, stop: Sequence[str], special: SpecialTokens | None) -> None:
        self.special = special
        self._ends = (*TURN_ENDS, *map(escaped, stop))
        if HAS_CALLS:
            self._guard_calls()
        alone = HEADS if HAS_CALLS and self.only_opened else ()
        self.text = self._made(IN_TEXT, alone)
        self.begun = self._made(IN_TEXT, (*UNSURE, *alone))
        self.before_content = self._made(BEFORE_CONTENT)
        self.content_headers = self._made(CONTENT_HEADERS)
        self.left_out = self._made(LEFT_OUT_IF_LAST)
        self.after_turn = self._made(AFTER_TURN)
        self.after_call = self._made(AFTER_CALL)
        self.between_calls = self._made(BETWEEN_CALLS)
        self.members = self._made(IN_OBJECT)
        self.arguments = self._made(IN_ARGUMENTS)
        self.first_argument = self._made(FIRST_ARGUMENT)
        self.tail = self._made(AFTER_ARGUMENTS)
        self.value = self._made(IN_VALUE)
        self.guard = self._made(END_OF_GUARD)
        self.guarded_value = self._made(IN_GUARDED_VALUE)
        self.text_end = self._made(AFTER_BARE_TEXT)
        self.call_closing = self._made(AT_CLOSING)
        self.first_element = self._made(FIRST_ELEMENT)
        self.elements = self._made(IN_ELEMENTS)
        self.after_element = self._made(AFTER_ELEMENT)
        self.raw_start = self._made(AT_RAW_START)
        self.raw_end = self._made(AT_RAW_END)
        self.call_end = self._made(AT_CALL_END)
        self.call_start = self._made(AT_CALL_START)
        self.in_string = self._made(AT_STRING_END)
        self.code_start = self._made(AT_CODE_START)
        self.code_end = self._made(AT_CODE_END)

    def _guard_calls(self) -> None:
        """Let no call begin, or end, by text alone if a special token belongs to it."""
        special = self.special
        has_tokens = special.are_in if special else bool
        is_late = has_tokens(LATER_CALL_END) and not has_tokens(FIRST_CALL_END)
        self._when = When.LATER_END if special and is_late else When.FIRST_END
        opens = [bool(special and has_tokens(text)) for text in (CALL_HEAD, *OPENINGS)]
        #: Whether a call counts only after its opening.
        self.only_opened = any(opens) and not opens[0]
        self._left_out: set[str] = set()  # heads that lack what the format's own has
        if OTHER_HEADS and opens[0]:
            self._left_out = {head for head in OTHER_HEADS if not has_tokens(head)}

    def _made(self, table: Sequence[Rule], without: Sequence[Role] = ()) -> Markers:
        rules = [made for rule in table for made in self._variants(rule, without)]
        if HAS_CALLS and table is IN_TEXT:  # what begins with another marker comes first
            rules.sort(key=lambda rule: (rule.role is Role.CODE, -literal_length(rule.marker)))
        return Markers(rules, SLOTS, self.special)

    def _variants(self, rule: Rule, without: Sequence[Role]) -> list[Rule]:
        """Return what a rule is with all ends of a turn, and the tokens that are known."""
        after = rule.if_before
        if HAS_CALLS:
            is_other = isinstance(rule, GuardedRule) and rule.when is not self._when
            if rule.role in without or is_other:
                return []
            if rule.marker in self._left_out:
                return []
            after = tuple(text for text in after if not self._is_left_out(text))
        if HAS_FOLLOWERS:
            after = tuple(other for text in after for other in self._with_ends(text))
        return [Rule(rule.role, marker, after) for marker in self._texts(rule.marker)]

    def _is_left_out(self, marker: Notation) -> bool:
        text = marker if isinstance(marker, str) else marker[0]
        return text.strip() in self._left_out

    def _with_ends(self, marker: Notation) -> list[Notation]:
        if isinstance(marker, str):
            return [*self._texts(marker)]
        text, after = marker
        inner = tuple(other for one in after for other in self._with_ends(one))
        return [(made, inner) for made in self._texts(text)]

    def _texts(self, marker: str) -> list[str]:
        """Return the markers that one is with all ends of a turn."""
        found = STOP.search(marker)
        if found is None:
            return [marker]
        if not HAS_CALLS:
            return [marker.replace(found.group(), end) for end in self._ends]
        shortest = int(found[1] or 0)
        ends = [end for end in self._ends if literal_length(end) >= shortest]
        return [marker.replace(found.group(), end) for end in ends]


#: Markers that a text can't break off in: what goes on in a word may be text.
UNSURE = (Role.NOISY_OPENING, Role.OTHER_SYNTAX_NAME)
#: Markers of calls that no opening stands before.
HEADS = (
    Role.NOISY_OPENING,
    Role.CALL,
    Role.OTHER_CALL,
    Role.SHORT_CALL,
    Role.CLOSED_CALL,
)


@lru_cache(9)
def rules_for(stop: tuple[str, ...], tokens: tuple[str, ...] | None) -> Rules:
    """Return the rules of all parsers with these options."""
    if not all(map(str.strip, stop)):
        raise ValueError("a stop string needs more than white space")
    texts = (*TEXTS, *FORMAT.values(), *stop)
    return Rules(stop, None if tokens is None else SpecialTokens(tokens, texts))
