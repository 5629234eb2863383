"""What a module defines, and of which kinds that is."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress

from turnspec.codegen.printer.comments import Comments
from turnspec.codegen.printer.functions import Functions
from turnspec.codegen.printer.kinds import ANY, NULL, STR, Kind, Refused, function_of, union
from turnspec.codegen.printer.names import Class, Signature
from turnspec.codegen.printer.syntax import Annotated, Simplifier

DECORATORS = ("property", "cached_property")
#: What the runtime has under a name that is no function's in Python.
_RUNTIME_KINDS = {
    "dump_json": function_of(ANY, STR),
    "quote": function_of(STR, STR),
    "MORE_TEXT": NULL,
}


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
        super().__init__(Comments(source if is_typed else ""), is_typed=is_typed)
        self.runtime = runtime
        self.exported = exported
        self.reserved = reserved
        self.tree = Simplifier(self.comments.alone).visit(ast.parse(source))
        self.needed: set[str] = set()  # the names that are printed
        self.refusals: list[str] = []
        self.last_lines: list[str] = []  # those of expressions, which need a class of the runtime
        self.tops = list(_tops(self.tree.body))
        self.defined = {name_of(node): node for node in reversed(self.tops)}

    def learn(self) -> None:
        """Learn the kinds of all that the module defines."""
        for node in self.tops:
            self._learn_name(node)
        for class_ in self.classes.values():
            self._learn_methods(class_)
        for node in self.tops:
            if isinstance(node, ast.FunctionDef):
                with self.noting():
                    self.functions[node.name] = self._signature(node)
        self.globals |= _RUNTIME_KINDS
        for node in self.tops:
            with suppress(Refused):  # it is told where it is printed
                self._learn_constant(node)
        for _ in range(3):  # as classes know each other
            for class_ in self.classes.values():
                if class_.name in self.needed:
                    self._learn_fields(class_)

    def _learn_name(self, node: ast.stmt) -> None:
        """Note a class, an enumeration, or a name of a type."""
        match node:
            case ast.ClassDef(name=name, bases=bases):
                self.classes[name] = Class(name, node, ast.unparse(bases[0]) if bases else "")
            case ast.Assign([ast.Name(name)], value):
                is_type = isinstance(value, ast.Subscript | ast.BinOp | ast.Name | ast.Constant)
                if is_type and name[0].isupper() and not name.isupper():
                    self.annotations.written[name] = value

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Note what is refused, so that all of it is told at once."""
        depth = self.depth
        try:
            yield
        except Refused as refused:
            self.refusals.append(str(refused))
            self.depth = depth

    def _learn_methods(self, class_: Class) -> None:
        for node in class_.node.body:
            match node:
                case ast.FunctionDef(name=name):
                    class_.methods[name] = self._signature(node, is_method=True)
                case Annotated([ast.Name(name)]) | ast.AnnAssign(ast.Name(name)):
                    class_.fields[name] = self.annotations.kind(node.annotation)
                case ast.Assign([ast.Name("__slots__"), ast.Name("__match_args__")], value):
                    class_.record = ast.literal_eval(value)
                case ast.Assign([ast.Name(name)], value) if class_.is_enum:
                    class_.members[name] = ast.literal_eval(value)
        if base := self.classes.get(class_.base):
            class_.record = class_.record or base.record
            class_.methods.setdefault("__init__", base.init)
        if class_.record:
            class_.fields |= class_.init.kinds
            if kind := class_.fields.get("type"):
                class_.members = {"type": kind.text}
                class_.record = ("type", *class_.record)

    def _signature(self, node: ast.FunctionDef, *, is_method: bool = False) -> Signature:
        given = node.args
        if given.vararg or given.kwarg or given.posonlyargs:
            raise Refused(node, "parameters *args, **kwargs, /")
        taken = (*given.args[is_method:], *given.kwonlyargs)
        kinds = {arg.arg: self.annotations.kind(arg.annotation) for arg in taken}
        returns = self.annotations.kind(node.returns)
        last = zip(given.args[::-1], given.defaults[::-1], strict=False)
        more = zip(given.kwonlyargs, given.kw_defaults, strict=True)
        defaults = {arg.arg: value for arg, value in (*last, *more) if value}
        names = {ast.unparse(each) for each in node.decorator_list}
        is_kept = any(name.startswith(("cached_property", "lru_cache(")) for name in names)
        return Signature(kinds, defaults, returns, bool(names & set(DECORATORS)), is_kept)

    def _learn_constant(self, node: ast.stmt) -> None:
        name = name_of(node)
        if name not in self.needed or name in (*self.classes, *self.annotations.written):
            return
        match node:
            case Annotated():
                self.globals[name] = self.annotations.kind(node.annotation)
            case ast.Assign(value=value) if name != "FORMAT":
                self.globals[name] = _read_only(self.value(value).kind)

    def _learn_fields(self, class_: Class) -> None:
        """Learn the kinds of the attributes that methods set."""
        self.owner = class_
        for node in class_.node.body:
            if type(node) is ast.Assign and not ast.unparse(node).startswith("__"):
                class_.fields[ast.unparse(node.targets[0])] = self.value(node.value).kind
        methods = [node for node in class_.node.body if isinstance(node, ast.FunctionDef)]
        for method in sorted(methods, key=lambda node: node.name != "__init__"):
            if not method.name.startswith("__") or method.name == "__init__":
                self.kinds_in(method.body, class_.methods[method.name])
        self.owner = None


def _tops(body: list[ast.stmt]) -> Iterable[ast.stmt]:
    """Yield the statements of a module, and those for type checkers; a table is made at once."""
    tables: dict[str, ast.Dict] = {}
    for node in body:
        match node:
            case ast.If() if ast.unparse(node.test) == "TYPE_CHECKING":
                yield from _tops(node.body)
            case ast.Import() | ast.ImportFrom() | ast.Expr():
                continue
            case ast.AugAssign(ast.Name(name), ast.BitOr(), ast.Dict(keys, values)) if (
                name in tables
            ):
                tables[name].keys += keys
                tables[name].values += values
            case ast.Assign([ast.Name(name)], ast.Dict() as table):
                tables[name] = table
                yield node
            case _ if name_of(node) != "__all__":
                yield node


def name_of(node: ast.stmt) -> str:
    """Return the name that a statement defines."""
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return name
        case ast.Assign([target]) | ast.AnnAssign(target) | ast.AugAssign(target):
            return ast.unparse(target)
    return ""


def _read_only(kind: Kind) -> Kind:
    """Return the kind of a constant: what holds values of one kind, or pairs, is a list of them."""
    holds_pairs = any(part.name == "tuple" for part in kind.of)
    is_list = kind.name == "tuple" and (holds_pairs or len(set(kind.of)) == 1)
    return Kind("array", (union(*kind.of),)) if is_list or kind.name == "list" else kind
