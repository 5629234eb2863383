"""Measures what an installation brings: how many packages, and how large they are.

Run with ``make install-size``. It builds the wheel and installs it, alone and with an extra, into
environments in a temporary folder. A target that is missed is named, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.installs import Environment, InstallError, build_wheel

#: What a plain installation may bring at most: packages, and megabytes as pip leaves them.
MOST_PACKAGES, MOST_MEGABYTES = 20, 60


@dataclass(frozen=True, slots=True)
class Installed:
    """What an installation brought; sizes in megabytes, time in seconds."""

    extra: str
    packages: int
    files: float
    compiled: float
    seconds: float

    @property
    def fits(self) -> bool:
        """Whether a plain installation is within its targets; others have none."""
        small = self.packages <= MOST_PACKAGES and self.compiled <= MOST_MEGABYTES
        return bool(self.extra) or small


def measure(wheel: Path, folder: Path, extra: str = "") -> Installed:
    """Install a wheel into a new environment and measure that."""
    environment = Environment.create(folder)
    started = time.monotonic()
    environment.install(f"{wheel}[{extra}]" if extra else str(wheel))
    seconds = time.monotonic() - started
    packages = len(environment.distributions())
    files, compiled = environment.size(), environment.compiled_size()
    return Installed(extra, packages, files / 1e6, compiled / 1e6, seconds)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Measure what an installation brings.")
    parser.add_argument("extras", nargs="*", default=["", "build"], help="extras (default: build)")
    extras = parser.parse_args().extras
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        try:
            wheel = build_wheel(folder / "dist")
            found = [measure(wheel, folder / f"env{n}", extra) for n, extra in enumerate(extras)]
        except InstallError as error:
            print(f"install-size: {error}", file=sys.stderr)
            return 1
    print(f"{'pip install':24} packages  files MB  compiled MB  seconds")
    for one in found:
        name = f"turnspec[{one.extra}]" if one.extra else "turnspec"
        figures = f"{one.packages:8}  {one.files:8.1f}  {one.compiled:11.1f}  {one.seconds:7.1f}"
        print(f"{name:24} {figures}")
    missed = [one for one in found if not one.fits]
    if missed:
        print(f"at most {MOST_PACKAGES} packages and {MOST_MEGABYTES} MB are wanted")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
