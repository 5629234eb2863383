"""Where the hub is, what token it gets, where what comes is kept: as its own client has it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from turnspec.sources.cache import cache_folder
from turnspec.spec.input_files import text_if_there

_ENDPOINT = "https://huggingface.co"
_TRUE = ("1", "ON", "YES", "TRUE")


@dataclass(frozen=True, slots=True)
class HubSettings:
    """What the hub's client reads of the environment.

    ``token`` is None where there is none, and ``token_file`` was looked into. ``cache`` is the
    client's own folder of models, ``heads`` ours, as the beginning of a file is no file.
    ``silence`` is how long a server may say nothing, ``patience`` how long all takes, in seconds.
    """

    endpoint: str
    token: str | None
    token_file: Path
    cache: Path
    heads: Path
    offline: bool = False
    silence: float = 10.0
    patience: float = 300.0


def hub_settings(given: Mapping[str, str] = os.environ) -> HubSettings:
    """Return the settings that environment variables give; a file with a token is read."""

    def chosen(*names: str, usual: str = "") -> str:
        return next((given[name] for name in names if given.get(name)), usual)

    def place(*names: str, usual: str) -> Path:
        return Path(os.path.expandvars(chosen(*names, usual=usual))).expanduser()

    def is_true(*names: str) -> bool:
        return chosen(*names).upper() in _TRUE

    home = place("HF_HOME", usual=f"{chosen('XDG_CACHE_HOME', usual='~/.cache')}/huggingface")
    token_file = place("HF_TOKEN_PATH", usual=f"{home}/token")
    token = chosen("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN") or text_if_there(token_file) or ""
    silence = chosen("HF_HUB_DOWNLOAD_TIMEOUT")
    return HubSettings(
        endpoint=chosen("HF_ENDPOINT", usual=_ENDPOINT).rstrip("/"),
        token=None if is_true("HF_HUB_DISABLE_IMPLICIT_TOKEN") else _header(token),
        token_file=token_file,
        cache=place("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", usual=f"{home}/hub"),
        heads=cache_folder() / "hub",
        offline=is_true("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"),
        silence=float(silence) if silence.isdecimal() and int(silence) else 10.0,
    )


def _header(token: str) -> str | None:
    """Return a token as a header can hold it, None of what is none."""
    plain = token.replace("\r", "").replace("\n", "").strip()
    return plain if plain.isascii() and plain.isprintable() and plain else None
