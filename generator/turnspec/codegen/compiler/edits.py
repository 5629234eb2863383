"""Edits of a source by its syntax tree: ranges are replaced, so that comments and layout stay."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

#: Found much faster than `\n{3,}`: `re` looks for the three at once.
_BETWEEN_BLOCKS = re.compile(r"(\n\n\n+)(?=[^ \n])")


@dataclass(frozen=True, slots=True)
class Edit:
    """A range of a source, in bytes, and what takes its place."""

    start: int
    end: int
    text: str


class Source:
    """A Python source with its tree, and the places of its nodes."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = ast.parse(text)
        self._bytes = text.encode()
        self._lines = [0]
        for line in self._bytes.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))

    def start(self, node: ast.expr | ast.stmt | ast.pattern | ast.arg | ast.keyword) -> int:
        """Return where a node begins; its decorators belong to it."""
        decorators: list[ast.expr] = getattr(node, "decorator_list", [])
        first = min([node, *decorators], key=lambda found: found.lineno)
        sign = 1 if decorators else 0  # the @
        return self._lines[first.lineno - 1] + first.col_offset - sign

    def end(self, node: ast.expr | ast.stmt | ast.pattern | ast.arg) -> int:
        """Return where a node ends."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._lines[node.end_lineno - 1] + node.end_col_offset

    def line_start(self, number: int) -> int:
        """Return where a line begins, of which the first is 1."""
        return self._lines[number - 1]

    def slice(self, start: int, end: int) -> str:
        """Return the text between two places."""
        return self._bytes[start:end].decode()

    @cached_property
    def nodes(self) -> Sequence[ast.AST]:
        """All nodes but those in format strings, whose quotes an edit might end."""
        return walked(self.tree, but_in=ast.JoinedStr)

    def stands_between(self, node: ast.expr, before: str, after: str) -> bool:
        """Tell whether a node has a text right before it, and another right after it."""
        starts = self._bytes.startswith(before.encode(), self.start(node) - len(before.encode()))
        return starts and self._bytes.startswith(after.encode(), self.end(node))

    def brackets_around(self, node: ast.expr) -> tuple[int, int] | None:
        """Return the range of a node with the brackets around it, if it stands alone in these."""
        before, after = self._bytes[: self.start(node)].rstrip(), self._bytes[self.end(node) :]
        if not before.endswith((b" (", b"((")) or not after.lstrip().startswith(b")"):
            return None
        return len(before) - 1, len(self._bytes) - len(after.lstrip()) + 1

    def text_of(self, node: ast.expr | ast.stmt) -> str:
        """Return the text of a node."""
        return self.slice(self.start(node), self.end(node))

    def lines_of(self, body: list[ast.stmt]) -> tuple[int, int]:
        """Return the range of whole lines that statements take, with the comments above them."""
        start = self.start_with_comments(first_line(body[0]), body[0].col_offset)
        return start, self._lines[body[-1].end_lineno or 0]

    def start_with_comments(self, number: int, column: int) -> int:
        """Return where a line begins, or the comments that stand right above it in a column."""
        comment = b" " * column + b"#"
        while number > 1 and self._bytes.startswith(comment, self._lines[number - 2]):
            number -= 1
        return self.line_start(number)

    def dropped(self, node: ast.stmt, *, alone: bool) -> Edit:
        """Return how a statement is dropped; one that is alone in its body leaves a `pass`."""
        return Edit(*self.lines_of([node]), " " * node.col_offset + "pass\n" if alone else "")

    def edited(self, edits: Iterable[Edit]) -> str:
        """Return the source with edits; of two that overlap the outer one is made."""
        made, at = [], 0
        for edit in sorted(edits, key=lambda edit: (edit.start, -edit.end)):
            if edit.start >= at:
                made += [self.slice(at, edit.start), edit.text]
                at = edit.end
        return "".join(made) + self.slice(at, len(self._bytes))


@lru_cache(10_000)  # passes and formats see the same blocks again and again
def source_of(text: str) -> Source:
    """Return a source, which nobody changes."""
    return Source(text)


def first_line(node: ast.stmt) -> int:
    """Return the line that a statement begins in, with its decorators."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in decorators)])


def walked(node: ast.AST, but_in: type[ast.AST] | None = None) -> list[ast.AST]:
    """Return the nodes that `ast.walk` yields, in its order, without contexts: much faster.

    Nothing is taken of what stands in a node of the class ``but_in``.
    """
    found = [node]
    for each in found:
        if but_in is None or not isinstance(each, but_in):
            for name in each._fields:
                value = getattr(each, name, None)
                if isinstance(value, list):
                    found += [inner for inner in value if isinstance(inner, ast.AST)]
                elif isinstance(value, ast.AST) and name != "ctx":
                    found.append(value)
    return found


@lru_cache(10_000)
def words_of(text: str) -> frozenset[str]:
    """Return the words in a text: all names that it could have."""
    return frozenset(re.findall(r"\w+", text))


def stored_in(node: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    """Return what an assignment stores to, each with its value: in `a, b = x, y` there are two."""
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
            return list(zip(targets, values, strict=True))
        case ast.Assign(targets=[target], value=value):
            return [(target, value)]
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            return [(target, value)]
    return []


def bodies(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """Return the bodies of a statement."""
    found = (getattr(node, name, None) for name in ("body", "orelse", "finalbody"))
    return (body for body in found if isinstance(body, list))


def dedented(text: str, by: int) -> str:
    """Return lines that are moved to the left by some blanks."""
    return re.sub(rf"^ {{1,{by}}}", "", text, flags=re.MULTILINE)


def settled(text: str, edits: Callable[[Source], Iterable[Edit]]) -> str:
    """Return a source that was edited in passes, until there is nothing more to edit."""
    while found := list(edits(source_of(text))):
        text = source_of(text).edited(found)
    return text


def blocks_of(text: str) -> list[str]:
    """Return what stands between empty lines, and these; each is a source of its own.

    Formats share most of their blocks, so what is done to a block is kept for the next format.
    """
    return _BETWEEN_BLOCKS.split(text)


def by_blocks(text: str, rewrite: Callable[[str], str]) -> str:
    """Return a source each of whose blocks is rewritten."""
    return "".join(map(rewrite, blocks_of(text)))
