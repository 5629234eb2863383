"""The playground: its page and modules, what its worker runs, and what is known of formats."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from turnspec import __version__
from turnspec.catalog.catalog import Catalog
from turnspec.spec.fingerprint import fingerprint
from turnspec.spec.model import Spec
from website.bundle import ROOT, archive, copy_pyodide

_HERE = Path(__file__).parent
_STYLE = ROOT / "generator/turnspec/report/templates/style.css"
_CACHE = 'const CACHE = "turnspec-site";'
_FILES = "const FILES = [];"


def known_formats(catalog: Catalog) -> dict[str, dict[str, list[str]]]:
    """Return the names of all formats by the hashes of their templates, and by fingerprints."""
    templates, formats = defaultdict(list), defaultdict(list)
    for known in catalog:
        spec = known.spec()
        if isinstance(spec, Spec):
            templates[known.sha256].append(known.name)
            formats[fingerprint(spec)].append(known.name)
    return {"templates": dict(templates), "formats": dict(formats)}


def write_playground(into: Path, repository: str) -> None:
    """Write the playground into the site's folder; ``repository`` is where issues are filed.

    Raises:
        ToolError: npm has failed.
    """
    folder = into / "playground"
    shutil.copytree(_HERE / "playground", folder, dirs_exist_ok=True)
    page = folder / "index.html"
    data = f'data-repository="{repository}" data-version="{__version__}"'
    page.write_text(page.read_text("utf-8").replace('data-repository=""', data), "utf-8")
    shutil.copyfile(_STYLE, into / "report.css")
    copy_pyodide(into / "pyodide")
    known = json.dumps(known_formats(Catalog.around(ROOT)), sort_keys=True)
    (into / "turnspec.zip").write_bytes(archive({"known.json": known}))


def write_offline(into: Path) -> None:
    """Write the service worker, which calls its cache by a hash of all that the site holds."""
    files = [path for path in sorted(into.rglob("*")) if path.is_file()]
    own = (into / "playground", into / "report.css")
    small = [path.relative_to(into).as_posix() for path in files if _is_of(path, own)]
    text = (_HERE / "offline.js").read_text("utf-8")
    text = text.replace(_CACHE, f'const CACHE = "turnspec-site-{_digest(files)}";')
    text = text.replace(_FILES, f"const FILES = {json.dumps(small)};")
    (into / "offline.js").write_text(text, "utf-8")


def _is_of(path: Path, places: Iterable[Path]) -> bool:
    return any(path == place or place in path.parents for place in places)


def _digest(files: Iterable[Path]) -> str:
    found = hashlib.sha256()
    for path in files:
        if path.name != "offline.js":
            found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()[:16]
