"""Pages with transcripts: their commands are run, and what is printed is put in their place."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.conftest import ROOT
from tests.fake_hub import FakeHub

_BLOCK = re.compile(r"^```console\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
_HUB = "https://huggingface.co"
_OFFLINE = {"HF_HUB_OFFLINE": "1"}
_AUTHOR = {"NAME": "Somebody", "EMAIL": "somebody@example.org"}


def put_on_path(folder: Path) -> None:
    """Write a command turnspec into a folder, which runs the one that is tested."""
    command = folder / "turnspec"
    command.parent.mkdir(parents=True, exist_ok=True)
    line = f'exec {shlex.quote(sys.executable)} -m turnspec "$@"'
    command.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
    command.chmod(0o755)


def transcript(page: str, folder: Path, programs: Path, hub: FakeHub | None = None) -> str:
    """Return a page with what its commands print now, the blanks at the ends of lines aside.

    A block's commands are run one after the other, the first of the page in ``folder``; ``cd`` is
    obeyed. What is installed (``pip install``) is for other tests. ``hub`` stands for the real one.
    """
    places = [folder]

    def printed(line: str) -> str:
        command = line.removeprefix("$ ")
        if command.startswith("cd "):
            places.append((places[-1] / command.removeprefix("cd ")).resolve())
        elif not command.startswith("pip install "):
            text = _run(command, places[-1], programs, hub.environment() if hub else _OFFLINE)
            return f"{line}\n{text.replace(hub.url, _HUB) if hub else text}"
        return f"{line}\n"

    return _BLOCK.sub(lambda block: _renewed(block.group(1), printed), page)


def _renewed(block: str, printed: Callable[[str], str]) -> str:
    commands = [line for line in block.splitlines() if line.startswith("$ ")]
    return "```console\n" + "".join(map(printed, commands)) + "```\n"


def _run(command: str, folder: Path, programs: Path, hub: Mapping[str, str]) -> str:
    people = {
        f"GIT_{who}_{key}": value
        for who in ("AUTHOR", "COMMITTER")
        for key, value in _AUTHOR.items()
    }
    done = subprocess.run(
        ["sh", "-c", f"{{ {command}\n}} 2>&1"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=200,
        env={
            "PATH": f"{programs}:/usr/bin:/bin",
            "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'generator'}",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "HF_HOME": str(programs.parent / "huggingface"),
            **hub,
            **people,
        },
    )
    return re.sub(r" +$", "", done.stdout, flags=re.MULTILINE)
