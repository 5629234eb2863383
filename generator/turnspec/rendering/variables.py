"""What a template's own source says about its variables and constants.

The source is parsed, never run; but Jinja computes constant expressions on the way, and those may
take all time and memory. So nobody calls this but the rendering worker, which has limits: ask its
`facts`. Switches are the variables that a template reads and never gets; the values worth trying
are the constants that it compares them with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from jinja2 import TemplateSyntaxError, meta, nodes

from turnspec.rendering.branches import Branch, find_branches
from turnspec.rendering.environment import create_environment
from turnspec.rendering.paths import (
    ANY,
    ELEMENT,
    LIMITS,
    Place,
    Places,
    find_places,
    read_unset,
    within,
)

#: Variables that every rendering gets, whatever the template.
STANDARD_VARIABLES = frozenset(
    (
        *("messages", "tools", "functions", "datetime", "add_generation_prompt"),
        *("bos_token", "eos_token", "raise_exception", "strftime_now"),
    )
)

#: The one that holds the conversation.
_MESSAGES = "messages"

_Nodes = Sequence[nodes.Node]
_Kind = TypeVar("_Kind", bound=nodes.Node)

#: Constants that are longer, or numbers that are greater, are no values of a switch.
_LONGEST_CONSTANT = 10_000
_GREATEST_NUMBER = 2**64
#: A longer list or table has the names of things, languages say, and no settings.
_MOST_VALUES = 32


@dataclass(frozen=True, slots=True)
class TemplateFacts:
    """What a template's source says of itself.

    Attributes:
        switch_values: each variable that the template reads without being given it, or setting it
            first, with values to try: the constants to which the template compares it, or another
            variable that was set from it, the texts that stand for it, the keys of a table in which
            it looks them up, the numbers next to a limit, false and true.
        string_constants: every text that it writes as a constant in an expression.
        attribute_names: every key or attribute that it reads by name.
        attribute_words: the keys and attributes that it compares with texts, and those texts.
        searched_words: every constant text that it looks for in other texts: that it tests with
            ``in``, or gives to a method or filter that searches.
        table_keys: the first key of each of its tables, so of its constant mappings.
        message_places: the places that it reads of a message, each with the texts that it compares
            it with.
        reads: the variables that it reads without setting them.
        branches: all that conditions decide on, by their numbers.
        error: why it can't be compiled, or why nothing else is known.
    """

    switch_values: Mapping[str, Sequence[object]] = field(default_factory=dict)
    string_constants: Sequence[str] = ()
    attribute_names: Sequence[str] = ()
    attribute_words: Mapping[str, Sequence[str]] = field(default_factory=dict)
    searched_words: Sequence[str] = ()
    table_keys: Sequence[str] = ()
    message_places: Mapping[Place, Sequence[str]] = field(default_factory=dict)
    reads: frozenset[str] = frozenset()
    branches: Sequence[Branch] = ()
    error: str | None = None


def template_facts(source: str) -> TemplateFacts:
    """Return what a template's source says of itself; if it can't be compiled, only why."""
    try:
        tree = create_environment().parse(source)
        found = list(tree.find_all(nodes.Node))
        first_pairs = (pair for table in _each(nodes.Dict, found) for pair in table.items[:1])
        facts = TemplateFacts(
            string_constants=_texts(node.value for node in _each(nodes.Const, found)),
            attribute_names=_texts(
                [*filter(None, map(_attribute, found)), *_looped_names(found), *_mapped(found)]
            ),
            attribute_words=_attribute_words(found),
            searched_words=_searched_words(found),
            table_keys=_texts(text for pair in first_pairs for text in _constants(pair.key)),
            branches=find_branches(tree),
        )
        unset = read_unset(tree) - STANDARD_VARIABLES
        places = find_places(tree, (_MESSAGES, *sorted(unset)))
        # This compiles the tree, which folds constants in place: so it comes last.
        reads = frozenset(meta.find_undeclared_variables(tree))
    except TemplateSyntaxError as error:
        return TemplateFacts(error=f"line {error.lineno}: {error.message}")
    except RecursionError:
        return TemplateFacts(error="nested too deeply")
    given = reads & unset
    return replace(
        facts,
        switch_values=_switch_values(found, given, places),
        message_places=_message_places(places),
        reads=reads,
    )


def _message_places(places: Places) -> dict[Place, list[str]]:
    """Return the places that are read of a message, with the texts that they are compared with."""
    root = (_MESSAGES, ELEMENT)
    found = ((place, words) for place, words in places.words.items() if place[:2] == root)
    return {place[2:]: _texts(words) for place, words in found if place[2:]}


def _switch_values(found: _Nodes, given: Iterable[str], places: Places) -> dict[str, list[object]]:
    names = sorted(given)
    values: dict[str, list[object]] = {name: [] for name in names}
    aliases = _aliases(found, names)
    assigned = {_target(assign.target): assign.node for assign in _each(nodes.Assign, found)}
    tables = {name: node for name, node in assigned.items() if name}
    for compare in _each(nodes.Compare, found):
        for name in aliases.get(_target(_unfiltered(compare.expr)), ()):
            for operand in compare.ops:
                listed = tables.get(_target(operand.expr), operand.expr)
                values[name] += [*_constants(listed), *_limits(operand)]
    for table, key in _lookups(found):
        for name in aliases.get(_target(_unfiltered(key)), ()):
            values[name] += _constants(tables.get(_target(table), table))
    for read, other in _otherwise(found):
        for name in aliases.get(_target(_unfiltered(read)), ()):
            values[name] += _texts(_constants(other))
    return {
        name: [*_distinct([*constants, False, True]), *_inner_values(name, places)]
        for name, constants in values.items()
    }


def _inner_values(name: str, places: Places) -> Iterator[object]:
    """Yield values that hold others: mappings with one key each, or lists of what is looked for."""
    held = [value for value in places.held.get((name,), ()) if _is_plain(value)]
    yield from [[value] for value in held[:_MOST_VALUES]]
    for place, words in places.words.items():
        is_inner = len(place) > 1 and place[0] == name and not {ELEMENT, ANY} & {*place}
        has_more = any(other[: len(place)] == place != other for other in places.words)
        known = [*filter(_is_plain, words[:_MOST_VALUES])] or [True, False]
        yield from [within(place[1:], value) for value in known if is_inner and not has_more]


def _lookups(found: _Nodes) -> Iterator[tuple[nodes.Expr, nodes.Expr]]:
    """Yield what is looked up in what, by brackets or with ``get``."""
    for node in found:
        match node:
            case nodes.Getitem(node=table, arg=key):
                yield table, key
            case nodes.Call(node=nodes.Getattr(node=table, attr="get"), args=[key, *_]):
                yield table, key


def _otherwise(found: _Nodes) -> Iterator[tuple[nodes.Expr, nodes.Expr]]:
    """Yield what is read, and what stands for it where it isn't given: more than one, maybe."""
    for node in found:
        match node:
            case nodes.Filter(node=nodes.Expr() as read, name="default" | "d", args=[other, *_]):
                yield from ((read, one) for one in _choices(other))
            case nodes.CondExpr(expr1=read, expr2=nodes.Expr() as other):
                yield from ((read, one) for one in _choices(other))


def _choices(node: nodes.Expr) -> Iterator[nodes.Expr]:
    """Yield the expressions of which conditions choose one."""
    if isinstance(node, nodes.CondExpr):
        yield from _choices(node.expr1)
        yield from _choices(node.expr2) if node.expr2 is not None else ()
    else:
        yield node


def _distinct(values: list[object]) -> list[object]:
    """Return the values without repetitions; 0 and False are two values."""
    return list({(type(value), value): value for value in values}.values())


def _texts(values: Iterable[object]) -> list[str]:
    """Return the texts among some values, each once."""
    return list(dict.fromkeys(value for value in values if isinstance(value, str)))


def _looped_names(found: _Nodes) -> Iterator[str]:
    """Yield the keys that a loop over constants reads by its variable."""
    read = {_target(item.arg) for item in _each(nodes.Getitem, found)}
    for loop in _each(nodes.For, found):
        if _target(loop.target) in read - {""}:
            yield from _texts(_constants(loop.iter))


def _mapped(found: _Nodes) -> Iterator[str]:
    """Yield the keys that a filter takes from each of many."""
    for node in _each(nodes.Filter, found):
        pairs = [pair.value for pair in node.kwargs if pair.key == "attribute"]
        if node.name in ("selectattr", "rejectattr"):
            pairs = node.args[:1]
        yield from _texts(value for pair in pairs for value in _constants(pair))


def _attribute_words(found: _Nodes) -> dict[str, list[str]]:
    words_of: dict[str, list[str]] = {}
    for compare in _each(nodes.Compare, found):
        sides = [compare.expr, *(operand.expr for operand in compare.ops)]
        words = _texts(text for side in sides for text in _constants(side))
        for name in filter(None, map(_attribute, map(_unfiltered, sides))):
            words_of.setdefault(name, []).extend(words)
    for node in _each(nodes.Filter, found):
        match node:
            case nodes.Filter(name="selectattr" | "rejectattr", args=[key, _, word]):
                for name in _texts(_constants(key)):
                    words_of.setdefault(name, []).extend(_texts(_constants(word)))
    return {name: _texts(words) for name, words in words_of.items() if words}


#: What strings can do with a text that they may hold.
_TEXT_METHODS = ("endswith", "startswith", "replace", "split", "find", "count", "index")


def _searched_words(found: _Nodes) -> list[str]:
    searched: list[nodes.Node] = []
    for node in found:
        match node:
            case nodes.Compare(expr=expression, ops=[nodes.Operand(op="in" | "notin"), *_]):
                searched.append(expression)
            case nodes.Test(name="in", node=expression):
                searched.append(expression)
            case nodes.Call(node=nodes.Getattr(attr=name), args=arguments):
                searched += arguments[:1] if name in _TEXT_METHODS else []
            case nodes.Filter(name="replace", args=arguments):
                searched += arguments[:1]
    words = _texts(text for node in searched for text in _constants(node))
    return [word for word in words if word.strip()]


def _each(kind: type[_Kind], found: _Nodes) -> Iterator[_Kind]:
    return (node for node in found if isinstance(node, kind))


def _attribute(node: nodes.Node) -> str:
    """Return the name of the key or attribute that an expression reads, or ""."""
    match node:
        case nodes.Getattr(attr=str(name)) | nodes.Getitem(arg=nodes.Const(value=str(name))):
            return name
        case nodes.Call(node=nodes.Getattr(attr="get"), args=[nodes.Const(value=str(name)), *_]):
            return name
    return ""


def _aliases(found: _Nodes, names: Iterable[str]) -> dict[str, list[str]]:
    """Return which of ``names`` stand behind a variable or an attribute of a namespace.

    That is what such a one was set from, with or without a default, once or several times over.
    """
    aliases = {name: [name] for name in names}
    for assign in _each(nodes.Assign, found):
        target = _target(assign.target)
        sources = [assign.node, *assign.node.find_all(nodes.Name)]
        behind = [name for node in sources for name in aliases.get(_target(node), ())]
        if target and behind:
            aliases[target] = list(dict.fromkeys([*aliases.get(target, ()), *behind]))
    return aliases


def _unfiltered(node: nodes.Expr) -> nodes.Expr:
    """Return what filters, such as one for a default, are applied to."""
    while isinstance(node, nodes.Filter) and node.node is not None:
        node = node.node
    return node


def _target(node: nodes.Node) -> str:
    """Return the name of a variable, or of an attribute of one; of anything else an empty one."""
    if isinstance(node, nodes.Name):
        return node.name
    if isinstance(node, nodes.NSRef):
        return f"{node.name}.{node.attr}"
    if isinstance(node, nodes.Getattr) and isinstance(node.node, nodes.Name):
        return f"{node.node.name}.{node.attr}"
    return ""


def _constants(expression: nodes.Node) -> Iterator[object]:
    """Return the constants that an expression is or lists, as keys too, if it is nothing else."""
    assert isinstance(expression, nodes.Expr)
    try:
        value = expression.as_const()
    except nodes.Impossible:
        return
    listed = value if isinstance(value, list | tuple | dict) else [value]
    for item in listed if len(listed) <= _MOST_VALUES else ():
        if _is_plain(item):
            yield item


def _is_plain(value: object) -> bool:
    """Tell whether a constant may be a switch's value: a text or a number of usual size."""
    if isinstance(value, str):
        return len(value) <= _LONGEST_CONSTANT
    if isinstance(value, int | float):
        return abs(value) <= _GREATEST_NUMBER
    return value is None


def _limits(operand: nodes.Operand) -> Iterator[int]:
    """Return the numbers beside one that a variable is compared to by its size."""
    for value in _constants(operand.expr):
        if operand.op in LIMITS and isinstance(value, int):
            yield from (value - 1, value + 1)
