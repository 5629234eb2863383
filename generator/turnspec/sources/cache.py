"""The folder in which downloads, and what is made from them, are kept."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

#: The environment variable that moves the folder.
CACHE_VARIABLE = "TURNSPEC_CACHE"


def cache_folder() -> Path:
    """Return the folder downloads are kept in: $TURNSPEC_CACHE, or the user's cache folder."""
    chosen = os.environ.get(CACHE_VARIABLE)
    return Path(chosen) if chosen else platformdirs.user_cache_path("turnspec", appauthor=False)
