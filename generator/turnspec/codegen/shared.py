"""The engine as one file, and generated modules that import it instead of holding it.

For those who copy many formats: each is then some sixty lines. Both are made from what a module
with the whole engine holds, so that they can't say anything else.
"""

from __future__ import annotations

import ast
import re

from turnspec.codegen.banner import banner, sealed
from turnspec.codegen.compiled import BEGINS_COMMON
from turnspec.codegen.module import environment
from turnspec.codegen.parts import PARTS, import_lines, part_text
from turnspec.engine import ENGINE_VERSION

#: The engine, as the banner of a copy names it, and its file.
ENGINE = "turnspec.engine"
ENGINE_FILE = "turnspec_engine.py"
_COMMAND = "turnspec vendor --shared-engine --into . FORMAT"
_IMPORT = f"from .{ENGINE_FILE.removesuffix('.py')} import"
#: What begins the engine in a module, and what follows it there.
_ENGINE_BEGINS = "# What follows is turnspec's engine"
_ENGINE_ENDS = "class Parser(TurnParser):"


def engine_text() -> str:
    """Return the whole engine as a file, with a banner like that of a parser."""
    parts = [part_text(name) for name in PARTS]
    imports = import_lines([node for part in parts for node in part.imports], with_partial=False)
    template = environment().get_template("engine.jinja")
    text = template.render(version=ENGINE_VERSION, imports=imports, parts=parts)
    return sealed(banner(ENGINE, "-", command=_COMMAND) + text.rstrip() + "\n")


def is_shared(module: str) -> bool:
    """Tell whether a module imports the engine."""
    return f"\n{_IMPORT} " in module


def shared_module(module: str) -> str:
    """Return a generated module without its engine, which it imports from the file beside it.

    Raises:
        ValueError: this isn't a module with the whole engine.
    """
    if BEGINS_COMMON in module:  # compiled: nothing of it is of no use to its format
        return module
    head, begins, rest = module.partition(_ENGINE_BEGINS)
    _, ends, joined = rest.partition(_ENGINE_ENDS)
    if not begins or not ends:
        raise ValueError("not a parser with an engine of its own")
    own = f"{head.rstrip()}\n\n\n{ends}{joined}"
    lines = own.split("\n")
    body = ast.parse(own).body
    imports = [node for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
    first, last = imports[1].lineno - 1, imports[-1].end_lineno
    used = _used_names(ast.parse("\n".join(lines[last:])))
    lines[first:last] = [*_standard(imports[1:], used), "", *_from_engine(used)]
    return sealed(_without_text_hash("\n".join(lines)))


def _used_names(tree: ast.Module) -> set[str]:
    """Return the names that stand in some source, and those that it makes public."""
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    public = next(node.value for node in tree.body if isinstance(node, ast.Assign))
    return names | set(ast.literal_eval(public))


def _standard(imports: list[ast.Import | ast.ImportFrom], used: set[str]) -> list[str]:
    """Return the imports of the standard library that are still needed."""
    wanted: list[ast.Import | ast.ImportFrom] = []
    for node in imports:
        node.names = [alias for alias in node.names if alias.name in used]
        if node.names:
            wanted.append(node)
    return import_lines(wanted, with_partial=False)


def _from_engine(used: set[str]) -> list[str]:
    tree = ast.parse(engine_text())
    defined = {node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    defined |= {
        target.id for node in tree.body for target in _targets(node) if isinstance(target, ast.Name)
    }
    names = sorted(defined & used - {"FORMAT", "parse", "Parser"})
    return [f"{_IMPORT} (", *(f"    {name}," for name in names), ")"]


def _targets(node: ast.stmt) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        return node.targets
    return [node.target] if isinstance(node, ast.AnnAssign) else []


def _without_text_hash(text: str) -> str:
    return re.sub(r"^# Text hash:.*\n", "", text, count=1, flags=re.MULTILINE)
