"""A tiny model over a real vocabulary: its tokens are a real model's, its weights are random."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
from gguf import GGUFValueType

from turnspec.live.leaning import CLOSERS, LETTERS, WHITE_SPACE, Leaning
from turnspec.live.model import LiveModel
from turnspec.live.real_vocabulary import RealVocabulary
from turnspec.live.tiny_model import VERSION, begun_model, finish_model, weights
from turnspec.spec.atomic import replacing
from turnspec.spec.model import Spec

_TOKENS_AT_ONCE = 500  # that may well come in one turn; the others only where nothing else may
_PARTS_OF_MARKERS = 200  # tokens with signs that markers have, among those
_RARE = -8.0


def real_model(vocabulary: RealVocabulary, folder: Path) -> Path:
    """Return the model over a vocabulary, written into the folder if it isn't there."""
    path = folder / f"tiny-{vocabulary.name}-{VERSION}.gguf"
    if not path.is_file():
        with replacing(path) as written:
            _write(written, vocabulary)
    return path


def _write(path: Path, vocabulary: RealVocabulary) -> None:
    writer = begun_model(path)
    for key, value, kind, inner in vocabulary.entries:
        elements = None if inner is None else GGUFValueType(inner)
        writer.add_key_value(key, value, GGUFValueType(kind), elements)
    # Without weights of its own the output has those of the tokens.
    tensors = [t for t in weights(vocabulary.token_count) if t[0] != "output.weight"]
    halves = ((name, v.astype(np.float16) if v.ndim > 1 else v) for name, v in tensors)
    finish_model(writer, halves)


class RealTokens:
    """What is to be known of a vocabulary's tokens for a format: what each of them writes."""

    def __init__(self, spec: Spec, model: LiveModel, vocabulary: RealVocabulary) -> None:
        self.spec, self.model = spec, model
        texts = [_text(model.piece(token)) for token in range(model.token_count)]
        is_special = [text in vocabulary.specials for text in texts]
        own = {*spec.grammar.preserved_tokens}
        numbered = list(enumerate(zip(texts, is_special, strict=True)))
        self.never = [n for n, (text, special) in numbered if text is None or special]
        self.specials = [n for n, (text, special) in numbered if special and text in own]
        self.plain = [n for n, (text, special) in numbered if text and not special]
        signs = {sign for marker in own for sign in marker if not sign.isalnum()}
        self.signed = [n for n in self.plain if signs & set(texts[n] or "")]
        self.letters = [n for n in self.plain if (texts[n] or "").strip().isalpha()]
        self.blank = [n for n in self.plain if not (texts[n] or "").strip()]
        self.blank_lengths = np.array([len(texts[n] or "") for n in self.blank], dtype=np.float32)
        self.closers = [n for n in self.plain if (texts[n] or "") in CLOSERS]

    def leaning(self, seed: int) -> Leaning:
        """Return a leaning towards the format's markers, and to some hundred tokens of all."""
        leaning = Leaning.towards(self.spec, self.model, bytewise=False)
        random, base = Random(seed), leaning.base
        usual = random.sample(self.plain, min(_TOKENS_AT_ONCE, len(self.plain)))
        usual += random.sample(self.signed, min(_PARTS_OF_MARKERS, len(self.signed)))
        base[self.letters] += LETTERS
        # Vocabularies have tokens of up to a hundred blanks, and a grammar allows them all.
        base[self.blank] += WHITE_SPACE * self.blank_lengths
        rare = np.ones(self.model.token_count, dtype=bool)
        rare[[*usual, *self.specials, leaning.end]] = False
        base[rare] += _RARE
        base[[n for n in self.never if n not in {*self.specials, leaning.end}]] = -np.inf
        leaning.specials = self.specials
        leaning.otherwise = [*self.specials, *self.closers]
        return leaning


def _text(data: bytes) -> str | None:
    """Return what a token writes; None if that is only a part of a character."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None
