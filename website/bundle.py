"""What the playground's worker runs: Pyodide as npm has it, and an archive of Python.

The archive has turnspec, and the pure part of the packages that it needs, as they are installed
here: requirements-build.lock pins their hashes. website/package-lock.json pins that of Pyodide.
"""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

from tests.typescript import toolchain

ROOT = Path(__file__).parent.parent
HERE = Path(__file__).parent
_PACKAGES = ROOT / "build/website"
#: What the pipeline imports. Speed-ups that are compiled are left out, as are rpds-py, for which
#: `worker/rpds.py` stands in, and what only commands need: rich, httpx2, unearth, filelock.
DISTRIBUTIONS = (
    *("attrs", "black", "click", "jinja2", "jsonschema", "jsonschema-specifications", "markupsafe"),
    *("mypy-extensions", "packaging", "pathspec", "platformdirs", "pytokens", "pyyaml"),
    "referencing",
)
#: Folders of turnspec that the page has no use for.
_LEFT_OUT = ("cli", "live", "report", "repository", "transcripts")
_PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
_ENDINGS = (".py", ".json", ".yaml", ".jinja", ".js", ".ts", ".txt")
#: An archive of the same files is the same archive.
_TIME = (1980, 1, 1, 0, 0, 0)


def archive(more: dict[str, str]) -> bytes:
    """Return the archive; ``more`` are texts to put into it, by path."""
    texts = {path: file.read_bytes() for path, file in sorted(_files())}
    texts |= {path: text.encode() for path, text in more.items()}
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for path, data in sorted(texts.items()):
            packed.writestr(zipfile.ZipInfo(path, _TIME), data, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def _files() -> Iterator[tuple[str, Path]]:
    """Yield the files of the archive, each with its path in it."""
    package = ROOT / "generator/turnspec"
    for path in package.rglob("*"):
        inside = path.relative_to(package)
        if path.suffix in _ENDINGS and inside.parts[0] not in _LEFT_OUT:
            yield f"turnspec/{inside.as_posix()}", path
    for path in (HERE / "worker").glob("*.py"):
        stands_in = path.name in ("rpds.py",)
        yield path.name if stands_in else f"website/worker/{path.name}", path
    yield "website/__init__.py", HERE / "__init__.py"
    for name in DISTRIBUTIONS:
        for file in distribution(name).files or ():
            path = Path(str(file.locate()))
            if (
                path.suffix in (".py", ".json", ".txt")
                and ".dist-info" not in str(file)
                and path.is_file()
            ) or file.name == "METADATA":
                yield str(file), path


def copy_pyodide(into: Path) -> None:
    """Copy what a page loads of Pyodide, installed as the lock file pins it.

    Raises:
        ToolError: npm has failed.
    """
    source = _installed() / "pyodide"
    into.mkdir(parents=True, exist_ok=True)
    for name in _PYODIDE:
        shutil.copyfile(source / name, into / name)
    lock = json.loads((source / "pyodide-lock.json").read_text("utf-8"))
    # Its own packages aren't part of the site: nothing may be asked for them.
    (into / "pyodide-lock.json").write_text(json.dumps({**lock, "packages": {}}), "utf-8")
    shutil.copyfile(source / "README.md", into / "README.md")


def _installed() -> Path:
    lock = (HERE / "package-lock.json").read_bytes()
    mark = _PACKAGES / "installed.json"
    if not mark.exists() or mark.read_bytes() != lock:
        _PACKAGES.mkdir(parents=True, exist_ok=True)
        for file in ("package.json", "package-lock.json"):
            shutil.copyfile(HERE / file, _PACKAGES / file)
        options = ("--ignore-scripts", "--silent", "--no-audit", "--no-fund")
        command = (*toolchain.npm(), "ci", *options, "--prefix", str(_PACKAGES))
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise toolchain.ToolError(f"npm ci: {done.stdout}{done.stderr}")
        mark.write_bytes(lock)
    return _PACKAGES / "node_modules"
