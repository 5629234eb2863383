"""Modules: what of them is printed."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterable

from turnspec.codegen.printer.comments import block
from turnspec.codegen.printer.kinds import (
    ANY,
    NULL,
    Kind,
    Refused,
    shown,
    union,
)
from turnspec.codegen.printer.layout import (
    WIDTH,
    brackets,
)
from turnspec.codegen.printer.learning import (
    DECORATORS,
    QUOTED_TYPES,
    TYPING,
    Learning,
    alternatives,
    is_generator,
    is_type,
    names_of,
)
from turnspec.codegen.printer.names import (
    Class,
    camel,
    quoted,
)
from turnspec.codegen.printer.statements import joined


class NotInSubset(Exception):
    """What of a module is refused, each with its line."""

    def __init__(self, refusals: list[str]) -> None:
        """Take what is refused."""
        self.refusals = refusals
        super().__init__("; ".join(refusals))


class Module(Learning):
    """Prints a module's statements."""

    def printed(self, roots: Iterable[str]) -> str:
        """Return what some names need, printed.

        Raises:
            Refused: the subset doesn't have something of it.
        """
        if ast.get_docstring(self.tree):  # what stands above it is of the file
            self.comments.drop(1, self.tree.body[0].end_lineno or 1)
        self.needed = self._reached(roots)
        for node in self.tops:
            if not set(names_of(node)) & self.needed:
                first = min(
                    [node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))]
                )
                self.comments.drop(first, node.end_lineno or first)
        self.learn()
        for node in self.tops:
            if set(names_of(node)) & self.needed:
                with self.noting():
                    self.check(node, names_of(node))
                    self._put_top(node)
        if self.refusals:
            raise NotInSubset(self.refusals)
        text = re.sub(r"\n{3,}", "\n\n", "\n".join(self.lines))
        return re.sub(r"(?<=\{\n)\n", "", text).strip("\n") + "\n"

    def _reached(self, roots: Iterable[str]) -> set[str]:
        found: set[str] = set()
        waiting = list(roots)
        while waiting:
            name = waiting.pop()
            if name in (*found, *self.names.runtime, *TYPING) or name not in self.defined:
                continue
            found.add(name)
            for each in ast.walk(self.defined[name]):
                if isinstance(each, ast.Name):
                    waiting.append(each.id)
                elif isinstance(each, ast.Constant) and isinstance(each.value, str):
                    waiting += (
                        re.findall(r"[A-Za-z_]\w*", each.value) if name in QUOTED_TYPES else []
                    )
        return found

    def _put_top(self, node: ast.stmt) -> None:
        self._put_top_comments(node)
        match node:
            case ast.FunctionDef():
                self.lines.append("")
                self._put_function(node)
            case ast.ClassDef(name=name) if self.names.classes[name].members:
                self._put_names(name)
            case ast.Assign(targets=[ast.Name(id=name)]) if name in self.names.classes:
                self._put_names(name)
            case ast.ClassDef():
                self.lines.append("")
                self._put_class(node)
            case ast.Assign(targets=[ast.Name(id="FORMAT")], value=ast.Dict() as value):
                self._put_format(value)
            case ast.Assign(targets=[ast.Name(id=name)]) if name in self.names.annotations.written:
                self._put_alias(name)
            case ast.AnnAssign(target=ast.Name(id=name)) if is_type(node):
                self._put_alias(name)
            case ast.AnnAssign(target=ast.Name(id=name), value=value) if value:
                kind = self.names.kinds[name]
                self.put(
                    joined(f"const {camel(name)}{self.note(kind)} =", self.text(value, kind)), node
                )
            case ast.Assign(targets=[target], value=value):
                self._put_constant(node, target, value)
            case _:
                raise Refused(node, type(node).__name__)

    def _put_top_comments(self, node: ast.stmt) -> None:
        decorators = [each.lineno for each in getattr(node, "decorator_list", ())]
        for lines in self.comments.sections(min([node.lineno, *decorators])):
            self.lines += ["", *lines]

    def _put_constant(self, node: ast.stmt, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for one, other in zip(target.elts, value.elts, strict=True):
                self.put(f"const {self.target(one)} = {self.text(other)};")
            return
        name = ast.unparse(target)
        kind = self.names.kinds[name]
        found = self.value(value, kind)
        if "new Pattern(" in found.text:
            lines, self.lines = self.lines, self.last_lines
            self.put(joined(f"const {camel(name)} =", found.text), node)
            self.lines = lines
            return
        is_told = kind.name in ("array", "map", "list") and ANY not in kind.of
        note = self.note(kind) if is_told else ""
        self.put(joined(f"const {camel(name)}{note} =", found.text), node)

    def _put_format(self, value: ast.Dict) -> None:
        members = [
            f"{ast.literal_eval(key)}: {self.text(other)}"
            for key, other in zip(value.keys, value.values, strict=True)
            if key
        ]
        note = ": FormatTexts" if self.names.is_typed else ""
        self.lines += ["", f"export const FORMAT{note} = {{"]
        self.lines += [f"  {member}," for member in members]
        self.lines.append("};")

    def _put_names(self, name: str) -> None:
        """Put an enumeration: the names of what there is."""
        if self.names.is_typed:
            self._put_type(name, list(map(quoted, self.names.classes[name].members.values())))

    def _put_alias(self, name: str) -> None:
        annotations = self.names.annotations
        kind = annotations.kind(ast.Name(name))
        if self.names.is_typed and kind.alias == name:
            written = annotations.written[name]
            if isinstance(written, ast.Constant) and isinstance(written.value, str):
                written = ast.parse(written.value, mode="eval").body
            parts = [Kind(kind.name, kind.of, kind.text)]
            if isinstance(written, ast.BinOp):
                parts = [annotations.kind(part) for part in alternatives(written)]
            self._put_type(name, list(map(shown, parts)))

    def _put_type(self, name: str, parts: list[str]) -> None:
        """Put a type of several alternatives, as many on a line as fit in."""
        head = f"{'export ' if name in self.exported else ''}type {name} ="
        text = f"{head} {' | '.join(parts)};"
        if len(text) > WIDTH:
            filled = textwrap.wrap(" | ".join(parts), WIDTH - 4, break_long_words=False)
            self.lines += [head, *(f"  {line}" for line in filled[:-1])]
            text = f"  {filled[-1]};"
        self.lines.append(text)

    def _put_function(self, node: ast.FunctionDef) -> None:
        signature = self.names.functions[node.name]
        body = self._put_doc(node)
        star = "*" if is_generator(node) else ""
        parameters = self.parameters(signature, body)
        result = self._result(signature.returns)
        match [ast.unparse(each) for each in node.decorator_list]:
            case []:
                head = brackets(f"function{star} {camel(node.name)}(", parameters, f"){result}")
                self.function(head, signature, body, node.end_lineno or 0)
            case [cache] if cache.startswith("lru_cache("):
                size = cache.removeprefix("lru_cache(").rstrip(")")
                head = brackets(
                    f"const {camel(node.name)} = remembered({size}, (", parameters, f"){result} =>"
                )
                self.function(head, signature, body, node.end_lineno or 0)
                self.lines[-1] += ");"
            case other:
                raise Refused(node, f"decorator {other}")

    def _result(self, kind: Kind) -> str:
        if not self.names.is_typed:
            return ""
        return ": void" if kind == NULL else f": {shown(kind)}"

    def _put_doc(self, node: ast.FunctionDef | ast.ClassDef) -> list[ast.stmt]:
        """Put a docstring; return the body without it."""
        text = ast.get_docstring(node)
        if not text:
            return node.body
        text = re.sub(r"`([a-z]+(?:_[a-z]+)+)`", lambda name: f"`{camel(name[1])}`", text)
        self.lines += block(text.replace("None", "null").split("\n"), " " * self.depth * 2)
        return node.body[1:]

    # Classes.

    def _put_class(self, node: ast.ClassDef) -> None:
        class_ = self.owner = self.names.classes[node.name]
        body = self._put_doc(node)
        base = f" extends {class_.base}" if class_.base else ""
        self.put(f"class {node.name}{base} {{")
        self.depth += 1
        self._put_fields(class_)
        for each in body:
            if isinstance(each, ast.FunctionDef):
                with self.noting():
                    self._put_method(class_, each)
        self.depth -= 1
        self.put("}")
        self.owner = None

    def _put_fields(self, class_: Class) -> None:
        init = next(
            (each for each in class_.node.body if getattr(each, "name", "") == "__init__"), None
        )
        plain = [each for each in getattr(init, "body", ()) if not isinstance(each, ast.If)]
        sure = {
            each.attr
            for each in ast.walk(ast.Module(plain, []))
            if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store)
        }
        given = {}
        for each in class_.node.body:
            target = (
                each.targets[0] if isinstance(each, ast.Assign) else getattr(each, "target", None)
            )
            if (
                isinstance(each, ast.Assign | ast.AnnAssign)
                and isinstance(target, ast.Name)
                and each.value
            ):
                given[target.id] = self.text(each.value, class_.fields.get(target.id, ANY))
        base = self.names.classes.get(class_.base)
        for name, kind in class_.fields.items():
            if base and name in base.fields and name not in given:
                continue
            member = camel(name, is_member=True)
            override = "override " if base and name in base.fields and self.names.is_typed else ""
            if name in given:
                self.put(f"{override}{member}{self.note(kind)} = {given[name]};")
            elif self.names.is_typed:
                self.put(f"{override}{member}{'' if name in sure else '!'}{self.note(kind)};")

    def _put_method(self, class_: Class, node: ast.FunctionDef) -> None:
        signature = class_.methods[node.name]
        decorators = [ast.unparse(each) for each in node.decorator_list]
        if set(decorators) - set(DECORATORS):
            raise Refused(node, f"decorator {decorators}")
        if node.name.startswith("__") and node.name != "__init__":
            raise Refused(node, f"method {node.name}")
        self.lines.append("")
        self.put_comments(min([node.lineno, *(each.lineno for each in node.decorator_list)]))
        body = self._put_doc(node)
        name, result = camel(node.name, is_member=True), self._result(signature.returns)
        if node.name == "__init__":
            head = brackets("constructor(", self.parameters(signature, body), ")")
            self.function(head, signature, body, node.end_lineno or 0)
            return
        base = self.names.classes.get(class_.base)
        override = "override " if base and node.name in base.methods and self.names.is_typed else ""
        if decorators == ["cached_property"]:
            self._put_kept(name, signature.returns, result)
            name = f"_made{name.strip('_')[:1].upper()}{name.strip('_')[1:]}"
        prefix = "get " if decorators == ["property"] else "*" if is_generator(node) else ""
        head = brackets(
            f"{override}{prefix}{name}(", self.parameters(signature, body), f"){result}"
        )
        self.function(head, signature, body, node.end_lineno or 0)

    def _put_kept(self, name: str, kind: Kind, result: str) -> None:
        """Put a property that is made once, when it is asked for."""
        plain = name.strip("_")
        made = f"_made{plain[:1].upper()}{plain[1:]}"
        self.put(f"get {name}(){result} {{")
        self.put(f"  return (this._kept{plain[:1].upper()}{plain[1:]} ??= this.{made}());")
        self.put("}")
        self.lines.append("")
        if self.names.is_typed:
            whole = shown(union(kind))
            self.put(f"_kept{plain[:1].upper()}{plain[1:]}: {whole} | undefined;")
            self.lines.append("")
