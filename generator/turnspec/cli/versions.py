"""The versions of all that turnspec promises something of, and of what it runs on."""

from __future__ import annotations

import platform
import shutil
import subprocess
from importlib.metadata import version

import click

from turnspec import __version__
from turnspec.cli.console import put


def versions() -> dict[str, str]:
    """Return the versions of the tool, of specs, and of the engines that parsers are made from."""
    # Who asks for no version needs none of this.
    from turnspec.codegen.banner import PYTHON_SOURCES, SCRIPT_SOURCES, engine_hash
    from turnspec.engine import ENGINE_VERSION
    from turnspec.spec.versions import SPEC_VERSION

    return {
        "turnspec": __version__,
        "specs": str(SPEC_VERSION),
        "engine": f"{ENGINE_VERSION} {engine_hash(PYTHON_SOURCES)}",
        "engine in TypeScript": f"{ENGINE_VERSION} {engine_hash(SCRIPT_SOURCES)}",
    }


def surroundings() -> dict[str, str]:
    """Return the versions of what turnspec runs on, and of Node where it is there."""
    found = {
        "Python": f"{platform.python_version()} ({platform.python_implementation()})",
        "Jinja": version("jinja2"),
    }
    if (node := shutil.which("node")) is not None:
        told = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
        found["Node"] = told.stdout.strip().removeprefix("v")
    return {**found, "platform": platform.platform()}


def print_versions(context: click.Context, _: click.Parameter, is_asked: bool) -> None:
    """Print the versions, and leave, where an option asks for it."""
    if is_asked and not context.resilient_parsing:
        put("".join(f"{name}, version {number}\n" for name, number in versions().items()))
        context.exit()
