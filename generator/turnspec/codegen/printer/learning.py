"""What a module defines, and of which kinds that is."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress

from turnspec.codegen.printer.comments import Comments
from turnspec.codegen.printer.functions import Functions
from turnspec.codegen.printer.kinds import (
    ANY,
    NULL,
    STR,
    Kind,
    Refused,
    union,
)
from turnspec.codegen.printer.names import (
    Class,
    Names,
    Signature,
)
from turnspec.codegen.printer.syntax import simplified

_ENUM = "Enum"
DECORATORS = ("property", "cached_property")


#: What the runtime has under a name that is no function's in Python.
_RUNTIME_KINDS = {
    "dump_json": Kind("function", (ANY, STR)),
    "quote": Kind("function", (STR, STR)),
    "MORE_TEXT": NULL,
}
TYPING = ("T", "Reading", "MORE_TEXT")
#: Aliases whose types are quoted, as they name themselves.
QUOTED_TYPES = ("Notation", "Parts", "Followers", "Step", "Slots", "Rows")


class Learning(Functions):
    """Learns what a module defines."""

    def __init__(
        self,
        source: str,
        runtime: frozenset[str] = frozenset(),
        exported: Collection[str] = (),
        reserved: Collection[str] = (),
        *,
        is_typed: bool = True,
    ) -> None:
        """Take a module's source.

        `runtime` are names of its own that something else defines, `exported` and `reserved` are
        names of the script: what it exports, and what else is in it.
        """
        self.exported = exported
        names = Names(runtime=runtime, is_typed=is_typed)
        super().__init__(names, Comments(source))
        self.reserved = reserved
        self.tree = ast.parse(source)
        self.needed: set[str] = set()  # the names that are printed
        self.refusals: list[str] = []
        self.last_lines: list[str] = []  # those of expressions, which need a class of the runtime
        self.tops = list(_tops(self.tree.body))
        self.defined = {name: node for node in reversed(self.tops) for name in names_of(node)}

    def learn(self) -> None:
        """Learn the kinds of all that the module defines."""
        for node in self.tops:
            self._learn_name(node)
        for class_ in self.names.classes.values():
            self._learn_methods(class_)
        for node in self.tops:
            if isinstance(node, ast.FunctionDef):
                with self.noting():
                    self.names.functions[node.name] = self._signature(node)
        self.names.kinds |= _RUNTIME_KINDS
        for node in self.tops:
            with suppress(Refused):  # it is told where it is printed
                self._learn_constant(node)
        for _ in range(3):  # as classes know each other
            for class_ in self.names.classes.values():
                if class_.name in self.needed:
                    self._learn_fields(class_)

    def _learn_name(self, node: ast.stmt) -> None:
        """Note a class, an enumeration, or a name of a type."""
        annotations, classes = self.names.annotations, self.names.classes
        match node:
            case ast.ClassDef(name=name):
                base = ast.unparse(node.bases[0]) if node.bases else ""
                classes[name] = Class(name, node, "" if base == _ENUM else base)
                annotations.classes[name] = ()
                if base == _ENUM:
                    classes[name].members = _members(node)
                    annotations.enums.add(name)
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(func=ast.Name("Enum"), args=[_, ast.Constant(value=str(members))]),
            ):
                empty = ast.ClassDef(name=name, bases=[], keywords=[], body=[], decorator_list=[])
                classes[name] = Class(name, empty)
                annotations.enums.add(name)
                words = members.split()
                classes[name].members = {word: word.lower() for word in words}
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_alias(name, value):
                annotations.written[name] = value
            case ast.AnnAssign(target=ast.Name(id=name), value=value) if is_type(node) and value:
                annotations.written[name] = value

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Note what is refused, so that all of it is told at once."""
        depth, kinds = self.depth, self.kinds
        try:
            yield
        except Refused as refused:
            self.refusals.append(str(refused))
            self.depth, self.kinds = depth, kinds

    def _learn_methods(self, class_: Class) -> None:
        for node in class_.node.body:
            if isinstance(node, ast.FunctionDef):
                class_.methods[node.name] = self._signature(node, is_method=True)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                class_.fields[node.target.id] = self.names.annotations.kind(node.annotation)
            elif isinstance(node, ast.Assign) and ast.unparse(node).startswith(
                "__slots__ = __match_args__"
            ):
                class_.record = ast.literal_eval(node.value)
        base = self.names.classes.get(class_.base)
        if base and base.record and not class_.record:
            class_.record = base.record
        if "__init__" not in class_.methods and base:
            class_.methods["__init__"] = base.methods.get("__init__", Signature())
        if class_.record:
            init = class_.methods["__init__"]
            class_.fields |= init.kinds
            kind = class_.fields.get("type")
            if kind:
                class_.members = {"type": kind.text}
                class_.record = ("type", *class_.record)
            if class_.name == "Message":
                class_.record = ()
        self.names.annotations.classes[class_.name] = tuple(
            class_.methods.get("__init__", Signature()).kinds.values()
        )

    def _signature(self, node: ast.FunctionDef, *, is_method: bool = False) -> Signature:
        given = node.args
        if given.vararg or given.kwarg or given.posonlyargs:
            raise Refused(node, "parameters *args, **kwargs, /")
        args = [*given.args[is_method:], *given.kwonlyargs]
        annotations = self.names.annotations
        try:
            kinds = {arg.arg: annotations.kind(arg.annotation) for arg in args}
            returns = annotations.kind(node.returns)
        except Refused:
            if self._is_needed(node):
                raise
            return Signature()
        defaults = dict(
            zip([arg.arg for arg in given.args][::-1], given.defaults[::-1], strict=False)
        )
        more = zip(given.kwonlyargs, given.kw_defaults, strict=True)
        defaults |= {arg.arg: value for arg, value in more if value}
        names = {ast.unparse(each) for each in node.decorator_list}
        return Signature(kinds, defaults, returns, bool(names & set(DECORATORS)))

    def _is_needed(self, node: ast.FunctionDef) -> bool:
        return not node.name.startswith("__") and node.name not in self.names.runtime

    def _learn_constant(self, node: ast.stmt) -> None:
        match node:
            case ast.AnnAssign(target=ast.Name(id=name)) if name in self.needed and not is_type(
                node
            ):
                self.names.kinds[name] = self.names.annotations.kind(node.annotation)
            case ast.Assign(targets=[target], value=value) if set(names_of(node)) & self.needed:
                if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                    for one, other in zip(target.elts, value.elts, strict=True):
                        self.names.kinds[ast.unparse(one)] = self.value(other).kind
                elif ast.unparse(target) not in {
                    *self.names.classes,
                    *self.names.annotations.written,
                    "FORMAT",
                }:
                    kind = self.value(value).kind
                    self.names.kinds[ast.unparse(target)] = _read_only(kind)

    def _learn_fields(self, class_: Class) -> None:
        """Learn the kinds of the attributes that methods set."""
        self.owner = class_
        for node in class_.node.body:
            if isinstance(node, ast.Assign) and not ast.unparse(node).startswith("__"):
                class_.fields[ast.unparse(node.targets[0])] = self.value(node.value).kind
        methods = [node for node in class_.node.body if isinstance(node, ast.FunctionDef)]
        for method in sorted(methods, key=lambda node: node.name != "__init__"):
            if not method.name.startswith("__") or method.name == "__init__":
                self._learn_from(class_, method)
        self.owner = None

    def _learn_from(self, class_: Class, method: ast.FunctionDef) -> None:
        signature = class_.methods[method.name]
        outer, self.kinds = self.kinds, dict(signature.kinds)
        for node in ast.walk(
            ast.Module(simplified(ast.parse(ast.unparse(ast.Module(method.body, []))).body), [])
        ):
            match node:
                case ast.AnnAssign(target=ast.Attribute(value=ast.Name(id="self"), attr=name)):
                    class_.fields[name] = self.names.annotations.kind(node.annotation)
                case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)]):
                    base = self.names.classes.get(class_.base)
                    known = {**(base.fields if base else {}), **class_.fields}
                    if known.get(name, ANY) == ANY:
                        class_.fields[name] = self._known(node.value)
                case ast.Assign(targets=[target], value=value):
                    self.bind(target, self._known(value))
                case ast.AnnAssign(target=ast.Name(id=name)):
                    self.kinds[name] = self.names.annotations.kind(node.annotation)
                case ast.For(target=target):
                    self.bind(target, ANY)
        self.kinds = outer

    def _known(self, node: ast.expr) -> Kind:
        try:
            return self.value(node).kind
        except Refused:  # it is told where it is printed
            return ANY


def _tops(body: list[ast.stmt]) -> Iterable[ast.stmt]:
    """Yield the statements of a module, and those for type checkers."""
    for node in body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield from _tops(node.body)
        elif not isinstance(node, ast.Import | ast.ImportFrom | ast.Expr | ast.AugAssign):
            yield node


def names_of(node: ast.stmt) -> list[str]:
    """Return the names that a statement defines."""
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Assign(targets=[target]) | ast.AnnAssign(target=target):
            return [each.id for each in ast.walk(target) if isinstance(each, ast.Name)]
    return []


def alternatives(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the alternatives of a type."""
    if isinstance(node, ast.BinOp):
        yield from alternatives(node.left)
        yield from alternatives(node.right)
    else:
        yield node


def is_type(node: ast.AnnAssign) -> bool:
    """Tell whether a statement names a type."""
    return ast.unparse(node.annotation) == "TypeAlias"


def _is_alias(name: str, value: ast.expr) -> bool:
    is_type = isinstance(value, ast.Subscript | ast.BinOp | ast.Name) and not name.isupper()
    return name[0].isupper() and is_type


def _members(node: ast.ClassDef) -> dict[str, str]:
    return {
        ast.unparse(each.targets[0]): ast.literal_eval(each.value)
        for each in node.body
        if isinstance(each, ast.Assign)
    }


def is_generator(node: ast.FunctionDef) -> bool:
    """Tell whether a function yields."""
    return any(isinstance(each, ast.Yield | ast.YieldFrom) for each in ast.walk(node))


def _read_only(kind: Kind) -> Kind:
    """Return the kind of a constant: what holds values of one kind may be any list of them."""
    if (kind.name == "tuple" and len(set(kind.of)) == 1) or kind.name == "list":
        return Kind("array", (union(*kind.of),))
    return kind
