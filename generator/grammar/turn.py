"""The grammar of a spec: every turn that the model may write, as GBNF text.

The grammar takes any tool name and any arguments. What a call holds is written by `call_body`,
which gets the rules for the name and the arguments as text, so that real tools can replace them.
"""

from __future__ import annotations

from collections.abc import Iterator

from generator.codegen.banner import banner, sealed
from generator.grammar.calls import begun_calls, call_marker, tool_call_rules
from generator.grammar.text import (
    GAP,
    WHITE_SPACE,
    Rule,
    choice,
    group,
    literal,
    reachable,
    sequence,
    shortest_markers,
    space_rules,
    spelled,
    text_without,
    trimmed,
)
from generator.spec.model import ContentMode, Part, ReasoningMode, Spec

#: The entry rules: the whole turn after the prompt, and its calls from the trigger on.
ROOT = "root"
TOOL_CALLS = "tool-calls"

_TEXT = "text"
_BEGUN_CALLS = "begun-calls-turn"
_ROOT_COMMENT = (
    "the turn, as the model writes it after the prompt; "
    "a marker beside free text is spelled out, so that no engine takes its beginning for the whole"
)
_TURN_RULE = {
    Part.REASONING: "reasoning-turn",
    Part.CONTENT: "content-turn",
    Part.CALLS: "calls-turn",
}


def generate_grammar(spec: Spec, *, spec_path: str, spec_hash: str) -> str:
    """Return the grammar of ``spec`` as GBNF text.

    Args:
        spec: the format.
        spec_path: the spec's file as the banner names it.
        spec_hash: the spec's hash as the banner gives it.
    """
    rules = (
        Rule(ROOT, _root(spec), _ROOT_COMMENT),
        *(_turn_rule(spec, part) for part in _parts(spec)),
        *(tool_call_rules(spec.tools, spell=_begins_like_call(spec)) if spec.tools else ()),
        *_begun_calls(spec, _prefill(spec, spec.thinking.prompt_on)),
        *space_rules(),
        *text_without(_TEXT, text_markers(spec), _text_comment(spec)),
    )
    body = "".join(str(rule) for rule in reachable(rules, (ROOT, TOOL_CALLS)))
    return sealed(f"{banner(spec_path, spec_hash, comment='#').rstrip()}\n{body}")


def text_markers(spec: Spec) -> tuple[str, ...]:
    """Return what neither content nor reasoning may contain: all that would end or start a part."""
    found = [spec.reasoning.start, spec.reasoning.end, spec.content.start, spec.content.end]
    found.extend(spec.turn.stop)
    for left in _parts(spec):
        if left is not Part.CALLS:
            found.extend(_ending(spec, left))
    return shortest_markers(trimmed(marker) for marker in found)


def _begins_like_call(spec: Spec) -> bool:
    """Say whether another part's beginning could be that of a call, as far as the call's name."""
    marker = trimmed(call_marker(spec.tools)) if spec.tools else ""
    starts = (trimmed(spec.reasoning.start), trimmed(spec.content.start))
    return bool(marker) and any(start.startswith(marker) for start in starts)


def _ending(spec: Spec, left: Part) -> Iterator[str]:
    """Yield all that may stand behind the text of ``left``, each up to its marker's end."""
    end = _part_end(spec, left)
    for right in _following(spec, left):
        yield end + spec.join(left, right) + _opening(spec, right)
    yield end + spec.final(left)


def _parts(spec: Spec) -> tuple[Part, ...]:
    absent = {Part.REASONING} if spec.reasoning.mode is ReasoningMode.NONE else set()
    if spec.tools is None:
        absent.add(Part.CALLS)
    return tuple(part for part in spec.turn.order if part not in absent)


def _following(spec: Spec, left: Part) -> tuple[Part, ...]:
    parts = _parts(spec)
    return parts if left is Part.START else parts[parts.index(left) + 1 :]


def _opening(spec: Spec, part: Part) -> str:
    """Return the text that tells the beginning of ``part`` from what stands before it."""
    if part is Part.CALLS:
        return call_marker(spec.tools) if spec.tools else ""
    return spec.reasoning.start if part is Part.REASONING else spec.content.start


def _part_end(spec: Spec, part: Part) -> str:
    if part is Part.CALLS:
        return spec.tools.section_end if spec.tools else ""
    return spec.reasoning.end if part is Part.REASONING else spec.content.end


def _turn_rule(spec: Spec, part: Part) -> Rule:
    """Return the rule for the rest of the turn from inside ``part`` on."""
    onward = _onward(spec, part)
    # Content without a marker of its own may be empty, and white space too: no need for a "?".
    more = group(onward, "" if {_TURN_RULE[Part.CONTENT], GAP} & set(onward) else "?")
    if part is Part.CALLS:
        return Rule(_TURN_RULE[part], sequence(TOOL_CALLS, more), "from the calls on")
    end = _part_end(spec, part)
    comment = f"from inside the {part.value} on"
    if not trimmed(end):
        return Rule(_TURN_RULE[part], sequence(_TEXT, more), comment)
    closing = spelled(trimmed(end))
    if part is Part.CONTENT and spec.content.mode is ContentMode.WRAPPED_WITH_REASONING:
        closing = f"( {closing} )?"
    comment += f", which ends with {literal(end)}"
    return Rule(_TURN_RULE[part], sequence(_TEXT, closing, more), comment)


def _onward(spec: Spec, left: Part) -> list[str]:
    """Return what may stand behind ``left`` and its own end: the next part or the turn's end."""
    options = [_lead_in(spec, left, right) for right in _following(spec, left)]
    for final in _finals(spec, left):
        last = _part_end(spec, left) + final
        if trimmed(final) or (last.rstrip(WHITE_SPACE) != last and not _is_open(spec, left)):
            options.append(sequence(_gap_behind(spec, left), spelled(trimmed(final)), GAP))
    return _without_repeated(spec, left, options)


def _finals(spec: Spec, left: Part) -> Iterator[str]:
    """Yield the turn's end behind ``left``, and what ends a turn with one call if that differs."""
    yield spec.final(left)
    if left is Part.CALLS and spec.tools and spec.tools.after_first:
        yield spec.tools.after_first.end


def _lead_in(spec: Spec, left: Part, right: Part) -> str:
    """Return the join and the start of ``right``, and the rule that goes on inside it."""
    join, start = spec.join(left, right), _opening(spec, right)
    between = trimmed(join) if right is Part.CALLS else trimmed(join + start)
    before = _gap_behind(spec, left) if between or right is Part.CALLS else ""
    # Calls bring their own start, so only the white space around it is written here.
    spaced = join.rstrip(WHITE_SPACE) != join or start.lstrip(WHITE_SPACE) != start
    inner = GAP if right is Part.CALLS and between and spaced else ""
    return sequence(before, spelled(between), inner, _TURN_RULE[right])


def _is_open(spec: Spec, left: Part) -> bool:
    """Say whether ``left`` is free text without an end of its own, which takes white space too."""
    return left in (Part.REASONING, Part.CONTENT) and not trimmed(_part_end(spec, left))


def _gap_behind(spec: Spec, left: Part) -> str:
    return "" if _is_open(spec, left) else GAP


def _without_repeated(spec: Spec, left: Part, options: list[str]) -> list[str]:
    """Return the options without those that empty content, where it is one of them, allows too."""
    content = _TURN_RULE[Part.CONTENT]
    if content not in options or left is Part.CONTENT:
        return options
    allowed = set(_onward(spec, Part.CONTENT)) if _is_open(spec, Part.CONTENT) else set()
    allowed.add(GAP)
    return [option for option in options if option.removeprefix(f"{GAP} ") not in allowed]


def _root(spec: Spec) -> str:
    """Return all ways to begin: after the header, and after each of the generation prompts."""
    begun = [
        _lead_in(spec, Part.START, part)
        for part in _following(spec, Part.START)
        if not _is_empty_reasoning(spec, spec.join(Part.START, part))
    ]
    prompts = (spec.thinking.prompt_on, spec.thinking.prompt_off)
    continued = [rule for prompt in prompts for rule in _continuation(spec, prompt)]
    bare = Part.CONTENT in _parts(spec) and spec.content.mode is not ContentMode.ALWAYS_WRAPPED
    options = [*begun, *continued, *([_TURN_RULE[Part.CONTENT]] if bare else [])]
    return choice(_without_repeated(spec, Part.START, options))


def _is_empty_reasoning(spec: Spec, join: str) -> bool:
    """Say whether a join is a reasoning block without text, which reasoning's own rule covers."""
    start, end, text = (
        trimmed(spec.reasoning.start),
        trimmed(spec.reasoning.end),
        trimmed(join),
    )
    if not (start and end and text.startswith(start) and text.endswith(end)):
        return False
    return not trimmed(text[len(start) : len(text) - len(end)])


def _continuation(spec: Spec, prompt: str) -> Iterator[str]:
    """Yield the ways to go on where a generation prompt holds more than the header."""
    extra = _prefill(spec, prompt)
    if not extra:
        return
    for right in _following(spec, Part.START):
        join = spec.join(Part.START, right)
        opening = trimmed(join if right is Part.CALLS else join + _opening(spec, right))
        if opening.startswith(extra) and not _is_empty_reasoning(spec, join):
            rest = trimmed(opening.removeprefix(extra))
            yield sequence(GAP if rest else "", spelled(rest), _TURN_RULE[right])
    close = trimmed(spec.reasoning.end)
    if Part.REASONING in _parts(spec) and close and extra.endswith(close):
        yield from (_lead_in(spec, Part.REASONING, p) for p in _following(spec, Part.REASONING))
    if _begun_calls(spec, extra):
        yield _BEGUN_CALLS


def _prefill(spec: Spec, prompt: str) -> str:
    """Return what a generation prompt holds behind the header."""
    header = spec.turn.header
    return trimmed(prompt.removeprefix(header)) if prompt.startswith(header) else ""


def _begun_calls(spec: Spec, prefill: str) -> tuple[Rule, ...]:
    """Return the rules for a turn of calls whose first one the prompt has begun, if it has."""
    join = trimmed(spec.join(Part.START, Part.CALLS))
    if spec.tools is None or not prefill.startswith(join):
        return ()
    begun = begun_calls(spec.tools, trimmed(prefill.removeprefix(join)))
    if begun is None:
        return ()
    more = group(_onward(spec, Part.CALLS), "?")
    return (Rule(_BEGUN_CALLS, sequence(begun[0], more)), begun[1])


def _text_comment(spec: Spec) -> str:
    markers = ", ".join(literal(marker) for marker in text_markers(spec))
    return f"free text: content and reasoning, without {markers}" if markers else "free text"
