"""Expressions: each with what is known of its value."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass, field

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
    Annotations,
    Kind,
    Refused,
    class_of,
    element_of,
    is_plain,
    list_of,
    may_be_null,
    parts_of,
    shown,
    union,
    without_null,
)
from turnspec.codegen.printer.layout import BEGIN, END, brackets, chain

#: How tightly operators bind: what is weaker than its place stands in brackets.
LOW, CONDITION, OR, AND, EQUAL, LESS, PLUS, TIMES, UNARY, TIGHT = range(10)
_INFIX = {
    **{ast.Add: ("+", PLUS), ast.Sub: ("-", PLUS), ast.Mult: ("*", TIMES), ast.Mod: ("%", TIMES)},
}
_COMPARED = {
    **{ast.Lt: ("<", LESS), ast.LtE: ("<=", LESS), ast.Gt: (">", LESS), ast.GtE: (">=", LESS)},
    **{ast.Eq: ("===", EQUAL), ast.Is: ("===", EQUAL)},
    **{ast.NotEq: ("!==", EQUAL), ast.IsNot: ("!==", EQUAL)},
}
_OF_SETS = {ast.BitAnd: "intersection", ast.Sub: "difference"}
_RESERVED = frozenset(
    "arguments await break case catch class const continue debugger default delete do else enum "
    "eval export extends false finally for function if implements import in instanceof interface "
    "let new null package private protected public return static super switch this throw true try "
    "typeof var void while with yield".split()
)
#: Lists for which the runtime has classes of its own.
_GROWING = ("GrowingText",)
_BARE = ("list", "tuple")
_SIMPLE = re.compile(r"[\w.]+")
_NOT_SHOWN = re.compile("[\x7f-\xa0\u1680\u2000-\u206f\u3000\ud800-\uf8ff\ufdd0-\uffff]")


@dataclass(frozen=True, slots=True)
class Value:
    """A printed expression.

    `negated` is the opposite of what is asked, and `asked` what says whether it is true, if these
    have forms of their own.
    """

    text: str
    kind: Kind = ANY
    rank: int = TIGHT
    negated: str = ""
    asked: str = ""

    def within(self, rank: int) -> str:
        """Return the text, in brackets if it binds less than the place asks."""
        return self.text if self.rank >= rank else f"({self.text})"


@dataclass(slots=True)
class Signature:
    """What a function or a method takes and returns."""

    kinds: dict[str, Kind] = field(default_factory=dict)
    defaults: dict[str, ast.expr] = field(default_factory=dict)
    returns: Kind = ANY
    is_property: bool = False

    @property
    def as_kind(self) -> Kind:
        """The kind of the function as a value."""
        return Kind("function", (*self.kinds.values(), self.returns))


@dataclass(slots=True)
class Class:
    """A class of the module."""

    name: str
    node: ast.ClassDef
    base: str = ""
    fields: dict[str, Kind] = field(default_factory=dict)
    methods: dict[str, Signature] = field(default_factory=dict)
    #: Of an enumeration, by member; of what is a plain object, the names of what it has.
    members: dict[str, str] = field(default_factory=dict)
    record: tuple[str, ...] = ()


@dataclass(slots=True)
class Names:
    """What a module defines, and what of the runtime it uses."""

    annotations: Annotations = field(default_factory=Annotations)
    classes: dict[str, Class] = field(default_factory=dict)
    functions: dict[str, Signature] = field(default_factory=dict)
    kinds: dict[str, Kind] = field(default_factory=dict)
    runtime: frozenset[str] = frozenset()
    is_typed: bool = True


def camel(name: str, *, is_member: bool = False) -> str:
    """Return a name as TypeScript has it."""
    if name.isupper():
        return name
    start = name[: len(name) - len(name.lstrip("_"))]
    first, *others = name.strip("_").split("_")
    name = start + first + "".join(part[:1].upper() + part[1:] for part in others)
    return name if is_member or name not in _RESERVED else f"{name}_"


def quoted(text: str) -> str:
    """Return a text as a literal of JavaScript."""
    found = json.dumps(text, ensure_ascii=False)
    return _NOT_SHOWN.sub(lambda sign: f"\\u{ord(sign[0]):04x}", found)


def literal(text: str) -> str:
    """Return a text as a literal; with many backslashes, as it is."""
    is_raw = text.count("\\") > 1 and not re.search(r"[`\x00-\x1f]|\$\{|\\$", text)
    if is_raw and not _NOT_SHOWN.search(text):
        return f"String.raw`{text}`"
    return quoted(text)


class Expressions:
    """Prints expressions. Names are those of a module, and of a function in it."""

    def __init__(self, names: Names) -> None:
        """Begin outside of all functions."""
        self.names = names
        self.kinds: dict[str, Kind] = {}  # of local names
        self.owner: Class | None = None  # the class whose method is printed

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
        given = [ast.Name(name, ast.Load()) for name in init.kinds]
        outer, self.kinds = self.kinds, {**self.kinds, **init.kinds}
        made = self.value(ast.copy_location(ast.Call(node, given, []), node))
        self.kinds = outer
        parameters = ", ".join(f"{camel(name)}{self.note(kind)}" for name, kind in init.kinds.items())
        text = f"({made.text})" if made.text.startswith("{") else made.text
        kind = Kind("function", (*init.kinds.values(), made.kind))
        return Value(f"({parameters}) => {text}", kind, LOW)

    def _joinedstr(self, node: ast.JoinedStr, _: Kind) -> Value:
        text = ""
        for part in node.values:
            if isinstance(part, ast.Constant):
                inner = quoted(part.value)[1:-1].replace('\\"', '"')
                text += inner.replace("`", "\\`").replace("${", "\\${")
                continue
            assert isinstance(part, ast.FormattedValue)
            value = self.value(part.value)
            if part.conversion == ord("r"):
                inner = self.runtime("repr", value.text)
            elif part.format_spec is not None:
                inner = self._formatted(part, value)
            elif value.kind.name in ("str", "num", "literal"):
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
        wanted = parts[0].of if parts and len(parts[0].of) == len(node.elts) else [ANY] * len(node.elts)
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

    # Conditions.

    def truth(self, node: ast.expr) -> Value:
        """Return an expression that is as true as Python's."""
        if isinstance(node, ast.BoolOp):
            return self._all_true(node)
        value = self.value(node)
        kind = without_null(value.kind)
        if kind.name in ("list", "array", "set", "map") and isinstance(node, ast.NamedExpr):
            raise Refused(node, "walrus of a collection in a condition")
        if kind.name in ("list", "array", "set", "map"):
            member = "size" if kind.name in ("set", "map") else "length"
            text = value.within(TIGHT)
            if may_be_null(value.kind):
                return Value(f"{text}?.{member}", union(NUM, NULL))
            return Value(f"{text}.{member} > 0", BOOL, LESS, f"{text}.{member} === 0")
        if value.asked:
            return Value(value.asked, BOOL)
        if is_plain(value.kind):
            return value
        return Value(self.runtime("truthy", value.text), BOOL)

    def _all_true(self, node: ast.BoolOp) -> Value:
        rank = AND if isinstance(node.op, ast.And) else OR
        outer, values = self.kinds, []
        for each in node.values:
            values.append(self.truth(each))
            self.narrow(each, isinstance(node.op, ast.And))
        self.kinds = outer
        # TypeScript asks for brackets around && in ||.
        texts = [value.within(LESS - 1 if value.rank <= AND else rank) for value in values]
        return Value(chain(texts, "&&" if rank == AND else "||"), union(*(v.kind for v in values)), rank)

    def negated(self, node: ast.expr) -> Value:
        """Return an expression that is true where one is not."""
        value = self.truth(node)
        if value.negated:
            return Value(value.negated, BOOL, EQUAL)
        return Value(f"!{value.within(UNARY)}", BOOL, UNARY)

    def as_bool(self, node: ast.expr) -> Value:
        """Return whether an expression is true."""
        value = self.truth(node)
        if value.kind == BOOL:
            return value
        return Value(f"Boolean({value.text})", BOOL)

    def _boolop(self, node: ast.BoolOp, expected: Kind) -> Value:
        outer, values = self.kinds, []
        for each in node.values:
            values.append(self.value(each, expected))
            self.narrow(each, isinstance(node.op, ast.And))
        self.kinds = outer
        kinds = [value.kind for value in values]
        if all(kind == BOOL for kind in kinds):
            return self._all_true(node)
        *firsts, last = values
        is_or = isinstance(node.op, ast.Or)
        if all(is_plain(value.kind) for value in firsts):
            rank, sign = (OR, "||") if is_or else (AND, "&&")
            parts = [v.within(LESS - 1 if v.rank <= AND else rank) for v in values]
            before = [without_null(kind) if is_or else _when_false(kind) for kind in kinds[:-1]]
            kind = union(*[kind for kind in before if kind], kinds[-1])
            return Value(chain(parts, sign), kind, rank)
        if not is_or or len(firsts) > 1:
            raise Refused(node, "value of and, or of collections")
        one, other = node.values
        kind = without_null(kinds[0])
        if isinstance(other, ast.Dict | ast.List | ast.Tuple) and not _size(other) and kind != ANY:
            empty = "[]" if kind.name in ("list", "array", "tuple") else "new Map()"
            if kind == OBJECT:
                empty = "{}"
            return Value(f"{firsts[0].within(AND)} ?? {empty}", kind, CONDITION)
        text = self.runtime("either", firsts[0].text, last.text)
        return Value(text, union(kind, last.kind))

    def _unaryop(self, node: ast.UnaryOp, _: Kind) -> Value:
        if isinstance(node.op, ast.Not):
            return self.negated(node.operand)
        value = self.value(node.operand)
        if isinstance(node.op, ast.USub):
            return Value(f"-{value.within(UNARY)}", NUM, UNARY)
        raise Refused(node, f"operator {type(node.op).__name__}")

    def _ifexp(self, node: ast.IfExp, expected: Kind) -> Value:
        test, outer = self.truth(node.test).within(OR), self.kinds
        self.narrow(node.test, True)
        one, self.kinds = self.value(node.body, expected), outer
        self.narrow(node.test, False)
        other, self.kinds = self.value(node.orelse, expected), outer
        text = f"{test} ? {one.within(CONDITION + 1)} : {other.within(CONDITION)}"
        return Value(text, union(one.kind, other.kind), CONDITION)

    def _compare(self, node: ast.Compare, _: Kind) -> Value:
        sides = [node.left, *node.comparators]
        found = [
            self._compared(one, op, other)
            for one, op, other in zip(sides, node.ops, sides[1:], strict=False)
        ]
        if len(found) == 1:
            return found[0]
        return Value(chain([value.within(AND) for value in found], "&&"), BOOL, AND)

    def _compared(self, one: ast.expr, op: ast.cmpop, other: ast.expr) -> Value:
        if isinstance(op, ast.In | ast.NotIn):
            found = self._membership(one, other)
            if isinstance(op, ast.In):
                return found
            return Value(found.negated or f"!{found.within(UNARY)}", BOOL, AND if found.negated else UNARY)
        left, right = self.value(one), self.value(other)
        kind, is_same = without_null(left.kind), isinstance(op, ast.Is | ast.IsNot)
        if kind.name == "set" and isinstance(op, ast.LtE):
            return Value(self.runtime("isSubset", left.text, right.text), BOOL)
        if kind.name in ("list", "array") and isinstance(op, ast.Eq):
            return Value(self.runtime("equal", left.text, right.text), BOOL)
        comparable = ("str", "num", "bool", "null", "literal", "enum", "any")
        if not is_same and any(part.name not in comparable for part in parts_of(left.kind)):
            raise Refused(one, f"comparison of {kind.name}")
        sign, rank = _COMPARED[type(op)]
        text = f"{left.within(rank + 1)} {sign} {right.within(rank + 1)}"
        opposite = {"===": "!==", "!==": "==="}.get(sign)
        negated = f"{left.within(rank + 1)} {opposite} {right.within(rank + 1)}" if opposite else ""
        return Value(text, BOOL, rank, negated)

    def _membership(self, one: ast.expr, other: ast.expr) -> Value:
        sought, within = self.value(one), self.value(other)
        kind, text = without_null(within.kind), within.within(TIGHT)
        if any(part.name in ("list", "array", "tuple", "map", "object", "class", "set") for part in parts_of(sought.kind)):
            raise Refused(one, "membership of what is compared by its parts")
        if kind.name in ("set", "map"):
            return Value(f"{text}.has({sought.text})", BOOL)
        if all(part.name in ("str", "literal") for part in parts_of(kind)):
            return Value(f"{text}.includes({sought.text})", BOOL)
        if kind in (OBJECT, ANY):
            return Value(self.runtime("hasMember", within.text, sought.text), BOOL)
        if kind.name not in ("list", "array", "tuple"):
            raise Refused(other, f"membership in {kind.name}")
        texts = self.items(other.elts)[0] if isinstance(other, ast.Tuple) else []
        if 0 < len(texts) < 4 and _SIMPLE.fullmatch(sought.text) and "..." not in "".join(texts):
            parts = [[f"{sought.text} {sign} {text}" for text in texts] for sign in ("===", "!==")]
            rank = OR if len(texts) > 1 else EQUAL
            negated = f"({chain(parts[1], '&&')})" if len(texts) > 1 else parts[1][0]
            return Value(chain(parts[0], "||"), BOOL, rank, negated)
        return Value(self.runtime("among", sought.text, within.text), BOOL)

    def narrow(self, test: ast.expr, is_true: bool) -> None:
        """Note what a condition says of the kinds of names, where it is true or false."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                self.narrow(inner, not is_true)
            case ast.BoolOp(op=op, values=values) if isinstance(op, ast.And) == is_true:
                for each in values:
                    self.narrow(each, is_true)
            case ast.Name(id=name) if is_true and name in self.kinds:
                self.kinds = {**self.kinds, name: without_null(self.kinds[name])}
            case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), kind]):
                found = self.names.annotations.kind(kind) if ast.unparse(kind) not in _BARE else None
                parts = [
                    part
                    for part in parts_of(self.value(test.args[0]).kind)
                    if (part == found or part.name == ast.unparse(kind)) == is_true
                ]
                if parts or found:
                    self.kinds = {**self.kinds, name: union(*parts) if parts else found or ANY}

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
        if kind == MATCH:
            return Value(f"{text}.get({self.text(index)})", STR)
        if kind.name == "map":
            return Value(self.sure(f"{text}.get({self.text(index)})"), kind.of[1])
        if kind in (OBJECT, ANY):
            return Value(self.runtime("memberOf", value.text, self.text(index)))
        if isinstance(index, ast.UnaryOp) and kind == STR and _SIMPLE.fullmatch(text):
            return Value(f"{text}.charAt({text}.length {self.text(index).replace('-', '- ')})", STR)
        if isinstance(index, ast.UnaryOp):
            return Value(self.sure(f"{text}.at({self.text(index)})"), element_of(kind))
        if kind == STR and not isinstance(index, ast.Constant):
            return Value(f"{text}.charAt({self.text(index)})", STR)
        if kind == STR:  # a character, of which there may be two units
            return Value(self.runtime("characters", value.text, self.text(index), f"{index.value + 1}"), STR)
        if kind.name == "tuple" and isinstance(index, ast.Constant):
            return Value(f"{text}[{index.value}]", kind.of[index.value])
        if kind.name in ("list", "array", "union"):
            kinds = [part.of[0] if part.name != "tuple" else ANY for part in parts_of(kind) if part.of]
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
        inside = ", ".join(end for end in (ends[0] or ("0" if ends[1] else ""), ends[1]) if end)
        return Value(f"{value.within(TIGHT)}.slice({inside})", kind)

    def _attribute(self, node: ast.Attribute, _: Kind) -> Value:
        name, owner = node.attr, node.value
        if isinstance(owner, ast.Name) and owner.id in self.names.classes:
            if name in (members := self.names.classes[owner.id].members):
                return Value(quoted(members[name]), Kind("enum", text=owner.id))
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
                return Value(f"{member}.bind({value.within(TIGHT)})", found.as_kind)
            kinds.append(found.returns if isinstance(found, Signature) else found)
        return Value(member, union(*kinds))

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


def _when_false(kind: Kind) -> Kind | None:
    """Return the kind of what is false of a kind; None if nothing is."""
    parts = [part for part in parts_of(kind) if part.name in ("str", "num", "bool", "null")]
    return union(*parts) if parts else None


def _size(node: ast.Dict | ast.List | ast.Tuple) -> int:
    return len(node.keys if isinstance(node, ast.Dict) else node.elts)
