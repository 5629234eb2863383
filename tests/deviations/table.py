"""All deviations by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.deviations import (
    calls,
    characters,
    endings,
    lookalikes,
    nested,
    reasoning,
    tagged,
    whitespace,
)
from tests.deviations.turns import Case, Format

Deviation = Callable[[Format], Iterator[Case]]

#: What a model does otherwise than its template, and turns in which it does; none where a
#: deviation doesn't apply to a format.
DEVIATIONS: dict[str, Deviation] = {
    "white space: none": whitespace.none,
    "white space: more": whitespace.more,
    "white space: CR LF": whitespace.carriage_returns,
    "white space: no newline after an opening tag": whitespace.opens_without_newline,
    "white space: JSON in other styles": whitespace.json_style,
    "calls: text around them": calls.content_around,
    "calls: arguments before the name": calls.arguments_before_name,
    "calls: extra fields": calls.extra_fields,
    "calls: in the wrapper of APIs": calls.openai_wrapper,
    "calls: arguments as a string": calls.string_arguments,
    "calls: arguments empty, null or missing": calls.empty_arguments,
    "calls: arguments under another key": calls.renamed_arguments,
    "calls: a brace missing": calls.missing_brace,
    "calls: a brace too many": calls.extra_brace,
    "calls: a bare name": calls.bare_name,
    "calls: in a block of code": calls.in_a_fence,
    "calls: opened twice": calls.opening_twice,
    "calls: an array instead of one": calls.array_instead_of_one,
    "calls: one instead of an array": calls.one_instead_of_array,
    "calls: no section markers": calls.no_section_markers,
    "calls: no opening tag": calls.no_opening_tag,
    "calls: any id": calls.any_id,
    "calls: any index": calls.any_index,
    "calls: unknown tool": calls.unknown_tool,
    "tagged: another order": tagged.another_order,
    "tagged: unknown argument": tagged.unknown_argument,
    "tagged: repeated argument": tagged.repeated_argument,
    "tagged: quoted names": tagged.quoted_names,
    "tagged: a value not closed": tagged.value_not_closed,
    "tagged: wrong type": tagged.wrong_type,
    "tagged: strings that look typed": tagged.looks_typed,
    "nested: white space": nested.white_space,
    "nested: unknown key": nested.unknown_key,
    "nested: not closed": nested.not_closed,
    "nested: wrong order": nested.wrong_order,
    "nested: wrong type": nested.wrong_type_inside,
    "nested: JSON instead": nested.json_instead,
    "reasoning: opened again": reasoning.repeated_opening,
    "reasoning: never closed": reasoning.never_closed,
    "reasoning: never opened": reasoning.never_opened,
    "reasoning: several blocks": reasoning.several_blocks,
    "reasoning: a call inside": reasoning.call_inside,
    "reasoning: markers in quotes": reasoning.mentioned,
    "reasoning: nothing inside": reasoning.nothing_inside,
    "look-alikes: marker in prose": lookalikes.marker_in_prose,
    "look-alikes: marker in code": lookalikes.marker_in_code,
    "look-alikes: function tag in prose": lookalikes.function_tag_in_prose,
    "look-alikes: JSON answer": lookalikes.json_answer,
    "look-alikes: markers in arguments": lookalikes.markers_in_arguments,
    "endings: header again": endings.header_again,
    "endings: half a closing marker": endings.half_a_closing_marker,
    "endings: none": endings.no_end,
    "endings: stop strings": endings.stop_strings,
    "endings: text after": endings.text_after_end,
    "characters: any": characters.any_unicode,
    "characters: escaped": characters.escaped_unicode,
    "characters: wrong escapes": characters.wrong_escapes,
    "characters: other literals": characters.other_literals,
}
