"""Turns of several messages whose header tells what comes: the header as the parts' own beginning.

Where a message's header goes on with a word for what it holds (``assistant to user``), that word
alone is no marker. So the header, which the prompt may hold already, is read with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from turnspec.codegen.markers import leading_text
from turnspec.codegen.marks import CallMarks, Marks
from turnspec.codegen.notation import notation, optional
from turnspec.codegen.shapes import looks_like_marker
from turnspec.spec.calls import Literal, Piece, Slot, Tools
from turnspec.spec.model import Spec
from turnspec.spec.words import Part, ReasoningMode


def with_headers(spec: Spec) -> Spec:
    """Return a spec without a header whose parts begin with it; most specs as they are."""
    header = spec.turn.header
    again = (join.text for join in spec.turn.joins if join.left != Part.START)
    is_said = bool(header.strip()) and any(text.endswith(header) for text in again)
    if not is_said or not _is_told_by_words(spec):
        return spec
    by_name = _calls_begin_with_name(spec)
    reasoning = spec.reasoning
    if reasoning.mode is not ReasoningMode.NONE:
        reasoning = replace(reasoning, start=_headed(header, reasoning.start, by_name=by_name))
    joins = (replace(join, text=join.text.removesuffix(header)) for join in spec.turn.joins)
    return replace(
        spec,
        turn=replace(spec.turn, header="", joins=tuple(joins)),
        reasoning=reasoning,
        content=replace(spec.content, start=_headed(header, spec.content.start, by_name=by_name)),
        tools=_headed_calls(spec.tools, header) if spec.tools else None,
    )


def _headed(header: str, text: str, *, by_name: bool = False) -> str:
    """Put a header before a text; white space between the two is no part of it, nor of a name.

    Grammars allow it, as it stands where the model begins behind a prompt's open header.
    """
    return header + " " * (by_name or bool(text.strip())) + text


def content_has_own_line(spec: Spec) -> bool:
    """Tell whether content begins in the line behind a header, in whose own line a call's name is.

    So there a line end tells the two apart.
    """
    lead = spec.join(Part.START, Part.CONTENT) + spec.content.start
    return "\n" in lead and not lead.strip() and _calls_begin_with_name(spec)


def in_header_line(calls: CallMarks, spec: Spec) -> CallMarks:
    """Say of calls that their name stands in the header's line, where content never does."""
    header = notation(spec.turn.header)
    rest = calls.start.removeprefix(f"{header} {{name")
    if not content_has_own_line(spec) or rest == calls.start:
        return calls
    return replace(calls, start=f"{header}{{no \n}} {{name{rest}")


def message_ends(spec: Spec, headed: Spec) -> list[str]:
    """Return what ends a message of a turn, where the next one's header follows.

    So does the header itself, as it is taken for given where the model has to write it.
    """
    if headed is spec:
        return []
    texts = [spec.unprompted_header, *(join.text for join in headed.turn.joins)]
    texts += filter(looks_like_marker, headed.tools.separators if headed.tools else ())
    header = notation(spec.turn.header)
    found = dict.fromkeys(notation(text) for text in texts if text.strip())
    return [f"{end}{{before  {header}}}" for end in found]


def with_loose_headers(marks: Marks, spec: Spec) -> Marks:
    """Add what models write of a message's header where it is not whole, or there twice.

    The header's tag or its word may be missing after a message, if a part's beginning follows.
    """
    text, header = marks.text, notation(spec.turn.header)
    end = _header_end(marks, header)
    ends = [it.removesuffix(header).strip() for it in text.between if it.endswith(header)]
    tag, _, word = header.partition(" ")
    if not ends or not looks_like_marker(tag) or not word.isalnum():
        return marks
    if end:
        others = filter(None, (_of_any_word(start, end) for start in _starts(marks)))
        starts = tuple(dict.fromkeys([*text.content_start, *others]))
        marks = replace(marks, text=replace(text, content_start=starts))
    firsts = _shortest(map(leading_text, _starts(marks)))
    # What ends content as well may stand before calls without a header.
    messages = [it for it in ends if it not in ("", notation(spec.content.end))]
    begun = [tag, *(f"{it} {{?{tag}}} {{?{word}}}" for it in messages)]
    loose = (f"{it}{{before  {first}}}" for it in begun for first in firsts)
    marks = replace(marks, text=replace(marks.text, between=(*text.between, *loose)))
    return _addressed(marks, firsts, end, header) if end else marks


def _addressed(marks: Marks, firsts: Sequence[str], end: str, header: str) -> Marks:
    """Add what else is written where messages say who they are for.

    What closes a header may stand there alone, or be missing where the message ends, or JSON
    begins. A channel may be said before another one, be any words, or be missing before a call, and
    any name may be where a user's or tool's is. After a tool's name in a channel any words and tags
    may stand, and a tool's name in the place of the header's word.
    """
    text, calls = marks.text, marks.calls
    words = f"{{words but {leading_text(calls.start)}}}"  # that name no tool
    said_twice = [before for start in _starts(marks) if (before := _before_word(start, end))]
    found = (f"{it}{{before {first}}}" for it in said_twice for first in firsts)
    tags = [it.removesuffix("{word}") + words for it in said_twice]
    recipient, name, behind = calls.start.partition("{name}")
    twice = (f"{recipient}{name}{{word}}{it}" for it in tags[:1])
    stopped = (f"{it}{{before {{stop}}}}" for it in (*tags, *twice))
    starts = text.content_start
    if behind.endswith(end):
        short = [*_short_headers(recipient + name, behind.removesuffix(end), end)]
        parts = re.compile(rf"({re.escape(recipient)}[^<]*)(<[^<>{{}} ]+>)(.*<.*<.*)")
        lacking = (it.expand(r"\1{?\2}\3") for it in map(parts.fullmatch, calls.other_starts) if it)
        tagged = (it.partition(name)[0] for it in calls.other_starts if it.startswith("<"))
        said = (it.replace("{word}", words) for it in dict.fromkeys(tagged))
        noisy = (f"{it}{name}{{words}}{{?{end}}}" for it in said)
        own = _named_header(header, recipient) + name
        named = (it.replace(recipient + name, own) for it in short[-1:])
        calls = replace(calls, short_starts=(*calls.short_starts, *short, *lacking, *noisy, *named))
    else:
        starts = (*starts, f"{recipient}{name} {end}")
    thought = text.reasoning_start
    text = replace(
        text,
        reasoning_start=(*thought, *_loose(thought, r"\1 ", "{word}")),
        reasoning_leads=(*_loose(thought, r"{?\1} ", words), *_unended(thought, end)),
        content_start=(*starts, *_loose(starts, r"\1 ", "{word}")),
        leads=(
            *(*text.leads, end, *_loose(starts, "", words), *(it + end for it in tags)),
            *(*_unended(starts, end), *stopped),
        ),
        turn_start=(*text.turn_start, *found),
        headers=starts,
    )
    return replace(marks, text=text, calls=calls)


def _loose(starts: Sequence[str], tag: str, words: str) -> tuple[str, ...]:
    """Return headers of a tag and a word with other words behind it, and the tag as given."""
    headed = (re.fullmatch(r"(<[^<>{} ]+>) (\w+) (<.*)", start) for start in starts)
    return tuple(f"{it.expand(tag)}{it[2]}{words}{it[3]}" for it in headed if it)


def _unended(starts: Sequence[str], end: str) -> Iterator[str]:
    """Yield headers of a tag and a word that lack their end: text follows in its place."""
    for headed in (re.fullmatch(rf"<[^<>{{}} ]+> \w+ {re.escape(end)}", it) for it in starts):
        if headed:
            short = f"{headed[0].removesuffix(end)}{{?{end}}}"
            yield from (f"{short}{{before {it}}}" for it in ("{line of text}", "{text}{stop}"))


def _header_end(marks: Marks, header: str) -> str:
    """Return what ends a message's header, if that names a tool or, as that of content, a user.

    Then there is a header before each message, and headers end in the same marker.
    """
    _, _, behind_name = marks.calls.start.partition("{name}")
    if not header or not any(header in text for text in marks.text.between):
        return ""
    ends = (start[at:] for start in marks.text.content_start for at in range(len(start)))
    found = (end for end in ends if looks_like_marker(end) and end in behind_name)
    return next(found, "").strip()


def _short_headers(recipient: str, behind: str, end: str) -> Iterator[str]:
    """Yield headers of calls that lack a tag, or have more words than one behind it."""
    before = start = f"{recipient}{{word}}"
    tags = re.findall(r"<[^<>{} ]+>", behind)
    for tag in tags:
        yield f"{before}{{?{tag}}}{end}"
        before += f"{tag}{{word}}"
    yield from (f"{start}{tag}{{words}}{end}" for tag in tags)


def _starts(marks: Marks) -> list[str]:
    """Return what parts begin with."""
    text, calls = marks.text, marks.calls
    heads = (*calls.opening[:1], calls.start, *calls.other_starts)
    return [*filter(None, (*text.reasoning_start, *text.content_start, *heads))]


def _named_header(header: str, recipient: str) -> str:
    """Return what stands before a tool's name in the place of a header's word."""
    tag, _, word = header.partition(" ")
    to, _, prefix = recipient.partition(" ")
    return f"{tag} {{no {word}}}{{?{word}}} {optional(to)} {prefix}"


def _of_any_word(start: str, end: str) -> str:
    """Return a header whose word may be any; "" if there is none in it."""
    found = re.fullmatch(rf"(<[^<>{{}} ]+>) \w+ {re.escape(end)}", start)
    return f"{found[1]}{{word}}{end}" if found else ""


def _before_word(start: str, end: str) -> str:
    """Return a header up to a word that may be any, if nothing but its end follows."""
    before, slot, behind = start.partition("{word}")
    return before + slot if behind.strip() == end else ""


def _shortest(texts: Iterable[str]) -> list[str]:
    """Return texts of which none begins with another one."""
    found = dict.fromkeys(texts)
    return [text for text in found if not any(text != it and text.startswith(it) for it in found)]


def _is_told_by_words(spec: Spec) -> bool:
    """Tell whether the header or a part's beginning is no marker by itself, or is a name."""
    if _calls_begin_with_name(spec) or not looks_like_marker(spec.turn.header):
        return True
    starts = [spec.content.start]
    if spec.reasoning.mode is not ReasoningMode.NONE:
        starts.append(spec.reasoning.start)
    return any(start.strip() and not looks_like_marker(start) for start in starts)


def _calls_begin_with_name(spec: Spec) -> bool:
    tools = spec.tools
    return tools is not None and not tools.section_start and isinstance(tools.call[0], Slot)


def _headed_calls(tools: Tools, header: str) -> Tools:
    """Put the header before each call if it is said again there, else before all of them."""
    plain, opening = header + tools.section_start, _headed(header, tools.section_start)
    if not tools.separator.endswith(plain):
        return replace(tools, section_start=opening)
    first, *rest = tools.call
    call: tuple[Piece, ...] = (Literal(opening), *tools.call)
    if isinstance(first, Literal):
        call = (Literal(_headed(opening, first.text)), *rest)
    separator = tools.separator.removesuffix(plain)
    return replace(tools, section_start="", call=call, separator=separator)
