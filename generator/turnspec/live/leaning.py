"""What random weights lack: an urge to leave free text, and a feeling for where markers belong.

It bends only what the model chooses; what may be chosen is for the grammar to say.
"""

from __future__ import annotations

import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from turnspec.grammar.text import trimmed
from turnspec.live.model import LiveModel
from turnspec.spec.model import Spec
from turnspec.spec.turn_end import stop_strings
from turnspec.spec.words import Part
from turnspec.verification.vocabulary import BEGIN_TOKEN, END_TOKEN

_PATIENCE = 40  # tokens within a word, after which any marker will do, and any of these signs
CLOSERS = "\"'`<>[](){}|"
_IN_IDS = [*b".:/"]  # what parts a word from the name that stands behind it in an id
_BYTES = 256  # tokens; special ones come behind them
_PER_TOKEN = 0.15  # how much stronger the urge gets with each token
_PER_TOKEN_OF_TURN = 0.04  # how much stronger the urge to end gets
_STRONGEST = 9.0
_GO_ON = 9.0  # within a marker
LETTERS = 2.0  # so that what is written can be looked at
WHITE_SPACE = -2.0  # a grammar allows it in many places
# Bytes that don't begin a character of UTF-8, or may be followed by what makes none; llama.cpp's
# grammars don't tell, and a model that has learnt to write wouldn't write them.
_NO_TEXT = (*range(0xC0, 0xC2), 0xE0, 0xED, 0xF0, *range(0xF4, 0x100))
_NOT_HERE = -9.0  # a marker that leads nowhere from free text; inside of values all may stand
_NOT_YET = -6.0  # what stops the model, inside of values: it cuts the turn off


@dataclass(slots=True)
class Leaning:
    """Bends what comes next towards markers, the more the longer none came."""

    markers: Sequence[Sequence[int]]
    end: int
    base: NDArray[np.float32]
    specials: Sequence[int]
    otherwise: Sequence[int]
    in_ids: Sequence[int] = ()
    written: list[int] = field(default_factory=list)
    waited: int = 0
    unbroken: int = 0
    in_call: bool = False

    @classmethod
    def towards(cls, spec: Spec, model: LiveModel, *, bytewise: bool = True) -> Leaning:
        """Return the leaning towards the markers of a format.

        ``bytewise`` is whether the first tokens are the bytes, and all others special.
        """
        markers = [_spelled(model, marker) for marker in dict.fromkeys(_markers(spec))]
        ends = [*filter(model.vocabulary.ends_turn, range(model.token_count))]
        base = np.zeros(model.token_count, dtype=np.float32)
        if bytewise:
            base[[ord(letter) for letter in string.ascii_letters]] = LETTERS
            base[[ord(blank) for blank in " \t\r\n"]] = WHITE_SPACE
            base[list(_NO_TEXT)] = -np.inf
        stops = [model.tokens(stop) for stop in stop_strings(spec)]
        base[[tokens[0] for tokens in stops if len(tokens) == 1]] = _NOT_YET
        end = model.vocabulary.specials[END_TOKEN]
        base[list(ends)] = -np.inf  # which of them belongs here random weights can't know
        base[end] = 0.0
        if not bytewise:
            return cls(markers, end, base, (), ())
        base[model.tokens(BEGIN_TOKEN)] = -np.inf
        specials = [n for n in range(_BYTES, model.token_count) if n not in ends]
        return cls(markers, end, base, specials, [*specials, *map(ord, CLOSERS)], _IN_IDS)

    def bent(self, logits: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return how likely each token is to follow what was taken so far."""
        bent = logits + self.base
        urge = min(self.waited * _PER_TOKEN, _STRONGEST)
        bent[self.end] += urge + len(self.written) * _PER_TOKEN_OF_TURN
        if self.unbroken > _PATIENCE:
            bent[[*self.otherwise, *self.in_ids]] += _STRONGEST
        elif not self.in_call:
            bent[list(self.specials)] += _NOT_HERE
        for marker in () if self.in_call else self.markers:
            begun = self._begun(marker)
            bent[marker[begun]] += _GO_ON if begun else urge
            bent[marker[begun]] -= _NOT_HERE if marker[begun] in self.specials else 0.0
        return bent

    def take(self, token: int) -> None:
        """Go on by a token."""
        self.written.append(token)
        tried = any(token == marker[0] for marker in self.markers)
        self.waited = 0 if tried else self.waited + 1
        self.unbroken = 0 if token in self.otherwise else self.unbroken + 1

    def _begun(self, marker: Sequence[int]) -> int:
        """Return how many of a marker's tokens stand at the end of what is written."""
        lengths = range(len(marker) - 1, 0, -1)
        return next((n for n in lengths if self.written[-n:] == list(marker[:n])), 0)


def _spelled(model: LiveModel, marker: str) -> Sequence[int]:
    """Return a marker's tokens, but bytes where llama.cpp would take one for the turn's end."""
    tokens = model.tokens(marker)
    return list(marker.encode()) if any(map(model.vocabulary.ends_turn, tokens)) else tokens


def _markers(spec: Spec) -> Iterator[str]:
    """Yield what leads out of reasoning and of content."""
    starts = {Part.REASONING: spec.reasoning.start, Part.CONTENT: spec.content.start}
    ends = {Part.REASONING: spec.reasoning.end, Part.CONTENT: spec.content.end}
    if spec.tools is not None:
        starts[Part.CALLS] = spec.tools.section_start or spec.tools.call[0].text
    joins = [join for join in spec.turn.joins if join.left in ends]
    found = [ends[join.left] + join.text + starts.get(join.right, "") for join in joins]
    found += [end + spec.final(part) for part, end in ends.items()]
    yield from filter(None, map(trimmed, found))
