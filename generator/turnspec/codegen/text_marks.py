"""Spec -> the markers of a format: here those of the turn, of reasoning and of content."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from turnspec.codegen.argument_marks import argument_marks
from turnspec.codegen.call_marks import call_marks, ends_turn
from turnspec.codegen.headers import in_header_line, message_ends, with_headers, with_loose_headers
from turnspec.codegen.marks import ArgumentMarks, CallMarks, Marks, TextMarks
from turnspec.codegen.notation import notation, slotted
from turnspec.codegen.shapes import is_in_words, looks_like_head, looks_like_marker
from turnspec.engine.markers import escaped
from turnspec.spec.model import Spec
from turnspec.spec.turn_end import end_tokens, stops_behind_parts
from turnspec.spec.words import Part, ReasoningMode

_LONGEST_END = 100  # characters
#: Words that anybody may write, with no sign of a tag among them.
_SENTENCE = re.compile(r"\w+|[^<>\[\]{}|]*\w,? \w[^<>\[\]{}|]*")
_TAG_AND_WORD = re.compile(r"^(<[^<>{}\s]*[^<>{}\s\w][^<>{}\s]*>) (\w+)$")


def marks_of(spec: Spec) -> Marks:
    """Return the markers of a format."""
    headed = with_headers(spec)
    marks = Marks(
        headed,
        TextMarks(
            **{role: tuple(found) for role, found in _roles(spec, headed).items()},
            unwritten=tuple(_unwritten(headed)),
            leads=tuple(_leads(spec)) if headed is spec else (),
        ),
        notation(spec.turn.header) if headed is not spec else "",
        in_header_line(call_marks(headed, headed.tools), spec) if headed.tools else CallMarks(),
        argument_marks(headed.tools) if headed.tools else ArgumentMarks(),
    )
    return with_loose_headers(marks, spec)


def _roles(given: Spec, spec: Spec) -> dict[str, list[str]]:
    """Return the markers by role. Of two roles that one could have, the first is it.

    But what ends reasoning is told of the turn's end or the content's end as well. ``spec`` is the
    one ``given``, its parts with headers.
    """
    roles = {"between": message_ends(given, spec)}
    known = set(roles["between"])
    header = given.turn.header if spec is not given else ""
    for role, texts in _texts(spec):
        suffices = looks_like_head if role.startswith("reasoning") else looks_like_marker
        headed = [text for text in texts if header and text.startswith(header)]
        words = filter(is_in_words, texts if role.startswith("reasoning") else ())
        found = (*headed, *filter(suffices, texts), *words)
        shared = roles["reasoning_end"] if role in ("turn_end", "content_end") else []
        shared = roles["reasoning_start"] if role == "reasoning_end" else shared
        written = dict.fromkeys(_unlike_text(spec, role, notation(text)) for text in found)
        new = [marker for marker in written if marker not in known or marker in shared]
        roles.setdefault(role, []).extend(new)
        known.update(new)
    if (it := _tag_and_word(spec)) and spec.reasoning.start.endswith("\n"):
        # Another word in the tag's line says that what follows is no reasoning.
        roles["content_start"].append(f"{it[1]}{{no {it[2]}}}{{word in a line}}")
    for role, marker in _other_marks(spec):
        roles[role] += [marker] if marker not in known else []
        known.add(marker)
    # A stop string ends the turn even if it is distinctive by its white space alone.
    stops = (stop for stop in stops_behind_parts(spec) if not looks_like_marker(stop))
    roles["turn_end"] += map(escaped, stops)
    return {role: sorted(found, key=len, reverse=True) for role, found in roles.items()}


def _leads(spec: Spec) -> Iterator[str]:
    """Yield the words before content that are no marker by themselves, but known where it begins.

    So are a header and reasoning's word before its end. (Behind words, these tell of a part.)
    """
    if found := _tag_and_word(spec):
        yield f"{found[2]} {notation(_closing(spec))}"
    said = (
        _without_reasoning(spec, join.text + spec.content.start).strip()
        for join in spec.turn.joins
        if join.right is Part.CONTENT and join.left is not Part.CALLS
    )
    own = (it for it in (spec.unprompted_header.strip(), *said) if it and not looks_like_marker(it))
    yield from map(notation, dict.fromkeys((*own, *_fillers(spec))))


def _fillers(spec: Spec) -> tuple[str, ...]:
    """Return the sentences that stand in an absent part's place where a turn begins."""
    texts = (join.text.strip() for join in spec.turn.joins if join.left is Part.START)
    return tuple(filter(_SENTENCE.fullmatch, texts))


def _tag_and_word(spec: Spec) -> re.Match[str] | None:
    """Return the tag that opens reasoning, and the word behind it that says so."""
    return _TAG_AND_WORD.match(notation(spec.reasoning.start))


def _unlike_text(spec: Spec, role: str, marker: str) -> str:
    """Return a marker; one of a single sign isn't followed by it, as text may end in that sign.

    The word behind a tag that opens reasoning may be missing, if that tag opens no content.
    """
    word = _TAG_AND_WORD.match(marker)
    if role == "reasoning_start" and word and notation(spec.content.start).startswith(word[1]):
        return marker
    if role == "reasoning_start":
        return _TAG_AND_WORD.sub(r"\1 {?\2}", marker)
    is_run = role == "reasoning_end" and len(set(marker)) == 1
    return f"{marker}{{no {marker[0]}}}" if is_run else marker


def _texts(spec: Spec) -> Iterator[tuple[str, list[str]]]:
    """Yield roles, and the texts that have them."""
    reasons = spec.reasoning.mode is not ReasoningMode.NONE
    starts = [spec.reasoning.start, *_first_starts(spec, Part.REASONING)]
    yield "reasoning_start", starts * reasons
    words = spec.content.start if is_in_words(spec.content.start) else ""
    yield "reasoning_end", [_closing(spec) or words] * reasons
    yield "between", list(_between(spec))
    yield "content_start", [spec.content.start, *_first_starts(spec, Part.CONTENT)]
    yield "turn_end", _ends(spec)
    behind = (join.text for join in spec.turn.joins if join.left is Part.CONTENT)
    closing = _closing(spec) * reasons
    yield "content_end", [spec.content.end, *(it for it in behind if it.strip() == closing)]
    yield "turn_start", [spec.turn.header]


def _first_starts(spec: Spec, part: Part) -> list[str]:
    """Return how reasoning or content with a start begins a turn, if words before that vary."""
    own = _own_start(spec, part)
    joins = spec.joins(Part.START, part) if own.strip() else ()
    leads = [_without_reasoning(spec, join.text) for join in joins]
    alone = {"", *(join.text.strip() for join in spec.joins(Part.START, Part.CALLS))}
    return [lead + own for lead in leads if lead.strip() not in alone]


def _own_start(spec: Spec, part: Part) -> str:
    return {Part.REASONING: spec.reasoning.start, Part.CONTENT: spec.content.start}.get(part, "")


def _other_marks(spec: Spec) -> Iterator[tuple[str, str]]:
    """Yield roles and markers that an overlay adds for reasoning and content."""
    reasons = spec.reasoning.mode is not ReasoningMode.NONE
    for marks in spec.alternatives.marks:
        if marks.part is Part.REASONING and not reasons:
            continue
        yield f"{marks.part}_start", slotted(marks.start)
        if marks.end:
            yield f"{marks.part}_end", notation(marks.end)


def _unwritten(spec: Spec) -> Iterator[str]:
    """Yield the markers that are none of the template's, and may be text where others are not."""
    for role, marker in _other_marks(spec):
        if role.startswith(Part.CONTENT) and "{" not in marker:
            yield marker
    tokens = (*end_tokens(spec), *spec.tokenizer.special_tokens) if spec.tokenizer else ()
    yield from map(notation, tokens)


def _closing(spec: Spec) -> str:
    """Return what closes reasoning: its own end or, where it has none, what leads to content."""
    return spec.reasoning.end.strip() or spec.join(Part.REASONING, Part.CONTENT).strip()


def _between(spec: Spec) -> Iterator[str]:
    """Yield what stands between parts: the end of one message and the header of the next.

    So does the turn's own header where the model has to write it. An end that reasoning alone has
    is a marker by itself, if one follows it: it has to be told where nothing was opened.
    """
    ends = {Part.REASONING: spec.reasoning.end, Part.CONTENT: spec.content.end}
    firsts = {part: _first_starts(spec, part) for part in (Part.REASONING, Part.CONTENT)}
    known = list(chain(*firsts.values()))
    for join in spec.turn.joins:
        text = _without_reasoning(spec, join.text)
        begun = {text + _own_start(spec, part) for part in firsts}
        if text.strip() not in ("", *_fillers(spec)) and begun.isdisjoint(known):
            # Words that vary before a part may be those of a call, too.
            start = _own_start(spec, join.right) if firsts.get(join.right) else ""
            is_told = _is_own_end(spec) and looks_like_marker(text + start)  # each by itself
            if join.left is not Part.REASONING or not is_told:
                yield ends.get(join.left, "") + join.text + start
            yield text + start
    if spec.tools is not None:
        # What opens calls opens further ones as well, behind the header of a message of their own.
        opening = spec.tools.section_start
        found = (it for it in spec.tools.separators if not ends_turn(spec, it))
        yield from (text.removesuffix(opening) for text in found)
    yield spec.unprompted_header


def _is_own_end(spec: Spec) -> bool:
    """Tell whether what closes reasoning is a marker that nothing else ends with."""
    end = spec.reasoning.end.strip()
    others = [spec.content.end, *(it.final + it.followed for it in spec.turn.ends)]
    if spec.tools is not None:
        others += [spec.tools.call[-1].text, spec.tools.section_end]
    return looks_like_marker(end) and not any(end in text for text in others)


def _ends(spec: Spec) -> list[str]:
    """Return every way in which a turn can end, the end-of-sequence token among them.

    What closes reasoning ends no turn where nothing else is in it: content may follow as well.
    """
    fillers, own_end = _fillers(spec), _closing(spec)
    shown = [end for end in spec.turn.ends if not end.final.strip().startswith(fillers)]
    shown = [it for it in shown if it.last is not Part.START or it.final.strip() != own_end]
    finals = [text for end in shown for text in (end.final, end.followed)]
    if spec.tools and spec.tools.after_first:
        finals.append(spec.tools.after_first.end)
    sequence_ends = [token.text for name, token in spec.tokens.items() if name.startswith("eos")]
    others = (*spec.alternatives.stop, *end_tokens(spec), *sequence_ends)
    found = [*finals, *stops_behind_parts(spec), *others]
    return [
        text if text.strip() == own_end else _shortened(_without_reasoning(spec, text))
        for text in found
    ]


def _shortened(end: str) -> str:
    """Cut an end that goes on with other text behind its first tag."""
    if len(end) <= _LONGEST_END:
        return end
    tag = re.match(r"\s*(?:<[^<>]*>|\[[^\[\]]*\])", end)
    return tag.group() if tag else end[:_LONGEST_END]


def _without_reasoning(spec: Spec, text: str) -> str:
    """Return what is left of text when an empty reasoning block is taken out.

    Words in such a block are told by what closes it: alone they could be anybody's.
    """
    start, end = spec.reasoning.start.strip(), _closing(spec)
    text = text.replace(start, "") if start else text
    words = text.partition(end)[0].strip() if end else ""
    return text if not end or words[:1].isalnum() else text.replace(end, "")
