"""Which of pip's settings are honoured."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from turnspec.sources.pip_settings import (
    DEFAULT_INDEX,
    PipSettings,
    parse_pip_config,
    read_pip_settings,
    settings_from,
)


def test_the_environment_wins_over_download_over_global() -> None:
    listing = "\n".join(
        [
            ":env:.cert='/env.pem'",
            "download.cert='/download.pem'",
            "download.index-url='https://download.example/simple'",
            "global.cert='/global.pem'",
            "global.extra-index-url='https://a.example/simple\\nhttps://b.example/simple'",
            "install.trusted-host='not.for.downloads'",
            "a line of another kind",
        ]
    )
    assert settings_from(parse_pip_config(listing)) == PipSettings(
        index_urls=(
            "https://download.example/simple",
            "https://a.example/simple",
            "https://b.example/simple",
        ),
        cert="/env.pem",
    )


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ({}, PipSettings(index_urls=(DEFAULT_INDEX,))),
        ({"no-index": "true", "find-links": "a b"}, PipSettings((), ("a", "b"))),
        ({"no-index": "false"}, PipSettings((DEFAULT_INDEX,))),
        ({"timeout": "3", "proxy": "http://p:1"}, PipSettings(timeout=3, proxy="http://p:1")),
        ({"default-timeout": "180"}, PipSettings(timeout=180)),
        ({"timeout": "soon"}, PipSettings()),
        (
            {"trusted-host": "a b", "client-cert": "c"},
            PipSettings(trusted_hosts=("a", "b"), client_cert="c"),
        ),
    ],
)
def test_options_become_settings(options: dict[str, str], settings: PipSettings) -> None:
    assert settings_from(options) == settings


def test_pip_itself_is_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    config = tmp_path / "pip.conf"
    config.write_text("[global]\nindex-url = https://a.example/simple\nfind-links = /wheels\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(config))
    monkeypatch.setenv("PIP_TRUSTED_HOST", "a.example")
    settings = read_pip_settings()
    assert "https://a.example/simple" in settings.index_urls
    assert settings.find_links == ("/wheels",)
    assert settings.trusted_hosts == ("a.example",)


def test_without_pip_the_variables_count(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_INDEX_URL", "https://a.example/simple")
    monkeypatch.setattr("sys.executable", "/nonexistent/python")
    assert read_pip_settings() == PipSettings(index_urls=("https://a.example/simple",))
