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
    source = "\n".join(_with_imports_of(_with_types(shared_source()).split("\n")))
    return sealed(f"{banner(ENGINE, '-', command=_COMMAND)}{told}\n\n{source}")


def _with_types(source: str) -> str:
    """Return a source that has a name for each type of what only parsers hold."""
    tree = ast.parse(source)
    found = _bound(tree) | {
        name
        for node in ast.walk(tree)
        if isinstance(node, ast.If | ast.Import | ast.ImportFrom)
        for name in _bound_in_block(node)
    }
    missing = sorted(used_names(source) - found - {*dir(builtins)})
    types = [f"    {name}: TypeAlias = Any" for name in missing if _is_class(name)]
    before, begins, rest = source.partition("if TYPE_CHECKING:\n")
    imports, gap, others = rest.partition("\n\n")
    told = "\n".join(["", "", "    # What parsers have for themselves.", *types])
    return f"{before}{begins}{imports}{told}{gap}{others}"


def _is_class(name: str) -> bool:
    return name[0].isupper() and not name.isupper()


def _bound_in_block(node: ast.If | ast.Import | ast.ImportFrom) -> set[str]:
    if isinstance(node, ast.If):
        return _bound(ast.Module(node.body, []))
    return {alias.asname or alias.name for alias in node.names}


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
    names = sorted(_bound(ast.parse(common)) & _used(own), key=_import_order)
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
    """Leave out what is imported for other parts."""
    used = _used("\n".join(lines))
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


def _used(text: str) -> set[str]:
    """Return the names that a source uses, and those that it makes public."""
    lists = [
        ast.literal_eval(node.value)
        for node in ast.parse(text).body
        if isinstance(node, ast.Assign | ast.AugAssign) and "__all__" in _targets(node)
    ]
    return used_names(text).union(*lists)


def _targets(node: ast.Assign | ast.AugAssign) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def _without_text_hash(text: str) -> str:
    return re.sub(r"^# Text hash:.*\n", "", text, count=1, flags=re.MULTILINE)
