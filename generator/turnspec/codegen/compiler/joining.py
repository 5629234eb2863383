"""Joins the files of an engine to one source: imports first, then what each file holds."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from turnspec.codegen.compiler.edits import Source

#: The names that are imported from modules; none of one that is imported itself.
_Imports = dict[str, set[str]]


def joined(files: Iterable[str], package: str) -> tuple[str, Sequence[str]]:
    """Return the imports of files, and the text of each without them.

    Files of the package import each other; these imports are left out.
    """
    imports, typing_imports = _Imports(), _Imports()
    typing_lines: list[str] = []
    bodies: list[str] = []
    for text in files:
        source = Source(text)
        body: list[ast.stmt] = []
        for node in source.tree.body:
            match node:
                case ast.Import() | ast.ImportFrom():
                    _note(node, package, imports)
                case ast.If(test=ast.Name(id="TYPE_CHECKING"), body=typing):
                    for inner in typing:
                        if not _note(inner, package, typing_imports):
                            typing_lines.append(source.slice(*source.lines_of([inner])))
                case ast.Assign(targets=[ast.Name(id="TYPE_CHECKING")]) | ast.Expr():
                    pass
                case _:
                    body.append(node)
        if body:
            held = source.slice(source.lines_of(body[:1])[0], len(text.encode())).rstrip()
            bodies.append(f"{_heading(source, body[0])}{held}\n")
    return _head(imports, typing_imports, typing_lines), bodies


def _note(node: ast.stmt, package: str, into: _Imports) -> bool:
    """Note what a statement imports; return whether it is an import."""
    match node:
        case ast.Import(names=names):
            for alias in names:
                into.setdefault(alias.name, set())
        case ast.ImportFrom(module=str(module), names=names):
            if not module.startswith((package, "__future__")):
                into.setdefault(module, set()).update(alias.name for alias in names)
    return isinstance(node, ast.Import | ast.ImportFrom)


def _head(imports: _Imports, typing_imports: _Imports, typing_lines: list[str]) -> str:
    """Return the imports, with those that only a type checker needs apart."""
    for module, names in imports.items():
        if names and module in typing_imports:
            typing_imports[module] -= names
    lines = ["from __future__ import annotations\n\n", *_import_lines(imports)]
    typing = [f"    {line}" for line in _import_lines(typing_imports)]
    if typing or typing_lines:
        lines += [
            "\nTYPE_CHECKING = False  # so that `typing` need not be imported\n",
            "if TYPE_CHECKING:\n",
            *typing,
            "\n" if typing_lines else "",
            *typing_lines,
        ]
    return "".join(lines)


def _import_lines(imports: _Imports) -> list[str]:
    modules = [f"import {name}\n" for name, names in sorted(imports.items()) if not names]
    return modules + [
        f"from {name} import {', '.join(sorted(names, key=import_order))}\n"
        for name, names in sorted(imports.items())
        if names
    ]


def import_order(name: str) -> tuple[int, str]:
    """Return the key by which isort sorts names: constants, classes, functions."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


def _heading(source: Source, first: ast.stmt) -> str:
    """Return what a file says of itself, as a comment, unless its first definition does."""
    said = ast.get_docstring(source.tree) or ""
    if isinstance(first, ast.ClassDef | ast.FunctionDef) and ast.get_docstring(first) == said:
        return ""
    return "\n".join(f"# {line}".rstrip() for line in said.split("\n")) + "\n\n"


def without_empty_sections(text: str) -> str:
    """Drop headings, comments between empty lines, behind which nothing comes."""
    blocks = text.split("\n\n\n")
    kept: list[str] = []
    for block in reversed(blocks):
        if _is_heading(block) and (not kept or _is_heading(kept[-1])):
            continue
        above, _, last = block.rstrip("\n").rpartition("\n\n")
        is_empty = _is_heading(last) and above and kept and _is_heading(kept[-1].split("\n\n")[0])
        kept.append(above if is_empty else block)
    return "\n\n\n".join(reversed(kept))


def _is_heading(block: str) -> bool:
    lines = block.strip("\n").split("\n")
    return all(line.startswith("#") or not line.strip() for line in lines)


def replaced(text: str, name: str, by: str) -> str:
    """Return a source in which other statements stand for the class of that name."""
    source = Source(text)
    node = next(x for x in source.tree.body if isinstance(x, ast.ClassDef) and x.name == name)
    start, end = source.lines_of([node])
    return source.slice(0, start) + by + source.slice(end, len(text.encode()))
