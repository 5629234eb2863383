"""Loading a generated module from its text."""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from pathlib import Path
from types import ModuleType


def load_module(text: str) -> ModuleType:
    """Import a generated module from its text, as a user would from its file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "generated_parser.py"
        path.write_text(text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location("generated_parser", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module  # dataclasses look their module up
        spec.loader.exec_module(module)
    return module
