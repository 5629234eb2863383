"""Environments of their own for the programs that read exports, under build/integrations."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.generated_formats import ROOT

FOLDER = ROOT / "build" / "integrations"
_NOTE = "installed.json"
_VERSIONS = """
import json, sys
from importlib.metadata import version
print(json.dumps({name: version(name) for name in sys.argv[1:]}))
"""


def environment(name: str, installs: Sequence[Sequence[str]]) -> Path:
    """Make an environment, or take the one that is there, and return the path of its Python.

    Each of ``installs`` is what one run of pip installs, options and packages.

    Raises:
        subprocess.CalledProcessError: something can't be installed.
    """
    folder = FOLDER / name
    python = folder / "bin" / "python"
    note, wanted = folder / _NOTE, json.dumps([list(packages) for packages in installs])
    if note.is_file() and note.read_text(encoding="utf-8") == wanted:
        return python
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    for packages in installs:
        subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
    note.write_text(wanted, encoding="utf-8")
    return python


def versions(python: Path, packages: Sequence[str]) -> dict[str, str]:
    """Return the versions of packages in an environment."""
    done = subprocess.run(
        [python, "-c", _VERSIONS, *packages], check=True, capture_output=True, text=True
    )
    found: dict[str, str] = json.loads(done.stdout)
    return found
