"""Which variables a template reads before it has set them by itself.

What is set in one branch alone is undeclared behind it, as Jinja sees it, and so is what is set
in a branch of a loop. But nobody gives a template such a variable: it is no switch.
"""

from __future__ import annotations

from collections.abc import Iterable

from jinja2 import nodes


def read_unset(tree: nodes.Template) -> frozenset[str]:
    """Return the variables that are read somewhere where no branch before has set them."""
    reading = _Reading()
    reading.walk(tree, frozenset())
    return frozenset(reading.found)


class _Reading:
    """A walk in the order of the source; branches that exclude each other begin alike."""

    def __init__(self) -> None:
        self.found: set[str] = set()

    def walk(self, node: nodes.Node, known: frozenset[str]) -> frozenset[str]:
        """Note what is read in a node; return what is set behind it."""
        match node:
            case nodes.Name(ctx="load", name=name):
                self.found |= {name} - known
            case nodes.Name(name=name):
                known |= {name}
            case nodes.Assign(target=target, node=value):
                known = self.walk_all([value, target], known)
            case nodes.If(test=test, body=body, elif_=others, else_=last):
                known = self.walk(test, known)
                known = known.union(*(self.walk_all(way, known) for way in (body, others, last)))
            case nodes.For(iter=items, target=target, body=body, else_=last, test=test):
                known = self.walk(items, known)
                self.walk_all([target, *([test] if test else []), *body], known)
                self.walk_all(last, known)
            case nodes.Macro(name=name):
                known |= {name}
                self.walk_all(node.iter_child_nodes(), known)
            case _:
                known = self.walk_all(node.iter_child_nodes(), known)
        return known

    def walk_all(self, found: Iterable[nodes.Node], known: frozenset[str]) -> frozenset[str]:
        """Walk through nodes one behind the other."""
        for node in found:
            known = self.walk(node, known)
        return known
