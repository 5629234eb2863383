"""Faults in specs: each marker, join, order, encoding, slot, stop string and switch, one at a time.

A fault is a spec with one fact changed or two exchanged, and with all that follows from it, as the
analysis would have it if it had found the wrong fact: modes, triggers, tokens to keep.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from turnspec.analysis.assemble import grammar_hints
from turnspec.analysis.modes import content_mode, reasoning_mode
from turnspec.analysis.text import distinct_beginning
from turnspec.spec.model import Spec
from turnspec.spec.plain import spec_from_data, spec_to_data
from turnspec.spec.words import (
    CallIdPosition,
    Condition,
    Encoding,
    IndexScope,
    JsonType,
    ReasoningScope,
    Subject,
    Switch,
    Verdict,
)
from turnspec.verification.turns import prompt_leaves

Path = tuple[str | int, ...]
Data = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SpecFault:
    """A spec with a fault: which kind of fact is wrong, where, and how."""

    kind: str
    place: str
    change: str
    spec: Spec

    def __str__(self) -> str:
        """Return one line."""
        return f"{self.kind}: {self.place}: {self.change}"


#: Texts by their place, and the kind of fact that they are.
_TEXTS = {
    r"turn\.header|reasoning\.(start|end)|content\.(start|end)": "marker",
    r"tools\.(section_start|separator|section_end)|tools\.call\.\d+\.text": "marker",
    r"tools\.arguments\.(start|separator|end|empty)|tools\.arguments\.item\.\d+\.text": "marker",
    r"tools\.arguments\.elements\.((member|element)\.\d+\.text|separator)": "marker",
    r"tools\.arguments\.guard\.\w+|tools\.after_first\.\w+|tools\.arguments\.types\.\w+": "marker",
    r"alternatives\..*\.text|alternatives\.marks\.\d+\.end": "alternative",
    r"alternatives\.code\.start": "alternative",
    r"turn\.joins\.\d+\.text": "join",
    r"turn\.ends\.\d+\.(final|followed)": "turn end",
    r"turn\.stop\.\d+|alternatives\.stop\.\d+": "stop string",
    r"thinking\.(default|enabled|disabled)\.(prompt|before)": "switch",
    r"thinking\.words\.\d+\.(word|prompt)": "switch",
    r"tools\.arguments\.syntax\.(item_separator|key_separator|quote|null)": "encoding",
    r"tools\.fields\.(name|arguments|id)\.\d+|reasoning\.(field|blocks\.\w+)": "key",
    r"grammar\.(triggers|preserved_tokens)\.\d+": "grammar",
    r"tokens\.\w+\.text": "token",
}
_CHOICES: dict[str, tuple[str, Sequence[str]]] = {
    r"tools\.arguments\.values\.\w+|tools\.arguments\.syntax\.encoding": (
        "encoding",
        [encoding.value for encoding in Encoding],
    ),
    r"tools\.call_id": ("slot", [position.value for position in CallIdPosition]),
    r"tools\.index_scope": ("slot", [scope.value for scope in IndexScope]),
    r"reasoning\.scope": ("switch", [scope.value for scope in ReasoningScope]),
    r"thinking\.words\.\d+\.switches": ("switch", [switch.value for switch in Switch]),
    r"limits\.\d+\.verdict": ("limit", [verdict.value for verdict in Verdict]),
    r"limits\.\d+\.when": ("limit", [condition.value for condition in Condition]),
}
_FLAGS = {
    r"tools\.arguments\.syntax\.(ascii_only|sorted_keys|bare_keys|one_quote|sort_ignores_case)": (
        "encoding"
    ),
    r"turn\.calls_decide_end": "order",
    r"tools\.fields\.name_is_key": "key",
}
#: Facts that a spec leaves out where they are as usual, so that they can be wrong there, too.
_USUAL: dict[Path, object] = {
    ("tools", "arguments", "syntax", "item_separator"): ", ",
    ("tools", "arguments", "syntax", "key_separator"): ": ",
    ("tools", "arguments", "syntax", "ascii_only"): False,
    ("tools", "arguments", "syntax", "sorted_keys"): False,
    ("turn", "calls_decide_end"): False,
}
_EXCHANGES: tuple[tuple[str, Path, Path], ...] = (
    ("marker", ("reasoning", "start"), ("reasoning", "end")),
    ("marker", ("content", "start"), ("content", "end")),
    ("marker", ("tools", "section_start"), ("tools", "section_end")),
    ("marker", ("reasoning", "end"), ("content", "start")),
    ("marker", ("tools", "arguments", "start"), ("tools", "arguments", "end")),
    ("switch", ("thinking", "enabled"), ("thinking", "disabled")),
    ("switch", ("thinking", "default"), ("thinking", "enabled")),
    ("switch", ("thinking", "default"), ("thinking", "disabled")),
    ("key", ("tools", "fields", "name"), ("tools", "fields", "arguments")),
    (
        "encoding",
        ("tools", "arguments", "syntax", "item_separator"),
        ("tools", "arguments", "syntax", "key_separator"),
    ),
)
_LISTS = {
    "turn.joins": "join",
    "turn.ends": "turn end",
    "turn.stop": "stop string",
    "thinking.words": "switch",
    "limits": "limit",
    "grammar.triggers": "grammar",
    "grammar.preserved_tokens": "grammar",
    "alternatives.calls": "alternative",
    "alternatives.marks": "alternative",
    "alternatives.stop": "alternative",
}


def spec_faults(spec: Spec) -> Iterator[SpecFault]:
    """Yield the spec with each fault, without those that leave it as it is."""
    data = _plain(spec_to_data(spec))
    sources = (_texts, _choices, _flags, _numbers, _exchanges, _slots, _orders, _lists, _settings)
    seen = {repr(spec)}
    for source in sources:
        for kind, place, change, faulty in source(data):
            found = _spec(faulty, kind)
            if found is not None and repr(found) not in seen:
                seen.add(repr(found))
                yield SpecFault(kind, place, change, found)


_Faulty = tuple[str, str, str, Data]


def _spec(data: Data, kind: str) -> Spec | None:
    """Return a spec with what follows from its facts; None where it can't even be written."""
    try:
        spec = spec_from_data(data)
    except (KeyError, TypeError, ValueError):
        return None
    try:
        return _with_consequences(spec, kind)
    except (IndexError, AttributeError):  # what it takes isn't there: a fault as good as any
        return spec


def _with_consequences(spec: Spec, kind: str) -> Spec:
    if not any(key.startswith("reasoning") for key in spec.overlay):
        mode = reasoning_mode(
            spec.reasoning.start,
            spec.reasoning.end,
            prompt_leaves(spec, thinking=True),
            spec.thinking.disabled.prompt.removeprefix(spec.turn.header),
            spec.limits,
            shown=False,
        )
        spec = replace(spec, reasoning=replace(spec.reasoning, mode=mode))
    wrapped = content_mode(spec.content.start, spec.content.end, spec.turn.joins, spec.turn.header)
    spec = replace(spec, content=replace(spec.content, mode=wrapped))
    if kind == "turn end":
        texts = [text for end in spec.turn.ends for text in (end.final, end.followed)]
        stops = [stop for stop in spec.turn.stop if any(stop in text for text in texts)]
        stops += [distinct_beginning(text, []) for text in texts if text.strip()]
        stop = tuple(dict.fromkeys(stop for stop in stops if stop))
        spec = replace(spec, turn=replace(spec.turn, stop=stop))
    if kind == "grammar" or any(key.startswith("grammar") for key in spec.overlay):
        return spec
    return replace(spec, grammar=grammar_hints(spec))


def _plain(data: object) -> Any:
    """Return data as plain lists and objects that can be changed."""
    if isinstance(data, dict):
        return {str(key): _plain(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_plain(value) for value in data]
    return str(data) if isinstance(data, str) else data


def _leaves(data: object, path: Path = ()) -> Iterator[tuple[Path, object]]:
    if isinstance(data, dict) and data:
        for key, value in data.items():
            yield from _leaves(value, (*path, key))
    elif isinstance(data, list) and data:
        for number, value in enumerate(data):
            yield from _leaves(value, (*path, number))
    else:
        yield path, data


def _at(data: Any, path: Path) -> Any:
    for step in path:
        if isinstance(data, dict) and step not in data:
            return None
        data = data[step]
    return data


def _with(data: Data, *changes: tuple[Path, object]) -> Data:
    """Return a copy with other values at some paths."""
    changed = copy.deepcopy(data)
    for path, value in changes:
        holder = _at(changed, path[:-1])
        holder[path[-1]] = value
    return changed


def _dotted(path: Path) -> str:
    return ".".join(map(str, path))


def _kind(path: Path, table: dict[str, str]) -> str:
    dotted = _dotted(path)
    return next((kind for pattern, kind in table.items() if re.fullmatch(pattern, dotted)), "")


def _texts(data: Data) -> Iterator[_Faulty]:
    for path, value in [*_leaves(data), *_missing(data)]:
        kind = _kind(path, _TEXTS)
        if kind and isinstance(value, str):
            for change, text in _altered(value):
                yield kind, _dotted(path), change, _with(data, (path, text))


def _missing(data: Data) -> Iterator[tuple[Path, object]]:
    for path, value in _USUAL.items():
        if isinstance(_at(data, path[:-1]), dict) and _at(data, path) is None:
            yield path, value


def _altered(text: str) -> Iterator[tuple[str, str]]:
    """Yield what a text is when it is found wrong."""
    if not text:
        yield "a marker where there is none", "<qx>"
        yield "a line end where there is none", "\n"
        return
    yield "nothing", ""
    yield "without its first character", text[1:]
    yield "without its last character", text[:-1]
    if text != text.strip() and text.strip():
        yield "without white space", text.strip()
    yield "with a line end", text + "\n"
    words = re.search(r"\w", text)
    if words:
        at = words.start()
        other = "x" if text[at] != "x" else "y"
        yield "with another letter", text[:at] + other + text[at + 1 :]


def _choices(data: Data) -> Iterator[_Faulty]:
    for path, value in _leaves(data):
        for pattern, (kind, options) in _CHOICES.items():
            if re.fullmatch(pattern, _dotted(path)):
                for option in options:
                    if option != value:
                        yield kind, _dotted(path), f"as {option}", _with(data, (path, option))


def _flags(data: Data) -> Iterator[_Faulty]:
    for path, value in [*_leaves(data), *_missing(data)]:
        kind = _kind(path, _FLAGS)
        if kind and isinstance(value, bool):
            yield kind, _dotted(path), f"{not value}".lower(), _with(data, (path, not value))


def _numbers(data: Data) -> Iterator[_Faulty]:
    for path, value in _leaves(data):
        if type(value) is int:
            yield "slot", _dotted(path), "one more", _with(data, (path, value + 1))


def _exchanges(data: Data) -> Iterator[_Faulty]:
    for kind, one, other in _EXCHANGES:
        first, second = _at(data, one), _at(data, other)
        if first is not None and second is not None and first != second:
            place = f"{_dotted(one)} and {_dotted(other)}"
            yield kind, place, "exchanged", _with(data, (one, second), (other, first))


def _slots(data: Data) -> Iterator[_Faulty]:
    for path in (
        ("tools", "call"),
        ("tools", "arguments", "item"),
        ("tools", "arguments", "elements", "member"),
    ):
        pieces = (_at(data, path) if data.get("tools") else None) or []
        slots = [at for at, piece in enumerate(pieces) if "slot" in piece]
        for number, at in enumerate(slots):
            without = [piece for n, piece in enumerate(pieces) if n != at]
            yield "slot", _dotted((*path, at)), "left out", _with(data, (path, without))
            for other in slots[number + 1 :]:
                swapped = list(pieces)
                swapped[at], swapped[other] = pieces[other], pieces[at]
                place = f"{_dotted((*path, at))} and {other}"
                yield "slot", place, "exchanged", _with(data, (path, swapped))
            if 0 < at < len(pieces) - 1:
                moved = [*pieces[: at - 1], pieces[at], pieces[at - 1], *pieces[at + 1 :]]
                yield "slot", _dotted((*path, at)), "before its text", _with(data, (path, moved))


def _orders(data: Data) -> Iterator[_Faulty]:
    path: Path = ("turn", "order")
    order = _at(data, path)
    for at in range(len(order) - 1):
        swapped = [*order[:at], order[at + 1], order[at], *order[at + 2 :]]
        change = f"{order[at + 1]} before {order[at]}"
        yield "order", _dotted(path), change, _with(data, (path, swapped))


def _lists(data: Data) -> Iterator[_Faulty]:
    for dotted, kind in _LISTS.items():
        path: Path = tuple(dotted.split("."))
        items = _at(data, path) or []
        for at in range(len(items)):
            without = [item for number, item in enumerate(items) if number != at]
            yield kind, f"{dotted}.{at}", "left out", _with(data, (path, without))
    yield from _added(data)


def _added(data: Data) -> Iterator[_Faulty]:
    """Yield the spec with a stop string, or a limit, too many."""
    stop: Path = ("turn", "stop")
    for path in (("reasoning", "end"), ("tools", "section_start"), ("content", "start")):
        text = (_at(data, path) or "").strip()
        if text and text not in _at(data, stop):
            more = [*_at(data, stop), text]
            faulty = _with(data, (stop, more))
            yield "stop string", "turn.stop", f"{_dotted(path)} as one more", faulty
    for subject in (Subject.CONTENT, Subject.REASONING, *map(_about, JsonType)):
        limit = {
            "subject": subject.value,
            "verdict": Verdict.AMBIGUOUS.value,
            "when": Condition.ALWAYS.value,
            "reason": "a fault",
        }
        limits = [*(data.get("limits") or []), limit]
        yield "limit", "limits", f"{subject} called ambiguous", {**data, "limits": limits}


def _about(kind: JsonType) -> Subject:
    return Subject(f"argument.{kind}")


def _settings(data: Data) -> Iterator[_Faulty]:
    """Yield the spec with another value of a switch, or without it."""
    for key in ("enabled", "disabled"):
        path: Path = ("thinking", key, "variables")
        settings = _at(data, path) or {}
        for name, value in settings.items():
            without = {other: v for other, v in settings.items() if other != name}
            yield "switch", f"thinking.{key}.{name}", "left out", _with(data, (path, without))
            if isinstance(value, bool):
                turned = {**settings, name: not value}
                yield "switch", f"thinking.{key}.{name}", "turned", _with(data, (path, turned))
