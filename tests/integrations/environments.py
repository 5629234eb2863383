"""Environments of their own for the programs that read exports, under build/integrations.

All that is in one is pinned in ``pins/NAME.txt``. Without that file what fits is installed, and the
file is written: to renew an environment, delete it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.generated_formats import ROOT

FOLDER = ROOT / "build" / "integrations"
PINS = Path(__file__).parent / "pins"
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
    folder, pins = FOLDER / name, PINS / f"{name}.txt"
    python, note = folder / "bin" / "python", folder / _NOTE
    wanted = _asked(pins, installs)
    if note.is_file() and note.read_text(encoding="utf-8") == wanted:
        return python
    if folder.is_symlink():
        sys.exit(f"{folder} is a link and does not fit: remove it, and it is made anew")
    subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
    pinned = ["--constraint", str(pins)] if pins.is_file() else []
    for packages in installs:
        subprocess.run([python, "-m", "pip", "install", "--quiet", *pinned, *packages], check=True)
    if not pinned:
        pins.write_text(_installed(python), encoding="utf-8")
    note.write_text(_asked(pins, installs), encoding="utf-8")
    return python


def _asked(pins: Path, installs: Sequence[Sequence[str]]) -> str:
    pinned = pins.read_text(encoding="utf-8") if pins.is_file() else ""
    return json.dumps([pinned, *map(list, installs)])


def _installed(python: Path) -> str:
    """Return what is installed, without which build of a version it is."""
    done = subprocess.run(
        [python, "-m", "pip", "freeze"], check=True, capture_output=True, text=True
    )
    return "".join(f"{line.partition('+')[0]}\n" for line in done.stdout.splitlines())


def megabytes() -> int:
    """Return how much room the environments take, and what was built beside them."""
    return sum(path.lstat().st_size for path in FOLDER.rglob("*") if not path.is_dir()) // 1_000_000


def versions(python: Path, packages: Sequence[str]) -> dict[str, str]:
    """Return the versions of packages in an environment, in the order that records have."""
    done = subprocess.run(
        [python, "-c", _VERSIONS, *packages], check=True, capture_output=True, text=True
    )
    found: dict[str, str] = json.loads(done.stdout)
    return dict(sorted(found.items()))
