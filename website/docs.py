"""The docs as pages with search, by Sphinx: the repository's Markdown, and a page per format.

Sphinx has an environment of its own below build/, as requirements-site.lock pins it.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from turnspec import __version__
from website.bundle import ROOT

_HERE = Path(__file__).parent
_ENVIRONMENT = ROOT / "build/sphinx"
_LOCK = ROOT / "requirements-site.lock"
#: The pages outside docs/, with what they are called in the menu.
_HOME = "README.md"
_PAGES = (_HOME, "CHANGELOG.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md")
_LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\[\]]*\])*\])\(([^()\s#:]+)(#[^()\s]*)?\)")
_FENCED = re.compile(r"^(```.*?^```\s*?$)", re.MULTILINE | re.DOTALL)
_SPEC = re.compile(r"specs/([a-z0-9-]+)\.yaml")
_INLINE = re.compile(r"<(script|style)>(.*?)</\1>", re.DOTALL)
_ATTRIBUTE = re.compile(r'\sstyle="([^"]*)"')


class DocsError(Exception):
    """Sphinx has failed; the text is what it says."""


def write_docs(into: Path, pages: Iterator[tuple[str, str]], repository: str) -> None:
    """Write the docs into the site's folder, with ``pages`` of formats by file names.

    ``repository`` is where links to what is no page lead; where it is "", they are text.

    Raises:
        DocsError: Sphinx fails, or finds anything to warn of.
    """
    source = ROOT / "build/site-source"
    shutil.rmtree(source, ignore_errors=True)
    formats = dict(pages)
    names = {Path(name).stem for name in formats}
    for path in (*(ROOT / name for name in _PAGES), *sorted((ROOT / "docs").glob("*.md"))):
        place = path.relative_to(ROOT)
        text = relinked(path.read_text("utf-8"), PurePosixPath(place.as_posix()), names, repository)
        _write(source / ("index.md" if path.name == _HOME else place), text)
    for picture in (ROOT / "docs").glob("*.png"):
        shutil.copyfile(picture, source / "docs" / picture.name)
    for name, text in formats.items():
        _write(source / "formats" / name, text)
    home = source / "index.md"
    home.write_text(f"{home.read_text('utf-8')}\n{_menus()}", "utf-8")
    shutil.copyfile(_HERE / "sphinx/conf.py", source / "conf.py")
    shutil.copyfile(_HERE / "playground/icon.svg", source / "icon.svg")
    shutil.copytree(_HERE / "sphinx/static", source / "_static")
    shutil.copytree(_HERE / "sphinx/templates", source / "_templates")
    _build(source, into)
    for page in into.rglob("*.html"):
        page.write_text(with_policy(page.read_text("utf-8")), "utf-8")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def _menus() -> str:
    """Return the menus, which stand hidden at the end of the first page."""
    guides = sorted(path.stem for path in (ROOT / "docs").glob("[a-z]*.md"))
    tables = sorted(path.stem for path in (ROOT / "docs").glob("[A-Z]*.md"))
    menus = {
        "Guides": [f"docs/{name}" for name in guides],
        "Formats": ["formats/index", *(f"docs/{name}" for name in tables)],
        "Project": [Path(name).stem for name in _PAGES[1:]],
    }
    blocks = (
        "\n".join((f"```{{toctree}}\n:hidden:\n:caption: {caption}\n", *pages, "```"))
        for caption, pages in menus.items()
    )
    return "\n\n".join((*blocks, ""))


def relinked(text: str, place: PurePosixPath, formats: set[str], repository: str) -> str:
    """Return a page's text whose links lead to pages of the site, or else to the repository.

    ``place`` is the page's path in the repository.
    """

    def link(found: re.Match[str]) -> str:
        label, target, anchor = found[1], found[2], found[3] or ""
        path = PurePosixPath(os.path.normpath(place.parent / target))
        up = "../" * (len(place.parts) - 1)
        if spec := _SPEC.fullmatch(str(path)):
            if spec[1] in formats:
                return f"{label}({up}formats/{spec[1]}.md)"
        elif str(path) == "specs/README.md":
            return f"{label}({up}formats/index.md)"
        elif str(path) == _HOME:
            return f"{label}({up}index.md{anchor})"
        elif path.suffix in (".md", ".png") and (path.parent.name == "docs" or str(path) in _PAGES):
            return found[0]
        if repository:
            return f"{label}({repository}/blob/HEAD/{path}{anchor})"
        return label.removeprefix("!")[1:-1]

    pieces = _FENCED.split(text)
    return "".join(piece if piece.startswith("```") else _LINK.sub(link, piece) for piece in pieces)


def _build(source: Path, into: Path) -> None:
    environment = os.environ | {"TURNSPEC_VERSION": __version__}
    doctrees = ROOT / "build/site-doctrees"
    options = ("-q", "-W", "--keep-going", "-j", "auto", "-b", "html", "-d", doctrees)
    _run(_python(), "-m", "sphinx", *options, source, into, environment=environment)
    for left in ("objects.inv", ".buildinfo", ".nojekyll"):
        (into / left).unlink(missing_ok=True)
    (into / ".nojekyll").touch()  # or folders with an underscore aren't published


def _python() -> Path:
    """Return the interpreter of Sphinx's environment, made anew where the lock has changed."""
    program, mark = _ENVIRONMENT / "bin/python", _ENVIRONMENT / "installed.lock"
    if not mark.exists() or mark.read_bytes() != _LOCK.read_bytes():
        _run(sys.executable, "-m", "venv", "--clear", _ENVIRONMENT)
        _run(program, "-m", "pip", "install", "--quiet", "--require-hashes", "-r", _LOCK)
        shutil.copyfile(_LOCK, mark)
    return program


def _run(*command: object, environment: dict[str, str] | None = None) -> None:
    done = subprocess.run(
        [*map(str, command)], capture_output=True, text=True, check=False, env=environment
    )
    if done.returncode:
        raise DocsError(f"{done.stdout}{done.stderr}".strip())


def with_policy(page: str) -> str:
    """Return a page with a policy that allows its own scripts and styles, and no other host."""
    inline = {"script": ["'self'"], "style": ["'self'"]}
    for kind, text in _INLINE.findall(page):
        inline[kind].append(_digest(text))
    if attributes := _ATTRIBUTE.findall(page):
        inline["style"] += ["'unsafe-hashes'", *map(_digest, attributes)]
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src {' '.join(dict.fromkeys(inline['script']))}",
            f"style-src {' '.join(dict.fromkeys(inline['style']))}",
            "img-src 'self' data:",
            "font-src 'self'",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'self'",
        )
    )
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    return page.replace("<head>", f"<head>{meta}", 1) if "<head>" in page else page


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
