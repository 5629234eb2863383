"""Where the hub is, what token it gets, where what comes is kept: as its own client has it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from turnspec.sources.cache import cache_folder

_ENDPOINT = "https://huggingface.co"
_TRUE = ("1", "ON", "YES", "TRUE")
_SECONDS_OF_SILENCE = 10.0


@dataclass(frozen=True, slots=True)
class HubSettings:
    """What its client reads of the environment.

    ``cache`` is the client's own folder of models, ``heads`` ours, as the beginning of a file is
    no file. ``silence`` is how long the hub may say nothing, ``patience`` how long all takes, both
    in seconds. ``token`` is None where there is none; ``token_place`` says where it was looked for.
    """

    endpoint: str = _ENDPOINT
    token: str | None = None
    token_place: str = "HF_TOKEN"
    cache: Path = Path()
    heads: Path = Path()
    offline: bool = False
    silence: float = _SECONDS_OF_SILENCE
    patience: float = 300.0


def hub_settings(given: Mapping[str, str] = os.environ) -> HubSettings:
    """Return the settings by environment variables; a file with a token is read."""
    usual = Path(given.get("XDG_CACHE_HOME") or "~/.cache", "huggingface")
    home = _path(given.get("HF_HOME") or str(usual))
    cache = given.get("HF_HUB_CACHE") or given.get("HUGGINGFACE_HUB_CACHE") or str(home / "hub")
    token_file = _path(given.get("HF_TOKEN_PATH") or str(home / "token"))
    offline = given.get("HF_HUB_OFFLINE") or given.get("TRANSFORMERS_OFFLINE")
    token = None if _is_true(given.get("HF_HUB_DISABLE_IMPLICIT_TOKEN")) else _token(given)
    if token is None and not _is_true(given.get("HF_HUB_DISABLE_IMPLICIT_TOKEN")):
        token = _token_in(token_file)
    return HubSettings(
        endpoint=(given.get("HF_ENDPOINT") or _ENDPOINT).rstrip("/"),
        token=token,
        token_place=f"HF_TOKEN, or {token_file}",
        cache=_path(cache),
        heads=cache_folder() / "hub",
        offline=_is_true(offline),
        silence=_seconds(given.get("HF_HUB_DOWNLOAD_TIMEOUT")),
    )


def _token(given: Mapping[str, str]) -> str | None:
    found = given.get("HF_TOKEN") or given.get("HUGGING_FACE_HUB_TOKEN") or ""
    return _one_line(found)


def _token_in(file: Path) -> str | None:
    try:
        return _one_line(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None


def _one_line(token: str) -> str | None:
    """Return a token as a header can hold it, None of what is none."""
    plain = token.replace("\r", "").replace("\n", "").strip()
    return plain if plain.isascii() and plain.isprintable() and plain else None


def _path(text: str) -> Path:
    return Path(os.path.expandvars(text)).expanduser()


def _is_true(value: str | None) -> bool:
    return (value or "").upper() in _TRUE


def _seconds(value: str | None) -> float:
    return float(value) if value and value.isdecimal() and int(value) else _SECONDS_OF_SILENCE
