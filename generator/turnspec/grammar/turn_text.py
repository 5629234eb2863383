"""The free text of a turn, and the markers that it may not hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from turnspec.codegen.headers import with_headers
from turnspec.codegen.markers import leading_text, spaced_attribute
from turnspec.codegen.notation import plain
from turnspec.codegen.rules import beginnings, markers_in_text
from turnspec.codegen.shapes import is_in_words, looks_like_marker
from turnspec.codegen.text_marks import marks_of
from turnspec.grammar.call_text import call_marker
from turnspec.grammar.calls import text_in_calls
from turnspec.grammar.free_text import A_NAME, shortest_markers, text_without
from turnspec.grammar.text import WHITE_SPACE, Rule, literal, space_rules, trimmed
from turnspec.grammar.turn_parts import TEXT, end_of, joins_of, opening_of, parts_of, whole_end
from turnspec.spec.calls import Slot
from turnspec.spec.model import Spec
from turnspec.spec.words import Part, SlotKind

_JSON_START = re.compile(r'[\[{\s]*"')
_JSON_HEAD = re.compile(r'[\[{]+"\w+"')


def shared_rules(spec: Spec, *, known: bool) -> tuple[Rule, ...]:
    """Return the rules for free text and white space; ``known``: the tools are."""
    markers = text_markers(spec)
    comment = _text_comment(markers)
    joined = _first_sign_of_bare_calls(spec) + _signs_of_stops(spec)
    text = text_without(TEXT, markers, comment, leads=_leads(spec), joined=joined)
    values = text_in_calls(spec.tools, known=known) if spec.tools else ()
    return (*text, *values, *space_rules())


def _first_sign_of_bare_calls(spec: Spec) -> str:
    """Return the bracket that a call begins with where nothing else does: two wrap a call."""
    is_bare = spec.tools is not None and marks_of(spec).are_bare
    return trimmed(call_marker(spec.tools))[:1] if spec.tools and is_bare else ""


def _signs_of_stops(spec: Spec) -> str:
    """Return the signs that stop a turn by repetition: of more, the first ones do to a parser."""
    stops = map(trimmed, spec.turn.stop)
    return "".join({stop[0]: None for stop in stops if stop[1:] and len({*stop}) == 1})


def _leads(spec: Spec) -> str:
    """Return the white space that has to stand before what ends reasoning or content."""
    parts = [part for part in parts_of(spec) if part is not Part.CALLS]
    marked = [part for part in parts if trimmed(end_of(spec, part))]
    ends = [whole_end(end_of(spec, part), opening_of(spec, part)) for part in marked]
    return "".join(dict.fromkeys(end[0] for end in ends if end[0] in WHITE_SPACE))


def text_markers(spec: Spec) -> tuple[str, ...]:
    """Return what neither content nor reasoning may contain: all that would end or start a part.

    What a parser takes for a marker or the beginning of one is one of them, as it would tell of it.
    So is a trigger, also of calls that come before content: else a broken call would be content,
    and what a lazy grammar allows would not be this one's calls.
    """
    reasoning, content, call = _starts_in_text(spec)
    found = [reasoning, spec.reasoning.end, content, spec.content.end, call]
    found.extend((*spec.turn.stop, *_leads_to_stops(spec.turn.stop), *spec.grammar.triggers))
    for left in parts_of(spec):
        if left is not Part.CALLS:
            found.extend(_ending(spec, left))
    found.extend(_beginnings_of_markers(spec))
    sign = _sign_before_name(spec)  # is text where no name follows
    markers = [_without_json(trimmed(marker)) for marker in (*found, sign)]
    return shortest_markers(it + A_NAME if it == sign else it for it in markers if it)


def _sign_before_name(spec: Spec) -> str:
    """Return the sign that is all that marks a call, right before its name; "" if more does."""
    if spec.tools is None or trimmed(spec.tools.section_start):
        return ""
    head = trimmed(spec.tools.call[0].text)
    is_sign = len(head) == 1 and not head.isalnum() and spec.tools.call[0].text.endswith(head)
    return head if is_sign and spec.tools.call[1] == Slot(SlotKind.NAME) else ""


def _leads_to_stops(stops: Sequence[str]) -> Iterator[str]:
    """Yield what makes a longer stop of another one: no text may end with it before that one."""
    for stop in stops:
        leads = (stop.removesuffix(other) for other in stops if other != stop)
        yield from (lead for lead in leads if lead != stop and _is_no_prose(lead))


def _is_no_prose(text: str) -> bool:
    """Tell whether text is no ordinary one: a marker, or words with a sign."""
    return looks_like_marker(text) or is_in_words(text)


def _starts_in_text(spec: Spec) -> tuple[str, str, str]:
    """Return what starts reasoning, content and a call inside of text, where it has to be told.

    Content is started by a tag, or by what has a word. What is no marker by itself starts a part
    behind its header only, if it is a word, or all content has a start. Else content begins right
    behind the prompt's header, and must not look like what does so, too.
    """
    headed, is_led = with_headers(spec), bool(spec.content.start.strip())
    reasoning, content = (
        start if looks_like_marker(start) or not (is_led or start.strip().isalnum()) else whole
        for start, whole in (
            (spec.reasoning.start, headed.reasoning.start),
            (spec.content.start, headed.content.start),
        )
    )
    if headed is spec:
        return reasoning, content if _is_no_prose(content) else "", ""
    return reasoning, content, spec.tools.section_start if spec.tools and not is_led else ""


def _beginnings_of_markers(spec: Spec) -> Iterator[str]:
    """Yield what a parser of the format takes for the beginning of a marker, or for a whole one."""
    marks = marks_of(spec)
    yield from map(plain, beginnings(marks))
    # A model under a grammar writes no special token that its template never does.
    roles = (role for role in markers_in_text(marks) if role[0] != "special_token")
    heads = (spaced_attribute(plain(leading_text(notation))) for _, notation in roles)
    # JSON's own signs and keys are no marker: what they begin may be content.
    yield from (head for head in heads if looks_like_marker(head) and not _JSON_START.match(head))


def _without_json(marker: str) -> str:
    """Return a marker up to its first key, if it is JSON: white space is free behind that."""
    match = _JSON_HEAD.match(marker)
    return match.group() if match else marker


def _ending(spec: Spec, left: Part) -> Iterator[str]:
    """Yield all that may stand behind the text of ``left``, each up to its marker's end."""
    end = end_of(spec, left)
    parts = parts_of(spec)
    for right in parts[parts.index(left) + 1 :]:
        for join in joins_of(spec, left, right):
            yield end + join + opening_of(spec, right)
    yield end + spec.final(left)


def _text_comment(markers: Iterable[str]) -> str:
    written = ", ".join(literal(marker.replace(A_NAME, "name")) for marker in markers)
    if not written:
        return "free text"
    rules = "a rule with a number stands behind so many characters of a marker"
    return f"free text: content and reasoning, without {written}; {rules}"
