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
    AT_CODE_END,
    AT_CODE_START,
    AT_RAW_END,
    AT_RAW_START,
    BEFORE_CONTENT,
    BETWEEN_CALLS,
    CALL_HEAD,
    CONTENT_HEADERS,
    END_OF_GUARD,
    FIRST_ARGUMENT,
    FIRST_CALL,
    FIRST_CALL_END,
    FIRST_ELEMENT,
    HAS_CALLS,
    HAS_SLOTS,
    HAS_SPECIAL_TOKENS,
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
    TURN_ENDS,
)
from turnspec.engine.markers import BLANKS, Markers, escaped
from turnspec.engine.roles import Role
from turnspec.engine.special import SpecialTokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from turnspec.engine.markers import Rows
    from turnspec.engine.roles import Notation, Parts, Rule


class Rules:
    """The tables of rules, with the ends of a turn and the special tokens that were given."""

    def __init__(self, stop: Sequence[str], special: SpecialTokens | None) -> None:
        self.special, self.stop = special, stop
        texts = [
            special.put_into(x) if HAS_SPECIAL_TOKENS and special else x for x in map(escaped, stop)
        ]
        self._stop = tuple(x.replace(" ", "{ }").replace("\n", "{\n}") for x in texts)
        # White space alone is no end but in text: elsewhere it may stand before any marker.
        words = (text for text in self._stop if re.sub(r"\{[ \n]\}|[\t\r]", "", text))
        self._ends = [*TURN_ENDS, *words]
        own = {end.strip() for end in TURN_ENDS}
        self.further = [text for text in stop if escaped(text).strip() not in own]
        # No call begins, or ends, by text alone if a special token belongs to it.
        if HAS_SPECIAL_TOKENS and LATER_CALL_END:
            is_late = self._has_token(LATER_CALL_END)
            self._end_late = is_late and not self._has_token(FIRST_CALL_END)
        if HAS_SPECIAL_TOKENS and OPENINGS:  # whether a call counts only after one of them
            is_free = not self._has_token(CALL_HEAD)
            self.only_opened = is_free and any(map(self._has_token, OPENINGS))
        if HAS_SPECIAL_TOKENS and OTHER_HEADS:  # those that lack what the format's own has
            others = OTHER_HEADS if self._has_token(CALL_HEAD) else ()
            self._left_out = {head for head in others if not self._has_token(head)}
        alone = HEADS if HAS_SPECIAL_TOKENS and OPENINGS and self.only_opened else ()
        self.in_text = self._made(IN_TEXT, alone)
        # What goes on in a word may be text.
        self.at_text_end = self._made(IN_TEXT, (Role.NOISY_OPENING, Role.OTHER_SYNTAX_NAME, *alone))
        self.before_content = self._made(BEFORE_CONTENT)
        self.content_headers = self._made(CONTENT_HEADERS)
        self.left_out_if_last = self._made(LEFT_OUT_IF_LAST)
        self.after_turn = self._made(AFTER_TURN)
        self.after_call = self._made(AFTER_CALL)
        self.first_call = self._made(FIRST_CALL)
        self.between_calls = self._made(BETWEEN_CALLS)
        self.in_object = self._made(IN_OBJECT)
        self.in_arguments = self._made(IN_ARGUMENTS)
        self.first_argument = self._made(FIRST_ARGUMENT)
        self.after_arguments = self._made(AFTER_ARGUMENTS)
        self.in_value = self._made(IN_VALUE, alone)
        self.end_of_guard = self._made(END_OF_GUARD)
        self.in_guarded_value = self._made(IN_GUARDED_VALUE)
        self.after_bare_text = self._made(AFTER_BARE_TEXT)
        self.at_closing = self._made(AFTER_BARE_TEXT, (Role.NEXT_ARGUMENT, Role.END))
        self.first_element = self._made(FIRST_ELEMENT)
        self.in_elements = self._made(IN_ELEMENTS)
        self.after_element = self._made(AFTER_ELEMENT)
        self.at_raw_start = self._made(AT_RAW_START)
        self.at_raw_end = self._made(AT_RAW_END)
        self.at_call_end = self._made(AT_CALL_END)
        self.at_call_start = self._made(AT_CALL_START)
        self.at_border = self._made((*AT_RAW_END, *AT_CALL_END, *AT_CALL_START), (Role.PLAIN_TEXT,))
        self.at_code_start = self._made(AT_CODE_START)
        self.at_code_end = self._made(AT_CODE_END)

    def _has_token(self, marker: str) -> bool:
        """Say whether a marker always holds a special token."""
        always = re.sub(r"\{\?[^{}]*\}", "", marker)
        return self.special is not None and self.special.put_into(always) != always

    def _made(self, table: Sequence[Rule], without: Sequence[Role] = ()) -> Markers:
        rows: Rows = []
        if table is IN_TEXT:  # a stop text ends the turn, whatever else begins with it
            rows += ((Role.TURN_END, (stop, ())) for stop in self._stop)
        for rule in table:
            if not (HAS_CALLS and rule.role in without):
                made = self._with_ends((rule.marker, rule.if_before))
                rows += ((rule.role, parts) for parts in made)
        return Markers(rows, {**BLANKS, **SLOTS} if HAS_SLOTS else BLANKS, self.special)

    def _with_ends(self, marker: Notation) -> list[Parts]:
        """Return a marker with each end of a turn, if it names that."""
        text, after = (marker, ()) if isinstance(marker, str) else marker
        if HAS_SPECIAL_TOKENS and OTHER_HEADS and text.strip() in self._left_out:
            return []
        if HAS_SPECIAL_TOKENS and LATER_CALL_END and self._end_late:
            both = f"{FIRST_CALL_END} {LATER_CALL_END}"
            text = text.replace(both, FIRST_CALL_END).replace(FIRST_CALL_END, both)
        inner = tuple(other for one in after for other in self._with_ends(one))
        if not (found := re.search(r"\{stop(?: (\d))?\}", text)):
            return [(text, inner)]
        if HAS_CALLS:
            sign = r"\{\{|\}\}|[^{}? \n]"  # of which an end has some, to count
            ends = [x for x in self._ends if len(re.findall(sign, x)) >= int(found[1] or 0)]
        else:
            ends = self._ends
        texts = (text.replace(found.group(), end) for end in ends)
        return [(re.sub(r"(?<=[ \n])(?:\{[ \n]\})+", "", it), inner) for it in texts]


#: Markers of calls that no opening stands before.
HEADS = (
    *(Role.NOISY_OPENING, Role.CALL, Role.OTHER_CALL, Role.SHORT_CALL),
    *(Role.CLOSED_CALL, Role.NAME_ALONE),
)


@lru_cache(9)
def rules_for(stop: tuple[str, ...], tokens: tuple[str, ...] | None) -> Rules:
    """Return the rules of all parsers with these options."""
    whole = r"[^\ud800-\udfff]{1,1000}"  # in JavaScript, a half is found within others
    if len(stop) > 64 or not all(re.fullmatch(whole, text) for text in stop):
        raise ValueError("stop: at most 64 texts of 1 to 1,000 whole characters")
    if not HAS_SPECIAL_TOKENS and tokens is not None:
        raise ValueError("special_tokens: this parser was made without them")
    return Rules(stop, None if not HAS_SPECIAL_TOKENS or tokens is None else SpecialTokens(tokens))
