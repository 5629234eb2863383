"""The package indexes that the user's own pip settings name."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass

DEFAULT_INDEX = "https://pypi.org/simple/"
DEFAULT_TIMEOUT = 15.0

# Later sections win, as they do for `pip download`.
_SECTIONS = ("global", "download", ":env:")
_LINE = re.compile(r"^(?P<section>:env:|[\w-]+)\.(?P<key>[\w-]+)=(?P<value>.*)$")
_TRUE = ("1", "true", "yes", "on", "y", "t")


@dataclass(frozen=True, slots=True)
class PipSettings:
    """What of pip's settings matters for fetching one file. ``timeout`` is in seconds."""

    index_urls: tuple[str, ...] = (DEFAULT_INDEX,)
    find_links: tuple[str, ...] = ()
    trusted_hosts: tuple[str, ...] = ()
    cert: str | None = None
    client_cert: str | None = None
    proxy: str | None = None
    timeout: float = DEFAULT_TIMEOUT


def read_pip_settings() -> PipSettings:
    """Ask pip for its settings (files and PIP_* variables); without pip the variables alone."""
    variables = {
        name.removeprefix("PIP_").replace("_", "-").lower(): value
        for name, value in os.environ.items()
        if name.startswith("PIP_")
    }
    return settings_from(parse_pip_config(_pip_config_list()) or variables)


def parse_pip_config(listing: str) -> dict[str, str]:
    """Return the options that `pip config list` prints, each from the section that wins."""
    sections: dict[str, dict[str, str]] = {section: {} for section in _SECTIONS}
    for line in listing.splitlines():
        match = _LINE.match(line)
        if match and match["section"] in sections:
            sections[match["section"]][match["key"]] = _unquoted(match["value"])
    return {key: value for section in _SECTIONS for key, value in sections[section].items()}


def settings_from(options: Mapping[str, str]) -> PipSettings:
    """Build settings from pip's options by their long names, without the dashes in front."""
    indexes = [options.get("index-url") or DEFAULT_INDEX]
    indexes += options.get("extra-index-url", "").split()
    if options.get("no-index", "").lower() in _TRUE:
        indexes = []
    return PipSettings(
        index_urls=tuple(indexes),
        find_links=tuple(options.get("find-links", "").split()),
        trusted_hosts=tuple(options.get("trusted-host", "").split()),
        cert=options.get("cert") or None,
        client_cert=options.get("client-cert") or None,
        proxy=options.get("proxy") or None,
        timeout=_seconds(options.get("timeout") or options.get("default-timeout")),
    )


def _pip_config_list() -> str:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "config", "list"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def _unquoted(value: str) -> str:
    """Undo the repr() that pip prints values with."""
    try:
        return str(ast.literal_eval(value))
    except (ValueError, SyntaxError):
        return value


def _seconds(value: str | None) -> float:
    try:
        return float(value) if value else DEFAULT_TIMEOUT
    except ValueError:
        return DEFAULT_TIMEOUT
