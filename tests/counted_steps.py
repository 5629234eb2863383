"""A parser whose work is counted in steps: operations, and the characters that they look at.

A module's statements are rewritten before they run, so that every call, slice, sum, comparison
and turn of a loop adds what it costs. What Python's own functions do with a text counts by the
length of what they are given and of what comes out, and an expression by how far it may have
looked.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, cast

from turnspec.codegen.compiled import compiled_source
from turnspec.codegen.facts import FormatFacts
from turnspec.codegen.format_module import FormatModule

#: Of which no length counts, as they don't look at what they are given.
_AT_ONCE = (bool, len, isinstance, type, id, iter, next, getattr, hasattr, vars, print)
_METHODS_AT_ONCE = {"append", "pop", "get", "add", "setdefault", "group", "start", "end", "span"}
#: Methods of texts that look no further than as far as what they are given goes.
_AT_PLACE = {"startswith", "endswith", "removeprefix", "removesuffix"}
_STRIPPING = {"strip", "lstrip", "rstrip"}


class CountedSteps:
    """A module made of a parser's statements, and how many steps it has taken so far."""

    def __init__(self, facts: FormatFacts) -> None:
        """Compile a format's parser and rewrite it."""
        self.count = 0
        tree = _Counting().visit(ast.parse(compiled_source(facts)))
        made = ModuleType("counted_parser")
        counts = ("called", "each", "measured", "added", "grown", "compared")
        vars(made).update({f"_{name}": getattr(self, f"_{name}") for name in counts})
        exec(compile(ast.fix_missing_locations(tree), "<counted parser>", "exec"), vars(made))
        self.module = cast(FormatModule, made)

    def of(self, pieces: Iterable[str], **options: Any) -> int:
        """Return how many steps it takes to read these pieces, to the end of the text."""
        parser = self.module.Parser(**options)
        self.count = 0
        for piece in pieces:
            parser.feed(piece)
        parser.finish()
        return self.count

    def _called(self, function: Any, *given: Any, **named: Any) -> Any:
        self.count += 1
        result = function(*given, **named)
        kind, own = type(function), getattr(function, "__module__", "") == "counted_parser"
        if own and kind in (FunctionType, MethodType, type):
            return result  # its own statements count
        owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
        if isinstance(owner, re.Pattern):
            return self._matched(owner, name, given, result)
        if function in _AT_ONCE or (kind is BuiltinFunctionType and name in _METHODS_AT_ONCE):
            return result
        if isinstance(owner, str):
            self.count += _cost_of_text(owner, name, given, result)
        else:
            self.count += _length(result) + sum(map(_length, given))
        return result

    def _matched(
        self, pattern: re.Pattern[str], name: str, given: Sequence[Any], found: Any
    ) -> Any:
        if name == "finditer":
            return self._found_one_by_one(found, given)
        if name in ("sub", "findall"):
            self.count += _length(given[-1])
            return found
        text, start = given[0], given[1] if len(given) > 1 else 0
        end = min(given[2], len(text)) if len(given) > 2 else len(text)
        if found:
            self.count += found.end() - start
        elif name == "search":
            self.count += max(0, end - start)
        else:
            self.count += _looked_at(pattern, text[start:end])
        return found

    def _found_one_by_one(self, found: Iterator[re.Match[str]], given: Sequence[Any]) -> Any:
        at = given[1] if len(given) > 1 else 0
        for match in found:
            self.count += 1 + match.end() - at
            at = match.end()
            yield match
        self.count += min(given[2] if len(given) > 2 else len(given[0]), len(given[0])) - at

    def _each(self, items: Iterable[Any]) -> Iterator[Any]:
        for item in items:
            self.count += 1
            yield item

    def _measured(self, value: Any) -> Any:
        self.count += _length(value)
        return value

    def _added(self, left: Any, right: Any) -> Any:
        result = left + right
        self.count += 0 if result is left or result is right else _length(result)
        return result

    def _grown(self, value: Any, more: Any) -> Any:
        """Count what is added, and a text that it is added to, as that may have to be copied."""
        self.count += _length(more) + (len(value) if isinstance(value, str) else 0)
        return more

    def _compared(self, left: Any, operators: str, *others: Any) -> bool:
        for name, other in zip(operators.split(), others, strict=True):
            self.count += 1
            if name in ("in", "not_in"):
                self.count += _length(other)
            elif isinstance(left, str) and isinstance(other, str) and len(left) == len(other):
                self.count += len(left)
            if not _OPERATORS[name](left, other):
                return False
            left = other
        return True


def _length(value: Any) -> int:
    """Return how much is in a value that is a text or a list."""
    return len(value) if isinstance(value, str | list | tuple) else 0


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
_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    **{"eq": operator.eq, "noteq": operator.ne, "lt": operator.lt, "lte": operator.le},
    **{"gt": operator.gt, "gte": operator.ge, "is": operator.is_, "isnot": operator.is_not},
    "in": lambda left, right: left in right,
    "notin": lambda left, right: left not in right,
}


class _Counting(ast.NodeTransformer):
    """Puts what counts around what works."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "super":
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
        is_read = isinstance(node.ctx, ast.Load) and isinstance(node.slice, ast.Slice)
        return _call("_measured", node) if is_read else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Add):
            return _call("_added", node.left, node.right)
        return _call("_measured", node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        place = ast.parse(ast.unparse(node.target), mode="eval").body
        node.value = _call("_grown", place, node.value)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        names = " ".join(type(it).__name__.lower() for it in node.ops)
        return _call("_compared", node.left, ast.Constant(names), *node.comparators)

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        node.iter = _call("_each", node.iter)
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
        node.body = [self.visit(statement) for statement in node.body]
        node.decorator_list = [self.visit(each) for each in node.decorator_list]
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        is_for_types = isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        return node if is_for_types else self.generic_visit(node)


def _call(name: str, *given: ast.expr, keywords: Sequence[ast.keyword] = ()) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(given), list(keywords))
