"""All templates of a public collection: which of them aren't verified is written down.

It takes some minutes, so it is marked `long`. A change of the analysis that costs a format shows
here, where none of the pinned templates is of its kind.
"""

from __future__ import annotations

import zipfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.model_table import ORIGIN
from tests.own_templates import given_template
from turnspec.pipeline.build import build_template
from turnspec.pipeline.project import OutputPaths
from turnspec.sources.download import obtain
from turnspec.sources.index import read_index
from turnspec.spec.problems import Problem

ROOT = Path(__file__).parent.parent
FEW = 30


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_which_templates_of_a_public_collection_are_not_verified(
    snapshot: SnapshotAssertion,
) -> None:
    archive = obtain(read_index(ROOT)[0].origins[ORIGIN])
    assert not isinstance(archive, Problem), archive
    with zipfile.ZipFile(archive) as package:
        names = sorted(name for name in package.namelist() if name.endswith(".jinja"))
        texts = [package.read(name).decode() for name in names]
    stems = [Path(name).stem for name in names]
    with ProcessPoolExecutor() as pool:
        found = dict(zip(stems, pool.map(verdict, stems, texts, chunksize=8), strict=True))
    assert len(found) > 700
    assert {name: said for name, said in found.items() if said != "verified"} == snapshot


def verdict(name: str, text: str) -> str:
    """Say what became of a template: in one word, or which rungs failed."""
    build = build_template(given_template(text, name), OutputPaths.in_folder("x"), messages=FEW)
    if build.result is None:
        return "no spec"
    failed = [rung for rung, result in build.result.rungs.items() if not result.is_passed]
    return f"not verified: {', '.join(failed)}" if failed else "verified"
