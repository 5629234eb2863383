"""The common part of parsers as one file, and generated modules that import it.

For those who copy many formats. Both are made from what modules hold, so that they can't say
anything else. The file has all that any parser has in common with others.
"""

from __future__ import annotations

import ast
import re

from turnspec.codegen.banner import banner, sealed
from turnspec.codegen.compiled import BEGINS_COMMON, shared_source
from turnspec.codegen.compiler.reaching import used_names
from turnspec.engine import ENGINE_VERSION

#: The engine, as the banner of a copy names it, and its file.
ENGINE = "turnspec.engine"
ENGINE_FILE = "turnspec_engine.py"
_COMMAND = "turnspec vendor --shared-engine --into . FORMAT"
_IMPORT = f"from .{ENGINE_FILE.removesuffix('.py')} import"


def engine_text() -> str:
    """Return the whole common part as a file, with a banner like that of a parser."""
    told = f'"""What parsers have in common: turnspec\'s engine, version {ENGINE_VERSION}."""'
    return sealed(f"{banner(ENGINE, '-', command=_COMMAND)}{told}\n\n{shared_source()}")


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
    names = sorted(_bound(ast.parse(common)) & _used(ast.parse(own)), key=_import_order)
    lines = own.rstrip().split("\n")
    at = next(
        number for number, line in enumerate(lines) if line.startswith(("TYPE_CHECKING", "__all__"))
    )
    lines[at:at] = [f"{_IMPORT} (", *(f"    {name}," for name in names), ")", ""]
    return sealed(_without_text_hash("\n".join(_with_imports_of(lines)) + "\n"))


def _import_order(name: str) -> tuple[bool, bool, str]:
    """Return where a name stands among imported ones: constants first, then classes."""
    return not name.isupper(), name[0].islower(), name


def _with_imports_of(lines: list[str]) -> list[str]:
    """Leave out what only the common part imported."""
    used = _used(ast.parse("\n".join(lines)))
    kept = []
    for line in lines:
        found = re.fullmatch(r"( *)(from \S+ import |import )([\w, ]+)", line)
        if found is None or found[2].startswith("from __future__"):
            kept.append(line)
            continue
        names = [name for name in found[3].split(", ") if name in used]
        if names:
            kept.append(f"{found[1]}{found[2]}{', '.join(names)}")
    return kept


def _bound(tree: ast.Module) -> set[str]:
    """Return the names that a source binds."""
    names = {node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
        stored = (inner for target in targets for inner in ast.walk(target))
        names |= {inner.id for inner in stored if isinstance(inner, ast.Name)}
    return names


def _used(tree: ast.Module) -> set[str]:
    """Return the names that a source uses, and those that it makes public."""
    lists = [
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AugAssign) and "__all__" in _targets(node)
    ]
    return used_names(tree).union(*lists)


def _targets(node: ast.Assign | ast.AugAssign) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def _without_text_hash(text: str) -> str:
    return re.sub(r"^# Text hash:.*\n", "", text, count=1, flags=re.MULTILINE)
