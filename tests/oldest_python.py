"""Every generated parser, imported and run: for a Python that the tool itself is too new for.

It needs nothing but the standard library: `python3.10 tests/oldest_python.py`.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

TEXT = "A sentence, and a second one."


def load(path: Path) -> ModuleType:
    """Import a generated module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def check(module: ModuleType) -> None:
    """Have a parser read a text as a whole and in pieces."""
    whole = module.parse(TEXT)
    machine = module.Parser()
    for piece in TEXT:
        machine.feed(piece)
    machine.finish()
    assert machine.message == whole, module.__name__
    said = whole.content + getattr(whole, "reasoning_content", "")
    assert said == TEXT, module.__name__


def main() -> None:
    """Check all of them; a parser that fails raises."""
    paths = sorted((Path(__file__).parents[1] / "generated").glob("*.py"))
    for path in paths:
        check(load(path))
    print(f"{len(paths)} parsers, Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main()
