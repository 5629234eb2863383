"""How a turn ends, and what may come after it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from turnspec.codegen.shapes import looks_like_marker
from turnspec.deviations.turns import SAID, Case, Format
from turnspec.spec.calls import Literal
from turnspec.spec.message import Message
from turnspec.spec.turn_end import stops_behind_parts


def header_again(form: Format) -> Iterator[Case]:
    """The model writes the header that the prompt already holds."""
    header = form.spec.turn.header
    joins = any(header.strip() in join.text for join in form.spec.turn.joins)
    if looks_like_marker(header) and not joins and not form.spec.content.start.strip():
        yield form.case(header + form.write(Message(SAID)), form.shown(Message(SAID)), "repeated")


def header_in_part(form: Format) -> Iterator[Case]:
    """The header of a turn's later message lacks its tag, its word, or both."""
    header = form.spec.turn.header
    text = form.write(form.message)
    tag = re.match(r"<[^<>]+>(?=\w+\Z)", header)
    is_read = any("{?" in between for between in form.marks.text.between)
    for rest in (header[tag.end() :], tag.group(), "") if tag and is_read else ():
        yield form.case(text.replace(header, rest), form.message, "missing_marker")


def no_end(form: Format) -> Iterator[Case]:
    """The end of the turn is missing, as where an engine takes it away."""
    for message in (Message(SAID), form.message):
        yield form.case(form.without_end(message), message)


def stop_strings(form: Format) -> Iterator[Case]:
    """The turn ends with a stop string of an answer or with the end of the sequence."""
    eos = [token.text for name, token in form.spec.tokens.items() if name.startswith("eos")]
    stops = stops_behind_parts(form.spec)
    for text in (*stops, *eos, *(stop + token for stop in stops for token in eos)):
        yield form.case(form.without_end(Message(SAID)) + text, Message(SAID))


def half_a_closing_marker(form: Format) -> Iterator[Case]:
    """The text is cut off in the marker behind a call."""
    if not form.calls:
        return
    text = form.without_end(form.one_call).rstrip()
    whole = form.module.parse(text, **form.options)
    for missing in (1, 2, 3) if text.endswith(">") else ():
        cut = text[:-missing]
        if form.module.parse(cut, **form.options).tool_calls == whole.tool_calls:
            yield form.case(cut, form.one_call, "cut_off")


def no_closing_tag(form: Format) -> Iterator[Case]:
    """The last tag of a call is missing, and its arguments are closed: nothing of it is."""
    last = form.tools.call[-1] if form.calls else None
    rest = re.sub(r"\s*<[^<>]+>\s*\Z", "", last.text) if isinstance(last, Literal) else ""
    if isinstance(last, Literal) and rest != last.text and re.search(r"[^\w\s]\Z", rest):
        written = form.with_tools(call=(*form.tools.call[:-1], Literal(rest)))
        told = ["stray_marker"] * rest.endswith("```")
        for message in (form.one_call, Message(calls=form.calls)):
            yield form.case(written.write(message), message, *told)
            yield form.case(written.without_end(message), message, *told)


def text_after_end(form: Format) -> Iterator[Case]:
    """The model goes on after the end of the turn."""
    for message in (Message(SAID), form.message):
        text = form.write(message)
        if text.rstrip() != form.without_end(message).rstrip():
            yield form.case(f"{text}And more words.", message, "text_after_end")
