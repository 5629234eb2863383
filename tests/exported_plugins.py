"""Exported plugins, written to a folder and imported from there as a program would."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from tests.generated_formats import ROOT, committed_format
from turnspec.export.exporting import Exported, ExportOptions
from turnspec.export.targets import export_format
from turnspec.spec.atomic import write_atomically
from turnspec.spec.naming import module_name


def exported(name: str, target: str) -> dict[str, str]:
    """Return the files of an export, by name."""
    source = (ROOT / f"generated/{module_name(name)}.py").read_text(encoding="utf-8")
    found = export_format(committed_format(name).spec, target, ExportOptions(module=source))
    assert isinstance(found, Exported)
    return {**found.files}


def write_export(name: str, target: str, folder: Path) -> None:
    """Write the files of an export to a folder."""
    for file, text in exported(name, target).items():
        write_atomically(folder / file, text)


@contextmanager
def plugin(name: str, target: str, folder: Path) -> Iterator[ModuleType]:
    """Write a plugin's files to a folder and import it."""
    write_export(name, target, folder)
    modules = (module_name(name), f"{module_name(name)}_{module_name(target)}")
    before = [*sys.path]
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module(modules[-1])
    finally:
        sys.path[:] = before
        for module in modules:
            sys.modules.pop(module, None)
