"""Vocabularies of real models: taken out of the pinned archive, read, and matched with formats."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from turnspec.sources.gguf_metadata import open_metadata
from turnspec.sources.index import Origin
from turnspec.sources.package_files import UNREADABLE, sdist_files
from turnspec.sources.text_files import sha256_of
from turnspec.sources.tokenizer_lists import GGUF_TOKENS, GGUF_TYPES
from turnspec.spec.atomic import replacing
from turnspec.spec.calls import Literal
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem
from turnspec.spec.turn_end import stop_strings

_TOKEN = re.compile(r"<[^<>\s]+>|\[[^\[\]\s]+\]")
_SPECIAL = (3, 4)  # the types of control tokens and of those that a model's makers added
_KEPT = "tokenizer.ggml."
#: How large a vocabulary may be, and all of the archive, in bytes.
_LIMITS = (2**26, 2**30)


@dataclass(frozen=True, slots=True)
class Source:
    """Which vocabularies there are: an origin, a folder inside of it, and files by their hash."""

    origin: str
    folder: str
    files: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class RealVocabulary:
    """A vocabulary: how many tokens there are, the special ones, and a file's entries for it.

    Each entry is its key, its value, and GGUF's types of that and of the elements in it.
    """

    name: str
    token_count: int
    specials: frozenset[str]
    entries: tuple[tuple[str, Any, int, int | None], ...]


@cache
def vocabulary_source() -> Source:
    """Return which vocabularies there are."""
    text = resources.files("turnspec.live").joinpath("vocabularies.yaml").read_text("utf-8")
    return Source(**yaml.safe_load(text))


def read_vocabularies(archive: Path, origin: Origin, into: Path) -> list[RealVocabulary] | Problem:
    """Return all vocabularies, taken out of the archive into a folder if they aren't there."""
    source = vocabulary_source()
    missing = {name for name in source.files if not (into / name).is_file()}
    problem = _take_out(archive, origin, source, missing, into) if missing else None
    if problem is not None:
        return problem
    return [read_vocabulary(into / name) for name in source.files]


def _take_out(
    archive: Path, origin: Origin, source: Source, wanted: set[str], folder: Path
) -> Problem | None:
    places = {f"{source.folder}/{name}": folder / name for name in wanted}
    try:
        for place, data in sdist_files(archive, origin, places, _LIMITS):
            path = places.pop(place)
            if sha256_of(data) != source.files[path.name]:
                return Problem("isn't the vocabulary that is pinned", path.name)
            with replacing(path) as written:
                written.write_bytes(data)
    except UNREADABLE as error:
        return Problem(f"cannot be unpacked: {error}", str(archive))
    missing = min((path.name for path in places.values()), default="")
    return Problem(f"{origin.file} holds no {missing}", source.folder) if missing else None


def read_vocabulary(path: Path) -> RealVocabulary:
    """Read a GGUF file's vocabulary; the file's hash is known to be right."""
    with open_metadata(path) as metadata:
        tokens, types = tuple(metadata.texts(GGUF_TOKENS)), metadata.numbers(GGUF_TYPES)
        marked = zip(tokens, types, strict=True) if types else ()
        kept = [key for key in metadata.keys if key.startswith(_KEPT)]
        return RealVocabulary(
            path.stem.removeprefix("ggml-vocab-"),
            len(tokens),
            frozenset(token for token, kind in marked if kind in _SPECIAL),
            tuple((key, *metadata.typed(key)) for key in kept),
        )


def vocabulary_of(spec: Spec, known: Iterable[RealVocabulary]) -> RealVocabulary | None:
    """Return the vocabulary of a format's family; None if there is none.

    It is the first that holds all markers of the assistant's header, and one that ends a turn.
    """
    header = set(_TOKEN.findall(spec.turn.header))
    stops = {token for stop in stop_strings(spec) for token in _TOKEN.findall(stop)}
    if not header:
        return None
    return next((v for v in known if header <= v.specials and stops & v.specials), None)


def marker_tokens(spec: Spec, vocabulary: RealVocabulary) -> tuple[list[str], list[str]]:
    """Return which of a format's preserved tokens a vocabulary has, and which it lacks."""
    known = spec.grammar.preserved_tokens
    return (
        [token for token in known if token in vocabulary.specials],
        [token for token in known if token not in vocabulary.specials],
    )


def begins_with_token(spec: Spec, vocabulary: RealVocabulary) -> bool:
    """Say whether no call of a format begins without a special token of a vocabulary."""
    if spec.tools is None:
        return False
    ways = ((Literal(spec.tools.section_start), *spec.tools.call), *spec.alternatives.calls)
    begun = (itertools.takewhile(lambda piece: not piece.kind, way) for way in ways)
    texts = ("".join(piece.text for piece in way) for way in begun)
    return all(any(token in text for token in vocabulary.specials) for text in texts)
