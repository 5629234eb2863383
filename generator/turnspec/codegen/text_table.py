"""Spec -> the part of a format table that says what marks the turn, reasoning and content."""

from __future__ import annotations

import re
from collections.abc import Iterator

from turnspec.codegen.format import Format, ReasoningFormat
from turnspec.codegen.headers import begins_with_header, message_ends
from turnspec.codegen.notation import escaped, notation, slotted
from turnspec.codegen.shapes import looks_like_head, looks_like_marker
from turnspec.spec.model import Part, ReasoningMode, Spec
from turnspec.spec.turn_end import end_tokens, stops_behind_parts

_LONGEST_END = 100  # characters
_TAG_AND_WORD = re.compile(r"^(<[^<>{}\s]*[^<>{}\s\w][^<>{}\s]*>) (\w+)$")

Roles = dict[str, list[str]]


def text_table(given: Spec, spec: Spec) -> Format:
    """Return all of a table but calls; ``spec`` is the one ``given``, its parts with headers."""
    roles = _roles(given, spec)
    thinking, header = given.thinking, given.turn.header
    prompt = thinking.default.prompt or header
    table: Format = {"name": spec.name, "header": spec.turn.header, "prompt": prompt}
    if (enabled := thinking.enabled.prompt or header) != prompt:
        table["prompt_with_thinking"] = enabled
    if (disabled := thinking.disabled.prompt or header) != prompt:
        table["prompt_without_thinking"] = disabled
    table["order"] = _order(spec)
    table["turn_start"] = roles["turn_start"]
    table["turn_end"] = roles["turn_end"]
    table["unwritten"] = list(_unwritten(spec))
    table["openings"] = []  # of markers, which are known only when all of them are
    table["between"] = roles["between"]
    if spec.reasoning.mode is not ReasoningMode.NONE:
        table["reasoning"] = _reasoning(spec, roles)
    table["content"] = {"start": roles["content_start"], "end": roles["content_end"]}
    if leads := list(_leads(spec)):
        table["content"]["lead"] = leads
    return table


def _leads(spec: Spec) -> Iterator[str]:
    """Yield the words before content that are no marker by themselves, but known where it begins.

    Behind words of its own header a part is told by these together. The word of reasoning with
    nothing but its end behind it is reasoning that is empty, and lacks its tag.
    """
    if not spec.turn.header.strip():
        return
    if found := _tag_and_word(spec):
        yield f"{found[2]} {notation(_closing(spec))}"
    texts = dict.fromkeys(
        _without_reasoning(spec, join.text + spec.content.start).strip()
        for join in spec.turn.joins
        if join.right is Part.CONTENT and join.left is not Part.CALLS
    )
    yield from (notation(text) for text in texts if text and not looks_like_marker(text))


def _tag_and_word(spec: Spec) -> re.Match[str] | None:
    """Return the tag that opens reasoning, and the word behind it that says so."""
    return _TAG_AND_WORD.match(notation(spec.reasoning.start))


def _order(spec: Spec) -> list[str]:
    """Return the parts in their order; reasoning that is never rendered comes first."""
    order = [part.value for part in spec.turn.order]
    if spec.reasoning.mode is not ReasoningMode.NONE and spec.reasoning.field is None:
        order = ["reasoning", *(part for part in order if part != "reasoning")]
    return order


def _reasoning(spec: Spec, roles: Roles) -> ReasoningFormat:
    reasoning = spec.reasoning
    found: ReasoningFormat = {"start": roles["reasoning_start"], "end": roles["reasoning_end"]}
    if reasoning.mode is ReasoningMode.DELIMITER and not reasoning.start.strip():
        found["starts_open"] = True
    if _closing(spec) and not reasoning.end.strip():
        found["may_stay_open"] = True
        if not spec.final(Part.REASONING).strip():
            found["may_end_turn"] = True
    return found


def _roles(given: Spec, spec: Spec) -> Roles:
    """Return the markers by role. Of two roles that one could have, the first is it.

    But what ends reasoning is told of the turn's end or the content's end as well.
    """
    roles: Roles = {"between": message_ends(given, spec)}
    known = set(roles["between"])
    for role, texts in _texts(spec):
        suffices = looks_like_head if role.startswith("reasoning") else looks_like_marker
        headed = [text for text in texts if begins_with_header(text, given, spec)]
        found = [*headed, *(text for text in texts if suffices(text))]
        shared = roles["reasoning_end"] if role in ("turn_end", "content_end") else []
        written = dict.fromkeys(_unlike_text(role, notation(text)) for text in found)
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
    roles["turn_end"] += [
        escaped(stop) for stop in stops_behind_parts(spec) if not looks_like_marker(stop)
    ]
    return {role: sorted(found, key=len, reverse=True) for role, found in roles.items()}


def _unlike_text(role: str, marker: str) -> str:
    """Return a marker; one of a single sign isn't followed by it, as text may end in that sign.

    The word behind a tag that opens reasoning may be missing.
    """
    if role == "reasoning_start":
        return _TAG_AND_WORD.sub(r"\1 {?\2}", marker)
    is_run = role == "reasoning_end" and len(set(marker)) == 1
    return f"{marker}{{no {marker[0]}}}" if is_run else marker


def _texts(spec: Spec) -> Iterator[tuple[str, list[str]]]:
    """Yield roles, and the texts that have them."""
    reasons = spec.reasoning.mode is not ReasoningMode.NONE
    yield "reasoning_start", [spec.reasoning.start] if reasons else []
    yield "reasoning_end", [_closing(spec)] if reasons else []
    yield "between", list(_between(spec))
    yield "content_start", [spec.content.start]
    yield "turn_end", _ends(spec)
    yield "content_end", [spec.content.end]
    yield "turn_start", [spec.turn.header]


def _other_marks(spec: Spec) -> Iterator[tuple[str, str]]:
    """Yield roles and markers that an overlay adds for reasoning and content."""
    for marks in spec.alternatives.marks:
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

    So does the turn's own header where the model has to write it.
    """
    ends = {Part.REASONING: spec.reasoning.end, Part.CONTENT: spec.content.end}
    for join in spec.turn.joins:
        text = _without_reasoning(spec, join.text)
        if text.strip():
            yield ends.get(join.left, "") + join.text
            yield text
    yield from spec.tools.separators if spec.tools else ()
    yield spec.unprompted_header


def _ends(spec: Spec) -> list[str]:
    """Return every way in which a turn can end, the end-of-sequence token among them."""
    finals = [text for end in spec.turn.ends for text in (end.final, end.followed)]
    if spec.tools and spec.tools.after_first:
        finals.append(spec.tools.after_first.end)
    sequence_ends = [token.text for name, token in spec.tokens.items() if name.startswith("eos")]
    others = (*spec.alternatives.stop, *end_tokens(spec), *sequence_ends)
    found = [*finals, *stops_behind_parts(spec), *others]
    own_end = _closing(spec)
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
    """Return what is left of text when an empty reasoning block is taken out."""
    for marker in (spec.reasoning.start.strip(), _closing(spec)):
        text = text.replace(marker, "") if marker else text
    return text
