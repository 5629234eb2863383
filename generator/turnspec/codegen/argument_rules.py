"""Markers -> what can come next in a call's arguments: each with its role."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from turnspec.codegen.call_marks import has_commas
from turnspec.codegen.call_rules import (
    call_end_roles,
    call_start_roles,
    first_keys,
    head_without_tag,
    heads_in_brackets,
    without_arguments,
)
from turnspec.codegen.markers import (
    STOP,
    Notation,
    Roles,
    at_least,
    first_text,
    leading_text,
    literal_length,
    roles_of,
    spaced,
)
from turnspec.codegen.marks import FEWEST_SIGNS, ArgumentMarks, Marks
from turnspec.codegen.notation import notation, slotted
from turnspec.spec.calls import Slot
from turnspec.spec.characters import VALUE_SIGNS
from turnspec.spec.words import Part, SlotKind

#: What stands in each of a format's tags, before its word.
_SIGN = re.compile(r"^(</?)([^\w<>/{} ]+\w+[^\w<>/{} ]+)(?=\w)")


def argument_roles(marks: Marks) -> Roles:
    """Return what may stand between arguments."""
    if marks.arguments.form == "values":
        return _between_values(marks)
    arguments = marks.arguments
    start = _next_argument(arguments) if arguments.are_keyed else arguments.start
    done = [("done", end) for end in (*_ends_of_all(marks), *_ends_of_objects(marks))]
    behind, lead = _behind_call(marks), first_text(start)
    # What ends the turn may look like a key in its signs.
    is_alike = lead != "" and any(stop.startswith(lead) for stop in marks.spec.turn.stop)
    alike = [it for it in behind if is_alike and it in marks.text.turn_end]
    others = [it for it in behind if it not in alike]
    # The attribute for the type may be missing, be written in another way, or come first; so may be
    # missing what closes the key before what opens the value.
    untyped = re.sub(r" \w+=\" ?\{type\} ?\"", "{attributes}", start)
    swapped = re.sub(r"( \w+=\"\{key\} ?\")( \w+=\"\{type\} ?\")", r"\2\1", start)
    unsigned = _SIGN.sub(r"\1{?\2}", start)
    unclosed = re.sub(r"(?<=\}) (</[^<>{} ]+>) \{\?([^{}]+)\}", r" {?\1} \2", start)
    unended = re.sub(r" \{key\} >\n$", "{key but  =:}{?>}{line end}", start)
    # Another attribute behind the key is told by the tag's end, which is missing before it.
    longer = re.sub(r"( \w+= \{key\} )>$", r"\1{?>}{attributes}>", start)
    told = (*_with_a_tag_twice(start), *_with_a_tag_between(start))
    starts = dict.fromkeys((*told, start, untyped, swapped, unsigned, unclosed, unended, longer))
    found: Roles = [("argument", it) for it in starts]
    return [*done, *_over(marks, alike), *found, *_over(marks, others)]


def _over(marks: Marks, behind: Sequence[str]) -> Roles:
    """Return how a call is over where what stands behind it begins, if nothing closed it before."""
    if marks.calls.closing:
        return [("broken", it) for it in behind]
    return [("done", ("", [*behind]))] if behind else []


def _ends_of_objects(marks: Marks) -> Iterator[str]:
    """Yield what ends arguments that are one object, in other ways to write a call."""
    for call in marks.spec.alternatives.calls:
        after = slotted(call[call.index(Slot(SlotKind.ARGUMENTS)) + 1 :])
        if after and not after.startswith(marks.calls.closing[:1]):
            yield after


def _with_a_tag_twice(start: str) -> Iterator[str]:
    """Yield how an argument begins where a tag around its key, or before its value, stands twice.

    That is told by what is missing between them.
    """
    tag = "(<[^<>{} ]+>)"
    if found := re.fullmatch(rf"{tag} \{{key\}} {tag} \{{\?{tag}\}}", start):
        key, end, value = found.groups()
        yield f"{key} {{?{end}}} {key} {{key}} {end} {{?{value}}}"
        yield f"{key} {{key}} {end} {{?{key}}} {end} {{?{value}}}"
        yield f"{key} {{key}} {end} {value} {{?{value.replace('<', '</')}}} {value}"
    if found := re.fullmatch(r"<(\w+=) \{key\} >\n", start):
        yield f"<{found[1]} {{?>}} {{?<}}{found[1]} {{key but  =:}}{{?>}}{{line end}}"


def _with_a_tag_between(start: str) -> Iterator[str]:
    """Yield how an argument begins with a word in tags between its key and its value: its type.

    That is told by the value's mark: it is missing where it belongs, and stands behind.
    """
    tag = "<[^<>{} ]+>"
    if found := re.fullmatch(rf"(({tag}) \{{key\}} {tag}) \{{\?({tag})\}}", start):
        key, again, value = found.groups()
        typed = f"{{no {again}}}<{{no /}}{{tag}}>{{tag}}</{{tag}}>"  # no other argument's key
        yield f"{key} {{no {value}}}{{?{value}}} {typed} {value}"


def first_argument_roles(marks: Marks) -> Roles:
    """Return how an argument begins where nothing stands before it: maybe with its key."""
    arguments = marks.arguments
    if arguments.are_keyed:
        return [("argument", "{comma}" + arguments.start)]
    return [("argument", spaced(key)) for key in first_keys(marks)]


def _between_values(marks: Marks) -> Roles:
    """Return what may stand before a value, and behind the last one.

    What ends the arguments may look like another one's beginning, so it comes first; where nothing
    ends them, they end at whatever else comes, as another call, which may look like one, too.
    """
    arguments, head = marks.arguments, marks.calls.start
    between = ["{comma}"]
    if arguments.separator.strip(" ,;"):  # which stands before no first argument
        between.append(f"{{comma}}{arguments.separator} ")
    quoted = itertools.product(between, _quoted(arguments))
    argument = [("quoted", spaced(start, before)) for before, start in quoted]
    # Python's sign may stand for JSON's, which is told as missing.
    starts = (arguments.start, re.sub(r" :$", " {?:} =", arguments.start))
    started = itertools.product(between, dict.fromkeys(starts))
    argument += [("argument", spaced(start, before)) for before, start in started]
    ends = _ends_of_all(marks) or [*filter(None, [arguments.empty]), ""]
    done: list[tuple[str, Notation]] = [("done", _end_of_all(marks, end)) for end in ends]
    if arguments.style and arguments.style.is_raw_inside:  # in Python's bracket, as the head
        behind = [it.removeprefix("}}") for it in ends if it.startswith("}}<")]
        done += [("outer", (")", behind))] if behind else []
    done += [("next_call", head) for head in _next_heads(marks)]
    done += [("done", (f"{{comma}}{it}", _after_bracket(marks))) for it in _brackets(marks)]
    if marks.calls.closing:
        broken = [("broken", spaced(end)) for _, end in call_end_roles(marks)]
        broken += [("marker", spaced(start)) for _, start in call_start_roles(marks)]
        outer = roles_of("outer", [arguments.end], " ")
        if "{" not in arguments.end and any("{any" in end for end in ends):
            return [*outer, *done, *broken, *argument]  # as the value's mark looks like such an end
        if marks.calls.closing[0][-1:].isalnum():  # a word alone, which a key may be as well
            return [*argument, *done, *broken, *outer]
        return [*done, *broken, *argument, *outer]
    heads = [head, *without_arguments(marks)] if first_text(head) else _lone_heads(marks)
    is_clear = arguments.are_keyed or _goes_on_from(head, arguments.start)
    other_call: Roles = [("done", ("{comma}", heads))] if is_clear and heads else []
    return [*other_call, *argument, *roles_of("outer", [arguments.end], " "), *done]


def _ends_of_all(marks: Marks) -> list[str]:
    """Return what ends the arguments, behind what stands where there are none as well."""
    closing, empty = marks.calls.closing[:1], marks.arguments.empty
    is_last = marks.tools.call[-1] == Slot(SlotKind.ARGUMENTS)  # what closes it is theirs
    return [*(empty if is_last else f"{empty} {it}" for it in closing if empty), *closing]


def _end_of_all(marks: Marks, end: str) -> Notation:
    """Return what ends the arguments, and maybe a comma before it, but for its own first sign.

    What follows tells it from what ends each of them in the same way.
    """
    firsts = (text.lstrip()[:1] for text in ([end] if end else _behind_call(marks)))
    text = (" " if {",", ";"} & set(firsts) else "{comma}") + end
    if end and end == marks.arguments.empty:  # which what closes others may begin
        return (text, [*map(spaced, _behind_call(marks)), "{end of text}"])
    return (text, _after_bracket(marks)) if end and end == marks.arguments.end.strip() else text


def _brackets(marks: Marks) -> list[str]:
    """Return the bracket of arguments with which a call's end begins, before a tag of its own."""
    found = (re.match(r"(\)|\]|}})[^)\]}]", end) for end in marks.calls.closing[:1])
    return [bracket[1] for bracket in found if bracket]


def _after_bracket(marks: Marks) -> list[Notation]:
    """Return what shows that a call is over though its end has but the bracket of its arguments."""
    ends = [end for _, end in call_end_roles(marks)]
    return [*map(spaced, (*ends, marks.calls.start)), "{end of text}"]


def _lone_heads(marks: Marks) -> list[str]:
    """Return a head that begins with its name, and what shows that this is no argument's key."""
    head, argument = marks.calls.start.rstrip(), marks.arguments.start
    if not marks.calls.only_in_section or not head.partition("}")[2]:
        return []
    signs = " " + re.sub(r"[{}]", "", VALUE_SIGNS)  # a value that stands before it has some
    key = re.sub(r"\{key(?: but )?", lambda _: f"{{key but {signs}", argument, count=1)
    return [f"{head} {it}" for it in (key, f"{head} {key}", *marks.calls.section_end[:1])]


def _goes_on_from(head: str, argument: str) -> bool:
    """Tell whether a call begins as an argument does, and goes on in a way of its own."""
    lead, own = leading_text(head), leading_text(argument)
    alike = re.sub(r" but [^{}]+", "", argument)
    return lead.startswith(own) and (lead != own or head.replace("{name", "{key").startswith(alike))


def _next_heads(marks: Marks) -> list[str]:
    """Return a call's last bracket with the head of another call, which lacks its tag."""
    ends_in_bracket = any(end.startswith("}}") for end in marks.calls.closing[:1])
    return [f"{{comma}}}}}}{{comma}}{it}" for it in head_without_tag(marks) if ends_in_bracket]


def _quoted(arguments: ArgumentMarks) -> list[str]:
    """Return how an argument begins whose key stands in quotes, the format's own among them.

    An attribute may stand in any quotes without that.
    """
    start = arguments.start
    if start.partition("{key")[0].rstrip().endswith("="):
        return []
    quotes = dict.fromkeys(filter(None, ('"', "'", arguments.quote)))
    return [start.replace("{key", f"{it}{{key").replace("}", f"}}{it}", 1) for it in quotes]


def text_end_roles(marks: Marks) -> Roles:
    """Return what ends a text without quotes: another argument, or the end of them all.

    So does a quote of the format's own, as only the first one is missing; no key holds it.
    """
    arguments = marks.arguments
    starts = (*_quoted(arguments), arguments.start)
    between = f" {arguments.separator} " if arguments.separator else _white_space(marks)
    following = [between + start for start in starts if between]
    if arguments.style is None or not arguments.style.is_raw_inside:
        return [*(("next", it) for it in following), *call_closing_roles(marks)]
    keyed = [it.replace("{key}", f"{{key but {arguments.quote[0]}}}") for it in following]
    return [*roles_of("next", keyed), *call_closing_roles(marks), *raw_end_roles(marks)]


def _white_space(marks: Marks) -> str:
    """Return the white space between arguments, which is there: a key alone may be any word."""
    separator = marks.tools.arguments.separator
    if not separator:
        return " " if first_text(marks.arguments.start) else ""
    return "\n{line}{indent}" if "\n" in separator else "{ } "


def call_closing_roles(marks: Marks) -> Roles:
    """Return what ends the arguments, if no text goes on behind it."""
    calls = marks.calls
    sections = (*calls.section_closing, *calls.section_end)
    ends = (*calls.closing[1:], *sections, *marks.text.turn_end)
    separator = marks.tools.separator
    between = "\n{line} " if "\n" in separator and not separator.strip() else " , "
    over = (*marks.text.turn_end, "{end of text}")  # maybe before what closes them all is
    ends += tuple(f"] {it}" for it in over if heads_in_brackets(marks))
    follows = [*map(spaced, dict.fromkeys(ends)), between + calls.start, "{end of text}"]
    found: list[tuple[str, Notation]] = []
    lead = "\n " if marks.tools.arguments.end.startswith("\n") else " "
    for closing in calls.closing[:1]:
        is_distinct = literal_length(closing) >= FEWEST_SIGNS
        found.append(("close", lead + closing if is_distinct else (lead + closing, follows)))
    behind = [*_after_bracket(marks), *(f"{{comma}}{it}" for it in head_without_tag(marks))]
    found += [("close", (lead + it, behind)) for it in _brackets(marks)]
    found += [("close", spaced(end)) for _, end in call_end_roles(marks)]
    found += [("marker", spaced(start)) for _, start in call_start_roles(marks)]
    return [*found, *roles_of("outer", [marks.arguments.end], " ")]


def signs_behind_string(marks: Marks) -> str:
    """Return the signs with which goes on what stands behind a string."""
    arguments, calls = marks.arguments, marks.calls
    texts = (*calls.closing, *calls.end, *marks.text.turn_end)
    own = (arguments.separator, arguments.start.partition("{")[0], arguments.end)
    firsts = (text.strip()[:1] for text in (*own, *texts))
    return "".join(dict.fromkeys(",)]}:<" + "".join(firsts)))


def raw_end_roles(marks: Marks) -> Roles:
    """Return what ends a string without escapes: its quote, if the call can go on behind it."""
    style, arguments, calls = marks.arguments.style, marks.arguments, marks.calls
    if style is None or not style.raw_quote:
        return []
    ends = (arguments.end,) if arguments.end else (arguments.separator, *calls.closing[:1])
    followed = [spaced(end) for end in ends if end.strip()]
    if style.is_raw_inside:  # arrays and objects, too; a comma may be missing
        tags = [*calls.end, *marks.text.turn_end, leading_text(calls.start)]
        ends = (*",:)]", "}}", *(it for it in tags if it and it[0] != "}"))
        key = f"{{comma}}{{no {style.raw_quote[0]}}}{arguments.start}"
        followed = [*map(spaced, ends), key, f"{{ }}{style.raw_quote}"]
    elif not (arguments.end or arguments.separator.strip()):  # another key tells
        key = f"{{key but {style.raw_quote[0]}}}"
        followed.append(_white_space(marks) + arguments.start.replace("{key}", key))
    return [("end", (style.raw_quote, followed))]


def _next_argument(arguments: ArgumentMarks) -> str:
    """Return the beginning of an argument behind another one.

    A template breaks the line where a mark is missing; without marks a line break is the value's.
    """
    if not arguments.are_keyed:
        return "\n" * bool(arguments.end) + arguments.start
    # Behind one line break an empty line is a part of the value.
    return (f"{arguments.separator} " if arguments.separator else "\n{indent}") + arguments.start


def value_roles(marks: Marks) -> Roles:
    """Return what may end a value."""
    return [*_value_ends(marks, ""), *escape_roles(marks), *ending_roles(marks)]


def escape_roles(marks: Marks) -> Roles:
    """Return what stands for signs in a value."""
    return [("escape", it) for it in marks.tools.arguments.value_escapes.values()]


def guarded_value_roles(marks: Marks) -> Roles:
    """Return what may end a value that is surrounded."""
    guard = marks.tools.arguments.guard
    if guard is None:
        return []
    ends = _value_ends(marks, notation(guard.end))
    # In a guard nothing is escaped but what closes it.
    escapes: Roles = [it for it in escape_roles(marks) if guard.end in it[1]]
    return [*ends, *escapes, *ending_roles(marks)]


def _value_ends(marks: Marks, guard_end: str) -> list[tuple[str, Notation]]:
    """Return what may end a value: its mark if the format can go on behind it, or the rest of it.

    Without its mark a value ends where only the rest of the call follows, or another argument.
    """
    arguments = marks.arguments
    mark = arguments.end.removeprefix("\n")
    before = guard_end + "\n" * (mark != arguments.end)
    found: list[tuple[str, Notation]] = []
    rests = rest_of_call(marks)
    bare = _SIGN.sub(r"\1", mark)
    if bare != mark and not guard_end:  # without the sign that is in each tag
        found.append(("rest", (before + bare, behind_value(marks))))
    if (lead := _lead_of_all(mark)) and rests:  # what closes the call looks like a value's mark
        found.append(("rest", (lead, rests)))
    if before + mark:
        found.append(("close", (before + mark, behind_value(marks))))
    # A single sign is text wherever the format doesn't go on behind it.
    if guard_end + mark and "{key}" not in mark and literal_length(guard_end + mark) > 1:
        if not guard_end:
            found.append(("repeated", (before + mark, [(f" {mark}", behind_value(marks))])))
        found.append(("inner", guard_end + mark))
    if marks.calls.closing or not mark:
        # After a mark that is missing the template breaks the line.
        breaks = marks.tools.arguments.separator.startswith("\n")
        is_line = breaks or (arguments.are_keyed and not arguments.separator)
        if rests:
            found.append(("rest", (before or "\n" * is_line, rests)))
        if not guard_end:
            if first_text(head := marks.calls.start):  # a call that stands in a value
                found.append(("call", _in_line(marks, f"{head.rstrip()} {arguments.start}")))
            found.append(("next", _next_argument(arguments)))
    return found


def _lead_of_all(mark: str) -> str:
    """Return what stands before each of a format's tags, as before a value's mark and behind it."""
    leads = (mark[:size].rstrip() for size in range(len(mark) // 2, 0, -1))
    whole = (lead for lead in leads if mark.endswith(lead))
    return next((lead for lead in whole if literal_length(lead) >= FEWEST_SIGNS), "")


def guard_roles(marks: Marks) -> Roles:
    """Return what may surround a value, at its beginning."""
    guard = marks.tools.arguments.guard
    return roles_of("guard", [notation(guard.start)] if guard else [], " ")


def behind_value(marks: Marks) -> list[Notation]:
    """Return what may stand behind the mark that closes a value."""
    arguments = marks.arguments
    own = _in_line(marks, first_text(arguments.start))
    start = _next_argument(arguments) if arguments.are_keyed else own
    behind = [_in_line(marks, it) for it in _behind_call(marks)]
    following = [it for it in (start, *marks.calls.closing[:1], *behind) if it]
    ends = [*map(spaced, (*marks.calls.closing[:1], *behind)), "{end of text}"]
    misspelt = [(f" {tag}", ends) for tag in _misspelt_end(marks) if arguments.end != "\n"]
    return [*(spaced(it, _white_space_behind(arguments)) for it in following), *misspelt]


def _white_space_behind(arguments: ArgumentMarks) -> str:
    """Return the white space behind a value: where it ends with its line, others are its own."""
    return "{indent}" if arguments.end == "\n" else " "


def _misspelt_end(marks: Marks) -> list[str]:
    """Return a tag that is no marker, in the place of the one that closes a call, if it has one."""
    ends = (*marks.calls.closing, *marks.calls.section_end, marks.arguments.end.strip())
    tags = dict.fromkeys(found[1] for it in ends if (found := re.match("</([^{} ]+)>", it)))
    if not marks.calls.closing or not ends[0].startswith("</") or "{key" in ends[-1]:
        return []
    but = f" but {' '.join(tags)}" if tags else ""
    return [f"</{{rest of tag{but}}}"]


def rest_of_call(marks: Marks) -> list[str]:
    """Return what may stand behind a value without a mark: the rest of the call, and more."""
    closing = marks.calls.closing
    section_end = [it for it in marks.calls.section_end if it not in closing]
    rests = [" ".join(closing[at:]) for at in range(len(closing))] or [""]
    # A call that stands in a value may end so, too; then text goes on behind it.
    shown = (it for it in _behind_call(marks) if it not in section_end)
    behind = [*(_in_line(marks, it) for it in shown), "{end of text}"]
    behind += [f"{end} {it}" for end in section_end for it in behind]
    blank = _white_space_behind(marks.arguments)
    ends = [  # what closes the call tells enough: the next need not begin a line
        f"{rest} {more.removeprefix('{line}')}" if rest else blank + more
        for rest in rests
        for more in behind
    ]
    # Any tag before any other is no rest of a call, but before the turn's end.
    return [it for it in ends if "{any" not in it or STOP in it or literal_length(it) > len("</><")]


def _behind_call(marks: Marks) -> list[str]:
    """Return what may stand behind the first of a call's closing tags."""
    calls, ends = marks.calls, marks.text.turn_end
    is_last = marks.spec.turn.order[-1] is Part.CONTENT
    behind_section = (*ends, "{end of text}")
    found = [
        *(*calls.closing[1:], *calls.section_end),
        *(f"{end} {behind}" for end in calls.section_closing for behind in behind_section),
        *(*calls.opening, leading_text(calls.start)),
        *(*ends, *marks.text.between, *(marks.text.content_start if is_last else ())),
    ]
    if calls.start.startswith("{name"):  # behind white space, or a comma
        found.append("{comma}" + calls.start)
    elif has_commas(marks.tools):
        found.append("{comma}" + leading_text(calls.start))
    opening = first_text(marks.arguments.start)
    return [text for text in dict.fromkeys(found) if text != opening and literal_length(text)]


def _in_line(marks: Marks, begun: str) -> str:
    """Return what follows a value; where that ends with its line, a sign or two begin one.

    A head or an argument that begins with them is told by all of it.
    """
    arguments = marks.arguments
    end = arguments.end or marks.tools.arguments.separator
    is_clear = len(leading_text(begun)) >= FEWEST_SIGNS or begun.startswith("{")
    if end.strip() or not end.startswith("\n") or is_clear:
        return begun
    starts = (marks.calls.start, arguments.start)
    return "{line}" + next((it.rstrip() for it in starts if leading_text(it) == begun), begun)


def ending_roles(marks: Marks) -> Roles:
    """Return markers that end a value nowhere but at the end of the text."""
    return [("ending", f"{end} {{never}}") for end in at_least(1, marks.text.turn_end)]
