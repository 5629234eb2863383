"""The common part of parsers as one file, and generated modules that import it.

For those who copy many formats. Both are made from what modules hold, so that they can't say
anything else. The file has all that any parser has in common with others.
"""

from __future__ import annotations

import ast
import builtins
import re

from turnspec.codegen.banner import banner, sealed
from turnspec.codegen.compiled import BEGINS_COMMON, shared_source
from turnspec.codegen.compiler.joining import import_order
from turnspec.codegen.compiler.reaching import bound_names, used_names, without_unused_imports
from turnspec.engine import ENGINE_VERSION

#: The engine, as the banner of a copy names it, and its file.
ENGINE = "turnspec.engine"
ENGINE_FILE = "turnspec_engine.py"
_COMMAND = "turnspec vendor --shared-engine --into . FORMAT"
_IMPORT = f"from .{ENGINE_FILE.removesuffix('.py')} import"


def engine_text() -> str:
    """Return the whole common part as a file, with a banner like that of a parser."""
    told = f'"""What parsers have in common: turnspec\'s engine, version {ENGINE_VERSION}."""'
    source = without_unused_imports(_with_types(shared_source()))
    return sealed(f"{banner(ENGINE, '-', command=_COMMAND)}{told}\n\n{source}")


def _with_types(source: str) -> str:
    """Return a source that has a name for each type of what only parsers hold."""
    found = _bound(source)
    missing = sorted(used_names(source) - found - {*dir(builtins)})
    classes = (name for name in missing if name[0].isupper() and not name.isupper())
    types = [f"    {name}: TypeAlias = Any" for name in classes]
    before, begins, rest = source.partition("if TYPE_CHECKING:\n")
    imports, gap, others = rest.partition("\n\n")
    told = "\n".join(["", "", "    # What parsers have for themselves.", *types])
    return f"{before}{begins}{imports}{told}{gap}{others}"


def _bound(source: str) -> set[str]:
    """Return the names that a module's statements bind, those for type checkers among them."""
    body = ast.parse(source).body
    typing = [node for block in body if isinstance(block, ast.If) for node in block.body]
    return {name for node in (*body, *typing) for name in bound_names(node)}


def _what_the_engine_lacks(common: str) -> str:
    """Return what parsers of one kind alone have alike, as the turn of those without calls."""
    known, lines = _bound(shared_source()), common.split("\n")
    kinds = (ast.ClassDef, ast.FunctionDef)
    nodes = [node for node in ast.parse(common).body if isinstance(node, kinds)]
    lacking = [node for node in nodes if node.name not in known]
    texts = ("\n".join(lines[node.lineno - 1 : node.end_lineno]) for node in lacking)
    return "".join(f"\n\n\n{text}" for text in texts)


def is_shared(module: str) -> bool:
    """Tell whether a module imports the common part."""
    return f"\n{_IMPORT} " in module


def shared_module(module: str) -> str:
    """Return a generated module without its common part, which it imports from the file beside it.

    Raises:
        ValueError: this isn't a module with a common part.
    """
    own, begins, common = module.partition(BEGINS_COMMON)
    if not begins:
        raise ValueError("not a parser with a common part")
    own = f"{own.rstrip()}{_what_the_engine_lacks(common)}"
    public = re.findall(r'(?<=")\w+(?=")', "".join(re.findall("^__all__ .*", own, re.MULTILINE)))
    needed = used_names(own).union(public) - _bound(own)
    names = sorted(_bound(common) & needed, key=import_order)
    lines = without_unused_imports(own).rstrip().split("\n")
    at = next(
        number for number, line in enumerate(lines) if line.startswith(("TYPE_CHECKING", "__all__"))
    )
    lines[at:at] = [f"{_IMPORT} (", *(f"    {name}," for name in names), ")", ""]
    return sealed("\n".join(lines) + "\n")
