"""Where the prompt's own example of a call disagrees with how the template renders calls.

A model writes what it was trained on, which the example shows; the rendering of a past call is
code that nobody may have looked at. Compared is what an example shows beyond doubt: what separates
two arguments, quotes around a value, and how markers are spelt.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from turnspec.analysis.instructions import Instructions
from turnspec.analysis.tag_examples import is_closing
from turnspec.analysis.text import markers
from turnspec.spec.calls import Literal, Slot, Tools
from turnspec.spec.model import Limit, Spec
from turnspec.spec.words import Condition, Encoding, JsonType, SlotKind, Subject, Verdict
from turnspec.spec.yaml_text import quoted

_KEY, _VALUE = Slot(SlotKind.KEY), Slot(SlotKind.VALUE)
_WORD = r"[\w.]*\w"


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A key of the spec that an example contradicts: its value there, why, and the example."""

    key: str
    value: str
    reason: str
    said: Instructions
    evidence: str


def find_disagreements(tools: Tools, said: Sequence[Instructions]) -> list[Disagreement]:
    """Return what the first example of two arguments contradicts in how calls are rendered.

    Arguments are found by what stands between a key and its value, so they have to be tagged.
    """
    lead = _between_key_and_value(tools)
    if not lead.strip():
        return []
    value = rf"(?P<quote>[\"']?){_WORD}(?P=quote)"
    example = re.compile(
        rf"\b{_WORD}\s*\(\s*\b\w+{re.escape(lead)}{value}(?P<separator>[^\w\"'()]*)\w+{re.escape(lead)}"
    )
    for instructions in said:
        found = example.search(instructions.text)
        if found is not None:
            return list(_compared(tools, found, instructions))
    return []


@dataclass(frozen=True, slots=True)
class Misspelling:
    """A marker as calls are rendered with it, and as the prompt spells it."""

    rendered: str
    shown: str
    said: Instructions


def find_misspelling(spec: Spec, tools: Tools, said: Sequence[Instructions]) -> Misspelling | None:
    """Return a marker of calls that a prompt knows with other signs around the same words only.

    A marker of the turn that says the same is no such spelling.
    """
    texts = [piece.text for piece in tools.call if isinstance(piece, Literal)]
    texts += [tools.section_start, tools.section_end]
    others = [text for end in spec.turn.ends for text in (end.final, end.followed)]
    others += [spec.turn.header, spec.reasoning.start, spec.reasoning.end]
    others += [spec.content.start, spec.content.end]
    own = {marker for text in (*texts, *others) for marker in markers(text)}
    for instructions, text in itertools.product(said, texts):
        for marker in markers(text):
            alike = {it for it in markers(instructions.text) if _is_other(marker, it)}
            if marker not in instructions.text and len(alike) == 1 and not alike <= own:
                signs = re.match(r"[^\w\s<\[({]*", text.partition(marker)[2])
                rendered = marker + (signs.group() if signs else "")
                return Misspelling(rendered, alike.pop(), instructions)
    return None


def _is_other(marker: str, other: str) -> bool:
    """Tell whether two markers say the same in other signs."""
    said = [re.sub(r"\W", "", it) for it in (marker, other)]
    return said[0] == said[1] != "" and marker != other and is_closing(marker) == is_closing(other)


def respelt(tools: Tools, found: Misspelling) -> tuple[Tools, list[str]]:
    """Return calls with a marker as the prompt spells it, and the keys that this changes."""
    old, new = found.rendered, found.shown
    call = tuple(
        replace(it, text=it.text.replace(old, new)) if isinstance(it, Literal) else it
        for it in tools.call
    )
    ends = (tools.section_start.replace(old, new), tools.section_end.replace(old, new))
    given = replace(tools, call=call, section_start=ends[0], section_end=ends[1])
    names = ("call", "section_start", "section_end")
    return given, [f"tools.{it}" for it in names if getattr(given, it) != getattr(tools, it)]


def with_spelling_of_prompt(spec: Spec, said: Sequence[Instructions]) -> Spec:
    """Return the spec with calls that have a marker as the prompt spells it, beside its own."""
    found = find_misspelling(spec, spec.tools, said) if spec.tools else None
    if spec.tools is None or found is None:
        return spec
    call = respelt(spec.tools, found)[0].call
    if call == spec.tools.call:
        return spec
    reason = f"the prompt spells it {quoted(found.shown)}, which is read as well"
    told = Limit(Subject.CALLS, Verdict.TOLD, Condition.ALWAYS, reason)
    alternatives = replace(spec.alternatives, calls=(*spec.alternatives.calls, call))
    return replace(spec, limits=(*spec.limits, told), alternatives=alternatives)


def _between_key_and_value(tools: Tools) -> str:
    item = tools.arguments.item
    if _KEY not in item or _VALUE not in item:
        return ""
    between = item[item.index(_KEY) + 1 : item.index(_VALUE)]
    text = "".join(piece.text for piece in between)
    return text.rstrip("\"'") if len(between) == 1 else ""


def _compared(tools: Tools, found: re.Match[str], said: Instructions) -> Iterator[Disagreement]:
    arguments, separator = tools.arguments, found["separator"]
    if separator.strip() != arguments.separator.strip():
        shown = quoted(arguments.separator) if arguments.separator else "nothing"
        reason = f"The prompt's example separates arguments by {quoted(separator)}, "
        reason += f"the rendering by {shown}."
        yield Disagreement("tools.arguments.separator", separator, reason, said, found.group())
    is_raw = arguments.values.get(JsonType.STRING) is Encoding.RAW
    before_value = arguments.item[arguments.item.index(_VALUE) - 1].text
    if found["quote"] and is_raw and not before_value.endswith(("'", '"')):
        encoding = Encoding.JSON if found["quote"] == '"' else Encoding.PYTHON
        reason = "The prompt's example has quotes around a value, the rendering has none."
        key = f"tools.arguments.values.{JsonType.STRING}"
        yield Disagreement(key, encoding, reason, said, found.group())
