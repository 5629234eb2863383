"""How names of models and formats match: by their words, whatever stands between these.

A name is split into words and numbers; what tells a model's size is set apart, as a family shares
its format whatever the size. Before a format's own words may stand its maker's, up to two without a
digit, which people leave out. Nothing here knows any model.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

_SEPARATORS = re.compile(r"[^a-z0-9.]+")
_SIZE = re.compile(r"[ae]?\d+(?:\.\d+)?[bm]|\d+x\d+(?:\.\d+)?[bm]|\d+e")
_WORD = re.compile(r"\d+(?:\.\d+)*|[a-z]+")
_MOST_LEADING = 2
_SHORTEST_OWN = 3
_SEVERAL = 3
#: How alike a name has to be to be suggested, and how many are.
_ALIKE, _MOST_SUGGESTED = 0.76, 4
#: How alike a name has to be to pass for a slip of the pen.
_MISSPELT = 0.9


@dataclass(frozen=True, slots=True)
class ModelName:
    """A name in its words, and the words that tell a size."""

    words: tuple[str, ...]
    sizes: tuple[str, ...]

    @classmethod
    def read(cls, name: str) -> ModelName:
        """Read a name, or a model's id without its owner."""
        words: list[str] = []
        sizes: list[str] = []
        for token in _SEPARATORS.split(name.lower()):
            if _SIZE.fullmatch(token.strip(".")):
                sizes.append(token.strip("."))
                continue
            for word in _WORD.findall(token):
                if words[-1:] != [word]:  # qwen-qwen3 is qwen3
                    words.append(word)
        return cls(tuple(words), tuple(sizes))

    def without_owner(self, common: Container[str] = ()) -> list[tuple[str, ...]]:
        """Return the words with and without what may be the owner's name before them.

        ``common`` words, which many names end with, are no name by themselves.
        """
        found = [self.words]
        for count in range(1, _MOST_LEADING + 1):
            left, own = self.words[:count], self.words[count:]
            if own and all(map(str.isalpha, left)) and _is_own(own[0]) and own[0] not in common:
                found.append(own)
        return found


def _is_own(word: str) -> bool:
    return word.isalpha() and len(word) >= _SHORTEST_OWN


class Closeness(IntEnum):
    """How near a format's name is to what was asked for, from near to far."""

    SAME = 0  # but for the owner and the size
    WITHIN = 1  # the format's words begin what was asked for
    BEGUN = 2  # what was asked for begins the format's words
    EARLIER = 3  # the same, but for a version that goes on: 3 and 3.1


@dataclass(frozen=True, slots=True)
class NameMatch:
    """A format's name, how near it is, and the words asked for that it doesn't have."""

    name: str
    closeness: Closeness
    left_over: tuple[str, ...]
    same_sizes: int


def match_names(asked: str, names: Sequence[tuple[str, str]]) -> list[NameMatch]:
    """Return the best matches of a name among formats, given with a name to read.

    Several come back where nothing tells which is meant. Those whose sizes were asked for go first.
    """
    owner, _, own = asked.rpartition("/")
    ways = [ModelName.read(own), *([ModelName.read(f"{owner} {own}")] if owner else [])]
    known = [(name, ModelName.read(shown)) for name, shown in names]
    common = _common_endings(model for _, model in known)
    found = [
        match
        for wanted in ways
        for name, model in known
        if wanted.words and (match := _match(wanted, name, model, common))
    ]
    closest = min((match.closeness for match in found), default=None)
    best = [match for match in found if match.closeness == closest]
    if closest is Closeness.WITHIN and _is_misspelt(ways[0], [model for _, model in known]):
        return []
    if closest is not None and closest >= Closeness.BEGUN:
        best = found
    else:
        best = _first(best, lambda match: len("".join(match.left_over)))
        best = _first(best, lambda match: -match.same_sizes)
    return sorted({match.name: match for match in best}.values(), key=lambda match: match.name)


def _common_endings(names: Iterable[ModelName]) -> frozenset[str]:
    """Return the words that end several names, such as those for what a model was tuned for."""
    endings = Counter(name.words[-1] for name in names if name.words)
    return frozenset(word for word, count in endings.items() if count >= _SEVERAL)


def _first(matches: Sequence[NameMatch], rank: Callable[[NameMatch], int]) -> list[NameMatch]:
    """Return the matches with the lowest rank."""
    lowest = min(map(rank, matches), default=0)
    return [match for match in matches if rank(match) == lowest]


def _is_misspelt(wanted: ModelName, known: Iterable[ModelName]) -> bool:
    """Tell whether a name is all but a format's: then its first words don't say what is meant."""
    return any(
        _letters(wanted, model) >= _MISSPELT and not _closeness_of(wanted, model) for model in known
    )


def _match(
    wanted: ModelName, name: str, known: ModelName, common: Container[str]
) -> NameMatch | None:
    same_sizes = len({*wanted.sizes} & {*known.sizes})
    found = [
        NameMatch(name, closeness, _rest(wanted.words, words), same_sizes)
        for closeness, words in _closeness_of(wanted, known, common)
    ]
    return min(found, key=lambda match: match.closeness, default=None)


def _closeness_of(
    wanted: ModelName, known: ModelName, common: Container[str] = ()
) -> list[tuple[Closeness, tuple[str, ...]]]:
    ways = known.without_owner(common)
    pairs = ((_closeness(wanted.words, words), words) for words in ways)
    return [(closeness, words) for closeness, words in pairs if closeness is not None]


def _closeness(wanted: Sequence[str], known: Sequence[str]) -> Closeness | None:
    """Compare texts without separators, as gptoss is gpt-oss; they part at a word's end."""
    asked, text = "".join(wanted), "".join(known)
    if asked == text:
        return Closeness.SAME
    if asked.startswith(text) and len(text) in _ends(wanted):
        return Closeness.WITHIN
    if not text.startswith(asked):
        return None
    if len(asked) in _ends(known):
        return Closeness.BEGUN
    return Closeness.EARLIER if text[len(asked)] == "." else None


def _ends(words: Sequence[str]) -> set[int]:
    ends, end = set(), 0
    for word in words:
        end += len(word)
        ends.add(end)
    return ends


def _rest(wanted: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Return the words of what was asked for that a format's name doesn't have."""
    end, length = 0, len("".join(known))
    rest = []
    for word in wanted:
        if end >= length:
            rest.append(word)
        end += len(word)
    return tuple(rest)


def suggested(asked: str, names: Sequence[tuple[str, str]]) -> list[str]:
    """Return the few names that a person may have meant, the likeliest first."""
    wanted = ModelName.read(asked.rpartition("/")[2])
    known = [(name, ModelName.read(shown)) for name, shown in names]
    words = Counter(word for _, model in known for word in {*model.words})
    common = _common_endings(model for _, model in known)
    weights = {word: 1 / count for word, count in words.items() if word not in common}
    ranks: dict[str, float] = {}
    for name, model in known:
        rank = max(_letters(wanted, model, common), _by_words(wanted, model, weights))
        ranks[name] = max(rank, ranks.get(name, 0.0))
    alike = sorted((-rank, name) for name, rank in ranks.items() if rank >= _ALIKE)
    return [name for _, name in alike[:_MOST_SUGGESTED]]


def _by_words(wanted: ModelName, known: ModelName, weights: Mapping[str, float]) -> float:
    """Return how alike two names are by their words, from 0 to 1.

    The first word is the family's, and has to be shared; the rarer the others, the more they say.
    """
    said = [word for word in wanted.words if _is_own(word)]
    if not said or said[0] not in known.words or said[0] not in weights:
        return 0.0
    shared = sum(weights.get(word, 0.0) for word in said if word in known.words)
    return _ALIKE + (1 - _ALIKE) * shared / sum(weights.get(word, 1.0) for word in said)


def _letters(wanted: ModelName, known: ModelName, common: Container[str] = ()) -> float:
    """Return how alike two names are letter by letter, as far as the one that is wanted goes."""
    asked = "".join(wanted.words)
    if len(asked) < _SHORTEST_OWN:  # two letters are like too much
        return 0.0
    texts = ("".join(words)[: len(asked) + 1] for words in known.without_owner(common))
    return max(difflib.SequenceMatcher(None, asked, text).ratio() for text in texts)
