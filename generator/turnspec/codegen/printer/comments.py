"""The comments of a source, which stand where they stood."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator

from turnspec.codegen.printer.names import camel


def in_script(text: str) -> str:
    """Return what is told of Python's names, with those that they have in a script."""
    text = re.sub(r"`([a-z]+(?:_[a-z]+)+)`", lambda name: f"`{camel(name[1])}`", text)
    constants = {"None": "null", "True": "true", "False": "false"}
    return re.sub(r"\b(?:None|True|False)\b", lambda name: constants[name[0]], text)


def block(texts: list[str], indent: str = "") -> list[str]:
    """Return lines as a comment of what stands under them."""
    texts = [text.replace("*/", "* /") for text in texts]
    if len(texts) == 1 and len(indent + texts[0]) < 93:
        return [f"{indent}/** {texts[0]} */"]
    return [f"{indent}/**", *(f"{indent} * {text}".rstrip() for text in texts), f"{indent} */"]


class Comments:
    """Comments by their lines; each is given once."""

    def __init__(self, source: str) -> None:
        self._beside: dict[int, str] = {}
        #: On lines of their own.
        self.alone: dict[int, str] = {}
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                text = in_script(re.sub("^#:? ?", "", token.string))
                is_alone = not token.line[: token.start[1]].strip()
                (self.alone if is_alone else self._beside)[token.start[0]] = text

    def above(self, line: int) -> Iterator[str]:
        """Yield the lines of comments before a line of the source."""
        for number in sorted(number for number in self.alone if number < line):
            yield f"// {self.alone.pop(number)}"

    def sections(self, line: int) -> Iterator[list[str]]:
        """Yield the comments before a statement of the module: a heading, and what tells of it.

        A heading that another one follows has nothing under it.
        """
        groups: list[list[str]] = []
        last = 0
        for number in sorted(number for number in self.alone if number < line):
            if number != last + 1:
                groups.append([])
            groups[-1].append(self.alone.pop(number))
            last = number
        told = [block(groups.pop())] if last == line - 1 and groups else []
        yield from ([f"// {text}".rstrip() for text in group] for group in groups[-1:])
        yield from told

    def beside(self, node: ast.AST, last: ast.AST | None = None) -> str:
        """Return the comments at the ends of a node's lines, up to those of another node."""
        first = getattr(node, "lineno", 0)
        end = getattr(last or node, "end_lineno", None) or first
        lines = range(first, end + 1)
        return " ".join(self._beside.pop(line) for line in lines if line in self._beside)

    def drop(self, first: int, last: int) -> None:
        """Leave out the comments in some lines, and those right above them."""
        while first - 1 in self.alone:
            first -= 1
        for found in (self.alone, self._beside):
            for line in [line for line in found if first <= line <= last]:
                del found[line]
