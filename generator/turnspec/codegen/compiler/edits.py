"""Edits of a source by its syntax tree: ranges are replaced, so that comments and layout stay."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass

#: What stands between the statements of a module, each a block; most are those of many modules.
BETWEEN = re.compile(r"\n\n\n(?=\S)")


@dataclass(frozen=True, slots=True)
class Edit:
    """A range of a source, in bytes, and what takes its place."""

    start: int
    end: int
    text: str


class Source:
    """A Python source with its tree, and the places of its nodes."""

    def __init__(self, text: str) -> None:
        """Take a source apart."""
        self.text = text
        self.tree = ast.parse(text)
        self._bytes = text.encode()
        self._lines = [0]
        for line in self._bytes.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))

    def start(self, node: ast.expr | ast.stmt | ast.pattern) -> int:
        """Return where a node begins; its decorators belong to it."""
        decorators: list[ast.expr] = getattr(node, "decorator_list", [])
        first = min([node, *decorators], key=lambda found: found.lineno)
        sign = 1 if decorators else 0  # the @
        return self._lines[first.lineno - 1] + first.col_offset - sign

    def end(self, node: ast.expr | ast.stmt | ast.pattern) -> int:
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

    def nodes(self) -> Iterator[ast.AST]:
        """Yield all nodes but those in format strings, whose quotes an edit might end."""
        waiting: list[ast.AST] = [self.tree]
        for node in waiting:
            if not isinstance(node, ast.JoinedStr):
                waiting += ast.iter_child_nodes(node)
        return iter(waiting)

    def stands_between(self, node: ast.expr, before: str, after: str) -> bool:
        """Tell whether a node has a text right before it, and another right after it."""
        starts = self._bytes.startswith(before.encode(), self.start(node) - len(before.encode()))
        return starts and self._bytes.startswith(after.encode(), self.end(node))

    def text_of(self, node: ast.expr | ast.stmt) -> str:
        """Return the text of a node."""
        return self.slice(self.start(node), self.end(node))

    def lines_of(self, body: list[ast.stmt]) -> tuple[int, int]:
        """Return the range of whole lines that statements take, with the comments above them."""
        first = self._line_of(self.start(body[0]))
        last = self._line_of(self.end(body[-1]) - 1)
        end = self.line_start(min(last + 1, len(self._lines)))
        return self.with_comments(first, body[0].col_offset), end

    def with_comments(self, number: int, column: int) -> int:
        """Return where a line begins, with the comments above it at a column."""
        comment = b" " * column + b"#"
        while number > 1 and self._bytes.startswith(comment, self.line_start(number - 1)):
            number -= 1
        return self.line_start(number)

    def without(self, node: ast.stmt, siblings: list[ast.stmt]) -> Edit:
        """Drop a statement; the only one of a body leaves a `pass`."""
        filler = " " * node.col_offset + "pass\n"
        return Edit(*self.lines_of([node]), filler if len(siblings) == 1 else "")

    def _line_of(self, place: int) -> int:
        return self._bytes.count(b"\n", 0, place) + 1

    def edited(self, edits: Iterable[Edit]) -> str:
        """Return the source with edits; of two that overlap the outer one is made."""
        made, at = [], 0
        for edit in sorted(edits, key=lambda edit: (edit.start, -edit.end)):
            if edit.start >= at:
                made += [self.slice(at, edit.start), edit.text]
                at = edit.end
        return "".join(made) + self.slice(at, len(self._bytes))


def bodies(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield the statements that a statement holds, body by body."""
    for name in ("body", "orelse", "finalbody"):
        found = getattr(node, name, None)
        if isinstance(found, list):
            yield found


def in_blocks(text: str, edit: Callable[[str, frozenset[str]], str], names: Set[str]) -> str:
    """Return a module in which each block that has some of the names in it is edited by itself."""
    used = ((each, frozenset(n for n in names if n in each)) for each in BETWEEN.split(text))
    return "\n\n\n".join(edit(block, own) if own else block for block, own in used)


def indented(text: str, by: int) -> str:
    """Return lines that are moved to the right, or (less than 0) to the left."""
    margin = r"^(?=[^\n])" if by >= 0 else rf"^ {{1,{-by}}}"
    return re.sub(margin, " " * by, text, flags=re.MULTILINE)
