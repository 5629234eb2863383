"""Chat templates, special tokens and the model's name from a GGUF file's metadata."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from turnspec.sources.gguf_metadata import DamagedFileError, Metadata, open_metadata
from turnspec.sources.named_texts import NamedTexts
from turnspec.sources.tokenizer_lists import GGUF_TOKENS, gguf_tokenizer
from turnspec.spec.os_reasons import reason
from turnspec.spec.problems import Problem

_MAIN = "tokenizer.chat_template"
_NAMED = f"{_MAIN}."
_NAMES = "tokenizer.chat_templates"
_NAME = "general.name"
#: What a model is called where it has no name: these, as far as they are there.
_NAME_PARTS = ("general.basename", "general.size_label", "general.finetune", "general.version")


def read_gguf(path: Path) -> tuple[NamedTexts, list[Problem]]:
    """Return a GGUF file's templates by name (``default`` for the main one), tokens and name.

    A file without any is no problem here.
    """
    nothing = NamedTexts({}, {})
    try:
        with open_metadata(path) as metadata:
            return _named_texts(metadata, path.name), []
    except OSError as error:
        return nothing, [Problem(reason(error), str(path))]
    except DamagedFileError as error:
        told = f"not a GGUF file, or a truncated one: {error}"
        return nothing, [Problem(told, str(path))]


def _named_texts(metadata: Metadata, file: str) -> NamedTexts:
    texts = _templates(metadata)
    return NamedTexts(
        texts,
        dict.fromkeys(texts, file),
        _token(metadata, "tokenizer.ggml.bos_token_id"),
        _token(metadata, "tokenizer.ggml.eos_token_id"),
        metadata.scalar("tokenizer.ggml.add_bos_token") is True,
        metadata.scalar("tokenizer.ggml.add_eos_token") is True,
        "" if texts else f"holds no chat template ({_MAIN})",
        _model_name(metadata),
        gguf_tokenizer(metadata),
    )


def _templates(metadata: Metadata) -> dict[str, str]:
    texts: dict[str, str] = {}
    main = metadata.text(_MAIN)
    if main is not None:
        texts["default"] = main
    for name in metadata.texts(_NAMES):
        text = metadata.text(f"{_NAMED}{name}")
        if text is None:
            raise DamagedFileError(f"{_NAMES} lists {name}, but {_NAMED}{name} is not there")
        texts[name] = text
    further = (key for key in metadata.keys if key.startswith(_NAMED))
    return texts | {
        key.removeprefix(_NAMED): text
        for key in further
        if (text := metadata.text(key)) is not None
    }


def _token(metadata: Metadata, key: str) -> str | None:
    """Return the text of the token whose number ``key`` holds."""
    number = metadata.scalar(key)
    if not isinstance(number, int) or number < 0:
        return None
    return next(islice(metadata.texts(GGUF_TOKENS), number, None), None)


def _model_name(metadata: Metadata) -> str:
    """Return what the file calls its model, or ""."""
    name = metadata.text(_NAME)
    if name and name.strip():
        return name.strip()
    parts = (metadata.text(key) for key in _NAME_PARTS)
    return "-".join(part.strip() for part in parts if part and part.strip())
