"""Records from plain data, and what of them is plain data: by the types of their fields.

A record is a dataclass. Its fields hold texts, counts, flags, choices (enums), records, tuples of
one type, mappings, and what else JSON has where nothing is known of it (``object``).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass
from enum import Enum
from functools import partial
from types import NoneType, UnionType
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

R = TypeVar("R")

#: Makes of data what a field holds; the text says where the data is.
Read = Callable[[Any, str], Any]

#: A class, and the name of a field of it.
Place = tuple[type, str]


class MisfitError(Exception):
    """A value that isn't what it should be."""

    def __init__(self, place: str, wanted: str) -> None:
        super().__init__(f"must be {wanted}")
        self.place = place


@dataclass(frozen=True, slots=True)
class RecordField:
    """A field of a record: its name, its key in data, its type, and what it is if that is absent.

    ``like`` names another field whose value it has then; without that or a ``default`` it has to be
    there.
    """

    name: str
    key: str
    kind: Any
    default: object
    like: str

    def is_usual(self, record: object) -> bool:
        """Tell whether a record's value is what it would be if the key were absent."""
        value = getattr(record, self.name)
        return value in (None, getattr(record, self.like) if self.like else self.default)


class Records:
    """How records stand in data: each field under its name, unless something else is said."""

    def __init__(
        self,
        *,
        keys: Mapping[Place, str] | None = None,
        like: Mapping[Place, str] | None = None,
        required: frozenset[Place] = frozenset(),
        special: Mapping[object, Read] | None = None,
    ) -> None:
        """Take what isn't as the fields say.

        Args:
            keys: the keys of fields that aren't their names.
            like: of fields that may be absent, the field whose value they have then.
            required: fields that have to be there though they have a default.
            special: how some types are read, or some fields.
        """
        self._keys, self._like, self._required = keys or {}, like or {}, required
        self._special = special or {}
        self._readers: dict[object, Read] = {}
        self._fields: dict[type, tuple[RecordField, ...]] = {}

    def read(self, kind: type[R], data: object, place: str = "") -> R:
        """Return what data says, without unknown keys. Raises MisfitError for what doesn't fit."""
        return cast("R", self._reader(kind)(data, place))

    def each(self, kind: type[R], data: object) -> dict[str, R]:
        """Return the records that data has by name. Raises MisfitError."""
        return {name: self.read(kind, entry, name) for name, entry in mapping(data, "").items()}

    def fields(self, kind: type) -> tuple[RecordField, ...]:
        """Return the fields of a record's class, in its order."""
        if kind not in self._fields:
            hints = get_type_hints(kind)
            self._fields[kind] = tuple(
                self._field(kind, field, hints[field.name])
                for field in dataclasses.fields(cast("Any", kind))
            )
        return self._fields[kind]

    def _field(self, kind: type, field: dataclasses.Field[Any], hint: object) -> RecordField:
        place, make = (kind, field.name), field.default_factory
        default = field.default if make is MISSING else make()
        if place in self._required:
            default = MISSING
        key, like = self._keys.get(place, field.name), self._like.get(place, "")
        return RecordField(field.name, key, hint, default, like)

    def _reader(self, kind: Any) -> Read:
        if kind not in self._readers:
            self._readers[kind] = self._special.get(kind) or self._made(kind)
        return self._readers[kind]

    def _made(self, kind: Any) -> Read:
        if kind in _SIMPLE:
            return _SIMPLE[kind]
        arguments = get_args(kind)
        if isinstance(kind, UnionType):
            (other,) = (argument for argument in arguments if argument is not NoneType)
            return partial(_optional, self._reader(other))
        if get_origin(kind) is tuple:
            return partial(_items, self._reader(arguments[0]))
        if get_origin(kind) is Mapping:
            key, value = map(self._reader, arguments)
            return partial(_members, key, value)
        return partial(_choice, kind) if issubclass(kind, Enum) else self._record(kind)

    def _record(self, kind: type) -> Read:
        fields = [
            (field, self._special.get((kind, field.name)) or self._reader(field.kind))
            for field in self.fields(kind)
        ]

        def read(data: object, place: str) -> object:
            entry, values = mapping(data, place), dict[str, object]()
            for field, read_value in fields:
                usual = values[field.like] if field.like else field.default
                if field.key in entry or usual is MISSING:
                    usual = read_value(entry.get(field.key), _below(place, field.key))
                values[field.name] = usual
            return kind(**values)

        return read


def _of(kind: type, wanted: str, data: Any, place: str) -> Any:
    if not isinstance(data, kind):
        raise MisfitError(place, wanted)
    return data


def mapping(data: object, place: str) -> dict[str, object]:
    """Return an object's members. Raises MisfitError."""
    return cast("dict[str, object]", _of(dict, "an object", data, place))


def _below(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


def _count(data: object, place: str) -> int:
    if type(data) is not int or data < 0:
        raise MisfitError(place, "a count")
    return data


def _optional(read: Read, data: object, place: str) -> object:
    return None if data is None else read(data, place)


def _items(read: Read, data: object, place: str) -> tuple[object, ...]:
    items = enumerate(_of(list, "a list", data, place))
    return tuple(read(item, f"{place}[{number}]") for number, item in items)


def _members(read_key: Read, read: Read, data: object, place: str) -> dict[object, object]:
    return {
        read_key(key, place): read(value, _below(place, key))
        for key, value in mapping(data, place).items()
    }


def _choice(kind: type[Enum], data: object, place: str) -> Enum:
    try:
        return kind(data)
    except ValueError:
        names = ", ".join(str(choice.value) for choice in kind)
        raise MisfitError(place, f"one of {names}") from None


_SIMPLE: Mapping[object, Read] = {
    object: lambda data, place: data,
    str: partial(_of, str, "a string"),
    int: _count,
    bool: partial(_of, bool, "true or false"),
}
