"""The grammar of a spec: every turn that the model may write, as GBNF text.

The grammar takes any tool name and any arguments. What a call holds is written by `call_body`,
which gets the rules for the name and the arguments as text, so that real tools can replace them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from sys import maxunicode

from turnspec.codegen.banner import banner, sealed
from turnspec.codegen.facts import words_of
from turnspec.codegen.headers import content_has_own_line, with_headers
from turnspec.codegen.markers import leading_text
from turnspec.codegen.notation import plain
from turnspec.codegen.rules import beginnings, markers_in_text
from turnspec.codegen.shapes import is_in_words, looks_like_marker
from turnspec.codegen.text_marks import marks_of
from turnspec.grammar.calls import (
    Calls,
    argument_rules,
    begun_calls,
    call_marker,
    call_rules,
    text_in_calls,
)
from turnspec.grammar.free_text import A_NAME, shortest_markers, text_without
from turnspec.grammar.in_string import in_string
from turnspec.grammar.text import (
    GAP,
    WHITE_SPACE,
    Rule,
    choice,
    group,
    literal,
    reachable,
    sequence,
    space_rules,
    spelled,
    trimmed,
)
from turnspec.grammar.turn_markers import in_turn_order
from turnspec.spec.model import ContentMode, Part, ReasoningMode, Slot, SlotKind, Spec
from turnspec.spec.prompt_state import PromptState, state_in
from turnspec.spec.recipe import REGENERATE
from turnspec.spec.turn_end import may_repeat_calls, with_stop_at_end

#: The entry rules: the whole turn after the prompt, and its calls from the trigger on.
ROOT = "root"
TOOL_CALLS = "tool-calls"
REQUIRED_CALLS = "required-calls"
CONTENT_ONLY = "content-only"
ENTRIES = (ROOT, TOOL_CALLS, REQUIRED_CALLS, CONTENT_ONLY)

_TEXT = "text"
_JSON_START = re.compile(r'[\[{\s]*"')
_OPEN_TAG = re.compile(r"[<\[][^<>\[\]]*$")
_JSON_HEAD = re.compile(r'[\[{]+"\w+"')
_BEGUN_CALLS = "begun-calls-turn"
_ROOT_COMMENT = (
    "the turn, as the model writes it after the prompt; "
    "a marker beside free text is spelled out, so that no engine takes its beginning for the whole"
)


@dataclass(frozen=True, slots=True)
class Offer:
    """What a turn may be: its ``parts``, behind which ``prompts``, and what its content is.

    ``needed`` is a part that no turn lacks. ``entry`` is the rule for the whole turn; the rules for
    the rest of a turn have its name in theirs unless it is the root.
    """

    spec: Spec
    parts: tuple[Part, ...]
    prompts: tuple[str, ...]
    entry: str = ROOT
    needed: Part | None = None
    content: str = _TEXT

    def turn_rule(self, part: Part) -> str:
        """Return the name of the rule for the rest of the turn from inside a part on."""
        return f"{part.value}-turn" if self.entry == ROOT else f"{self.entry}-{part.value}-turn"

    def following(self, left: Part) -> tuple[Part, ...]:
        """Return the parts that may follow one: up to the needed one, which none of them skips."""
        order = self.spec.turn.order
        place = -1 if left is Part.START else order.index(left)
        needed = len(order) if self.needed is None else order.index(self.needed)
        within = order[place + 1 : needed + 1] if place < needed else order[place + 1 :]
        if left is Part.START:
            # Reasoning behind an answer of a given form doesn't stand in its place.
            given = self.content != _TEXT and Part.CONTENT in self.parts
            behind = order[order.index(Part.CONTENT) :] if given else ()
            return tuple(
                part
                for part in self.parts
                if part in within and (part not in behind or part is not Part.REASONING)
            )
        # An answer of a given form stands alone.
        apart = {Part.CONTENT, Part.CALLS} if self.content != _TEXT else set()
        return tuple(part for part in self.parts if part in within and {left, part} != apart)

    def may_end(self, left: Part) -> bool:
        """Say whether the turn may end behind a part."""
        order = (Part.START, *self.spec.turn.order)
        return self.needed is None or order.index(left) >= order.index(self.needed)

    def text(self, part: Part) -> str:
        """Return what refers to the text of content or reasoning."""
        return self.content if part is Part.CONTENT else _TEXT


def generate_grammar(
    spec: Spec, *, spec_path: str, spec_hash: str, command: str = REGENERATE
) -> str:
    """Return the grammar of ``spec`` as GBNF text.

    Args:
        spec: the format.
        spec_path: the spec's file as the banner names it.
        spec_hash: the spec's hash as the banner gives it.
        command: what makes the grammar again, for the banner.
    """
    ended = with_stop_at_end(spec)
    calls = calls_of(ended, parallel=may_repeat_calls(spec))
    turns = [rule for offer in _offers(ended) for rule in turn_rules(offer)]
    turns += begun_rules(Offer(ended, parts_of(ended), ended.thinking.prompts), calls)
    rules = [
        *in_turn_order(turns, ended.turn.order, ENTRIES),
        *((*call_rules(calls), *argument_rules(calls.tools)) if calls else ()),
        *shared_rules(ended, known=False),
    ]
    if calls and calls.tools.arguments.syntax.in_string:
        rules = in_string(rules, ["arguments"])
    entries = [rule for entry in ENTRIES for rule in rules if rule.name == entry]
    body = "".join(str(rule) for rule in reachable([*entries, *rules], ENTRIES))
    head = banner(spec_path, spec_hash, command=command, engine=())
    return sealed(f"{head.rstrip()}\n{_raw_signs(body)}{body}")


def _raw_signs(body: str) -> str:
    """Return a comment that tells the signs that nobody sees, and engines read no escape of."""
    raw = sorted({sign for sign in body if not sign.isprintable()} - {"\n", chr(maxunicode)})
    told = ", ".join(f"U+{ord(sign):04X}" for sign in raw)
    return (
        f"\n# not visible in what follows, as engines have no common escape: {told}\n"
        if raw
        else ""
    )


def _offers(spec: Spec) -> Iterator[Offer]:
    """Yield the turns that the generated grammar has entries for, in any way the prompt begins."""
    prompts = ("", *spec.thinking.prompts)
    parts = parts_of(spec)
    yield Offer(spec, parts, prompts)
    if spec.tools is not None:
        without = tuple(part for part in parts if part is not Part.CALLS)
        yield Offer(spec, parts, prompts, entry=REQUIRED_CALLS, needed=Part.CALLS)
        yield Offer(spec, without, prompts, entry=CONTENT_ONLY)


def turn_rules(offer: Offer) -> tuple[Rule, ...]:
    """Return the rules for a turn as far as they aren't about calls, the entry first."""
    comments = {
        ROOT: _ROOT_COMMENT,
        REQUIRED_CALLS: "a turn that calls tools",
        CONTENT_ONLY: "a turn that calls no tools",
    }
    entry = Rule(offer.entry, _root(offer), comments.get(offer.entry, ""))
    return (entry, *(_turn_rule(offer, part) for part in offer.parts))


def shared_rules(spec: Spec, *, known: bool) -> tuple[Rule, ...]:
    """Return the rules for free text and white space; ``known``: the tools are."""
    markers = text_markers(spec)
    comment, joined = _text_comment(markers), _first_sign_of_bare_calls(spec)
    text = text_without(_TEXT, markers, comment, leads=_leads(spec), joined=joined)
    values = text_in_calls(spec.tools, known=known) if spec.tools else ()
    return (*text, *values, *space_rules())


def _first_sign_of_bare_calls(spec: Spec) -> str:
    """Return the bracket that a call begins with where nothing else does: two wrap a call."""
    is_bare = spec.tools is not None and marks_of(spec).are_bare
    return trimmed(call_marker(spec.tools))[:1] if spec.tools and is_bare else ""


def _leads(spec: Spec) -> str:
    """Return the white space that has to stand before what ends reasoning or content."""
    parts = [part for part in parts_of(spec) if part is not Part.CALLS]
    marked = [part for part in parts if trimmed(_part_end(spec, part))]
    ends = [_whole_end(_part_end(spec, part), _opening(spec, part)) for part in marked]
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
    heads = (plain(leading_text(notation)) for _, notation in roles)
    # JSON's own signs and keys are no marker: what they begin may be content.
    yield from (head for head in heads if looks_like_marker(head) and not _JSON_START.match(head))


def _without_json(marker: str) -> str:
    """Return a marker up to its first key, if it is JSON: white space is free behind that."""
    match = _JSON_HEAD.match(marker)
    return match.group() if match else marker


def calls_of(spec: Spec, *, parallel: bool, bound: Mapping[str, str] | None = None) -> Calls | None:
    """Return which calls a grammar takes, None if the format has none."""
    if spec.tools is None:
        return None
    return Calls(
        spec.tools,
        parallel=parallel,
        bound=bound,
        words=words_of(marks_of(spec)),
        spell=begins_like_call(spec),
        named_by_id=spec.names_by_id,
    )


def begins_like_call(spec: Spec) -> bool:
    """Say whether another part's beginning could be that of a call, as far as the call's name."""
    marker = trimmed(call_marker(spec.tools)) if spec.tools else ""
    starts = (trimmed(spec.reasoning.start), trimmed(spec.content.start))
    return bool(marker) and any(start.startswith(marker) for start in starts)


def _ending(spec: Spec, left: Part) -> Iterator[str]:
    """Yield all that may stand behind the text of ``left``, each up to its marker's end."""
    end = _part_end(spec, left)
    parts = parts_of(spec)
    for right in parts[parts.index(left) + 1 :]:
        for join in _joins(spec, left, right):
            yield end + join + _opening(spec, right)
    yield end + spec.final(left)


def parts_of(spec: Spec) -> tuple[Part, ...]:
    """Return the parts that a turn may have, in their order."""
    absent = {Part.REASONING} if spec.reasoning.mode is ReasoningMode.NONE else set()
    if spec.tools is None:
        absent.add(Part.CALLS)
    return tuple(part for part in spec.turn.order if part not in absent)


def _opening(spec: Spec, part: Part) -> str:
    """Return the text that tells the beginning of ``part`` from what stands before it."""
    if part is Part.CALLS:
        return call_marker(spec.tools) if spec.tools else ""
    return spec.reasoning.start if part is Part.REASONING else spec.content.start


def _part_end(spec: Spec, part: Part) -> str:
    if part is Part.CALLS:
        return spec.tools.section_end if spec.tools else ""
    return spec.reasoning.end if part is Part.REASONING else spec.content.end


def _turn_rule(offer: Offer, part: Part) -> Rule:
    """Return the rule for the rest of the turn from inside ``part`` on."""
    spec, name = offer.spec, offer.turn_rule(part)
    onward = _onward(offer, part)
    # Content without a marker of its own may be empty, and white space too: no need for a "?".
    open_ended = {offer.turn_rule(Part.CONTENT), GAP} & set(onward)
    more = group(onward, "" if open_ended or not offer.may_end(part) else "?")
    # The rules for other entries stand right after those of the root.
    inside = "from" if part is Part.CALLS else "from inside"
    comment = f"{inside} the {part.value} on" if offer.entry == ROOT else ""
    if part is Part.CALLS:
        return Rule(name, sequence(TOOL_CALLS, more), comment)
    end = _part_end(spec, part)
    if not trimmed(end):
        return Rule(name, sequence(offer.text(part), more), comment)
    closing = spelled(_whole_end(end, _opening(spec, part)))
    if part is Part.CONTENT and spec.content.mode is ContentMode.WRAPPED_WITH_REASONING:
        closing = f"( {closing} )?"
    comment += f", which ends with {literal(end)}" if comment else ""
    return Rule(name, sequence(offer.text(part), closing, more), comment)


def _whole_end(end: str, start: str) -> str:
    """Return what ends a part, with as much of its white space as it takes to tell it.

    No parser could tell where one sign said several times ends if the next part began with it, nor
    an end that begins inside of what opens the part, as ``|#`` does in ``#|#``.
    """
    core = trimmed(end)
    before, _, behind = end.partition(core)
    if _is_run(core):
        return core + behind[:1]
    opening = trimmed(start)
    shared = [core[:length] for length in range(1, len(core)) if opening.endswith(core[:length])]
    # Text may end in a sign with which a marker begins, but no further within one.
    overlaps = any(len(set(opening.removesuffix(text))) <= 1 for text in shared)
    return before[-1:] + core if overlaps else core


def _is_run(text: str) -> bool:
    """Tell whether a text is one sign, said several times."""
    return len(text) > 1 and len(set(text)) == 1


def _told_apart(last: str, final: str) -> str:
    """Return what ends a turn, with the white space before it if text may end with its sign.

    ``last`` is what the template writes behind the last part's text.
    """
    before = last.partition(final)[0][-1:] if _is_run(final) else ""
    return (before if before.isspace() else "") + final


def _onward(offer: Offer, left: Part) -> list[str]:
    """Return what may stand behind ``left`` and its own end: the next part or the turn's end."""
    spec = offer.spec
    options = [
        _lead_in(offer, left, right, join)
        for right in offer.following(left)
        for join in _joins(spec, left, right)
    ]
    for final in _finals(offer, left) if offer.may_end(left) else ():
        last = _part_end(spec, left) + final
        if trimmed(final) or (last.rstrip(WHITE_SPACE) != last and not _is_open(spec, left)):
            ending = spelled(_told_apart(last, trimmed(final)))
            options.append(sequence(_gap_behind(spec, left), ending, GAP))
            # An engine takes the end itself away, and leaves the white space before it.
            options += [GAP] if _gap_behind(spec, left) else []
    return _without_repeated(offer, left, options)


def _finals(offer: Offer, left: Part) -> Iterator[str]:
    """Yield the turn's end behind ``left``, and what ends a turn with calls if that differs.

    Where content always follows, but isn't offered, the turn ends as behind content.
    """
    spec = offer.spec
    is_last = spec.end(left) is not None or Part.CONTENT in offer.parts
    yield spec.final(left if is_last else Part.CONTENT)
    parts = parts_of(spec)
    if spec.turn.calls_decide_end and Part.CALLS in parts[: parts.index(left)]:
        yield spec.final(Part.CALLS)
    if left is Part.CALLS and spec.tools and spec.tools.after_first:
        yield spec.tools.after_first.end


def _joins(spec: Spec, left: Part, right: Part) -> list[str]:
    """Return what may stand between two neighbours, white space aside."""
    joins = [spec.join(left, right), *(join.text for join in spec.joins(left, right))]
    if (left, right) == (Part.CONTENT, Part.CALLS) and not any(map(trimmed, joins)):
        joins = _between_messages(spec) or joins
    return list({trimmed(text): text for text in reversed(joins)}.values())[::-1]


def _between_messages(spec: Spec) -> list[str]:
    """Return what leads from content to calls that are another message, as reasoning shows it.

    Behind the header of content nothing calls a tool before the header of the next message.
    """
    if not marks_of(spec).text.headers:
        return []
    joins = spec.joins(Part.REASONING, Part.CALLS)
    return [spec.reasoning.end + join.text for join in joins]


#: What a turn may begin with, reasoning aside.
_AT_START = ((Part.START, Part.CONTENT), (Part.START, Part.CALLS))


def _lead_in(offer: Offer, left: Part, right: Part, join: str) -> str:
    """Return the join and the start of ``right``, and the rule that goes on inside it."""
    spec, start = offer.spec, _opening(offer.spec, right)
    if (left, right) in _AT_START and content_has_own_line(spec):
        line_end = spelled("\n") if right is Part.CONTENT else ""
        return sequence(line_end, offer.turn_rule(right))
    between = trimmed(join) if right is Part.CALLS else _led(spec, join, right)
    if spec.named_lines and (left, right) == (Part.CONTENT, Part.CALLS):
        between = "\n"
    before = _gap_behind(spec, left) if between or right is Part.CALLS else ""
    told = spec.content.start.isspace() and not looks_like_marker(start)
    if (left, right) == (Part.START, Part.REASONING) and told:
        before = ""  # it would tell of content
    inner = _gap_before(spec, right, join) if between else ""
    return sequence(before, spelled(between), inner, offer.turn_rule(right))


def _gap_before(spec: Spec, right: Part, join: str) -> str:
    """Return the white space that may stand behind a join; calls bring but their own start."""
    start = _opening(spec, right)
    spaced = join.rstrip(WHITE_SPACE) != join or start.lstrip(WHITE_SPACE) != start
    return GAP if right is Part.CALLS and spaced else ""


def _led(spec: Spec, join: str, right: Part) -> str:
    """Return what is written behind a part as the beginning of reasoning or content."""
    text = join + _opening(spec, right)
    # Where a call's name could go on, white space behind the start tells the part from a call.
    return text.lstrip(WHITE_SPACE) if begins_like_call(spec) else trimmed(text)


def _is_open(spec: Spec, left: Part) -> bool:
    """Say whether ``left`` is free text without an end of its own, which takes white space too."""
    return left in (Part.REASONING, Part.CONTENT) and not trimmed(_part_end(spec, left))


def _gap_behind(spec: Spec, left: Part) -> str:
    return "" if _is_open(spec, left) else GAP


def _without_repeated(offer: Offer, left: Part, options: list[str]) -> list[str]:
    """Return the options without those that empty content, where it is one of them, allows too."""
    content = offer.turn_rule(Part.CONTENT)
    if content not in options or left is Part.CONTENT or offer.content != _TEXT:
        return options
    is_open = _is_open(offer.spec, Part.CONTENT)
    allowed = set(_onward(offer, Part.CONTENT)) if is_open else set()
    allowed.add(GAP)
    return [option for option in options if option.removeprefix(f"{GAP} ") not in allowed]


def _root(offer: Offer) -> str:
    """Return all ways to begin behind the prompts."""
    extras = dict.fromkeys(prompt_extra(offer.spec, prompt) for prompt in offer.prompts)
    options = [option for extra in extras for option in _beginnings(offer, extra)]
    options = _without_repeated(offer, Part.START, options)
    header = trimmed(offer.spec.unprompted_header)
    return f"( {spelled(header)} {GAP} )? {group(options)}" if header else choice(options)


def _beginnings(offer: Offer, extra: str) -> list[str]:
    """Return the ways to begin where the prompt holds ``extra`` behind the header."""
    spec = offer.spec
    if opens_reasoning(spec, extra) and Part.REASONING in offer.parts:
        return [offer.turn_rule(Part.REASONING)]
    continued = list(_continuation(offer, extra)) if extra else []
    if continued:
        return continued
    begun = [
        _lead_in(offer, Part.START, part, join)
        for part in offer.following(Part.START)
        for join in _joins(spec, Part.START, part)
        if not _is_covered(offer, join)
    ]
    may_answer = Part.CONTENT in offer.following(Part.START)
    bare = spec.content.mode is not ContentMode.ALWAYS_WRAPPED and may_answer
    bare = bare and not content_has_own_line(spec)
    return [*begun, *([offer.turn_rule(Part.CONTENT)] if bare else [])]


def _is_covered(offer: Offer, join: str) -> bool:
    """Say whether a join is a reasoning block without text, which reasoning's own rule covers."""
    if Part.REASONING not in offer.parts:
        return False
    spec = offer.spec
    start, end, text = (trimmed(spec.reasoning.start), trimmed(spec.reasoning.end), trimmed(join))
    if not (start and end and text.startswith(start) and text.endswith(end)):
        return False
    return not trimmed(text[len(start) : len(text) - len(end)])


def _continuation(offer: Offer, extra: str) -> Iterator[str]:
    """Yield the ways to go on where the prompt holds ``extra`` behind the header."""
    spec = offer.spec
    beginnings = (
        (right, join)
        for right in offer.following(Part.START)
        for join in _joins(spec, Part.START, right)
    )
    for right, join in beginnings:
        opening = trimmed(join) if right is Part.CALLS else _led(spec, join, right)
        if opening.startswith(extra) and not _is_covered(offer, join):
            after = opening.removeprefix(extra)
            rest = after if begins_like_call(spec) else trimmed(after)
            is_apart = after[:1].isspace() or not _OPEN_TAG.search(extra)
            before = GAP if rest == trimmed(rest) != "" and is_apart else ""
            inner = _gap_before(spec, right, join) if rest else ""
            yield sequence(before, spelled(rest), inner, offer.turn_rule(right))
    close = trimmed(spec.reasoning.end)
    if Part.REASONING in parts_of(spec) and close and extra.endswith(close):
        parts = offer.following(Part.REASONING)
        yield from (
            _lead_in(offer, Part.REASONING, part, join)
            for part in parts
            for join in _joins(spec, Part.REASONING, part)
        )
    if Part.CALLS in offer.parts and _begun(spec, calls_of(spec, parallel=True), extra):
        yield _BEGUN_CALLS


def opens_reasoning(spec: Spec, extra: str) -> bool:
    """Say whether what the prompt holds behind the header leaves the turn inside reasoning."""
    reasoning = spec.reasoning
    if reasoning.mode is ReasoningMode.NONE:
        return False
    absent = spec.join(Part.START, Part.CONTENT)
    if not extra and reasoning.mode is ReasoningMode.DELIMITER and not trimmed(reasoning.start):
        # Without a start of its own reasoning is where a turn begins that a prompt begins so.
        extra = prompt_extra(spec, spec.thinking.enabled.prompt)
    return state_in(spec, extra, absent) is PromptState.OPEN


def prompt_extra(spec: Spec, prompt: str) -> str:
    """Return what a generation prompt holds behind the header."""
    header = spec.turn.header
    return trimmed(prompt.removeprefix(header)) if prompt.startswith(header) else ""


def begun_rules(offer: Offer, calls: Calls | None) -> tuple[Rule, ...]:
    """Return the rules for a turn of calls whose first one the prompt has begun, if it has."""
    for prompt in offer.prompts:
        extra = prompt_extra(offer.spec, prompt)
        # The blank that the prompt ends in is none that the model writes.
        behind = prompt.removeprefix(prompt.rstrip(WHITE_SPACE))
        begun = _begun(offer.spec, calls, extra + behind) or _begun(offer.spec, calls, extra)
        if begun is not None:
            more = group(_onward(offer, Part.CALLS), "?")
            return (Rule(_BEGUN_CALLS, sequence(begun[0], more)), *begun[1])
    return ()


def _begun(spec: Spec, calls: Calls | None, extra: str) -> tuple[str, tuple[Rule, ...]] | None:
    join = trimmed(spec.join(Part.START, Part.CALLS))
    if calls is None or not extra.startswith(join):
        return None
    return begun_calls(calls, extra.removeprefix(join).lstrip(WHITE_SPACE))


def _text_comment(markers: Iterable[str]) -> str:
    written = ", ".join(literal(marker.replace(A_NAME, "name")) for marker in markers)
    if not written:
        return "free text"
    rules = "a rule with a number stands behind so many characters of a marker"
    return f"free text: content and reasoning, without {written}; {rules}"
