"""A parser whose work is counted in steps: operations, and the characters that they look at.

A module's statements are rewritten before they run, so that each function and each turn of a loop
counts one, and slices, sums and comparisons what they cost. What Python's own functions do with a
text or list counts by the length of what they are given and of what comes out, and an expression
by how far it may have looked. What is known to take no longer for more text is left as it is.
"""

from __future__ import annotations

import ast
import re
import signal
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from itertools import count
from math import inf
from types import FrameType, ModuleType
from typing import Any, cast

from turnspec.codegen.format_module import FormatModule

#: How long a text may take to be read; thousands of characters take some seconds when counted.
MOST_SECONDS = 60
#: Of which no length counts, as they don't look at what they are given.
_AT_ONCE = {
    *("bool", "len", "isinstance", "type", "id", "iter", "next", "getattr", "hasattr", "vars"),
    *("super", "zip", "range", "enumerate", "reversed", "locals"),
}
_METHODS_AT_ONCE = {"append", "get", "add", "setdefault", "group", "start", "end", "span", "clear"}
#: Methods of texts that look no further than as far as what they are given goes.
_AT_PLACE = {"startswith", "endswith", "removeprefix", "removesuffix"}
_STRIPPING = {"strip", "lstrip", "rstrip"}
_METHODS = {name for kind in (str, list, dict, set, re.Pattern, re.Match) for name in dir(kind)}


class Hung(BaseException):
    """A parser does not come to its end; no handler of its own holds that up."""


class CountedSteps:
    """A module made of a parser's statements, and how many steps it has taken so far."""

    def __init__(self, source: str) -> None:
        """Rewrite a module's text."""
        self._count = 0
        self._tick = count().__next__
        tree = ast.parse(source)
        tree = _Counting(tree).visit(tree)
        made = ModuleType("counted_parser")
        counts = (
            "tick",
            "called",
            "each",
            "measured",
            "added",
            "grown",
            "equal",
            "within",
            "moved",
        )
        vars(made).update({f"_{name}": getattr(self, f"_{name}") for name in counts})
        exec(compile(ast.fix_missing_locations(tree), "<counted parser>", "exec"), vars(made))
        self.module = cast(FormatModule, made)

    def of(self, pieces: Sequence[str], half: int, **options: Any) -> tuple[float, float]:
        """Return how many steps it takes to read so many pieces, and all, without the first piece.

        They are without end if that takes longer than ``MOST_SECONDS`` of the processor's.
        """
        parser = self.module.Parser(**options)
        first, begun = 0, 0
        before = signal.signal(signal.SIGVTALRM, _hang)
        signal.setitimer(signal.ITIMER_VIRTUAL, MOST_SECONDS)
        try:
            for number, piece in enumerate(pieces, 1):
                parser.feed(piece)
                if number == 1:
                    begun = self.now()
                elif number == half:
                    first = self.now() - begun
            parser.finish()
        except Hung:
            return first, inf
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            signal.signal(signal.SIGVTALRM, before)
        return first, self.now() - begun

    def now(self) -> int:
        """Return how many steps there were so far."""
        return self._count + self._tick()

    def _called(self, function: Any, *given: Any, **named: Any) -> Any:
        result = function(*given, **named)
        self._count += 1
        owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
        if type(owner) is str:
            self._count += _cost_of_text(owner, name, given, result)
        elif type(owner) is re.Pattern:
            return self._matched(owner, name, given, result)
        elif getattr(function, "__module__", "") != "counted_parser":  # whose statements count
            is_moved = isinstance(owner, list) and name != "extend" and (given or name != "pop")
            moved = owner if is_moved else ()
            self._count += _length(result) + sum(map(_length, (moved, *given)))
        return result

    def _matched(
        self, pattern: re.Pattern[str], name: str, given: Sequence[Any], found: Any
    ) -> Any:
        if name == "finditer":
            return self._found_one_by_one(found, given)
        if name in ("sub", "findall"):
            self._count += _length(given[-1])
            return found
        text, start = given[0], given[1] if len(given) > 1 else 0
        end = min(given[2], len(text)) if len(given) > 2 else len(text)
        if found:
            self._count += found.end() - start
        elif name == "search":
            self._count += max(0, end - start)
        else:
            self._count += _looked_at(pattern, text[start:end])
        return found

    def _found_one_by_one(self, found: Iterator[re.Match[str]], given: Sequence[Any]) -> Any:
        at = given[1] if len(given) > 1 else 0
        for match in found:
            self._count += 1 + match.end() - at
            at = match.end()
            yield match
        self._count += min(given[2] if len(given) > 2 else len(given[0]), len(given[0])) - at

    def _each(self, items: Iterable[Any]) -> Iterator[Any]:
        for item in items:
            self._count += 1
            yield item

    def _measured(self, value: Any) -> Any:
        self._count += _length(value)
        return value

    def _moved(self, value: Any) -> Any:
        """Count what a list holds, of which something is taken out."""
        self._count += len(value) if isinstance(value, list) else 0
        return value

    def _added(self, left: Any, right: Any) -> Any:
        result = left + right
        self._count += 0 if result is left or result is right else _length(result)
        return result

    def _grown(self, value: Any, more: Any) -> Any:
        """Count what is added, and a text that it is added to, as that may have to be copied."""
        self._count += _length(more) + (len(value) if isinstance(value, str) else 0)
        return more

    def _equal(self, left: Any, right: Any) -> bool:
        if isinstance(left, str) and isinstance(right, str) and len(left) == len(right):
            self._count += len(left)
        return bool(left == right)

    def _within(self, item: Any, items: Any) -> bool:
        if isinstance(items, str):  # which is looked at up to the first place
            at = items.find(item)
            self._count += 1 + (at if at >= 0 else len(items))
            return at >= 0
        if isinstance(items, Iterator):  # of which what is behind the first place is left
            return any(item == each for each in self._each(items))
        self._count += 1 if isinstance(items, _HASHED) else _length(items)
        return item in items


def _hang(_number: int, _frame: FrameType | None) -> None:
    raise Hung


def _length(value: Any) -> int:
    """Return how much is in a value that is a text, or holds others."""
    return len(value) if isinstance(value, _SIZED) else 0


def _cost_of_text(text: str, name: str, given: Sequence[Any], result: Any) -> int:
    if name in _AT_PLACE:
        return _length(given[0]) if isinstance(given[0], str) else sum(map(len, given[0]))
    if name in _STRIPPING:
        return len(text)
    if name == "join":
        return len(result)
    return len(text) + _length(result) + sum(map(_length, given))


def _looked_at(pattern: re.Pattern[str], text: str) -> int:
    """Return how far an expression may look into a text before it fails, lookaheads aside."""
    source = pattern.pattern.removeprefix(r"[ \t\n\r]*").removeprefix("[ \t\n\r]*")
    space = len(text) - len(text.lstrip(" \t\n\r")) if source != pattern.pattern else 0
    if pattern not in _REACHES:
        _REACHES[pattern] = _reach(_PARSER.parse(source, pattern.flags))
    return min(len(text), space + _REACHES[pattern])


def _reach(parsed: Any) -> int:
    """Return how many characters decide that an expression fails: one, where it is one repeated."""
    only: Any = parsed[0] if len(parsed) == 1 else (None, None)
    kind, inner = only
    match str(kind):
        case "BRANCH":
            return max(map(_reach, inner[1]))
        case "MAX_REPEAT" if inner[0]:
            return _reach(inner[-1])
        case "SUBPATTERN":
            return _reach(inner[-1])
        case _:
            return int(parsed.getwidth()[1])


#: What expressions are made of: a part of `re` that typeshed has no types of.
_PARSER: Any = import_module("re._parser")
_REACHES: dict[re.Pattern[str], int] = {}
_HASHED = (dict, set, frozenset)
_SIZED = (str, list, tuple, *_HASHED)


class _Counting(ast.NodeTransformer):
    """Puts what counts around what works."""

    def __init__(self, tree: ast.Module) -> None:
        kinds = (ast.FunctionDef, ast.ClassDef)
        self.own = {node.name for node in ast.walk(tree) if isinstance(node, kinds)} - _METHODS

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node.func:
            case ast.Name(name) if name in _AT_ONCE | self.own:
                return node
            case ast.Name("max" | "min") if len(node.args) > 1:
                return node
            case ast.Attribute(attr=name) if name in _METHODS_AT_ONCE | self.own:
                return node
        return _call("_called", node.func, *node.args, keywords=node.keywords)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        inner = [
            (
                ast.FormattedValue(self.visit(part.value), part.conversion, part.format_spec)
                if isinstance(part, ast.FormattedValue)
                else part
            )
            for part in node.values
        ]
        return _call("_measured", ast.JoinedStr(inner))

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load):
            return _call("_measured", node) if _is_long(node.slice) else node
        if isinstance(node.ctx, ast.Del) or isinstance(node.slice, ast.Slice):
            node.value = _call("_moved", node.value)
        return node

    def visit_Starred(self, node: ast.Starred) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load):
            node.value = _call("_each", node.value)
        return node

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        self.generic_visit(node)
        pairs = zip(node.keys, node.values, strict=True)
        node.values = [value if key else _call("_measured", value) for key, value in pairs]
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        is_sum_of_numbers = isinstance(node.op, ast.Add) and (
            _is_number(node.left) or _is_number(node.right)
        )
        self.generic_visit(node)
        if is_sum_of_numbers:
            return node
        if isinstance(node.op, ast.Add):
            return _call("_added", node.left, node.right)
        return _call("_measured", node) if isinstance(node.op, ast.Mult | ast.Mod) else node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        is_number = _is_number(node.value)
        self.generic_visit(node)
        if isinstance(node.op, ast.Add) and not is_number:
            place = ast.parse(ast.unparse(node.target), mode="eval").body
            node.value = _call("_grown", place, node.value)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        left, right, operator = node.left, node.comparators[0], node.ops[0]
        is_named = isinstance(right, ast.Name) and right.id.isupper()
        if len(node.ops) > 1 or isinstance(right, ast.Constant | ast.Tuple) or is_named:
            return node  # signs, or what is as long as it is written
        match operator:
            case ast.In() | ast.NotIn():
                found: ast.expr = _call("_within", left, right)
            case ast.Eq() | ast.NotEq() if not isinstance(left, ast.Constant):
                found = _call("_equal", left, right)
            case _:
                return node
        is_not = isinstance(operator, ast.NotIn | ast.NotEq)
        return ast.UnaryOp(ast.Not(), found) if is_not else found

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        node.body.insert(0, ast.Expr(_call("_tick")))
        return node

    def visit_While(self, node: ast.While) -> ast.AST:
        self.generic_visit(node)
        node.body.insert(0, ast.Expr(_call("_tick")))
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        self.generic_visit(node)
        node.iter = _call("_each", node.iter)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value:
            node.value = self.visit(node.value)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        tick: ast.stmt = ast.Expr(_call("_tick"))
        node.body = [tick, *(self.visit(statement) for statement in node.body)]
        node.decorator_list = [self.visit(each) for each in node.decorator_list]
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        is_for_types = isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        return node if is_for_types else self.generic_visit(node)


def _is_number(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value):
            return isinstance(value, int)
        case ast.BinOp(op=ast.Sub()) | ast.Compare() | ast.Call(ast.Name("len")):
            return True
        case ast.IfExp(body=body, orelse=other):
            return _is_number(body) and _is_number(other)
    return False


def _is_long(part: ast.expr) -> bool:
    """Say whether a slice may hold more than some characters."""
    match part:
        case ast.Slice(lower=ast.expr() as lower, upper=ast.BinOp(left, ast.Add(), ast.Constant())):
            return ast.dump(lower) != ast.dump(left)
    return isinstance(part, ast.Slice)


def _call(name: str, *given: ast.expr, keywords: Sequence[ast.keyword] = ()) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(given), list(keywords))
