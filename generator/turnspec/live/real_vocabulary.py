"""Vocabularies of real models: taken out of the pinned archive, read, and matched with formats."""

from __future__ import annotations

import itertools
import re
import struct
import tarfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from turnspec.sources.index import Origin
from turnspec.sources.text_files import sha256_of
from turnspec.spec.model import Literal, Spec
from turnspec.spec.problems import Problem
from turnspec.spec.turn_end import stop_strings

_TOKEN = re.compile(r"<[^<>\s]+>|\[[^\[\]\s]+\]")
_SPECIAL = (3, 4)  # the types of control tokens and of those that a model's makers added
_TOKENS, _TYPES = "tokenizer.ggml.tokens", "tokenizer.ggml.token_type"
_KEPT = "tokenizer.ggml."
_STRING, _ARRAY = 8, 9
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}  # bytes, by type


@dataclass(frozen=True, slots=True)
class Source:
    """Which vocabularies there are: an origin, a folder inside of it, and files by their hash."""

    origin: str
    folder: str
    files: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class RealVocabulary:
    """A vocabulary: how many tokens there are, the special ones, and a file's entries for it."""

    name: str
    token_count: int
    specials: frozenset[str]
    entries: tuple[bytes, ...]


@cache
def vocabulary_source() -> Source:
    """Return which vocabularies there are."""
    text = resources.files("turnspec.live").joinpath("vocabularies.yaml").read_text("utf-8")
    return Source(**yaml.safe_load(text))


def read_vocabularies(
    archive: Path, origin: Origin, folder: Path
) -> list[RealVocabulary] | Problem:
    """Return all vocabularies, taken out of the archive into a folder if they aren't there."""
    source = vocabulary_source()
    missing = {name for name in source.files if not (folder / name).is_file()}
    problem = _take_out(archive, origin, source, missing, folder) if missing else None
    if problem is not None:
        return problem
    return [read_vocabulary(folder / name) for name in source.files]


def _take_out(
    archive: Path, origin: Origin, source: Source, wanted: set[str], folder: Path
) -> Problem | None:
    top = f"{origin.file.removesuffix('.tar.gz')}/{source.folder}"
    places = {f"{top}/{name}": name for name in wanted}
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with tarfile.open(archive, "r|gz") as tar:
            for member in tar:
                name = places.pop(member.name, None) if member.isfile() else None
                found = tar.extractfile(member) if name else None
                if name and found:
                    data = found.read()
                    if sha256_of(data) != source.files[name]:
                        return Problem("isn't the vocabulary that is pinned", name)
                    (folder / f"{name}.part").write_bytes(data)
                    (folder / f"{name}.part").replace(folder / name)
                if not places:
                    return None
    except (tarfile.TarError, zlib.error, EOFError, OSError) as error:
        return Problem(f"cannot be unpacked: {error}", str(archive))
    return Problem(f"{origin.file} holds no {min(places.values())}", source.folder)


def read_vocabulary(path: Path) -> RealVocabulary:
    """Read a GGUF file's vocabulary; the file's hash is known to be right."""
    data = path.read_bytes()
    count = struct.unpack_from("<Q", data, 16)[0]
    entries: list[bytes] = []
    tokens: Sequence[str] = ()
    types: Sequence[int] = ()
    for key, start, value, end in _entries(data, count):
        if key.startswith(_KEPT):
            entries.append(data[start:end])
        if key == _TOKENS:
            tokens = list(_strings(data, value))
        if key == _TYPES:
            kind, size = struct.unpack_from("<IQ", data, value)
            types = struct.unpack_from(f"<{size}i", data, value + 12) if kind == 5 else ()
    marked = zip(tokens, types, strict=True) if types else ()
    specials = frozenset(token for token, kind in marked if kind in _SPECIAL)
    name = path.stem.removeprefix("ggml-vocab-")
    return RealVocabulary(name, len(tokens), specials, tuple(entries))


def _entries(data: bytes, count: int) -> Iterator[tuple[str, int, int, int]]:
    """Yield each entry's key, and where it begins, where its value does and where it ends."""
    at = 24
    for _ in range(count):
        start = at
        size = struct.unpack_from("<Q", data, at)[0]
        key = data[at + 8 : at + 8 + size].decode()
        kind = struct.unpack_from("<I", data, at + 8 + size)[0]
        value = at + 12 + size
        at = _end(data, kind, value)
        yield key, start, value, at


def _end(data: bytes, kind: int, at: int) -> int:
    """Return where a value ends."""
    if kind == _STRING:
        return at + 8 + int(struct.unpack_from("<Q", data, at)[0])
    if kind != _ARRAY:
        return at + _SIZES[kind]
    inner, count = struct.unpack_from("<IQ", data, at)
    at += 12
    if inner != _STRING:
        return at + _SIZES[inner] * int(count)
    read = struct.Struct("<Q").unpack_from
    for _ in range(count):
        at += 8 + read(data, at)[0]
    return at


def _strings(data: bytes, at: int) -> Iterator[str]:
    count = struct.unpack_from("<Q", data, at + 4)[0]
    at += 12
    for _ in range(count):
        size = struct.unpack_from("<Q", data, at)[0]
        yield data[at + 8 : at + 8 + size].decode("utf-8", "replace")
        at += 8 + size


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
    begun = (itertools.takewhile(lambda piece: isinstance(piece, Literal), way) for way in ways)
    texts = ("".join(piece.text for piece in way if isinstance(piece, Literal)) for way in begun)
    return all(any(token in text for token in vocabulary.specials) for text in texts)


def entry(key: str, value: str | int | float) -> bytes:
    """Return an entry of a GGUF file: a text, a number without a sign, or one with a point."""
    head = _text(key)
    if isinstance(value, str):
        return head + struct.pack("<I", _STRING) + _text(value)
    packed: tuple[Any, ...] = ("<If", 6, value) if isinstance(value, float) else ("<II", 4, value)
    return head + struct.pack(*packed)


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data
