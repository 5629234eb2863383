"""The special tokens that a tokenizer's own lists name: of a model's folder, or of a GGUF file.

Lists are anybody's text: what isn't as expected in them is passed over, and the rest is bounded.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from turnspec.sources.gguf_metadata import Metadata
from turnspec.spec.model import Tokenizer

#: How many tokens are kept of each kind, and how long one may be: as schema.json says it.
MOST_SPECIAL_TOKENS, MOST_END_TOKENS, LONGEST_TOKEN = 64, 16, 100
#: How many tokens that differ by their numbers alone may mean something; more are free places.
MOST_NUMBERED = 8

GGUF_TOKENS, GGUF_TYPES = "tokenizer.ggml.tokens", "tokenizer.ggml.token_type"
_CONTROL = 3
_GGUF_ENDS = tuple(f"tokenizer.ggml.{end}_token_id" for end in ("eos", "eot", "eom"))

Json = Mapping[str, object]


def folder_tokenizer(
    config: Json, token_map: Json, generation: Json, origin: str
) -> Tokenizer | None:
    """Return the tokens of a model's folder, None if it names none.

    ``config`` is what its tokenizer_config.json holds, ``token_map`` its special_tokens_map.json,
    ``generation`` its generation_config.json; ``origin`` is what the list is called.
    """
    decoder = config.get("added_tokens_decoder")
    added = decoder if isinstance(decoder, Mapping) else {}
    flagged = [row for row in added.values() if isinstance(row, Mapping) and row.get("special")]
    given = {**token_map, **config}
    named = [value for key, value in given.items() if key.endswith("_token")]
    further = (given.get(f"{kind}_special_tokens") for kind in ("additional", "extra"))
    numbers = _items(generation.get("eos_token_id"))
    ends = [given.get("eos_token"), *(added.get(str(number)) for number in numbers)]
    lists = (*flagged, *named, *(value for values in further for value in _items(values)))
    return _tokenizer(origin, map(token_text, lists), map(token_text, ends))


def gguf_tokenizer(metadata: Metadata) -> Tokenizer | None:
    """Return the tokens of a GGUF file: those that control, and those that end a turn."""
    kinds = metadata.numbers(GGUF_TYPES)
    special = {number for number, kind in enumerate(kinds) if kind == _CONTROL}
    ends = {metadata.scalar(key) for key in _GGUF_ENDS}
    texts = {
        number: text
        for number, text in enumerate(metadata.texts(GGUF_TOKENS))
        if number in special or number in ends
    }
    ending = [text for number, text in texts.items() if number in ends]
    return _tokenizer(GGUF_TOKENS, texts.values(), ending)


def token_text(token: object) -> str | None:
    """Return the text of a token as such files write it, None of anything else."""
    match token:
        case str(text) | {"content": str(text)}:
            return text
        case _:
            return None


def _items(value: object) -> Iterable[object]:
    """Return the elements of a list, the values of an object, or the one value."""
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list) else [value]


def _tokenizer(
    origin: str, special: Iterable[str | None], ends: Iterable[str | None]
) -> Tokenizer | None:
    ending = [*_usable(ends)][:MOST_END_TOKENS]
    others = [text for text in _usable(special) if text not in ending][:MOST_SPECIAL_TOKENS]
    return Tokenizer(origin, tuple(others), tuple(ending)) if others or ending else None


def _usable(tokens: Iterable[str | None]) -> Iterator[str]:
    """Yield what can be a marker, each text once: no free places, nothing that nobody sees."""
    texts = [text for text in dict.fromkeys(tokens) if text and _is_marker(text)]
    kinds = [re.sub(r"\d+", "0", text) for text in texts]
    counts = Counter(kinds)
    return (text for text, kind in zip(texts, kinds, strict=True) if counts[kind] <= MOST_NUMBERED)


def _is_marker(text: str) -> bool:
    """Tell whether a token is told from other text: by two signs, a letter or digit, no blank."""
    signs = sum(not character.isalnum() for character in text)
    is_plain = text.isprintable() and not any(character in " {}" for character in text)
    return is_plain and len(text) <= LONGEST_TOKEN and 2 <= signs < len(text)
