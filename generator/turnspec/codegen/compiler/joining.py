"""Joins the files of an engine to one source: imports first, then what each file holds."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from turnspec.codegen.compiler.edits import Source


@dataclass(slots=True)
class Joined:
    """The parts of a joined source, each as text."""

    package: str  # whose files import each other; those imports are left out
    imports: dict[str, set[str]] = field(default_factory=dict)
    typing_imports: dict[str, set[str]] = field(default_factory=dict)
    typing_lines: list[str] = field(default_factory=list)
    bodies: list[str] = field(default_factory=list)

    def add(self, text: str) -> None:
        """Add a file."""
        source = Source(text)
        body = []
        for node in source.tree.body:
            match node:
                case ast.Import() | ast.ImportFrom():
                    self._import(node, self.imports)
                case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                    self._typing(source, node)
                case ast.Assign(targets=[ast.Name(id="TYPE_CHECKING")]) | ast.Expr():
                    pass
                case _:
                    body.append(node)
        if body:
            first = source.lines_of(body[:1])[0]
            held = source.slice(first, len(text.encode())).rstrip()
            self.bodies.append(f"{_heading(source, body[0])}{held}\n")

    def _typing(self, source: Source, node: ast.If) -> None:
        for inner in node.body:
            if isinstance(inner, ast.Import | ast.ImportFrom):
                self._import(inner, self.typing_imports)
            else:
                self.typing_lines.append(source.slice(*source.lines_of([inner])))

    def _import(self, node: ast.Import | ast.ImportFrom, into: dict[str, set[str]]) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                into.setdefault(alias.name, set())
        elif not (node.module or "").startswith((self.package, "__future__")):
            names = {alias.name for alias in node.names}
            into.setdefault(node.module or "", set()).update(names)

    def head(self) -> str:
        """Return the imports, with those that only a type checker needs apart."""
        for module, names in self.imports.items():
            if names and module in self.typing_imports:
                self.typing_imports[module] -= names
        lines = ["from __future__ import annotations\n\n", *_import_lines(self.imports)]
        typing = [f"    {line}" for line in _import_lines(self.typing_imports)]
        if typing or self.typing_lines:
            lines += [
                "\nTYPE_CHECKING = False  # so that `typing` need not be imported\n",
                "if TYPE_CHECKING:\n",
                *typing,
                "\n" if self.typing_lines else "",
                *self.typing_lines,
            ]
        return "".join(lines)


def _import_lines(imports: dict[str, set[str]]) -> list[str]:
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


def joined(files: Iterable[str], package: str) -> tuple[str, Sequence[str]]:
    """Return the imports of files, and the text of each without them."""
    found = Joined(package)
    for text in files:
        found.add(text)
    return found.head(), found.bodies


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
