"""A small vocabulary: bytes, a format's special tokens, and the merges that its texts call for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from benchmarks.learned_formats.model_file import Vocabulary
from turnspec.analysis.text import markers
from turnspec.spec.model import Spec
from turnspec.spec.turn_end import stop_strings
from turnspec.verification.vocabulary import shown_bytes

# How tokenizers of this kind part words before they merge, as far as these texts need it.
_WORD = re.compile(r" ?[A-Za-z]+| ?[0-9]+| ?[^\sA-Za-z0-9]+|\s+(?!\S)|\s")


def new_vocabulary(spec: Spec, texts: Sequence[str], merges: int) -> Vocabulary:
    """Return a vocabulary for a format and texts in it."""
    specials, stops = special_tokens(spec), stop_strings(spec)
    # A stop string of several markers is no token that ends a text, where there are others.
    single = tuple(stop for stop in stops if len(list(markers(stop))) < 2)
    return Vocabulary(specials, single or stops, learn_merges(texts, specials, merges))


def special_tokens(spec: Spec) -> tuple[str, ...]:
    """Return what is one token: what has to be preserved, stops, and the header's marks."""
    own = (*spec.grammar.preserved_tokens, *stop_strings(spec), *markers(spec.turn.header))
    return tuple(dict.fromkeys(own))


def learn_merges(
    texts: Iterable[str], specials: Iterable[str], count: int
) -> list[tuple[str, str]]:
    """Return the pairs that byte-pair encoding merges, the first ones first."""
    words = Counter(word for text in texts for word in _words(text, specials))
    parted = {word: list(word) for word in words}
    merges: list[tuple[str, str]] = []
    for _ in range(count):
        pairs: Counter[tuple[str, str]] = Counter()
        for word, parts in parted.items():
            for pair in pairwise(parts):
                pairs[pair] += words[word]
        if not pairs:
            break
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        merges.append(best)
        parted = {word: _merged(parts, best) for word, parts in parted.items()}
    return merges


def _words(text: str, specials: Iterable[str]) -> Iterator[str]:
    """Yield the words of a text in the letters that stand for their bytes."""
    letters = shown_bytes()
    between = re.compile("|".join(map(re.escape, sorted(specials, key=len, reverse=True))))
    for part in between.split(text):
        for word in _WORD.findall(part):
            yield "".join(letters[byte] for byte in word.encode())


def _merged(parts: Sequence[str], pair: tuple[str, str]) -> list[str]:
    found: list[str] = []
    for part in parts:
        if found and (found[-1], part) == pair:
            found[-1] += part
        else:
            found.append(part)
    return found
