"""Turns of several messages whose header tells what comes: the header as the parts' own beginning.

Where a message's header goes on with a word for what it holds (``assistant to user``), that word
alone is no marker. So the header, which the prompt may hold already, is read with it.
"""

from __future__ import annotations

from dataclasses import replace

from turnspec.codegen.notation import notation
from turnspec.codegen.shapes import looks_like_marker
from turnspec.spec.model import Join, Literal, Part, Piece, ReasoningMode, Slot, Spec, Tools


def with_headers(spec: Spec) -> Spec:
    """Return a spec without a header whose parts begin with it; most specs as they are."""
    header = spec.turn.header
    if not header.strip() or not _has_messages(spec, header) or not _is_told_by_words(spec):
        return spec
    # White space before a word is no more part of it than before a name.
    opening = header + " " * _calls_begin_with_name(spec)
    reasoning = spec.reasoning
    if reasoning.mode is not ReasoningMode.NONE:
        reasoning = replace(reasoning, start=opening + reasoning.start)
    joins = tuple(_without(join, header) for join in spec.turn.joins)
    return replace(
        spec,
        turn=replace(spec.turn, header="", joins=joins),
        reasoning=reasoning,
        content=replace(spec.content, start=opening + spec.content.start),
        tools=_headed_calls(spec.tools, header) if spec.tools else None,
    )


def message_ends(spec: Spec, headed: Spec) -> list[str]:
    """Return what ends a message of a turn, where the next one's header follows."""
    if headed is spec:
        return []
    texts = [join.text for join in headed.turn.joins]
    texts += [headed.tools.separator] if headed.tools else []
    header = notation(spec.turn.header)
    found = dict.fromkeys(notation(text) for text in texts if text.strip())
    return [f"{end}{{before  {header}}}" for end in found]


def begins_with_header(text: str, spec: Spec, headed: Spec) -> bool:
    """Tell whether a text is the beginning of a message in a turn, which is always a marker."""
    return headed is not spec and text.startswith(spec.turn.header)


def _has_messages(spec: Spec, header: str) -> bool:
    return any(join.text.endswith(header) for join in spec.turn.joins if join.left != Part.START)


def _is_told_by_words(spec: Spec) -> bool:
    """Tell whether some part begins with text that is no marker by itself, or with a name."""
    if _calls_begin_with_name(spec):
        return True
    starts = [spec.content.start]
    if spec.reasoning.mode is not ReasoningMode.NONE:
        starts.append(spec.reasoning.start)
    return any(start.strip() and not looks_like_marker(start) for start in starts)


def _calls_begin_with_name(spec: Spec) -> bool:
    tools = spec.tools
    return tools is not None and not tools.section_start and isinstance(tools.call[0], Slot)


def _without(join: Join, header: str) -> Join:
    return replace(join, text=join.text.removesuffix(header))


def _headed_calls(tools: Tools, header: str) -> Tools:
    """Put the header before each call if it is said again there, else before all of them."""
    opening = header + tools.section_start
    if not tools.separator.endswith(opening):
        return replace(tools, section_start=opening)
    first, *rest = tools.call
    call: tuple[Piece, ...] = (Literal(opening), *tools.call)
    if isinstance(first, Literal):
        call = (Literal(opening + first.text), *rest)
    separator = tools.separator.removesuffix(opening)
    return replace(tools, section_start="", call=call, separator=separator)
