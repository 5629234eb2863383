"""Modules: what of them is printed."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterable, Iterator

from turnspec.codegen.compiler.edits import first_line
from turnspec.codegen.printer.kinds import ANY, RENAMED, Refused
from turnspec.codegen.printer.layout import WIDTH, braces
from turnspec.codegen.printer.learning import DECORATORS, Learning, name_of
from turnspec.codegen.printer.names import Class, camel, member, quoted, reached
from turnspec.codegen.printer.short import shortened
from turnspec.codegen.printer.statements import joined
from turnspec.codegen.printer.syntax import Annotated

_TYPING = ("T", "Reading", "MORE_TEXT")


class NotInSubset(Exception):
    """What of a module is refused, each with its line."""

    def __init__(self, refusals: list[str]) -> None:
        self.refusals = refusals
        super().__init__("; ".join(refusals))


class Module(Learning):
    """Prints a module's statements."""

    def printed(self, roots: Iterable[str]) -> str:
        """Return what some names need, printed.

        Raises:
            NotInSubset: the subset doesn't have something of it.
        """
        if ast.get_docstring(self.tree):  # what stands above it is of the file
            self.comments.drop(1, self.tree.body[0].end_lineno or 1)
        self.needed = reached(roots, self._uses) & set(self.defined) - {*self.runtime, *_TYPING}
        self.learn()
        for node in self.tops:
            name, line = name_of(node), first_line(node)
            if name not in self.needed or (self._is_type(name) and not self.is_typed):
                self.comments.drop(line, node.end_lineno or 0)
                continue
            with self.noting():
                self.check(node, [name])
                for lines in self.comments.sections(line):
                    self.lines += ["", *lines]
                self._put_top(node)
        if self.refusals:
            raise NotInSubset(self.refusals)
        text = re.sub(r"\n{3,}", "\n\n", shortened("\n".join(self.lines)))
        return re.sub(r"(?<=\{\n)\n", "", text).strip("\n") + "\n"

    def _uses(self, name: str) -> Iterator[str]:
        """Yield the names that a statement of the module uses, if it is printed."""
        if name in (*self.runtime, *_TYPING) or name not in self.defined:
            return
        node = self.defined[name]
        is_type = isinstance(node, Annotated) and ast.unparse(node.annotation) == "TypeAlias"
        for each in ast.walk(node):
            match each:
                case ast.Name(id=other):
                    yield other
                case ast.Constant(value=str(text)) if is_type:  # a type in quotes
                    yield from re.findall(r"[A-Za-z_]\w*", text)

    def _is_type(self, name: str) -> bool:
        """Tell whether a name is of types alone."""
        class_ = self.classes.get(name)
        is_type = class_ is not None and bool(class_.is_enum or class_.record)
        return is_type or name in self.annotations.written

    def _put_top(self, node: ast.stmt) -> None:
        name = name_of(node)
        match node:
            case ast.FunctionDef():
                self.lines.append("")
                self._put_function(node)
            case _ if name in self.classes and self.classes[name].is_enum:
                self._put_type(name, list(map(quoted, self.classes[name].members.values())))
            case ast.ClassDef():
                self.lines.append("")
                self._put_class(node)
            case ast.Assign(value=ast.Dict() as value) if name == "FORMAT":
                pairs = zip(value.keys, value.values, strict=True)
                texts = [f"{ast.literal_eval(key or it)}: {self.text(it)}" for key, it in pairs]
                note = ": FormatTexts" * self.is_typed
                self.lines.append("")
                self.put(f"export const FORMAT{note} = {braces(texts)};")
            case _ if name in self.annotations.written:
                kind = self.annotations.kind(ast.Name(name))
                if kind.alias == (shown := RENAMED.get(name, name)):
                    parts = _alternatives(self.annotations.written[name])
                    self._put_type(shown, [self.annotations.kind(part).shown for part in parts])
            case ast.Assign(value=value):
                self._put_constant(node, name, value)
            case _:
                raise Refused(node, type(node).__name__)

    def _put_constant(self, node: ast.Assign, name: str, value: ast.expr) -> None:
        kind = self.globals.get(name, ANY)
        found = self.value(value, kind)
        is_told = kind.name in ("array", "list") and ANY not in kind.of
        is_told = not found.is_made(kind) and (is_told or isinstance(node, Annotated))
        is_pattern = "new Pattern(" in found.text and not isinstance(node, Annotated)
        note = self.note(kind) * (is_told and not is_pattern)
        lines = self.lines
        if is_pattern:
            self.lines = self.last_lines
        self.put(joined(f"const {camel(name)}{note} =", found.text), node)
        self.lines = lines

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
        name = camel(node.name)
        match node.decorator_list:
            case []:
                head = f"function{_star(node)} {name}"
            case [ast.Call(ast.Name("lru_cache"), [size])]:
                head = f"const {name} = remembered({ast.unparse(size)}, "
            case decorators:
                raise Refused(node, f"decorator {list(map(ast.unparse, decorators))}")
        self.function(node, head, self.functions[node.name])

    # Classes.

    def _put_class(self, node: ast.ClassDef) -> None:
        class_ = self.owner = self.classes[node.name]
        body = self.put_doc(node)
        if class_.record:
            self._put_record(class_)
            return
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

    def _put_record(self, class_: Class) -> None:
        members = [f"{name}{self.note(class_.fields[name])}" for name in class_.record]
        start, end = ("Readonly<{", "}>") if class_.members else ("{", "}")
        head = f"{'export ' * (class_.name in self.exported)}type {class_.name} = {start}"
        line = f"{head} {'; '.join(members)} {end};"
        broken = [head, *(f"  {member};" for member in members), f"{end};"]
        self.lines += [*([line] if len(line) <= WIDTH else broken), ""]

    def _put_fields(self, class_: Class) -> None:
        given, sure = dict[str, tuple[str, ast.stmt]](), set[str]()
        for each in class_.node.body:
            match each:
                case ast.FunctionDef(name="__init__", body=body):
                    plain = [part for part in body if not isinstance(part, ast.If)]
                    nodes = ast.walk(ast.Module(plain, []))
                    attributes = [part for part in nodes if isinstance(part, ast.Attribute)]
                    sure |= {part.attr for part in attributes if isinstance(part.ctx, ast.Store)}
                case ast.Assign([ast.Name(name)], value):
                    kind = class_.fields.get(name, ANY)
                    found = self.value(value, kind)
                    note = "" if found.is_of(kind) else self.note(kind)
                    given[name] = f"{note} = {found.text};", each
        base = self.classes.get(class_.base)
        for name in sorted(class_.fields, key=lambda name: name not in given):
            kind = class_.fields[name]
            is_again = base is not None and name in base.fields
            head = "override " * (is_again and self.is_typed) + member(name)
            if name in given:
                self.put(f"{head}{given[name][0]}", given[name][1])
            elif self.is_typed and not is_again:
                self.put(f"{head}{'' if name in sure else '!'}{self.note(kind)};")

    def _put_method(self, class_: Class, node: ast.FunctionDef) -> None:
        signature, base = class_.methods[node.name], self.classes.get(class_.base)
        decorators = [ast.unparse(each) for each in node.decorator_list]
        if set(decorators) - set(DECORATORS):
            raise Refused(node, f"decorator {decorators}")
        if node.name.startswith("__") and node.name != "__init__":
            raise Refused(node, f"method {node.name}")
        if node.name == "__init__" and not node.body:
            return
        self.lines.append("")
        self.put_comments(first_line(node))
        is_again = base is not None and node.name in base.methods and self.is_typed
        head = "override " * is_again + "get " * signature.is_property + _star(node)
        if node.name == "__init__":
            head = "constructor"
        elif signature.is_kept:
            head = f"{'readonly ' * self.is_typed}{member(node.name)} = once("
        else:
            head += member(node.name)
        self.function(node, head, signature)


def _star(node: ast.FunctionDef) -> str:
    """Return the sign of a function that yields."""
    yields = any(isinstance(each, ast.Yield | ast.YieldFrom) for each in ast.walk(node))
    return "*" if yields else ""


def _alternatives(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the alternatives of a type."""
    match node:
        case ast.Constant(value=str(text)):
            yield from _alternatives(ast.parse(text, mode="eval").body)
        case ast.BinOp(left=left, right=right):
            yield from _alternatives(left)
            yield from _alternatives(right)
        case _:
            yield node
