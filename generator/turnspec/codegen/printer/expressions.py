"""Expressions: names, literals, operators and parts of values."""

from __future__ import annotations

import ast

from turnspec.codegen.printer.kinds import (
    ANY,
    BOOL,
    MATCH,
    NULL,
    NUM,
    OBJECT,
    PATTERN,
    SEARCH,
    STR,
    Kind,
    Refused,
    class_of,
    element_of,
    list_of,
    parts_of,
    shown,
    union,
    without_null,
)
from turnspec.codegen.printer.layout import (
    brackets,
)
from turnspec.codegen.printer.names import (
    LOW,
    PLUS,
    SIMPLE,
    TIGHT,
    TIMES,
    UNARY,
    Class,
    Names,
    Signature,
    Value,
    camel,
    literal,
    quoted,
)

_INFIX = {
    **{ast.Add: ("+", PLUS), ast.Sub: ("-", PLUS), ast.Mult: ("*", TIMES), ast.Mod: ("%", TIMES)},
}
_OF_SETS = {ast.BitAnd: "intersection", ast.Sub: "difference"}
#: Lists for which the runtime has classes of its own.
_GROWING = ("GrowingText",)


class Expressions:
    """Prints expressions. Names are those of a module, and of a function in it."""

    def __init__(self, names: Names) -> None:
        """Begin outside of all functions."""
        self.names = names
        self.kinds: dict[str, Kind] = {}  # of local names
        self.owner: Class | None = None  # the class whose method is printed
        self.depth = 0  # of blocks, of which functions are the first

    def value(self, node: ast.expr, expected: Kind = ANY) -> Value:
        """Return an expression; `expected` is the kind of what it is given to.

        Raises:
            Refused: the subset doesn't have it.
        """
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise Refused(node, type(node).__name__)
        found: Value = method(node, expected)
        return found

    def text(self, node: ast.expr, expected: Kind = ANY) -> str:
        """Return an expression as text."""
        return self.value(node, expected).text

    def runtime(self, name: str, *given: str) -> str:
        """Return a call of the runtime."""
        return brackets(f"{name}(", list(given), ")")

    def sure(self, text: str) -> str:
        """Return an expression that is never undefined, which a compiler can't know."""
        return f"{text}!" if self.names.is_typed else text

    def note(self, kind: Kind) -> str:
        """Return an annotation."""
        return f": {shown(kind)}" if self.names.is_typed else ""

    # Names and literals.

    def _constant(self, node: ast.Constant, _: Kind) -> Value:
        match node.value:
            case None:
                return Value("null", NULL)
            case bool():
                return Value(str(node.value).lower(), BOOL)
            case str():
                return Value(literal(node.value), STR)
            case int() | float():
                return Value(str(node.value), NUM)
        raise Refused(node, "literal")

    def _name(self, node: ast.Name, _: Kind) -> Value:
        name = node.id
        if name == "self":
            assert self.owner
            return Value("this", class_of(self.owner.name))
        for kinds in (self.kinds, self.names.kinds):
            if name in kinds:
                return Value(camel(name), kinds[name])
        if name in self.names.functions:
            return Value(camel(name), self.names.functions[name].as_kind)
        if name in self.names.classes:
            return self._class_as_function(node)
        raise Refused(node, f"name {name}")

    def _class_as_function(self, node: ast.Name) -> Value:
        init = self.names.classes[node.id].methods.get("__init__", Signature())
        given: list[ast.expr] = [ast.Name(name, ast.Load()) for name in init.kinds]
        outer, self.kinds = self.kinds, {**self.kinds, **init.kinds}
        made = self.value(ast.copy_location(ast.Call(node, given, []), node))
        self.kinds = outer
        parameters = ", ".join(
            f"{camel(name)}{self.note(kind)}" for name, kind in init.kinds.items()
        )
        text = f"({made.text})" if made.text.startswith("{") else made.text
        kind = Kind("function", (*init.kinds.values(), made.kind))
        return Value(f"({parameters}) => {text}", kind, LOW)

    def _joinedstr(self, node: ast.JoinedStr, _: Kind) -> Value:
        text = ""
        for part in node.values:
            if isinstance(part, ast.Constant):
                inner = quoted(str(part.value))[1:-1].replace('\\"', '"')
                text += inner.replace("`", "\\`").replace("${", "\\${")
                continue
            assert isinstance(part, ast.FormattedValue)
            value = self.value(part.value)
            if part.conversion == ord("r"):
                inner = self.runtime("repr", value.text)
            elif part.format_spec is not None:
                inner = self._formatted(part, value)
            elif all(kind.name in ("str", "num", "literal") for kind in parts_of(value.kind)):
                inner = value.text
            else:
                raise Refused(part, f"{value.kind.name} in a text")
            text += f"${{{inner}}}"
        return Value(f"`{text}`", STR)

    def _formatted(self, part: ast.FormattedValue, value: Value) -> str:
        assert isinstance(part.format_spec, ast.JoinedStr)
        if ast.unparse(part.format_spec) != "f'04x'":
            raise Refused(part, "format specification")
        return f'{value.within(TIGHT)}.toString(16).padStart(4, "0")'

    def items(self, nodes: list[ast.expr], expected: Kind = ANY) -> tuple[list[str], list[Kind]]:
        """Return the elements of a list, and their kinds."""
        texts, kinds = [], []
        inner = element_of(expected)
        for node in nodes:
            if not isinstance(node, ast.Starred):
                value = self.value(node, inner)
                texts.append(value.within(LOW))
                kinds.append(value.kind)
            elif isinstance(node.value, ast.Tuple | ast.List):
                more, others = self.items(node.value.elts, expected)
                texts += more
                kinds += others
            else:
                found = self.walked(node.value)
                texts.append(f"...{found.within(UNARY)}")
                kinds.append(element_of(found.kind))
        return texts, kinds

    def _list(self, node: ast.List | ast.Tuple, expected: Kind) -> Value:
        if expected.alias in _GROWING and not node.elts:
            return Value(f"new {expected.alias}()", expected)
        texts, kinds = self.items(node.elts, expected)
        return Value(brackets("[", texts, "]"), list_of(union(*kinds) if kinds else ANY))

    def _tuple(self, node: ast.Tuple, expected: Kind) -> Value:
        found = self._list(node, expected)
        is_open = any(isinstance(each, ast.Starred) for each in node.elts) or not node.elts
        if is_open or any(part.name == "array" for part in parts_of(expected)):
            return found
        parts = [part for part in parts_of(expected) if part.name == "tuple"]
        wanted = (
            parts[0].of if parts and len(parts[0].of) == len(node.elts) else [ANY] * len(node.elts)
        )
        values = [self.value(each, kind) for each, kind in zip(node.elts, wanted, strict=True)]
        text = brackets("[", [value.text for value in values], "]")
        return Value(text, Kind("tuple", tuple(value.kind for value in values)))

    def _set(self, node: ast.Set, _: Kind) -> Value:
        texts, kinds = self.items(node.elts)
        return Value(f"new Set({brackets('[', texts, ']')})", Kind("set", (union(*kinds),)))

    def _dict(self, node: ast.Dict, expected: Kind) -> Value:
        if OBJECT in parts_of(expected) and not node.keys:
            return Value("{}", OBJECT)
        parts = [part for part in parts_of(expected) if part.name == "map"]
        inner = parts[0].of if parts else (ANY, ANY)
        texts: list[str] = []
        kinds: list[tuple[Kind, Kind]] = []
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                other = self.value(value)
                texts.append(f"...{other.within(UNARY)}")
                kinds.append((other.kind.of[0], other.kind.of[1]))
                continue
            one, other = self.value(key), self.value(value, inner[1])
            texts.append(brackets("[", [one.text, other.text], "]"))
            kinds.append((one.kind, other.kind))
        if not texts:
            kind = parts[0] if parts else Kind("map", (ANY, ANY))
            return Value(f"new Map{self._generics(kind)}()", kind)
        kind = Kind("map", (union(*(key for key, _ in kinds)), union(*(kind for _, kind in kinds))))
        if parts:
            kind = parts[0]
        return Value(f"new Map{self._generics(kind)}({brackets('[', texts, ']')})", kind)

    def _generics(self, kind: Kind) -> str:
        if not self.names.is_typed or ANY in kind.of:
            return ""
        return f"<{', '.join(map(shown, kind.of))}>"

    # Operators.

    def _binop(self, node: ast.BinOp, expected: Kind) -> Value:
        left, right = self.value(node.left), self.value(node.right)
        kind, op = without_null(left.kind), type(node.op)
        if kind.name == "set" and op in _OF_SETS:
            return Value(self.runtime(_OF_SETS[op], left.text, right.text), left.kind)
        if kind.name in ("list", "array", "tuple") and op is ast.Add:
            texts = [f"...{left.within(UNARY)}", f"...{right.within(UNARY)}"]
            inner = union(element_of(left.kind), element_of(right.kind))
            return Value(brackets("[", texts, "]"), list_of(inner))
        if kind == STR and op is ast.Mult:
            return Value(f"{left.within(TIGHT)}.repeat({right.text})", STR)
        if op is ast.FloorDiv and kind == NUM:
            return Value(f"Math.floor({left.within(TIMES)} / {right.within(UNARY)})", NUM)
        if op not in _INFIX or not {kind, right.kind} <= {STR, NUM, BOOL}:
            raise Refused(node, f"operator {op.__name__} of {kind.name} and {right.kind.name}")
        sign, rank = _INFIX[op]
        texts = [
            f"Number({value.text})" if value.kind == BOOL else value.within(rank + at)
            for at, value in enumerate((left, right))
        ]
        return Value(f" {sign} ".join(texts), STR if kind == STR else NUM, rank)

    def _namedexpr(self, node: ast.NamedExpr, _: Kind) -> Value:
        value = self.value(node.value)
        return Value(f"({camel(node.target.id)} = {value.text})", value.kind)

    def _yieldfrom(self, node: ast.YieldFrom, _: Kind) -> Value:
        value = self.value(node.value)
        if value.kind.name == "reading":
            return Value(f"yield* {value.text}", value.kind.of[0], LOW)
        return Value(f"yield* {self.walked(node.value).text}", NULL, LOW)

    def _yield(self, node: ast.Yield, _: Kind) -> Value:
        if node.value is None or ast.unparse(node.value) in ("None", "MORE_TEXT"):
            return Value("yield", NULL, LOW)
        return Value(f"yield {self.text(node.value)}", NULL, LOW)

    def _lambda(self, node: ast.Lambda, expected: Kind) -> Value:
        given = node.args
        if given.vararg or given.kwarg or given.kwonlyargs or given.defaults:
            raise Refused(node, "lambda with more than names")
        names = [arg.arg for arg in given.args]
        kinds = expected.of[: len(names)] if expected.name == "function" else (ANY,) * len(names)
        outer, self.kinds = self.kinds, {**self.kinds, **dict(zip(names, kinds, strict=True))}
        body = self.value(node.body)
        self.kinds = outer
        parameters = ", ".join(camel(name) for name in names)
        text = f"({body.text})" if body.text.startswith("{") else body.text
        return Value(f"({parameters}) => {text}", Kind("function", (*kinds, body.kind)), LOW)

    # Parts of values.

    def _subscript(self, node: ast.Subscript, _: Kind) -> Value:
        value, index = self.value(node.value), node.slice
        kind, text = without_null(value.kind), value.within(TIGHT)
        if isinstance(index, ast.Slice):
            return self._slice(node, value, index)
        if self.value(index).kind == BOOL:
            raise Refused(node, "a truth as an index")
        if kind == MATCH:
            return Value(f"{text}.get({self.text(index)})", STR)
        if kind.name == "map":
            return Value(self.sure(f"{text}.get({self.text(index)})"), kind.of[1])
        if kind in (OBJECT, ANY):
            return Value(self.runtime("memberOf", value.text, self.text(index)))
        if isinstance(index, ast.UnaryOp) and kind == STR and SIMPLE.fullmatch(text):
            return Value(f"{text}.charAt({text}.length {self.text(index).replace('-', '- ')})", STR)
        if isinstance(index, ast.UnaryOp):
            return Value(self.sure(f"{text}.at({self.text(index)})"), element_of(kind))
        number = index.value if isinstance(index, ast.Constant) else None
        if kind == STR and not isinstance(number, int):
            return Value(f"{text}.charAt({self.text(index)})", STR)
        if kind == STR and isinstance(number, int):  # a character may be two units
            return Value(self.runtime("characters", text, str(number), str(number + 1)), STR)
        if kind.name == "tuple" and isinstance(number, int):
            return Value(f"{text}[{number}]", kind.of[number])
        if kind.name in ("list", "array", "union"):
            kinds = [
                part.of[0] if part.name != "tuple" else ANY for part in parts_of(kind) if part.of
            ]
            return Value(self.sure(f"{text}[{self.text(index)}]"), union(*kinds) if kinds else ANY)
        raise Refused(node, f"element of {kind.name}")

    def _slice(self, node: ast.Subscript, value: Value, index: ast.Slice) -> Value:
        kind = without_null(value.kind)
        if index.step is not None or kind.name not in ("str", "list", "array"):
            raise Refused(node, f"slice of {kind.name}")
        ends = [self.text(end) if end else "" for end in (index.lower, index.upper)]
        kind = list_of(kind.of[0]) if kind.name == "array" else kind
        is_short = isinstance(index.upper, ast.Constant) and (not ends[0] or ends[0].isdigit())
        if kind == STR and is_short:  # by characters, of which some are two units
            return Value(self.runtime("characters", value.text, ends[0] or "0", ends[1]), STR)
        match index.upper:
            case ast.BinOp(left=left, op=ast.Add(), right=ast.Constant(value=int(count))) if (
                kind == STR and index.lower and ast.unparse(left) == ast.unparse(index.lower)
            ):
                return Value(self.runtime("charactersAt", value.text, ends[0], str(count)), STR)
        inside = ", ".join(end for end in (ends[0] or ("0" if ends[1] else ""), ends[1]) if end)
        return Value(f"{value.within(TIGHT)}.slice({inside})", kind)

    def _attribute(self, node: ast.Attribute, _: Kind) -> Value:
        name, owner = node.attr, node.value
        class_ = self.names.classes.get(owner.id) if isinstance(owner, ast.Name) else None
        if class_ and name in class_.members:
            return Value(quoted(class_.members[name]), Kind("enum", text=class_.name))
        if isinstance(owner, ast.Name) and f"{owner.id}.{name}" == "sys.maxsize":
            return Value("Number.MAX_SAFE_INTEGER", NUM)
        if isinstance(owner, ast.Name) and f"{owner.id}.{name}" == "sys.maxunicode":
            return Value("0x10ffff", NUM)
        value = self.value(owner)
        text, kind = value.within(TIGHT), without_null(value.kind)
        member = f"{text}.{camel(name, is_member=True)}"
        if kind == MATCH and name in ("lastgroup", "lastindex"):
            return Value(member, union(STR if name == "lastgroup" else NUM, NULL))
        if kind == PATTERN and name == "groupindex":
            return Value(member, Kind("array", (STR,)))
        if kind == PATTERN and name == "pattern":
            return Value(f"{text}.source", STR)
        if kind == PATTERN and name == "search":
            return Value(text, SEARCH)
        return self._member(node, value, member)

    def _member(self, node: ast.Attribute, value: Value, member: str) -> Value:
        kinds = []
        for part in parts_of(without_null(value.kind)):
            found = self.member_of(part, node.attr)
            if found is None:
                raise Refused(node, f"attribute {node.attr} of {part.text or part.name}")
            if isinstance(found, Signature) and not found.is_property:
                return self._bound(node, member, found)
            kinds.append(found.returns if isinstance(found, Signature) else found)
        return Value(member, union(*kinds))

    def _bound(self, node: ast.Attribute, member: str, found: Signature) -> Value:
        """Return a method of what has a name as a function, which is quicker than a bound one."""
        if not isinstance(node.value, ast.Name) or not self.is_lasting(node.value.id):
            raise Refused(node, f"method {node.attr} of what may be another one later")
        given = ", ".join(f"{camel(name)}{self.note(kind)}" for name, kind in found.kinds.items())
        text = f"({given}) => {member}({', '.join(map(camel, found.kinds))})"
        return Value(text, found.as_kind, LOW)

    def is_lasting(self, name: str) -> bool:
        """Tell whether a name has one value for as long as it is known."""
        return False

    def member_of(self, kind: Kind, name: str) -> Kind | Signature | None:
        """Return what a class, or one that it is made of, has by a name."""
        class_ = self.names.classes.get(kind.text) if kind.name == "class" else None
        while class_:
            if name in class_.fields:
                return class_.fields[name]
            if name in class_.methods:
                return class_.methods[name]
            class_ = self.names.classes.get(class_.base)
        return None

    def walked(self, node: ast.expr) -> Value:
        """Return what is gone through."""
        raise NotImplementedError
