"""What a plain `pip install turnspec` leaves out, and the command that brings it."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from turnspec.cli.console import Fault

#: The extras, with the modules that each brings; a module belongs to the first that has it.
EXTRAS = {
    "build": ("ruff", "filelock", "httpx2", "unearth"),
    "live": ("gguf", "llama_cpp", "numpy"),
    "parquet": ("pyarrow",),
    "tokenizers": ("tokenizers",),
}

Given = ParamSpec("Given")
Found = TypeVar("Found")


def install_command(extra: str) -> str:
    """Return the command that installs an extra."""
    return f"pip install 'turnspec[{extra}]'"


def is_installed(extra: str) -> bool:
    """Tell whether all that an extra brings is there."""
    return _missing(extra) is None


def fetch_hint(verb: str, fmt: str) -> str:
    """Return the command that fetches a template and goes on."""
    before = "" if is_installed("build") else f"{install_command('build')} && "
    return f"to fetch it: {before}turnspec {verb} {fmt} --fetch"


def needs(extra: str) -> Callable[[Callable[Given, Found]], Callable[Given, Found]]:
    """Have a command say at once that its extra isn't installed, before it does anything."""

    def decorated(command: Callable[Given, Found]) -> Callable[Given, Found]:
        @wraps(command)
        def checked(*args: Given.args, **kwargs: Given.kwargs) -> Found:
            if (module := _missing(extra)) is not None:
                raise _needed(module, extra)
            return command(*args, **kwargs)

        return checked

    return decorated


def missing_extra(error: ModuleNotFoundError) -> Fault | None:
    """Return what to say of a module that isn't there, if an extra brings it."""
    module = (error.name or "").partition(".")[0]
    extra = next((extra for extra, modules in EXTRAS.items() if module in modules), None)
    return _needed(module, extra) if extra else None


def _needed(module: str, extra: str) -> Fault:
    told = f"this needs {module}, which isn't installed; to install it, run: "
    return Fault(f"{told}{install_command(extra)}")


def _missing(extra: str) -> str | None:
    found = (module for module in EXTRAS[extra] if importlib.util.find_spec(module) is None)
    return next(found, None)
