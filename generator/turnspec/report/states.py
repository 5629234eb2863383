"""The states of a generated parser and what leads from one to another.

States and transitions are read off the module itself, so that they are those of the real parser;
what a transition waits for is named by the markers of its plan.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from turnspec.codegen.marker_plan import Expression, Follows, Marker, MarkerPieces
from turnspec.codegen.plan import ModulePlan, plan_module
from turnspec.spec.model import Spec

_PREFIX = "_read_"
_LOOKS_FOR = frozenset({"match", "search"})

#: Roles of markers that are only text where they stand.
_TEXT_ROLES = frozenset({"mention", "object"})
_MOST_MARKERS = 3


@dataclass(frozen=True, slots=True)
class State:
    """A state, and what its method says of itself."""

    name: str
    about: str


@dataclass(frozen=True, slots=True)
class Transition:
    """What leads from a state to another: markers, none where something else decides.

    ``more`` is how many other markers do, ``otherwise`` that anything does that is none of the
    state's markers. A transition to the same state stands for the markers that don't leave it.
    """

    source: str
    target: str
    markers: tuple[str, ...]
    more: int = 0
    otherwise: bool = False


@dataclass(frozen=True, slots=True)
class Machine:
    """A parser's states, the first of them first, and its transitions."""

    states: tuple[State, ...]
    transitions: tuple[Transition, ...]


#: A state that is next, and the roles of which one leads there: none known where a state looks for
#: no markers. The role of "" is that none of its markers is there.
_Roles = frozenset[str] | None
_Leap = tuple[_Roles, str]
_ELSE = ""


def read_machine(source: str, spec: Spec) -> Machine:
    """Return the states that can be reached in a generated module, the first one first."""
    methods = _methods(source)
    plan = plan_module(spec)
    (_, first), *_ = _Walk(methods).leaps([methods["__init__"]], None)
    found: dict[str, tuple[Transition, ...]] = {}
    waiting = [first]
    while waiting:
        state = waiting.pop(0)
        if state in found:
            continue
        method = methods[_PREFIX + state]
        markers = _markers(methods, method, plan)
        roles = frozenset(marker.role for marker in markers) or None
        leaps = list(_Walk(methods).leaps(method.body, roles))
        found[state] = tuple(_transitions(state, leaps, markers))
        waiting += [target for _, target in leaps]
    # What a parser never leaves comes last, where it is in nobody's way.
    order = sorted(found, key=lambda state: not found[state])
    states = tuple(State(name, _about(methods[_PREFIX + name])) for name in order)
    return Machine(states, tuple(itertools.chain.from_iterable(found.values())))


def _methods(source: str) -> dict[str, ast.FunctionDef]:
    tree = ast.parse(source)
    (parser,) = [
        node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Parser"
    ]
    return {node.name: node for node in parser.body if isinstance(node, ast.FunctionDef)}


def _about(method: ast.FunctionDef) -> str:
    return " ".join((ast.get_docstring(method) or "").split()).replace("``", "")


@dataclass(frozen=True, slots=True)
class _Walk:
    """A walk through a method, and through those that it calls on the way."""

    methods: Mapping[str, ast.FunctionDef]
    called: frozenset[str] = frozenset()

    def leaps(self, nodes: Iterable[ast.AST], roles: _Roles) -> Iterator[_Leap]:
        """Return the states that statements in a row lead to."""
        for node in nodes:
            yield from self._leaps(node, roles)
            if isinstance(node, ast.If) and isinstance(node.body[-1], ast.Return):
                roles = _without(roles, node.test)

    def _leaps(self, node: ast.AST, roles: _Roles) -> Iterator[_Leap]:
        if isinstance(node, ast.If):
            yield from self._leaps(node.test, roles)
            inner = _within(roles, node.test)
            if inner is None or inner:
                yield from self.leaps(node.body, inner)
            yield from self.leaps(node.orelse, _without(roles, node.test))
        elif isinstance(node, ast.Assign) and _is_own(node.targets[0], "_state"):
            for part in ast.walk(node.value):
                if isinstance(part, ast.Attribute) and part.attr.startswith(_PREFIX):
                    yield roles, part.attr.removeprefix(_PREFIX)
        else:
            yield from self._through_call(node, roles)
            yield from self.leaps(ast.iter_child_nodes(node), roles)

    def _through_call(self, node: ast.AST, roles: _Roles) -> Iterator[_Leap]:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return
        name = node.func.attr
        if _is_own(node.func, name) and name in self.methods and name not in self.called:
            inside = _Walk(self.methods, self.called | {name})
            yield from inside.leaps(self.methods[name].body, roles)


def _within(roles: _Roles, test: ast.AST) -> _Roles:
    """Return the roles under which a condition can hold."""
    if _asks_for_nothing(test):
        return frozenset({_ELSE}) if roles is not None else None
    asked = _roles(test)
    return roles & asked if roles is not None and asked is not None else roles


def _without(roles: _Roles, test: ast.AST) -> _Roles:
    """Return the roles under which a condition can fail."""
    asked = _roles(test) if isinstance(test, ast.Compare) else None
    return roles - asked if roles is not None and asked is not None else roles


def _asks_for_nothing(test: ast.AST) -> bool:
    """Tell whether a condition is that there is no match."""
    return (
        isinstance(test, ast.Compare) and _is_match(test.left) and isinstance(test.ops[0], ast.Is)
    )


def _is_own(node: ast.AST, name: str) -> bool:
    """Tell whether a node is the parser's own attribute of that name."""
    return (
        isinstance(node, ast.Attribute)
        and node.attr == name
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    )


def _roles(test: ast.AST) -> frozenset[str] | None:
    """Return the roles that a condition asks a match for; None if it asks something else."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return next(filter(None, map(_roles, test.values)), None)
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq | ast.In):
        return None
    if not isinstance(test.left, ast.Attribute) or test.left.attr != "lastgroup":
        return None
    asked = ast.walk(test.comparators[0])
    return frozenset(
        node.value
        for node in asked
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _markers(
    methods: Mapping[str, ast.FunctionDef], method: ast.FunctionDef, plan: ModulePlan
) -> tuple[Marker, ...]:
    """Return the markers that a state's ``match`` comes from, itself or through a method."""
    sets = {"_TEXT": plan.text, **(plan.calls.sets if plan.calls else {})}
    found: dict[Marker, None] = {}
    for node in ast.walk(method):
        if not isinstance(node, ast.Assign) or not _is_match(node.targets[0]):
            continue
        if not isinstance(node.value, ast.Call) or not isinstance(node.value.func, ast.Attribute):
            continue
        function = node.value.func
        if _is_own(function, function.attr):
            found |= dict.fromkeys(_markers(methods, methods[function.attr], plan))
        elif function.attr in _LOOKS_FOR and isinstance(function.value, ast.Name):
            found |= dict.fromkeys(sets.get(function.value.id, ()))
    return tuple(found)


def _is_match(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "match"


def _transitions(
    state: str, leaps: Sequence[_Leap], markers: Sequence[Marker]
) -> Iterator[Transition]:
    """Return a state's transitions, one for each next state."""
    leaving: set[str] = set()
    for target in dict.fromkeys(target for _, target in leaps):
        asked = (roles for roles, next_state in leaps if next_state == target)
        roles = frozenset[str]().union(*filter(None, asked))
        if target != state:
            leaving |= roles
            yield Transition(state, target, *_shown(markers, roles), _ELSE in roles)
    staying = {marker.role for marker in markers} - leaving - _TEXT_ROLES
    if staying:
        yield Transition(state, state, *_shown(markers, staying))


def _shown(markers: Iterable[Marker], roles: Iterable[str]) -> tuple[tuple[str, ...], int]:
    """Return the first markers of some roles as they are written, and how many more there are."""
    wanted = set(roles)
    found = dict.fromkeys(
        _written(pieces)
        for marker in markers
        if marker.role in wanted
        for pieces in marker.alternatives
    )
    texts = tuple(filter(None, found))
    return texts[:_MOST_MARKERS], max(len(texts) - _MOST_MARKERS, 0)


def _written(pieces: MarkerPieces) -> str:
    """Return a marker with its expressions as words: ``<function= NAME >``."""
    words = []
    for piece in pieces:
        if isinstance(piece, Follows):
            break
        if isinstance(piece, str):
            words.append(piece)
        elif isinstance(piece, Expression) and not piece.name.endswith("_QUOTE"):
            words += [word for name, word in _WORDS.items() if piece.name.startswith(name)][:1]
    return " ".join(" ".join(words).split())


#: The expressions inside markers that are named; others are only white space, quotes and such.
_WORDS = {
    "_NAME": "NAME",
    "_KEY": "KEY",
    "_MEMBER_KEY": "KEY",
    "_ID": "ID",
    "_INDEX": "INDEX",
    "_TYPE": "TYPE",
    "_WORD": "WORD",
}
