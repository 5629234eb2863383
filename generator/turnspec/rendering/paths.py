"""Which places in its data a template reads: the keys and elements that it takes from a variable.

A place is the steps to it, ``messages``, ``[]``, ``thinking``, ``content``: names of keys, and
``[]`` for an element of a list. What a name may stand for is gathered from all that is assigned to
it, wherever that is: a place too many costs a try, one too few hides a part of messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from jinja2 import nodes

Place = tuple[str, ...]

#: The step to an element of a list, and to a value of a mapping, whichever key that has.
ELEMENT, ANY = "[]", "{}"

#: Messages hold nothing that lies deeper, no template reads more places, and no name has more.
_DEEPEST, _MOST, _MOST_BEHIND = 8, 400, 30
#: How often assignments are gone through: one may hang on another that stands behind it.
_ROUNDS = 4
#: Filters that give an element of a list, and those that give what they are given, or a part of it.
_PICKING = ("first", "last", "random", "min", "max")
_KEEPING = (
    *("list", "reverse", "sort", "unique", "select", "reject", "selectattr", "rejectattr"),
    *("default", "d", "trim", "string", "safe", "from_json", "fromjson", "int", "lower", "upper"),
)
#: How a number is compared with a limit; those beside it say what is on either side.
LIMITS = ("lt", "lteq", "gt", "gteq")
#: What sets names, or calls a macro that does.
_BINDING = (nodes.Macro, nodes.Assign, nodes.For, nodes.Call)
_WORD_TESTS = ("equalto", "eq", "==", "in")


@dataclass(frozen=True, slots=True)
class Places:
    """The places that a template reads, each with the constants that it compares it with.

    ``held`` are constants that it looks for in the place, as in a list.
    """

    words: Mapping[Place, Sequence[object]] = field(default_factory=dict)
    held: Mapping[Place, Sequence[object]] = field(default_factory=dict)


def find_places(tree: nodes.Template, roots: Iterable[str]) -> Places:
    """Return the places that a template reads of some variables."""
    reading, binding = _Reading(roots), [*tree.find_all(_BINDING)]
    for _ in range(_ROUNDS):
        known = reading.size()
        for node in binding:
            reading.bind(node)
        if reading.size() == known:
            break
    reading.walk(tree)
    return Places(reading.words, reading.held)


class _Reading:
    """What is known of a template's names, and of the places that it reads."""

    def __init__(self, roots: Iterable[str]) -> None:
        self._behind: dict[str, dict[Place, None]] = {name: {(name,): None} for name in roots}
        self._parameters: dict[str, list[str]] = {}
        self._tables: dict[str, nodes.Dict] = {}
        self.words: dict[Place, list[object]] = {}
        self.held: dict[Place, list[object]] = {}

    def size(self) -> int:
        """Return how much is known of names."""
        return sum(map(len, self._behind.values()))

    def bind(self, node: nodes.Node) -> None:
        """Take what one node says of names."""
        match node:
            case nodes.Assign(target=target, node=value):
                self._bind(target, self.places(value))
                if isinstance(target, nodes.Name) and isinstance(value, nodes.Dict):
                    self._tables[target.name] = value
            case nodes.For(target=nodes.Tuple(items=[_, last]), iter=items):
                self._bind(last, self.places(items))
            case nodes.For(target=target, iter=items):
                self._bind(target, _stepped(self.places(items), ELEMENT))
            case nodes.Macro(name=name, args=parameters):
                self._parameters[name] = [parameter.name for parameter in parameters]
            case nodes.Call(node=nodes.Name(name=name), args=given) if name in self._parameters:
                for parameter, value in zip(self._parameters[name], given, strict=False):
                    self._bind(nodes.Name(parameter, "store"), self.places(value))

    def walk(self, node: nodes.Node) -> None:
        """Read all below a node."""
        match node:
            case nodes.Compare(expr=left, ops=operands):
                for operand in operands:
                    self._compare(left, operand)
            case nodes.Name() | nodes.Getattr() | nodes.Getitem() | nodes.Call() | nodes.Filter():
                self.places(node)
        for child in node.iter_child_nodes():
            if isinstance(node, nodes.Call) and isinstance(child, nodes.Getattr):
                child = child.node  # a method is no key
            self.walk(child)

    def places(self, node: nodes.Node) -> list[Place]:
        """Return the places that an expression may stand for, and note that they are read."""
        found = [place for place in self._places(node) if len(place) <= _DEEPEST]
        for place in found:
            if len(self.words) < _MOST:
                self.words.setdefault(place, [])
        return found

    def _places(self, node: nodes.Node) -> list[Place]:
        match node:
            case nodes.Name(name=name):
                return [*self._behind.get(name, ())]
            case nodes.Getattr(node=nodes.Name(name=name), attr=key) if f"{name}.{key}" in (
                self._behind
            ):
                return [*self._behind[f"{name}.{key}"]]
            case nodes.Getattr(node=inner, attr=str(key)):
                return _stepped(self.places(inner), key)
            case nodes.Getitem(node=inner, arg=nodes.Const(value=str(key))):
                return _stepped(self.places(inner), key)
            case nodes.Getitem(node=inner, arg=nodes.Slice()):
                return self.places(inner)
            case nodes.Getitem(
                node=nodes.Dict() | nodes.Name() as table, arg=nodes.Expr() as key
            ) if known := self._keys(table):
                for place in self.places(key):
                    words = self.words.setdefault(place, [])
                    words += [word for word in known if word not in words]
                return []
            case nodes.Getitem(node=inner):
                return _stepped(self.places(inner), ELEMENT)
            case nodes.Call(node=nodes.Getattr(node=inner, attr=method), args=given):
                return self._called(inner, method, given)
            case nodes.CondExpr(expr1=one, expr2=other):
                return [*self.places(one), *(self.places(other) if other else [])]
            case nodes.Or(left=one, right=other) | nodes.And(left=one, right=other):
                return [*self.places(one), *self.places(other)]
            case nodes.Add(left=one, right=other):
                return [*self.places(one), *self.places(other)]
            case nodes.Filter(node=nodes.Expr() as inner, name=name, args=given):
                return self._filtered(node, inner, name, given)
        return []

    def _keys(self, table: nodes.Dict | nodes.Name) -> list[object]:
        """Return the keys of a table, be it a variable's."""
        found = self._tables.get(table.name) if isinstance(table, nodes.Name) else table
        return [word for pair in found.items for word in _constants(pair.key)] if found else []

    def _called(self, inner: nodes.Node, method: str, given: Sequence[nodes.Node]) -> list[Place]:
        places = self.places(inner)
        if method == "get" and given and isinstance(given[0], nodes.Const):
            others = [place for other in given[1:] for place in self.places(other)]
            return [*_stepped(places, str(given[0].value)), *others]
        return _stepped(places, ANY) if method in ("items", "values") else []

    def _filtered(
        self, node: nodes.Filter, inner: nodes.Node, name: str, given: Sequence[nodes.Expr]
    ) -> list[Place]:
        places = self.places(inner)
        if name == "map":
            keys = [pair.value for pair in node.kwargs if pair.key == "attribute"]
            steps = str(_constants(keys[0])[0]).split(".") if _is_text(keys[:1]) else []
            for step in (ELEMENT, *steps):
                places = _stepped(places, step)
            return places
        if name in ("selectattr", "rejectattr") and _is_text(given[:1]):
            self._select(places, given)
        if name in ("items", "dictsort"):
            return _stepped(places, ANY)
        if name in _PICKING:
            return _stepped(places, ELEMENT)
        others = [place for other in given[:1] for place in self.places(other)]
        return [*places, *(others if name in ("default", "d") else [])] if name in _KEEPING else []

    def _select(self, places: Sequence[Place], given: Sequence[nodes.Expr]) -> None:
        """Note what elements are selected by: a key of theirs, and what that has to be."""
        is_word_test = bool(given[2:]) and _constants(given[1]) in [[test] for test in _WORD_TESTS]
        words = _constants(given[2]) if is_word_test else []
        for place in _stepped(_stepped(places, ELEMENT), str(_constants(given[0])[0])):
            known = self.words.setdefault(place, [])
            known += [word for word in words if word not in known]

    def _compare(self, left: nodes.Expr, operand: nodes.Operand) -> None:
        right = operand.expr
        for place in self.places(left):
            known = self.words.setdefault(place, [])
            words = _constants(right)
            if operand.op in LIMITS:
                words = [word + by for word in words if isinstance(word, int) for by in (-1, 1)]
            known += [word for word in words if word not in known]
        for place in self.places(right):
            known = self.words.setdefault(place, [])
            if operand.op in ("in", "notin"):
                known = self.held.setdefault(place, [])
            known += [word for word in _constants(left) if word not in known]

    def _bind(self, target: nodes.Node, places: Sequence[Place]) -> None:
        name = f"{target.name}.{target.attr}" if isinstance(target, nodes.NSRef) else ""
        name = target.name if isinstance(target, nodes.Name) else name
        if name and places:
            behind = self._behind.setdefault(name, {})
            behind |= dict.fromkeys(places[: max(0, _MOST_BEHIND - len(behind))])


def within(steps: Sequence[str], value: object) -> object:
    """Return a value at a place in a mapping or list that holds nothing else."""
    for step in reversed(steps):
        value = [value] if step == ELEMENT else {step: value}
    return value


def _stepped(places: Sequence[Place], step: str) -> list[Place]:
    """Return the places one step further.

    A name that is set to a part of itself takes the same step ever again, and what stands in a
    value of a mapping is somebody's own.
    """
    return [(*place, step) for place in places if ANY not in place and place[-1] != step]


def _is_text(found: Sequence[nodes.Node]) -> bool:
    return bool(found) and isinstance(found[0], nodes.Const) and isinstance(found[0].value, str)


def _constants(node: nodes.Expr) -> list[object]:
    """Return the constants that an expression is or lists."""
    try:
        value = node.as_const()
    except nodes.Impossible:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def read_unset(tree: nodes.Template) -> frozenset[str]:
    """Return the variables that are read somewhere where no branch before has set them.

    What is set in a branch alone, or in a loop, is undeclared behind it, as Jinja sees it. But
    nobody gives a template such a variable: it is no switch.
    """
    found: set[str] = set()
    _note_unset([tree], frozenset(), found)
    return frozenset(found)


def _note_unset(
    several: Iterable[nodes.Node | None], known: frozenset[str], found: set[str]
) -> frozenset[str]:
    """Note what is read unset in nodes one behind the other; return what is set behind them.

    Branches that exclude each other begin alike.
    """
    for node in several:
        match node:
            case nodes.Name(ctx="load", name=name):
                found |= {name} - known
            case nodes.Name(name=name):
                known |= {name}
            case nodes.Assign(target=target, node=value):
                known = _note_unset([value, target], known, found)
            case nodes.If(test=test, body=body, elif_=others, else_=last):
                known = _note_unset([test], known, found)
                ways = [_note_unset(way, known, found) for way in (body, others, last)]
                known = known.union(*ways)
            case nodes.For(iter=items, target=target, body=body, else_=last, test=test):
                known = _note_unset([items], known, found)
                _note_unset([target, test, *body], known, found)
                _note_unset(last, known, found)
            case nodes.Macro(name=name):
                known |= {name}
                _note_unset(node.iter_child_nodes(), known, found)
            case nodes.Node():
                known = _note_unset(node.iter_child_nodes(), known, found)
    return known
