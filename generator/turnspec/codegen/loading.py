"""Parsers in memory: the engine with a format's facts, or a generated module's text."""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from pathlib import Path
from typing import cast

from turnspec.codegen.compiled import run_engine
from turnspec.codegen.facts import facts_of
from turnspec.codegen.format_module import FormatModule
from turnspec.spec.model import Spec


def load(spec: Spec) -> FormatModule:
    """Return a format in memory, from its spec: the engine, with its facts as variables."""
    return run_engine(facts_of(spec))


def load_module(text: str) -> FormatModule:
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
    return cast(FormatModule, module)
