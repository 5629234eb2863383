"""The page on rendering: its example prints what it says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "render-a-prompt.md").read_text(encoding="utf-8")


def test_the_example_prints_what_it_says(tmp_path: Path) -> None:
    code, shown = re.findall(r"```(?:python)?\n(.*?)```", PAGE.partition("## An example")[2], re.S)[
        :2
    ]
    script = tmp_path / "example.py"
    script.write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-X", "utf8", str(script)],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.stderr, done.stdout) == ("", shown)
