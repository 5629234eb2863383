"""Plants faults and counts how many the ladder notices: `make faults`, or with names of formats.

Without names it asks about all of `FORMATS` and writes docs/FAULTS.md. A fault that nothing notices
and nobody has explained, in `explained.py`, is an error.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.progress import track

from tests.faults.counting import Outcome, count_faults
from tests.faults.page import PAGE, page, summary, table
from turnspec.spec.atomic import write_atomically

#: Formats of all classes: a dozen and two.
FORMATS = (
    "qwen-qwen3-0-6b",
    "qwen3-coder",
    "openai-gpt-oss-120b",
    "kimi-k2-instruct",
    "kimi-k3",
    "google-gemma-4-31b-it",
    "minimax-m3",
    "lfm2-5-8b-a1b",
    "mistralai-mistral-nemo-instruct-2407",
    "deepseek-ai-deepseek-v3-1",
    "meta-llama-llama-3-2-3b-instruct",
    "cohereforai-c4ai-command-r7b-12-2024-tool-use",
    "apriel-1-6-15b-thinker-fixed",
    "google-gemma-2-2b-it",
)


def main(names: Sequence[str]) -> int:
    """Plant the faults, print the counts and every survivor, and write the page."""
    chosen = names or FORMATS
    total, finding = count_faults(chosen)
    console = Console(stderr=True)
    outcomes: list[Outcome] = list(
        track(finding, "planting faults", total, console=console, transient=True)
    )
    outcomes.sort(key=lambda outcome: (chosen.index(outcome.format), outcome.number))
    print(table(outcomes))
    survivors = [outcome for outcome in outcomes if outcome.is_survivor]
    for outcome in survivors:
        print(outcome)
    print(summary(outcomes))
    if not names:
        write_atomically(PAGE, page(outcomes))
    return 1 if any(not outcome.explanation for outcome in survivors) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
