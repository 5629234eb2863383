"""A turn as it is written, token by token, in pieces of text as an engine hands them on."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from turnspec.live.leaning import Leaning
from turnspec.live.model import LiveModel
from turnspec.live.sampling import Sampler
from turnspec.spec.problems import Problem


class Ending(StrEnum):
    """Why a turn is over."""

    TOKEN = "token"  # one that ends the turn
    STOP_STRING = "stop_string"
    LIMIT = "limit"  # of tokens
    DEAD_END = "dead_end"  # the grammar lets nothing through


@dataclass(slots=True)
class TurnWriter:
    """Writes one turn behind what the model has read; iterate over it for the pieces."""

    model: LiveModel
    sampler: Sampler
    stop: Sequence[str]
    limit: int  # of tokens
    lead: Sequence[int] = ()  # given, as weights that have learnt nothing don't find them
    leaning: Leaning | None = None
    ending: Ending | None = None
    count: int = 0
    problem: Problem | None = None

    def __iter__(self) -> Iterator[str]:
        """Write, and yield the text of each token; a character that isn't whole yet waits."""
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        longest = max(map(len, self.stop), default=0)
        tail = ""
        for token in self._tokens():
            piece = decoder.decode(self.model.piece(token))
            yield piece
            tail = tail[-longest:] + piece
            if any(stop in tail for stop in self.stop):
                self.ending = Ending.STOP_STRING
                break
        yield decoder.decode(b"", final=True)

    def faults(self) -> Iterator[str]:
        """Yield what kept the turn from being written to its end."""
        if self.problem is not None:
            yield str(self.problem)
        if self.ending is Ending.DEAD_END:
            yield "the grammar lets nothing through"

    def _tokens(self) -> Iterator[int]:
        logits = self.model.logits()
        lead = iter(self.lead)
        while self.count < self.limit:
            bent = logits if self.leaning is None else self.leaning.bent(logits)
            given = next(lead, None)
            token = self.sampler.pick(bent) if given is None else given
            if token is None or not (given is None or self.sampler.allows(given)):
                self.ending = Ending.DEAD_END
                return
            if self.model.vocabulary.ends_turn(token) and given is None:
                self.ending = Ending.TOKEN
                return
            self.sampler.take(token)
            if self.leaning is not None and given is None:
                self.leaning.take(token)
            self.count += 1
            yield token
            self.problem = self.model.read([token])
            if self.problem is not None:
                break
            logits = self.model.logits()
        self.ending = Ending.LIMIT
