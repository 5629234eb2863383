"""Tries all faults and prints those that nothing notices: `make engine-faults`."""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor

from rich.console import Console
from rich.progress import track

from tests.engine_faults.noticing import facts_by_name, noticed_by
from tests.engine_faults.planting import Fault, faults_of_engine, faults_of_tables

#: The share that has to be noticed.
AIM = 0.95


def _tried(fault: Fault) -> tuple[str, str]:
    return fault.title, noticed_by(fault)


def main() -> int:
    """Print the share of faults that is noticed, and each that isn't; 1 if it is too small."""
    planted = [*faults_of_engine(), *faults_of_tables([*facts_by_name().values()])]
    console = Console(stderr=True)
    with ProcessPoolExecutor() as pool:
        found = pool.map(_tried, planted)
        total = len(planted)
        results = list(track(found, "faults", total, console=console, transient=True))
    survivors = [title for title, notice in results if not notice]
    for title in survivors:
        print(f"not noticed: {title}")
    by_cases = sum(notice.startswith("case") for _, notice in results)
    share = 1 - len(survivors) / len(results)
    print(f"{len(results)} faults of the engine, {share:.1%} noticed ({by_cases} by its own cases)")
    return int(share < AIM)


if __name__ == "__main__":
    sys.exit(main())
