"""Markers -> what can come next of calls, and of what stands around them: each with its role."""

from __future__ import annotations

import re
from collections.abc import Sequence

from turnspec.codegen.call_marks import call_separators, ends_turn, has_commas, sign_between
from turnspec.codegen.markers import (
    Notation,
    Roles,
    at_least,
    first_text,
    leading_text,
    literal_length,
    spaced,
)
from turnspec.codegen.marks import FEWEST_SIGNS, ArgumentMarks, Marks
from turnspec.codegen.mention_rules import (
    mention_roles,
    opening_of,
    other_syntax_roles,
    up_to_arguments,
)
from turnspec.codegen.notation import notation, optional
from turnspec.codegen.object_rules import between_objects, object_roles
from turnspec.codegen.shapes import looks_like_head, looks_like_marker
from turnspec.engine.markers import escaped
from turnspec.spec.characters import left_open
from turnspec.spec.words import Part

#: The markers of text, each in the order in which it is told.
_OF_TEXT = (
    *("content_start", "reasoning_start", "between", "reasoning_end"),
    *("turn_end", "content_end", "turn_start"),
)


def in_text_roles(marks: Marks) -> Roles:
    """Return what may stand in text; code comes last, as a marker may go on where it begins."""
    found = [(role, it) for role in _OF_TEXT for it in getattr(marks.text, role)]
    known = {marker for _, marker in found}
    found += [("special_token", it) for it in marks.text.unwritten if it not in known]
    found += object_roles(marks) if marks.are_objects else _head_roles(marks)
    code = marks.code
    # Where a line ends behind what announces code, it has to end there.
    announced = notation(code.start) + "{line end}" * code.start.endswith("\n") if code else ""
    return [*found, ("code", announced)] if announced else found


def behind_call_roles(marks: Marks) -> Roles:
    """Return what may stand behind a call: brackets that no part has, or a marker begins with.

    A tag that is no marker is one of what another format puts around calls. So may a sign before
    another call that separates two in no section.
    """
    ends = (*marks.calls.end, *marks.calls.section_end, *marks.text.turn_end)
    behind = [f" {end}" for end in at_least(2, ends)]
    starts = [f" {start}" for _, start in call_start_roles(marks)]
    if has_commas(marks.tools) and marks.calls.is_doubtful:  # of which a sign alone tells nothing
        starts.append(f" {marks.calls.start}")
    if any(re.match(r" [,}\]`]", start) for start in starts):  # which would be taken for brackets
        starts = []
    begun = [end for end in behind if re.match(r" [,}\]`]", end)]
    # Without its special tokens such an end is brackets, and what follows a head without its own.
    has_fences = begun and marks.arguments.form == "json"
    untagged = [head for _, head in first_call_roles(marks)] if has_fences else []
    stray: list[tuple[str, Notation]] = [("stray", f" {it}") for it in _usual_closing(marks)]
    sign = sign_between(marks.tools) * (not marks.calls.only_in_section)
    if sign.strip(","):
        heads = [*marks.calls.opening[:1], marks.calls.start]
        stray.append(("stray", (f" {notation(sign)}", [f" {head}" for head in heads if head])))
    stray.append(("stray", ("{brackets}", [*behind, *starts, *untagged, "{end of text}"])))
    tags_ = (*filter(looks_like_marker, ends), *marks.text.turn_end)
    last = [*dict.fromkeys(map(spaced, tags_)), "{end of text}"]
    if _may_have_other_tags(marks):
        own = re.match("<([^{} ]+)", next(iter(marks.calls.opening), ""))
        last += [" <{tag name}> {{"] if marks.are_objects else []  # one more, in that tag too
        stray.append(("stray", (f" <{{no {own[1]}}}{{tag}}>" if own else " <{tag}>", last)))
    return [*(("marker", end) for end in begun), *stray]


def _may_have_other_tags(marks: Marks) -> bool:
    """Tell whether another tag may stand in the place of the one that opens calls."""
    calls = marks.calls
    is_free = not (calls.only_in_section or calls.begin_with_name)
    return is_free and (marks.are_bare or any(map(looks_like_marker, calls.opening)))


def _usual_closing(marks: Marks) -> list[str]:
    """Return what closes, in any markup, the tag that opens calls, where the format closes none."""
    calls = marks.calls
    opening = next(iter(calls.opening), calls.start)
    tag = re.match(r"([<\[]\|?)(\w[^<>\[\]{} /]*[>\]])", opening)
    is_closed = calls.end or calls.section_end or calls.closing
    return [f"{tag[1]}/{tag[2]}"] if tag and not is_closed else []


def call_end_roles(marks: Marks) -> Roles:
    """Return what ends a call, or the turn."""
    ends = (*marks.calls.end, *marks.calls.section_end, *marks.text.turn_end)
    return [("end", end) for end in at_least(FEWEST_SIGNS, ends)]


def value_end_roles(marks: Marks) -> Roles:
    """Return what a value that is not closed ends at: the call's end, or else another call."""
    has_end = marks.calls.end or marks.calls.section_end
    headers = [("end", it) for it in marks.text.between] if marks.text.headers else []
    return [*call_end_roles(marks), *headers, *([] if has_end else call_start_roles(marks))]


def behind_value_roles(marks: Marks) -> Roles:
    """Return what a call goes on with behind that end: any text where nothing ends one."""
    has_end = marks.calls.end or marks.calls.section_end
    return call_start_roles(marks) if has_end else [("mention", "")]


def call_start_roles(marks: Marks) -> Roles:
    """Return what begins another call."""
    starts = (*marks.calls.opening, marks.calls.start)
    texts = dict.fromkeys(map(leading_text, starts))
    return [("marker", text) for text in texts if len(text) >= FEWEST_SIGNS]


def _opening_roles(
    marks: Marks, heads: Sequence[tuple[str, Notation]], others: Sequence[tuple[str, list[str]]]
) -> list[tuple[str, Notation]]:
    """Return what opens calls, before a head of theirs or what stands in its place."""
    calls = marks.calls
    found: list[tuple[str, Notation]] = []
    inner = [marker for marker in others if opening_of(marker) not in calls.opening]
    for at, opening in enumerate(calls.opening):
        following = [*calls.opening[at + 1 :], *(head for _, head in heads), *inner]
        ends = () if at else calls.section_end
        role = "inner_opening" if at else "opening"
        untagged = () if at or calls.only_in_section else _heads_without_tags(marks)[:1]
        # One that has a tag of its own left has lost another one than the first.
        bare = [it for _, it in untagged if "<" not in it[0].partition("{name")[0]]
        behind = [*map(spaced, (*following, *ends)), *bare]
        found.append((role, (opening, behind)))
        if not at and not calls.only_in_section:
            found.append(("noisy_opening", (opening + "{noise}", following)))
        elif looks_like_marker(opening) and calls.start.startswith("{name"):
            fenced = re.sub(r"(?: \{\?\[\})?$", r" {fence}{line end}\g<0>", opening, count=1)
            found.append(("noisy_opening", (fenced, [spaced(calls.start)])))
    return found


def _head_roles(marks: Marks) -> Roles:
    """Return the markers in texts whose calls have heads."""
    calls, heads, others = marks.calls, _heads(marks), other_syntax_roles(marks)
    found = _opening_roles(marks, heads, [marker for _, marker in others])
    whole = [spaced(head) for _, head in heads if isinstance(head, str)]
    if whole and _may_have_other_tags(marks):
        found.append(("noisy_opening", ("<{no /}{tag}>", whole)))
    if not calls.only_in_section:
        lines = [(role, spaced(head, "\n{line} ")) for role, head in heads]
        found += [*(lines if calls.begin_with_name else heads), *_heads_alone(marks)]
    # In quotes that no text has.
    quoted = f"{{comma}}{marks.arguments.start} {marks.arguments.quote}"
    is_clear = literal_length(marks.arguments.quote) >= FEWEST_SIGNS
    found += [("untagged_call", (it, [quoted])) for it in head_without_tag(marks) if is_clear]
    follows = [spaced(head) for _, head in heads]
    between = call_separators(marks.tools) if heads else []
    found += [("marker", (notation(it), follows)) for it in between if ends_turn(marks.spec, it)]
    mentions = mention_roles(marks)  # one that is said twice may look like a tag
    found += [*mentions[:-1], *others, *mentions[-1:]]
    found += [("section_end", end) for end in calls.section_end]
    return found + [("call_end", end) for end in calls.end]


def between_roles(marks: Marks) -> Roles:
    """Return what may stand between calls."""
    if marks.are_objects:
        return between_objects(marks)
    found = [(role, spaced(head, "{comma}")) for role, head in _heads(marks)]
    ends = [*marks.calls.section_closing, *marks.calls.section_end]
    ends += ["]"] * bool(heads_in_brackets(marks))
    found += [("closing", f" {end}") for end in ends]
    final = marks.spec.final(Part.CALLS).strip()
    if final and any(text.startswith(final) for text in call_separators(marks.tools)):
        # What begins another call as well ends the turn where nothing follows.
        found += [("closing", (f" {end}", ["{end of text}"])) for end in marks.text.turn_end]
    closers = escaped(left_open(marks.tools))
    return found + [(role, spaced(it, f" {closers}")) for role, it in found if closers]


def _heads(marks: Marks) -> list[tuple[str, Notation]]:
    """Return the heads of calls, if they have any."""
    calls = marks.calls
    heads = [("call", calls.start)] if calls.start else []
    heads += [("other_call", it) for it in calls.other_starts]
    is_attribute = re.search(r'(?:"| \w+= \{name[^{}]*\} )>$', calls.start)
    if marks.arguments.form == "text" and is_attribute:
        heads.append(("closed_call", calls.start[:-1] + "/>"))
    heads += [("short_call", it) for it in calls.short_starts]
    whole: list[tuple[str, Notation]] = [("closed_call", it) for it in without_arguments(marks)]
    is_known = marks.arguments.end.strip() and "{" not in marks.arguments.end
    if is_known and tags_of_keys(marks.arguments):  # the end of none of them
        over = [*map(spaced, (*calls.closing[:1], *marks.text.turn_end)), "{end of text}"]
        starts = (calls.start.rstrip(), *calls.short_starts)
        whole += [("closed_call", (f"{it} {marks.arguments.end}", over)) for it in starts]
    alone = re.fullmatch(r"(.*)\{\?([^{}]+)\}( \{name\}) \{\{", calls.start)
    ends = [f" {end}" for end in filter(looks_like_marker, calls.end)]
    if alone and ends:  # its brackets are left out
        whole.append(("closed_call", ("".join(alone.groups()), ends)))
    in_parentheses = _with_parenthesis(marks)
    return [*whole, *((role, _with_follows(marks, head)) for role, head in heads), *in_parentheses]


def without_arguments(marks: Marks) -> list[Notation]:
    """Return a call without arguments; one that is a head alone is none if arguments follow."""
    calls = marks.calls
    is_head = calls.empty.rstrip() == calls.start.rstrip()
    if not calls.empty or not (is_head or calls.empty.rstrip().endswith("{name}")):
        return [calls.empty] if calls.empty else []
    separators = [notation(text) for text in marks.tools.separators if text.strip()]
    ends = (*calls.section_end, *calls.section_closing, *marks.text.turn_end, *separators)
    gap = "{gap}" * calls.start.startswith("{name")  # else a name could be the end of this one
    heads = [gap + it for it in dict.fromkeys((calls.start, calls.empty))]
    follows = [*map(spaced, (*ends, *heads)), "{end of text}"]
    others = [f"{text} {calls.empty}" for text in separators if calls.only_in_section]
    return [(it, follows) for it in (calls.empty, *others)]


def _with_parenthesis(marks: Marks) -> Roles:
    """Return a head as in Python, if a string in quotes of the format's own follows, or a key."""
    style, (head, bracket, rest) = marks.arguments.style, marks.calls.start.rpartition(" {{")
    if style is None or not style.is_raw_inside or not bracket or rest:
        return []
    string, key = f"{{word}}= {style.raw_quote}", f"{{comma}}{marks.arguments.start}"
    return [("call", (f"{head} (", [string, f"{{word}}={{word}},{string}", key]))]


def _heads_alone(marks: Marks) -> Roles:
    """Return heads with nothing but the name, where the turn ends or another call begins."""
    before, name, _ = marks.calls.start.partition("{name}")
    if not name or len(leading_text(before)) < FEWEST_SIGNS or marks.calls.opening:
        return []
    # Where a part of the head may be missing, that part would be taken for a name.
    ends = (*marks.text.turn_end, *(() if "{?" in before else (marks.calls.start,)))
    return [("name_alone", (before + name, [spaced(end) for end in ends]))]


def head_without_tag(marks: Marks) -> list[str]:
    """Return a call's head without its tag, if a word before the name and a bracket are left."""
    found = re.fullmatch(r"<[^<>{} ]+> \{\?([^{}]+)\} (\{name.*\{\{)", marks.calls.start)
    return [found[1] + found[2]] if found else []


def first_call_roles(marks: Marks) -> Roles:
    """Return how a turn's first call begins without its tag, as servers leave out special tokens.

    Of a head's tag a word, a bracket or nothing is left; an object may also stand in another tag,
    or between fences. A marker of calls that is no tag may be forgotten as well.
    """
    if not marks.are_objects:
        heads = [*head_without_tag(marks), *heads_in_brackets(marks)]
        found: Roles = [("untagged_call", f" {head}") for head in heads]
        return found or _heads_without_tags(marks)
    text, opening = marks.text, next(iter(marks.calls.opening), "")
    own = "".join([*text.reasoning_start, *text.content_start, *text.unwritten, opening])
    tags = re.findall(r"<(\w[^<>{} ]*(?:>|(?=\{index\})))", own)
    words = re.fullmatch(r"<[^<>{} ]+> (\w.*?)(?: (<[^<>{} ]+>))?", opening)
    before = [" <" + "".join(f"{{no {tag}}}" for tag in tags) + "{tag name}>"]
    if re.match(r"[<\w][^{]*\Z", opening):  # not in brackets: a bare array is an answer's, too
        others = " ".join(tag.removesuffix(">") for tag in tags)
        before = [f" {{tag if any but {others}}}" if tags else " {tag if any}"]
    if words:
        before.insert(0, f" {words[1]} {optional(words[2])}")
    follows = up_to_arguments(marks)
    return [("untagged_call", (it, follows)) for it in before if follows]


def _heads_without_tags(marks: Marks) -> Roles:
    """Return a call's head without the tag before its name, and without those behind it, too.

    A word may stand before the name. What arguments begin with leaves no doubt; where that is a
    key or a bare sign, an answer that begins with a tool's name may look like one.
    """
    calls, arguments = marks.calls, marks.arguments
    tag = r"(?:<[^<>{} ]+>|\[[^][{} ]+\])"
    before_name = rf"^{tag} (?:\{{\?([\w.]+)\}} )?((?:\w+ )?(?:{tag} )?\{{name.*)$"
    starts = "\n".join((calls.start, *calls.short_starts[:1]))
    heads = [word + head for word, head in re.findall(before_name, starts, re.MULTILINE)]
    if not heads or arguments.form == "values":
        return []
    bare = re.sub(rf"(?:\{{\?{tag}\}}|{tag})(?:\{{id\}})?", "", heads[-1])
    follows = ['{{ "', "{{ }}"]
    if arguments.form == "text":
        opening = first_text(arguments.start)
        if not (looks_like_head(opening) or re.match(r"[^\w\s]\w", opening)):
            return []
        if any(stop.startswith(opening) for stop in marks.spec.turn.stop):
            return []  # a tool's name alone may be the answer
        follows = [opening, *calls.closing[:1]]
    after = [spaced(it) for it in follows]
    return [("untagged_call", (f" {it}", after)) for it in dict.fromkeys((heads[0], bare))]


def heads_in_brackets(marks: Marks) -> list[str]:
    """Return a call's head behind the bracket that is left of a tag and a bracket."""
    calls = marks.calls
    is_left = any(re.fullmatch(r"<[^<>{} ]+> (?:\[|\{\?\[\})", it) for it in calls.opening)
    is_named = re.fullmatch(r"\{name[^{}]*\} \(", calls.start)
    return [f"[ {calls.start}"] if is_left and is_named else []


def _with_follows(marks: Marks, head: str) -> Notation:
    """Return a head; one that ends in a slot, or is told by its name, with what may follow."""
    is_told = looks_like_marker(head.partition("}")[2])
    by_name, is_doubtful = marks.calls.begin_with_name, marks.calls.is_doubtful
    if head.rstrip()[-1:] != "}" and not is_doubtful and (is_told or not by_name):
        return head
    # A key is as it is between arguments.
    before = "{comma}" if by_name or marks.arguments.are_keyed else " "
    return (head, [spaced(it, before) for it in _behind_name(marks) if it])


def _behind_name(marks: Marks) -> Sequence[Notation]:
    """Return what may stand behind a name that no text closes."""
    arguments, calls = marks.arguments, marks.calls
    objects: Sequence[str] = ('{{ "', "{{ '", "{{ }}")
    if arguments.form == "json":
        loose = ("{fence} {{", '"{{')
        objects = objects if calls.begin_with_name or calls.is_doubtful else loose
        return (*objects, *calls.closing[:1])
    separators = map(notation, call_separators(marks.tools))
    over = () if calls.section_end or calls.end else marks.text.turn_end
    closing = (calls.section_end or calls.section_closing)[:1]
    ends = calls.closing or (*closing, *separators, first_text(calls.start), *over)
    first = first_text(arguments.start)
    is_sign = literal_length(first) < FEWEST_SIGNS  # with which text goes on as well
    argument = arguments.start if arguments.are_keyed or is_sign else first
    objects = objects if calls.is_doubtful else ("{{",)
    begun = (argument, *first_keys(marks), *objects, arguments.empty)
    return (*begun, *(_any_end(marks, it, argument) for it in ends), *_misspelt_end(marks))


def _misspelt_end(marks: Marks) -> list[Notation]:
    """Return a last tag that begins as what closes a head with nothing but the name."""
    closing = re.match("</[^<>{} ]+(?=>)", "".join(marks.calls.closing[:1]))
    if closing is None or not marks.calls.start.rstrip().endswith("{name}"):
        return []
    begun = [closing[0][:size] for size in range(3, len(closing[0]) + 1)]
    others = marks.text.reasoning_end  # none of which may begin so
    own = [text for text in begun if not any(other.startswith(text) for other in others)]
    return [(f"{text}{{tag}}>", ["{end of text}"]) for text in own[:1]]


def _any_end(marks: Marks, end: str, argument: str) -> Notation:
    """Return what closes a call without arguments; any tag does so before what else may follow."""
    is_last = marks.spec.turn.order[-1] is Part.CALLS  # else content may follow
    if "{any" not in end or not (marks.calls.is_doubtful and is_last):
        return end
    between = "{comma}" if has_commas(marks.tools) else " "
    calls = [f"{between}{marks.calls.start.rstrip()} {it}" for it in (argument, leading_text(end))]
    separators = map(notation, call_separators(marks.tools))
    ends = [*marks.text.turn_end, *marks.text.unwritten, *separators]
    return (end, [*map(spaced, ends), "{end of text}", *calls])


def first_keys(marks: Marks) -> list[str]:
    """Return how the first argument begins without the tag before its key.

    White space stands there, once more what opens the call, or nothing: then the name holds the
    key, too. What closes the call is none, if a key could hold that.
    """
    opening = leading_text(marks.calls.start)
    again = [opening] if looks_like_marker(opening) else []
    closing = re.match(r"[^<{}\s][^{}\s]*", "".join(marks.calls.closing[:1]))
    no_end = f"{{no {closing[0]}}}" if closing else ""
    return [
        text
        for tag, rest in tags_of_keys(marks.arguments)
        for text in (
            *(f"{it}{{?{tag}}} {rest}" for it in (f"{{gap}}{{no {tag}}}{no_end}", *again)),
            f"{{?{tag}}}{rest.removeprefix('{key}')}",
        )
    ]


def tags_of_keys(arguments: ArgumentMarks) -> list[tuple[str, str]]:
    """Return the tag before an argument's key, and the rest, if another tag closes the key."""
    return re.findall(r"^(<[^<>{} ]+>) (\{key\} <[^<>{} ]+>.*)", arguments.start, re.DOTALL)
