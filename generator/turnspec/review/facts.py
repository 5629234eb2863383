"""A spec as single facts, each with a name and a short text in which white space shows.

Two specs differ in meaning where their facts do. What is the same whichever way it is written
(a join that is absent or empty, the order of stop strings) gives the same facts.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from turnspec.spec.calls import Arguments, Piece, Tools, ValueSyntax
from turnspec.spec.model import Spec, ThinkingState
from turnspec.spec.words import CallIdPosition, Condition, Part, PrefixStep
from turnspec.spec.yaml_text import quoted


class Area(StrEnum):
    """What a fact is about, in the order in which changes are shown."""

    MODE = "mode"
    CAPABILITY = "capability"
    REQUIREMENT = "requirement"
    MARKER = "marker"
    TURN_END = "turn end"
    THINKING = "thinking"
    ARGUMENTS = "arguments"
    LIMIT = "limit"
    ALTERNATIVE = "alternative"
    GRAMMAR = "grammar"
    OVERLAY = "overlay"
    TEMPLATE = "template"


#: A fact's area and its name there, and its text; an empty text says only that it is so.
Facts = dict[tuple[Area, str], str]
_Fact = tuple[Area, str, str]

#: What a template demands of messages, among what it accepts.
_REQUIREMENTS = frozenset({"call_id_required", "roles_alternate"})
_ENDS = {
    Part.START: "of an empty turn",
    Part.REASONING: "after reasoning",
    Part.CONTENT: "after content",
    Part.CALLS: "after calls",
}
#: What holds where a spec says nothing of an end.
_UNSAID = {(Area.TURN_END, name): "as after empty content" for name in _ENDS.values()}


@dataclass(frozen=True, slots=True)
class Change:
    """A fact that differs; None stands for one that isn't there before, or any more."""

    area: Area
    name: str
    before: str | None
    after: str | None


def changes(old: Spec, new: Spec) -> tuple[Change, ...]:
    """Return how the meaning of two specs differs, by area."""
    before, after = _UNSAID | spec_facts(old), _UNSAID | spec_facts(new)
    keys = sorted({**before, **after}, key=lambda key: list(Area).index(key[0]))
    return tuple(
        Change(area, name, before.get((area, name)), after.get((area, name)))
        for area, name in keys
        if before.get((area, name)) != after.get((area, name))
    )


def spec_facts(spec: Spec) -> Facts:
    """Return the facts of a spec, in its own order."""
    sources = (
        *(_modes(spec), _capabilities(spec), _markers(spec), _ends(spec), _thinking(spec)),
        *(_limits(spec), _alternatives(spec), _grammar(spec), _template(spec)),
    )
    facts = {(area, name): text for source in sources for area, name, text in source}
    return facts | {(Area.OVERLAY, key): "" for key in spec.overlay}


def facts_by_area(spec: Spec) -> dict[Area, dict[str, str]]:
    """Return the same by area, of those that have any."""
    found: dict[Area, dict[str, str]] = {}
    for (area, name), text in spec_facts(spec).items():
        found.setdefault(area, {})[name] = text
    return found


def _modes(spec: Spec) -> Iterator[_Fact]:
    yield Area.MODE, "reasoning", spec.reasoning.mode
    yield Area.MODE, "content", spec.content.mode
    yield Area.MODE, "tools", spec.tools.mode if spec.tools else "none"
    yield Area.MODE, "order of the parts", ", ".join(spec.turn.order)
    if spec.tools and spec.tools.call_id is not CallIdPosition.NONE:
        yield Area.MODE, "call id", spec.tools.call_id
    if spec.tools and spec.tools.id_parts:
        yield Area.MODE, "call id", pieces_text(spec.tools.id_parts)
    if spec.tools and spec.tools.index_base is not None:
        scope = spec.tools.index_scope or "turn"
        yield Area.MODE, "call index", f"from {spec.tools.index_base}, over the {scope}"


def _capabilities(spec: Spec) -> Iterator[_Fact]:
    for field in dataclasses.fields(spec.capabilities):
        if field.name == "prefix_broken_by":  # a step, or nobody has looked
            if step := spec.capabilities.prefix_broken_by:
                kept = step is PrefixStep.NOTHING
                yield Area.TEMPLATE, "prefix", "kept" if kept else f"broken by {step}"
            continue
        area = Area.REQUIREMENT if field.name in _REQUIREMENTS else Area.CAPABILITY
        yield area, field.name, "yes" if getattr(spec.capabilities, field.name) else "no"


def _markers(spec: Spec) -> Iterator[_Fact]:
    texts = {
        "header": spec.turn.header,
        "reasoning start": spec.reasoning.start,
        "reasoning end": spec.reasoning.end,
        "content start": spec.content.start,
        "content end": spec.content.end,
    }
    joins = {
        f"between {join.left} and {join.right}{_shown_condition(join.when)}": join.text
        for join in spec.turn.joins
    }
    yield from _shown(Area.MARKER, texts | joins)
    if spec.tools:
        yield from _tool_markers(spec.tools)
        yield from _arguments(spec.tools.arguments)


def _shown_condition(when: Condition) -> str:
    return "" if when is Condition.ALWAYS else f" {when.replace('_', ' ')}"


def _tool_markers(tools: Tools) -> Iterator[_Fact]:
    first = tools.after_first
    yield from _shown(Area.MARKER, {"calls start": tools.section_start})
    yield Area.MARKER, "call", pieces_text(tools.call)
    if tools.empty_call:
        yield Area.MARKER, "call without arguments", pieces_text(tools.empty_call)
    texts = {
        "between calls": tools.separator,
        "calls end": tools.section_end,
        "after the first call": first.separator if first else "",
        "end of a single call": first.section_end + first.end if first else "",
    }
    yield from _shown(Area.MARKER, texts)
    for name in ("name", "arguments", "id"):
        if path := getattr(tools.fields, name):
            yield Area.MARKER, f"key of the {name}", ".".join(path)
    if tools.fields.name_is_key:
        yield Area.MARKER, "key of the name", "the name itself"


def _arguments(arguments: Arguments) -> Iterator[_Fact]:
    if arguments.item:
        yield Area.MARKER, "argument", pieces_text(arguments.item)
    texts = {
        "arguments start": arguments.start,
        "between arguments": arguments.separator,
        "arguments end": arguments.end,
    }
    yield from _shown(Area.MARKER, texts)
    yield Area.ARGUMENTS, "no arguments", quoted(arguments.empty)
    yield from ((Area.ARGUMENTS, f"{kind} as", way) for kind, way in arguments.values.items())
    for kind, word in arguments.types.items():
        yield Area.ARGUMENTS, f"type word of {kind}", quoted(word)
    yield from ((Area.ARGUMENTS, name, text) for name, text in _syntax(arguments.syntax))
    if guard := arguments.guard:
        held = f" around strings with {quoted(guard.characters)}" if guard.characters else ""
        yield Area.ARGUMENTS, "guard", f"{quoted(guard.start)} … {quoted(guard.end)}{held}"
    for sign, text in arguments.escapes.items():
        yield Area.ARGUMENTS, f"{quoted(sign)} in a key", quoted(text)
    for sign, text in arguments.value_escapes.items():
        holder = "a string" if arguments.escapes_only_strings else "a value"
        yield Area.ARGUMENTS, f"{quoted(sign)} in {holder}", quoted(text)
    if elements := arguments.elements:
        yield Area.ARGUMENTS, "member of an object", pieces_text(elements.member)
        yield Area.ARGUMENTS, "element of an array", pieces_text(elements.element)
        yield from _shown(Area.ARGUMENTS, {"between elements": elements.separator})


def _syntax(syntax: ValueSyntax) -> Iterator[tuple[str, str]]:
    """Return how values are written, where it isn't the usual way."""
    usual = ValueSyntax()
    yield "syntax", syntax.encoding
    for field in dataclasses.fields(syntax):
        value = getattr(syntax, field.name)
        if field.name != "encoding" and value != getattr(usual, field.name):
            text = quoted(value) if isinstance(value, str) else json.dumps(value)
            yield f"syntax, {field.name.replace('_', ' ')}", text


def _ends(spec: Spec) -> Iterator[_Fact]:
    for part in (Part.START, *spec.turn.order):
        if end := spec.end(part):
            behind = f", then {quoted(end.followed)}" if end.followed != end.final else ""
            yield Area.TURN_END, _ENDS[part], quoted(end.final) + behind
    if spec.turn.calls_decide_end:
        yield Area.TURN_END, "after content behind calls", "as after calls"
    yield from _set(Area.TURN_END, "stop string", map(quoted, spec.turn.stop))


def _thinking(spec: Spec) -> Iterator[_Fact]:
    thinking = spec.thinking
    for name, state in {"enabled": thinking.enabled, "disabled": thinking.disabled}.items():
        if state.variables:
            yield Area.THINKING, f"{name} by", json.dumps(dict(state.variables), sort_keys=True)
        yield Area.THINKING, f"prompt when {name}", _prompt(state)
    yield Area.THINKING, "prompt by default", _prompt(thinking.default)
    for state in thinking.others:
        set_to = json.dumps(dict(state.variables), sort_keys=True)
        yield Area.THINKING, f"prompt with {set_to}", _prompt(state)
    for word in thinking.words:
        where = f"in {', '.join(word.roles)}; prompt {quoted(word.prompt)}"
        yield Area.THINKING, f"{quoted(word.word)} switches {word.switches}", where
    if spec.reasoning.field:
        where = " of a block of content" if spec.reasoning.blocks else ""
        yield Area.THINKING, "reasoning is read from", spec.reasoning.field + where
        if spec.reasoning.call_field:
            yield Area.THINKING, "beside calls it is read from", spec.reasoning.call_field
        yield Area.THINKING, "reasoning is shown for", spec.reasoning.scope
    if blocks := spec.reasoning.blocks:
        yield Area.THINKING, "blocks", json.dumps(dataclasses.asdict(blocks))


def _prompt(state: ThinkingState) -> str:
    before = f", behind {quoted(state.before)}" if state.before else ""
    return quoted(state.prompt) + before


def _limits(spec: Spec) -> Iterator[_Fact]:
    for limit in spec.limits:
        when = "" if limit.when == "always" else f", {limit.when.replace('_', ' ')}"
        held = f", if it holds {quoted(limit.characters)}" if limit.characters else ""
        what = f"{limit.subject}: {limit.verdict}{when}{held}"
        yield Area.LIMIT, f"{what} ({limit.reason})", ""


def _alternatives(spec: Spec) -> Iterator[_Fact]:
    other = spec.alternatives
    yield from _set(Area.ALTERNATIVE, "call begins", map(pieces_text, other.calls))
    yield from _set(Area.ALTERNATIVE, "stop string", map(quoted, other.stop))
    marks = (f"{it.part}: {pieces_text(it.start)} … {quoted(it.end)}" for it in other.marks)
    yield from _set(Area.ALTERNATIVE, "marks of", marks)
    if code := other.code:
        method = f", method {code.method}" if code.method else ""
        where = f"{quoted(code.start)} to {code.name}({code.argument}){method}"
        yield Area.ALTERNATIVE, "code", where


def _grammar(spec: Spec) -> Iterator[_Fact]:
    yield from _set(Area.GRAMMAR, "trigger", map(quoted, spec.grammar.triggers))
    kept = map(quoted, spec.grammar.preserved_tokens)
    yield from _set(Area.GRAMMAR, "preserved token", kept)


def _template(spec: Spec) -> Iterator[_Fact]:
    yield Area.TEMPLATE, "file", spec.template.file
    yield Area.TEMPLATE, "sha256", spec.template.sha256[:12]
    yield Area.TEMPLATE, "origin", spec.template.origin
    for name, token in sorted(spec.tokens.items()):
        yield Area.TEMPLATE, name, f"{quoted(token.text)}, {token.source}"
    if spec.tokenizer:
        yield from _set(Area.TEMPLATE, "token", map(quoted, spec.tokenizer.special_tokens))
        yield from _set(Area.TEMPLATE, "token at the end", map(quoted, spec.tokenizer.end_tokens))


def _shown(area: Area, texts: Mapping[str, str]) -> Iterator[_Fact]:
    return ((area, name, quoted(text)) for name, text in texts.items() if text)


def _set(area: Area, name: str, members: Iterable[str]) -> Iterator[_Fact]:
    return ((area, f"{name} {member}", "") for member in members)


def pieces_text(pieces: Iterable[Piece]) -> str:
    """Return literals in quotes, and slots by their names."""
    return " ".join(piece.kind.value if piece.kind else quoted(piece.text) for piece in pieces)
