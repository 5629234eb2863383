"""What a template's own source says about its variables and constants.

The source is parsed, never run; but Jinja computes constant expressions on the way, and those may
take all time and memory. So nobody calls this but the rendering worker, which has limits: ask its
`facts`. Switches are the variables that a template reads and never gets; the values worth trying
are the constants that it compares them with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from jinja2 import TemplateSyntaxError, meta, nodes

from turnspec.rendering.environment import create_environment

#: Variables that every rendering gets, whatever the template.
STANDARD_VARIABLES = frozenset(
    {
        "messages",
        "tools",
        "functions",
        "datetime",
        "add_generation_prompt",
        "bos_token",
        "eos_token",
        "raise_exception",
        "strftime_now",
    }
)

#: How templates compare a number with a limit.
_LIMITS = ("lt", "lteq", "gt", "gteq")

#: Constants that are longer, or numbers that are greater, are no values of a switch.
_LONGEST_CONSTANT = 10_000
_GREATEST_NUMBER = 2**64


@dataclass(frozen=True, slots=True)
class TemplateFacts:
    """What a template's source says of itself; each is told at the function of its name.

    ``error`` is why it can't be compiled, or why nothing else is known. ``reads`` are the
    variables that it reads without being given them.
    """

    switch_values: Mapping[str, Sequence[object]] = field(default_factory=dict)
    string_constants: tuple[str, ...] = ()
    attribute_names: tuple[str, ...] = ()
    attribute_words: Mapping[str, Sequence[str]] = field(default_factory=dict)
    searched_words: tuple[str, ...] = ()
    reads: frozenset[str] = frozenset()
    error: str | None = None


def template_facts(source: str) -> TemplateFacts:
    """Return all of it."""
    return TemplateFacts(
        switch_values(source),
        tuple(string_constants(source)),
        tuple(attribute_names(source)),
        attribute_words(source),
        tuple(searched_words(source)),
        variables_read(source),
        syntax_error(source),
    )


def switch_values(source: str) -> dict[str, list[object]]:
    """Return each variable that the template reads without being given it, with values to try.

    Each gets the constants to which the template compares it, or another variable that was set
    from it, the numbers next to a limit, false and true. A template that doesn't parse has none.
    """
    tree = _parse(source)
    if tree is None:
        return {}
    names = sorted(meta.find_undeclared_variables(tree) - STANDARD_VARIABLES)
    values: dict[str, list[object]] = {name: [] for name in names}
    aliases = _aliases(tree, names)
    for compare in tree.find_all(nodes.Compare):
        for name in aliases.get(_target(_unfiltered(compare.expr)), ()):
            for operand in compare.ops:
                values[name] += [*_constants(operand.expr), *_limits(operand)]
    return {name: _distinct([*constants, False, True]) for name, constants in values.items()}


def _distinct(values: list[object]) -> list[object]:
    """Return the values without repetitions; 0 and False are two values."""
    return list({(type(value), value): value for value in values}.values())


def string_constants(source: str) -> list[str]:
    """Return every text that the template writes as a constant in an expression, in order."""
    tree = _parse(source)
    if tree is None:
        return []
    found = [node.value for node in tree.find_all(nodes.Const) if isinstance(node.value, str)]
    return list(dict.fromkeys(found))


def attribute_names(source: str) -> list[str]:
    """Return every key or attribute that the template reads by name, in order."""
    tree = _parse(source)
    if tree is None:
        return []
    names = [_attribute(node) for node in tree.find_all((nodes.Getattr, nodes.Getitem))]
    return list(dict.fromkeys(name for name in names if name))


def attribute_words(source: str) -> dict[str, list[str]]:
    """Return each key or attribute that the template compares with texts, and those texts."""
    tree = _parse(source)
    found: dict[str, list[str]] = {}
    for compare in tree.find_all(nodes.Compare) if tree else ():
        sides = [compare.expr, *(operand.expr for operand in compare.ops)]
        words = [text for side in sides for text in _constants(side) if isinstance(text, str)]
        for name in filter(None, map(_attribute, sides)):
            found.setdefault(name, []).extend(words)
    return {name: list(dict.fromkeys(words)) for name, words in found.items() if words}


#: What strings can do with a text that they may hold.
_TEXT_METHODS = ("endswith", "startswith", "replace", "split", "find", "count", "index")


def searched_words(source: str) -> list[str]:
    """Return every constant text that the template looks for in other texts, in order.

    That is what it tests with ``in``, or gives to a method or filter that searches.
    """
    tree = _parse(source)
    if tree is None:
        return []
    found: list[nodes.Node] = []
    for node in tree.find_all((nodes.Compare, nodes.Test, nodes.Call, nodes.Filter)):
        match node:
            case nodes.Compare(expr=expression, ops=[nodes.Operand(op="in" | "notin"), *_]):
                found.append(expression)
            case nodes.Test(name="in", node=expression):
                found.append(expression)
            case nodes.Call(node=nodes.Getattr(attr=name), args=arguments):
                found += arguments[:1] if name in _TEXT_METHODS else []
            case nodes.Filter(name="replace", args=arguments):
                found += arguments[:1]
    words = [text for node in found for text in _constants(node) if isinstance(text, str)]
    return [word for word in dict.fromkeys(words) if word.strip()]


def variables_read(source: str) -> frozenset[str]:
    """Return the names of the variables that the template reads without setting them."""
    tree = _parse(source)
    return frozenset() if tree is None else frozenset(meta.find_undeclared_variables(tree))


def syntax_error(source: str) -> str | None:
    """Return why a template can't be compiled, or None if it can; nothing of it is run."""
    try:
        create_environment().compile(source, raw=True)
    except TemplateSyntaxError as error:
        return f"line {error.lineno}: {error.message}"
    except RecursionError:
        return "nested too deeply"
    return None


def _parse(source: str) -> nodes.Template | None:
    try:
        return create_environment().parse(source)
    except (TemplateSyntaxError, RecursionError):
        return None


def _attribute(node: nodes.Node) -> str:
    """Return the name of the key or attribute that an expression reads, or ""."""
    match node:
        case nodes.Getattr(attr=str(name)) | nodes.Getitem(arg=nodes.Const(value=str(name))):
            return name
    return ""


def _aliases(tree: nodes.Template, names: Iterable[str]) -> dict[str, list[str]]:
    """Return which of ``names`` stand behind a variable or an attribute of a namespace.

    That is what such a one was set from, with or without a default, once or several times over.
    """
    aliases = {name: [name] for name in names}
    for assign in tree.find_all(nodes.Assign):
        target = _target(assign.target)
        sources = [assign.node, *assign.node.find_all(nodes.Name)]
        found = [name for node in sources for name in aliases.get(_target(node), ())]
        if target and found:
            aliases[target] = list(dict.fromkeys([*aliases.get(target, ()), *found]))
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
    """Return the constants that an expression is or lists, if it is nothing else."""
    assert isinstance(expression, nodes.Expr)
    try:
        value = expression.as_const()
    except nodes.Impossible:
        return
    for item in value if isinstance(value, list | tuple) else [value]:
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
        if operand.op in _LIMITS and isinstance(value, int):
            yield from (value - 1, value + 1)
