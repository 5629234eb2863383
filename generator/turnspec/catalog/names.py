"""How names of models and formats match: by their words, whatever stands between these.

A name is split into words and numbers; what tells a model's size, and how its weights are stored,
is set apart, as a family shares its format whatever these are. Before a format's own words may
stand its maker's, up to two without a digit, which people leave out. Behind them may stand what
many names end with, for what a model was tuned; any other word may tell another format. Nothing
here knows any model.
"""

from __future__ import annotations

import difflib
import math
import re
from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import accumulate

_SEPARATORS = re.compile(r"[^a-z0-9.]+")
_SIZE = re.compile(
    r"[ae]?\d+(?:\.\d+)?[bm]|\d+x\d+(?:\.\d+)?[bm]|\d+e"  # of a model, its experts, its context
    r"|gguf|gptq|awq|mlx|bnb|hf|exl\d|\d+bit|(?:nv|mx)?fp\d+|b?f16|f32|int\d+|w\d+a\d+|i?q\d"
)
# Q4_K_M, Q8_0 and the like, as GGUF files are called; UD- is a maker's own mix of such weights.
_STORED = re.compile(r"(?<![a-z0-9])(?:ud-)?[it]?q\d(?:_[a-z0-9]+)+")
_VERSION = re.compile(r"(?<=\d)[-_](?=\d(?![\w.]))")  # 3-8 is 3.8, as files write it
_WORD = re.compile(r"\d+(?:\.\d+)*|[a-z]+")
#: The same in JavaScript, for the filter of the report's page.
PATTERNS = {
    "separators": _SEPARATORS.pattern,
    "size": _SIZE.pattern,
    "stored": _STORED.pattern,
    "version": _VERSION.pattern,
    "word": _WORD.pattern,
}
_MOST_LEADING = 2
_SHORTEST_OWN = 3
_SEVERAL = 3
#: One in how many names a word has to end, to tell nothing of a format.
_USUAL = 25
#: How alike two words are when one is a slip of the pen for the other.
_ALIKE = 0.8
#: How near to the best a name has to be to be suggested beside it, and how many are.
_NEAR, _MOST_SUGGESTED = 0.6, 4


@dataclass(frozen=True, slots=True)
class ModelName:
    """A name in its words, and what tells a size or how weights are stored."""

    words: tuple[str, ...]
    sizes: tuple[str, ...]

    @classmethod
    def read(cls, name: str) -> ModelName:
        """Read a name, or a model's id without its owner."""
        words: list[str] = []
        sizes: list[str] = []
        for token in _SEPARATORS.split(_VERSION.sub(".", _STORED.sub("", name.lower()))):
            if _SIZE.fullmatch(token.strip(".")):
                sizes.append(token.strip("."))
                continue
            for word in _WORD.findall(token):
                if words[-1:] != [word]:  # qwen-qwen3 is qwen3
                    words.append(word)
        return cls(tuple(words), tuple(sizes))

    def without_owner(self, common: Container[str]) -> list[tuple[str, ...]]:
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

    @property
    def rank(self) -> tuple[int, int, int]:
        """What matches are compared by, the best first."""
        return self.closeness, len("".join(self.left_over)), -self.same_sizes


def match_names(asked: str, names: Sequence[tuple[str, str]]) -> list[NameMatch]:
    """Return the best matches of a name among formats, given with a name to read.

    Several come back where nothing tells which is meant, none where a word that was asked for may
    tell another format. Those whose sizes were asked for go first.
    """
    owner, _, own = asked.rpartition("/")
    ways = [ModelName.read(own), *([ModelName.read(f"{owner} {own}")] if owner else [])]
    known = [(name, ModelName.read(shown)) for name, shown in names]
    models = [model for _, model in known]
    common = _endings(models, _SEVERAL)
    usual = _usual(models)
    found = [
        match
        for wanted in ways
        for name, model in known
        if wanted.words and (match := _match(wanted, name, model, common))
        if usual.issuperset(match.left_over)
    ]
    if any(match.closeness < Closeness.BEGUN for match in found):
        least = min(match.rank for match in found)
        found = [match for match in found if match.rank == least]
    return sorted({match.name: match for match in found}.values(), key=lambda match: match.name)


def _endings(names: Sequence[ModelName], least: float) -> frozenset[str]:
    """Return the words that end some names at least, as do those for what a model was tuned for."""
    endings = Counter(name.words[-1] for name in names if name.words)
    return frozenset(word for word, count in endings.items() if count >= least and word.isalpha())


def _usual(names: Sequence[ModelName]) -> frozenset[str]:
    """Return the words that so many names end with that they tell nothing of a format."""
    return _endings(names, max(_SEVERAL, len(names) / _USUAL))


def _match(
    wanted: ModelName, name: str, known: ModelName, common: Container[str]
) -> NameMatch | None:
    same_sizes = len({*wanted.sizes} & {*known.sizes})
    found = [
        NameMatch(name, closeness, _rest(wanted.words, words), same_sizes)
        for words in known.without_owner(common)
        if (closeness := _closeness(wanted.words, words)) is not None
    ]
    return min(found, key=lambda match: match.closeness, default=None)


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
    return set(accumulate(map(len, words)))


def _rest(wanted: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Return the words of what was asked for that a format's name doesn't have."""
    starts = accumulate(map(len, wanted), initial=0)
    length = len("".join(known))
    return tuple(word for word, start in zip(wanted, starts, strict=False) if start >= length)


def suggested(asked: str, names: Sequence[tuple[str, str]]) -> list[str]:
    """Return the few names that a person may have meant, the likeliest first."""
    known = [(name, ModelName.read(shown)) for name, shown in names]
    models = [model for _, model in known]
    common, usual = _endings(models, _SEVERAL), _usual(models)
    counts = Counter(word for model in models for word in {*model.words})
    wanted = _forms(ModelName.read(asked.rpartition("/")[2]).words, usual)
    ranks: dict[str, float] = {}
    for name, model in known:
        for words in model.without_owner(common):
            pairs = zip(wanted, _forms(words, usual), strict=True)
            ranks[name] = max(ranks.get(name, 0.0), *(_likeness(*pair, counts) for pair in pairs))
    least = max(_NEAR * max(ranks.values(), default=0), 1e-9)
    alike = sorted((-rank, name) for name, rank in ranks.items() if rank >= least)
    return [name for _, name in alike[:_MOST_SUGGESTED]]


def _forms(words: Sequence[str], usual: Container[str]) -> tuple[tuple[str, ...], tuple[str]]:
    """Return the words that tell something, once, and all in one: gptos is all but gpt-oss."""
    return tuple(word for word in dict.fromkeys(words) if word not in usual), ("".join(words),)


def _likeness(wanted: Sequence[str], known: Sequence[str], counts: Counter[str]) -> float:
    """Return how alike two names are by their words, from 0 to 1.

    The first word is the family's, and has to be shared; the rarer the others are among known
    names, the more they say.
    """
    if not (wanted and known) or not _alike(wanted[0], known[0], counts):
        return 0.0
    shared = [word for word in known if any(_alike(other, word, counts) for other in wanted)]

    def weight(words: Sequence[str]) -> float:
        return sum(1 / math.sqrt(1 + counts[word]) for word in words)

    return 2 * weight(shared) / (weight(wanted) + weight(known))


def _alike(word: str, other: str, known: Container[str]) -> bool:
    """Tell whether two words are one; a word that no name has may be a slip of the pen."""
    if word == other or word in known or not (_is_own(word) and _is_own(other)):
        return word == other
    return difflib.SequenceMatcher(None, word, other).ratio() >= _ALIKE
