"""The turnspec tool: finds a chat template's output format, writes it as a spec, compiles it.

Imports point one way: spec <- sources, rendering <- analysis <- codegen <- verification <- cli.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from turnspec.grammar.bound import GrammarBinder
    from turnspec.protocol import Format
    from turnspec.rendering.limits import Limits
    from turnspec.spec.model import Spec

__all__ = ["__version__", "grammar_binder", "load"]
__version__ = "0.1.0"


def load(spec: Spec | str | Path) -> Format:
    """Return a format in memory, to be used as its generated module would be.

    Args:
        spec: a spec, or the path of a spec's file.

    Raises:
        ValueError: the spec can't be used; says all reasons.
    """
    from turnspec.codegen.loading import load as load_spec  # so that the name alone costs nothing

    return load_spec(_spec(spec))


def grammar_binder(spec: Spec | str | Path, *, limit: Limits | None = None) -> GrammarBinder:
    """Return what binds a format's grammar to tools, request by request.

    It needs neither the analysis nor a template, and imports little: a server can bind for each
    request, in less time than a token takes.

    Args:
        spec: a spec, or the path of a spec's file.
        limit: the seconds and the memory that binding a request may take, in a process of its own
            (`turnspec.rendering.limits.Limits`); None is no limit.

    Raises:
        ValueError: the spec can't be used; says all reasons.
    """
    from turnspec.grammar.bound import GrammarBinder

    return GrammarBinder(_spec(spec), limit=limit)


def _spec(spec: Spec | str | Path) -> Spec:
    from turnspec.spec.files import read_spec

    found = read_spec(Path(spec)) if isinstance(spec, str | Path) else spec
    if isinstance(found, list):
        raise ValueError("; ".join(map(str, found)))
    return found
