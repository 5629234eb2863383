"""Reading chat templates and special tokens from a GGUF file's header; tensors stay untouched."""

from __future__ import annotations

from pathlib import Path

from gguf import GGUFReader, Keys, ReaderField

from turnspec.sources.named_texts import NamedTexts
from turnspec.spec.problems import Problem

_MAIN = Keys.Tokenizer.CHAT_TEMPLATE
_NAMED = Keys.Tokenizer.CHAT_TEMPLATE_N.format(name="")
_NAMES = Keys.Tokenizer.CHAT_TEMPLATES
# What the reader raises for a file that ends early or holds garbage.
_DAMAGE = (ValueError, IndexError, KeyError, TypeError, OverflowError, MemoryError)


def read_gguf(path: Path) -> tuple[NamedTexts, list[Problem]]:
    """Return a GGUF file's templates by name (``default`` for the main one), and its tokens.

    A file without any is no problem here.
    """
    nothing = NamedTexts({}, {})
    try:
        reader = GGUFReader(path)
        texts = _templates(reader)
        bos, eos = (_token(reader, key) for key in (Keys.Tokenizer.BOS_ID, Keys.Tokenizer.EOS_ID))
        adds_bos = _flag(reader, Keys.Tokenizer.ADD_BOS)
        adds_eos = _flag(reader, Keys.Tokenizer.ADD_EOS)
    except OSError as error:
        return nothing, [Problem(f"cannot be read: {error.strerror}", str(path))]
    except _DAMAGE as error:
        reason = f"not a GGUF file, or a truncated one: {error}"
        return nothing, [Problem(reason, str(path))]
    sources = dict.fromkeys(texts, path.name)
    missing = "" if texts else f"holds no chat template ({_MAIN})"
    return NamedTexts(texts, sources, bos, eos, adds_bos, adds_eos, missing), []


def _templates(reader: GGUFReader) -> dict[str, str]:
    texts: dict[str, str] = {}
    main = reader.get_field(_MAIN)
    if main is not None:
        texts["default"] = _text(main)
    names = reader.get_field(_NAMES)
    for name in names.contents() if names is not None else []:
        field = reader.get_field(f"{_NAMED}{name}")
        if field is None:
            raise ValueError(f"{_NAMES} lists {name}, but {_NAMED}{name} is not there")
        texts[name] = _text(field)
    further = (key for key in reader.fields if key.startswith(_NAMED))
    return texts | {key.removeprefix(_NAMED): _text(reader.fields[key]) for key in further}


def _text(field: ReaderField) -> str:
    """Return a string field; the reader itself doesn't notice that the file ends inside it."""
    length, data = field.parts[-2], field.parts[-1]
    if int(length[0]) != len(data):
        raise ValueError(f"the file ends inside {field.name}")
    return str(field.contents())


def _token(reader: GGUFReader, key: str) -> str | None:
    """Return the text of the token whose number ``key`` holds."""
    number, tokens = reader.get_field(key), reader.get_field(Keys.Tokenizer.LIST)
    if number is None or tokens is None:
        return None
    position = int(number.contents())
    return str(tokens.contents(position)) if position < len(tokens.data) else None


def _flag(reader: GGUFReader, key: str) -> bool:
    field = reader.get_field(key)
    return field is not None and bool(field.contents())
