"""The turnspec tool: finds a chat template's output format, writes it as a spec, compiles it.

Imports point one way: spec <- sources, rendering <- analysis <- codegen <- verification <- cli.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from turnspec.protocol import Format
    from turnspec.spec.model import Spec

__all__ = ["__version__", "load"]
__version__ = "0.1.0"


def load(spec: Spec | str | Path) -> Format:
    """Return a format in memory, to be used as its generated module would be.

    Args:
        spec: a spec, or the path of a spec's file.

    Raises:
        ValueError: the spec can't be used; says all reasons.
    """
    from turnspec.codegen.loading import load as load_spec  # so that the name alone costs nothing
    from turnspec.spec.files import read_spec

    found = read_spec(Path(spec)) if isinstance(spec, str | Path) else spec
    if isinstance(found, list):
        raise ValueError("; ".join(map(str, found)))
    return load_spec(found)
