"""The turnspec tool: finds a chat template's output format, writes it as a spec, compiles it.

Imports point one way: spec <- sources, rendering <- analysis <- codegen <- verification <- cli.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from turnspec.grammar.bound import GrammarBinder
    from turnspec.library import LoadedFormat
    from turnspec.rendering.limits import Limits
    from turnspec.spec.model import Spec

__all__ = ["__version__", "grammar_binder", "load"]
__version__ = "0.1.0"


def load(fmt: Spec | str | Path, *, fetch: bool = False) -> LoadedFormat:
    """Return a format: what its vendored module offers, and its grammar.

    Args:
        fmt: what every command takes: a format's name or alias, a model's id as a hub writes it, a
            template (a .jinja file, a model folder, a GGUF file); or the file of a spec or of a
            generated module, or a spec. That a name takes a guess, or that a parser's text says
            that its format isn't verified, is a warning.
        fetch: whether the hub may be asked for the template of a model that isn't known. Without
            it no host is.

    Raises:
        ValueError: nothing or several formats go by this, or it can't be used; says all reasons.
    """
    from turnspec.library import load_format  # so that the name alone costs nothing

    return load_format(fmt, fetch=fetch)


def grammar_binder(
    fmt: Spec | str | Path, *, limit: Limits | None = None, fetch: bool = False
) -> GrammarBinder:
    """Return what binds a format's grammar to tools, request by request.

    It needs neither the analysis nor a template, and imports little: a server can bind for each
    request, in less time than a token takes.

    Args:
        fmt: as for `load`; a module alone has no grammar.
        limit: the seconds and the memory that binding a request may take, in a process of its own
            (`turnspec.rendering.limits.Limits`); None is no limit.
        fetch: as for `load`.

    Raises:
        ValueError: as for `load`.
    """
    from turnspec.grammar.bound import GrammarBinder
    from turnspec.library import spec_of

    return GrammarBinder(spec_of(fmt, fetch=fetch), limit=limit)
