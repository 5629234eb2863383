"""A spec as the plain data of its YAML file, and back.

What is empty or has its default is left out where that helps reading; modes, the header and the
start and end of each part are always there.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any

from turnspec.spec.calls import (
    AfterFirst,
    Arguments,
    Fields,
    Guard,
    Literal,
    Piece,
    Slot,
    Tools,
    ValueSyntax,
)
from turnspec.spec.model import (
    CodeCall,
    ContentBlocks,
    End,
    Join,
    Reasoning,
    Spec,
    SwitchWord,
    TemplateIdentity,
    Thinking,
    ThinkingState,
    Token,
    Tokenizer,
    Turn,
)
from turnspec.spec.records import Place, Records, mapping
from turnspec.spec.versions import SPEC_VERSION
from turnspec.spec.words import JsonType, SlotKind
from turnspec.spec.yaml_text import Line, Text

#: What schema.json has already found right; the keys and types are therefore taken for granted.
Data = Mapping[str, Any]


def spec_to_data(spec: Spec) -> dict[str, object]:
    """Return the data of a spec's YAML file, in the model's order."""
    return {"spec_version": SPEC_VERSION, **_written(spec)}


def spec_from_data(data: Data) -> Spec:
    """Return the spec of data that schema.json allows."""
    return _RECORDS.read(Spec, data)


def tokenizer_from_data(data: Data) -> Tokenizer:
    """Return the special tokens that a spec, or an index of templates, names."""
    return _RECORDS.read(Tokenizer, data)


def _piece(data: object, place: str) -> Piece:
    piece = mapping(data, place)
    if "text" in piece:
        return Literal(str(piece["text"]))
    return Slot(SlotKind(str(piece["slot"])))


_RECORDS = Records(
    keys={(Slot, "kind"): "slot"},
    like={
        (Thinking, "enabled"): "default",
        (Thinking, "disabled"): "default",
        (End, "followed"): "final",
    },
    required=frozenset({(Tools, "call_id"), (Arguments, "syntax"), (ValueSyntax, "encoding")}),
    special={Piece: _piece, int: lambda data, place: data},  # the schema says how small one may be
)


def _written(record: Any) -> dict[str, object]:
    kind = type(record)
    data: dict[str, object] = Line() if kind in _IN_A_LINE else {}
    for field in _RECORDS.fields(kind):
        if not field.is_usual(record):
            write = _WRITERS.get((kind, field.name), _plain)
            data[field.key] = write(getattr(record, field.name))
    for key in _LAST.get(kind, ()):
        if key in data:
            data[key] = data.pop(key)
    return data


def _plain(value: Any) -> object:
    """Return a value as it usually stands: texts in quotes, the words of choices without."""
    if isinstance(value, str):
        return value if isinstance(value, Enum) else Text(value)
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return _written(value) if dataclasses.is_dataclass(value) else value


def _as_it_is(value: object) -> object:
    return value


def _list_of_texts(texts: Iterable[str]) -> list[Text]:
    return list(map(Text, texts))


def _sorted(values: Mapping[str, object]) -> object:
    return _plain(dict(sorted(values.items())))


def _by_type(values: Mapping[JsonType, object]) -> object:
    return _plain({kind: values[kind] for kind in JsonType if kind in values})


def _escapes(texts: Mapping[str, str]) -> object:
    return {Text(sign): Text(text) for sign, text in texts.items()}


def _settings(values: Mapping[str, object]) -> Line:
    return Line({name: _setting(value) for name, value in sorted(values.items())})


def _setting(value: object) -> object:
    if isinstance(value, str):
        return Text(value)
    if isinstance(value, Mapping):
        return _settings(value)
    return [_setting(item) for item in value] if isinstance(value, list | tuple) else value


#: Of records whose keys stand in another order than the fields, those that come last.
_LAST: Mapping[type, tuple[str, ...]] = {
    Join: ("text",),
    Reasoning: ("scope", "blocks"),
    ThinkingState: ("prompt", "before"),
    ValueSyntax: ("quote", "bare_keys", "null", "one_quote", "python_words"),
}

#: Records that stand in one line.
_IN_A_LINE = (Token, ContentBlocks, AfterFirst, Guard, CodeCall)

#: How fields are written that don't stand as they usually would.
_WRITERS: Mapping[Place, Callable[[Any], object]] = {
    **dict.fromkeys(((TemplateIdentity, key) for key in ("file", "sha256", "origin")), _as_it_is),
    **dict.fromkeys(((Spec, key) for key in ("name", "overlay")), _as_it_is),
    **dict.fromkeys(((Reasoning, key) for key in ("field", "call_field")), _as_it_is),
    **dict.fromkeys(((Fields, key) for key in ("name", "arguments", "id")), _list_of_texts),
    **dict.fromkeys(((Arguments, key) for key in ("values", "types")), _by_type),
    **dict.fromkeys(((Arguments, key) for key in ("escapes", "value_escapes")), _escapes),
    (Spec, "tokens"): _sorted,
    (SwitchWord, "roles"): _as_it_is,
    (SwitchWord, "switches"): Text,
    (ThinkingState, "variables"): _settings,
    (Tokenizer, "origin"): _as_it_is,
    (Turn, "order"): list,
}
