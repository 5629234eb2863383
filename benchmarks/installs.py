"""turnspec built and installed as users do, in environments that hold nothing else.

Needs a package index, or pip's cache, for what turnspec depends on.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import venv
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
_TIMEOUT = 280  # seconds


class InstallError(Exception):
    """Building or installing came to nothing; the message is what was said last."""


@dataclass(frozen=True, slots=True)
class Environment:
    """An environment without pip, in which something was installed."""

    folder: Path

    @classmethod
    def create(cls, folder: Path) -> Environment:
        """Make an environment that holds nothing."""
        venv.create(folder, with_pip=False, symlinks=os.name != "nt")
        return cls(folder)

    @property
    def programs(self) -> Path:
        """The folder of its programs."""
        return self.folder / ("Scripts" if os.name == "nt" else "bin")

    @property
    def packages(self) -> Path:
        """The folder of its packages."""
        (found,) = self.folder.glob("[Ll]ib/**/site-packages")
        return found

    def install(self, *what: str) -> None:
        """Install with this Python's pip, whose settings and cache are the user's.

        Raises:
            InstallError: pip failed.
        """
        python = self.programs / "python"
        command = ["-m", "pip", "--python", str(python), "install", "--quiet", "--no-compile"]
        _run([sys.executable, *command, *what], Path.cwd())

    def distributions(self) -> list[str]:
        """Return the names of what is installed."""
        return sorted(path.name.partition("-")[0] for path in self.packages.glob("*.dist-info"))

    def size(self) -> int:
        """Return how many bytes all files of packages have, what Python compiles left out."""
        files = (path for path in self.packages.rglob("*") if path.is_file())
        return sum(path.stat().st_size for path in files if path.suffix != ".pyc")

    def compiled_size(self) -> int:
        """Return how many bytes they have once all are compiled, as pip does by default."""
        python = str(self.programs / "python")
        subprocess.run(
            [python, "-m", "compileall", "-q", "-j", "0", str(self.packages)],
            check=False,  # a package may hold files for other versions of Python
            capture_output=True,
            timeout=_TIMEOUT,
        )
        return sum(p.stat().st_size for p in self.packages.rglob("*") if p.is_file())


def build_wheel(into: Path, source: Path = ROOT) -> Path:
    """Build a wheel from a checkout or from an unpacked sdist.

    Raises:
        InstallError: hatchling failed.
    """
    _run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(into)], source)
    (wheel,) = into.glob("*.whl")
    return wheel


def build_sdist(into: Path) -> Path:
    """Build the source distribution and return the folder into which it was unpacked.

    Raises:
        InstallError: hatchling failed.
    """
    _run([sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(into)], ROOT)
    (archive,) = into.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(into, filter="data")
    return into / archive.name.removesuffix(".tar.gz")


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=_TIMEOUT, check=False
    )
    if done.returncode:
        lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        raise InstallError(f"{' '.join(command[1:4])}: {' / '.join(lines[-3:])}")
