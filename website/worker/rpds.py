"""Stands in for rpds-py, whose collections are compiled and have no build for Pyodide.

jsonschema and referencing use these few of its methods. Collections never change: what adds to one
copies it, which is right, and quick enough for the few schemas there are.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Set
from typing import Any, Self


class HashTrieMap(Mapping[Any, Any]):
    """A mapping that never changes."""

    def __init__(self, *given: Any, **more: Any) -> None:
        """Take what a dictionary takes."""
        self._data: dict[Any, Any] = dict(*given, **more)

    @classmethod
    def convert(cls, value: Any) -> Self:
        """Return a mapping as one of these."""
        return value if isinstance(value, cls) else cls(value)

    def __getitem__(self, key: Any) -> Any:
        """Return a value."""
        return self._data[key]

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the keys."""
        return iter(self._data)

    def __len__(self) -> int:
        """Return how many pairs there are."""
        return len(self._data)

    def insert(self, key: Hashable, value: Any) -> Self:
        """Return this with one more pair."""
        return type(self)({**self._data, key: value})

    def update(self, *given: Any, **more: Any) -> Self:
        """Return this with more pairs."""
        return type(self)({**self._data, **dict(*given, **more)})

    def remove(self, key: Hashable) -> Self:
        """Return this without a key. Raises KeyError."""
        self._data[key]
        return self.discard(key)

    def discard(self, key: Hashable) -> Self:
        """Return this without a key, which need not be there."""
        return type(self)({own: value for own, value in self._data.items() if own != key})


class HashTrieSet(Set[Any]):
    """A set that never changes."""

    def __init__(self, given: Iterable[Any] = ()) -> None:
        """Take the elements."""
        self._data = frozenset(given)

    def __contains__(self, value: object) -> bool:
        """Tell whether an element is there."""
        return value in self._data

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the elements."""
        return iter(self._data)

    def __len__(self) -> int:
        """Return how many elements there are."""
        return len(self._data)

    def __hash__(self) -> int:
        """Return what equal sets have in common."""
        return hash(self._data)

    def insert(self, value: Hashable) -> Self:
        """Return this with one more element."""
        return type(self)(self._data | {value})

    def discard(self, value: Hashable) -> Self:
        """Return this without an element, which need not be there."""
        return type(self)(self._data - {value})

    def update(self, *given: Iterable[Any]) -> Self:
        """Return this with more elements."""
        return type(self)(self._data.union(*given))


class List:
    """A list that never changes, to whose front one adds."""

    def __init__(self, given: Iterable[Any] = ()) -> None:
        """Take the elements."""
        self._data = tuple(given)

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the elements."""
        return iter(self._data)

    def __len__(self) -> int:
        """Return how many elements there are."""
        return len(self._data)

    def __eq__(self, other: object) -> bool:
        """Compare the elements."""
        return isinstance(other, List) and self._data == other._data

    def __hash__(self) -> int:
        """Return what equal lists have in common."""
        return hash(self._data)

    @property
    def first(self) -> Any:
        """The element that was added last."""
        return self._data[0]

    @property
    def rest(self) -> Self:
        """All others."""
        return type(self)(self._data[1:])

    def push_front(self, value: Any) -> Self:
        """Return this with an element before the first."""
        return type(self)((value, *self._data))

    def drop_first(self) -> Self:
        """Return this without the first element."""
        return self.rest
