"""The environment of its own that canitoolcall gets: build/conformance."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from turnspec.spec.problems import Problem

#: The suite, and what finding formats needs that it doesn't bring.
REQUIREMENT = "canitoolcall==0.1.1 platformdirs>=4.3 pyyaml>=6.0.2"


def prepared(folder: Path, requirement: str = REQUIREMENT) -> Path | Problem:
    """Return the Python that has canitoolcall, installed into ``folder`` unless it is there.

    pip's own settings (index, proxy, certificates) hold. What was installed once needs no network.
    """
    python = folder / "bin" / "python"
    stamp = folder / ".installed"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == requirement and python.exists():
        return python
    shutil.rmtree(folder, ignore_errors=True)
    pip = [sys.executable, "-m", "pip", "--python", str(python)]
    commands = (
        [sys.executable, "-m", "venv", "--without-pip", str(folder)],
        [*pip, "install", "--quiet", *requirement.split()],
    )
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            reason = _reason(done.stderr or done.stdout)
            return Problem(
                f"{requirement} can't be installed into {folder}: {reason}; "
                "the first run needs a package index, later ones need none"
            )
    stamp.write_text(requirement, encoding="utf-8")
    return python


def _reason(told: str) -> str:
    """Return what pip gives as its reason, in one line."""
    lines = [line.strip() for line in told.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")]
    return (errors or lines or ["no reason given"])[-1].removeprefix("ERROR: ")
